"""Dense or sparse kernel matrices that are stored, and their threaded products."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .._core import AdjacencyBlocks, by_rows, dense, n_threads, product, run
from .base import EVERY, Index, KernelOperator

WORTH_THREADS = 1 << 19  # multiplications from which a sparse product is divided among threads
PIECES = 2  # row blocks per thread, so that no thread waits long for another


class Stored(KernelOperator):
    """A dense or CSR matrix in memory, or one in blocks elsewhere. Cost of a product with b columns: O(nnz b)."""

    def __init__(self, K: Any) -> None:
        super().__init__(K.shape, K.dtype)
        self.K = by_rows(K)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Slice the matrix."""
        return dense(self.K[rows][:, cols])

    @property
    def cost(self) -> int:
        """Number of stored entries."""
        return int(self.K.size)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return matmul(self.K, V)

    def _adjoint(self) -> Stored:
        return Stored(self.K.T)


def matmul(S: Any, V: np.ndarray) -> np.ndarray:
    """Return S @ V for a dense, CSR or blocked matrix; large CSR products are divided among threads by stored entries.

    scipy's sparse products release the global interpreter lock. A single column uses its faster matrix-vector product
    on one thread: it is bound by memory bandwidth, so that a second thread gains nothing.
    """
    if isinstance(S, AdjacencyBlocks):
        return S @ V
    if not sparse.issparse(S):
        return product(S, V)
    if V.shape[1] == 1:
        return (S @ V[:, 0])[:, None]
    if S.nnz * V.shape[1] < WORTH_THREADS:
        return S @ V
    edges = np.searchsorted(S.indptr, np.linspace(0, S.nnz, PIECES * n_threads() + 1)[1:-1])
    edges = np.unique([0, *edges, S.shape[0]])
    return np.concatenate(run(lambda ends: rows_of(S, slice(*ends)) @ V, pairwise(edges)))


def rows_of(S: sparse.csr_array, rows: slice) -> sparse.csr_array:
    """Slice rows of a CSR matrix; data and indices are views."""
    start, stop = S.indptr[rows.start], S.indptr[rows.stop]
    parts = S.data[start:stop], S.indices[start:stop], S.indptr[rows.start : rows.stop + 1] - start
    return sparse.csr_array(parts, shape=(rows.stop - rows.start, S.shape[1]))
