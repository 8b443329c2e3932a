"""``fit`` as one step: a model is refitted from scratch, or left as it was."""

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

from .bar import shown_if
from .callbacks import fit_with_callbacks
from .finite import gate

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic_fit(fit: Fit) -> Fit:
    """Decorate ``fit`` to start afresh, to restore all attributes if it raises, and to report its progress.

    No attribute of a former fit survives a refit with other settings, and no model is left partially refitted.
    """
    quiet_fit = gate(fit)

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        for name in before:
            if name.endswith("_") and not name.startswith("_"):
                delattr(self, name)
        try:
            verbose = isinstance(self.verbose, int) and bool(self.verbose)  # anything else is refused by fit
            with shown_if(verbose and not self._reports_itself, type(self).__name__):
                return fit_with_callbacks(quiet_fit, self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, fit_or_restore)
