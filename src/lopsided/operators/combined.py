"""Operators made of factors, and linear combinations of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._core import by_rows, dense
from .base import EVERY, Index, KernelOperator
from .stored import matmul


class LowRank(KernelOperator):
    """L R^T, or L diag(s) R^T, for L (n, q) and R (m, q), each dense or sparse, and values s (q,) of their dtype.

    Cost per column of a product: O(nnz(L) + nnz(R)).
    """

    def __init__(self, L: Any, R: Any, s: np.ndarray | None = None) -> None:
        super().__init__((L.shape[0], R.shape[0]), np.result_type(L.dtype, R.dtype))
        self.L = by_rows(L)
        self.R = R
        self.s = s

    @cached_property
    def Rt(self) -> Any:
        """R^T, cached by the first product."""
        return by_rows(self.R.T)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Multiply the given rows of both factors."""
        left = self.L[rows] if self.s is None else self.L[rows] * self.s
        return dense(left @ self.R[cols].T)

    @property
    def cost(self) -> int:
        """Number of entries of both factors."""
        return int(sum(side.nnz if sparse.issparse(side) else side.size for side in (self.L, self.R)))

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        inner = matmul(self.Rt, V)
        return matmul(self.L, inner if self.s is None else self.s[:, None] * inner)

    def _adjoint(self) -> LowRank:
        return LowRank(self.R, self.L, self.s)


class Sum(KernelOperator):
    """A linear combination of operators of the same shape; the factors default to one."""

    def __init__(self, terms: Sequence[KernelOperator], factors: Sequence[float] | None = None) -> None:
        super().__init__(terms[0].shape, np.result_type(*(term.dtype for term in terms)))
        self.terms = tuple(terms)
        self.matrix_free = any(term.matrix_free for term in terms)
        self.factors = tuple(map(float, factors)) if factors is not None else (1.0,) * len(terms)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Add the entries of all terms."""
        return self._add(np.array(term.take(rows, cols)) for term in self.terms)

    @property
    def cost(self) -> int:
        """The cost of all terms."""
        return sum(term.cost for term in self.terms)

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
