"""The matrix between the landmarks of both sides: weighted, centred, and decomposed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Self

import numpy as np

from ...kernels.base import Kernel
from ...kernels.points import Array
from ...operators.build import as_operator
from ...operators.stored import Stored
from ..factors import Factors
from ..finite import check_finite
from ..svd.solvers import factorise
from .placing import Landmarks

NOISE = 10  # in units of eps: singular values below this share of the matrix's norm are rounding


@dataclass(frozen=True)
class LandmarkMatrix:
    """The kernel values between the landmarks, and what of them is decomposed.

    Attributes
    ----------
    K : array of shape (p, q)
        k(X_I, Z_J), in double precision.
    W : array of shape (p, q)
        K with every row and every column multiplied by the root of its landmark's weight, and centred if asked for.
        Centring is weighted, too; adding a number to a row of K then changes nothing.
    roots : pair of arrays of shapes (p,) and (q,)
        Square roots of the weights.
    rounding : float
        Singular values of W up to this one are rounding.
    center : bool
        Whether W is centred.
    """

    K: np.ndarray
    W: np.ndarray
    roots: tuple[np.ndarray, np.ndarray]
    rounding: float
    center: bool

    @classmethod
    def of(cls, kernel: Kernel, landmarks: tuple[Landmarks, Landmarks], *, center: bool) -> Self:
        """Evaluate the kernel in double precision whatever the data: the extension divides by singular values of W."""
        rows, columns = landmarks
        K = between(kernel, _doubled(rows.points), _doubled(columns.points))
        roots = np.sqrt(rows.weights), np.sqrt(columns.weights)
        W = roots[0][:, None] * K * roots[1]
        eps = max(_eps(rows.points), _eps(columns.points))
        rounding = NOISE * eps * float(np.linalg.norm(W))  # before centring, which may leave little else
        if center:
            W = _orthogonal_to(roots[1], _orthogonal_to(roots[0], W).T).T
        return cls(K, W, roots, rounding, center)

    def holding(self, share: float) -> int:
        """How many triplets of W hold a share of its energy, the sum of squared singular values."""
        energy = np.cumsum(np.linalg.svd(self.W, compute_uv=False) ** 2)
        return 1 + int(np.searchsorted(energy, share * energy[-1]))

    def triplets(self, count: int, rng: np.random.Generator) -> Factors:
        """Leading triplets of W, as many as are above rounding, with the weights taken into the vectors."""
        small = factorise(Stored(self.W), min(count, *self.W.shape), budget=sys.maxsize, rng=rng)[0]
        small = small.truncate(int(np.count_nonzero(self._counts(small.s))))
        (left, right), U, V = self.roots, small.U, small.V
        if self.center:  # the last vectors are so only to rounding over their singular value, by which is divided
            U, V = _orthogonal_to(left, U), _orthogonal_to(right, V)
        return Factors(left[:, None] * U, small.s, right[:, None] * V)

    def eigenvectors(self, count: int) -> tuple[np.ndarray, np.ndarray]:
        """Leading eigenvectors of a symmetric W with the weights taken into them, and eigenvalues, largest first."""
        values, E = np.linalg.eigh(self.W)
        leading = np.argsort(-np.abs(values), kind="stable")[:count]
        leading = leading[self._counts(np.abs(values[leading]))]
        root, E = self.roots[0], E[:, leading]
        return root[:, None] * (_orthogonal_to(root, E) if self.center else E), values[leading]

    def _counts(self, s: np.ndarray) -> np.ndarray:
        """Which singular values are above rounding; refuses a matrix that has none."""
        counts = s > max(self.rounding, np.finfo(float).tiny)
        if not counts.any():
            what = "less its means " if self.center else ""
            left, right = self.W.shape
            raise ValueError(
                f"the kernel {what}vanishes between the {left} left and the {right} right landmarks; take other ones, "
                "or more"
            )
        return counts


def between(kernel: Kernel, X: Array, Z: Array) -> np.ndarray:
    """The values k(X, Z), evaluated in the type of the points, on threads, and given in double precision."""
    K = as_operator(kernel, X, Z, budget=sys.maxsize).take().astype(float, copy=False)
    check_finite(K)
    return K


def _orthogonal_to(root: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Columns without their part along one direction."""
    unit = root / np.linalg.norm(root)
    return vectors - np.outer(unit, unit @ vectors)


def _eps(points: Array) -> float:
    """The rounding of points; numbers of columns have none."""
    return float(np.finfo(points.dtype).eps) if points.dtype.kind == "f" else 0.0


def _doubled(points: Array) -> Array:
    """Points in double precision; numbers of columns stay numbers."""
    return points.astype(float) if points.dtype.kind == "f" else points
