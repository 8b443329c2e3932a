"""Strategies that choose landmarks: uniform, k-means centres, leverage scores, pivots."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from scipy import optimize, sparse
from threadpoolctl import threadpool_limits

from .._core import Array, one_blas_thread, same_points
from ..kernels import Kernel
from .landmarks import Landmarks, given_landmarks, rows_as_landmarks
from .pivoting import pivoted

POINTS_PER_CLUSTER = 50  # at most, in the sample on which k-means runs
SEEDED_CLUSTERS = 500  # up to which k-means++ initialises the centres; it costs O(p^2 width) and gains little beyond
LONGEST_WAIT = 50  # mean waiting times of the least likely row, after which its inclusion is certain; bounds t
UNIFORM_SHARE = 0.5  # of leverage sampling, for structure that the estimated scores have missed


def uniform(points: Array, p: int, rng: np.random.Generator) -> Landmarks:
    """Random rows without replacement; for the same seed, a larger set contains the smaller."""
    return rows_as_landmarks(points, rng.permutation(points.shape[0])[:p])


def kmeans(points: Array, p: int, rng: np.random.Generator) -> Landmarks:
    """k-means centres of a sample, weighted by cluster size (density-weighted Nystrom); the points, if they are p.

    Centres of sparse points are returned sparse, as each has only the entries of its cluster; they are dense during
    k-means.
    """
    from sklearn.cluster import MiniBatchKMeans  # late, as the import is slow

    if p == points.shape[0]:
        return rows_as_landmarks(points, np.arange(p))
    sample = points[np.sort(rng.permutation(points.shape[0])[: POINTS_PER_CLUSTER * p])]
    init, seed = "k-means++" if p <= SEEDED_CLUSTERS else "random", int(rng.integers(2**31))
    with one_blas_thread(), threadpool_limits(1, "openmp"):  # more threads change summation order and so the clusters
        clusters = MiniBatchKMeans(p, init=init, n_init=1, random_state=seed).fit(sample)
    sizes = np.bincount(clusters.labels_, minlength=p)
    centres, sizes = clusters.cluster_centers_[sizes > 0], sizes[sizes > 0]
    centres = centres.astype(points.dtype)
    if sparse.issparse(points):
        centres = sparse.csr_array(centres)
    return Landmarks(centres, sizes * (points.shape[0] / sizes.sum()))


ONE_SIDED: dict[str, Callable[[Array, int, np.random.Generator], Landmarks]] = {"uniform": uniform, "kmeans": kmeans}
STRATEGIES = (*ONE_SIDED, "leverage", "pivoted")


def choose_landmarks(
    landmarks: Any, kernel: Kernel, X: Array, Z: Array, counts: tuple[int, int], rngs: Sequence[np.random.Generator]
) -> tuple[Landmarks, Landmarks]:
    """Landmarks of both sides, from a strategy or from the user's row numbers or points.

    A set that is on both sides has the same landmarks there, which keeps the matrix of a symmetric kernel symmetric.
    """
    if not isinstance(landmarks, str):
        left, right = landmarks
        return given_landmarks(left, X, "left"), given_landmarks(right, Z, "right")
    if landmarks == "pivoted":
        return pivoted(kernel, X, Z, counts, rngs[0])
    choose = ONE_SIDED.get(landmarks, uniform)  # leverage scores come from a uniform sample
    left = choose(X, counts[0], rngs[0])
    if landmarks != "leverage" and counts[0] == counts[1] and same_points(X, Z):
        return left, left
    return left, choose(Z, counts[1], rngs[1])


def by_leverage(points: Array, vectors: np.ndarray, p: int, rng: np.random.Generator) -> Landmarks:
    """Draw rows by their leverage scores, the squared norms of the rows of ``vectors``, mixed evenly with uniform.

    The weight of a row is the inverse of its probability of inclusion.
    """
    scores = np.einsum("ij,ij->i", vectors, vectors, dtype=float)
    n = len(scores)
    chances = UNIFORM_SHARE / n + (1 - UNIFORM_SHARE) * scores / scores.sum()
    indices = rng.choice(n, p, replace=False, p=chances)
    return rows_as_landmarks(points, indices, 1 / chances_of_inclusion(chances, p)[indices])


def chances_of_inclusion(chances: np.ndarray, p: int) -> np.ndarray:
    """Approximate probability that each of n rows is among p drawn successively, by ``chances``, without replacement.

    Let row i arrive after an exponential waiting time of rate c_i: the first p arrivals have the distribution of the
    draw. With t the time at which p arrivals are expected, the result is 1 - exp(-c_i t), the probability that row i
    has arrived by then.
    """
    if p == len(chances):
        return np.ones(p)

    def missing(log_t: float) -> float:
        return float(-np.expm1(-chances * np.exp(log_t)).sum() - p)

    log_t = optimize.brentq(missing, np.log(p) - 1, np.log(LONGEST_WAIT / chances.min()))
    return -np.expm1(-chances * np.exp(log_t))
