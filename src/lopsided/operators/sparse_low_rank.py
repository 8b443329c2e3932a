"""The sparse-plus-low-rank operator, and its reduction to a smaller one with the same nonzero singular values."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._core import by_rows
from ..kernels import product_counts
from .base import Condensed
from .combined import LowRank, Sum
from .spread import Spread
from .stored import Stored

WORTH_CONDENSING = 0.9  # largest share of rows and columns left for which condensing pays off


class SparseLowRank(Sum):
    """S + L R^T + U0 V0^T: sparse, a product of sparse factors, and low rank; pairs without columns are omitted."""

    def __init__(self, S: sparse.csr_array, product: tuple[Any, Any], background: tuple[Any, Any]) -> None:
        self.S, self.product, self.background = S, product, background
        pairs = [pair for pair in (product, background) if pair[0].shape[1]]
        super().__init__([Stored(S), *(LowRank(*pair) for pair in pairs)])

    def _adjoint(self) -> SparseLowRank:
        return SparseLowRank(by_rows(self.S.T), self.product[::-1], self.background[::-1])

    def condensed(self) -> Condensed | None:
        """Keep the rows and columns with sparse entries, and replace the others by q rows and q columns."""
        L, R = self.product
        live = (np.diff(self.S.indptr) > 0) | _meets(L, R), _columns(self.S) | _meets(R, L)
        if sum(map(np.count_nonzero, live)) > WORTH_CONDENSING * sum(self.shape):
            return None
        (left, U0), (right, V0) = map(Spread.of, live, self.background)
        used = _columns(L) & _columns(R)
        q = int(np.count_nonzero(used))
        S = _cut(self.S, *live, (len(U0), len(V0)))
        L = _cut(L, live[0], used, (len(U0), q))
        R = _cut(R, live[1], used, (len(V0), q))
        return Condensed(SparseLowRank(S, (L, R), (U0, V0)), left, right)

    def updated(self, left: np.ndarray, right: np.ndarray) -> SparseLowRank:
        """Return this matrix plus left right^T, as part of the background."""
        U0, V0 = self.background
        return SparseLowRank(self.S, self.product, (np.hstack([U0, left]), np.hstack([V0, right])))


def _meets(L: sparse.csr_array, R: sparse.csr_array) -> np.ndarray:
    """Mask of the rows of L R^T that have any entry."""
    return product_counts(L, R) > 0


def _columns(S: sparse.csr_array) -> np.ndarray:
    """Mask of the columns of S that have any entry."""
    return np.bincount(S.indices, minlength=S.shape[1]) > 0


def _cut(S: sparse.csr_array, rows: np.ndarray, columns: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """Select rows and columns, padded with zeros to ``shape``; other rows must be empty there. Cost O(nnz)."""
    kept = columns[S.indices]
    number = np.cumsum(columns, dtype=S.indices.dtype) - 1
    ends = np.cumsum(np.concatenate([[0], kept]), dtype=S.indptr.dtype)[S.indptr[1:][rows]]
    indptr = np.pad(np.pad(ends, (1, 0)), (0, shape[0] - len(ends)), mode="edge")
    return sparse.csr_array((S.data[kept], number[S.indices[kept]], indptr), shape=shape)
