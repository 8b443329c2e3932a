"""MINRES for the saddle system of any kernel operator; it needs only matrix products."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from ...exceptions import ConvergenceWarning, warn
from .system import Conditioning, RefittedFamily, SaddleSystem

DEFAULT_TOL = 1e-10  # relative residual
STEPS_PER_UNKNOWN = 20  # iterations after which a small system makes no more progress
MAX_STEPS = 2000  # iterations after which to stop with a ConvergenceWarning
RESIDUAL_MARGIN = 10  # between the residual by the recurrence, which stops the iteration, and the true one
TINY_NORM = np.finfo(float).tiny  # lower bound on norms used as divisors, so that zero columns stay finite


@dataclass(eq=False)
class Minres(RefittedFamily):
    """MINRES on [I/C, B; B', I/C] for all right-hand sides at once; centring is applied as a projection.

    Cost: one product with K and one with K' per iteration, and the memory of a dozen (n, k) arrays. The number of
    iterations grows with C sigma_max; it is small for C below 1 / sigma_max, where the matrix is positive definite.
    """

    tol: float = 0.0  # zero stands for DEFAULT_TOL
    leaves_one_out = False  # the iteration does not compute entries of the inverse

    def at(self, C: float) -> MinresSystem:
        """Return the system at one C, without a factorisation."""
        return MinresSystem(self.A, C, self.tol or DEFAULT_TOL, border=self.border)


@dataclass(eq=False)
class MinresSystem(SaddleSystem):
    """The system at one C, solved by MINRES."""

    tol: float
    _rcond = 1.0  # shown by the last solution

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Iterate until the relative residual of every column is below ``tol``; warn if it is not reached."""
        r = np.stack([R1, R2])
        x, self._rcond = minres(self._multiply, r, self.tol)
        size = np.maximum(_norm(r), TINY_NORM)
        left = float((_norm(r - self._multiply(x)) / size).max(initial=0.0))
        if not left <= RESIDUAL_MARGIN * self.tol:
            largest = max(self.norm_estimate(), TINY_NORM)
            warn(
                f"MINRES left a relative residual of {left:.1e}, above tol={self.tol:g}, at C={self.C:g}; it is "
                f"quick and accurate for C below {1 / largest:.3g}",
                ConvergenceWarning,
            )
        return x[0], x[1]

    def conditioning(self) -> Conditioning:
        """What the last solution has shown of it: the singular value near 1/C is not known, but that there is one."""
        return Conditioning(1 / self.C, self.norm_estimate(), self._rcond)

    def _multiply(self, x: np.ndarray) -> np.ndarray:
        return x / self.C + self._offdiagonal(self.border.centred(x))


def minres(multiply: Callable[[np.ndarray], np.ndarray], r: np.ndarray, tol: float) -> tuple[np.ndarray, float]:
    """MINRES for a symmetric operator on arrays of shape (2, m, k); each of the k columns has its own recurrence.

    Returns the solutions and an estimate of the reciprocal condition number, from the pivots of the recurrence that
    the right-hand sides have excited. See Paige and Saunders (1975).
    """
    x, w, w_before, v_before = (np.zeros_like(r) for _ in range(4))
    size = _norm(r)
    v, beta, residual = r / np.maximum(size, TINY_NORM), np.zeros_like(size), size
    cosine, sine = (np.ones_like(size), np.ones_like(size)), (np.zeros_like(size), np.zeros_like(size))
    least, most = np.inf, 0.0
    for _ in range(min(MAX_STEPS, STEPS_PER_UNKNOWN * r[:, :, 0].size)):
        active = np.abs(residual) > tol * size
        if not active.any():
            break
        p = multiply(v)
        alpha = np.einsum("hik,hik->k", v, p)
        p -= alpha * v + beta * v_before
        beta_next = _norm(p)
        delta = cosine[1] * alpha - cosine[0] * sine[1] * beta
        along = np.maximum(np.hypot(delta, beta_next), TINY_NORM)
        least, most = min(least, along[active].min()), max(most, along[active].max())
        w, w_before = (
            (v - sine[0] * beta * w_before - (sine[1] * alpha + cosine[0] * cosine[1] * beta) * w) / along,
            w,
        )
        cosine, sine = (cosine[1], delta / along), (sine[1], beta_next / along)
        x += cosine[1] * residual * w
        residual = -sine[1] * residual
        v_before, v, beta = v, p / np.maximum(beta_next, TINY_NORM), beta_next
    return x, least / most if most else 1.0


def _norm(x: np.ndarray) -> np.ndarray:
    """Euclidean norms of the k columns, shape (k,)."""
    return np.sqrt(np.einsum("hik,hik->k", x, x))
