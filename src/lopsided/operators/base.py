"""The matrix k(X, Z) as something one multiplies by and samples from."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._parallel import slices_of
from .condense import Condensed

Index = Any  # a slice or an array of row or column numbers
EVERY = slice(None)
BATCH_ENTRIES = 1 << 22
LARGE = 1e100  # numbers whose squares are summed as they are


class KernelOperator(LinearOperator, ABC):
    """A real (n, m) matrix known by its products and its entries.

    A subclass gives ``take``, ``work``, ``_matmat`` and ``_adjoint``; it never changes after ``__init__``. The law they
    share: ``A @ V`` is ``A.take() @ V``, ``A.T @ U`` is ``A.take().T @ U``, ``A.take(r, c)`` is ``A.take()[r][:, c]``.
    """

    def __init__(self, shape: tuple[int, int], dtype: Any) -> None:
        super().__init__(np.dtype(dtype), shape)

    @abstractmethod
    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Return the entries of some rows and some columns as a dense array."""

    @property
    @abstractmethod
    def work(self) -> int:
        """Multiplications in a product with one column."""

    @property
    def recomputed(self) -> bool:
        """Whether entries are evaluated anew for each product."""
        return False

    @abstractmethod
    def _matmat(self, V: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _adjoint(self) -> KernelOperator: ...

    def _rmatmat(self, U: np.ndarray) -> np.ndarray:
        return self._adjoint()._matmat(U)

    def _transpose(self) -> KernelOperator:
        return self._adjoint()

    def condensed(self) -> Condensed | None:
        """A smaller operator that decomposes this one, if there is one worth having."""
        return None

    def condensed_with(self, update: Callable[[], tuple[np.ndarray, np.ndarray]]) -> Condensed | None:
        """The same for the matrix plus left right^T, factors that are asked for only where they are of use."""
        return None

    def batches(self) -> Iterator[np.ndarray]:
        """Yield the dense matrix a few rows at a time, from the top."""
        for rows in slices_of(self.shape[0], BATCH_ENTRIES // max(1, self.shape[1])):
            yield self.take(rows)

    def norm(self) -> float:
        """The root of the sum of all squared entries, and of all squared singular values. Cost O(n m)."""
        return math.hypot(*map(_norm, self.batches()))


def _norm(K: np.ndarray) -> float:
    """The Frobenius norm, of a matrix whose squares overflow or vanish in units of its largest entry."""
    peak = float(max(K.max(), -K.min()))
    if not 0 < peak < math.inf:
        return peak
    unit = 1.0 if 1 / LARGE < peak < LARGE else peak
    K = K if unit == 1 else K / K.dtype.type(unit)
    return unit * math.sqrt(np.einsum("ij,ij->", K, K, dtype=float))
