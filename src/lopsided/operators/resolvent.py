"""The Katz matrix of a graph as an operator: products sum over walks, and the matrix is never formed."""

from __future__ import annotations

from functools import partial

import numpy as np

from .._core import by_rows
from ..kernels import Katz, geometric_sum
from .base import EVERY, Index, KernelOperator
from .stored import matmul

TERMS = 50  # typical number of sparse products per product: 52 for the default beta in float64


class Resolvent(KernelOperator):
    """Selected rows and columns of (I - M)^-1 M, where M = beta A is the sparse ``step_`` of a fitted Katz kernel.

    Cost of a product with b columns: about fifty sparse products, O(nnz b) each.
    """

    def __init__(self, kernel: Katz, rows: np.ndarray, columns: np.ndarray, transposed: bool = False) -> None:
        super().__init__((len(rows), len(columns)), kernel.step_.dtype)
        self.kernel, self.rows, self.columns, self.transposed = kernel, rows, columns, transposed
        self.M = by_rows(kernel.step_.T) if transposed else kernel.step_

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Sum the walks between the given nodes."""
        if self.transposed:
            return self.kernel.values(self.columns[cols], self.rows[rows]).T
        return self.kernel.values(self.rows[rows], self.columns[cols])

    @property
    def cost(self) -> int:
        """Number of stored entries of M, for each term of the sum."""
        return TERMS * int(self.M.nnz)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        spread = np.zeros((self.M.shape[1], V.shape[1]), dtype=np.result_type(self.dtype, V.dtype))
        np.add.at(spread, self.columns, V)
        return geometric_sum(partial(matmul, self.M), spread)[self.rows]

    def _adjoint(self) -> Resolvent:
        return Resolvent(self.kernel, self.columns, self.rows, not self.transposed)
