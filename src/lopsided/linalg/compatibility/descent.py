"""What a learned compatibility minimises, and two ways downhill: L-BFGS on all rows, Adam on batches of them.

The letters are those of :mod:`lopsided.linalg.compatibility.learned`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from ..._parallel import slices_of
from ...kernels.base import Kernel
from ..factors import powers
from ..finite import check_finite
from .losses import Loss

ROWS = 1 << 12  # rows whose kernel values are held at once
INNER_STEPS = 10  # steps of L-BFGS between two SVDs
DECAY = 0.9, 0.999  # what a step keeps of Adam's two averages
TINY = 1e-8  # added to Adam's root mean square, which is zero where nothing depends on a number; the paper's value


@dataclass(frozen=True)
class Moving:
    """What a step moves: Q (r, p), weights (k, outputs) and bias (outputs,) of the head."""

    Q: np.ndarray
    weights: np.ndarray
    bias: np.ndarray

    def flat(self, unit: float = 1.0) -> np.ndarray:
        """All numbers in one array, those of Q divided by a unit."""
        return np.concatenate([part.ravel() for part in (self.Q / unit, self.weights, self.bias)])

    def like(self, flat: np.ndarray, unit: float = 1.0) -> Moving:
        """The way back: numbers in the shapes of these, those of Q multiplied by the unit."""
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
        """Step (i) applied: G V sqrt(n) / s, shape (n, k)."""
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


class Steps(Protocol):
    """How to go downhill with V fixed."""

    @property
    def rate(self) -> float:
        """How long the steps are, if that is set."""

    def move(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        """What has moved after one round on these rows."""

    def slower(self) -> Steps:
        """The same with shorter steps, from a new beginning."""


@dataclass(frozen=True)
class LBFGS:
    """A few steps of L-BFGS on all rows, Q measured in a unit. They find their own length."""

    problem: Problem
    unit: float = 1.0

    @property
    def rate(self) -> float:
        """Zero stands for none."""
        return 0.0

    def move(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        """Ten steps at most."""

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.problem.slope(now.like(flat, self.unit), projection, X, Y)
            return value, gradient.flat(1 / self.unit)

        start = now.flat(self.unit)
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": INNER_STEPS})
        return now.like(found.x, self.unit)

    def slower(self) -> LBFGS:
        """The same, for it has no rate to lower."""
        return self


class Adam:
    """One pass over the rows in batches at random, a step of Adam (Kingma and Ba, 2015) for each; Q is in a unit.

    The averages of slopes and of their squares go on from one pass to the next.
    """

    def __init__(self, problem: Problem, batch: int, rate: float, rng: np.random.Generator, unit: float = 1.0) -> None:
        self.problem, self.batch, self.rate, self.rng, self.unit = problem, batch, rate, rng, unit
        self._averages: np.ndarray | None = None
        self._count = 0

    def move(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        """One pass."""
        flat = now.flat(self.unit)
        for rows in _batches(len(X), self.batch, self.rng):
            slope = self.problem.slope(now.like(flat, self.unit), projection, X[rows], Y[rows])[1].flat(1 / self.unit)
            flat = flat - self._step(slope)
        return now.like(flat, self.unit)

    def slower(self) -> Adam:
        """Steps of half the length, and averages that begin anew."""
        return Adam(self.problem, self.batch, self.rate / 2, self.rng, self.unit)

    def _step(self, slope: np.ndarray) -> np.ndarray:
        """The mean slope over the root mean square, both freed from the zeros that the averages began with."""
        if self._averages is None:
            self._averages = np.zeros((2, len(slope)), dtype=slope.dtype)
        self._count += 1
        for average, moment, decay in zip(self._averages, (slope, slope**2), DECAY, strict=True):
            average += (1 - decay) * (moment - average)
        mean, square = (
            average / (1 - decay**self._count) for average, decay in zip(self._averages, DECAY, strict=True)
        )
        return self.rate * mean / (np.sqrt(square) + TINY)


def scale_of(Q: np.ndarray) -> float:
    """Root mean square of the start, in which steps are as long whatever the unit of the data is."""
    return float(np.sqrt(np.square(Q).mean())) or 1.0


def _batches(n: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    order = rng.permutation(n)
    for rows in slices_of(n, size):
        yield order[rows]
