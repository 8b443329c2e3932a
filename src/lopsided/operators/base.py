"""The interface of kernel matrices as linear operators whose entries can also be sampled."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._core import blocks_of, frobenius
from .spread import Spread

Index = Any  # a slice or an array of row or column numbers
EVERY = slice(None)
BATCH_BYTES = 1 << 25  # of a dense batch of rows, at most


class KernelOperator(LinearOperator, ABC):
    """A real (n, m) matrix defined by its products and its entries.

    Subclasses implement ``take``, ``cost``, ``_matmat`` and ``_adjoint``, and are immutable after ``__init__``. All of
    them satisfy: ``A @ V`` equals ``A.take() @ V``, ``A.T @ U`` equals ``A.take().T @ U``, and ``A.take(r, c)`` equals
    ``A.take()[r][:, c]``.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF
    >>> from lopsided.operators import KernelOperator, as_operator
    >>> X = np.random.default_rng(0).random((5, 2))
    >>> A = as_operator(RBF(1.0).fit(X, X[:3]), X, X[:3], budget=10**6)
    >>> isinstance(A, KernelOperator), (A @ np.ones(3)).shape, (A.T @ np.ones(5)).shape
    (True, (5,), (3,))
    """

    matrix_free: bool = False  # whether every product evaluates the entries again

    def __init__(self, shape: tuple[int, int], dtype: Any) -> None:
        super().__init__(np.dtype(dtype), shape)

    @abstractmethod
    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Return the entries of the given rows and columns as a dense array."""

    @property
    @abstractmethod
    def cost(self) -> int:
        """Number of multiplications in a product with one vector."""

    @property
    def rounding(self) -> float:
        """Size below which singular values are rounding errors of larger numbers that cancel; zero if none do."""
        return 0.0

    @abstractmethod
    def _matmat(self, V: np.ndarray) -> np.ndarray: ...

    @abstractmethod
    def _adjoint(self) -> KernelOperator: ...

    def _rmatmat(self, U: np.ndarray) -> np.ndarray:
        return self._adjoint()._matmat(U)

    def _transpose(self) -> KernelOperator:
        return self._adjoint()

    def condensed(self) -> Condensed | None:
        """Return a smaller operator with the same nonzero singular values, or None if it would save little."""
        return None

    def batches(self) -> Iterator[np.ndarray]:
        """Yield the dense matrix in batches of rows, from the top."""
        for rows in blocks_of(self.shape[0], self.dtype.itemsize * self.shape[1], BATCH_BYTES):
            yield self.take(rows)

    def norm(self) -> float:
        """Return the Frobenius norm, the root of the sum of squared singular values. Cost O(n m)."""
        return math.hypot(*map(frobenius, self.batches()))


class Condensed(NamedTuple):
    """A small operator, and the maps from its left and right singular vectors to those of the large one."""

    operator: KernelOperator
    left: Spread
    right: Spread
