"""The asymmetric Nystrom method: singular triplets of a kernel matrix from landmarks of its rows and of its columns.

With landmarks X_I and Z_J the triplets u, l, v of the small matrix k(X_I, Z_J) extend to all points,

    left(x) = k(x, Z_J) v / l,    right(z) = k(X_I, z)^T u / l    (equation 9 of the 2024 paper),

and K is close to left diag(l) right^T. The extended vectors are not orthonormal; the method here orthonormalises them
and decomposes what then stands between them, so that its triplets are those of the approximation itself.

A landmark that stands for w points counts w times: rows and columns of the small matrix are weighted by sqrt(w), which
gives its singular values the size of those of K.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass, replace
from numbers import Integral
from typing import NamedTuple

import numpy as np

from .._parallel import run, slices_of
from ..exceptions import RankWarning
from ..kernels.base import Kernel
from ..kernels.points import Array
from ..operators.base import KernelOperator
from ..operators.build import as_operator
from ..operators.stored import Stored
from .block_krylov import check_finite
from .factors import Factors, Side, canonical_signs
from .landmarks import Landmarks
from .solvers import factorise

SPARE = 2  # times as many triplets of the small matrix as are wanted: the last ones lean on what follows them
SAMPLE = 1 << 14  # rows of each side that decide which combinations of the landmarks are extended to all rows
SLAB = 1 << 14
NOISE = 10  # eps: singular values of the small matrix below this share of its norm are rounding


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
    rng : Generator
        For the sample on which the method decides what to extend.
    """
    rows, columns = landmarks
    if over_landmarks:
        kernel = kernel.narrowed((rows.points, rows.weights), (columns.points, columns.weights))
    between = _between(kernel, rows, columns)
    W, roots, rounding = _weighted(between, rows, columns, center, _eps(X, Z))
    k = k if isinstance(k, Integral) else _holding(W, k)
    small = _leading(W, roots, (k + spare) * (1 if plain else SPARE), center=center, rounding=rounding, rng=rng)
    maps, s = (small.V / small.s, small.U / small.s), small.s
    if not plain:
        some = X[_sample(X.shape[0], rng)], Z[_sample(Z.shape[0], rng)]
        L, R = _extended(kernel, *some, landmarks, maps)
        turns, s = _orthonormal_turns(
            _moments(L, center, X.shape[0] / len(L)), _moments(R, center, Z.shape[0] / len(R)), s, k + spare
        )
        maps = maps[0] @ turns[0], maps[1] @ turns[1]
    if center:
        maps = _with_mean(maps[0], columns), _with_mean(maps[1], rows)
    U, V = _extended(kernel, X, Z, landmarks, maps)
    means = None
    if center:
        means = U[:, -1].copy(), V[:, -1].copy()
        U, V = U[:, :-1].copy(), V[:, :-1].copy()
        maps = maps[0][:, :-1], maps[1][:, :-1]
    moments = _moments(U, center), _moments(V, center)
    turns, s = _unit_turns(*moments, s) if plain else _orthonormal_turns(*moments, s, k + spare)
    (U, left), (V, right) = (_turned(*each) for each in zip((U, V), maps, moments, turns, strict=True))
    if len(s) < k:
        warnings.warn(
            f"the {len(rows)} x {len(columns)} matrix of the landmarks holds {len(s)} components and not {k}; take "
            "more landmarks, other ones, or fewer components",
            RankWarning,
            stacklevel=7,
        )
    signs = canonical_signs(U)
    for array in (U, V, *left, *right):
        array *= signs
    factors = Factors(U, s.astype(U.dtype), V)
    if means is not None:
        means = _means(means, factors, (left, right), landmarks, between)
    return Nystrom(factors, left, right, kernel, landmarks, min(k, len(s)), means)


def _between(kernel: Kernel, rows: Landmarks, columns: Landmarks) -> np.ndarray:
    """k(X_I, Z_J), in double precision whatever the data: the extension divides by its singular values."""
    left, right = (_doubled(side.points) for side in (rows, columns))
    W = as_operator(kernel, left, right, budget=np.iinfo(np.int64).max).take()
    check_finite(W)
    return W


def _weighted(
    W: np.ndarray, rows: Landmarks, columns: Landmarks, center: bool, eps: float
) -> tuple[np.ndarray, tuple[np.ndarray, np.ndarray], float]:
    """The matrix of the landmarks with rows and columns weighted, the roots of the weights, and the size of rounding.

    Centring is weighted, too; adding a number to a row k(x, Z_J) then changes nothing.
    """
    roots = np.sqrt(rows.weights), np.sqrt(columns.weights)
    W = roots[0][:, None] * W * roots[1]
    rounding = NOISE * eps * float(np.linalg.norm(W))  # before centring, which may leave little else
    if center:
        W = _orthogonal_to(roots[1], _orthogonal_to(roots[0], W).T).T
    return W, roots, rounding


def _orthogonal_to(root: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Columns without their part along one direction."""
    unit = root / np.linalg.norm(root)
    return vectors - np.outer(unit, unit @ vectors)


def _holding(W: np.ndarray, share: float) -> int:
    """How many triplets hold a share of the energy."""
    energy = np.cumsum(np.linalg.svd(W, compute_uv=False) ** 2)
    return 1 + int(np.searchsorted(energy, share * energy[-1]))


def _leading(
    W: np.ndarray,
    roots: tuple[np.ndarray, np.ndarray],
    count: int,
    *,
    center: bool,
    rounding: float,
    rng: np.random.Generator,
) -> Factors:
    """Leading triplets of W, as many as are above rounding, with the weights taken into the vectors."""
    small = factorise(Stored(W), min(count, *W.shape), budget=np.iinfo(np.int64).max, rng=rng)[0]
    rank = int(np.count_nonzero(small.s > max(rounding, np.finfo(float).tiny)))
    if not rank:
        raise ValueError(
            f"the kernel vanishes between the {W.shape[0]} left and the {W.shape[1]} right landmarks; take other ones"
        )
    small = small.truncate(rank)
    U, V = small.U, small.V
    if center:  # the last vectors are so only to rounding over their singular value, by which the extension divides
        U, V = _orthogonal_to(roots[0], U), _orthogonal_to(roots[1], V)
    return Factors(roots[0][:, None] * U, small.s, roots[1][:, None] * V)


def _eps(*sides: Array) -> float:
    """Rounding of the coarser side; numbers of columns have none."""
    return max(float(np.finfo(side.dtype).eps) if side.dtype.kind == "f" else 0.0 for side in sides)


def _doubled(points: Array) -> Array:
    """Points in double precision; numbers of columns stay numbers."""
    return points.astype(float) if points.dtype.kind == "f" else points


def _with_mean(map: np.ndarray, side: Landmarks) -> np.ndarray:
    """One more column, that takes the mean over what the landmarks stand for."""
    return np.column_stack([map, side.weights / side.weights.sum()])


def _means(
    averages: tuple[np.ndarray, np.ndarray],
    factors: Factors,
    sides: tuple[Side, Side],
    landmarks: tuple[Landmarks, Landmarks],
    W: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Row and column means of K, from averages over the landmarks.

    K is its centred part, which the factors give, plus row mean plus column mean less the grand mean. An average over
    landmarks differs from the mean by that of the centred part, and by a number that the other side's averages give:
    exact if the factors are, and if every point is a landmark.
    """
    (left, right), (rows, columns) = sides, landmarks
    p, q = rows.weights / rows.weights.sum(), columns.weights / columns.weights.sum()
    U, V = W @ left.map - left.offset, W.T @ right.map - right.offset
    u, v = factors.s * (p @ U), factors.s * (q @ V)
    of_rows, of_columns = averages[0] - factors.U @ v, averages[1] - factors.V @ u
    excess_of_columns = q @ (p @ W - V @ u) - of_columns.mean()
    excess_of_rows = p @ (W @ q - U @ v) - of_rows.mean()
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
    rows, columns = landmarks
    operators: tuple[KernelOperator, KernelOperator] = (
        as_operator(kernel, X, columns.points, budget=0),
        as_operator(kernel, rows.points, Z, budget=0).T,
    )
    U, V = (A @ map.astype(A.dtype, copy=False) for A, map in zip(operators, maps, strict=True))
    return U, V


class _Moments(NamedTuple):
    """Mean and Gram matrix of vectors, in double precision; the mean is zero where it is not to be removed."""

    mean: np.ndarray
    gram: np.ndarray


def _moments(vectors: np.ndarray, center: bool, scale: float = 1.0) -> _Moments:
    """The moments of a set of rows that stands for ``scale`` times as many."""
    slabs = slices_of(len(vectors), SLAB)
    mean = np.zeros(vectors.shape[1])
    if center:
        mean = np.sum(run(lambda rows: vectors[rows].sum(axis=0, dtype=float), slabs), axis=0) / len(vectors)

    def gram(rows: slice) -> np.ndarray:
        slab = vectors[rows] - mean
        return slab.T @ slab

    grams = np.sum(run(gram, slabs), axis=0)
    check_finite(grams)
    return _Moments(mean, grams * scale)


def _orthonormal_turns(
    left: _Moments, right: _Moments, d: np.ndarray, k: int
) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Turns S, T and values s with (L S) diag(s) (R T)^T = L diag(d) R^T to rank k, and both sides orthonormal."""
    (A, A_inverse), (B, B_inverse) = (_square_root(side.gram) for side in (left, right))
    a, s, bt = np.linalg.svd(A * d @ B.T)
    k = min(k, len(s))
    return (A_inverse @ a[:, :k], B_inverse @ bt[:k].T), s[:k]


def _unit_turns(left: _Moments, right: _Moments, s: np.ndarray) -> tuple[tuple[np.ndarray, np.ndarray], np.ndarray]:
    """Turns that bring every column to length one."""
    lengths = (np.sqrt(np.maximum(np.diag(side.gram), np.finfo(float).tiny)) for side in (left, right))
    S, T = (np.diag(1 / length) for length in lengths)
    return (S, T), s


def _square_root(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """R with R^T R = gram, and the pseudo-inverse of R, whose null directions are left out.

    Through the correlations: where landmarks see little of a column, it may be longer than others by many digits.
    """
    lengths = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    squares, E = np.linalg.eigh(gram / lengths / lengths[:, None])
    live = squares > len(squares) * np.finfo(float).eps * squares[-1]
    roots, E = np.sqrt(squares[live]), E[:, live]
    return roots[:, None] * E.T * lengths, E / roots / lengths[:, None]


def _turned(vectors: np.ndarray, map: np.ndarray, moments: _Moments, turn: np.ndarray) -> tuple[np.ndarray, Side]:
    """(vectors - mean) turn, in the memory of the vectors where it fits, and the side that makes them."""
    out = vectors if turn.shape[0] == turn.shape[1] else np.empty((len(vectors), turn.shape[1]), vectors.dtype)
    offset = moments.mean @ turn

    def turn_slab(rows: slice) -> None:
        out[rows] = vectors[rows] @ turn - offset

    run(turn_slab, slices_of(len(vectors), SLAB))
    return out, Side((map @ turn).astype(out.dtype), offset.astype(out.dtype))
