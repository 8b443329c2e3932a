"""Operators composed of factors or other operators: low rank, sums, two-sided centring and weighting."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._core import by_rows, dense
from .base import EVERY, Index, KernelOperator
from .condense import Condensed
from .stored import matmul


class LowRank(KernelOperator):
    """L R^T for L (n, q) and R (m, q), each dense or sparse. Cost per column of a product: O(nnz(L) + nnz(R))."""

    def __init__(self, L: Any, R: Any) -> None:
        super().__init__((L.shape[0], R.shape[0]), np.result_type(L.dtype, R.dtype))
        self.L = by_rows(L)
        self.R = R

    @cached_property
    def Rt(self) -> Any:
        """R^T, cached by the first product."""
        return by_rows(self.R.T)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Multiply the given rows of both factors."""
        return dense(self.L[rows] @ self.R[cols].T)

    @property
    def cost(self) -> int:
        """Number of entries of both factors."""
        return int(sum(side.nnz if sparse.issparse(side) else side.size for side in (self.L, self.R)))

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return matmul(self.L, matmul(self.Rt, V))

    def _adjoint(self) -> LowRank:
        return LowRank(self.R, self.L)


class Sum(KernelOperator):
    """A linear combination of operators of the same shape; the factors default to one."""

    def __init__(self, terms: Sequence[KernelOperator], factors: Sequence[float] | None = None) -> None:
        super().__init__(terms[0].shape, np.result_type(*(term.dtype for term in terms)))
        self.terms = tuple(terms)
        self.factors = tuple(map(float, factors)) if factors is not None else (1.0,) * len(terms)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Add the entries of all terms."""
        return self._add(np.array(term.take(rows, cols)) for term in self.terms)

    @property
    def cost(self) -> int:
        """The work of all terms."""
        return sum(term.cost for term in self.terms)

    @property
    def matrix_free(self) -> bool:
        """Whether any term is recomputed."""
        return any(term.matrix_free for term in self.terms)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self._add(term._matmat(V) for term in self.terms)

    def _adjoint(self) -> Sum:
        return Sum([term.T for term in self.terms], self.factors)

    def _add(self, blocks: Iterator[np.ndarray]) -> np.ndarray:  # overwrites the first block
        scaled = (block if factor == 1 else factor * block for factor, block in zip(self.factors, blocks, strict=True))
        total = next(scaled)
        for block in scaled:
            total += block
        return total


class Centered(KernelOperator):
    """(I - 1 p^T) A (I - q 1^T): rows have mean zero with weights q, and columns with weights p.

    A product costs one product with A: its input and its output are centred.

    Parameters
    ----------
    A : KernelOperator
        The operator to centre, of shape (n, m).
    left, right : arrays of shapes (n,) and (m,), default=None
        Weights p of the rows and q of the columns, normalised to sum to one; None means 1 / n and 1 / m.
    """

    def __init__(self, A: KernelOperator, left: np.ndarray | None = None, right: np.ndarray | None = None) -> None:
        super().__init__(A.shape, A.dtype)
        self.A = A
        self.left, self.right = (
            np.full(count, 1 / count, dtype=A.dtype) if given is None else (given / given.sum()).astype(A.dtype)
            for count, given in zip(A.shape, (left, right), strict=True)
        )

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray, np.floating[Any]]:
        """Row means (n,), column means (m,) and grand mean of A."""
        rows = self.A.matvec(self.right)
        return rows, self.A.rmatvec(self.left), self.left @ rows

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Take the entries of A and subtract the means."""
        of_rows, of_columns, grand = self.means
        return self.A.take(rows, cols) - of_rows[rows][:, None] - of_columns[cols] + grand

    @property
    def cost(self) -> int:
        """The work of A."""
        return self.A.cost

    @property
    def matrix_free(self) -> bool:
        """Whether A is recomputed."""
        return self.A.matrix_free

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        Y = self.A._matmat(V - self.right[:, None] * V.sum(axis=0))
        return Y - self.left @ Y

    def condensed(self) -> Condensed | None:
        """Condense A with centring as an update of rank two."""
        return self.A.condensed_with(self._update)

    def _update(self) -> tuple[np.ndarray, np.ndarray]:
        """Return the factors of centring, K + 1 (grand - columns)^T - rows 1^T."""
        rows, columns, grand = self.means
        left = np.stack([np.ones_like(rows), -rows], axis=1)
        right = np.stack([grand - columns, np.ones_like(columns)], axis=1)
        return left, right

    def _adjoint(self) -> Centered:
        return Centered(self.A.T, self.right, self.left)


class Weighted(KernelOperator):
    """diag(left) A diag(right). A product costs one product with A."""

    def __init__(self, A: KernelOperator, left: np.ndarray, right: np.ndarray) -> None:
        super().__init__(A.shape, A.dtype)
        self.A = A
        self.left, self.right = left.astype(A.dtype), right.astype(A.dtype)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Take the entries of A and multiply by the weights."""
        return self.left[rows][:, None] * self.A.take(rows, cols) * self.right[cols]

    @property
    def cost(self) -> int:
        """The work of A."""
        return self.A.cost

    @property
    def matrix_free(self) -> bool:
        """Whether A is recomputed."""
        return self.A.matrix_free

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return self.left[:, None] * self.A._matmat(self.right[:, None] * V)

    def _adjoint(self) -> Weighted:
        return Weighted(self.A.T, self.right, self.left)
