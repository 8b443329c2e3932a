"""Skip-gram over random walks on the undirected graph, by gensim on one thread: DeepWalk and node2vec."""

from __future__ import annotations

import numpy as np
from scipy import sparse

WALKS, LENGTH, WINDOW = 10, 80, 10  # of both papers


def deepwalk(A: sparse.csr_array, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Uniform walks (Perozzi, Al-Rfou and Skiena, 2014)."""
    return node2vec(A, k, seed, p=1.0, q=1.0)


def node2vec(A: sparse.csr_array, k: int, seed: int, *, p: float, q: float) -> tuple[np.ndarray, np.ndarray]:
    """Walks that return with weight 1 / p and move away with weight 1 / q (Grover and Leskovec, 2016)."""
    from gensim.models import Word2Vec

    S = undirected(A)
    paths = walks(S, np.random.default_rng(seed), p, q).astype(str).tolist()
    model = Word2Vec(paths, vector_size=k, window=WINDOW, min_count=0, sg=1, workers=1, epochs=1, seed=seed)
    X = model.wv[[str(node) for node in range(S.shape[0])]]
    return X, X


def undirected(A: sparse.csr_array) -> sparse.csr_array:
    """A + A' with weights one, without self-loops."""
    S = sparse.csr_array(A + A.T)
    S.setdiag(0)
    S.eliminate_zeros()
    S.data[:] = 1
    return S


def walks(S: sparse.csr_array, rng: np.random.Generator, p: float, q: float) -> np.ndarray:
    """A few walks from every node, in random order, one a row; a node without neighbours stays where it is."""
    n = S.shape[0]
    here = np.concatenate([rng.permutation(n) for _ in range(WALKS)])
    edges = np.repeat(np.arange(n), np.diff(S.indptr)) * n + S.indices
    path = np.empty((len(here), LENGTH), dtype=np.int32)
    for step in range(LENGTH):
        path[:, step] = here
        before = path[:, step - 1] if step else None
        here = next_nodes(S, here, before, edges, rng, p, q)
    return path


def next_nodes(
    S: sparse.csr_array,
    here: np.ndarray,
    before: np.ndarray | None,
    edges: np.ndarray,
    rng: np.random.Generator,
    p: float,
    q: float,
) -> np.ndarray:
    """The next node of every walk: uniform proposals, accepted in proportion to their weights."""
    degrees, found = np.diff(S.indptr), here.copy()
    left = np.flatnonzero(degrees[here] > 0)
    most = max(1.0, 1 / p, 1 / q)
    while len(left):
        now = here[left]
        proposed = S.indices[S.indptr[now] + (rng.random(len(left)) * degrees[now]).astype(np.int64)]
        accepted = np.ones(len(left), dtype=bool)
        if before is not None and (p, q) != (1.0, 1.0):
            last = before[left].astype(np.int64)
            pairs = last * S.shape[0] + proposed
            near = edges[np.minimum(np.searchsorted(edges, pairs), len(edges) - 1)] == pairs
            weights = np.where(proposed == last, 1 / p, np.where(near, 1.0, 1 / q))
            accepted = rng.random(len(left)) * most < weights
        found[left[accepted]] = proposed[accepted]
        left = left[~accepted]
    return found
