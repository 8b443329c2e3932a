"""The dictionary S of a low-rank kernel E S E^T, near the Nystrom one and near what is known: Zhang et al. (2012)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...exceptions import ConvergenceWarning, warn
from .side_information import SideInformation

GROWTH = 2.0  # times the bound while it does not hold; before the next step it is divided by as much
FIRST_BOUND = 1.0  # on the curvature that a step assumes; the Hessian is at most 2 where classes are known
ROUNDING = 64 * np.finfo(float).eps  # share of the objective by which rounding may raise it


class Dictionary(NamedTuple):
    """A minimiser N and the objective on the way to it."""

    N: np.ndarray
    objectives: np.ndarray
    converged: bool


def learn_dictionary(
    information: SideInformation,
    scales: np.ndarray,
    weight: float,
    *,
    accelerated: bool = True,
    tol: float = 1e-3,
    max_iter: int = 100,
) -> Dictionary:
    """The semidefinite N of least weight |N - N0|^2 + loss(N), N0 = diag(1 / scales) (equation 6).

    It starts at the minimiser among all matrices, which has a closed form; if that is semidefinite it is the solution.
    Else follow projected gradient steps, their length by the rule of Armijo and Goldstein (section 3.4), with
    Nesterov's extrapolation if ``accelerated``. A step that would not descend is taken anew without it, so the
    objective never rises. Cost of a step: one eigenvalue decomposition of size r.

    Steps are taken in other coordinates. In the eigenvectors U of E^T E, whose eigenvalues are p, half the Hessian is
    weight + p_i p_j: badly conditioned where the weight is small. With d_i = (weight + p_i^2)^(-1/4) and
    N = U diag(d) C diag(d) U^T half the Hessian in C is at most 1, by Cauchy and Schwarz, and its condition number is
    the root of what it was. C is semidefinite if and only if N is. Distances in C are near to those in the objective,
    so that the semidefinite C nearest to the closed form is a good start.

    Parameters
    ----------
    information : SideInformation
        Of samples in the coordinates of N.
    scales : array of shape (r,)
        Of the frame.
    weight : float
        Of the prior, positive.
    accelerated : bool, default=True
        Whether steps are extrapolated.
    tol : float, default=1e-3
        Iterations stop when a step lowers the objective by less than this share of it.
    max_iter : int, default=100
        Steps at most; zero gives the start.
    """
    p, U = information.axes
    d = (weight + p**2) ** -0.25
    scale, known, N0 = np.outer(d, d), information.along_axes(), (U.T / scales) @ U

    def objective(C: np.ndarray) -> float:
        change = scale * C - N0
        return weight * float(np.vdot(change, change)) + known.loss(scale * C)

    def gradient(C: np.ndarray) -> np.ndarray:
        N = scale * C
        return 2 * scale * (weight * (N - N0) + known.half_gradient(N))

    def stopped(C: np.ndarray, converged: bool) -> Dictionary:
        return Dictionary(U @ (scale * C) @ U.T, np.array(history), converged)

    free = U.T @ information.minimiser(np.diag(1 / scales), weight) @ U / scale
    C = nearest_semidefinite(free)
    history = [objective(C)]
    if C is free or not max_iter:
        return stopped(C, True)
    before, momentum, bound = C, 1.0, FIRST_BOUND
    for _ in range(max_iter):
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = C + (momentum - 1) / faster * (C - before) if accelerated else C
        found, value, bound = _step(ahead, objective, gradient, bound)
        momentum = faster
        if value > history[-1] and accelerated:
            found, value, bound = _step(C, objective, gradient, bound)
            momentum = 1.0
        if value >= history[-1]:  # what is left to gain is lost in rounding
            return stopped(C, True)
        history.append(value)
        before, C, bound = C, found, bound / GROWTH
        if history[-2] - value <= tol * value:
            return stopped(C, True)
    warn(
        f"the dictionary still improves by {(history[-2] - history[-1]) / history[-1]:.1e} of the objective after "
        f"{max_iter} steps, above tol={tol:g}; raise max_iter or tol",
        ConvergenceWarning,
    )
    return stopped(C, False)


def _step(
    N: np.ndarray,
    objective: Callable[[np.ndarray], float],
    gradient: Callable[[np.ndarray], np.ndarray],
    bound: float,
) -> tuple[np.ndarray, float, float]:
    """A projected gradient step from N of length 1 / bound; the objective there; the bound.

    The bound is raised until the parabola of that curvature through N lies above the objective at the step's end (8).
    """
    slope, value = gradient(N), objective(N)
    while True:
        found = nearest_semidefinite(N - slope / bound)
        change, lower = found - N, objective(found)
        if lower <= value + np.vdot(slope, change) + bound / 2 * np.vdot(change, change) + ROUNDING * value:
            return found, lower, bound
        bound *= GROWTH


def nearest_semidefinite(N: np.ndarray) -> np.ndarray:
    """The semidefinite matrix nearest to a symmetric one in the Frobenius norm (9); itself if it is semidefinite."""
    values, vectors = np.linalg.eigh(N)
    if values[0] >= -len(N) * np.finfo(float).eps * np.abs(values).max():
        return N
    kept = values > 0
    return (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
