"""Objective of a learned compatibility, and two optimisers: L-BFGS on all rows and Adam on minibatches.

The notation is that of :mod:`lopsided.kernel_svd.compatibility.alternate`.
"""

from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize

from ..._core import check_finite, eigh, in_unit, safe_unit, slices_of
from ...kernels import Kernel
from ...svd import powers
from .losses import Loss

ROWS_AT_ONCE = 1 << 12  # rows whose kernel values are held in memory
LBFGS_STEPS = 10  # L-BFGS iterations between two SVDs; `python benchmarks/general_table3.py ablation` changes them
ADAM_DECAY = 0.9, 0.999  # of the first and second moments, as in the paper of Adam
ADAM_FLOOR = 1e-8  # added to the root mean square, which is zero for an unused parameter; the paper's value


class Parameters(NamedTuple):
    """What is optimised: Q (r, p), and weights (k, outputs) and bias (outputs,) of the head."""

    Q: np.ndarray
    weights: np.ndarray
    bias: np.ndarray

    def flat(self, unit: float = 1.0) -> np.ndarray:
        """Concatenate all parameters in a vector, with Q divided by ``unit``."""
        return np.concatenate([(self.Q / unit).ravel(), self.weights.ravel(), self.bias])

    def like(self, flat: np.ndarray, unit: float = 1.0) -> Self:
        """Inverse of :meth:`flat`: parameters in the shapes of these, with Q multiplied by ``unit``."""
        Q, weights, bias = np.split(flat, [self.Q.size, self.Q.size + self.weights.size])
        return self._replace(Q=Q.reshape(self.Q.shape) * unit, weights=weights.reshape(self.weights.shape), bias=bias)


@dataclass(frozen=True)
class Problem:
    """The optimisation problem: a fitted kernel, a basis of the row space of the data, and the penalised loss."""

    kernel: Kernel  # fitted, with a pull-back
    basis: np.ndarray  # orthonormal, of the row space of the data (p, r)
    loss: Loss
    k: int  # number of right singular vectors
    alpha: float  # L2 penalty on the weights of the head

    def projection(self, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Step (i): compute the map V sqrt(n) / s from kernel values to features, shape (p, k)."""
        gram, unit = np.zeros((len(Z), len(Z))), None
        for rows in slices_of(len(X), ROWS_AT_ONCE):
            G = self.kernel.differentiate(X[rows], Z)[0].astype(float, copy=False)
            unit = safe_unit(G) if unit is None else unit
            G = in_unit(G, unit)
            gram += G.T @ G
        check_finite(gram)
        squares, V = eigh(gram)
        s = np.sqrt(np.maximum(squares[::-1][: self.k], 0))
        return V[:, ::-1][:, : self.k] * (np.sqrt(len(X)) * powers(s, -1, len(X)) / (1.0 if unit is None else unit))

    def features(self, X: np.ndarray, Z: np.ndarray, projection: np.ndarray) -> np.ndarray:
        """Features G V sqrt(n) / s of shape (n, k), for the map ``projection`` of step (i)."""
        blocks = slices_of(len(X), ROWS_AT_ONCE)
        return np.concatenate([self.kernel.differentiate(X[rows], Z)[0] @ projection for rows in blocks])

    def slope(self, now: Parameters, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[float, Parameters]:
        """Step (ii): value and gradient of the penalised loss, with V fixed."""
        G, pull_back = self.kernel.differentiate(X, self.basis @ now.Q)
        F = G @ projection
        S = F @ now.weights + now.bias
        of_scores = self.loss.gradient(S, Y)
        of_values = of_scores @ (projection @ now.weights).T
        of_weights = F.T @ of_scores + self.alpha * now.weights
        value = self.loss.value(S, Y) + self.alpha / 2 * float(np.sum(now.weights**2))
        return value, Parameters(self.basis.T @ pull_back(of_values), of_weights, of_scores.sum(axis=0))


@dataclass(frozen=True)
class LBFGS:
    """A few L-BFGS iterations on all rows, with Q in multiples of ``unit``; a line search sets the step length."""

    problem: Problem
    unit: float = 1.0
    rate: ClassVar[float] = 0.0  # it has none

    def move(self, now: Parameters, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[Parameters, Self]:
        """Run one round with V fixed; return the parameters and the optimiser of the next round."""

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.problem.slope(now.like(flat, self.unit), projection, X, Y)
            return value, gradient.flat(1 / self.unit)

        start = now.flat(self.unit)
        found = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": LBFGS_STEPS})
        return now.like(found.x, self.unit), self

    def slower(self) -> Self:
        """Return the optimiser with half the unit, which makes its first step shorter."""
        return replace(self, unit=self.unit / 2)


@dataclass(frozen=True)
class Adam:
    """Adam (Kingma and Ba, 2015) in one pass over random minibatches of the rows, with Q in multiples of ``unit``."""

    problem: Problem
    batch_size: int
    rate: float
    rng: np.random.Generator
    unit: float = 1.0
    moments: tuple[Any, Any] = (0.0, 0.0)  # moving averages of the gradient and of its square, from earlier passes
    count: int = 0  # steps that they average

    def move(self, now: Parameters, projection: np.ndarray, X: np.ndarray, Y: np.ndarray) -> tuple[Parameters, Self]:
        """Run one round with V fixed; return the parameters and the optimiser of the next round."""
        flat, (mean, square), count = now.flat(self.unit), self.moments, self.count
        order = self.rng.permutation(len(X))
        for batch in slices_of(len(X), self.batch_size):
            rows = order[batch]
            gradient = self.problem.slope(now.like(flat, self.unit), projection, X[rows], Y[rows])[1]
            slope = gradient.flat(1 / self.unit)
            count += 1
            mean = mean + (1 - ADAM_DECAY[0]) * (slope - mean)
            square = square + (1 - ADAM_DECAY[1]) * (slope**2 - square)
            root = np.sqrt(square / (1 - ADAM_DECAY[1] ** count))
            flat = flat - self.rate * (mean / (1 - ADAM_DECAY[0] ** count)) / (root + ADAM_FLOOR)
        return now.like(flat, self.unit), replace(self, moments=(mean, square), count=count)

    def slower(self) -> Self:
        """Return the optimiser with half the learning rate and no memory of gradients."""
        return replace(self, rate=self.rate / 2, moments=(0.0, 0.0), count=0)
