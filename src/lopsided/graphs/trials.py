"""Trials of an embedding on the graph itself: edges that are hidden from it, and pairs that are not edges."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._core import row_numbers, some_entries
from .links import contains, free_pairs

Pairs = tuple[np.ndarray, np.ndarray]
HIDDEN_SHARE = 0.1  # of the edges, in each trial: few enough for the rest to resemble the graph
MOST_HIDDEN = 10_000  # edges in a trial: more do not change a regression on a dozen numbers
ENOUGH_HIDDEN = 500  # edges in all trials together; small graphs take several trials
MOST_TRIALS = 10
UNIFORM_NEGATIVES = 5  # random pairs per hidden edge; `python benchmarks/graphs_links.py ablation` changes it


class Trial(NamedTuple):
    """A graph without some of its edges, those edges, and pairs that are not edges of the whole graph.

    Negative pairs are drawn uniformly, and are hidden edges reversed. Matched pairs join a source of a hidden edge with
    the target of another, so that degrees do not give them away.
    """

    adjacency: sparse.csr_array
    hidden: Pairs
    negative: Pairs
    matched: Pairs


def trials(A: sparse.csr_array, seed: int) -> list[Trial]:
    """Hide a tenth of the edges at a time, in one trial on large graphs and up to ten on small ones.

    If every edge has its reverse, as in an undirected graph, both are hidden together. Graphs with fewer than two edges
    between different nodes have no trial. Cost O(edges) for each of them.
    """
    rng = np.random.RandomState(seed)
    u, v, keys = _numbered(A)
    undirected = mutual_share(A) == 1
    candidates = rng.permutation(np.flatnonzero(u < v if undirected else u != v))
    size = min(MOST_HIDDEN, max(1, round(HIDDEN_SHARE * len(candidates))))
    if len(candidates) < 2:
        return []
    count = min(MOST_TRIALS, -(-ENOUGH_HIDDEN // size), len(candidates) // size)
    return [_trial(A, keys, candidates[i * size : (i + 1) * size], undirected, rng) for i in range(count)]


def mutual_share(A: sparse.csr_array) -> float:
    """Share of the edges between different nodes whose reverse is an edge too; one if there are none."""
    u, v, keys = _numbered(A)
    apart = u != v
    return float(contains(keys, (v * A.shape[0] + u)[apart]).mean()) if apart.any() else 1.0


def _numbered(A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Sources and targets of the edges, and a number for each pair, ascending as rows of A are sorted."""
    u, v = row_numbers(A), A.indices.astype(np.int64)
    return u, v, u * A.shape[0] + v


def _trial(
    A: sparse.csr_array, keys: np.ndarray, hidden: np.ndarray, undirected: bool, rng: np.random.RandomState
) -> Trial:
    n = A.shape[0]
    u, v = keys[hidden] // n, keys[hidden] % n
    kept = np.ones(len(keys), dtype=bool)
    kept[hidden] = False
    reverse = v * n + u
    if undirected:
        kept[np.searchsorted(keys, reverse)] = False
        turned_round = rng.random_sample(len(u)) < 0.5  # else every source would come before its target
        u, v = np.where(turned_round, v, u), np.where(turned_round, u, v)
    turned = reverse[~contains(keys, reverse)]
    left = n * (n - 1) - len(keys)
    drawn = free_pairs(np.sort(np.concatenate([keys, turned])), n, min(UNIFORM_NEGATIVES * len(u), left // 2), rng)
    negative = np.concatenate([drawn, turned])
    shuffled = u * n + rng.permutation(v)
    matched = shuffled[~contains(keys, shuffled) & (shuffled // n != shuffled % n)]
    return Trial(some_entries(A, kept), (u, v), (negative // n, negative % n), (matched // n, matched % n))
