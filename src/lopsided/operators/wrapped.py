"""Operators wrapped by two-sided centring or weighting, or restricted to some rows and columns."""

from functools import cached_property
from typing import Any, Self

import numpy as np

from .._core import frobenius
from .base import EVERY, Condensed, Index, KernelOperator
from .sparse_low_rank import SparseLowRank
from .stored import Stored

CANCELLED = 4.0  # in units of eps: rounding errors of a product, relative to the largest singular value


class Wrapped(KernelOperator):
    """An operator A changed by one weight per row and one per column; a product costs one product with A."""

    def __init__(self, A: KernelOperator, left: np.ndarray, right: np.ndarray) -> None:
        super().__init__(A.shape, A.dtype)
        self.A, self.matrix_free = A, A.matrix_free
        self.left, self.right = left.astype(A.dtype), right.astype(A.dtype)

    @property
    def cost(self) -> int:
        """The cost of A."""
        return self.A.cost

    def _adjoint(self) -> Self:
        return type(self)(self.A.T, self.right, self.left)


class Weighted(Wrapped):
    """diag(left) A diag(right)."""

    @property
    def rounding(self) -> float:
        """The rounding errors of A, times the largest weights."""
        return float(self.A.rounding * np.abs(self.left).max() * np.abs(self.right).max())

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Take the entries of A and multiply by the weights."""
        return self.left[rows][:, None] * self.A.take(rows, cols) * self.right[cols]

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self.left[:, None] * self.A._matmat(self.right[:, None] * V)


class Restricted(Wrapped):
    """A[left][:, right] for numbers of rows and columns: products with A, of vectors whose other entries are zero."""

    def __init__(self, A: KernelOperator, left: np.ndarray, right: np.ndarray) -> None:
        KernelOperator.__init__(self, (len(left), len(right)), A.dtype)
        self.A, self.matrix_free, self.left, self.right = A, A.matrix_free, left, right

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Take the entries of A."""
        return self.A.take(self.left[rows], self.right[cols])

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        wide = np.zeros((self.A.shape[1], V.shape[1]), dtype=V.dtype)
        wide[self.right] = V
        return self.A._matmat(wide)[self.left]


def restricted(A: KernelOperator, rows: np.ndarray, columns: np.ndarray) -> KernelOperator:
    """Return A[rows][:, columns], sliced if A is stored."""
    return Stored(A.K[rows][:, columns]) if isinstance(A, Stored) else Restricted(A, rows, columns)


class Centered(Wrapped):
    """(I - 1 p^T) A (I - q 1^T): rows have mean zero with weights q, and columns with weights p.

    Parameters
    ----------
    A : KernelOperator
        The operator to centre, of shape (n, m).
    left, right : arrays of shapes (n,) and (m,), default=None
        Weights p of the rows and q of the columns, normalised to sum to one; None means 1 / n and 1 / m.
    """

    def __init__(self, A: KernelOperator, left: np.ndarray | None = None, right: np.ndarray | None = None) -> None:
        p, q = (np.ones(n) if w is None else w for n, w in zip(A.shape, (left, right), strict=True))
        super().__init__(A, p / p.sum(), q / q.sum())

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray, np.floating[Any]]:
        """Row means (n,), column means (m,) and grand mean of A."""
        rows = self.A.matvec(self.right)
        return rows, self.A.rmatvec(self.left), self.left @ rows

    @cached_property
    def rounding(self) -> float:
        """Rounding errors of the largest singular value that the means prove A to have."""
        rows, columns, _ = self.means
        size = max(frobenius(rows) / frobenius(self.right), frobenius(columns) / frobenius(self.left))
        return CANCELLED * float(np.finfo(self.dtype).eps) * size

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Take the entries of A and subtract the means, in an order that keeps differences of near numbers exact."""
        of_rows, of_columns, grand = self.means
        K = self.A.take(rows, cols) - of_columns[cols]
        K += (grand - of_rows[rows])[:, None]
        return K

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        Y = self.A._matmat(V - self.right[:, None] * V.sum(axis=0))
        return Y - self.left @ Y

    def condensed(self) -> Condensed | None:
        """Condense A with centring as an update of rank two, A + 1 (grand - columns)^T - rows 1^T."""
        if not isinstance(self.A, SparseLowRank):
            return None
        rows, columns, grand = self.means
        left = np.stack([np.ones_like(rows), -rows], axis=1)
        right = np.stack([grand - columns, np.ones_like(columns)], axis=1)
        return self.A.updated(left, right).condensed()
