"""The saddle systems of a matrix whose singular value decomposition is known: every C for the price of products."""

from __future__ import annotations

import numpy as np

from ..operators.base import KernelOperator
from ..operators.compound import LowRank
from ..operators.stored import Stored
from .dense import lapack
from .factors import Factors
from .saddle import BlockwiseSystem, Closeness, Saddle

EPS = np.finfo(float).eps
DIGITS = 1e-10  # accuracy below which vectors are not taken from B B'


class Spectral(Saddle):
    """All C from one decomposition B = U diag(s) V' of the centred kernel matrix, full or of low rank.

    With u = U'R1, v = V'R2, p = (u + v) / (1/C + s) and q = (u - v) / (1/C - s),

        a = C R1 + (C/2) U s (q - p),   c = C R2 - (C/2) V s (q + p).

    Factors of rank k make it the identity of Woodbury: O(n k) for each C and right-hand side, and nothing is n x n.
    """

    def __init__(self, A: KernelOperator, factors: Factors) -> None:
        self.A = A
        self.factors = factors

    @classmethod
    def of_matrix(cls, A: KernelOperator, largest_C: float) -> Spectral:
        """Decompose a dense matrix: O(n^3), twice as fast by the eigenvectors of B B' where C leaves them accurate."""
        K = np.asarray(A.take(), dtype=float)
        B = K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()
        if EPS * (largest_C * np.linalg.norm(B)) ** 2 > DIGITS:
            return cls(A, lapack(Stored(B), len(B)))
        U = np.linalg.eigh(B @ B.T)[1][:, ::-1]
        W = B.T @ U
        s = np.linalg.norm(W, axis=0)
        return cls(A, Factors(U, s, W / np.where(s > 0, s, 1)))

    @classmethod
    def of_factors(cls, factors: Factors) -> Spectral:
        """Centre a matrix U diag(s) V' given by factors that need not be orthonormal. Cost O(n k^2)."""
        L, R = factors.U * factors.s, factors.V
        (Q, X), (P, Y) = np.linalg.qr(L - L.mean(axis=0)), np.linalg.qr(R - R.mean(axis=0))
        W, s, Zt = np.linalg.svd(X @ Y.T)
        return cls(LowRank(L, R), Factors(Q @ W, s, P @ Zt.T))

    def at(self, C: float) -> SpectralSystem:
        """Nothing to factorise."""
        return SpectralSystem(self, C)

    def restricted(self, kept: np.ndarray) -> Spectral:
        """Slice the matrix, or the factors if it has no other form."""
        if isinstance(self.A, LowRank):
            ones = np.ones(self.A.L.shape[1])
            return Spectral.of_factors(Factors(self.A.L[kept], ones, self.A.R[kept]))
        return Spectral.of_matrix(Stored(self.A.take(kept, kept)), np.inf)


class SpectralSystem(BlockwiseSystem):
    """The decomposition at one C."""

    def __init__(self, saddle: Spectral, C: float) -> None:
        super().__init__(saddle.A, C)
        self.factors = saddle.factors
        ridge, s = 1 / self.C, self.factors.s
        gap = ridge - s
        self._sum, self._gap = ridge + s, np.where(gap == 0, EPS * ridge, gap)

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Four thin products."""
        U, s, V = self.factors.U, self.factors.s[:, None], self.factors.V
        u, v = U.T @ R1, V.T @ R2
        p, q = (u + v) / self._sum[:, None], (u - v) / self._gap[:, None]
        half = self.C / 2
        return self.C * R1 + U @ (half * s * (q - p)), self.C * R2 - V @ (half * s * (q + p))

    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals of products of three matrices. Cost O(n k)."""
        U, s, V = self.factors.U, self.factors.s, self.factors.V
        squares = s**2 / (self._sum * self._gap)
        own = self.C * (1 - 1 / len(U))
        aa, cc = (own + self.C * (np.square(side) @ squares) for side in (U, V))
        return aa, cc, (U * V) @ (-s / (self._sum * self._gap))

    def closeness(self) -> Closeness:
        """Look at the singular values."""
        s = self.factors.s
        nearest = s[np.abs(self._gap).argmin()]
        return Closeness(float(nearest), float(s[0]), float(np.abs(self._gap).min() / self._sum[0]))
