"""The Nystrom method with landmarks from a strategy, and as many of them as a tolerance requires."""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import Array, n_threads
from ..exceptions import AccuracyWarning, warn
from ..kernels import Kernel, Precomputed
from ..operators import TILE_BYTES, as_operator, is_indexed, is_matrix_free
from ..svd import Choice, choose
from .extension import NystromFactors, nystrom
from .solver import Nystrom
from .strategies import PLACES, Landmarks, by_leverage, given_landmarks, pivoted, pivoting_bytes, uniform

FEWEST, MOST, EACH = 200, 2000, 20  # default number of landmarks: EACH per component, clipped to [FEWEST, MOST]
FIRST = 4  # landmarks per component in the first attempt of a search
GROWTH = 2  # factor between the numbers of landmarks of successive attempts
MANY_SUMS = 1 << 28  # kernel values above which denominators over all points are computed only on request
LEAST_SPARE = 4  # fewest triplets beyond k for the estimate of eta, which uses max(LEAST_SPARE, k)
HELD_OUT = 128  # fewest rows, and columns, on which eta is estimated
HELD_OUT_EACH = 4  # held-out rows, and columns, per component, if that gives more than HELD_OUT
SMALL_COPIES = 5  # float64 arrays of the size of the landmark matrix that are held at once

Counts = tuple[int, int]


class Attempt(NamedTuple):
    """Numbers of left and right landmarks in one attempt, and the eta estimated for it."""

    left: int
    right: int
    eta: float


def approximate(
    kernel: Kernel,
    X: Array,
    Z: Array,
    k: int | float,
    *,
    method: Nystrom,
    tol: float = 0.0,
    budget: int,
    seed: int = 0,
    center: bool = False,
    quiet: bool = False,
) -> tuple[NystromFactors, tuple[Attempt, ...]]:
    """Choose landmarks and apply :func:`nystrom`; double their number until the estimated eta is at most ``tol``.

    Returns the approximation and the attempts that were made, an empty tuple if ``tol`` is zero.

    Parameters
    ----------
    kernel, X, Z, k, center, quiet
        As for :func:`nystrom`.
    method : Nystrom
        How landmarks are chosen and extended; with a tolerance, ``n_landmarks`` is their number in the first attempt.
    tol : float, default=0.0
        Upper bound on the estimate of eta; if zero, eta is not estimated.
    budget : int
        Bytes for blocks of kernel values and for the landmark matrix.
    seed : int, default=0
        Seed of all random choices.
    """
    shape, landmarks, plain = (X.shape[0], Z.shape[0]), method.landmarks, method.extension == "plain"
    over_landmarks = many_sums(kernel, X, Z) if method.denominators == "auto" else method.denominators == "landmarks"
    searching = tol > 0 and isinstance(landmarks, str)
    counts = _counts(method.n_landmarks, k, shape, searching) if isinstance(landmarks, str) else _lengths(landmarks)
    history: list[Attempt] = []

    def solve(landmarks: tuple[Landmarks, Landmarks], spare: int = 0, quiet: bool = quiet) -> NystromFactors:
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


def landmark_choice(kernel: Kernel, X: Array, Z: Array, k: float, *, solver: Any, budget: int) -> Choice | None:
    """The choice of the Nystrom solver if it is requested, or if the matrix is dense and large; otherwise None."""
    if isinstance(solver, Nystrom) or solver == "nystrom":
        return Choice("nystrom", "asked for")
    if solver != "auto" or (sparse.issparse(X) and sparse.issparse(Z)):
        return None
    n, m = X.shape[0], Z.shape[0]
    matrix_free = is_matrix_free(kernel, X, Z, budget)
    size = X.dtype.itemsize
    choice = choose(
        (n, m), max(1, int(k)), cost=n * m, budget=budget, matrix_free=matrix_free, itemsize=size, landmarks=True
    )
    return choice if choice.name == "nystrom" else None


def many_sums(kernel: Kernel, X: Array, Z: Array) -> bool:
    """Whether the denominators of a normalised kernel are expensive: sums over dense points, above MANY_SUMS values."""
    over_sparse = any(sparse.issparse(side) for side in _summed_over(kernel, X, Z))
    return kernel.normalised and not over_sparse and X.shape[0] * Z.shape[0] > MANY_SUMS


def _summed_over(kernel: Kernel, X: Array, Z: Array) -> list[Array]:
    """The sides that the kernel sums over: a side that is expensive to prepare needs sums over the other side."""
    return [side for side, cheap in ((Z, kernel.left_is_cheap), (X, kernel.right_is_cheap)) if not cheap]


def estimate_eta(result: NystromFactors, X: Array, Z: Array, rng: np.random.Generator) -> float:
    """The 2024 paper's eta (section 4.4), estimated from a few rows and columns of the matrix.

    eta is the mean of 1 - |cosine| between approximate and exact singular vectors, weighted by s_i / s_1, with both
    sides added. The exact vectors are unknown. The estimate replaces the left ones by K V on held-out rows H, because
    a power step moves the span towards that of the exact vectors. Within this span, the vectors are rotated by the
    right singular vectors of B, the least-squares solution of U[H] B = (K V)[H]. The right side is treated likewise.
    Spare triplets beyond k reveal which vectors the last ones are mixed with. The estimate cannot detect structure on
    a few rows that are neither landmarks nor held out.

    Cost: h (n + m) kernel values for h held-out rows and h columns, where h is 128, or four per triplet if more.
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
    """Triangular T such that vectors @ T has orthonormal columns, which the plain extension does not have."""
    gram = (vectors.T @ vectors).astype(float)
    gram.flat[:: len(gram) + 1] += np.finfo(float).eps * np.trace(gram)  # parallel columns would make it singular
    return np.linalg.inv(np.linalg.cholesky(gram)).T


def _held_out(n: int, known: np.ndarray | None, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random row numbers, in ascending order; includes landmarks only if there are too few other rows."""
    order = rng.permutation(n)
    if known is not None:
        order = order[np.argsort(np.isin(order, known), kind="stable")]
    return np.sort(order[:count])


def _lengths(landmarks: Any) -> Counts:
    """Numbers of left and right landmarks that the user gave."""
    left, right = (np.shape(side)[0] if np.ndim(side) or sparse.issparse(side) else 1 for side in landmarks)
    return left, right


def _counts(n_landmarks: int | Counts | None, k: int | float, shape: Counts, searching: bool) -> Counts:
    """Numbers of left and right landmarks, of the first attempt if there is a search."""
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
    landmarks: Any,
    kernel: Kernel,
    X: Array,
    Z: Array,
    *,
    counts: Counts,
    solve: Callable[..., NystromFactors],
    seed: int,
) -> tuple[Landmarks, Landmarks]:
    """Landmarks of both sides, from a strategy or from the user's row numbers or points."""
    if not isinstance(landmarks, str):
        left, right = landmarks
        return given_landmarks(left, X, "left"), given_landmarks(right, Z, "right")
    if landmarks == "kmeans" and is_indexed(kernel):
        what = "values only" if isinstance(kernel, Precomputed) else "numbers of nodes, which have no means"
        raise ValueError(f"landmarks='kmeans' needs points, and {type(kernel).__name__} has {what}; take another way")
    rngs = [np.random.default_rng([seed, side]) for side in (0, 0 if X is Z else 1)]  # keeps K symmetric
    if landmarks == "pivoted":
        return pivoted(kernel, X, Z, counts, rngs[0])
    place = PLACES.get(landmarks, uniform)  # leverage scores come from a uniform sample
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
    """Memory for the landmark matrix, or for the pivoting that selects the landmarks, plus a block per thread."""
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
