"""The asymmetric Nystrom method: singular triplets of a kernel matrix from landmarks of its rows and of its columns.

With landmarks X_I and Z_J the triplets u, l, v of the small matrix k(X_I, Z_J) extend to all points,

    left(x) = k(x, Z_J) v / l,    right(z) = k(X_I, z)^T u / l    (equation 9 of the 2024 paper),

and K is close to left diag(l) right^T. The extended vectors are not orthonormal; the method here orthonormalises them
and decomposes what then stands between them, so that its triplets are those of the approximation itself.

A landmark that stands for w points counts w times: rows and columns of the small matrix are weighted by sqrt(w), which
gives its singular values the size of those of K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ...exceptions import RankWarning, warn
from ...kernels.base import Kernel
from ...kernels.points import Array
from ...operators.build import as_operator
from ..factors import Factors, Side, canonical_signs
from .matrix import LandmarkMatrix
from .placing import Landmarks
from .turns import moments, orthonormal_turns, symmetric_turn, turned, unit_turns

OVERSAMPLING = 2  # triplets of the small matrix for each one wanted: the last ones lean on what follows them
SAMPLE = 1 << 13  # rows of each side, at most, that decide which combinations of the landmarks are extended to all


@dataclass(frozen=True)
class Nystrom:
    """Triplets of the approximated matrix, for all points and for points to come.

    Attributes
    ----------
    factors : Factors
        Left and right vectors of all points.
    left, right : Side
        The maps that made them.
    kernel : Kernel
        The kernel that was used: normalised over the landmarks, if that was asked for.
    landmarks : tuple of Landmarks
        Of the left and of the right side.
    k : int
        Triplets that were wanted and found; what follows them was spare.
    means : tuple of arrays or None
        Of the rows and of the columns of the matrix, as its landmarks give them, if it was centred.
    """

    factors: Factors
    left: Side
    right: Side
    kernel: Kernel
    landmarks: tuple[Landmarks, Landmarks]
    k: int
    means: tuple[np.ndarray, np.ndarray] | None

    def without_spare(self) -> Nystrom:
        """Keep what was wanted."""
        k = self.k
        left, right = (Side(side.map[:, :k], side.offset[:k]) for side in (self.left, self.right))
        return replace(self, factors=self.factors.truncate(k).canonical(), left=left, right=right)


def nystrom(
    kernel: Kernel,
    X: Array,
    Z: Array,
    landmarks: tuple[Landmarks, Landmarks],
    k: int | float,
    *,
    plain: bool = False,
    center: bool = False,
    over_landmarks: bool = False,
    spare: int = 0,
    quiet: bool = False,
    rng: np.random.Generator,
) -> Nystrom:
    """Decompose k(X_I, Z_J) and extend its triplets to all points.

    Cost: n |J| + m |I| kernel values, each used once and dropped, and one array of k columns for each side.

    Parameters
    ----------
    kernel : Kernel
        Fitted.
    X, Z : arrays or sparse matrices
        Left and right points.
    landmarks : tuple of Landmarks
        Left and right.
    k : int or float
        Triplets, or the share of the small matrix's energy that they must hold.
    plain : bool, default=False
        Equation 9 as it stands: columns are brought to length one, and singular values are those of the small matrix.
    center : bool, default=False
        Centre the feature maps of both sides.
    over_landmarks : bool, default=False
        Let kernels that are normalised over a set sum over its landmarks.
    spare : int, default=0
        Further triplets, as far as there are such.
    quiet : bool, default=False
        Take fewer components than were wanted without a warning.
    rng : Generator
        Draws the sample that decides which combinations of the landmarks are extended.
    """
    rows, columns = landmarks
    if over_landmarks:
        kernel = kernel.narrowed((rows.points, rows.weights), (columns.points, columns.weights))
    small = LandmarkMatrix.of(kernel, landmarks, center=center)
    k = k if isinstance(k, Integral) else small.holding(k)
    if kernel.symmetric and X is Z and _alike(rows, columns) and not plain:
        found = _of_one_set(kernel, X, rows, small, k=k + spare, rng=rng)
    else:
        found = _of_two_sets(kernel, X, Z, landmarks, small, k=k + spare, plain=plain, rng=rng)
    U, V, s, left, right, means = found
    if len(s) < k and not quiet:
        warn(
            f"the {len(rows)} x {len(columns)} matrix of the landmarks holds {len(s)} components and not {k}; take "
            "more landmarks, other ones, or fewer components",
            RankWarning,
        )
    signs = canonical_signs(U)
    vectors = (U,) if V is U else (U, V)
    for array in (*vectors, *left, *right):
        array *= signs
    factors = Factors(U, s.astype(U.dtype), V)
    if means is not None:
        means = _means(means, factors, (left, right), landmarks, small.K)
    return Nystrom(factors, left, right, kernel, landmarks, min(k, len(s)), means)


def _of_two_sets(
    kernel: Kernel,
    X: Array,
    Z: Array,
    landmarks: tuple[Landmarks, Landmarks],
    small: LandmarkMatrix,
    *,
    k: int,
    plain: bool,
    rng: np.random.Generator,
) -> _Extended:
    """Triplets of the small matrix, extended to both sides and made orthonormal (or brought to length one)."""
    (rows, columns), center = landmarks, small.center
    triplets = small.triplets(k * (1 if plain else OVERSAMPLING), rng)
    maps, s = (triplets.V / triplets.s, triplets.U / triplets.s), triplets.s
    if not plain:
        some = X[_sample(X.shape[0], rng)], Z[_sample(Z.shape[0], rng)]
        L, R = _extended(kernel, *some, landmarks, maps)
        turns, s = orthonormal_turns(
            moments(L, center, X.shape[0] / len(L)), moments(R, center, Z.shape[0] / len(R)), s, k
        )
        maps = maps[0] @ turns[0], maps[1] @ turns[1]
    if center:
        maps = _with_mean(maps[0], columns), _with_mean(maps[1], rows)
    U, V = _extended(kernel, X, Z, landmarks, maps)
    means = None
    if center:
        (U, left_mean), (V, right_mean) = _without_mean(U), _without_mean(V)
        means, maps = (left_mean, right_mean), (maps[0][:, :-1], maps[1][:, :-1])
    spreads = moments(U, center), moments(V, center)
    turns, s = unit_turns(*spreads, s) if plain else orthonormal_turns(*spreads, s, k)
    (U, left), (V, right) = (turned(*each) for each in zip((U, V), maps, spreads, turns, strict=True))
    return _Extended(U, V, s, left, right, means)


def _of_one_set(
    kernel: Kernel, X: Array, landmarks: Landmarks, small: LandmarkMatrix, *, k: int, rng: np.random.Generator
) -> _Extended:
    """The same for a symmetric kernel on one set: right vectors are left ones, with the signs of the eigenvalues.

    One side is extended instead of two, which halves the cost.
    """
    center = small.center
    vectors, values = small.eigenvectors(k * OVERSAMPLING)
    map = vectors / values
    some = X[_sample(X.shape[0], rng)]
    L = _one_extended(kernel, some, landmarks, map)
    turn, values = symmetric_turn(moments(L, center, X.shape[0] / len(L)), values, k)
    map = map @ turn
    U = _one_extended(kernel, X, landmarks, _with_mean(map, landmarks) if center else map)
    means = None
    if center:
        U, mean = _without_mean(U)
        means = mean, mean
    spread = moments(U, center)
    turn, values = symmetric_turn(spread, values, k)
    U, left = turned(U, map, spread, turn)
    signs = np.where(values < 0, -1, 1).astype(U.dtype)
    V = U * signs if signs.min() < 0 else U  # of a positive kernel both sides are one array
    return _Extended(U, V, np.abs(values), left, Side(left.map * signs, left.offset * signs), means)


class _Extended(NamedTuple):
    """Vectors of all points, singular values, the maps that made them, and averages over the landmarks."""

    U: np.ndarray
    V: np.ndarray
    s: np.ndarray
    left: Side
    right: Side
    means: tuple[np.ndarray, np.ndarray] | None


def _alike(rows: Landmarks, columns: Landmarks) -> bool:
    """Whether the landmarks of both sides are the same points of one set with the same weights."""
    if rows is columns:
        return True
    if rows.indices is not None and columns.indices is not None:
        same = np.array_equal(rows.indices, columns.indices)
    else:
        same = not sparse.issparse(rows.points) and np.array_equal(rows.points, columns.points)
    return same and np.array_equal(rows.weights, columns.weights)


def _with_mean(map: np.ndarray, side: Landmarks) -> np.ndarray:
    """The map with one more column, which takes the mean of kernel values over all that the landmarks stand for."""
    return np.column_stack([map, side.weights / side.weights.sum()])


def _without_mean(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """The vectors, and what the column of the mean made, apart."""
    return vectors[:, :-1].copy(), vectors[:, -1].copy()


def _means(
    averages: tuple[np.ndarray, np.ndarray],
    factors: Factors,
    sides: tuple[Side, Side],
    landmarks: tuple[Landmarks, Landmarks],
    K: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Means of the rows and of the columns of the whole matrix, from averages over the landmarks.

    An entry is its centred part, which the factors give, plus the mean of its row plus that of its column less the
    grand mean. So a row's average over landmarks differs from its mean by the average of the centred part, which is
    taken off, and by one number for all rows, which the averages of the columns give. The means are exact if the
    factors are, and if every point is a landmark.
    """
    (left, right), (rows, columns) = sides, landmarks
    p, q = rows.weights / rows.weights.sum(), columns.weights / columns.weights.sum()
    U, V = K @ left.map - left.offset, K.T @ right.map - right.offset
    u, v = factors.s * (p @ U), factors.s * (q @ V)
    of_rows, of_columns = averages[0] - factors.U @ v, averages[1] - factors.V @ u
    excess_of_columns = q @ (p @ K - V @ u) - of_columns.mean()
    excess_of_rows = p @ (K @ q - U @ v) - of_rows.mean()
    dtype = factors.U.dtype
    return (of_rows - excess_of_columns).astype(dtype), (of_columns - excess_of_rows).astype(dtype)


def _sample(n: int, rng: np.random.Generator) -> slice | np.ndarray:
    """Numbers of rows at random, in ascending order, or all of them."""
    return slice(None) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False, shuffle=False))


def _extended(
    kernel: Kernel,
    X: Array,
    Z: Array,
    landmarks: tuple[Landmarks, Landmarks],
    maps: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """k(X, Z_J) times the left map and k(X_I, Z)^T times the right one, in blocks that are used at once."""
    A = as_operator(kernel, landmarks[0].points, Z, budget=0).T
    return _one_extended(kernel, X, landmarks[1], maps[0]), A @ maps[1].astype(A.dtype, copy=False)


def _one_extended(kernel: Kernel, X: Array, columns: Landmarks, map: np.ndarray) -> np.ndarray:
    """k(X, Z_J) times the left map."""
    A = as_operator(kernel, X, columns.points, budget=0)
    return A @ map.astype(A.dtype, copy=False)
