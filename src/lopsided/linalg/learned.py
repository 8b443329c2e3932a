"""The compatibility that is learned from a task (alternative a3 of the 2024 paper, C.3).

The rows x_i of a table X (n, p) meet its columns as Z = X^T C, p points of width p, in G = k(X, Z), and a linear head
reads G V, V being leading right singular vectors of G. Two steps alternate:

    (i) V from the SVD of G, which costs the Gram matrix G^T G;    (ii) V fixed, C and the head downhill.

With X = U diag(s) B^T every Z = X^T C is B Q, and Q = diag(s) U^T C is any matrix of r rows where r is the rank of X: Q
is what moves, r p numbers instead of n p, and C = U diag(1 / s) Q is the least of the matrices that make the same Z.
Features are G V sqrt(n) / s, of mean square one, so that one penalty suits all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy.optimize import minimize

from .._parallel import slices_of
from ..exceptions import ConvergenceWarning, warn
from ..kernels.base import Kernel
from .factors import powers
from .finite import NotFiniteError, check_finite
from .losses import Loss

ROWS = 1 << 12
INNER_STEPS = 10  # of L-BFGS between two SVDs
DECAY = 0.9, 0.999  # of Adam's two averages
TINY = 1e-8
REORDERED = 1.2  # times the loss with other vectors at which those of all rows are not taken


class Round(NamedTuple):
    """One turn of both steps: the losses after it, and the length of its steps (of Adam; zero for L-BFGS)."""

    loss: float
    held_out: float
    rate: float


@dataclass(frozen=True)
class Moving:
    """What a step moves: Q (r, p), weights (k, outputs) and bias (outputs,) of the head."""

    Q: np.ndarray
    weights: np.ndarray
    bias: np.ndarray

    def flat(self, unit: float = 1.0) -> np.ndarray:
        """All numbers in one array, those of Q in a unit."""
        return np.concatenate([part.ravel() for part in (self.Q / unit, self.weights, self.bias)])

    def like(self, flat: np.ndarray, unit: float = 1.0) -> Moving:
        """Numbers in the shapes of these; those of Q come in a unit."""
        parts, start = [], 0
        for part in (self.Q, self.weights, self.bias):
            parts.append(flat[start : start + part.size].reshape(part.shape))
            start += part.size
        return Moving(parts[0] * unit, *parts[1:])


@dataclass(frozen=True)
class Problem:
    """A kernel with its parameters fixed, the row space of the data, and what is to be minimised.

    Attributes
    ----------
    kernel : Kernel
        Fitted, with a pull-back.
    basis : array of shape (p, r)
        Orthonormal, of the row space of the data.
    loss : Loss
        Of scores against targets.
    k : int
        Right vectors.
    alpha : float
        Penalty on the squares of the head's weights.
    """

    kernel: Kernel
    basis: np.ndarray
    loss: Loss
    k: int
    alpha: float

    def projection(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Step (i): the map V sqrt(n) / s from kernel values to features, shape (p, k)."""
        gram = np.zeros((len(Z), len(Z)))
        for rows in slices_of(len(X), ROWS):
            G = self.kernel.differentiate(X[rows], Z)[0]
            gram += G.T @ G
        check_finite(gram)
        squares, V = np.linalg.eigh(gram)
        s = np.sqrt(np.maximum(squares[::-1][: self.k], 0))
        return V[:, ::-1][:, : self.k] * (np.sqrt(len(X)) * powers(s, -1, len(X)))

    def features(self, X: np.ndarray, Z: np.ndarray, projection: np.ndarray) -> np.ndarray:
        """G V sqrt(n) / s."""
        parts = [self.kernel.differentiate(X[rows], Z)[0] @ projection for rows in slices_of(len(X), ROWS)]
        return np.concatenate(parts)

    def slope(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[float, Moving]:
        """Step (ii): the penalised loss with V fixed, and its gradient."""
        Z = self.basis @ now.Q
        G, pull_back = self.kernel.differentiate(X, Z)
        F = G @ projection
        S = F @ now.weights + now.bias
        of_scores = self.loss.gradient(S, Y)
        of_values = of_scores @ (projection @ now.weights).T
        gradient = Moving(
            self.basis.T @ pull_back(of_values), F.T @ of_scores + self.alpha * now.weights, of_scores.sum(axis=0)
        )
        return self.loss.value(S, Y) + self.alpha / 2 * float(np.sum(now.weights**2)), gradient


class Step(NamedTuple):
    """How to go downhill: takes what moves, the projection and the data; gives what has moved."""

    move: Callable[[Moving, np.ndarray, np.ndarray, np.ndarray], Moving]
    rate: float
    slower: Callable[[], Step]


def unit_of(Q: np.ndarray) -> float:
    """Root mean square of the start, in which steps are as long whatever the unit of the data is."""
    return float(np.sqrt(np.square(Q).mean())) or 1.0


def whole_steps(problem: Problem, unit: float = 1.0) -> Step:
    """A few steps of L-BFGS on all rows, Q measured in a unit."""

    def move(now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = problem.slope(now.like(flat, unit), projection, X, Y)
            return value, gradient.flat(1 / unit)

        found = minimize(objective, now.flat(unit), jac=True, method="L-BFGS-B", options={"maxiter": INNER_STEPS})
        return now.like(found.x, unit)

    return Step(move, 0.0, lambda: whole_steps(problem, unit))


def batch_steps(problem: Problem, batch: int, rate: float, rng: np.random.Generator, unit: float = 1.0) -> Step:
    """One pass over the rows in batches at random, a step of Adam (Kingma and Ba, 2015) for each; Q is in a unit."""
    means: list[np.ndarray] = []
    count = 0

    def move(now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        nonlocal count
        flat = now.flat(unit)
        if not means:
            means.extend((np.zeros_like(flat), np.zeros_like(flat)))
        for rows in _batches(len(X), batch, rng):
            slope = problem.slope(now.like(flat, unit), projection, X[rows], Y[rows])[1].flat(1 / unit)
            count += 1
            for mean, moment, decay in zip(means, (slope, slope**2), DECAY, strict=True):
                mean += (1 - decay) * (moment - mean)
            first, second = (mean / (1 - decay**count) for mean, decay in zip(means, DECAY, strict=True))
            flat = flat - rate * first / (np.sqrt(second) + TINY)
        return now.like(flat, unit)

    return Step(move, rate, lambda: batch_steps(problem, batch, rate / 2, rng, unit))


class Learned(NamedTuple):
    """Points Z (p, p), their coordinates Q, the projection (p, k), the head, its loss, and the way there."""

    points: np.ndarray
    coordinates: np.ndarray
    projection: np.ndarray
    weights: np.ndarray
    bias: np.ndarray
    loss: float
    curve: tuple[Round, ...]


def learn(
    problem: Problem,
    step: Step,
    Q: np.ndarray,
    data: tuple[np.ndarray, np.ndarray],
    held_out: tuple[np.ndarray, np.ndarray] | None,
    *,
    rounds: int,
    patience: int,
    tol: float,
    say: Callable[[int, Round], None],
) -> Learned:
    """Alternate the two steps from Q, and keep the best round: by the held-out loss, or by the loss itself.

    After each round V and then the head are solved for, so that losses of different rounds are those of what would be
    kept. A round that diverges is taken back and its steps are halved.
    """
    state = best = _solved(problem, Q, *data)
    curve = [_judged(problem, state, held_out, step.rate)]
    least, since, halvings = _criterion(curve[0]), 0, 0
    say(0, curve[0])
    for number in range(1, rounds + 1):
        moved = _moved(problem, step, state, data)
        if moved is None:
            step, halvings, state = step.slower(), halvings + 1, best
            if halvings > patience:
                break
            continue
        state = moved
        judged = _judged(problem, state, held_out, step.rate)
        curve.append(judged)
        say(number, judged)
        if _criterion(judged) < least - tol * abs(least):
            best, least, since = state, _criterion(judged), 0
        else:
            since += 1
            if since >= patience:
                break
    if halvings:
        warn(
            f"{halvings} rounds diverged and were taken back, the last with steps of {step.rate:.2g}; lower "
            "learning_rate or scale the data",
            ConvergenceWarning,
        )
    return best._replace(curve=tuple(curve))


def refitted(problem: Problem, found: Learned, X: np.ndarray, Y: np.ndarray) -> Learned:
    """V and the head from all rows, at the points that some of them found.

    Where singular values are close all rows may order their vectors otherwise and lose one that the points were learned
    for; then V stays that of the rows that found them.
    """
    projections = problem.projection(X, found.points), found.projection
    anew, same = (_headed(problem, found.coordinates, projection, X, Y) for projection in projections)
    return anew if anew.loss <= REORDERED * same.loss else same


def _moved(problem: Problem, step: Step, state: Learned, data: tuple[np.ndarray, np.ndarray]) -> Learned | None:
    """One round, or None if it leaves the range of floating-point numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        moved = step.move(Moving(state.coordinates, state.weights, state.bias), state.projection, *data)
        try:
            return _solved(problem, moved.Q, *data)
        except (NotFiniteError, np.linalg.LinAlgError):
            return None


def _solved(problem: Problem, Q: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Learned:
    """Step (i) and the head of least loss, at given points."""
    return _headed(problem, Q, problem.projection(X, problem.basis @ Q), X, Y)


def _headed(problem: Problem, Q: np.ndarray, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Learned:
    """The head of least loss, at given points and with a given projection."""
    Z = problem.basis @ Q
    F = problem.features(X, Z, projection)
    weights, bias = problem.loss.head(F, Y, problem.alpha)
    return Learned(Z, Q, projection, weights, bias, problem.loss.value(F @ weights + bias, Y), ())


def _judged(problem: Problem, state: Learned, held_out: tuple[np.ndarray, np.ndarray] | None, rate: float) -> Round:
    if held_out is None:
        return Round(state.loss, np.nan, rate)
    X, Y = held_out
    F = problem.features(X, state.points, state.projection)
    return Round(state.loss, problem.loss.value(F @ state.weights + state.bias, Y), rate)


def _criterion(judged: Round) -> float:
    return judged.loss if np.isnan(judged.held_out) else judged.held_out


def _batches(n: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    order = rng.permutation(n)
    for rows in slices_of(n, size):
        yield order[rows]
