"""Scores of edges without learning: degrees and PageRank as vectors, counts of paths and walks as sparse matrices."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .strap import personalised_pagerank

DAMPING, ROUNDS = 0.85, 100


def degrees(A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """An edge from i to j scores (1 + out-degree of i) (1 + in-degree of j)."""
    out, into = (1 + A.sum(axis=side).reshape(-1, 1) for side in (1, 0))
    return out, into


def preferential_attachment(A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """The product of degrees, with directions ignored."""
    out, into = degrees(A)
    return out + into, out + into


def pagerank(A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """One plus the out-degree of the source, times the PageRank of the target."""
    n = A.shape[0]
    out = A.sum(axis=1)
    backwards = sparse.csr_array(A.T) @ sparse.diags_array(1 / np.where(out > 0, out, 1))
    rank = np.full(n, 1 / n)
    for _ in range(ROUNDS):
        rank = DAMPING * (backwards @ rank + rank[out == 0].sum() / n) + (1 - DAMPING) / n
    return 1 + out.reshape(-1, 1), rank.reshape(-1, 1)


def common_neighbours(A: sparse.csr_array) -> sparse.csr_array:
    """Paths of two edges from i to j."""
    return sparse.csr_array(A @ A)


def adamic_adar(A: sparse.csr_array) -> sparse.csr_array:
    """Paths of two edges, each divided by the logarithm of the degree of the node between."""
    between = A.sum(axis=0) + A.sum(axis=1)  # at least two, for nodes between
    return sparse.csr_array(A @ sparse.diags_array(1 / np.log(np.maximum(between, 2))) @ A)


def rooted_pagerank(A: sparse.csr_array) -> sparse.csr_array:
    """Probabilities that walks from i end in j (Liben-Nowell and Kleinberg, 2003), as STRAP computes them."""
    return personalised_pagerank(A)
