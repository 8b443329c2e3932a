"""Stability of row clusters: whether two random halves of the columns give the same."""

from typing import NamedTuple

import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score
from sklearn.metrics.cluster import contingency_matrix

from .clustering import Clustering, Pair

# `python benchmarks/biclustering_dense.py ablation` changes it.
N_SPLITS = 5  # random halvings of the columns
SAMPLED_ROWS = 1000  # enough to see whether two partitions agree
FEW_STARTS = 3  # of k-means for each half of the columns
PATIENCE = 4  # numbers of clusters beyond the most stable one that are tried


class Stability(NamedTuple):
    """Agreement of the row clusters from two halves of the columns."""

    n_clusters: int
    agreement: float
    """Mean adjusted Rand index of the two partitions, over several halvings: one if equal, zero if unrelated."""
    error: float
    """Standard error of that mean."""


def random_halves(m: int, seed: int) -> list[Pair]:
    """Pairs of disjoint halves of range(m), which must be at least two."""
    rng = np.random.default_rng(seed)
    orders = [rng.permutation(m) for _ in range(N_SPLITS)]
    return [(order[: m // 2], order[m // 2 :]) for order in orders]


def sampled_rows(n: int, seed: int) -> np.ndarray:
    """Numbers of at most a thousand rows."""
    return np.sort(np.random.default_rng(seed).permutation(n)[:SAMPLED_ROWS])


def stability_of(features: list[Pair], count: int, clustering: Clustering) -> Stability:
    """Agreement of the clusterings of both row features of each halving into ``count`` clusters."""
    clustering = clustering._replace(n_init=FEW_STARTS)
    found = [adjusted_rand_score(*(clustering.rule(F, count).labels(F) for F in halves)) for halves in features]
    return Stability(count, float(np.mean(found)), float(np.std(found) / np.sqrt(len(found))))


def most_stable_count(features: list[Pair], most: int, clustering: Clustering) -> tuple[Stability, ...]:
    """What was compared to find a number of clusters, from 2 on, the choice last.

    The choice is the largest number whose agreement is within its standard error of the best: where several nested
    partitions are stable, it is the finest. The search ends four numbers after the best so far, or at ``most``.
    """
    path: list[Stability] = []
    for count in range(2, max(2, most) + 1):
        path.append(stability_of(features, count, clustering))
        if count - max(path, key=lambda one: one.agreement).n_clusters >= PATIENCE:
            break
    best = max(path, key=lambda one: one.agreement)
    chosen = [one for one in path if one.agreement >= best.agreement - best.error][-1]
    return (*path, chosen)


def cluster_stability(labels: np.ndarray, features: list[Pair], count: int, clustering: Clustering) -> np.ndarray:
    """Jaccard index of each cluster and its match, averaged over all halves of the columns (Hennig, 2007).

    Values near one mean that half of the columns give the same cluster; below one half, that it dissolves.
    """
    found, clustering = [], clustering._replace(n_init=FEW_STARTS)
    for F in (half for halves in features for half in halves):
        others = clustering.rule(F, count).labels(F)
        shared = contingency_matrix(labels, others).astype(float)
        union = shared.sum(axis=1)[:, None] + shared.sum(axis=0) - shared
        jaccard = shared / union
        rows, columns = linear_sum_assignment(-jaccard)
        per_cluster = np.zeros(count)
        per_cluster[np.unique(labels)[rows]] = jaccard[rows, columns]
        found.append(per_cluster)
    return np.mean(found, axis=0)
