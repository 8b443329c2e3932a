"""The compatibility that is learned from a task (alternative a3 of the 2024 paper, C.3).

The rows x_i of a table X (n, p) meet its columns as Z = X^T C, p points of width p, in G = k(X, Z), and a linear head
reads G V, V being leading right singular vectors of G. Two steps alternate:

    (i) V from the SVD of G, which costs the Gram matrix G^T G;    (ii) V fixed, C and the head downhill.

With X = U diag(s) B^T every Z = X^T C is B Q, and Q = diag(s) U^T C is any matrix of r rows where r is the rank of X: Q
is what moves, r p numbers instead of n p, and C = U diag(1 / s) Q is of all matrices that make the same Z the smallest.
Features are G V sqrt(n) / s, of mean square one, so that one penalty suits all of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from ...exceptions import ConvergenceWarning, NotFiniteError, warn
from .descent import Moving, Problem, Steps

REORDERED = 1.2  # times the loss with the vectors that were learned, above which those of all rows are not taken

Data = tuple[np.ndarray, np.ndarray]  # samples and targets


class Round(NamedTuple):
    """One turn of both steps: the losses after it, and the length of its steps (of Adam; zero for L-BFGS)."""

    loss: float
    held_out: float
    rate: float


class LearnedPoints(NamedTuple):
    """Points that were learned, and the head on their features.

    Attributes
    ----------
    points, coordinates : arrays of shapes (p, p) and (r, p)
        Z = B Q, and Q.
    projection : array of shape (p, k)
        From kernel values to features.
    weights, bias : arrays of shapes (k, outputs) and (outputs,)
        The head.
    loss : float
        Of the head on the rows that it was learned from.
    curve : tuple of Round
        The way there, the start first.
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
    """Alternate the two steps from Q, and keep the best round: by the held-out loss, or by the loss itself.

    After each round V and then the head are solved for, so that losses of different rounds are those of what would be
    kept. A round that diverges is taken back and its steps are halved.
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
        warn(
            f"{halvings} rounds diverged and were taken back, the last with steps of {steps.rate:.2g}; lower "
            "learning_rate or scale the data",
            ConvergenceWarning,
        )
    return best._replace(curve=tuple(curve))


def refitted(problem: Problem, found: LearnedPoints, X: np.ndarray, Y: np.ndarray) -> LearnedPoints:
    """V and the head from all rows, at the points that some of them found.

    Where singular values are close all rows may order their vectors otherwise and lose one that the points were learned
    for; then V stays that of the rows that found them.
    """
    projections = problem.projection(X, found.points), found.projection
    anew, same = (_headed(problem, found.coordinates, projection, X, Y) for projection in projections)
    return anew if anew.loss <= REORDERED * same.loss else same


def _moved(problem: Problem, steps: Steps, state: LearnedPoints, data: Data) -> LearnedPoints | None:
    """One round, or None if it leaves the range of floating-point numbers."""
    with np.errstate(over="ignore", invalid="ignore"):
        moved = steps.move(Moving(state.coordinates, state.weights, state.bias), state.projection, *data)
        try:
            return _solved(problem, moved.Q, *data)
        except (NotFiniteError, np.linalg.LinAlgError):
            return None


def _solved(problem: Problem, Q: np.ndarray, X: np.ndarray, Y: np.ndarray) -> LearnedPoints:
    """Step (i) and the head of least loss, at given points."""
    return _headed(problem, Q, problem.projection(X, problem.basis @ Q), X, Y)


def _headed(problem: Problem, Q: np.ndarray, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> LearnedPoints:
    """The head of least loss, at given points and with a given projection."""
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
