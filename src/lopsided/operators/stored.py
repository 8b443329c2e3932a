"""Matrices held in memory, dense or sparse."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from scipy import sparse

from .._parallel import n_threads, run
from ..kernels.points import by_rows, dense
from .base import EVERY, Index, KernelOperator

WORTH_THREADS = 1 << 19  # multiplications
PIECES = 2  # for each thread, so that none waits long for another


class Stored(KernelOperator):
    """A dense matrix, or a sparse one in CSR. Cost of a product with b columns: O(nnz b), on threads."""

    def __init__(self, K: Any) -> None:
        super().__init__(K.shape, K.dtype)
        self.K = by_rows(K)

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Slice the matrix."""
        return dense(self.K[rows][:, cols])

    @property
    def work(self) -> int:
        """The stored entries."""
        return int(self.K.nnz if sparse.issparse(self.K) else self.K.size)

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return matmul(self.K, V)

    def _adjoint(self) -> Stored:
        return Stored(self.K.T)


def matmul(S: Any, V: np.ndarray) -> np.ndarray:
    """S @ V for a dense or CSR matrix; a large sparse one is shared among threads, by entries.

    scipy's sparse products release the interpreter lock. A single column takes its faster path for vectors, which waits
    for memory: a second thread beside it gains nothing, and meets those of BLAS.
    """
    if not sparse.issparse(S):
        return times(S, V)
    if V.shape[1] == 1:
        return (S @ V[:, 0])[:, None]
    if S.nnz * V.shape[1] < WORTH_THREADS:
        return S @ V
    edges = np.searchsorted(S.indptr, np.linspace(0, S.nnz, PIECES * n_threads() + 1)[1:-1])
    edges = np.unique([0, *edges, S.shape[0]])
    return np.concatenate(run(lambda ends: rows_of(S, slice(*ends)) @ V, pairwise(edges)))


def times(Y: np.ndarray, R: np.ndarray) -> np.ndarray:
    """Y @ R; a product over one index is an outer product, for which BLAS is ten times slower than broadcasting."""
    return Y * R if Y.shape[1] == 1 else Y @ R


def rows_of(S: sparse.csr_array, rows: slice) -> sparse.csr_array:
    """Some rows of a CSR matrix, sharing its memory."""
    start, stop = S.indptr[rows.start], S.indptr[rows.stop]
    parts = S.data[start:stop], S.indices[start:stop], S.indptr[rows.start : rows.stop + 1] - start
    return sparse.csr_array(parts, shape=(rows.stop - rows.start, S.shape[1]))
