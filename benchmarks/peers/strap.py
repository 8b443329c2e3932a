"""STRAP: logarithms of transpose proximities, and their SVD, written from its paper (Yin and Wei, 2019)."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from scipy import sparse

from .factorised import truncated_svd

RESTART, THRESHOLD = 0.5, 1e-5  # the authors'
PASSES = 5  # of subspace iteration, which make the authors' twelve products with the matrix
BLOCK_ENTRIES = 1 << 20
SPARSE_FILL = 0.1  # share of entries up to which a sparse matrix multiplies faster than a dense one


def strap(A: sparse.csr_array, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """SVD of log10((Pi + Pi_reversed') / threshold) where it is positive, singular values split evenly.

    Pi_ij is the probability that a walk from i ends in j, and Pi_reversed that of the graph with all edges turned.
    """
    both = personalised_pagerank(A) + sparse.csr_array(personalised_pagerank(sparse.csr_array(A.T)).T)
    both.data = np.log10(both.data / np.float32(THRESHOLD))
    few = both.nnz < SPARSE_FILL * both.shape[0] ** 2
    U, s, V = truncated_svd(both if few else both.toarray(), k, seed, PASSES)
    return U * np.sqrt(s), V * np.sqrt(s)


def personalised_pagerank(A: sparse.csr_array) -> sparse.csr_array:
    """Probabilities above a threshold that walks from i end in j, without the diagonal.

    The authors push residues above the threshold along the edges. A series that is cut where its remainder falls below
    the threshold has the same error, and takes one sparse product a step. Cost: O(17 edges nodes).
    """
    out = A.sum(axis=1)
    steps = sparse.diags_array((1 - RESTART) / np.where(out > 0, out, 1)) @ A
    found = sparse.hstack(list(_blocks(sparse.csr_array(steps, dtype=np.float32))), format="csr")
    found = sparse.csr_array(found)
    found.setdiag(0)
    found.eliminate_zeros()
    return found


def _blocks(steps: sparse.csr_array) -> Iterator[sparse.csc_array]:
    """Columns of restart (I - steps)^-1, a block at a time, by Horner's scheme."""
    n = steps.shape[0]
    width = max(1, BLOCK_ENTRIES // n)
    for start in range(0, n, width):
        targets = np.arange(start, min(start + width, n))
        total = np.zeros((n, len(targets)), dtype=np.float32)
        total[targets, targets - start] = 1
        for _ in range(math.ceil(math.log(THRESHOLD) / math.log(1 - RESTART))):
            total = steps @ total
            total[targets, targets - start] += 1
        total *= RESTART
        total[total <= THRESHOLD] = 0
        yield sparse.csc_array(total)
