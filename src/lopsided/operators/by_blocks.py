"""Kernel matrices whose rows are in blocks elsewhere: products are computed where the blocks are."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import Array, RowBlocks
from ..kernels import Kernel
from .base import EVERY, Index, KernelOperator
from .blocked import EXPONENTIAL


class ByBlocks(KernelOperator):
    """The matrix k(X, Z) of rows X in blocks and few points Z; a product with a matrix is lazy and in blocks too.

    Only the kernel, Z and the factor travel to the blocks. Cost of a product: every block is read once, and the
    operator that suits one block multiplies it. A product with the transpose is the sum over all blocks.

    Parameters
    ----------
    kernel : Kernel
        A fitted kernel.
    X : RowBlocks of shape (n, width)
        The left points.
    Z : array or sparse matrix of shape (m, width)
        The right points.
    operator : callable
        ``as_operator``, which makes the operator of one block.
    transposed : bool, default=False
        Whether this is k(X, Z)^T.
    """

    matrix_free = True

    def __init__(self, kernel: Kernel, X: RowBlocks, Z: Array, operator: Any, transposed: bool = False) -> None:
        shape = X.shape[0], Z.shape[0]
        super().__init__(shape[::-1] if transposed else shape, np.result_type(X.dtype, Z.dtype))
        self.kernel, self.X, self.Z, self.operator, self.transposed = kernel, X, Z, operator, transposed

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Fetch the rows and evaluate the kernel on them."""
        if self.transposed:
            return self.T.take(cols, rows).T
        return self.kernel.pairs(self.kernel.left(self.X[rows]), self.kernel.right(self.Z[cols]))

    @property
    def cost(self) -> int:
        """Multiplications of the inner products, plus the cost of one exponential per entry."""
        return self.shape[0] * self.shape[1] * (self.X.shape[1] + EXPONENTIAL)

    def _matmat(self, V: np.ndarray) -> Any:
        if self.transposed:
            return np.sum(self.X.reduce(_AdjointProduct(self.kernel, self.Z, self.operator), alongside=V), axis=0)
        dtype = np.result_type(self.dtype, V.dtype)
        return self.X.map(_Product(self.kernel, self.Z, self.operator, V), V.shape[1], dtype)

    def _adjoint(self) -> ByBlocks:
        return ByBlocks(self.kernel, self.X, self.Z, self.operator, not self.transposed)


@dataclass(frozen=True)
class _AdjointProduct:
    """The task k(block, Z)^T @ U."""

    kernel: Kernel
    Z: Array
    operator: Any

    def __call__(self, block: Array, U: np.ndarray) -> np.ndarray:
        return np.asarray(self.operator(self.kernel, block, self.Z).T @ U)


@dataclass(frozen=True)
class _Product:
    """The task k(block, Z) @ V."""

    kernel: Kernel
    Z: Array
    operator: Any
    V: np.ndarray

    def __call__(self, block: Array) -> np.ndarray:
        return np.asarray(self.operator(self.kernel, block, self.Z) @ self.V)
