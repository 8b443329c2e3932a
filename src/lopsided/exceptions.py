"""The warnings and errors of this library, so that they can be filtered and caught by name."""

import os
import re
import sys
import traceback
import warnings

from sklearn import exceptions as sklearn_exceptions

OURS = os.path.dirname(__file__) + os.sep
WRAPPERS = re.compile(r"[\\/](sklearn|joblib|concurrent)[\\/]|[\\/](threading|contextlib|functools)\.py$")


class LopsidedWarning(UserWarning):
    """Anything worth knowing about an answer that is nevertheless usable."""


class FallbackWarning(LopsidedWarning):
    """A solver or an operator could not do the work and another one did."""


class NearSingularWarning(LopsidedWarning):
    """A linear system is so near to singular that its answer holds few right digits."""


class ConvergenceWarning(LopsidedWarning, sklearn_exceptions.ConvergenceWarning):
    """An iteration stopped before its answer was as accurate as was asked; scikit-learn's filters know it, too."""


class RankWarning(LopsidedWarning):
    """The data hold fewer components than were asked for, and so does the answer."""


class AccuracyWarning(LopsidedWarning):
    """An approximation did not reach the tolerance that was asked for."""


class NotFiniteError(ValueError):
    """A kernel matrix has overflowed, or holds what is not a number."""


def warn(message: str, category: type[LopsidedWarning]) -> None:
    """Warn of the line that called this library, directly or through what scikit-learn wraps around methods.

    On threads of our own there is no such line on the stack, and the last of ours is named.
    """
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe())]
    ours = max(i for i, file in enumerate(files) if file.startswith(OURS))
    called = (i for i in range(ours, len(files)) if not files[i].startswith(OURS) and not WRAPPERS.search(files[i]))
    warnings.warn(message, category, stacklevel=next(called, ours) + 1)
