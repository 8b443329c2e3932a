"""The saddle system by LU of its blocks: sparse matrices, and the damped solution of any stored one."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg
from scipy import sparse
from scipy.sparse.linalg import splu

from ..._parallel import slices_of
from ...operators.stored import Stored
from .system import BlockwiseSystem, Duals, Saddle, dense_lu, factorised

BATCH_ENTRIES = 1 << 22  # numbers in the solutions with unit vectors that are held at once


class BlockLU(Saddle):
    """LU of S = [I/C, K; K', I/C] for a stored K, and a system of size two for the offsets.

    With damping the solution is (M'M + damping I)^-1 M'r, where M is the matrix of all 2n + 2 unknowns: what the
    authors of the 2023 paper take where M is singular. M is symmetric, so it is the real part of
    (M + i sqrt(damping) I)^-1 r, for which a shift of the diagonal is all that changes.

    Cost: an LU of size 2n, with the fill of S if K is sparse; four times as much with damping.
    """

    def __init__(self, A: Stored, damping: float = 0.0) -> None:
        self.A = A
        self.damping = float(damping)

    @property
    def leaves_one_out(self) -> bool:
        """Whether there is no damping: the damped inverse is not that of a system."""
        return not self.damping

    def at(self, C: float) -> BlockLUSystem:
        """Factorise at one C."""
        shift = 1j * np.sqrt(self.damping) if self.damping else 0.0
        solve = factorised(lambda ridge: _solver(_blocks(self.A.K, ridge + shift), ridge), C)
        return BlockLUSystem(self.A, C, solve, shift)

    def restricted(self, kept: np.ndarray) -> BlockLU:
        """Slice the matrix."""
        return BlockLU(Stored(self.A.K[kept][:, kept]), self.damping)


class BlockLUSystem(BlockwiseSystem):
    """LU factors of the blocks at one C."""

    def __init__(self, A: Stored, C: float, solve: Callable[[np.ndarray], np.ndarray], shift: complex) -> None:
        super().__init__(A, C)
        self._solve = solve
        border = np.zeros((2 * self.n, 2), dtype=type(shift))
        border[: self.n, 0] = border[self.n :, 1] = 1.0
        self._from_border = solve(border)
        self._schur = self._sums(self._from_border) - shift * np.eye(2)

    def solve(self, Y: np.ndarray) -> Duals:
        """One pair of triangular solves a column."""
        x, b = self._unknowns(Y, Y)
        return Duals(x[: len(Y)], x[len(Y) :], b[0], b[1])

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The unknowns without their offsets, which make their sums zero."""
        x, _ = self._unknowns(R1, R2)
        return x[: len(R1)], x[len(R1) :]

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """2n solves with unit vectors, in batches."""
        n = self.A.shape[0]
        aa, cc, ac = np.empty((3, n))
        for rows in slices_of(n, max(1, BATCH_ENTRIES // (2 * n))):
            units = np.eye(n, rows.stop - rows.start, -rows.start)
            (of_a, _), (of_c, _) = self._unknowns(units, 0 * units), self._unknowns(0 * units, units)
            aa[rows], ac[rows] = of_a[:n][rows].diagonal(), of_a[n:][rows].diagonal()
            cc[rows] = of_c[n:][rows].diagonal()
        return aa, cc, ac

    def _unknowns(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """[a; c] and [b1; b2] for the right-hand sides [R1; R2], by elimination of the offsets."""
        x = self._solve(np.concatenate([R1, R2]).astype(self._from_border.dtype))
        b = np.linalg.solve(self._schur, self._sums(x))
        return (x - self._from_border @ b).real, b.real

    def _sums(self, x: np.ndarray) -> np.ndarray:
        """The sums of both halves, (2, k)."""
        return np.stack([x[: self.n].sum(axis=0), x[self.n :].sum(axis=0)])


def _blocks(K: Any, ridge: complex) -> Any:
    """[ridge I, K; K', ridge I], sparse in CSC if K is."""
    n = K.shape[0]
    if not sparse.issparse(K):
        S = np.diag(np.full(2 * n, ridge))
        S[:n, n:], S[n:, :n] = K, K.T
        return S
    left, right = K.tocsr(), K.tocsc()  # column j of S holds the diagonal and row j of K, or a column of K
    counts = np.concatenate([np.diff(left.indptr), np.diff(right.indptr)]) + 1
    indptr = np.concatenate([[0], np.cumsum(counts)])
    others = np.ones(indptr[-1], dtype=bool)
    others[indptr[:-1]] = False
    indices, data = np.empty(indptr[-1], dtype=np.int32), np.empty(indptr[-1], dtype=type(ridge))
    indices[indptr[:-1]], data[indptr[:-1]] = np.arange(2 * n), ridge
    indices[others] = np.concatenate([left.indices + n, right.indices])
    data[others] = np.concatenate([left.data, right.data])
    return sparse.csc_array((data, indices, indptr.astype(np.int32)), shape=(2 * n, 2 * n))


def _solver(S: Any, ridge: float) -> Callable[[np.ndarray], np.ndarray] | None:
    """What solves with S, or None if a pivot vanishes."""
    if sparse.issparse(S):
        try:  # kernels of graphs fill so little that supernodes cost more than they save
            return splu(S, permc_spec="MMD_AT_PLUS_A", relax=1, panel_size=1, options={"Equil": False}).solve
        except RuntimeError:
            return None
    factors = dense_lu(S, ridge)
    return None if factors is None else lambda r: scipy.linalg.lu_solve(factors, r, check_finite=False)
