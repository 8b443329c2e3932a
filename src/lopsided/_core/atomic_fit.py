"""``fit`` as one step: a model is refitted from scratch, or left as it was."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from .bar import shown_if
from .callbacks import fit_with_callbacks
from .finite import gate
from .threads import ONE_THREAD, with_one_blas_thread

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic_fit(fit: Fit) -> Fit:
    """Decorate ``fit`` to start afresh, to restore all attributes if it raises, and to report its progress.

    No attribute of a former fit survives a refit with other settings, and no model is left partially refitted. BLAS has
    one thread if the samples are so few that it decomposes their matrices on one anyway.
    """
    quiet_fit = gate(fit)
    small_fit = with_one_blas_thread(quiet_fit)

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        for name in before:
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)
        try:
            verbose = isinstance(self.verbose, int) and bool(self.verbose)  # anything else is refused by fit
            with shown_if(verbose and not self._reports_itself, type(self).__name__):
                return fit_with_callbacks(small_fit if _small(*args, **kwargs) else quiet_fit, self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, fit_or_restore)


def _small(*args: Any, **kwargs: Any) -> bool:
    """Whether the samples, the first argument, and a matrix that compares all of them have few entries."""
    match getattr(next(iter([*args, *kwargs.values()]), None), "shape", None):
        case (int() as n, int() as width):  # other sizes are those of lazy data
            return n * max(n, width) <= ONE_THREAD
    return False
