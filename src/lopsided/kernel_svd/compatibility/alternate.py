"""The compatibility that is learned from a task (alternative a3 of the 2024 paper, C.3).

The kernel matrix G = k(X, Z) compares the rows of a table X (n, p) with Z = X^T C, its p columns mapped to width p. A
linear model, the head, predicts the targets from G V, where V holds leading right singular vectors of G. Two steps
alternate:

    (i) compute V from the Gram matrix G^T G;    (ii) with V fixed, optimise C and the head.

With X = U diag(s) B^T of rank r, every Z = X^T C equals B Q, where Q = diag(s) U^T C can be any matrix with r rows. The
optimisation is over Q, with r p parameters instead of n p, and C = U diag(1 / s) Q has minimum norm among all matrices
that give the same Z. Features are G V sqrt(n) / s, with mean square one, so that one penalty suits all of them.
"""

import sys
from typing import NamedTuple

import numpy as np

from ..._core import counted
from ...exceptions import ConvergenceWarning, NotFiniteError, warn
from .descent import LBFGS, Adam, Parameters, Problem
from .samples import Samples

# A guard: `python benchmarks/general_table3.py ablation` shows no difference beyond noise between any of its values.
MAX_LOSS_RATIO = 1.2  # loss with V from all rows over that with V from the learning rows, above which the latter stays


class Round(NamedTuple):
    """Losses after one round of both steps, and the learning rate used (zero for L-BFGS)."""

    loss: float
    held_out: float
    rate: float

    @property
    def criterion(self) -> float:
        """The loss that selects the best round: of the held-out rows if there are any."""
        return self.loss if np.isnan(self.held_out) else self.held_out


class Solved(NamedTuple):
    """Parameters with their optimal head, the map from kernel values to features, and the loss on the rows used."""

    parameters: Parameters
    projection: np.ndarray
    loss: float


class Stopping(NamedTuple):
    """When to stop: after ``rounds``, or after ``patience`` of them that lower the loss by less than this share."""

    rounds: int
    patience: int
    min_improvement: float
    verbose: bool = False  # whether to write the losses of every round to stderr


def alternate(
    problem: Problem,
    optimizer: LBFGS | Adam,
    Q: np.ndarray,
    data: Samples,
    held_out: Samples | None,
    stopping: Stopping,
) -> tuple[Solved, tuple[Round, ...]]:
    """Alternate the two steps from Q, and keep the round with the lowest held-out loss, or training loss if none.

    Each round ends by solving for V and then for the head, so that the recorded loss is that of the model which would
    be returned. After a round that diverges, learning restarts from the best round with half the learning rate. The
    second result holds the losses by round, beginning with the initial point.
    """
    rounds, patience, min_improvement, verbose = stopping
    state = best = _solve(problem, Q, data)
    curve = [_evaluate(problem, state, held_out, optimizer.rate)]
    least, unimproved, halvings = curve[0].criterion, 0, 0
    _report(verbose, 0, curve[0])
    for number in counted(range(1, rounds + 1), "rounds", rounds):
        try:
            with np.errstate(over="ignore", invalid="ignore"):
                moved, optimizer = optimizer.move(state.parameters, state.projection, data)
                state = _solve(problem, moved.Q, data)
        except (NotFiniteError, np.linalg.LinAlgError):
            optimizer, halvings, state = optimizer.slower(), halvings + 1, best
            if halvings > patience:
                break
            continue
        curve.append(_evaluate(problem, state, held_out, optimizer.rate))
        _report(verbose, number, curve[-1])
        if curve[-1].criterion < least - min_improvement * abs(least):
            best, least, unimproved = state, curve[-1].criterion, 0
        else:
            unimproved += 1
        if unimproved >= patience:
            break
    if halvings:
        slow = f", the last with steps of {optimizer.rate:.2g}; lower learning_rate or" if optimizer.rate else ";"
        warn(f"{halvings} rounds diverged and were undone{slow} scale the data", ConvergenceWarning)
    return best, tuple(curve)


def refit(problem: Problem, found: Solved, data: Samples) -> Solved:
    """Recompute V and the head from all rows, at points Z that were learned from some of them.

    If singular values are close, this may drop a vector that Z was learned for. The loss then rises, and V is kept.
    """
    anew = _solve(problem, found.parameters.Q, data)
    same = _solve_head(problem, found.parameters.Q, found.projection, data)
    return anew if anew.loss <= MAX_LOSS_RATIO * same.loss else same


def _solve(problem: Problem, Q: np.ndarray, data: Samples) -> Solved:
    """Compute V by step (i) and the optimal head, for given Q."""
    return _solve_head(problem, Q, problem.projection(data, problem.basis @ Q), data)


def _solve_head(problem: Problem, Q: np.ndarray, projection: np.ndarray, data: Samples) -> Solved:
    F, Y = problem.features(data, problem.basis @ Q, projection), data.targets
    weights, bias = problem.loss.head(F, Y, problem.alpha)
    return Solved(Parameters(Q, weights, bias), projection, problem.loss.value(F @ weights + bias, Y))


def _evaluate(problem: Problem, state: Solved, held_out: Samples | None, rate: float) -> Round:
    if held_out is None:
        return Round(state.loss, np.nan, rate)
    Q, weights, bias = state.parameters
    F = problem.features(held_out, problem.basis @ Q, state.projection)
    return Round(state.loss, problem.loss.value(F @ weights + bias, held_out.targets), rate)


def _report(verbose: bool, number: int, found: Round) -> None:
    if verbose:
        sys.stderr.write(f"round {number}: loss {found.loss:.6g}, held out {found.held_out:.6g}\n")
