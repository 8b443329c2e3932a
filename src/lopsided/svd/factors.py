"""The result of every factorisation: leading singular triplets in descending order, with canonical signs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from .._core import in_slabs

FOLDED_ROWS = 32  # short rows that are reduced as one long row
SLAB_ROWS = 1 << 17  # rows per task; fewer would not repay the overhead of a thread
NULL_VALUE = 10  # in units of sqrt(points) eps: singular values below this multiple of the largest count as zero


@dataclass(frozen=True)
class Factors:
    """Low-rank factorisation A ~ U diag(s) V^T.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.svd import Factors
    >>> factors = Factors(np.eye(3)[:, :2], np.array([2.0, 1.0]), np.eye(2))
    >>> factors.truncate(1).matrix()
    array([[2., 0.],
           [0., 0.],
           [0., 0.]])
    """

    U: np.ndarray  # (n, k), left singular vectors in columns
    s: np.ndarray  # (k,), singular values in descending order
    V: np.ndarray  # (m, k), right singular vectors in columns; V, never V^T

    @property
    def T(self) -> Factors:
        """The factors of the transposed matrix, with signs made canonical for the exchanged sides."""
        return Factors(self.V, self.s, self.U).canonical()

    def truncate(self, k: int) -> Factors:
        """Keep the k leading triplets."""
        return Factors(self.U[:, :k], self.s[:k], self.V[:, :k])

    def canonical(self) -> Factors:
        """Sort by descending singular value and make the largest-magnitude entry of each left vector positive."""
        U, s, V = self.U, self.s, self.V
        if np.any(np.diff(s) > 0):
            order = np.argsort(-s, kind="stable")
            U, s, V = U[:, order], s[order], V[:, order]
        signs = canonical_signs(U)
        if signs.min() < 0:
            U, V = U * signs, V * signs
        return Factors(*map(np.ascontiguousarray, (U, s, V)))  # a view would keep the array it was sliced from alive

    def matrix(self) -> np.ndarray:
        """Return the dense (n, m) matrix U diag(s) V^T."""
        return (self.U * self.s) @ self.V.T


class Side(NamedTuple):
    """Affine map k @ map - offset of kernel values k with the other side, its landmarks or all its points."""

    map: np.ndarray
    offset: np.ndarray


def exact_sides(factors: Factors, means: tuple[Any, Any, Any] | None) -> tuple[Side, Side]:
    """Out-of-sample maps k(x, Z) V / s and k(X, z)^T U / s; if means of K are given, of centred kernel values."""
    inverse = powers(factors.s, -1, max(len(factors.U), len(factors.V)))
    left, right = factors.V * inverse, factors.U * inverse
    if means is None:
        return Side(left, np.zeros_like(factors.s)), Side(right, np.zeros_like(factors.s))
    rows, columns, _ = means
    # Columns of U and V sum to zero only up to rounding, and kernel values with a large mean would magnify the error.
    left, right = left - left.mean(axis=0), right - right.mean(axis=0)
    return Side(left, columns @ left), Side(right, rows @ right)


def powers(s: np.ndarray, exponent: float, points: int) -> np.ndarray:
    """s^exponent, with zero where s is numerically zero for a matrix with this many points."""
    info = np.finfo(s.dtype)
    live = s > max(NULL_VALUE * np.sqrt(points) * info.eps * s[0], info.tiny)
    with np.errstate(over="ignore"):
        found = np.where(live, s, 1) ** float(exponent)
    if not np.isfinite(found).all():
        worst = s[~np.isfinite(found)][0]
        raise ValueError(
            f"the singular value {worst:.3g} to the power {exponent:g}, which scaling asks for, overflows; take a "
            "scaling from 0 to 1, or scale the kernel"
        )
    return np.where(live, found, 0).astype(s.dtype)


def canonical_signs(U: np.ndarray) -> np.ndarray:
    """Sign of each column, 1 or -1, that makes its entry of largest magnitude positive."""
    extremes = in_slabs(_extremes, U, SLAB_ROWS)
    highest, lowest = np.max(extremes, axis=0)
    return np.where(highest >= lowest, 1, -1).astype(U.dtype)


def _extremes(slab: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Largest entry of each column, and of its negative; numpy reduces few long rows faster than many short ones."""
    above = below = slab
    if slab.flags.c_contiguous and len(slab) >= FOLDED_ROWS:
        rest, width = len(slab) % FOLDED_ROWS, slab.shape[1]
        long = slab[rest:].reshape(-1, FOLDED_ROWS * width)
        above, below = (
            np.concatenate([slab[:rest], extreme.reshape(FOLDED_ROWS, width)])
            for extreme in (long.max(axis=0), long.min(axis=0))
        )
    return above.max(axis=0), -below.min(axis=0)
