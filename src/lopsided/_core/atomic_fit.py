"""Restore an estimator's state if ``fit`` fails."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar, cast

Fit = TypeVar("Fit", bound=Callable[..., Any])


def atomic_fit(fit: Fit) -> Fit:
    """Decorate ``fit`` to restore all attributes if it raises, so that no model is left partially refitted."""

    @wraps(fit)
    def fit_or_restore(self: Any, *args: Any, **kwargs: Any) -> Any:
        before = vars(self).copy()
        try:
            return fit(self, *args, **kwargs)
        except BaseException:
            vars(self).clear()
            vars(self).update(before)
            raise

    return cast(Fit, fit_or_restore)
