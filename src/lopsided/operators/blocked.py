"""Dense kernel matrices that are evaluated in blocks for each product and never stored."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from .._core import Array, block_bytes, blocks_of, in_strips, n_threads, run, slices_of
from ..kernels import Kernel
from .base import EVERY, Index, KernelOperator

TILE_BYTES = 1 << 21  # bytes of a block, which stays in the cache of a core between matrix product, exponential and use
TILE_COLUMNS = 128  # columns of a block
FILL_BYTES = 1 << 23  # bytes of the rows that a thread evaluates at once when the matrix is stored, at most
FILL_COPIES = 4  # of the rows that a thread evaluates: their product is sparse first if both sides are
FILL_SHARE = 8  # of the matrix: bytes that all threads together evaluate at once, unless it is small
EXPONENTIAL = 20  # cost of an exponential, in multiplications


class Prepared:
    """The rows of prepare(points), computed when they are indexed, so that no copy of all points is held."""

    def __init__(self, prepare: Callable[[Array], Array], points: Array) -> None:
        self.prepare, self.points = prepare, points
        first = prepare(points[:1])
        self.shape, self.dtype = (points.shape[0], first.shape[1]), first.dtype

    def __getitem__(self, rows: Index) -> Array:
        return self.prepare(self.points[rows])


class Blocked(KernelOperator):
    """The matrix k(X, Z), evaluated by several threads in blocks that fit the cache.

    It holds a fitted kernel and the two prepared sides, L = ``kernel.left(X)`` and R = ``kernel.right(Z)``, either of
    which may be ``Prepared`` block by block. The adjoint is the blocked operator of the kernel with exchanged
    arguments. Cost of a product: one evaluation of the n m kernel values, and the memory of one block per thread.
    """

    matrix_free = True

    def __init__(self, kernel: Kernel, L: Array | Prepared, R: Array | Prepared) -> None:
        super().__init__((L.shape[0], R.shape[0]), np.result_type(L.dtype, R.dtype))
        self.kernel = kernel
        self.L = L
        self.R = R

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Evaluate the kernel on the given rows and columns."""
        return self._values(self.L[rows], self.R[cols])

    def stored(self) -> np.ndarray:
        """Evaluate the whole matrix, with its rows divided among threads."""
        K = np.empty(self.shape, dtype=self.dtype)

        def fill(rows: slice) -> None:
            K[rows] = self.take(rows)

        at_once = min(FILL_BYTES, max(TILE_BYTES, K.nbytes // (FILL_SHARE * n_threads())))
        run(fill, blocks_of(self.shape[0], FILL_COPIES * self.dtype.itemsize * self.shape[1], FILL_COPIES * at_once))
        return K

    @property
    def cost(self) -> int:
        """Multiplications of the inner products, plus the cost of one exponential per entry."""
        return self.shape[0] * self.shape[1] * (self.L.shape[1] + EXPONENTIAL)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        out = np.empty((self.shape[0], V.shape[1]), dtype=np.result_type(self.dtype, V.dtype))
        columns = slices_of(self.shape[1], TILE_COLUMNS)
        height = block_bytes(TILE_BYTES) // (self.dtype.itemsize * min(self.shape[1], TILE_COLUMNS))
        height = min(height, -(-self.shape[0] // n_threads()))

        def multiply(rows: slice) -> None:
            L = self.L[rows]
            out[rows] = sum(in_strips(self._values(L, self.R[cols]), V[cols]) for cols in columns)

        run(multiply, slices_of(self.shape[0], height))
        return out

    def _values(self, L: Array, R: Array) -> np.ndarray:
        """Evaluate a block; anything but an array of all pairs would be broadcast without a word."""
        K, shape = self.kernel.pairs(L, R), (L.shape[0], R.shape[0])
        if not isinstance(K, np.ndarray) or K.shape != shape:
            found = f"shape {K.shape}" if isinstance(K, np.ndarray) else f"a {type(K).__name__}"
            raise ValueError(
                f"pairs of {self.kernel!r} returned {found} for {shape[0]} left and {shape[1]} right points; it must "
                f"return a dense array of all pairs, shape {shape}"
            )
        return K

    def _adjoint(self) -> Blocked:
        return Blocked(self.kernel.T, self.R, self.L)
