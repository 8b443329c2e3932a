"""Saddle systems from a singular value decomposition of the kernel matrix: each further C costs only products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ..._core import centred, centred_twice, led_by_ones, slices_of
from ...nystrom import NystromFactors
from ...operators import KernelOperator, LowRank, Stored
from ...svd import Factors, lapack
from .system import BlockwiseSystem, Closeness, Duals, Fold, HeldOut, Saddle, from_blocks, solve_or_nan, unless_drowned

EPS = np.finfo(float).eps
DIGITS = 1e-10  # estimated relative error above which the SVD of B replaces eigenvectors of B B' (squared condition)
NEAR = 0.1  # relative distance of 1/C to a singular value below which C is moved away
BATCH_ENTRIES = 1 << 22  # entries of the solutions for several C held in memory at once, 32 MB in float64


class Spectral(Saddle):
    """Solutions for all C from one SVD B = U diag(s) V' of the centred kernel matrix, full or of low rank.

    With u = U'R1, v = V'R2, p = (u + v) / (1/C + s) and q = (u - v) / (1/C - s),

        a = C R1 + U ((p + q) / 2 - C u),   c = C R2 + V ((p - q) / 2 - C v),

    and if U and V are complete (bases of all vectors that sum to zero), a = U (p + q) / 2 and c = V (p - q) / 2. For
    factors of rank k this is the Woodbury identity: O(n k) for each C and right-hand side, without any n x n array.
    """

    def __init__(self, A: KernelOperator, factors: Factors, complete: bool = False) -> None:
        self.A = A
        self.factors = factors
        self.complete = complete

    @classmethod
    def of_matrix(cls, A: KernelOperator, largest_C: float) -> Spectral:
        """Decompose a dense matrix in O(n^3), twice as fast from eigenvectors of B B' if ``largest_C`` permits it."""
        B = centred_twice(np.asarray(A.take(), dtype=float))
        size = np.linalg.norm(B)
        if size > 0 and EPS * (largest_C * size) ** 2 > DIGITS:
            with_ones = lapack(Stored(led_by_ones(B)), len(B))
            return cls(A, Factors(with_ones.U[:, 1:], with_ones.s[1:], with_ones.V[:, 1:]), complete=True)
        U = np.linalg.eigh(B @ B.T)[1][:, ::-1]
        W = B.T @ U
        s = np.linalg.norm(W, axis=0)
        return cls(A, Factors(U, s, W / np.where(s > 0, s, 1)))

    @classmethod
    def of_factors(cls, factors: Factors) -> Spectral:
        """Centre and decompose U diag(s) V', whose factors need not be orthonormal. Cost O(n k^2)."""
        L, R = factors.U * factors.s, factors.V
        (Q, X), (P, Y) = np.linalg.qr(L - L.mean(axis=0)), np.linalg.qr(R - R.mean(axis=0))
        W, s, Zt = np.linalg.svd(X @ Y.T, full_matrices=False)
        return cls(LowRank(L, R), Factors(Q @ W, s, P @ Zt.T))

    @classmethod
    def of_nystrom(cls, found: NystromFactors) -> Spectral:
        """Use the orthonormal factors of a centred Nystrom approximation. Cost O(n k)."""
        if found.means is None:
            raise ValueError("the approximation must be centred")
        factors, (rows, columns) = found.factors, found.means
        L = np.column_stack([factors.U * factors.s, np.ones_like(rows), rows])
        R = np.column_stack([factors.V, columns - rows.mean(), np.ones_like(columns)])
        return cls(LowRank(L, R), factors)

    def at(self, C: float) -> SpectralSystem:
        """Return the system at one C, without a further factorisation."""
        return SpectralSystem(self, C)

    def clear_of_singular(self, grid: np.ndarray) -> np.ndarray:
        """Adjust a grid of C: a 1/C within 10 % of a singular value moves midway between the two that enclose it."""
        s, ridges = np.sort(self.factors.s), 1 / np.asarray(grid, dtype=float)
        above = np.clip(np.searchsorted(s, ridges), 1, len(s) - 1)
        low, high = s[above - 1], s[above]
        near = np.minimum(np.abs(ridges - low), np.abs(ridges - high)) < NEAR * ridges
        return 1 / np.where(near & (low <= ridges) & (ridges <= high), (low + high) / 2, ridges)

    def restricted(self, kept: np.ndarray) -> Spectral:
        """Restrict to the samples ``kept`` by slicing the matrix, or its factors if it is of low rank."""
        if isinstance(self.A, LowRank):
            return Spectral.of_factors(Factors(self.A.L[kept], np.ones(self.A.L.shape[1]), self.A.R[kept]))
        return Spectral.of_matrix(Stored(self.A.take(kept, kept)), np.inf)

    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """Exact leave-one-out predictions for each C; batches of C share their matrix products."""
        R = centred(centred(Y))
        for some in slices_of(len(grid), BATCH_ENTRIES // Y.size):
            batch = zip(*self.inverse(grid[some], R, R), *self.blocks(grid[some]), strict=True)
            for C, of_one_C in zip(grid[some], batch, strict=True):
                yield unless_drowned(from_blocks(Y, *of_one_C), C, self.factors.s.max(initial=0.0))

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """Exact predictions for left-out folds of f samples from blocks of size 2f: O(n k f) per C for all folds."""
        for C in grid:
            system = self.at(C)
            duals = system.solve(Y)
            source, target = Y.copy(), Y.copy()
            for _, fold in folds:
                residuals = solve_or_nan(system.block(fold), np.concatenate([duals.a[fold], duals.c[fold]]))
                source[fold] -= residuals[: len(fold)]
                target[fold] -= residuals[len(fold) :]
            yield unless_drowned((source, target), C, system.largest())

    def inverse(self, grid: np.ndarray, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for a and c at every C, each of shape (len(grid), n, k)."""
        U, V = self.factors.U, self.factors.V
        u, v = U.T @ R1, V.T @ R2
        sums, gaps = self._denominators(grid)
        p, q = (u + v) / sums[:, :, None], (u - v) / gaps[:, :, None]
        beyond = self._beyond(grid)[:, :, None]
        a, c = _times_each(U, (p + q) / 2 - beyond * u), _times_each(V, (p - q) / 2 - beyond * v)
        return a + beyond * R1, c + beyond * R2

    def blocks(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of the aa, cc and ac blocks of the inverse for every C, each of shape (len(grid), n)."""
        left, right, mixed = self._squares
        own, cross = self.weights(grid)
        beyond = self._beyond(grid)
        offset = beyond * (1 - 1 / len(left))
        return own @ left.T + offset, own @ right.T + offset, cross @ mixed.T

    def weights(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Diagonals of the inverse in the bases U and V for every C: the U-U and the U-V block, shape (len(grid), k).

        The V-V block equals the U-U block. The action of the inverse outside the bases, ``_beyond``, is subtracted.
        """
        sums, gaps = self._denominators(grid)
        return (1 / sums + 1 / gaps) / 2 - self._beyond(grid), (1 / sums - 1 / gaps) / 2

    def _beyond(self, grid: np.ndarray) -> np.ndarray:
        """Eigenvalue of the inverse on vectors orthogonal to the factors, (len(grid), 1): C, or 0 if there are none."""
        return np.zeros((len(grid), 1)) if self.complete else np.asarray(grid, dtype=float)[:, None]

    def _denominators(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """1/C + s and 1/C - s for every C, with zeros of the latter replaced by eps / C."""
        ridge = 1 / np.asarray(grid)[:, None]
        gaps = ridge - self.factors.s
        return ridge + self.factors.s, np.where(gaps == 0, EPS * ridge, gaps)

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        U, V = self.factors.U, self.factors.V
        return U * U, V * V, U * V


def duals_over_landmarks(found: NystromFactors, system: SpectralSystem, Y: np.ndarray) -> Duals:
    """Duals over the landmarks that define the same functions as the duals over all samples.

    f_source(x) = left(x) s V'c + mean(y), where left(x) is a sum over landmarks; f_target(x) has the same form.
    """
    s = found.factors.s[:, None]
    of_target, of_source = (s * along for along in system.along_factors(Y))
    mean = Y.mean(axis=0)
    return Duals(
        a=found.right.map @ of_target,
        c=found.left.map @ of_source,
        b1=mean - found.left.offset @ of_source,
        b2=mean - found.right.offset @ of_target,
    )


class SpectralSystem(BlockwiseSystem):
    """The system at one C, solved through the SVD."""

    def __init__(self, saddle: Spectral, C: float) -> None:
        super().__init__(saddle.A, C)
        self.saddle = saddle

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve by four products with the factors."""
        a, c = self.saddle.inverse(np.array([self.C]), R1, R2)
        return a[0], c[0]

    def along_factors(self, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U'a and V'c of the solution for Y, without forming a and c, whose other components are far larger."""
        R = centred(centred(Y))
        u, v = self.saddle.factors.U.T @ R, self.saddle.factors.V.T @ R
        sums, gaps = self.saddle._denominators(np.array([self.C]))
        p, q = (u + v) / sums.T, (u - v) / gaps.T
        return (p + q) / 2, (p - q) / 2

    def largest(self) -> float:
        """Largest singular value of the centred matrix, known from the SVD."""
        return float(self.saddle.factors.s.max(initial=0.0))

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of the aa, cc and ac blocks of the inverse, by three products."""
        aa, cc, ac = self.saddle.blocks(np.array([self.C]))
        return aa[0], cc[0], ac[0]

    def block(self, fold: np.ndarray) -> np.ndarray:
        """Submatrix of the inverse for the f samples of a fold, shape (2f, 2f). Cost O(k f^2)."""
        U, V, n = self.saddle.factors.U[fold], self.saddle.factors.V[fold], self.n
        own, cross = (weights[0] for weights in self.saddle.weights(np.array([self.C])))
        rest = 0.0 if self.saddle.complete else self.C * (np.eye(len(fold)) - 1 / n)
        mixed = (U * cross) @ V.T
        return np.block([[(U * own) @ U.T + rest, mixed], [mixed.T, (V * own) @ V.T + rest]])

    def closeness(self) -> Closeness:
        """Distance of 1/C to the nearest singular value, known from the SVD."""
        s = self.saddle.factors.s
        gaps = np.abs(1 / self.C - s)
        return Closeness(float(s[gaps.argmin()]), float(s.max()), float(gaps.min() / (1 / self.C + s.max())))


def _times_each(U: np.ndarray, H: np.ndarray) -> np.ndarray:
    """U @ h for every h of an array H of shape (m, k, l), by one product."""
    m, k, many = H.shape
    return (U @ H.transpose(1, 0, 2).reshape(k, m * many)).reshape(-1, m, many).transpose(1, 0, 2)
