"""Saddle systems of a dense kernel matrix at a few C, reduced to half their size before an LU."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import scipy.linalg

from ...operators import Stored
from .block_lu import BlockLU, BlockLUSystem
from .system import EPS, LU, RefittedFamily, SaddleSystem, dense_lu, factorised

REFINEMENTS = 8  # maximum number of steps; each must halve the correction, so a few show whether refinement converges
DIAGONAL_ERROR = 1e-10  # estimated relative error of the (unrefined) diagonal of N above which BlockLU computes it


@dataclass(eq=False)
class Dense(RefittedFamily):
    """One LU of size n for each C, about a third of the cost of :class:`BlockLU`; four n x n matrices in memory.

    Exact leave-one-out for K = K' is left to :class:`Spectral`, which costs less.
    """

    symmetric: bool = False

    def __post_init__(self) -> None:
        self.leaves_one_out = not self.symmetric
        self.B = self.border.centred_matrix(np.asarray(self.A.take(), dtype=float))

    def at(self, C: float) -> SaddleSystem:
        """Factorise I/C + B if K = K', and otherwise I/C^2 - B B'."""
        factors = factorised(self._factorise, C)
        if self.symmetric:
            return SymmetricSystem(self.A, C, factors, border=self.border)
        return ReducedSystem(self.A, C, factors, self.B, border=self.border)

    def _factorise(self, ridge: float) -> LU | None:
        if self.symmetric:
            T, shift = self.B.copy(), ridge
        else:
            T, shift = self.B @ self.B.T, ridge**2
            T *= -1.0
        T[np.diag_indices(len(T))] += shift
        return dense_lu(T, shift)


@dataclass(eq=False)
class SymmetricSystem(SaddleSystem):
    """The system of K = K' at one C: LU of I/C + B."""

    factors: LU
    symmetric = True

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for R1 = R2; R2 is ignored."""
        a = scipy.linalg.lu_solve(self.factors, R1, check_finite=False)
        return a, a


@dataclass(eq=False)
class ReducedSystem(SaddleSystem):
    """The system at one C: LU of T = I/C^2 - B B', where T a = R1/C - B R2 and c = C (R2 - B'a).

    Forming T squares the condition number, so every solution is refined with residuals of the full system until it no
    longer changes; if refinement fails, :class:`BlockLU` solves the full system.
    """

    factors: LU
    B: np.ndarray

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve with T, then refine; fall back to the LU of the full system if refinement does not converge."""
        x, ridge, change = self._rough_inverse(R1, R2), 1 / self.C, 1.0
        for _ in range(REFINEMENTS):
            step = self._rough_inverse(R1 - ridge * x[0] - self.B @ x[1], R2 - ridge * x[1] - self.B.T @ x[0])
            before, change = change, np.abs(step).max() / max(np.abs(x).max(), np.finfo(float).tiny)
            if not change < before / 2:
                break
            x += step
            if change * (change / before) < EPS:  # predicted size of the next correction
                break
        return (x[0], x[1]) if change < np.sqrt(EPS) else self._whole.inverse(R1, R2)

    def inverse_diagonals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Use N_aa = T^-1 / C, N_ac = -C N_aa B, N_cc = C I + C^2 B' N_aa B, less the contribution of the offsets."""
        if EPS * np.square(self.C * self.B).sum() > DIAGONAL_ERROR:
            return self._whole.inverse_diagonals()
        Naa = scipy.linalg.lu_solve(self.factors, np.eye(self.n), check_finite=False) / self.C
        NB, offsets, weights = Naa @ self.B, self.C * self.border.unit[:, 0] ** 2, self.border.roots[:, 0] ** 2
        cc = self.C + self.C**2 * np.einsum("ji,ji->i", self.B, NB) - offsets
        return weights * (Naa.diagonal() - offsets), weights * cc, -self.C * weights * NB.diagonal()

    def _rough_inverse(self, R1: np.ndarray, R2: np.ndarray) -> np.ndarray:
        centred = self.border.centred
        a = centred(scipy.linalg.lu_solve(self.factors, R1 / self.C - self.B @ R2, check_finite=False))
        return np.stack([a, centred(self.C * (R2 - self.B.T @ a))])

    @cached_property
    def _whole(self) -> BlockLUSystem:
        r = self.border.roots
        B = Stored(self.B / r / r.T)  # in place of K: same inverse on centred columns, smaller entries
        return BlockLU(B, weights=self.border.weights).at(self.C)
