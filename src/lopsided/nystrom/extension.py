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
from numbers import Integral, Real
from typing import NamedTuple

import numpy as np
from sklearn.utils._param_validation import Interval

from .._core import Array, RowBlocks, checked, count_of, counted, product, same_points
from ..exceptions import RankWarning, warn
from ..kernels import Kernel
from ..operators import as_operator
from ..svd import Factors, Side, canonical_signs
from .landmark_matrix import LandmarkMatrix
from .landmarks import Landmarks
from .orthonormalise import Moments, moments, orthonormal_turns, turned, unit_turns

# Triplets of the small matrix per triplet wanted, as the last of k would be inaccurate with k alone: on protein-casp at
# rank 20, eta is 1.4e-3 with one, 2.1e-4 with two and 1.8e-4 with three.
OVERSAMPLING = 2
SAMPLE_ROWS = 1 << 13  # rows of each side, at most, from which the k combinations to extend to all points are computed


@dataclass(frozen=True)
class NystromFactors:
    """Nystrom approximation of a kernel matrix: factors for the given points, and maps for new points."""

    factors: Factors
    left: Side  # map from kernel values with the landmarks to singular vectors, also for new points
    right: Side
    kernel: Kernel  # normalised over the landmarks if that was asked for
    landmarks: tuple[Landmarks, Landmarks]
    k: int  # number of triplets requested, or found if fewer; further triplets in ``factors`` are spare
    means: tuple[np.ndarray, np.ndarray] | None  # of rows and of columns, estimated, if the matrix was centred

    def without_spare(self) -> NystromFactors:
        """Drop the spare triplets beyond k."""
        k = self.k
        left, right = (Side(side.map[:, :k], side.offset[:k]) for side in (self.left, self.right))
        return replace(self, factors=self.factors.truncate(k).canonical(), left=left, right=right)


@checked(kernel=[Kernel], landmarks=[tuple], k=[Interval(Real, 0, None, closed="neither")], rng=[np.random.Generator])
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
    kernel, X, Z, landmarks : Kernel, arrays or sparse matrices, tuple of Landmarks
        Fitted kernel, left and right points, and the landmarks of both sides.
    k, spare : int or float, and int
        Number of triplets, or the share of the small matrix's energy that they must hold; and how many to add to them.
    plain : bool, default=False
        Apply equation 9 only: columns are scaled to unit norm, and singular values are those of the small matrix whose
        rows and columns count as often as the points that they represent.
    center : bool, default=False
        Centre the feature maps of both sides.
    over_landmarks : bool, default=False
        For kernels normalised over a set of points, sum over its landmarks instead of all points.
    quiet : bool, default=False
        Suppress the RankWarning if fewer than k triplets are found.
    rng : Generator
        Draws the rows from which the combinations to extend are computed.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF
    >>> from lopsided.nystrom import Landmarks, nystrom
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> landmarks = Landmarks(X[:40], np.full(40, 5.0))
    >>> found = nystrom(RBF(1.0).fit(X, X), X, X, (landmarks, landmarks), 3, rng=np.random.default_rng(0))
    >>> found.factors.U.shape
    (200, 3)
    """
    rows, columns = landmarks
    if over_landmarks:
        kernel = kernel.normalised_over((rows.points, rows.weights), (columns.points, columns.weights))
    small = LandmarkMatrix.of(kernel, landmarks, center=center)
    k = k if isinstance(k, Integral) else small.holding(k)
    ends = [_End(X, columns, is_right=False), _End(Z, rows, is_right=True)]
    same = same_points(rows.points, columns.points) and np.array_equal(rows.weights, columns.weights)
    if kernel.symmetric and not plain and same and same_points(X, Z):
        ends.pop()  # right vectors are the left ones times the signs of the eigenvalues, which halves the cost
    (left, right), s = _extend(kernel, ends, small, k + spare, plain, rng)
    if len(s) < k and not quiet:
        warn(
            f"the {len(rows)} x {len(columns)} matrix of the landmarks holds {count_of(len(s), 'component')} and not "
            f"{k}; use more landmarks, other ones, or fewer components",
            RankWarning,
        )
    factors = Factors(left.vectors, s.astype(left.vectors.dtype), right.vectors)
    means = _means(left, right, factors, landmarks, small.K) if center else None
    return NystromFactors(factors, left.map, right.map, kernel, landmarks, min(k, len(s)), means)


class _End(NamedTuple):
    """Points of one side and the landmarks of the other, with which their kernel values are taken."""

    points: Array
    opposite: Landmarks
    is_right: bool

    def times(self, kernel: Kernel, map: np.ndarray) -> np.ndarray:
        """k(X, Z_J) @ map, or k(X_I, Z)^T @ map on the right, without storing kernel values."""
        ends = self.points, self.opposite.points
        A = as_operator(kernel, *ends[::-1]).T if self.is_right else as_operator(kernel, *ends)
        return A @ map.astype(A.dtype, copy=False)

    def moments(self, kernel: Kernel, map: np.ndarray, center: bool, rng: np.random.Generator) -> Moments:
        """Moments of ``times`` on a random sample of SAMPLE_ROWS points, or on all if there are no more."""
        sample, n = self, self.points.shape[0]
        if n > SAMPLE_ROWS:
            rows = np.sort(rng.choice(n, SAMPLE_ROWS, replace=False, shuffle=False))
            sample = self._replace(points=self.points[rows])
        return moments(sample.times(kernel, map), center)


class _Extended(NamedTuple):
    """Singular vectors of all points of a side, the map that gives them, and if centred, means over the landmarks."""

    vectors: np.ndarray
    map: Side
    averages: np.ndarray | None

    def times(self, signs: np.ndarray) -> _Extended:
        """Every column times its sign; for a positive semidefinite kernel on one set both sides share memory."""
        vectors = self.vectors * signs if signs.min() < 0 else self.vectors
        return _Extended(vectors, Side(self.map.map * signs, self.map.offset * signs), self.averages)


def _extend(
    kernel: Kernel, ends: list[_End], small: LandmarkMatrix, k: int, plain: bool, rng: np.random.Generator
) -> tuple[tuple[_Extended, _Extended], np.ndarray]:
    """Extend k triplets of the small matrix to both sides and orthonormalise them (plain: scale to unit norm)."""
    maps, values = small.maps(k * (1 if plain else OVERSAMPLING), symmetric=len(ends) == 1, rng=rng)
    if not plain and len(values) > k:
        # Gram matrices of samples are too small by a factor, which leaves the spans and L diag(d) R^T as they are.
        spreads = [end.moments(kernel, map, small.center, rng) for end, map in zip(ends, maps, strict=True)]
        turns, values = orthonormal_turns(spreads, values, k)
        maps = [map @ turn for map, turn in zip(maps, turns, strict=True)]
    vectors, averages = [], []
    for end, map in counted(zip(ends, maps, strict=True), "Nystrom passes", len(ends)):
        # A further column averages the kernel values over the landmarks, from which the means follow.
        found = end.times(kernel, np.column_stack([map, end.opposite.shares]) if small.center else map)
        found = found.kept() if isinstance(found, RowBlocks) else found
        vectors.append(_all_but_last(found) if small.center else found)
        averages.append(_last(found) if small.center else None)
    spreads = [moments(each, small.center) for each in vectors]
    turns, values = unit_turns(spreads, values) if plain else orthonormal_turns(spreads, values, k)
    sides = [turned(*each) for each in zip(vectors, maps, spreads, turns, strict=True)]
    signs = canonical_signs(sides[0][0])
    sides = [_signed(*side, signs) for side in sides]
    left, *rest = (_Extended(*each, mean) for each, mean in zip(sides, averages, strict=True))
    right = rest[0] if rest else left.times(np.where(values < 0, -1, 1).astype(left.vectors.dtype))
    return (left, right), np.abs(values)


def _signed(vectors: np.ndarray, side: Side, signs: np.ndarray) -> tuple[np.ndarray, Side]:
    """Multiply the columns by their signs, in place if they are in memory, as vectors may fill half of the memory."""
    if isinstance(vectors, RowBlocks):
        vectors = vectors * signs
    else:
        vectors *= signs
    for array in side:
        array *= signs
    return vectors, side


def _all_but_last(found: np.ndarray) -> np.ndarray:
    """All columns but the last; of an array a view, as a copy may be half of the memory that is held."""
    return found @ np.eye(found.shape[1])[:, :-1] if isinstance(found, RowBlocks) else found[:, :-1]


def _last(found: np.ndarray) -> np.ndarray:
    return found.column(-1) if isinstance(found, RowBlocks) else found[:, -1].copy()


def _combined(vectors: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Sums of the columns of ``vectors`` times ``weights``, shape (n,), as an array."""
    column = weights[:, None]
    return (vectors @ column).column(0) if isinstance(vectors, RowBlocks) else product(vectors, column)[:, 0]


def _means(
    left: _Extended, right: _Extended, factors: Factors, landmarks: tuple[Landmarks, Landmarks], K: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Row means and column means of the whole matrix, from averages over the landmarks.

    An entry is the sum of its centred part, which the factors give, its row mean and its column mean, less the grand
    mean. A row's average over landmarks therefore differs from its mean by the average of the centred part, which is
    subtracted, and by a constant common to all rows, which the column averages determine. The means are exact if the
    factors are, wherever the landmarks lie.
    """
    p, q = (side.shares for side in landmarks)
    (M, m), (N, n) = left.map, right.map  # at the landmarks, vectors are K M - m and K'N - n, which are not formed
    u, v = factors.s * (p @ K @ M - m), factors.s * (K @ q @ N - n)
    assert left.averages is not None and right.averages is not None  # the matrix was centred
    of_rows, of_columns = left.averages - _combined(factors.U, v), right.averages - _combined(factors.V, u)
    excess_of_columns = q @ (p @ K - K.T @ (N @ u) + n @ u) - of_columns.mean()
    excess_of_rows = p @ (K @ q - K @ (M @ v) + m @ v) - of_rows.mean()
    dtype = factors.U.dtype
    return (of_rows - excess_of_columns).astype(dtype), (of_columns - excess_of_rows).astype(dtype)
