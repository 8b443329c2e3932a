"""The saddle system of a dense matrix, reduced to half its size."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import scipy.linalg

from ...operators.base import KernelOperator
from ...operators.stored import Stored
from ..centring import centred, centred_twice
from .block_lu import BlockLU, BlockLUSystem
from .system import LU, BlockwiseSystem, Saddle, dense_lu, factorised

REFINEMENTS = 8  # steps at most; as each must halve the change to go on, a few show whether they lead anywhere
EPS = np.finfo(float).eps
DIGITS = 1e-10  # relative error of the inverse's diagonal, which is not refined, above which the blocks are factorised


class Reduced(Saddle):
    """LU of T = I/C^2 - B B', with B the centred kernel matrix: T a = R1/C - B R2 and c = C (R2 - B'a).

    T squares what is ill conditioned, so every answer is refined with residuals of the system itself until it no longer
    changes; where that fails, the blocks are factorised as they are. Cost O(n^3): a product and an LU of size n, about
    a third of what the LU of the blocks takes; memory of four matrices.
    """

    def __init__(self, A: KernelOperator) -> None:
        self.A = A
        self.K = np.asarray(A.take(), dtype=float)
        self.B = centred_twice(self.K)

    def at(self, C: float) -> ReducedSystem:
        """Factorise at one C."""
        return ReducedSystem(self, C)

    def restricted(self, kept: np.ndarray) -> Reduced:
        """Slice the matrix."""
        return Reduced(Stored(self.K[kept][:, kept]))


class ReducedSystem(BlockwiseSystem):
    """LU factors of T at one C, and the residuals that mend what T loses."""

    def __init__(self, saddle: Reduced, C: float) -> None:
        super().__init__(saddle.A, C)
        self.B = saddle.B
        self._factors = factorised(self._factorise, C)

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve with T, then refine."""
        x = self._half(R1, R2)
        change = 1.0
        for _ in range(REFINEMENTS):
            step = self._half(R1 - self._ridge * x[0] - self.B @ x[1], R2 - self._ridge * x[1] - self.B.T @ x[0])
            before, change = change, np.abs(step).max() / max(np.abs(x).max(), np.finfo(float).tiny)
            if not change < before / 2:
                break
            x += step
            if change * (change / before) < EPS:  # the size of the step that would come next
                break
        return (x[0], x[1]) if change < np.sqrt(EPS) else self._whole.inverse(R1, R2)

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """From N_aa = T^-1 / C, N_ac = -C N_aa B and N_cc = C I + C^2 B' N_aa B, less the part of the offsets."""
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
        return BlockLU(Stored(self.B)).at(self.C)  # which has the same inverse, and smaller entries
