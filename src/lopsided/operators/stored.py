"""Matrices held in memory, dense or sparse."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .._parallel import even_slices, n_threads, run
from .base import EVERY, Index, KernelOperator

WORTH_A_THREAD = 1 << 18  # multiplications


class Stored(KernelOperator):
    """A dense or sparse matrix. Cost of a product with b columns: O(nnz b), on threads if sparse."""

    def __init__(self, K: Any, n_jobs: int | None = None) -> None:
        super().__init__(K.shape, K.dtype)
        self.K = K
        self.n_jobs = n_jobs

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Slice the matrix."""
        return dense(self.K[rows][:, cols])

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        return matmul(self.K, V, self.n_jobs)

    def _adjoint(self) -> Stored:
        return Stored(self.K.T, self.n_jobs)


def dense(block: Any) -> np.ndarray:
    """The block as a numpy array."""
    return block.toarray() if sparse.issparse(block) else np.asarray(block)


def matmul(S: Any, V: np.ndarray, n_jobs: int | None = None) -> np.ndarray:
    """S @ V; a large sparse S is split into as many pieces as there are threads.

    A CSR matrix gives each thread its own rows of the result; its transpose, in CSC, gives each thread a
    partial sum. scipy's sparse products release the interpreter lock.
    """
    threads = n_threads(n_jobs)
    if not sparse.issparse(S) or threads < 2 or S.nnz * V.shape[1] < WORTH_A_THREAD * threads:
        return S @ V
    by_rows = S.format == "csr"
    pieces = even_slices(S.shape[0 if by_rows else 1], threads)
    parts = run(lambda piece: _piece(S, piece) @ (V if by_rows else V[piece]), pieces, n_jobs)
    return np.concatenate(parts) if by_rows else sum(parts[1:], start=parts[0])


def _piece(S: Any, piece: slice) -> Any:
    """Some rows of a CSR matrix or columns of a CSC matrix, sharing its memory."""
    start, stop = S.indptr[piece.start], S.indptr[piece.stop]
    indptr = S.indptr[piece.start : piece.stop + 1] - start
    length = piece.stop - piece.start
    shape = (length, S.shape[1]) if S.format == "csr" else (S.shape[0], length)
    return type(S)((S.data[start:stop], S.indices[start:stop], indptr), shape=shape)
