"""Objective of a learned compatibility, and two optimisers: L-BFGS on all rows and Adam on minibatches.

The notation is that of :mod:`lopsided.kernel_svd.compatibility.alternate`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Protocol

import numpy as np
from scipy.optimize import minimize

from ..._core import check_finite, in_unit, safe_unit, slices_of
from ...kernels import Kernel
from ...svd import powers
from .losses import Loss

ROWS = 1 << 12  # rows whose kernel values are held in memory at once
INNER_STEPS = 10  # L-BFGS iterations between two SVDs
DECAY = 0.9, 0.999  # decay rates of Adam's first and second moments
TINY = 1e-8  # added to Adam's root mean square, which is zero for an unused parameter; the paper's value


@dataclass(frozen=True)
class Moving:
    """Parameters that are optimised: Q (r, p), and weights (k, outputs) and bias (outputs,) of the head."""

    Q: np.ndarray
    weights: np.ndarray
    bias: np.ndarray

    def flat(self, unit: float = 1.0) -> np.ndarray:
        """Concatenate all parameters in a vector, with Q divided by ``unit``."""
        return np.concatenate([part.ravel() for part in (self.Q / unit, self.weights, self.bias)])

    def like(self, flat: np.ndarray, unit: float = 1.0) -> Moving:
        """Inverse of :meth:`flat`: parameters in the shapes of these, with Q multiplied by ``unit``."""
        parts, start = [], 0
        for part in (self.Q, self.weights, self.bias):
            parts.append(flat[start : start + part.size].reshape(part.shape))
            start += part.size
        return Moving(parts[0] * unit, *parts[1:])


@dataclass(frozen=True)
class Problem:
    """The optimisation problem: a fitted kernel, a basis of the row space of the data, and the penalised loss.

    Attributes
    ----------
    kernel : Kernel
        Fitted kernel with a pull-back.
    basis : array of shape (p, r)
        Orthonormal basis of the row space of the data.
    loss : Loss
        Loss of scores against targets.
    k : int
        Number of right singular vectors.
    alpha : float
        L2 penalty on the weights of the head.
    """

    kernel: Kernel
    basis: np.ndarray
    loss: Loss
    k: int
    alpha: float

    def projection(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Step (i): compute the map V sqrt(n) / s from kernel values to features, shape (p, k)."""
        gram, unit = np.zeros((len(Z), len(Z))), None
        for rows in slices_of(len(X), ROWS):
            G = self.kernel.differentiate(X[rows], Z)[0].astype(float, copy=False)
            unit = safe_unit(G) if unit is None else unit
            G = in_unit(G, unit)
            gram += G.T @ G
        check_finite(gram)
        squares, V = np.linalg.eigh(gram)
        s = np.sqrt(np.maximum(squares[::-1][: self.k], 0))
        return V[:, ::-1][:, : self.k] * (np.sqrt(len(X)) * powers(s, -1, len(X)) / (1.0 if unit is None else unit))

    def features(self, X: np.ndarray, Z: np.ndarray, projection: np.ndarray) -> np.ndarray:
        """Features G V sqrt(n) / s of shape (n, k), for the map ``projection`` of step (i)."""
        parts = [self.kernel.differentiate(X[rows], Z)[0] @ projection for rows in slices_of(len(X), ROWS)]
        return np.concatenate(parts)

    def slope(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[float, Moving]:
        """Step (ii): value and gradient of the penalised loss, with V fixed."""
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
    """Optimiser of the penalised loss with V fixed."""

    @property
    def rate(self) -> float:
        """Learning rate; zero for an optimiser without one."""

    def move(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        """Return the parameters after one round of optimisation on these rows."""

    def slower(self) -> Steps:
        """Return the optimiser in its initial state, with a lower learning rate."""


@dataclass(frozen=True)
class LBFGS:
    """A few L-BFGS iterations on all rows, with Q in multiples of ``unit``; a line search sets the step length."""

    problem: Problem
    unit: float = 1.0

    @property
    def rate(self) -> float:
        """Zero, as L-BFGS has no learning rate."""
        return 0.0

    def move(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        """Run at most ten L-BFGS iterations."""

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.problem.slope(now.like(flat, self.unit), projection, X, Y)
            return value, gradient.flat(1 / self.unit)

        start = now.flat(self.unit)
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": INNER_STEPS})
        return now.like(found.x, self.unit)

    def slower(self) -> LBFGS:
        """Return the optimiser with half the unit, which makes its first step shorter."""
        return replace(self, unit=self.unit / 2)


class Adam:
    """Adam (Kingma and Ba, 2015) in one pass over random minibatches of the rows, with Q in multiples of ``unit``.

    The moment estimates carry over from one pass to the next.
    """

    def __init__(self, problem: Problem, batch: int, rate: float, rng: np.random.Generator, unit: float = 1.0) -> None:
        self.problem, self.batch, self.rate, self.rng, self.unit = problem, batch, rate, rng, unit
        self._averages: np.ndarray | None = None
        self._count = 0

    def move(self, now: Moving, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> Moving:
        """Run one pass over the rows, with one step per minibatch."""
        flat = now.flat(self.unit)
        for rows in _batches(len(X), self.batch, self.rng):
            slope = self.problem.slope(now.like(flat, self.unit), projection, X[rows], Y[rows])[1].flat(1 / self.unit)
            flat = flat - self._step(slope)
        return now.like(flat, self.unit)

    def slower(self) -> Adam:
        """Return a new optimiser with half the learning rate and reset moment estimates."""
        return Adam(self.problem, self.batch, self.rate / 2, self.rng, self.unit)

    def _step(self, slope: np.ndarray) -> np.ndarray:
        """Adam step: first moment over the root of the second, both bias-corrected, times the learning rate."""
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
    """Root mean square of the initial Q, the unit that makes step lengths independent of the scale of the data."""
    return float(np.sqrt(np.square(Q).mean())) or 1.0


def _batches(n: int, size: int, rng: np.random.Generator) -> Iterator[np.ndarray]:
    order = rng.permutation(n)
    for rows in slices_of(n, size):
        yield order[rows]
