"""The result of every factorisation: leading singular triplets, in one order and with one choice of signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._parallel import run, slices_of

SLAB = 1 << 17  # rows that are worth a thread
NULL = 10  # in units of sqrt(points) eps: singular values below this share of the largest are rounding


@dataclass(frozen=True)
class Factors:
    """A ~ U diag(s) V^T.

    Attributes
    ----------
    U : array of shape (n, k)
        Left vectors in columns.
    s : array of shape (k,)
        Singular values, descending.
    V : array of shape (m, k)
        Right vectors in columns; V, never V^T.
    """

    U: np.ndarray
    s: np.ndarray
    V: np.ndarray

    @property
    def T(self) -> Factors:
        """The factors of the transposed matrix, with its own signs."""
        return Factors(self.V, self.s, self.U).canonical()

    def truncate(self, k: int) -> Factors:
        """Keep the k largest."""
        return Factors(self.U[:, :k], self.s[:k], self.V[:, :k])

    def canonical(self) -> Factors:
        """Order descending, and give every pair the sign that makes its largest left entry, in magnitude, positive."""
        U, s, V = self.U, self.s, self.V
        if np.any(np.diff(s) > 0):
            order = np.argsort(-s, kind="stable")
            U, s, V = U[:, order], s[order], V[:, order]
        signs = canonical_signs(U)
        if signs.min() < 0:
            U, V = U * signs, V * signs
        return Factors(*map(np.ascontiguousarray, (U, s, V)))  # a slice would keep the whole of what it was cut from

    def matrix(self) -> np.ndarray:
        """Multiply the factors: the dense (n, m) matrix U diag(s) V^T."""
        return (self.U * self.s) @ self.V.T


class Side(NamedTuple):
    """How points of one side are embedded: k @ map - offset, k being kernel values with the other side's landmarks.

    Where there are no landmarks these are all points of the other side.
    """

    map: np.ndarray
    offset: np.ndarray


def exact_sides(factors: Factors, means: tuple[Any, Any, Any] | None) -> tuple[Side, Side]:
    """Left points by k(x, Z) V / s and right ones by k(X, z)^T U / s; with the means of K, by centred kernel values."""
    inverse = powers(factors.s, -1, max(len(factors.U), len(factors.V)))
    left, right = factors.V * inverse, factors.U * inverse
    if means is None:
        return Side(left, np.zeros_like(factors.s)), Side(right, np.zeros_like(factors.s))
    rows, columns, _ = means
    # Columns of U and V sum to zero up to rounding, which kernel values of a large mean would magnify.
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    return Side(left, columns @ left), Side(right, rows @ right)


def powers(s: np.ndarray, exponent: float, points: int) -> np.ndarray:
    """s^exponent, and zero for what is null to rounding in a matrix of so many points."""
    info = np.finfo(s.dtype)
    live = s > max(NULL * np.sqrt(points) * info.eps * s[0], info.tiny)
    with np.errstate(over="ignore"):
        found = np.where(live, s, 1) ** exponent
    if not np.isfinite(found).all():
        worst = s[~np.isfinite(found)][0]
        raise ValueError(
            f"the singular value {worst:.3g} to the power {exponent:g}, which scaling asks for, overflows; take a "
            "scaling from 0 to 1, or scale the kernel"
        )
    return np.where(live, found, 0).astype(s.dtype)


def canonical_signs(U: np.ndarray) -> np.ndarray:
    """For each column the sign, 1 or -1, that makes its entry of largest magnitude positive."""
    extremes = run(lambda rows: (U[rows].max(axis=0), -U[rows].min(axis=0)), slices_of(len(U), SLAB))
    highest, lowest = np.max(extremes, axis=0)
    return np.where(highest >= lowest, 1, -1).astype(U.dtype)
