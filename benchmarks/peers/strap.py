"""STRAP: transpose proximities by pushes, and their SVD, written from its paper (Yin and Wei, 2019)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse

from .factorised import truncated_svd

RESTART, THRESHOLD, PASSES = 0.5, 1e-5, 12  # the authors'
BLOCK_ENTRIES = 1 << 22
SPARSE_FILL = 0.1  # share of entries up to which a sparse matrix multiplies faster than a dense one


def strap(A: sparse.csr_array, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """SVD of log10((Pi + Pi_reversed') / threshold) where it is positive, singular values split evenly.

    Pi_ij is the probability that a walk from i ends in j, and Pi_reversed that of the graph with all edges turned.
    """
    both = push(A) + sparse.csr_array(push(sparse.csr_array(A.T)).T)
    both.data = np.log10(both.data / np.float32(THRESHOLD))
    few = both.nnz < SPARSE_FILL * both.shape[0] ** 2
    U, s, V = truncated_svd(both if few else both.toarray(), k, seed, PASSES)
    return U * np.sqrt(s), V * np.sqrt(s)


def push(A: sparse.csr_array, restart: float = RESTART, threshold: float = THRESHOLD) -> sparse.csr_array:
    """Personalised PageRank above a threshold, without the diagonal, with errors up to the threshold.

    Backward pushes to all targets of a block in rounds: every residue above the threshold moves to those who link to
    it. Cost: O(rounds edges targets), of about log(threshold) / log(1 - restart) rounds.
    """
    out = np.maximum(A.sum(axis=1), np.finfo(np.float32).tiny)
    P = sparse.csr_array(sparse.diags_array(1 / out) @ A, dtype=np.float32)
    found = sparse.hstack(list(_blocks(P, np.float32(restart), np.float32(threshold))), format="csr")
    found = sparse.csr_array(found)
    found.setdiag(0)
    found.eliminate_zeros()
    return found


def _blocks(P: sparse.csr_array, restart: Any, threshold: Any) -> Iterator[sparse.csc_array]:
    """Columns of the matrix, a block at a time."""
    n = P.shape[0]
    width = max(1, BLOCK_ENTRIES // n)
    for start in range(0, n, width):
        targets = np.arange(start, min(start + width, n))
        residue, reserve = np.zeros((2, n, len(targets)), dtype=np.float32)
        residue[targets, targets - start] = 1
        while (above := residue > threshold).any():
            moved = np.where(above, residue, 0)
            reserve += restart * moved
            residue += (1 - restart) * (P @ moved) - moved
        reserve[reserve <= threshold] = 0
        yield sparse.csc_array(reserve)
