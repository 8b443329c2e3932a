"""Warning and error classes, and ``warn``, which attributes warnings to the caller's code."""

import os
import re
import sys
import traceback
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

from sklearn import exceptions as sklearn_exceptions

OURS = os.path.dirname(__file__) + os.sep
_is_quiet: ContextVar[bool] = ContextVar("is_quiet", default=False)
WRAPPERS = re.compile(r"[\\/](sklearn|joblib|concurrent)[\\/]|[\\/](threading|contextlib|functools)\.py$")


class LopsidedWarning(UserWarning):
    """Base class of the warnings of this library; the result is usable."""


class FallbackWarning(LopsidedWarning):
    """A requested solver, operator or setting was not feasible and another one was used instead."""


class NearSingularWarning(LopsidedWarning):
    """A linear system is so close to singular that its solution has few correct digits."""


class ConvergenceWarning(LopsidedWarning, sklearn_exceptions.ConvergenceWarning):
    """An iteration stopped before it reached the requested accuracy; a subclass of scikit-learn's warning."""


class RankWarning(LopsidedWarning):
    """The data have fewer components than requested, and so does the result."""


class AccuracyWarning(LopsidedWarning):
    """An approximation did not reach the requested tolerance, or some values are lost in rounding."""


class NotFiniteError(ValueError):
    """A kernel matrix contains infinity or NaN."""


class SavedModelError(ValueError):
    """A file is not a saved model, is damaged, was written by a newer version, or holds a type that is refused."""


@contextmanager
def quiet() -> Iterator[None]:
    """Silence the warnings of this library, for trial runs of something that will warn when it is done for real."""
    token = _is_quiet.set(True)
    try:
        yield
    finally:
        _is_quiet.reset(token)


def warn(message: str, category: type[LopsidedWarning]) -> None:
    """Issue a warning that points to the line that called this library, directly or through scikit-learn's wrappers.

    On the library's own threads the stack has no such line, and the warning points to the outermost library frame.
    """
    if _is_quiet.get():
        return
    files = [frame.f_code.co_filename for frame, _ in traceback.walk_stack(sys._getframe())]
    ours = max(i for i, file in enumerate(files) if file.startswith(OURS))
    called = (i for i in range(ours, len(files)) if not files[i].startswith(OURS) and not WRAPPERS.search(files[i]))
    warnings.warn(message, category, stacklevel=next(called, ours) + 1)
