"""The compatibility that is learned from a task (alternative a3 of the 2024 paper, C.3).

The kernel matrix G = k(X, Z) compares the rows of a table X (n, p) with Z = X^T C, its p columns mapped to width p. A
linear model, the head, predicts the targets from G V, where V holds leading right singular vectors of G. Two steps
alternate:

    (i) compute V from the Gram matrix G^T G;    (ii) with V fixed, optimise C and the head.

With X = U diag(s) B^T of rank r, every Z = X^T C equals B Q, where Q = diag(s) U^T C can be any matrix with r rows. The
optimisation is over Q, with r p parameters instead of n p, and C = U diag(1 / s) Q has minimum norm among all matrices
that give the same Z. Features are G V sqrt(n) / s, with mean square one, so that one penalty suits all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...exceptions import ConvergenceWarning, NotFiniteError, warn
from .descent import Moving, Problem, Steps

REORDERED = 1.2  # ratio of losses, V from all rows to V from the learning rows, above which the latter is kept

Data = tuple[np.ndarray, np.ndarray]  # samples and targets


class Round(NamedTuple):
    """Losses after one round of both steps, and the learning rate used (zero for L-BFGS)."""

    loss: float
    held_out: float
    rate: float


class LearnedPoints(NamedTuple):
    """Learned points Z, and the head on their features.

    Attributes
    ----------
    points, coordinates : arrays of shapes (p, p) and (r, p)
        Z = B Q, and Q.
    projection : array of shape (p, k)
        Map from kernel values to features.
    weights, bias : arrays of shapes (k, outputs) and (outputs,)
        Parameters of the head.
    loss : float
        Loss of the head on the rows that it was fitted to.
    curve : tuple of Round
        Losses by round, beginning with the initial point.
    """

    points: np.ndarray
    coordinates: np.ndarray
    projection: np.ndarray
    weights: np.ndarray
    bias: np.ndarray
    loss: float
    curve: tuple[Round, ...]


def learn(
    problem: Problem,
    steps: Steps,
    Q: np.ndarray,
    data: Data,
    held_out: Data | None,
    *,
    rounds: int,
    patience: int,
    tol: float,
    say: Callable[[int, Round], None],
) -> LearnedPoints:
    """Alternate the two steps from Q, and keep the round with the lowest held-out loss, or training loss if none.

    Each round ends by solving for V and then for the head, so that the recorded loss is that of the model which would
    be returned. After a round that diverges, learning restarts from the best round with half the learning rate.
    """
    state = best = _solved(problem, Q, *data)
    curve = [_judged(problem, state, held_out, steps.rate)]
    least, since, halvings = _criterion(curve[0]), 0, 0
    say(0, curve[0])
    for number in range(1, rounds + 1):
        moved = _moved(problem, steps, state, data)
        if moved is None:
            steps, halvings, state = steps.slower(), halvings + 1, best
            if halvings > patience:
                break
            continue
        state = moved
        judged = _judged(problem, state, held_out, steps.rate)
        curve.append(judged)
        say(number, judged)
        if _criterion(judged) < least - tol * abs(least):
            best, least, since = state, _criterion(judged), 0
        else:
            since += 1
            if since >= patience:
                break
    if halvings:
        slow = f", the last with steps of {steps.rate:.2g}; lower learning_rate or" if steps.rate else ";"
        warn(
            f"{halvings} rounds diverged and were taken back{slow} scale the data",
            ConvergenceWarning,
        )
    return best._replace(curve=tuple(curve))


def refitted(problem: Problem, found: LearnedPoints, X: np.ndarray, Y: np.ndarray) -> LearnedPoints:
    """Recompute V and the head from all rows, at points Z that were learned from some of them.

    If singular values are close, the SVD on all rows may order vectors differently and drop one that Z was learned for.
    The loss then rises, and V of the learning rows is kept.
    """
    projections = problem.projection(X, found.points), found.projection
    anew, same = (_headed(problem, found.coordinates, projection, X, Y) for projection in projections)
    return anew if anew.loss <= REORDERED * same.loss else same


def _moved(problem: Problem, steps: Steps, state: LearnedPoints, data: Data) -> LearnedPoints | None:
    """Run one round; return None if it overflows or its SVD fails."""
    with np.errstate(over="ignore", invalid="ignore"):
        moved = steps.move(Moving(state.coordinates, state.weights, state.bias), state.projection, *data)
        try:
            return _solved(problem, moved.Q, *data)
        except (NotFiniteError, np.linalg.LinAlgError):
            return None


def _solved(problem: Problem, Q: np.ndarray, X: np.ndarray, Y: np.ndarray) -> LearnedPoints:
    """Compute V by step (i) and the optimal head, for given Q."""
    return _headed(problem, Q, problem.projection(X, problem.basis @ Q), X, Y)


def _headed(problem: Problem, Q: np.ndarray, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> LearnedPoints:
    """Compute the optimal head, for given Q and projection."""
    Z = problem.basis @ Q
    F = problem.features(X, Z, projection)
    weights, bias = problem.loss.head(F, Y, problem.alpha)
    return LearnedPoints(Z, Q, projection, weights, bias, problem.loss.value(F @ weights + bias, Y), ())


def _judged(problem: Problem, state: LearnedPoints, held_out: Data | None, rate: float) -> Round:
    if held_out is None:
        return Round(state.loss, np.nan, rate)
    X, Y = held_out
    F = problem.features(X, state.points, state.projection)
    return Round(state.loss, problem.loss.value(F @ state.weights + state.bias, Y), rate)


def _criterion(judged: Round) -> float:
    return judged.loss if np.isnan(judged.held_out) else judged.held_out
