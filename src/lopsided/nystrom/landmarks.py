"""Landmarks, the few points that represent a side in the Nystrom method: given by the user or chosen by a strategy."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import optimize, sparse

from .._core import Array, check_finite, check_points, in_slabs, is_sparse, on_one_thread, same_points
from ..kernels import Kernel, Precomputed
from ..operators import as_operator, is_indexed

POINTS_PER_CLUSTER = 50  # at most, in the sample on which k-means runs
# Entries of a sparse sample up to which k-means runs on a dense copy, 32 MB: rounding would give it other clusters.
DENSE_ENTRIES = 1 << 22
SEEDED_CLUSTERS = 500  # up to which k-means++ initialises the centres; it costs O(p^2 width) and gains little beyond
LONGEST_WAIT = 50  # mean waiting times of the least likely row, after which its inclusion is certain; bounds t
UNIFORM_SHARE = 0.5  # of leverage sampling, for structure that the estimated scores have missed
CANDIDATES_PER_PIVOT = 20  # at most, on each side; from 5 to 40, eta on protein-casp hardly depends on it
SLAB_ROWS = 1 << 17  # rows of vectors per task of a thread
WATCHED_COLUMNS = 64  # equally spaced columns in which the row of the next pivot is searched


@dataclass(frozen=True)
class Landmarks:
    """Landmarks of one side, and the number of points that each represents.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.nystrom import Landmarks
    >>> Landmarks(np.array([[0.0], [5.0]]), weights=np.array([30.0, 10.0])).shares
    array([0.75, 0.25])
    """

    points: Array  # (p, width)
    weights: np.ndarray  # (p,), numbers of points represented; their sum is the size of the side
    indices: np.ndarray | None = None  # (p,), row numbers of the landmarks, if they are points of the side

    def __len__(self) -> int:
        return int(self.points.shape[0])

    @property
    def shares(self) -> np.ndarray:
        """Share of the side that each landmark represents."""
        return np.asarray(self.weights / self.weights.sum())


def rows_as_landmarks(points: Array, indices: np.ndarray, weights: np.ndarray | None = None) -> Landmarks:
    """Rows of a side as landmarks, sorted because files read faster in order; weights are scaled to sum to its size."""
    order = np.argsort(indices)
    indices = indices[order]
    weights = np.ones(len(indices)) if weights is None else weights[order]
    return Landmarks(points[indices], weights * (points.shape[0] / weights.sum()), indices)


def given_landmarks(wanted: Any, points: Array, side: str) -> Landmarks:
    """Validate landmarks given by the user as row numbers (p,) or points (p, width)."""
    found = wanted if sparse.issparse(wanted) else np.asarray(wanted)
    if found.ndim == 2:
        chosen = check_points(found, f"{side} landmarks")
        if chosen.shape[1] != points.shape[1]:
            raise ValueError(
                f"{side} landmarks have {chosen.shape[1]} columns, and the points {points.shape[1]}; give landmarks of "
                "the same width, or numbers of rows"
            )
        if sparse.issparse(chosen) and not is_sparse(points):
            chosen = chosen.toarray()
        each = points.shape[0] / chosen.shape[0]
        return Landmarks(chosen.astype(points.dtype, copy=False), np.full(chosen.shape[0], each))
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
    """Random rows without replacement; for the same seed, a larger set contains the smaller."""
    return rows_as_landmarks(points, rng.permutation(points.shape[0])[:p])


def kmeans(points: Array, p: int, rng: np.random.Generator) -> Landmarks:
    """k-means centres of a sample, weighted by cluster size (density-weighted Nystrom); the points, if they are p."""
    from sklearn.cluster import MiniBatchKMeans  # late, as the import is slow

    if p == points.shape[0]:
        return rows_as_landmarks(points, np.arange(p))
    sample = points[np.sort(rng.permutation(points.shape[0])[: POINTS_PER_CLUSTER * p])]
    if sparse.issparse(sample) and np.prod(sample.shape, dtype=float) <= DENSE_ENTRIES:
        sample = sample.toarray()
    init, seed = "k-means++" if p <= SEEDED_CLUSTERS else "random", int(rng.integers(2**31))
    clusters = on_one_thread(MiniBatchKMeans(p, init=init, n_init=1, random_state=seed).fit, sample)
    sizes = np.bincount(clusters.labels_, minlength=p)
    centres, sizes = clusters.cluster_centers_[sizes > 0].astype(points.dtype), sizes[sizes > 0]
    if is_sparse(points):
        centres = sparse.csr_array(centres)  # each has only the entries of its cluster
    return Landmarks(centres, sizes * (points.shape[0] / sizes.sum()))


ONE_SIDED: dict[str, Callable[[Array, int, np.random.Generator], Landmarks]] = {"uniform": uniform, "kmeans": kmeans}
STRATEGIES = (*ONE_SIDED, "leverage", "pivoted")


def choose_landmarks(
    strategy: str, kernel: Kernel, X: Array, Z: Array, counts: tuple[int, int], rngs: Sequence[np.random.Generator]
) -> tuple[Landmarks, Landmarks]:
    """Landmarks of both sides by a strategy; for "leverage", the uniform sample that estimates the scores.

    A set that is on both sides has the same landmarks there, which keeps the matrix of a symmetric kernel symmetric.
    """
    if strategy == "pivoted":
        return pivoted(kernel, X, Z, counts, rngs[0])
    if strategy == "kmeans" and is_indexed(kernel):
        what = "values only" if isinstance(kernel, Precomputed) else "numbers of nodes, which have no means"
        raise ValueError(
            f"landmarks='kmeans' needs points, and {type(kernel).__name__} has {what}; use another strategy"
        )
    choose = ONE_SIDED.get(strategy, uniform)
    left = choose(X, counts[0], rngs[0])
    if strategy != "leverage" and counts[0] == counts[1] and same_points(X, Z):
        return left, left
    return left, choose(Z, counts[1], rngs[1])


def by_leverage(points: Array, vectors: np.ndarray, p: int, rng: np.random.Generator) -> Landmarks:
    """Draw rows by their leverage scores, the squared norms of the rows of ``vectors``, mixed evenly with uniform.

    The weight of a row is the inverse of its probability of inclusion.
    """
    scores = leverage(vectors)
    n = len(scores)
    chances = UNIFORM_SHARE / n + (1 - UNIFORM_SHARE) * scores
    indices = rng.choice(n, p, replace=False, p=chances)
    return rows_as_landmarks(points, indices, 1 / chances_of_inclusion(chances, p)[indices])


def leverage(vectors: np.ndarray) -> np.ndarray:
    """Squared lengths of the rows, scaled to sum to one."""
    scores = np.concatenate(in_slabs(_squared_lengths, vectors, SLAB_ROWS))
    return scores / scores.sum()


def _squared_lengths(slab: np.ndarray) -> np.ndarray:
    return np.einsum("ij,ij->i", slab, slab, dtype=float)


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

    log_t = optimize.brentq(missing, np.log(p), np.log(LONGEST_WAIT / chances.min()))
    return -np.expm1(-chances * np.exp(log_t))


def pivoted(
    kernel: Kernel, X: Array, Z: Array, counts: tuple[int, int], rng: np.random.Generator
) -> tuple[Landmarks, Landmarks]:
    """Pivots of an adaptive cross approximation on a random sample of candidates of each side.

    If the approximation becomes exact with fewer pivots, further candidates complete the set. Cost: O(c p) kernel
    values and O(c p^2) operations for c candidates and p pivots.
    """
    sides = [rng.permutation(side.shape[0])[: CANDIDATES_PER_PIVOT * max(counts)] for side in (X, Z)]
    A = as_operator(kernel, X[sides[0]], Z[sides[1]])
    found = []
    for side, chosen, count in zip(sides, cross_pivots(A.take, A.shape, max(counts), A.dtype), counts, strict=True):
        rest = np.setdiff1d(np.arange(len(side)), chosen)
        found.append(side[np.concatenate([chosen, rest])[:count]])
    return rows_as_landmarks(X, found[0]), rows_as_landmarks(Z, found[1])


def pivoting_bytes(counts: tuple[int, int], shape: tuple[int, int]) -> int:
    """Bytes of the two float64 factors of a cross approximation between the candidates."""
    return sum(8 * max(counts) * min(CANDIDATES_PER_PIVOT * max(counts), n) for n in shape)


def cross_pivots(
    take: Callable[[Any, Any], np.ndarray], shape: tuple[int, int], steps: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Pivot rows and columns of a cross approximation with partial pivoting; fewer than ``steps`` if it becomes exact.

    After j steps the matrix is approximated by L R with L (n, j) and R (j, m), and the residual is zero on the pivot
    rows and columns. Each step takes the row with the largest residual in a few watched columns, so that no part of
    the matrix is missed, and in that row the column with the largest residual.
    """
    n, m = shape
    steps = min(steps, n, m)
    L, R = np.empty((n, steps), dtype), np.empty((steps, m), dtype)
    watched = np.unique(np.linspace(0, m - 1, WATCHED_COLUMNS).astype(np.intp))
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
        if abs(pivot) <= np.finfo(dtype).eps * largest:  # the approximation is already exact on this row
            continue
        R[j] = residual / pivot
        L[:, j] = take(slice(None), [column])[:, 0] - L[:, :j] @ R[:j, column]
        check_finite(L[:, j])
        seen -= np.outer(L[:, j], R[j, watched])
        free[1][column] = False
        rows.append(i)
        columns.append(column)
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
