"""LU of the full saddle system: for sparse kernel matrices, and for the damped solution with any stored matrix."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.sparse.linalg import splu

from ..._core import slices_of
from ...operators import Stored
from .system import EPS, Duals, RefittedFamily, SaddleSystem, dense_lu, factorised

Solver = Callable[[np.ndarray], np.ndarray]  # right-hand sides to solutions
LARGEST_GROWTH = EPS**-0.75  # of the solution for the offsets' columns, relative to C: beyond it S counts as singular
WORST_GROWTH = EPS**-0.25  # growth from which solutions are refined
REFINEMENTS = 3  # steps; each gains the digits that the growth has left
INVERSE_ENTRIES = 1 << 22  # entries of the inverse held in memory at once, 32 MB in float64


@dataclass(eq=False)
class BlockLU(RefittedFamily):
    """LU of S = [I/C, K; K', I/C] for a stored K, with a 2 x 2 Schur complement for the offsets.

    With damping, the solution is (M'M + damping I)^-1 M'r, where M is the matrix of all 2n + 2 unknowns; the authors
    of the 2023 paper use it when M is singular. Since M is symmetric, this solution is the real part of
    (M + i sqrt(damping) I)^-1 r, so damping only shifts the diagonal by an imaginary number.

    Cost: an LU of size 2n, with the fill-in of S if K is sparse; four times as much with damping (complex arithmetic).
    """

    A: Stored
    damping: float = 0.0

    def __post_init__(self) -> None:
        self.leaves_one_out = not self.damping  # the leave-one-out identity does not hold for the damped solution
        self._shift = 1j * np.sqrt(self.damping) if self.damping else 0.0

    def at(self, C: float) -> BlockLUSystem:
        """Factorise the system at one C."""
        return BlockLUSystem(self.A, C, *factorised(self._factorise, C), self._shift, border=self.border)

    def _factorise(self, ridge: float) -> tuple[Solver, np.ndarray] | None:
        """Factorise S and solve for the columns of the offsets; None if S is singular, to rounding."""
        K = self.A.K if self.weights is None else self.border.scaled(self.A.K)
        solve, n = _solver(_assembled(K, ridge + self._shift), ridge), self.A.shape[0]
        if solve is None:
            return None
        border = np.zeros((2 * n, 2), dtype=type(self._shift))
        border[:n, 0] = border[n:, 1] = self.border.roots[:, 0]
        solved = solve(border)
        return (solve, solved) if np.abs(solved).max() * ridge < LARGEST_GROWTH else None


@dataclass(eq=False)
class BlockLUSystem(SaddleSystem):
    """The system at one C, solved by LU factors of S and a Schur complement."""

    solve_S: Solver
    from_border: np.ndarray  # S^-1 times the two columns of the offsets
    shift: complex

    def __post_init__(self) -> None:
        self._schur = self._sums(self.from_border) - self.shift * np.eye(2)
        self._refines = not self.shift and np.abs(self.from_border).max() > WORST_GROWTH * self.C

    def solve(self, Y: np.ndarray) -> Duals:
        """Solve by one pair of triangular solves for each column of Y."""
        R, r = self.border.roots * Y, self.border.roots
        x, b = self._unknowns(R, R)
        return Duals(r * x[: self.n], r * x[self.n :], b[0], b[1])

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve with the bordered system, whose offsets make solutions orthogonal to the border; drop the offsets."""
        x, _ = self._unknowns(R1, R2)
        return x[: self.n], x[self.n :]

    def inverse_diagonals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Compute the diagonals by 2n solves with unit vectors, in batches."""
        n = self.n
        aa, cc, ac = np.empty((3, n))
        for rows in slices_of(n, INVERSE_ENTRIES // (2 * n)):
            units = np.eye(n, rows.stop - rows.start, -rows.start)
            nothing = np.zeros_like(units)
            (of_a, _), (of_c, _) = self._unknowns(units, nothing), self._unknowns(nothing, units)
            aa[rows], ac[rows] = of_a[:n][rows].diagonal(), of_a[n:][rows].diagonal()
            cc[rows] = of_c[n:][rows].diagonal()
        weights = self.border.roots[:, 0] ** 2
        return weights * aa, weights * cc, weights * ac

    def _unknowns(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for [a; c] and [b1; b2] with right-hand sides [R1; R2] by eliminating the offsets.

        S may be nearly singular where the whole system, with the offsets, is not: if K maps constant vectors to
        constant vectors and C is the reciprocal of that factor. The solution is then refined.
        """
        x, b = self._eliminated(R1, R2, 0.0)
        for _ in range(REFINEMENTS if self._refines else 0):
            a, c = x[: self.n], x[self.n :]
            source, target = self._products(a, c)
            offsets = self.border.roots * b[:, None]  # of both functions, (2, n, k)
            residuals = R1 - a / self.C - source - offsets[0], R2 - c / self.C - target - offsets[1]
            step, change = self._eliminated(*residuals, -self._sums(x))
            x, b = x + step, b + change
        return x.real, b.real

    def _eliminated(self, R1: np.ndarray, R2: np.ndarray, sums: Any) -> tuple[np.ndarray, np.ndarray]:
        """Solve for right-hand sides [R1; R2] and given products of the border with both halves."""
        x = self.solve_S(np.concatenate([R1, R2]).astype(self.from_border.dtype, copy=False))
        b = np.linalg.solve(self._schur, self._sums(x) - sums)
        x -= self.from_border @ b
        return x, b

    def _sums(self, x: np.ndarray) -> np.ndarray:
        """Products of the border with both halves of x, shape (2, k)."""
        r = self.border.roots[:, 0]
        return np.stack([r @ x[: self.n], r @ x[self.n :]])


def _assembled(K: Any, ridge: complex) -> Any:
    """Assemble [ridge I, K; K', ridge I]; a CSC array if K is sparse."""
    n = K.shape[0]
    if not sparse.issparse(K):
        S = np.diag(np.full(2 * n, ridge))
        S[:n, n:], S[n:, :n] = K, K.T
        return S
    left, right = K.tocsr(), K.tocsc()  # a column of S: its diagonal entry and a row or column of K
    counts = np.concatenate([np.diff(left.indptr), np.diff(right.indptr)]) + 1
    indptr = np.concatenate([[0], np.cumsum(counts)])
    diagonal = np.concatenate([indptr[:n], indptr[n + 1 :] - 1])  # first or last in its column: indices are sorted
    others = np.ones(indptr[-1], dtype=bool)
    others[diagonal] = False
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=type(ridge))
    indices[diagonal], data[diagonal] = np.arange(2 * n), ridge
    indices[others] = np.concatenate([left.indices + n, right.indices])
    data[others] = np.concatenate([left.data, right.data])
    return sparse.csc_array((data, indices, indptr.astype(np.int32)), shape=(2 * n, 2 * n))


def _solver(S: Any, ridge: float) -> Solver | None:
    """Factorise S and return a function that solves with it, or None if a pivot is zero to rounding."""
    if sparse.issparse(S):
        try:  # graph kernels have so little fill-in that supernodes cost more than they save
            return splu(S, permc_spec="MMD_AT_PLUS_A", relax=1, panel_size=1, options={"Equil": False}).solve
        except RuntimeError:
            return None
    factors = dense_lu(S, ridge)
    return None if factors is None else lambda r: scipy.linalg.lu_solve(factors, r, check_finite=False)
