"""Detection of overflow and NaN in kernel matrices and answers."""

from collections.abc import Callable
from functools import wraps
from typing import ParamSpec, TypeVar

import numpy as np

from ..exceptions import NotFiniteError

P = ParamSpec("P")
T = TypeVar("T")


def check_finite(block: np.ndarray) -> None:
    """Raise NotFiniteError if a block of a kernel matrix, or a product with one, holds NaN or infinity."""
    if not np.isfinite(block).all():
        raise NotFiniteError(
            "the kernel matrix has entries that are not finite; scale the data down, or choose parameters that make "
            "the kernel grow more slowly; if the kernel is a callable, check what it returns"
        )


def gate(method: Callable[P, T]) -> Callable[P, T]:
    """Decorate a public function: numpy's warnings about overflow are silenced, as its answer is checked instead."""

    @wraps(method)
    def quiet(*args: P.args, **kwargs: P.kwargs) -> T:
        with np.errstate(all="ignore"):
            return method(*args, **kwargs)

    return quiet
