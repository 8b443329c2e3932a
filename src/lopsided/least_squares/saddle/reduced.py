"""The saddle system of a dense kernel matrix, reduced to half its size by block elimination."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg

from ..._core import centred, centred_twice
from ...operators import KernelOperator, Stored
from .block_lu import BlockLU, BlockLUSystem
from .system import LU, BlockwiseSystem, Saddle, dense_lu, factorised

REFINEMENTS = 8  # maximum number of steps; each must halve the correction, so a few show whether refinement converges
EPS = np.finfo(float).eps
DIGITS = 1e-10  # estimated relative error of the (unrefined) diagonal of the inverse above which BlockLU computes it


class Reduced(Saddle):
    """LU of T = I/C^2 - B B', with B the centred kernel matrix: T a = R1/C - B R2 and c = C (R2 - B'a).

    Forming T squares the condition number, so every solution is refined with residuals of the full system until it no
    longer changes; if refinement fails, :class:`BlockLU` solves the full system. Cost O(n^3): one product and one LU of
    size n, about a third of the cost of :class:`BlockLU`, and the memory of four n x n matrices.
    """

    def __init__(self, A: KernelOperator) -> None:
        self.A = A
        self.K = np.asarray(A.take(), dtype=float)
        self.B = centred_twice(self.K)

    def at(self, C: float) -> ReducedSystem:
        """Factorise T at one C."""
        return ReducedSystem(self, C)

    def restricted(self, kept: np.ndarray) -> Reduced:
        """Restrict to the samples ``kept`` by slicing K."""
        return Reduced(Stored(self.K[kept][:, kept]))


class ReducedSystem(BlockwiseSystem):
    """The system at one C, solved by LU factors of T and iterative refinement."""

    def __init__(self, saddle: Reduced, C: float) -> None:
        super().__init__(saddle.A, C)
        self.B = saddle.B
        self._factors = factorised(self._factorise, C)

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve with T, then refine; fall back to the LU of the full system if refinement does not converge."""
        x = self._half(R1, R2)
        change = 1.0
        for _ in range(REFINEMENTS):
            step = self._half(R1 - self._ridge * x[0] - self.B @ x[1], R2 - self._ridge * x[1] - self.B.T @ x[0])
            before, change = change, np.abs(step).max() / max(np.abs(x).max(), np.finfo(float).tiny)
            if not change < before / 2:
                break
            x += step
            if change * (change / before) < EPS:  # predicted size of the next correction
                break
        return (x[0], x[1]) if change < np.sqrt(EPS) else self._whole.inverse(R1, R2)

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Use N_aa = T^-1 / C, N_ac = -C N_aa B, N_cc = C I + C^2 B' N_aa B, less the contribution of the offsets."""
        n = len(self.B)
        if EPS * np.square(self.C * self.B).sum() > DIGITS:
            return self._whole.blocks()
        Naa = self._ridge * scipy.linalg.lu_solve(self._factors, np.eye(n), check_finite=False)
        NB = Naa @ self.B
        offsets = self.C / n
        cc = self.C + self.C**2 * np.einsum("ji,ji->i", self.B, NB) - offsets
        return Naa.diagonal() - offsets, cc, -self.C * NB.diagonal()

    def _factorise(self, ridge: float) -> LU | None:
        T = self.B @ self.B.T
        T *= -1.0
        T[np.diag_indices(len(T))] += ridge**2
        return dense_lu(T, ridge**2)

    @property
    def _ridge(self) -> float:
        return 1 / self.C

    def _rough_inverse(self, x: np.ndarray) -> np.ndarray:
        return self._half(x[0], x[1])

    def _half(self, R1: np.ndarray, R2: np.ndarray) -> np.ndarray:
        a = centred(scipy.linalg.lu_solve(self._factors, self._ridge * R1 - self.B @ R2, check_finite=False))
        return np.stack([a, centred(self.C * (R2 - self.B.T @ a))])

    @cached_property
    def _whole(self) -> BlockLUSystem:
        return BlockLU(Stored(self.B)).at(self.C)  # B in place of K: same inverse on centred columns, smaller entries
