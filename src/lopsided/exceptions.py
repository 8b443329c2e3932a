"""The warnings of this library, so that they can be filtered by name."""

import os
import sys
import warnings
from types import FrameType

import sklearn
from sklearn import exceptions as sklearn_exceptions

PASSED_OVER = tuple(os.path.dirname(package) + os.sep for package in (__file__, sklearn.__file__))


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


def warn(message: str, category: type[LopsidedWarning]) -> None:
    """Warn of the line that called this library, directly or through what scikit-learn wraps around methods."""
    level = 1
    frame: FrameType | None = sys._getframe()
    while frame is not None and frame.f_code.co_filename.startswith(PASSED_OVER):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
