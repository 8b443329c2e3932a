"""The asymmetric Nystrom method: singular triplets of a kernel matrix from landmarks of its rows and of its columns.

With landmarks X_I and Z_J, the triplets (u, l, v) of the small matrix k(X_I, Z_J) extend to all points,

    left(x) = k(x, Z_J) v / l,    right(z) = k(X_I, z)^T u / l    (equation 9 of the 2024 paper),

and K is approximated by left diag(l) right^T. The extended vectors are not orthonormal. This module orthonormalises
them and decomposes the resulting core matrix, so that the returned triplets are the SVD of the approximation.

A landmark that represents w points counts w times: rows and columns of the small matrix are multiplied by sqrt(w),
which makes its singular values comparable with those of K.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from numbers import Integral
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._core import Array
from ..exceptions import RankWarning, warn
from ..kernels import Kernel
from ..operators import as_operator
from ..svd import Factors, Side, canonical_signs
from .landmark_matrix import LandmarkMatrix
from .orthonormalise import moments, orthonormal_turns, symmetric_turn, turned, unit_turns
from .strategies import Landmarks

OVERSAMPLING = 2  # triplets of the small matrix per triplet wanted, as the last of k would be inaccurate with k alone
SAMPLE = 1 << 13  # rows of each side, at most, from which the k combinations to extend to all points are computed


@dataclass(frozen=True)
class NystromFactors:
    """Nystrom approximation of a kernel matrix: factors for the given points, and maps for new points.

    Attributes
    ----------
    factors : Factors
        Singular triplets of the approximation, with vectors for all points.
    left, right : Side
        Maps from kernel values with the landmarks to the singular vectors, also for new points.
    kernel : Kernel
        The kernel that was used, normalised over the landmarks if ``over_landmarks`` was set.
    landmarks : tuple of Landmarks
        Left and right landmarks.
    k : int
        Number of triplets requested, or found if fewer; further triplets in ``factors`` are spare.
    means : tuple of arrays or None
        Row means and column means of the matrix, estimated from the landmarks, if it was centred.
    """

    factors: Factors
    left: Side
    right: Side
    kernel: Kernel
    landmarks: tuple[Landmarks, Landmarks]
    k: int
    means: tuple[np.ndarray, np.ndarray] | None

    def without_spare(self) -> NystromFactors:
        """Drop the spare triplets beyond k."""
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
) -> NystromFactors:
    """Decompose k(X_I, Z_J) and extend its triplets to all points.

    Cost: n |J| + m |I| kernel values, each used once and not stored, and one array of k columns per side.

    Parameters
    ----------
    kernel : Kernel
        Fitted kernel.
    X, Z : arrays or sparse matrices
        Left and right points.
    landmarks : tuple of Landmarks
        Left and right landmarks.
    k : int or float
        Number of triplets, or the share of the small matrix's energy that they must hold.
    plain : bool, default=False
        Apply equation 9 only: columns are scaled to unit norm, and singular values are those of the small matrix.
    center : bool, default=False
        Centre the feature maps of both sides.
    over_landmarks : bool, default=False
        For kernels normalised over a set of points, sum over its landmarks instead of all points.
    spare : int, default=0
        Number of triplets beyond k to compute, if the small matrix has that many.
    quiet : bool, default=False
        Suppress the RankWarning if fewer than k triplets are found.
    rng : Generator
        Draws the rows from which the combinations to extend are computed.
    """
    rows, columns = landmarks
    if over_landmarks:
        kernel = kernel.normalised_over((rows.points, rows.weights), (columns.points, columns.weights))
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
    return NystromFactors(factors, left, right, kernel, landmarks, min(k, len(s)), means)


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
    """Extend triplets of the small matrix to both sides and orthonormalise them (plain: scale to unit norm)."""
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
    """Symmetric kernel on one set: right vectors are the left ones times the signs of the eigenvalues.

    Only one side is extended, which halves the cost.
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
    V = U * signs if signs.min() < 0 else U  # for a positive semidefinite kernel both sides share memory
    return _Extended(U, V, np.abs(values), left, Side(left.map * signs, left.offset * signs), means)


class _Extended(NamedTuple):
    """Singular vectors of all points, singular values, maps of both sides, and mean kernel values over landmarks."""

    U: np.ndarray
    V: np.ndarray
    s: np.ndarray
    left: Side
    right: Side
    means: tuple[np.ndarray, np.ndarray] | None


def _alike(rows: Landmarks, columns: Landmarks) -> bool:
    """Whether both sides have the same landmarks with the same weights; both are taken from one set."""
    if rows is columns:
        return True
    if rows.indices is not None and columns.indices is not None:
        same = np.array_equal(rows.indices, columns.indices)
    else:
        same = not sparse.issparse(rows.points) and np.array_equal(rows.points, columns.points)
    return same and np.array_equal(rows.weights, columns.weights)


def _with_mean(map: np.ndarray, side: Landmarks) -> np.ndarray:
    """Append a column to the map that computes the weighted mean of kernel values over the landmarks."""
    return np.column_stack([map, side.weights / side.weights.sum()])


def _without_mean(vectors: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Separate the vectors from the last column, which the map of :func:`_with_mean` filled with the means."""
    return vectors[:, :-1].copy(), vectors[:, -1].copy()


def _means(
    averages: tuple[np.ndarray, np.ndarray],
    factors: Factors,
    sides: tuple[Side, Side],
    landmarks: tuple[Landmarks, Landmarks],
    K: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Row means and column means of the whole matrix, from averages over the landmarks.

    An entry is the sum of its centred part, which the factors give, its row mean and its column mean, less the grand
    mean. A row's average over landmarks therefore differs from its mean by the average of the centred part, which is
    subtracted, and by a constant common to all rows, which the column averages determine. The means are exact if the
    factors are exact and every point is a landmark.
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
    """Row numbers of a random sample of SAMPLE rows, in ascending order; all rows if there are no more."""
    return slice(None) if n <= SAMPLE else np.sort(rng.choice(n, SAMPLE, replace=False, shuffle=False))


def _extended(
    kernel: Kernel,
    X: Array,
    Z: Array,
    landmarks: tuple[Landmarks, Landmarks],
    maps: tuple[np.ndarray, np.ndarray],
) -> tuple[np.ndarray, np.ndarray]:
    """k(X, Z_J) times the left map and k(X_I, Z)^T times the right map, without storing the kernel values."""
    A = as_operator(kernel, landmarks[0].points, Z, budget=0).T
    return _one_extended(kernel, X, landmarks[1], maps[0]), A @ maps[1].astype(A.dtype, copy=False)


def _one_extended(kernel: Kernel, X: Array, columns: Landmarks, map: np.ndarray) -> np.ndarray:
    """k(X, Z_J) times the left map."""
    A = as_operator(kernel, X, columns.points, budget=0)
    return A @ map.astype(A.dtype, copy=False)
