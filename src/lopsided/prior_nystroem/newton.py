"""Newton steps to the semidefinite optimum of a dictionary, where gradient steps gain no more digits."""

from typing import NamedTuple, Protocol

import numpy as np
from scipy.sparse.linalg import LinearOperator, cg

from .._core import eigh

EPS = float(np.finfo(float).eps)
CONVERGED = 1e5 * EPS  # residual, relative to the point, that counts as converged once steps do not halve it
MOST_STEPS = 50
LAST_STEPS, STALLED_STEPS = 2, 8  # steps that do not halve the residual after which to stop, converged and not
FORCING = 1e-2, 1e-6  # largest and smallest relative residual of conjugate gradients, which follow that of the steps
MOST_PRODUCTS = 1000  # of conjugate gradients in a step


class Quadratic(Protocol):
    """A convex quadratic function of symmetric matrices, whose half Hessian is at most one."""

    def gradient(self, C: np.ndarray) -> np.ndarray:
        """The gradient at C."""

    def hessian(self, D: np.ndarray) -> np.ndarray:
        """Half the Hessian, applied to D."""

    @property
    def curvatures(self) -> np.ndarray:
        """An estimate of the diagonal of half the Hessian, entry by entry."""


class _Point(NamedTuple):
    """X = Q diag(x) Q^T: its positive part C is a point, its negative part stands for minus half the gradient there.

    They are the optimum if the residual, half the gradient at C plus X - C, is zero: then C and the gradient are
    semidefinite and their product is zero.
    """

    X: np.ndarray
    x: np.ndarray
    Q: np.ndarray
    C: np.ndarray
    residual: np.ndarray

    @classmethod
    def of(cls, problem: Quadratic, X: np.ndarray) -> "_Point":
        x, Q = eigh(X)
        C = (Q * np.maximum(x, 0)) @ Q.T
        return cls(X, x, Q, C, problem.gradient(C) / 2 + X - C)

    @property
    def error(self) -> float:
        """Norm of the residual, relative to X."""
        return float(np.linalg.norm(self.residual)) / (float(np.linalg.norm(self.X)) or 1.0)


def newton_steps(problem: Quadratic, C: np.ndarray) -> tuple[np.ndarray, bool]:
    """The semidefinite minimiser near C, and whether the steps converged to it, up to rounding.

    Semismooth Newton steps on the optimality conditions (Qi and Sun, 1993). Cost of a step: an eigendecomposition, and
    some tens of products with the Hessian, each with four products of matrices of size r.
    """
    best = point = _Point.of(problem, C - problem.gradient(C) / 2)
    stalled = 0
    for _ in range(MOST_STEPS):
        point = _Point.of(problem, point.X + _step(problem, point))
        stalled = 0 if point.error < best.error / 2 else stalled + 1
        best = min(best, point, key=lambda one: one.error)
        if stalled >= (LAST_STEPS if best.error < CONVERGED else STALLED_STEPS):
            break
    return best.C, best.error < CONVERGED


def _step(problem: Quadratic, point: _Point) -> np.ndarray:
    """The change of X that removes the residual to first order.

    In the eigenvectors of X, the derivative of C with respect to X is a division, entry by entry, by 1 + bend: bend is
    zero where both eigenvalues are positive, -x_j / x_i where x_i > 0 > x_j, and infinite where both are negative. The
    change of C then solves a positive definite system on the first two blocks.
    """
    x, Q, shape = point.x, point.Q, point.X.shape
    kept = np.maximum(x[:, None], x) > 0
    bend = np.where(kept, np.maximum(-np.minimum(x[:, None], x), 0) / np.maximum(x[:, None], x), 0.0)
    wanted = -_symmetric(Q.T @ point.residual @ Q)
    squares = Q**2
    diagonal = squares.T @ problem.curvatures @ squares + bend

    def curved(D: np.ndarray) -> np.ndarray:
        return _symmetric(Q.T @ problem.hessian(Q @ D @ Q.T) @ Q)  # else rounding grows along skew matrices

    def system(d: np.ndarray) -> np.ndarray:
        D = kept * d.reshape(shape)
        return (kept * curved(D) + bend * D).ravel()

    def preconditioner(d: np.ndarray) -> np.ndarray:
        return (kept * d.reshape(shape) / diagonal).ravel()

    A, M = (LinearOperator((x.size**2,) * 2, matvec=task, dtype=float) for task in (system, preconditioner))
    most, least = FORCING
    rtol = min(most, max(least, point.error))
    D = kept * cg(A, (kept * wanted).ravel(), rtol=rtol, maxiter=MOST_PRODUCTS, M=M)[0].reshape(shape)
    return _symmetric(Q @ np.where(kept, (1 + bend) * D, wanted - curved(D)) @ Q.T)


def _symmetric(A: np.ndarray) -> np.ndarray:
    return (A + A.T) / 2
