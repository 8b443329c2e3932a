"""Saddle systems from one decomposition of the kernel matrix: each further C costs only products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..._core import centred, centred_twice, eigh, led_by_ones, slices_of
from ...operators import KernelOperator, Stored
from ...svd import Factors, lapack
from .system import EPS, Conditioning, Duals, Fold, HeldOut, SaddleFamily, SaddleSystem, without_each

GRAM_ERROR = 1e-10  # estimated relative error above which the SVD of B replaces eigenvectors of B B'
CLEARANCE = 0.1  # relative distance of 1/C to a singular value below which C="auto" moves away
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

    @classmethod
    def of_matrix(cls, A: KernelOperator, largest_C: float, *, symmetric: bool = False) -> Spectral:
        """Decompose a dense matrix in O(n^3), twice as fast from eigenvectors of B B' if ``largest_C`` permits it."""
        B = centred_twice(np.asarray(A.take(), dtype=float))
        if symmetric:
            s, U = (part[..., :-1] for part in eigh(led_by_ones(B)))
            return cls(A, Factors(U, s, U), complete=True, symmetric=True)
        size = np.linalg.norm(B)
        if size > 0 and EPS * (largest_C * size) ** 2 > GRAM_ERROR:
            with_ones = lapack(Stored(led_by_ones(B)), len(B))
            return cls(A, Factors(with_ones.U[:, 1:], with_ones.s[1:], with_ones.V[:, 1:]), complete=True)
        U = eigh(B @ B.T)[1][:, ::-1]
        W = B.T @ U
        s = np.linalg.norm(W, axis=0)
        return cls(A, Factors(U, s, W / np.where(s > 0, s, 1)))

    def at(self, C: float) -> SpectralSystem:
        """Return the system at one C, without a further factorisation."""
        return SpectralSystem(self.A, C, self)

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

    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """Exact leave-one-out predictions for each C; batches of C share their matrix products."""
        R = centred(centred(Y))
        for some in slices_of(len(grid), SOLUTION_ENTRIES // Y.size):
            batch = zip(*self.inverse(grid[some], R, R), *self.inverse_diagonals(grid[some]), strict=True)
            for C, at_one_C in zip(grid[some], batch, strict=True):
                yield self.nan_if_unresolved(without_each(Y, *at_one_C), C, self.largest)

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """Exact predictions for left-out folds of f samples from blocks of size 2f: O(n k f) per C for all folds."""
        for C in grid:
            system = self.at(C)
            duals = system.solve(Y)
            source, target = Y.copy(), Y.copy()
            for _, fold in folds:
                of_source, of_target = system.held_out_residuals(fold, duals)
                source[fold] -= of_source
                target[fold] -= of_target
            yield self.nan_if_unresolved((source, target), C, self.largest)

    def inverse(self, grid: np.ndarray, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for a and c at every C, each of shape (len(grid), n, k)."""
        U, V, beyond = self.factors.U, self.factors.V, self._beyond(grid)[:, :, None]
        u, v = U.T @ R1, V.T @ R2
        Ua, Vc = self.coordinates(grid, u, v)
        return _times_each(U, Ua - beyond * u) + beyond * R1, _times_each(V, Vc - beyond * v) + beyond * R2

    def coordinates(self, grid: np.ndarray, u: np.ndarray, v: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U'a = (p + q) / 2 and V'c = (p - q) / 2 at every C, from u = U'R1 and v = V'R2."""
        sums, gaps = self.eigenvalues(grid)
        p, q = (u + v) / sums[:, :, None], (u - v) / gaps[:, :, None]
        return (p + q) / 2, (p - q) / 2

    def inverse_diagonals(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of the aa, cc and ac blocks of the inverse for every C, each of shape (len(grid), n)."""
        left, right, mixed = self._squares
        own, cross = self.weights(grid)
        offset = self._beyond(grid) * (1 - 1 / len(left))
        return own @ left.T + offset, own @ right.T + offset, cross @ mixed.T

    def weights(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Diagonals of the inverse in the bases U and V for every C: the U-U and the U-V block, shape (len(grid), k).

        The V-V block equals the U-U block. The action of the inverse outside the bases, ``_beyond``, is subtracted.
        """
        sums, gaps = self.eigenvalues(grid)
        return (1 / sums + 1 / gaps) / 2 - self._beyond(grid), (1 / sums - 1 / gaps) / 2

    def eigenvalues(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """1/C + s and 1/C - s for every C, or twice the former if K is symmetric; zeros are replaced by eps / C."""
        ridge = 1 / np.asarray(grid, dtype=float)[:, None]
        sums, gaps = (np.where(e == 0, EPS * ridge, e) for e in (ridge + self.factors.s, ridge - self.factors.s))
        return sums, sums if self.symmetric else gaps

    @cached_property
    def largest(self) -> float:
        """Largest singular value of the centred matrix."""
        return float(np.abs(self.factors.s).max(initial=0.0))

    def _beyond(self, grid: np.ndarray) -> np.ndarray:
        """Eigenvalue of the inverse on vectors orthogonal to the factors, (len(grid), 1): C, or 0 if there are none."""
        return np.zeros((len(grid), 1)) if self.complete else np.asarray(grid, dtype=float)[:, None]

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        U, V = self.factors.U, self.factors.V
        return (U * U,) * 3 if self.symmetric else (U * U, V * V, U * V)


@dataclass(eq=False)
class SpectralSystem(SaddleSystem):
    """The system at one C, solved through the decomposition."""

    family: Spectral

    def __post_init__(self) -> None:
        self.symmetric = self.family.symmetric

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve by four products with the factors."""
        a, c = self.family.inverse(np.array([self.C]), R1, R2)
        return a[0], c[0]

    def held_out_residuals(self, fold: np.ndarray, duals: Duals) -> HeldOut:
        """Residuals N_FF^-1 (a_F, c_F) of the f samples of a fold F; nan if the block is singular. Cost O(k f^2)."""
        U, V, a = self.family.factors.U[fold], self.family.factors.V[fold], duals.a[fold]
        own, cross = (weights[0] for weights in self.family.weights(np.array([self.C])))
        rest = 0.0 if self.family.complete else self.C * (np.eye(len(fold)) - 1 / self.n)
        aa = (U * own) @ U.T + rest
        try:
            if self.symmetric:
                return (np.linalg.solve(aa, a),) * 2
            ac = (U * cross) @ V.T
            block = np.block([[aa, ac], [ac.T, (V * own) @ V.T + rest]])
            source, target = np.split(np.linalg.solve(block, np.concatenate([a, duals.c[fold]])), 2)
        except np.linalg.LinAlgError:
            source = target = np.full_like(a, np.nan)
        return source, target

    def norm_estimate(self) -> float:
        """Largest singular value of the centred matrix, known from the decomposition."""
        return self.family.largest

    def conditioning(self) -> Conditioning:
        """Smallest eigenvalue of the system, known from the decomposition."""
        s = self.family.factors.s
        gaps = np.abs(1 / self.C + s if self.symmetric else 1 / self.C - s)
        nearest, largest = gaps.argmin(), self.family.largest
        return Conditioning(float(abs(s[nearest])), largest, float(gaps[nearest] / (1 / self.C + largest)))


def _times_each(U: np.ndarray, H: np.ndarray) -> np.ndarray:
    """U @ h for every h of an array H of shape (m, k, l), by one product."""
    m, k, many = H.shape
    return (U @ H.transpose(1, 0, 2).reshape(k, m * many)).reshape(-1, m, many).transpose(1, 0, 2)
