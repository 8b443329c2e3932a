"""The Nystrom method as a solver: an object with its parameters, when it is chosen, how many landmarks it takes."""

from collections.abc import Callable
from functools import partial
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions

from .._core import Array, Documented, RowBlocks, announce, is_sparse, n_threads, same_points
from ..exceptions import AccuracyWarning, warn
from ..kernels import Kernel
from ..operators import TILE_BYTES
from ..svd import Choice, nystrom_if_large
from .error import estimate_eta, warn_if_left_over, warn_if_unconfirmed
from .extension import NystromFactors, nystrom
from .landmarks import STRATEGIES, Landmarks, by_leverage, choose_landmarks, given_landmarks, pivoting_bytes

# On protein-casp (RBF kernel) these numbers of uniform landmarks give an eta of 2e-4 or less at every rank from 2 to
# 100, and 4 per component one between 1e-3 and 1e-2: `python benchmarks/nystrom_scale.py ablation`.
FEWEST_LANDMARKS, MOST_LANDMARKS, PER_COMPONENT = 200, 2000, 20  # bounds of the default number, and its usual value
FIRST_PER_COMPONENT = 4  # landmarks per component in the first attempt of a search
GROWTH = 2  # factor between the numbers of landmarks of successive attempts
COSTLY_SUMS = 1 << 28  # kernel values above which denominators over all points are computed only on request
LEAST_SPARE = 4  # fewest triplets beyond k for the estimate of eta, which uses max(LEAST_SPARE, k)
SMALL_COPIES = 5  # float64 arrays of the size of the landmark matrix that are held at once

Counts = tuple[int, int]


class Nystrom(Documented):
    """Solver that approximates a large kernel matrix from landmarks, a few of its rows and columns.

    Pass it as ``solver=Nystrom(1000)``; ``solver="nystrom"`` is short for ``solver=Nystrom()``. A grid search reaches
    its parameters as ``solver__n_landmarks``. Cost for n x m points and p x q landmarks: n q + m p kernel values, each
    used once and not stored.

    Parameters
    ----------
    n_landmarks : int, (int, int) or None, default=None
        Number of landmarks on each side, or (left, right); ignored if ``landmarks`` are given as arrays. None lets the
        estimator decide: for KernelSVD 20 per component, between 200 and 2,000; for the LS-SVMs 1,000.
    landmarks : {"uniform", "kmeans", "leverage", "pivoted"} or pair of arrays, default="uniform"
        Uniformly random rows; weighted k-means centres; rows sampled by estimated leverage scores; or pivots of a cross
        approximation. A pair (left, right) gives row indices (p,) or points (p, width).
    extension : {"orthonormal", "plain"}, default="orthonormal"
        How the singular vectors of the p x q landmark matrix are extended to all points. "orthonormal" orthonormalises
        the extension and recomputes the singular values; "plain" is equation 9 of the 2024 paper, with columns of unit
        norm and singular values s sqrt(n m / (p q)).
    denominators : {"auto", "all", "landmarks"}, default="auto"
        The set over which SNE, Attention and StudentT normalise. "all" is exact and costs n m kernel values for dense
        data, little for sparse data; "landmarks" sums over weighted landmarks. "auto" is "all" if it is cheap.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD, Nystrom
    >>> X = np.random.default_rng(0).standard_normal((500, 3))
    >>> model = KernelSVD(2, kernel="rbf", solver=Nystrom(50, landmarks="kmeans")).fit(X, Z=X)
    >>> model.solver_.name, model.X_fit_.shape
    ('nystrom', (50, 3))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), tuple, None],
        "landmarks": [StrOptions(set(STRATEGIES)), tuple, list],
        "extension": [StrOptions({"orthonormal", "plain"})],
        "denominators": [StrOptions({"auto", "all", "landmarks"})],
    }

    def __init__(
        self,
        n_landmarks: int | tuple[int, int] | None = None,
        *,
        landmarks: Any = "uniform",
        extension: str = "orthonormal",
        denominators: str = "auto",
    ) -> None:
        self.n_landmarks, self.landmarks = n_landmarks, landmarks
        self.extension, self.denominators = extension, denominators


def select_nystrom(solver: Any, kernel: Kernel, X: Array, Z: Array, *, budget: int) -> tuple[Nystrom, Choice] | None:
    """The Nystrom method and the reason for it: asked for, or chosen by "auto" for a large dense matrix; else None."""
    if isinstance(solver, Nystrom):
        solver._validate_params()
        return solver, Choice("nystrom", "asked for")
    if solver == "nystrom":
        return Nystrom(), Choice("nystrom", "asked for")
    if isinstance(X, RowBlocks) or isinstance(Z, RowBlocks):
        if solver != "auto":
            raise ValueError(
                f"solver={solver!r} needs all rows in memory, and these are in blocks; use solver=Nystrom(), or "
                "compute the blocks first"
            )
        return Nystrom(), Choice("nystrom", "rows are in blocks, of which only landmarks are held")
    choice = nystrom_if_large(kernel, X, Z, budget) if solver == "auto" else None
    return None if choice is None else (Nystrom(), choice)


class Attempt(NamedTuple):
    """Numbers of left and right landmarks in one attempt, and the relative eta estimated for it."""

    left: int
    right: int
    relative_eta: float


def approximate(
    kernel: Kernel,
    X: Array,
    Z: Array,
    k: int | float,
    *,
    method: Nystrom,
    tol: float = 0.0,
    budget: int,
    seed: int,
    center: bool = False,
    quiet: bool = False,
) -> tuple[NystromFactors, tuple[Attempt, ...]]:
    """Choose landmarks and apply :func:`nystrom`; double their number until the estimated error is at most ``tol``.

    Returns the approximation and the attempts that were made, none of them if ``tol`` is zero. The ``method`` tells
    how landmarks are chosen and extended, and with a tolerance how many there are in the first attempt. The ``budget``
    bounds the bytes of kernel blocks and of the landmark matrix; the other parameters are those of :func:`nystrom`.
    """
    shape, given = (X.shape[0], Z.shape[0]), None
    if tol and (isinstance(X, RowBlocks) or isinstance(Z, RowBlocks)):
        raise ValueError(
            f"tol={tol:g} needs products with all vectors in memory, and rows are in blocks; set tol=0, and choose the "
            "number of landmarks with solver=Nystrom(n_landmarks) on a part of the rows"
        )
    if isinstance(method.landmarks, str):
        counts = _counts(method.n_landmarks, k, shape, searching=tol > 0)
    else:
        given = given_landmarks(method.landmarks[0], X, "left"), given_landmarks(method.landmarks[1], Z, "right")
        counts = len(given[0]), len(given[1])
    attempt = partial(_attempt, kernel, X, Z, k, method=method, given=given, budget=budget, seed=seed, center=center)
    if tol:
        return _search(attempt, X, Z, counts, k, tol=tol, method=method, budget=budget, seed=seed)
    result = attempt(counts, quiet=quiet)
    if not quiet:
        warn_if_unconfirmed(result, X, Z, _confirmable(result, method), seed)
    return result, ()


def _attempt(
    kernel: Kernel,
    X: Array,
    Z: Array,
    k: int | float,
    counts: Counts,
    *,
    method: Nystrom,
    given: tuple[Landmarks, Landmarks] | None,
    budget: int,
    seed: int,
    center: bool,
    spare: int = 0,
    quiet: bool = False,
) -> NystromFactors:
    """Choose so many landmarks, unless they are given, and apply :func:`nystrom` to them."""
    if (needed := landmark_bytes(method.landmarks, counts, (X.shape[0], Z.shape[0]))) > budget:
        raise ValueError(
            f"{counts[0]} x {counts[1]} landmarks and a block per thread need {needed} bytes, above the budget of "
            f"{budget}; raise memory_budget to that, or use fewer landmarks with solver=Nystrom(n_landmarks)"
        )
    values = X.shape[0] * counts[1] + Z.shape[0] * counts[0]
    announce(lambda: f"{counts[0]:,} x {counts[1]:,} landmarks; {values:.0e} kernel values")
    settings = {
        "plain": method.extension == "plain",
        "center": center,
        "over_landmarks": sums_over_landmarks(method, kernel, X, Z),
    }
    rngs = [np.random.default_rng([seed, side]) for side in (0, 0 if same_points(X, Z) else 1)]
    chosen = given or choose_landmarks(method.landmarks, kernel, X, Z, counts, rngs)
    if not given and method.landmarks == "leverage":
        pilot = nystrom(kernel, X, Z, chosen, k, **settings, quiet=True, rng=np.random.default_rng(seed)).factors
        chosen = by_leverage(X, pilot.U, counts[0], rngs[0]), by_leverage(Z, pilot.V, counts[1], rngs[1])
    return nystrom(kernel, X, Z, chosen, k, **settings, spare=spare, quiet=quiet, rng=np.random.default_rng(seed))


def _search(
    attempt: Callable[..., NystromFactors],
    X: Array,
    Z: Array,
    counts: Counts,
    k: int | float,
    *,
    tol: float,
    method: Nystrom,
    budget: int,
    seed: int,
) -> tuple[NystromFactors, tuple[Attempt, ...]]:
    """Double the landmarks until the estimated eta is at most ``tol``; a warning says if more cannot be had."""
    shape, given = (X.shape[0], Z.shape[0]), not isinstance(method.landmarks, str)
    path: list[Attempt] = []
    while True:
        result = attempt(counts, spare=max(LEAST_SPARE, int(k)))
        eta = estimate_eta(result, X, Z, np.random.default_rng(seed))
        left, right = map(len, result.landmarks)
        path.append(Attempt(left, right, eta))
        larger = min(GROWTH * counts[0], shape[0]), min(GROWTH * counts[1], shape[1])
        stuck = given or larger == counts or landmark_bytes(method.landmarks, larger, shape) > budget
        if eta <= tol or stuck:
            break
        counts = larger
    if eta <= tol:
        warn_if_unconfirmed(result, X, Z, _confirmable(result, method), seed)
        if method.extension != "plain" and counts != shape:
            warn_if_left_over(result, X, Z, tol, np.random.default_rng([seed, 2]))
    else:
        why = "these were given" if given else "more do not fit the data or the budget"
        warn(
            f"relative eta is estimated at {eta:.1e} with {left} left and {right} right landmarks, above "
            f"tol={tol:g}, and {why}; raise tol, choose landmarks in another way, or use an exact solver",
            AccuracyWarning,
        )
    return result.without_spare(), tuple(path)


def _confirmable(result: NystromFactors, method: Nystrom) -> int:
    """How many singular values u^T K v can confirm: all of orthonormal vectors, else the first alone."""
    return 1 if method.extension == "plain" else result.k


def sums_over_landmarks(method: Nystrom, kernel: Kernel, X: Array, Z: Array) -> bool:
    """Whether a normalised kernel sums over landmarks: on request, or by default if sums over all points are costly.

    They are if the points summed over are dense and there are more than COSTLY_SUMS kernel values.
    """
    if kernel.normalised and isinstance(Z, RowBlocks):
        if method.denominators == "all" or Z.is_sparse:
            raise ValueError(
                f"{kernel!r} sums over all right points, and these are in blocks; pass a Z in memory, or dense blocks "
                "and Nystrom(denominators='landmarks')"
            )
        return True
    if method.denominators != "auto":
        return method.denominators == "landmarks"
    # A side that is expensive to prepare needs sums over the other side.
    summed_over = [side for side, cheap in ((Z, kernel.left_is_cheap), (X, kernel.right_is_cheap)) if not cheap]
    over_sparse = any(map(is_sparse, summed_over))
    return kernel.normalised and not over_sparse and X.shape[0] * Z.shape[0] > COSTLY_SUMS


def _counts(n_landmarks: int | Counts | None, k: int | float, shape: Counts, *, searching: bool) -> Counts:
    """Numbers of left and right landmarks, of the first attempt if there is a search."""
    n, m = shape
    if n_landmarks is None:
        usual = FIRST_PER_COMPONENT * k if searching else np.clip(PER_COMPONENT * k, FEWEST_LANDMARKS, MOST_LANDMARKS)
        each = MOST_LANDMARKS if k < 1 else int(usual)
        return min(each, n), min(each, m)
    both = n_landmarks if isinstance(n_landmarks, tuple) else (n_landmarks, n_landmarks)
    if len(both) != 2 or not all(isinstance(count, Integral) for count in both):
        raise ValueError(f"n_landmarks={n_landmarks!r} must be a number, or a pair of them for the left and the right")
    left, right = both
    for count, points, side in ((left, n, "left"), (right, m, "right")):
        if not 1 <= count <= points:
            raise ValueError(f"n_landmarks={count} must be from 1 to the {points} {side} points")
        if count < k:
            raise ValueError(f"n_landmarks={count} is below n_components={k}; use at least as many landmarks")
    return int(left), int(right)


def landmark_bytes(landmarks: Any, counts: Counts, shape: Counts) -> int:
    """Memory for the landmark matrix, or for the pivoting that selects the landmarks, plus a block per thread."""
    small = SMALL_COPIES * 8 * counts[0] * counts[1]
    if isinstance(landmarks, str) and landmarks == "pivoted":
        small = max(small, pivoting_bytes(counts, shape))
    return small + 2 * TILE_BYTES * n_threads()
