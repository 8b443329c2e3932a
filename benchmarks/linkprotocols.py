"""Protocols of link prediction: which edges are hidden, against which pairs they are judged, and the scores."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components, minimum_spanning_tree
from sklearn.metrics import average_precision_score, roc_auc_score

from contenders import Scorer
from graphsets import Labelled
from lopsided.graphs import hide_edges

HITS = (20, 50, 100)
TEST_SHARE, VALIDATION_SHARE = 0.15, 0.05  # of the public benchmark
HIDDEN_SHARE = 0.1
RECALL_TARGETS, RECALL_SOURCES = 20, 2000
Pairs = tuple[np.ndarray, np.ndarray]


class Split(NamedTuple):
    """The graph to learn from, hidden edges and as many pairs that are no edges of the whole graph."""

    adjacency: sparse.csr_array
    positive: Pairs
    negative: Pairs


def half_reversed(graph: Labelled, seed: int) -> Split:
    """A tenth of the edges hidden; half of the negative pairs are hidden edges turned round.

    An edge of an undirected graph is hidden in both directions, and negative pairs are uniform.
    """
    if graph.directed:
        return Split(*hide_edges(graph.adjacency, share=HIDDEN_SHARE, random_state=seed))
    A, rng = graph.adjacency, np.random.default_rng(seed)
    u, v = _units(A, directed=False)
    hidden = rng.permutation(len(u))[: round(HIDDEN_SHARE * len(u))]
    return _split(A, (u[hidden], v[hidden]), (u[hidden], v[hidden]), False, rng)


def public(graph: Labelled, seed: int) -> Split:
    """Split of the benchmark of He et al. (2025): 80 / 5 / 15 % of the edges of the largest component.

    A spanning tree of the undirected graph stays, so that what is learned from is connected, and negative pairs are
    uniform. Edges for validation are hidden, and not used. Self-loops are left out.
    """
    rng = np.random.default_rng(seed)
    A = largest_component(graph.adjacency)
    u, v = _units(A, graph.directed)
    free = rng.permutation(np.flatnonzero(~_in_tree(A, u, v, rng)))
    test, validation = (int(share * len(u)) for share in (TEST_SHARE, VALIDATION_SHARE))
    test = min(test, len(free))  # trees leave few edges to hide
    judged, hidden = free[:test], free[: test + validation]
    return _split(A, (u[judged], v[judged]), (u[hidden], v[hidden]), graph.directed, rng)


def largest_component(A: sparse.csr_array) -> sparse.csr_array:
    """The largest weakly connected component, without self-loops."""
    _, labels = connected_components(A, directed=True, connection="weak")
    kept = np.flatnonzero(labels == np.bincount(labels).argmax())
    A = sparse.csr_array(A[kept][:, kept])
    A.setdiag(0)
    A.eliminate_zeros()
    return A


def _units(A: sparse.csr_array, directed: bool) -> Pairs:
    """Edges that are hidden one by one: all, or those of one triangle."""
    u, v = A.nonzero()
    kept = u != v if directed else u < v
    return u[kept], v[kept]


def _in_tree(A: sparse.csr_array, u: np.ndarray, v: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Which edges belong, in either direction, to a random spanning tree of the undirected graph."""
    S = sparse.triu(A + A.T).tocsr()
    S.data = 1 + rng.random(S.nnz)
    rows, columns = minimum_spanning_tree(S).nonzero()
    n = A.shape[0]
    tree = np.minimum(rows, columns).astype(np.int64) * n + np.maximum(rows, columns)
    return np.isin(np.minimum(u, v).astype(np.int64) * n + np.maximum(u, v), tree)


def _split(A: sparse.csr_array, positive: Pairs, hidden: Pairs, directed: bool, rng: np.random.Generator) -> Split:
    """Hide edges, in both directions where there is none, and draw pairs that are no edges."""
    gone = sparse.csr_array((np.ones(len(hidden[0])), hidden), shape=A.shape)
    left = sparse.csr_array(A - A.multiply(gone if directed else gone + gone.T))
    left.eliminate_zeros()
    return Split(left, positive, uniform_pairs(A, len(positive[0]), rng))


def uniform_pairs(A: sparse.csr_array, count: int, rng: np.random.Generator) -> Pairs:
    """Distinct pairs of different nodes without an edge."""
    n, (u, v) = A.shape[0], A.nonzero()
    edges, found = u.astype(np.int64) * n + v, np.empty(0, dtype=np.int64)
    while len(found) < count:
        u, v = rng.integers(n, size=(2, 2 * count))
        drawn = (u * n + v)[u != v]
        found = np.unique(np.concatenate([found, drawn[~np.isin(drawn, edges)]]))
    found = rng.permutation(found)[:count]
    return found // n, found % n


def separation(scorer: Scorer, split: Split) -> dict[str, float]:
    """How well scores tell hidden edges from pairs that are none.

    Hits@k is the share of hidden edges above the k-th highest pair; the mean reciprocal rank of hidden edges is that
    among all pairs, with ties counted half.
    """
    positive, negative = (np.asarray(scorer.pairs(*pairs), dtype=float) for pairs in split[1:])
    truth, scores = np.repeat([1, 0], [len(positive), len(negative)]), np.concatenate([positive, negative])
    ordered = np.sort(negative)
    above = len(negative) - (np.searchsorted(ordered, positive) + np.searchsorted(ordered, positive, "right")) / 2
    found = {"AUC": roc_auc_score(truth, scores), "AP": average_precision_score(truth, scores)}
    found |= {f"Hits@{k}": (positive > ordered[-k]).mean() for k in HITS if k < len(negative)}
    found["MRR"] = (1 / (1 + above)).mean()
    return {name: float(value) for name, value in found.items()}


def recall(scorer: Scorer, split: Split, directed: bool) -> float:
    """The share of hidden edges among the best new targets of their sources."""
    A, n = split.adjacency, split.adjacency.shape[0]
    wanted = sparse.csr_array((np.ones(len(split.positive[0])), split.positive), shape=A.shape)
    wanted = wanted if directed else sparse.csr_array(wanted + wanted.T)
    sources = np.flatnonzero((wanted.sum(axis=1) > 0) & (n - 1 - np.diff(A.indptr) >= RECALL_TARGETS))
    sources = np.random.default_rng(0).permutation(sources)[:RECALL_SOURCES]
    best = scorer.targets(sources, RECALL_TARGETS)
    wanted = wanted[sources]
    hits = np.take_along_axis(wanted.toarray(), best, axis=1).sum()
    return float(hits / np.minimum(wanted.sum(axis=1), RECALL_TARGETS).sum())
