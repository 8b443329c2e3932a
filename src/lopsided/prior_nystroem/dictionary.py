"""Learn the dictionary S of a low-rank kernel E S E^T from side information, after Zhang et al. (2012)."""

from typing import NamedTuple

import numpy as np

from .._core import eigh
from ..exceptions import ConvergenceWarning, warn
from ..svd import Choice
from .frames import Frame
from .many_pairs import ManyPairTargets, SideInformation
from .newton import newton_steps
from .side_information import Diagonal, PairTargets

BOUND_GROWTH = 2.0  # factor by which the curvature bound of a step grows while too small, and shrinks after a step
FIRST_BOUND = 1.0  # initial curvature bound of a step; with classes the Hessian is at most 2
OBJECTIVE_ROUNDING = 64 * np.finfo(float).eps  # relative increase of the objective that rounding may cause
HANDOVERS = (1e-3, 1e-6, 1e-9, 0.0)  # with tol=0, decreases after which Newton steps are tried, until they converge


class Dictionary(NamedTuple):
    """A learned N, the objective at the start and after each step, and the solver used, with the reason."""

    N: np.ndarray
    objectives: np.ndarray
    solver: Choice


class Iteration(NamedTuple):
    """How the projected gradient runs and when it stops."""

    solver: str = "accelerated"  # with Nesterov extrapolation; "gradient" is without
    tol: float = 1e-3  # decrease of the objective in the last step, relative to its value; Newton steps follow if zero
    max_iter: int = 100  # steps; zero leave the closed-form start


def solve(frame: Frame, information: SideInformation | None, weight: float, iteration: Iteration) -> Dictionary:
    """The dictionary at a prior weight in units of the loss's curvature: with one set the optimum of (6).

    Without information or at an infinite weight it is that of the Nystrom method.
    """
    if information is None:
        return Dictionary(frame.prior, np.empty(0), Choice("none", "there are no labels or pairs to learn from"))
    if np.isinf(weight):
        return Dictionary(frame.prior, np.empty(0), Choice("none", "the prior weight is infinite"))
    weight *= information.curvature
    if frame.one_set:
        return learn_dictionary(information, frame.scales, weight, iteration)
    return closed_form(information, frame.prior, weight)


def closed_form(information: SideInformation, N0: np.ndarray, weight: float) -> Dictionary:
    """Minimise weight |N - N0|^2 + loss(N) over all N: between two sets there is no constraint (section 3.5)."""
    N = information.minimiser(N0, weight)
    objective = weight * np.vdot(N - N0, N - N0) + information.loss(N)
    return Dictionary(N, np.array([objective]), Choice("closed", "with Z the dictionary is not constrained"))


def learn_dictionary(
    information: SideInformation, scales: np.ndarray, weight: float, iteration: Iteration
) -> Dictionary:
    """Minimise weight |N - N0|^2 + loss(N) over semidefinite N, with N0 = diag(1 / scales) (equation 6).

    The unconstrained minimiser has a closed form; if it is semidefinite, it is the solution. Otherwise its projection
    is the start of projected gradient steps, whose length follows the Armijo-Goldstein rule (section 3.4). An
    extrapolated step that would increase the objective is repeated without extrapolation. Cost of a step: one
    eigendecomposition of size r. The objective is flat at its minimum, so that these steps find only half of the digits
    of N; with tol=0 Newton steps find the others.

    The steps are preconditioned. In the eigenvectors U of E^T E, whose eigenvalues are p, half the Hessian is
    weight + p_i p_j, which is badly conditioned for small weights. With d_i = (weight + p_i^2)^(-1/4) and
    N = U diag(d) C diag(d) U^T, half the Hessian in C is at most 1 by the Cauchy-Schwarz inequality, and its condition
    number is the square root of the original one. C is semidefinite if and only if N is. Distances in C approximate
    differences of the objective, so the semidefinite C nearest to the closed form is a good start.
    """
    p, U = information.axes
    d = (weight + p**2) ** -0.25
    problem = _Preconditioned(information.along_axes(), (U.T / scales) @ U, np.outer(d, d), weight, np.outer(p, p))
    free = U.T @ information.minimiser(np.diag(1 / scales), weight) @ U / problem.scale
    C = nearest_semidefinite(free)
    if np.array_equal(C, free):
        solver = Choice("closed", "the minimiser without the constraint is semidefinite")
        C = C if iteration.tol else newton_steps(problem, C)[0]  # that of many pairs is approximate
        objectives = [problem.objective(C)]
    elif not iteration.max_iter:
        solver = Choice("closed", "max_iter=0 stops at the closed-form start")
        objectives = [problem.objective(C)]
    else:
        solver = Choice(iteration.solver, "the minimiser without the constraint is not semidefinite")
        minimise = _minimise if iteration.tol else _minimise_to_rounding
        C, objectives = minimise(problem, C, iteration)
    return Dictionary(U @ (problem.scale * C) @ U.T, np.array(objectives), solver)


class _Preconditioned(NamedTuple):
    """The objective as a function of C, with N = scale * C in the eigenvectors of E^T E."""

    known: Diagonal | PairTargets | ManyPairTargets
    N0: np.ndarray
    scale: np.ndarray
    weight: float
    known_curvatures: np.ndarray  # of the loss, entry by entry: those of classes, and with pairs as if all were given

    def objective(self, C: np.ndarray) -> float:
        change = self.scale * C - self.N0
        return self.weight * float(np.vdot(change, change)) + self.known.loss(self.scale * C)

    def gradient(self, C: np.ndarray) -> np.ndarray:
        N = self.scale * C
        return 2 * self.scale * (self.weight * (N - self.N0) + self.known.half_gradient(N))

    def hessian(self, D: np.ndarray) -> np.ndarray:
        """Half the Hessian, applied to D."""
        N = self.scale * D
        return self.scale * (self.weight * N + self.known.hessian(N))

    @property
    def curvatures(self) -> np.ndarray:
        """The diagonal of half the Hessian; with pairs, as if all were given."""
        return self.scale**2 * (self.weight + self.known_curvatures)

    def step(self, C: np.ndarray, bound: float) -> tuple[np.ndarray, float, float]:
        """Take a projected gradient step of length 1 / bound; return the new point, its objective and the bound.

        The bound grows until the quadratic model of that curvature at C is an upper bound of the new objective (8).
        """
        slope, value = self.gradient(C), self.objective(C)
        while True:
            found = nearest_semidefinite(C - slope / bound)
            change, lower = found - C, self.objective(found)
            model = value + np.vdot(slope, change) + bound / 2 * np.vdot(change, change)
            if lower <= model + OBJECTIVE_ROUNDING * value or not change.any():
                return found, lower, bound
            bound *= BOUND_GROWTH


class _Descent(NamedTuple):
    """The last point, the objective at the start and after every step, and whether it settled before the last step."""

    C: np.ndarray
    objectives: list[float]
    settled: bool


def _minimise(problem: _Preconditioned, C: np.ndarray, iteration: Iteration) -> tuple[np.ndarray, list[float]]:
    """Gradient steps from C until the objective settles; return the last point and all objectives."""
    C, objectives, settled = _descend(problem, C, iteration)
    if not settled:
        decrease = f"{objectives[-2] / objectives[-1] - 1:.1e} of its value, above tol={iteration.tol:g}"
        last = f"step {iteration.max_iter}, the last, still lowered the objective by {decrease}"
        warn(f"{last}; raise max_iter or tol", ConvergenceWarning)
    return C, objectives


def _minimise_to_rounding(
    problem: _Preconditioned, C: np.ndarray, iteration: Iteration
) -> tuple[np.ndarray, list[float]]:
    """Gradient steps from C until Newton steps from there converge, whose objective is the last that is returned."""
    objectives = [problem.objective(C)]
    for tol in HANDOVERS:
        left = iteration.max_iter - len(objectives) + 1
        C, found, _ = _descend(problem, C, iteration._replace(tol=tol, max_iter=left))
        objectives += found[1:]
        optimum, converged = newton_steps(problem, C)
        if converged:
            return optimum, [*objectives, min(problem.objective(optimum), objectives[-1])]  # an increase is rounding
    said = f"Newton steps did not converge after {len(objectives) - 1} gradient steps, of at most {iteration.max_iter}"
    warn(f"{said}; raise max_iter, or tol above 0", ConvergenceWarning)
    return C, objectives


def _descend(problem: _Preconditioned, C: np.ndarray, iteration: Iteration) -> _Descent:
    """Projected gradient steps from C."""
    accelerated, tol, history = iteration.solver == "accelerated", iteration.tol, [problem.objective(C)]
    before, momentum, bound = C, 1.0, FIRST_BOUND
    for _ in range(iteration.max_iter):
        faster = (1 + np.sqrt(1 + 4 * momentum**2)) / 2
        ahead = C + (momentum - 1) / faster * (C - before) if accelerated else C
        found, value, bound = problem.step(ahead, bound)
        momentum = faster
        if value > history[-1] and accelerated:
            found, value, bound = problem.step(C, bound)
            momentum = 1.0
        if value >= history[-1]:  # any further decrease is below rounding error
            return _Descent(C, history, True)
        history.append(value)
        before, C, bound = C, found, bound / BOUND_GROWTH
        if history[-2] - value <= tol * value:
            return _Descent(C, history, True)
    return _Descent(C, history, False)


def nearest_semidefinite(N: np.ndarray) -> np.ndarray:
    """Project a symmetric matrix onto the semidefinite ones in the Frobenius norm (9); those stay as they are."""
    values, vectors = eigh(N)
    if values.min(initial=0.0) >= -len(N) * np.finfo(float).eps * np.abs(values).max(initial=0.0):
        return N
    kept = values > 0
    return (vectors[:, kept] * values[kept]) @ vectors[:, kept].T
