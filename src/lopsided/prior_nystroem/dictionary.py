"""Learn the dictionary S of a low-rank kernel E S E^T from side information, after Zhang et al. (2012)."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ..exceptions import ConvergenceWarning, warn
from .side_information import SideInformation

GROWTH = 2.0  # factor of the backtracking: the curvature bound grows by it while too small, and shrinks after a step
FIRST_BOUND = 1.0  # initial curvature bound of a step; with classes the Hessian is at most 2
ROUNDING = 64 * np.finfo(float).eps  # relative increase of the objective that rounding may cause


class Dictionary(NamedTuple):
    """A learned N, the objective at the start and after each step, and whether the iteration converged."""

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
    """Minimise weight |N - N0|^2 + loss(N) over semidefinite N, with N0 = diag(1 / scales) (equation 6).

    The unconstrained minimiser has a closed form; if it is semidefinite, it is the solution. Otherwise its projection
    is the start of projected gradient steps, whose length follows the Armijo-Goldstein rule (section 3.4), with
    Nesterov extrapolation if ``accelerated``. An extrapolated step that would increase the objective is repeated
    without extrapolation, so the objective never increases. Cost of a step: one eigendecomposition of size r.

    The steps are preconditioned. In the eigenvectors U of E^T E, whose eigenvalues are p, half the Hessian is
    weight + p_i p_j, which is badly conditioned for small weights. With d_i = (weight + p_i^2)^(-1/4) and
    N = U diag(d) C diag(d) U^T, half the Hessian in C is at most 1 by the Cauchy-Schwarz inequality, and its condition
    number is the square root of the original one. C is semidefinite if and only if N is. Distances in C approximate
    differences of the objective, so the semidefinite C nearest to the closed form is a good start.

    Parameters
    ----------
    information : SideInformation
        The loss, in the coordinates of N.
    scales : array of shape (r,)
        Scales of the frame.
    weight : float
        Weight of the prior, positive.
    accelerated : bool, default=True
        Whether to use Nesterov extrapolation.
    tol : float, default=1e-3
        Stop when a step lowers the objective by less than this fraction of it.
    max_iter : int, default=100
        Maximum number of steps; zero returns the start.
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
        if value >= history[-1]:  # any further decrease is below rounding error
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
    """Take a projected gradient step of length 1 / bound from N; return the new point, its objective and the bound.

    The bound grows until the quadratic model of that curvature at N is an upper bound of the new objective (8).
    """
    slope, value = gradient(N), objective(N)
    while True:
        found = nearest_semidefinite(N - slope / bound)
        change, lower = found - N, objective(found)
        if lower <= value + np.vdot(slope, change) + bound / 2 * np.vdot(change, change) + ROUNDING * value:
            return found, lower, bound
        bound *= GROWTH


def nearest_semidefinite(N: np.ndarray) -> np.ndarray:
    """Project a symmetric matrix onto the semidefinite ones in the Frobenius norm (9); return N itself if it is one."""
    values, vectors = np.linalg.eigh(N)
    if values[0] >= -len(N) * np.finfo(float).eps * np.abs(values).max():
        return N
    kept = values > 0
    return (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
