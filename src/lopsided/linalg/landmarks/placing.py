"""Landmarks: the few points that stand for all of a side in the Nystrom method."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, sparse
from threadpoolctl import threadpool_limits

from ..._parallel import one_blas_thread
from ...kernels.base import Kernel
from ...kernels.points import Array, check_points
from ...operators.build import as_operator
from ..finite import check_finite

CLUSTERED = 50  # points for each cluster, at most, from which it is placed
CANDIDATES = 20  # points of a side for each pivot, at most, among which it is looked for
WATCHED = 64  # columns, at even distances, in which the row of the next pivot is looked for
MANY_TIMES = 50  # mean waiting times of the rarest row, by which it has come for certain
EXPLORED = 0.5  # share of leverage sampling that is uniform, for what the scores have not seen


@dataclass(frozen=True)
class Landmarks:
    """Points of one side, and how much of the side each stands for.

    Attributes
    ----------
    points : array or sparse matrix of shape (p, width)
        The landmarks.
    weights : array of shape (p,)
        How many points of the side each stands for; they sum to its size.
    indices : array of shape (p,) or None
        Their row numbers, if they are points of the side.
    """

    points: Array
    weights: np.ndarray
    indices: np.ndarray | None = None

    def __len__(self) -> int:
        return int(self.points.shape[0])


def rows_as_landmarks(points: Array, indices: np.ndarray, weights: np.ndarray | None = None) -> Landmarks:
    """Some rows of a side as landmarks, in ascending order, in which files are read; weights are scaled to its size."""
    order = np.argsort(indices)
    indices = indices[order]
    weights = np.ones(len(indices)) if weights is None else weights[order]
    return Landmarks(points[indices], weights * (points.shape[0] / weights.sum()), indices)


def given_landmarks(wanted: Any, points: Array, side: str) -> Landmarks:
    """A user's row numbers (p,) or points (p, width)."""
    found = wanted if sparse.issparse(wanted) else np.asarray(wanted)
    if found.ndim == 2:
        chosen = check_points(found, f"{side} landmarks")
        if sparse.issparse(chosen) and not sparse.issparse(points):
            chosen = chosen.toarray()
        return Landmarks(
            chosen.astype(points.dtype, copy=False), np.full(chosen.shape[0], points.shape[0] / chosen.shape[0])
        )
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        raise ValueError(
            f"{side} landmarks must be row numbers, shape (p,) of integers, or points, shape (p, width); "
            f"got shape {found.shape} of {found.dtype}"
        )
    n = points.shape[0]
    if found.min() < 0 or found.max() >= n:
        raise ValueError(f"{side} landmarks reach from {found.min()} to {found.max()}; rows are numbered 0 to {n - 1}")
    values, counts = np.unique(found, return_counts=True)
    if len(values) < len(found):
        raise ValueError(f"{side} landmark {values[counts.argmax()]} is named {counts.max()} times; name each row once")
    return rows_as_landmarks(points, values)


def uniform(points: Array, p: int, rng: np.random.Generator) -> Landmarks:
    """Rows at random, without replacement; with the same seed a larger set holds the smaller."""
    return rows_as_landmarks(points, rng.permutation(points.shape[0])[:p])


def kmeans(points: Array, p: int, rng: np.random.Generator) -> Landmarks:
    """Centres of clusters of a sample, weighted by the clusters' sizes (density-weighted Nystrom).

    Centres of sparse points are kept sparse, for each has only the entries of its cluster; while they are found they
    are dense.
    """
    from sklearn.cluster import MiniBatchKMeans  # late, as importing it takes long

    sample = points[np.sort(rng.permutation(points.shape[0])[: CLUSTERED * p])]
    with one_blas_thread(), threadpool_limits(1, "openmp"):  # threads change the order of sums, and that the clusters
        clusters = MiniBatchKMeans(p, n_init=1, random_state=int(rng.integers(2**31))).fit(sample)
    sizes = np.bincount(clusters.labels_, minlength=p)
    centres, sizes = clusters.cluster_centers_[sizes > 0], sizes[sizes > 0]
    centres = centres.astype(points.dtype)
    if sparse.issparse(points):
        centres = sparse.csr_array(centres)
    return Landmarks(centres, sizes * (points.shape[0] / sizes.sum()))


PLACES: dict[str, Callable[[Array, int, np.random.Generator], Landmarks]] = {"uniform": uniform, "kmeans": kmeans}
STRATEGIES = (*PLACES, "leverage", "pivoted")


def by_leverage(points: Array, vectors: np.ndarray, p: int, rng: np.random.Generator) -> Landmarks:
    """Rows drawn by their leverage, the squared length of their row of singular vectors, half of them uniformly.

    A row weighs one over its chance to be among those drawn.
    """
    scores = np.einsum("ij,ij->i", vectors, vectors, dtype=float)
    n = len(scores)
    chances = EXPLORED / n + (1 - EXPLORED) * scores / scores.sum()
    indices = rng.choice(n, p, replace=False, p=chances)
    return rows_as_landmarks(points, indices, 1 / chances_of_inclusion(chances, p)[indices])


def chances_of_inclusion(chances: np.ndarray, p: int) -> np.ndarray:
    """How probable it is that each of n rows is among p that are drawn one by one, by these chances, none twice.

    Let row i come after a random time, exponential with rate c_i: the first p to come are distributed as those drawn.
    At the time t by which p are expected to have come, row i has with the chance 1 - exp(-c_i t), which is taken.
    """
    if p == len(chances):
        return np.ones(p)

    def missing(log_t: float) -> float:
        return float(-np.expm1(-chances * np.exp(log_t)).sum() - p)

    log_t = optimize.brentq(missing, np.log(p) - 1, np.log(MANY_TIMES / chances.min()))
    return -np.expm1(-chances * np.exp(log_t))


def pivoted(
    kernel: Kernel, X: Array, Z: Array, counts: tuple[int, int], rng: np.random.Generator
) -> tuple[Landmarks, Landmarks]:
    """Pivots of an adaptive cross approximation, on a sample of candidates of each side.

    If it is exact before there are enough, other candidates make up the number. Cost O(c p) kernel values and O(c p^2)
    for c candidates and p pivots.
    """
    sides = [rng.permutation(side.shape[0])[: CANDIDATES * max(counts)] for side in (X, Z)]
    A = as_operator(kernel, X[sides[0]], Z[sides[1]], budget=0)
    found = []
    for side, chosen, count in zip(sides, cross_pivots(A.take, A.shape, max(counts), A.dtype), counts, strict=True):
        rest = np.setdiff1d(np.arange(len(side)), chosen)
        found.append(side[np.concatenate([chosen, rest])[:count]])
    return rows_as_landmarks(X, found[0]), rows_as_landmarks(Z, found[1])


def pivoting_bytes(counts: tuple[int, int], shape: tuple[int, int]) -> int:
    """Memory of the two factors of a cross approximation between the candidates, in double precision."""
    return sum(8 * max(counts) * min(CANDIDATES * max(counts), n) for n in shape)


def cross_pivots(
    take: Callable[[Any, Any], np.ndarray], shape: tuple[int, int], steps: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of a cross approximation with partial pivoting; fewer than ``steps`` if it becomes exact.

    After j steps the matrix is approximated by L R with L (n, j) and R (j, m), and the residual is zero on the pivots.
    Each step takes the row of largest residual in a few columns that are watched, so that no part of the matrix is
    forgotten, and in it the column of largest residual.
    """
    n, m = shape
    steps = min(steps, n, m)
    L, R = np.zeros((n, steps), dtype=dtype), np.zeros((steps, m), dtype=dtype)
    watched = np.unique(np.linspace(0, m - 1, WATCHED).astype(np.intp))
    seen = take(slice(None), watched)
    check_finite(seen)
    free = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
    rows: list[int] = []
    columns: list[int] = []
    largest = np.abs(seen).max()
    while len(rows) < steps and free[0].any():
        j = len(rows)
        i = int(np.where(free[0], np.abs(seen).max(axis=1), -1).argmax())
        free[0][i] = False
        residual = take([i], slice(None))[0] - L[i, :j] @ R[:j]
        check_finite(residual)
        residual[~free[1]] = 0
        column = int(np.abs(residual).argmax())
        pivot = residual[column]
        largest = max(largest, abs(pivot))
        if abs(pivot) <= np.finfo(dtype).eps * largest:  # this row is already exact; try another
            continue
        R[j] = residual / pivot
        L[:, j] = take(slice(None), [column])[:, 0] - L[:, :j] @ R[:j, column]
        check_finite(L[:, j])
        seen -= np.outer(L[:, j], R[j, watched])
        free[1][column] = False
        rows.append(i)
        columns.append(column)
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
