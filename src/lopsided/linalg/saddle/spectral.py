"""The saddle systems of a matrix whose singular value decomposition is known: every C for the price of products."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np

from ..._parallel import slices_of
from ...operators.base import KernelOperator
from ...operators.compound import LowRank
from ...operators.stored import Stored
from ..centring import centred, centred_twice, led_by_ones
from ..factors import Factors
from ..landmarks.nystrom import Nystrom
from ..svd.dense import lapack
from .system import BlockwiseSystem, Closeness, Duals, Fold, HeldOut, Saddle, from_blocks, solve_or_nan, unless_drowned

EPS = np.finfo(float).eps
DIGITS = 1e-10  # relative error above which vectors are not taken from B B', which squares singular values
NEAR = 0.1  # of 1/C: singular values no farther away are kept clear of
BATCH_ENTRIES = 1 << 22  # numbers in the solutions for several C that are held at once


class Spectral(Saddle):
    """All C from one decomposition B = U diag(s) V' of the centred kernel matrix, full or of low rank.

    With u = U'R1, v = V'R2, p = (u + v) / (1/C + s) and q = (u - v) / (1/C - s),

        a = C R1 + U ((p + q) / 2 - C u),   c = C R2 + V ((p - q) / 2 - C v),

    and if U and V are complete, bases of all vectors that sum to zero, a = U (p + q) / 2 and c = V (p - q) / 2. Factors
    of rank k make it the identity of Woodbury: O(n k) for each C and right-hand side, and nothing is n x n.
    """

    def __init__(self, A: KernelOperator, factors: Factors, complete: bool = False) -> None:
        self.A = A
        self.factors = factors
        self.complete = complete

    @classmethod
    def of_matrix(cls, A: KernelOperator, largest_C: float) -> Spectral:
        """Decompose a dense matrix: O(n^3), twice as fast by the eigenvectors of B B' where C leaves them accurate."""
        B = centred_twice(np.asarray(A.take(), dtype=float))
        if EPS * (largest_C * np.linalg.norm(B)) ** 2 > DIGITS:
            with_ones = lapack(Stored(led_by_ones(B)), len(B))
            return cls(A, Factors(with_ones.U[:, 1:], with_ones.s[1:], with_ones.V[:, 1:]), complete=True)
        U = np.linalg.eigh(B @ B.T)[1][:, ::-1]
        W = B.T @ U
        s = np.linalg.norm(W, axis=0)
        return cls(A, Factors(U, s, W / np.where(s > 0, s, 1)))

    @classmethod
    def of_factors(cls, factors: Factors) -> Spectral:
        """Centre a matrix U diag(s) V' given by factors that need not be orthonormal. Cost O(n k^2)."""
        L, R = factors.U * factors.s, factors.V
        (Q, X), (P, Y) = np.linalg.qr(L - L.mean(axis=0)), np.linalg.qr(R - R.mean(axis=0))
        W, s, Zt = np.linalg.svd(X @ Y.T, full_matrices=False)
        return cls(LowRank(L, R), Factors(Q @ W, s, P @ Zt.T))

    @classmethod
    def of_nystrom(cls, found: Nystrom) -> Spectral:
        """The centred approximation from landmarks, whose factors are orthonormal already. Cost O(n k)."""
        if found.means is None:
            raise ValueError("the approximation must be centred")
        factors, (rows, columns) = found.factors, found.means
        L = np.column_stack([factors.U * factors.s, np.ones_like(rows), rows])
        R = np.column_stack([factors.V, columns - rows.mean(), np.ones_like(columns)])
        return cls(LowRank(L, R), factors)

    def at(self, C: float) -> SpectralSystem:
        """The system at one C; there is nothing to factorise."""
        return SpectralSystem(self, C)

    def clear_of_singular(self, grid: np.ndarray) -> np.ndarray:
        """Values of C near those given: where 1/C is near a singular value it moves midway to the next one."""
        s, ridges = np.sort(self.factors.s), 1 / np.asarray(grid, dtype=float)
        above = np.clip(np.searchsorted(s, ridges), 1, len(s) - 1)
        low, high = s[above - 1], s[above]
        near = np.minimum(np.abs(ridges - low), np.abs(ridges - high)) < NEAR * ridges
        return 1 / np.where(near & (low <= ridges) & (ridges <= high), (low + high) / 2, ridges)

    def restricted(self, kept: np.ndarray) -> Spectral:
        """Slice the matrix, or the factors if it has no other form."""
        if isinstance(self.A, LowRank):
            return Spectral.of_factors(Factors(self.A.L[kept], np.ones(self.A.L.shape[1]), self.A.R[kept]))
        return Spectral.of_matrix(Stored(self.A.take(kept, kept)), np.inf)

    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """For each C what the functions trained without sample i say of it; many C share their products."""
        R = centred(centred(Y))
        for some in slices_of(len(grid), BATCH_ENTRIES // Y.size):
            batch = zip(*self.inverse(grid[some], R, R), *self.blocks(grid[some]), strict=True)
            for C, of_one_C in zip(grid[some], batch, strict=True):
                yield unless_drowned(from_blocks(Y, *of_one_C), C, self.factors.s.max(initial=0.0))

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """The same for folds of f samples, by blocks of size 2f: O(n k f) for each C and all folds together."""
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
        """Solutions a and c for every C, each of shape (len(grid), n, k)."""
        U, V = self.factors.U, self.factors.V
        u, v = U.T @ R1, V.T @ R2
        sums, gaps = self._denominators(grid)
        p, q = (u + v) / sums[:, :, None], (u - v) / gaps[:, :, None]
        beyond = self._beyond(grid)[:, :, None]
        a, c = _times_each(U, (p + q) / 2 - beyond * u), _times_each(V, (p - q) / 2 - beyond * v)
        return a + beyond * R1, c + beyond * R2

    def blocks(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of the blocks of the inverses for every C, each of shape (len(grid), n)."""
        left, right, mixed = self._squares
        own, cross = self.weights(grid)
        beyond = self._beyond(grid)
        offset = beyond * (1 - 1 / len(left))
        return own @ left.T + offset, own @ right.T + offset, cross @ mixed.T

    def weights(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The inverse in the bases U and V, which is diagonal there, for every C: from U to U, and from U to V.

        That from V to V is as the first. What the inverse does beyond the bases has been subtracted from it.
        """
        sums, gaps = self._denominators(grid)
        return (1 / sums + 1 / gaps) / 2 - self._beyond(grid), (1 / sums - 1 / gaps) / 2

    def _beyond(self, grid: np.ndarray) -> np.ndarray:
        """What the inverse does to vectors beyond the factors, (len(grid), 1): it multiplies by C, if there are any."""
        return np.zeros((len(grid), 1)) if self.complete else np.asarray(grid, dtype=float)[:, None]

    def _denominators(self, grid: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """1/C + s and 1/C - s for every C; the latter never quite zero."""
        ridge = 1 / np.asarray(grid)[:, None]
        gaps = ridge - self.factors.s
        return ridge + self.factors.s, np.where(gaps == 0, EPS * ridge, gaps)

    @cached_property
    def _squares(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        U, V = self.factors.U, self.factors.V
        return U * U, V * V, U * V


def of_landmarks(found: Nystrom, system: SpectralSystem, Y: np.ndarray) -> Duals:
    """Duals of the landmarks that give the same functions as duals of all samples.

    f_source(x) = left(x) s V'c + mean(y), and left(x) is a sum over landmarks; so is f_target(x).
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
    """The decomposition at one C."""

    def __init__(self, saddle: Spectral, C: float) -> None:
        super().__init__(saddle.A, C)
        self.saddle = saddle

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve by four products."""
        a, c = self.saddle.inverse(np.array([self.C]), R1, R2)
        return a[0], c[0]

    def along_factors(self, Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """U'a and V'c of the solution for Y. Beyond the factors a and c are far larger, and would drown them."""
        R = centred(centred(Y))
        u, v = self.saddle.factors.U.T @ R, self.saddle.factors.V.T @ R
        sums, gaps = self.saddle._denominators(np.array([self.C]))
        p, q = (u + v) / sums.T, (u - v) / gaps.T
        return (p + q) / 2, (p - q) / 2

    def largest(self) -> float:
        """The largest singular value, which is known."""
        return float(self.saddle.factors.s.max(initial=0.0))

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of the blocks of the inverse, by three products."""
        aa, cc, ac = self.saddle.blocks(np.array([self.C]))
        return aa[0], cc[0], ac[0]

    def block(self, fold: np.ndarray) -> np.ndarray:
        """The rows and columns of the inverse that belong to some samples, shape (2f, 2f). Cost O(k f^2)."""
        U, V, n = self.saddle.factors.U[fold], self.saddle.factors.V[fold], self.n
        own, cross = (weights[0] for weights in self.saddle.weights(np.array([self.C])))
        rest = 0.0 if self.saddle.complete else self.C * (np.eye(len(fold)) - 1 / n)
        mixed = (U * cross) @ V.T
        return np.block([[(U * own) @ U.T + rest, mixed], [mixed.T, (V * own) @ V.T + rest]])

    def closeness(self) -> Closeness:
        """How near 1/C is to a singular value; all are known."""
        s = self.saddle.factors.s
        gaps = np.abs(1 / self.C - s)
        return Closeness(float(s[gaps.argmin()]), float(s.max()), float(gaps.min() / (1 / self.C + s.max())))


def _times_each(U: np.ndarray, H: np.ndarray) -> np.ndarray:
    """U @ h for every h of a stack (m, k, l), by one product."""
    m, k, many = H.shape
    return (U @ H.transpose(1, 0, 2).reshape(k, m * many)).reshape(-1, m, many).transpose(1, 0, 2)
