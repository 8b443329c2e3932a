"""The Nystrom method from what a user asks for: a way to place landmarks, a number of them, a tolerance."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..._parallel import n_threads
from ...exceptions import AccuracyWarning, warn
from ...kernels.base import Kernel, Precomputed
from ...kernels.points import Array
from ...operators.blocked import TILE_BYTES
from ...operators.build import as_operator, is_recomputed, looks_up
from ..svd.solvers import Choice, choose
from .nystrom import Nystrom, nystrom
from .placing import PLACES, Landmarks, by_leverage, given_landmarks, pivoted, pivoting_bytes, uniform

FEWEST, MOST, EACH = 200, 2000, 20  # landmarks by default: EACH for each component, from FEWEST to MOST
FIRST = 4  # landmarks for each component at which a search begins
GROWTH = 2  # times as many landmarks at the next attempt of a search
MANY_SUMS = 1 << 28  # kernel values that denominators over all points may cost, unless they are asked for
LEAST_SPARE = 4  # triplets beyond those wanted, for the estimate; as many as those wanted if they are more
HELD_OUT = 128  # rows, and columns, at least, on which the accuracy is estimated
HELD_OUT_EACH = 4  # such rows, and columns, for each component, if that is more
SMALL_COPIES = 5  # arrays of the size of the landmarks' matrix, in double precision, that there are at once

Counts = tuple[int, int]


class Attempt(NamedTuple):
    """Numbers of left and of right landmarks that were tried, and the eta that was estimated for them."""

    left: int
    right: int
    eta: float


def approximate(
    kernel: Kernel,
    X: Array,
    Z: Array,
    k: int | float,
    *,
    landmarks: Any = "uniform",
    n_landmarks: int | Counts | None = None,
    tol: float = 0.0,
    budget: int,
    seed: int = 0,
    plain: bool = False,
    center: bool = False,
    over_landmarks: bool = False,
    quiet: bool = False,
) -> tuple[Nystrom, tuple[Attempt, ...]]:
    """Place landmarks and apply :func:`nystrom`, with twice as many each time until eta is below ``tol``.

    Parameters
    ----------
    kernel, X, Z, k, plain, center, over_landmarks, quiet
        As for :func:`nystrom`.
    landmarks : str or pair
        A strategy, or row numbers or points for the left and for the right.
    n_landmarks : int, pair of int or None
        How many, or how many to begin with if there is a tolerance.
    tol : float, default=0.0
        Bound on the estimate of eta; zero asks for no estimate.
    budget : int
        Bytes for blocks and for the matrix of the landmarks.
    seed : int, default=0
        Of everything random.
    """
    shape = X.shape[0], Z.shape[0]
    searching = tol > 0 and isinstance(landmarks, str)
    counts = _counts(n_landmarks, k, shape, searching) if isinstance(landmarks, str) else _lengths(landmarks)
    history: list[Attempt] = []

    def solve(landmarks: tuple[Landmarks, Landmarks], spare: int = 0, quiet: bool = quiet) -> Nystrom:
        return nystrom(
            kernel,
            X,
            Z,
            landmarks,
            k,
            plain=plain,
            center=center,
            over_landmarks=over_landmarks,
            spare=spare,
            quiet=quiet,
            rng=np.random.default_rng(seed),
        )

    while True:
        _check_budget(landmarks, counts, shape, budget)
        placed = _place(landmarks, kernel, X, Z, counts=counts, solve=solve, seed=seed)
        if not tol:
            return solve(placed), ()
        result = solve(placed, spare=0 if plain else max(LEAST_SPARE, int(k)))
        eta = estimate_eta(result, X, Z, np.random.default_rng(seed))
        result = result.without_spare()
        left, right = result.landmarks
        history.append(Attempt(len(left), len(right), eta))
        larger = min(GROWTH * counts[0], shape[0]), min(GROWTH * counts[1], shape[1])
        if eta <= tol:
            return result, tuple(history)
        if not searching or larger == counts or _bytes(landmarks, larger, shape) > budget:
            _warn(history[-1], tol, "these were given" if not searching else "more do not fit the data or the budget")
            return result, tuple(history)
        counts = larger


def landmark_choice(kernel: Kernel, X: Array, Z: Array, k: float, *, solver: str, budget: int) -> Choice | None:
    """Landmarks, if they are asked for or if the matrix is dense and large; None leaves the choice to others."""
    if solver == "nystrom":
        return Choice("nystrom", "asked for")
    if solver != "auto" or (sparse.issparse(X) and sparse.issparse(Z)):
        return None
    n, m = X.shape[0], Z.shape[0]
    recomputed = is_recomputed(kernel, X, Z, budget)
    size = X.dtype.itemsize
    choice = choose(
        (n, m), max(1, int(k)), work=n * m, budget=budget, recomputed=recomputed, itemsize=size, landmarks=True
    )
    return choice if choice.name == "nystrom" else None


def many_sums(kernel: Kernel, X: Array, Z: Array) -> bool:
    """Whether a fitted kernel's denominators would take long: it is normalised over points that are dense and many."""
    over_sparse = any(sparse.issparse(side) for side in _summed_over(kernel, X, Z))
    return kernel.normalised and not over_sparse and X.shape[0] * Z.shape[0] > MANY_SUMS


def _summed_over(kernel: Kernel, X: Array, Z: Array) -> list[Array]:
    """What makes one side dear is a sum over the other."""
    return [side for side, cheap in ((Z, kernel.left_is_cheap), (X, kernel.right_is_cheap)) if not cheap]


def estimate_eta(result: Nystrom, X: Array, Z: Array, rng: np.random.Generator) -> float:
    """The 2024 paper's eta (section 4.4), estimated from a few rows and columns of the matrix.

    eta is the mean over both sides' vectors of 1 - |cosine| with the exact ones, weighted by s_i / s_1. The exact ones
    are not known. In place of the left ones stand the columns of K V on some rows H that are held out: a power step
    brings nearer the space that they span. In it they are turned by the right singular vectors of B, the least-squares
    solution of U[H] B = (K V)[H]. The right side is treated alike. Spare triplets show what the last ones are mixed
    with. What lives on a few rows that are neither landmarks nor held out is not seen.

    Cost: h (n + m) kernel values for h held-out rows and as many columns: 128, or four for each triplet if more.
    """
    factors, (rows, columns) = result.factors, result.landmarks
    total = 0.0
    for transposed, points, known, vectors, others in (
        (False, X, rows, factors.U, factors.V),
        (True, Z, columns, factors.V, factors.U),
    ):
        held = _held_out(points.shape[0], known.indices, max(HELD_OUT, HELD_OUT_EACH * len(factors.s)), rng)
        sides = (X, Z[held]) if transposed else (X[held], Z)
        A = as_operator(result.kernel, *sides, budget=0)
        better, found = ((A.T if transposed else A) @ others).astype(float), vectors[held].astype(float)
        better = better @ _whitening(others)
        if result.means is not None:
            better, found = better - better.mean(axis=0), found - found.mean(axis=0)
        between = np.linalg.lstsq(found @ _whitening(vectors), better)[0]
        better = better @ np.linalg.svd(between)[2].T
        lengths = np.linalg.norm(better, axis=0) * np.linalg.norm(found, axis=0)
        cosines = np.abs(np.einsum("ij,ij->j", better, found)) / np.maximum(lengths, np.finfo(float).tiny)
        total += float(np.mean((factors.s / factors.s[0] * (1 - np.minimum(cosines, 1)))[: result.k]))
    return total


def _whitening(vectors: np.ndarray) -> np.ndarray:
    """A triangle T that makes the columns of vectors @ T orthonormal; those of the plain extension are not."""
    gram = (vectors.T @ vectors).astype(float)
    gram.flat[:: len(gram) + 1] += np.finfo(float).eps * np.trace(gram)  # columns may be parallel
    return np.linalg.inv(np.linalg.cholesky(gram)).T


def _held_out(n: int, known: np.ndarray | None, count: int, rng: np.random.Generator) -> np.ndarray:
    """Numbers of rows at random; landmarks are among them only if there are too few others."""
    order = rng.permutation(n)
    if known is not None:
        order = order[np.argsort(np.isin(order, known), kind="stable")]
    return np.sort(order[:count])


def _lengths(landmarks: Any) -> Counts:
    """How many landmarks were given."""
    left, right = (np.shape(side)[0] if np.ndim(side) or sparse.issparse(side) else 1 for side in landmarks)
    return left, right


def _counts(n_landmarks: int | Counts | None, k: int | float, shape: Counts, searching: bool) -> Counts:
    """Landmarks to begin with on the left and on the right."""
    n, m = shape
    if n_landmarks is None:
        each = MOST if k < 1 else int(FIRST * k if searching else np.clip(EACH * k, FEWEST, MOST))
        return min(each, n), min(each, m)
    both = n_landmarks if isinstance(n_landmarks, tuple) else (n_landmarks, n_landmarks)
    if len(both) != 2 or not all(isinstance(count, Integral) for count in both):
        raise ValueError(f"n_landmarks={n_landmarks!r} must be a number, or a pair of them for the left and the right")
    left, right = both
    for count, points, side in ((left, n, "left"), (right, m, "right")):
        if not 1 <= count <= points:
            raise ValueError(f"n_landmarks={count} must be from 1 to the {points} {side} points")
        if count < k:
            raise ValueError(f"n_landmarks={count} is below n_components={k}; take at least as many landmarks")
    return int(left), int(right)


def _place(
    landmarks: Any, kernel: Kernel, X: Array, Z: Array, *, counts: Counts, solve: Callable[..., Nystrom], seed: int
) -> tuple[Landmarks, Landmarks]:
    """Landmarks of both sides, by a strategy or as given."""
    if not isinstance(landmarks, str):
        left, right = landmarks
        return given_landmarks(left, X, "left"), given_landmarks(right, Z, "right")
    if landmarks == "kmeans" and looks_up(kernel):
        what = "values only" if isinstance(kernel, Precomputed) else "numbers of nodes, which have no means"
        raise ValueError(f"landmarks='kmeans' needs points, and {type(kernel).__name__} has {what}; take another way")
    rngs = [np.random.default_rng([seed, side]) for side in (0, 0 if X is Z else 1)]  # a symmetric matrix stays so
    if landmarks == "pivoted":
        return pivoted(kernel, X, Z, counts, rngs[0])
    place = PLACES.get(landmarks, uniform)  # with which leverage begins
    left = place(X, counts[0], rngs[0])
    if X is Z and counts[0] == counts[1]:
        right, rngs[1] = left, deepcopy(rngs[0])
    else:
        right = place(Z, counts[1], rngs[1])
    if landmarks == "leverage":
        first = solve((left, right), quiet=True).factors
        left, right = (by_leverage(*each) for each in zip((X, Z), (first.U, first.V), counts, rngs, strict=True))
    return left, right


def _bytes(landmarks: Any, counts: Counts, shape: Counts) -> int:
    """Memory for the matrix of the landmarks, or for the pivoting that finds them, and for a block on every thread."""
    small = SMALL_COPIES * 8 * counts[0] * counts[1]
    if isinstance(landmarks, str) and landmarks == "pivoted":
        small = max(small, pivoting_bytes(counts, shape))
    return small + 2 * TILE_BYTES * n_threads()


def _check_budget(landmarks: Any, counts: Counts, shape: Counts, budget: int) -> None:
    if (needed := _bytes(landmarks, counts, shape)) > budget:
        raise ValueError(
            f"{counts[0]} x {counts[1]} landmarks and a block for each thread need {needed} bytes, above the budget of "
            f"{budget}; raise memory_budget to that, or take fewer landmarks"
        )


def _warn(last: Attempt, tol: float, why: str) -> None:
    warn(
        f"eta is estimated at {last.eta:.1e} with {last.left} left and {last.right} right landmarks, above "
        f"tol={tol:g}, and {why}; raise tol, place landmarks in another way, or take an exact solver",
        AccuracyWarning,
    )
