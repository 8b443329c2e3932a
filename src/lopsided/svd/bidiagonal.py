"""The bases of block Lanczos bidiagonalisation, how they grow and restart, and how near their triplets are."""

from functools import partial

import numpy as np

from .._core import check_finite, frobenius, product, run, safe_unit, slices_of, svd
from ..operators import KernelOperator
from .accuracy import estimated_eta
from .qr import CHUNK_ROWS, least_pivot, length, orthonormalise, qr

RESIDUAL_MARGIN = 10  # times that residuals are below a tolerance on eta
PROBE_COLUMNS = 3  # random columns that must find no further singular value, nor U to have lost its orthogonality
LARGEST_DRIFT = 1e5  # in units of eps, at most sqrt(eps): estimated |U^T U - I| above which U is reorthogonalised
NEGLIGIBLE_LOSS = 0.01  # in units of the residual that is asked for: |U^T U - I| that need not be taken into account
ORTHONORMAL_TO = 100.0  # in units of eps: deviation from orthonormality allowed in the returned vectors


class Bidiagonal:
    """Orthonormal bases with A V = U B and A^T U = V B^T, plus fresh T on the columns ``bound`` of U.

    A is divided by ``unit``, so that squares of its singular values neither overflow nor underflow.
    """

    def __init__(
        self, A: KernelOperator, At: KernelOperator, capacity: int, rng: np.random.Generator, noise: float
    ) -> None:
        self.A, self.At, self.rng = A, At, rng
        self.U = np.empty((A.shape[0], capacity), dtype=A.dtype, order="F")
        self.V = np.empty((A.shape[1], capacity), dtype=A.dtype, order="F")
        self.B = np.zeros((capacity, capacity), dtype=A.dtype)
        self.size, self.info = 0, np.finfo(A.dtype)
        self.precision, self.noise = float(self.info.eps) ** 0.8, noise
        self.most_drift = min(LARGEST_DRIFT * float(self.info.eps), float(self.info.eps) ** 0.5)
        self.drift = float(self.info.eps)

    @property
    def rounding(self) -> float:
        """Residual, relative to the largest singular value, below which no iteration gets."""
        return max(self.precision, self.noise / max(float(self.s[0]), self.info.tiny))

    def random(self, block: int) -> np.ndarray:
        """Return random orthonormal directions orthogonal to V; no column of U is bound to them."""
        self.bound, self.T = slice(0, 0), np.empty((block, 0), dtype=self.V.dtype)
        directions = self.rng.standard_normal((self.V.shape[0], block)).astype(self.V.dtype)
        return orthonormalise(directions, self.V[:, : self.size], 0.0, self.rng)[0]

    def grow(self, fresh: np.ndarray) -> np.ndarray:
        """Append a block to V and its orthonormalised image to U; return the next block for V."""
        old, new = slice(0, self.size), slice(self.size, self.size + fresh.shape[1])
        self.V[:, new] = fresh
        image = self.A._matmat(fresh)
        if not self.size:
            self._set_unit(image)
        self._in_units(image)
        if self.T.size:
            image -= product(self.U[:, self.bound], self.T.T)
        W, R = qr(image)
        if self._drifts_by(R):
            image, self.B[old, new], R = orthonormalise(image, self.U[:, old], self.scale, self.rng)
        else:
            image = W
        self.B[self.bound, new] += self.T.T
        self.B[new, new] = R
        self.U[:, new] = image
        self.size += fresh.shape[1]
        back = self.At._matmat(image)
        self._in_units(back)
        back -= product(fresh, R.T)
        fresh, _, self.T = orthonormalise(back, self.V[:, : self.size], self.scale, self.rng)
        self.bound = new
        return fresh

    def _set_unit(self, image: np.ndarray) -> None:
        """Learn from the first image the unit of A, and whether A is anything but noise."""
        self.unit = safe_unit(image, np.full(1, self.noise, image.dtype))
        self.vanishes = frobenius(image) <= self.noise * image.shape[1] ** 0.5
        self.noise /= float(self.unit)
        self.scale = self.noise / (self.info.eps * max(self.A.shape) ** 0.5)  # of an entry of a perturbation

    def _in_units(self, image: np.ndarray) -> None:
        if self.unit != 1:
            image /= self.unit

    def _drifts_by(self, R: np.ndarray) -> bool:
        """Update the estimate of the loss of orthogonality in U, and return whether the next block loses too much.

        U^T (A v - U T^T) = (I - U^T U) T^T: the next block inherits the loss of the last one, multiplied by |T| / |R|.
        The actual loss is mostly far smaller, but may be larger where U was reorthogonalised against columns that had
        lost their own orthogonality; ``loss`` measures it.
        """
        eps, bond, least = self.info.eps, length(self.T), least_pivot(R)
        self.scale = max(self.scale, bond, length(R), self.info.tiny**0.5)
        lost = bond * self.drift + eps * self.scale
        drifts = bool(lost > self.most_drift * least)
        self.drift = float(eps if drifts else lost / least)
        return drifts

    def look(self, k: int, tol: float, *, careful: bool) -> tuple[float, float]:
        """Solve, and return the residual that is asked for and how far the k leading triplets are from convergence.

        If they have converged, or if it is time to be ``careful``, what U has lost of its orthogonality counts too.
        """
        self.solve()
        residual = max(min(tol, 1.0) / RESIDUAL_MARGIN, self.rounding)
        excess = self.excess(k, residual, tol)
        if (excess <= 1 or careful) and self.loss() > max(self.precision, NEGLIGIBLE_LOSS * residual):
            self.mend()
            excess = self.excess(k, residual, tol)
        return residual, excess

    def solve(self, R: np.ndarray | None = None) -> None:
        """Compute the SVD B = P diag(s) Q^T and the residual |A^T u - s v| of each triplet.

        With U^T U = R^T R given, R B is decomposed and U P made orthonormal, since A V = (U R^-1)(R B).
        """
        B = self.B[: self.size, : self.size]
        B = B if R is None else R @ B
        check_finite(B)
        P, self.s, Qt = svd(B)
        self.P, self.Q = P if R is None else np.linalg.solve(R, P), Qt.T
        self.residuals = np.linalg.norm(self.T @ self.P[self.bound], axis=0)

    def mend(self) -> None:
        """Solve with the inner products that the columns of U have. Cost O(n size^2).

        A^T U has a part V B^T (U^T U - I), which the recurrence takes for zero. A restart would lose it: the triplets
        that it keeps would have residuals that no later step sees.
        """
        U = self.U[:, : self.size]
        try:
            R = np.linalg.cholesky(product(U.T, U)).T
        except np.linalg.LinAlgError:
            R = np.asarray(np.linalg.qr(U, mode="r"))
        self.solve(R)

    def loss(self) -> float:
        """Estimate |U^T U - I| in the Frobenius norm from products with random vectors. Cost O(n size)."""
        U, probes = self.U[:, : self.size], self.rng.standard_normal((self.size, PROBE_COLUMNS)).astype(self.U.dtype)
        return length(product(U.T, product(U, probes)) - probes) / PROBE_COLUMNS**0.5

    def excess(self, k: int, residual: float, eta: float) -> float:
        """How far the k leading triplets are from convergence: at most one if they have converged.

        They have if residuals are below ``residual`` times the largest singular value and the estimated eta is below
        ``eta``; or if residuals are down to rounding, below which no iteration gets.
        """
        largest = float(self.residuals[:k].max() / max(self.s[0], self.info.tiny))
        at_best = largest / self.rounding
        if not eta:
            return at_best
        return min(max(largest / residual, estimated_eta(self.s, self.residuals, k) / eta), at_best)

    def is_leading(self, k: int, residual: float) -> bool:
        """Whether triplet k + 1 is known accurately enough to rule it out of the k leading ones."""
        if self.size <= k:
            return False
        following, unsure = self.s[k], self.residuals[k]
        return bool(following + unsure <= self.s[k - 1] or unsure <= residual**0.5 * self.s[0])

    def shrink(self, size: int) -> None:
        """Thick restart: the leading triplets become the bases, and the next block is bound to all of them."""
        for basis, turn in ((self.U[:, : self.size], self.P[:, :size]), (self.V[:, : self.size], self.Q[:, :size])):
            run(partial(_turn, basis, turn), slices_of(len(basis), CHUNK_ROWS))
        self.B[:] = 0
        np.fill_diagonal(self.B[:size, :size], self.s[:size])
        self.T, self.bound, self.size = self.T @ self.P[self.bound, :size], slice(0, size), size
        self.drift = float(self.info.eps)
        self.P = self.Q = np.eye(size, dtype=self.B.dtype)

    def triplets(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the k leading triplets; the bases are freed, because memory use on large graphs peaks here."""
        U = product(self.U[:, : self.size], self.P[:, :k])
        del self.U
        V = product(self.V[:, : self.size], self.Q[:, :k])
        del self.V
        s = self.s[:k]
        if np.abs(product(U.T, U) - np.eye(k, dtype=U.dtype)).max() > ORTHONORMAL_TO * np.finfo(U.dtype).eps:
            W, R = qr(U * s)  # A V = U diag(s) holds however U has drifted
            P, s, Qt = svd(R)
            U, V = product(W, P), product(V, Qt.T)
        return U, s * (0 if self.vanishes else self.unit), V


def _turn(basis: np.ndarray, turn: np.ndarray, rows: slice) -> None:
    """Replace the first columns of a basis by basis @ turn, in some rows."""
    basis[rows, : turn.shape[1]] = basis[rows] @ turn
