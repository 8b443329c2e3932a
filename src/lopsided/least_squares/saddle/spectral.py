"""Saddle systems from one decomposition of the kernel matrix: each further C costs only products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from ..._core import eigh, product, slices_of
from ...operators import KernelOperator, Stored
from ...svd import Factors, lapack
from .border import Border
from .system import EPS, Conditioning, Duals, Fold, HeldOut, SaddleFamily, SaddleSystem, without_each

GRAM_ERROR = 1e-10  # estimated relative error up to which eigenvectors of B B' replace the SVD of B
CLEARANCE = 0.1  # relative distance of 1/C to a singular value below which C="auto" moves away
SQUARED_ENTRIES = 1 << 22  # entries of a factor that are squared at once
SOLUTION_ENTRIES = 1 << 22  # entries of the solutions for several C held in memory at once, 32 MB in float64


@dataclass(eq=False)
class Spectral(SaddleFamily):
    """Solutions for all C from one SVD B = U diag(s) V' of the centred kernel matrix, full or of low rank.

    With u = U'R1, v = V'R2, p = (u + v) / (1/C + s) and q = (u - v) / (1/C - s),

        a = C R1 + U ((p + q) / 2 - C u),   c = C R2 + V ((p - q) / 2 - C v),

    and if U and V are complete (bases of all vectors that sum to zero), a = U (p + q) / 2 and c = V (p - q) / 2. For
    factors of rank k this is the Woodbury identity: O(n k) for each C and right-hand side, without any n x n array.

    A symmetric K has eigenvectors, as U and V, and signed eigenvalues s. Then u = v and q = 0: 1/C - s plays no part,
    and 1/C + s stands in for it.
    """

    A: KernelOperator
    factors: Factors
    complete: bool = False
    symmetric: bool = False
    weights: np.ndarray | None = field(default=None, kw_only=True)

    @classmethod
    def of_matrix(
        cls,
        A: KernelOperator,
        largest_C: float,
        *,
        symmetric: bool = False,
        weights: np.ndarray | None = None,
        error: float = GRAM_ERROR,
    ) -> Spectral:
        """Decompose a dense matrix in O(n^3), twice as fast from eigenvectors of B B' if that errs less than ``error``.

        Its relative error in solutions, about eps (C |B|)^2, is largest at ``largest_C``.
        """
        border = Border(A.shape[0], weights)
        B = border.centred_matrix(np.asarray(A.take(), dtype=float))
        if symmetric:
            s, U = (part[..., :-1] for part in eigh(border.led(B)))
            return cls(A, Factors(U, s, U), complete=True, symmetric=True, weights=weights)
        size = np.linalg.norm(B)
        if size > 0 and EPS * (largest_C * size) ** 2 > error:
            found = lapack(Stored(border.led(B)), len(B))
            factors = Factors(found.U[:, 1:], found.s[1:], found.V[:, 1:])
            return cls(A, factors, complete=True, weights=weights)
        U = eigh(B @ B.T)[1]
        W = B.T @ U
        s = np.linalg.norm(W, axis=0)
        return cls(A, Factors(U, s, W / np.where(s > 0, s, 1)), weights=weights)

    def at(self, C: Any) -> SpectralSystem:
        """Return the system at one C, or the systems at an array of C, without a further factorisation."""
        return SpectralSystem(self.A, C, self, border=self.border)

    def clear_of_singular(self, grid: np.ndarray) -> np.ndarray:
        """Adjust a grid of C: a 1/C within 10 % of a singular value moves midway between the two that enclose it.

        A symmetric matrix needs no adjustment, unless it has negative eigenvalues.
        """
        if self.symmetric:
            return grid
        s, ridges = np.sort(self.factors.s), 1 / np.asarray(grid, dtype=float)
        above = np.clip(np.searchsorted(s, ridges), 1, len(s) - 1)
        low, high = s[above - 1], s[above]
        near = np.minimum(np.abs(ridges - low), np.abs(ridges - high)) < CLEARANCE * ridges
        return 1 / np.where(near & (low <= ridges) & (ridges <= high), (low + high) / 2, ridges)

    def definite_up_to(self, C: float) -> bool:
        """Whether the systems at all C up to this one are positive definite, and so are those without some samples."""
        least = self.factors.s.min(initial=0.0) if self.symmetric else -self.largest
        return bool(1 / C + least > 0)

    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """Exact leave-one-out predictions for each C; batches of C share their matrix products."""
        R = self.border.right_hand_sides(Y)
        for part in slices_of(len(grid), SOLUTION_ENTRIES // Y.size):
            systems = self.at(grid[part])
            duals = (self.border.roots * x for x in systems.inverse(R, R))
            source, target = without_each(Y, *duals, *systems.inverse_diagonals())
            for C, *values in zip(grid[part], source, target, strict=True):
                yield self.nan_if_unresolved((values[0], values[1]), C, self.largest)

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """Exact predictions for left-out folds of f samples from blocks of size 2f: O(n k f) per C for all folds."""
        for C in grid:
            system = self.at(C)
            duals, held_out = system.solve(Y), (Y.copy(), Y.copy())
            for _, fold in folds:
                for values, residuals in zip(held_out, system.held_out_residuals(fold, duals), strict=True):
                    values[fold] -= residuals
            yield self.nan_if_unresolved(held_out, C, self.largest)

    @cached_property
    def largest(self) -> float:
        """Largest singular value of the centred matrix."""
        return float(np.abs(self.factors.s).max(initial=0.0))


@dataclass(eq=False)
class SpectralSystem(SaddleSystem):
    """The system at one C, solved through the decomposition; with an array of C, results gain a leading axis."""

    family: Spectral

    def __post_init__(self) -> None:
        self.symmetric, ridge, s = self.family.symmetric, 1 / np.asarray(self.C)[..., None], self.family.factors.s
        self._sums, self._gaps = (np.where(e == 0, EPS * ridge, e) for e in (ridge + s, ridge - s))
        if self.symmetric:
            self._gaps = self._sums
        self._beyond = 0.0 if self.family.complete else self.C  # the inverse on vectors orthogonal to U and V
        # diagonals of the inverse in the bases U and V, less ``_beyond``: the blocks U-U, equal to V-V, and U-V
        self._own = (1 / self._sums + 1 / self._gaps) / 2 - np.asarray(self._beyond)[..., None]
        self._cross = (1 / self._sums - 1 / self._gaps) / 2

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve by two products with each of the factors, of which a symmetric matrix has one."""
        U, V, beyond = self.family.factors.U, self.family.factors.V, np.asarray(self._beyond)[..., None, None]
        u = product(U.T, R1)
        v = u if self.symmetric else product(V.T, R2)
        Ua, Vc = self.coordinates(u, v)
        a = _times_each(U, Ua - beyond * u) + beyond * R1
        return a, a if self.symmetric else _times_each(V, Vc - beyond * v) + beyond * R2

    def coordinates(self, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U'a = (p + q) / 2 and V'c = (p - q) / 2, from u = U'R1 and v = V'R2."""
        p, q = (u + v) / self._sums[..., None], (u - v) / self._gaps[..., None]
        return (p + q) / 2, (p - q) / 2

    def inverse_diagonals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of the aa, cc and ac blocks of the inverse, by a product each with entries of the factors squared.

        If K is symmetric, the first two are equal, and the third is zero.
        """
        U, V, own, cross = self.family.factors.U, self.family.factors.V, self._own[..., None], self._cross[..., None]
        found = np.zeros((3, *self._own.shape[:-1], self.n))
        for rows in slices_of(self.n, SQUARED_ENTRIES // max(1, U.shape[1])):
            found[:2, ..., rows] = _times_each(U[rows] ** 2, own)[..., 0]
            if not self.symmetric:
                found[1, ..., rows] = _times_each(V[rows] ** 2, own)[..., 0]
                found[2, ..., rows] = _times_each(U[rows] * V[rows], cross)[..., 0]
        found[:2] += np.asarray(self._beyond)[..., None] * (1 - self.border.unit[:, 0] ** 2)
        aa, cc, ac = found * self.border.roots[:, 0] ** 2
        return aa, cc, ac

    def held_out_residuals(self, fold: np.ndarray, duals: Duals) -> HeldOut:
        """Residuals N_FF^-1 (a_F, c_F) of the f samples of a fold F; nan if the block is singular. Cost O(k f^2)."""
        r, unit = self.border.roots[fold], self.border.unit[fold]
        U, V, a = r * self.family.factors.U[fold], r * self.family.factors.V[fold], duals.a[fold]
        rest = self._beyond * (np.diag(r[:, 0] ** 2) - r * unit * (r * unit).T)
        aa = (U * self._own) @ U.T + rest
        try:
            if self.symmetric:
                return (np.linalg.solve(aa, a),) * 2
            ac = (U * self._cross) @ V.T
            block = np.block([[aa, ac], [ac.T, (V * self._own) @ V.T + rest]])
            source, target = np.split(np.linalg.solve(block, np.concatenate([a, duals.c[fold]])), 2)
        except np.linalg.LinAlgError:
            source = target = np.full_like(a, np.nan)
        return source, target

    def norm_estimate(self) -> float:
        """Largest singular value of the centred matrix, known from the decomposition."""
        return self.family.largest

    def conditioning(self) -> Conditioning:
        """Smallest eigenvalue of the system, known from the decomposition."""
        s, gaps, largest = self.family.factors.s, np.abs(self._gaps), self.family.largest
        nearest = gaps.argmin()
        return Conditioning(float(abs(s[nearest])), largest, float(gaps[nearest] / (1 / self.C + largest)))


def _times_each(U: np.ndarray, H: np.ndarray) -> np.ndarray:
    """U @ h for h = H, or for every h of an array H of them, by one product."""
    columns = np.moveaxis(H, -2, 0)
    return np.moveaxis(product(U, columns.reshape(len(columns), -1)).reshape(len(U), *columns.shape[1:]), 0, -2)
