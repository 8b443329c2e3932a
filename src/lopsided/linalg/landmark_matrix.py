"""The matrix between the landmarks of both sides: weighted, centred, and decomposed."""

from __future__ import annotations

import numpy as np

from ..kernels.base import Kernel
from ..kernels.points import Array
from ..operators.build import as_operator
from ..operators.stored import Stored
from .factors import Factors
from .finite import check_finite
from .landmarks import Landmarks
from .solvers import factorise

NOISE = 10  # eps: singular values of the matrix below this share of its norm are rounding
VANISHES = "the kernel {}vanishes between the {} left and the {} right landmarks; take other ones, or more"


def between(kernel: Kernel, rows: Landmarks, columns: Landmarks) -> np.ndarray:
    """k(X_I, Z_J), in double precision whatever the data: the extension divides by its singular values."""
    left, right = (_doubled(side.points) for side in (rows, columns))
    W = as_operator(kernel, left, right, budget=np.iinfo(np.int64).max).take()
    check_finite(W)
    return W


def weighted(
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


def holding(W: np.ndarray, share: float) -> int:
    """How many triplets hold a share of the energy."""
    energy = np.cumsum(np.linalg.svd(W, compute_uv=False) ** 2)
    return 1 + int(np.searchsorted(energy, share * energy[-1]))


def leading_triplets(
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
        raise ValueError(VANISHES.format("less its means " if center else "", *W.shape))
    small = small.truncate(rank)
    U, V = small.U, small.V
    if center:  # the last vectors are so only to rounding over their singular value, by which the extension divides
        U, V = _orthogonal_to(roots[0], U), _orthogonal_to(roots[1], V)
    return Factors(roots[0][:, None] * U, small.s, roots[1][:, None] * V)


def leading_eigenvectors(
    W: np.ndarray, root: np.ndarray, count: int, *, center: bool, rounding: float
) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors of a symmetric W with the weights taken into them, and eigenvalues, largest in magnitude first."""
    values, E = np.linalg.eigh(W)
    leading = np.argsort(-np.abs(values), kind="stable")[:count]
    leading = leading[np.abs(values[leading]) > max(rounding, np.finfo(float).tiny)]
    if not len(leading):
        raise ValueError(VANISHES.format("less its means " if center else "", *W.shape))
    E = E[:, leading]
    return root[:, None] * (_orthogonal_to(root, E) if center else E), values[leading]


def _orthogonal_to(root: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Columns without their part along one direction."""
    unit = root / np.linalg.norm(root)
    return vectors - np.outer(unit, unit @ vectors)


def rounding_of(*sides: Array) -> float:
    """Rounding of the coarser side; numbers of columns have none."""
    return max(float(np.finfo(side.dtype).eps) if side.dtype.kind == "f" else 0.0 for side in sides)


def _doubled(points: Array) -> Array:
    """Points in double precision; numbers of columns stay numbers."""
    return points.astype(float) if points.dtype.kind == "f" else points
