"""The saddle system of any operator, by minimal residuals: products and nothing else."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from ...exceptions import ConvergenceWarning, warn
from ...operators.base import KernelOperator
from ...operators.stored import Stored
from .system import Closeness, Duals, HeldOut, Saddle, System

TOLERANCE = 1e-10  # relative residual at which to stop
STEPS = 2000  # at most; a warning follows
TINY = np.finfo(float).tiny  # in place of lengths that are zero and divide


class Minres(Saddle):
    """MINRES on [I/C, B; B', I/C] with the centring as a projection, all right-hand sides at once.

    Cost: a product with K and one with K' for each step, memory of a dozen (n, k) arrays. The steps grow with
    C sigma_max; for C below 1 / sigma_max the matrix is positive definite and they are few.

    Parameters
    ----------
    A : KernelOperator of shape (n, n)
    tol : float
        Relative residual at which to stop; 0 is 1e-10.
    kept : array of int, default=None
        The samples to train on; None is all.
    """

    def __init__(self, A: KernelOperator, tol: float = 0.0, kept: np.ndarray | None = None) -> None:
        self.A = A
        self.tol = tol or TOLERANCE
        self.kept = np.arange(A.shape[0]) if kept is None else kept

    @property
    def leaves_one_out(self) -> bool:
        """False: an iteration has no inverse to look into."""
        return False

    def at(self, C: float) -> MinresSystem:
        """The system at one C; there is nothing to factorise."""
        return MinresSystem(self, C)

    def restricted(self, kept: np.ndarray) -> Minres:
        """Slice a matrix; keep any other operator and project onto fewer samples."""
        if isinstance(self.A, Stored):
            return Minres(Stored(self.A.K[kept][:, kept]), self.tol)
        return Minres(self.A, self.tol, self.kept[kept])


class MinresSystem(System):
    """The operator at one C."""

    def __init__(self, saddle: Minres, C: float) -> None:
        super().__init__(saddle.A, C, len(saddle.kept))
        self.saddle = saddle

    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Iterate until every column is solved."""
        x, left = minres(self._multiply, np.stack([R1, R2]), self.saddle.tol)
        if not left <= self.saddle.tol:
            warn(
                f"MINRES stopped after {STEPS} steps with a relative residual of {left:.1e}, above tol="
                f"{self.saddle.tol:g}, at C={self.C:g}; it is quick for C below {1 / self.largest():.3g}",
                ConvergenceWarning,
            )
        return x[0], x[1]

    def leave_one_out(self, Y: np.ndarray, duals: Duals) -> HeldOut:
        """An iteration has no inverse to look into."""
        raise NotImplementedError("minres has no exact leave-one-out; leave folds out")

    def closeness(self) -> Closeness | None:
        """Unknown: the iteration warns by itself if it does not get there."""
        return None

    def _multiply(self, x: np.ndarray) -> np.ndarray:
        return x / self.C + self._offdiagonal(x - x.mean(axis=1, keepdims=True))

    def _products(self, a: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K c and K'a for the samples that are kept, the others being zero."""
        kept = self.saddle.kept
        if len(kept) == self.A.shape[0]:
            return super()._products(a, c)
        wide = np.zeros((2, self.A.shape[0], a.shape[1]))
        wide[0, kept], wide[1, kept] = a, c
        source, target = super()._products(wide[0], wide[1])
        return source[kept], target[kept]


def minres(multiply: Callable[[np.ndarray], np.ndarray], r: np.ndarray, tol: float) -> tuple[np.ndarray, float]:
    """Minimal residuals for a symmetric operator on stacks (2, m, k), each of the k columns with its own recurrence.

    Returns the solutions and the largest relative residual. Paige and Saunders (1975).
    """
    x, w, w_before, v_before = (np.zeros_like(r) for _ in range(4))
    size = _norm(r)
    v, beta, residual = r / np.maximum(size, TINY), np.zeros_like(size), size
    cosine, sine = (np.ones_like(size), np.ones_like(size)), (np.zeros_like(size), np.zeros_like(size))
    for _ in range(STEPS):
        if (np.abs(residual) <= tol * size).all():
            break
        p = multiply(v)
        alpha = np.einsum("hik,hik->k", v, p)
        p -= alpha * v + beta * v_before
        beta_next = _norm(p)
        delta = cosine[1] * alpha - cosine[0] * sine[1] * beta
        along = np.maximum(np.hypot(delta, beta_next), TINY)
        w, w_before = (
            (v - sine[0] * beta * w_before - (sine[1] * alpha + cosine[0] * cosine[1] * beta) * w) / along,
            w,
        )
        cosine, sine = (cosine[1], delta / along), (sine[1], beta_next / along)
        x += cosine[1] * residual * w
        residual = -sine[1] * residual
        v_before, v, beta = v, p / np.maximum(beta_next, TINY), beta_next
    return x, float((np.abs(residual) / np.maximum(size, TINY)).max(initial=0.0))


def _norm(x: np.ndarray) -> np.ndarray:
    """The lengths of the columns."""
    return np.sqrt(np.einsum("hik,hik->k", x, x))
