"""The saddle system of a symmetric kernel matrix, which reduces to the classical LS-SVM."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property

import numpy as np
import scipy.linalg

from ..._core import centred_twice, led_by_ones
from ...operators import KernelOperator, Stored
from .system import LU, Duals, Fold, HeldOut, Saddle, System, dense_lu, factorised, solve_or_nan, unless_drowned

EPS = np.finfo(float).eps


class Symmetric(Saddle):
    """Systems for K = K', where a = c, b1 = b2 and (I/C + B) a = H y with B the centred kernel matrix.

    The other half of the saddle system, I/C - B, is never needed and may be singular. Cost O(n^3): one factorisation of
    size n or, for many C and for held-out predictions, one eigendecomposition B = U diag(e) U' on the vectors that sum
    to zero.
    """

    def __init__(self, A: KernelOperator, many: bool) -> None:
        self.A = A
        self.many = many
        self.K = np.asarray(A.take(), dtype=float)

    @cached_property
    def B(self) -> np.ndarray:
        """The centred kernel matrix H K H."""
        return centred_twice(self.K)

    @cached_property
    def spectrum(self) -> tuple[np.ndarray, np.ndarray]:
        """Ascending eigenvalues and eigenvectors of the centred matrix, without the constant eigenvector."""
        e, U = np.linalg.eigh(led_by_ones(self.B))
        return e[:-1], U[:, :-1]

    def at(self, C: float) -> SymmetricSystem:
        """Return the system at one C."""
        return SymmetricSystem(self, C)

    def restricted(self, kept: np.ndarray) -> Symmetric:
        """Restrict to the samples ``kept`` by slicing K."""
        return Symmetric(Stored(self.K[kept][:, kept]), self.many)

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """Compute held-out residuals of each fold F as N_FF^-1 a_F, N being the inverse on vectors that sum to zero."""
        U = self.spectrum[1]
        for C in grid:
            system = self.at(C)
            a, held_out = system.solve(Y).a, Y.copy()
            for _, fold in folds:
                held_out[fold] -= solve_or_nan((U[fold] / system.eigenvalues) @ U[fold].T, a[fold])
            yield unless_drowned((held_out, held_out), C, system.largest())


class SymmetricSystem(System):
    """The system I/C + B at one C, solved by the eigendecomposition of B or by LU."""

    def __init__(self, saddle: Symmetric, C: float) -> None:
        super().__init__(saddle.A, C)
        self.saddle = saddle

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve for R1 = R2; a symmetric matrix never has other right-hand sides, and R2 is ignored."""
        if self.saddle.many:
            U = self.saddle.spectrum[1]
            a = U @ ((U.T @ R1) / self.eigenvalues[:, None])
        else:
            a = scipy.linalg.lu_solve(self._factors, R1, check_finite=False)
        return a, a

    def leave_one_out(self, Y: np.ndarray, duals: Duals) -> HeldOut:
        """Compute held-out residuals as a_i / N_ii, N being the inverse on vectors that sum to zero."""
        diagonal = np.square(self.saddle.spectrum[1]) @ (1 / self.eigenvalues)
        with np.errstate(divide="ignore", invalid="ignore"):
            held_out = Y - duals.a / diagonal[:, None]
        return held_out, held_out

    def largest(self) -> float:
        """Largest singular value of the centred matrix, from the eigenvalues if they are computed for many C."""
        return float(np.abs(self.saddle.spectrum[0]).max(initial=0.0)) if self.saddle.many else super().largest()

    def _probe(self) -> np.ndarray:
        """Start vector with equal halves, as a = c."""
        return np.stack(2 * [super()._probe()[0]])

    def _products(self, a: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K c, twice, since K'a = K c."""
        product = self.saddle.K @ c
        return product, product

    @property
    def eigenvalues(self) -> np.ndarray:
        """Eigenvalues of I/C + B, with zeros replaced by eps / C."""
        shifted = self.saddle.spectrum[0] + 1 / self.C
        return np.where(shifted == 0, EPS / self.C, shifted)

    @cached_property
    def _factors(self) -> LU:
        return factorised(self._factorise, self.C)

    def _factorise(self, ridge: float) -> LU | None:
        T = self.saddle.B.copy()
        T[np.diag_indices(len(T))] += ridge
        return dense_lu(T, ridge)
