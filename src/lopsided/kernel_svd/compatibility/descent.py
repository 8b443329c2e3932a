"""Objective of a learned compatibility, and two optimisers: L-BFGS on all rows and Adam on minibatches.

The notation is that of :mod:`lopsided.kernel_svd.compatibility.alternate`.
"""

import math
from dataclasses import dataclass, replace
from operator import add
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from scipy.optimize import minimize

from ..._core import accumulate, check_finite, eigh, in_unit, run, safe_unit, slices_of
from ...kernels import Kernel
from ...svd import powers
from .losses import Loss
from .samples import Samples

LBFGS_STEPS = 10  # L-BFGS iterations between two SVDs; `python benchmarks/general_table3.py ablation` changes them
MAX_VALUES_PER_STEP = 1 << 22  # kernel values up to which every step uses all rows
ARRAYS = {"lbfgs": 56, "adam": 30}  # arrays of p points of p coordinates that learning holds at once
SMALL_WIDTH = 100  # columns up to which no budget forbids these arrays, at most 4.5 MB
ADAM_DECAY = 0.9, 0.999  # of the first and second moments, as in the paper of Adam
ADAM_FLOOR = 1e-8  # added to the root mean square, which is zero for an unused parameter; the paper's value

InUnit = tuple[np.floating, np.ndarray]  # a unit, and the Gram matrix of values divided by it


def choose_optimizer(name: str, n: int, width: int, budget: int) -> str:
    """Return the optimiser named, or the one that suits n rows and the budget; its arrays must fit that."""
    allowed = budget if width > SMALL_WIDTH else math.inf
    if name == "auto":
        small = n * width <= MAX_VALUES_PER_STEP and _bytes_of_points("lbfgs", width) <= allowed
        name = "lbfgs" if small else "adam"
    if (needed := _bytes_of_points(name, width)) > allowed:
        raise ValueError(
            f"optimizer={name!r} needs {needed} bytes for {width} right points of {width} coordinates and their "
            f"slopes, above the budget of {budget}; raise memory_budget to that, or select columns of X"
        )
    return name


def _bytes_of_points(optimizer: str, width: int) -> int:
    return 8 * ARRAYS[optimizer] * width**2


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

    def projection(self, data: Samples, Z: np.ndarray) -> np.ndarray:
        """Step (i): compute the map V sqrt(n) / s from kernel values to features, shape (p, k)."""

        def gram(part: slice) -> InUnit:
            G = self.values(data, part, Z).astype(float, copy=False)
            unit = safe_unit(G)
            G = in_unit(G, unit)
            return unit, G.T @ G

        unit, total = accumulate(_add_in_units, gram, data.blocks)
        check_finite(total)
        squares, V = eigh(total)
        s = np.sqrt(np.maximum(squares[::-1][: self.k], 0))
        return V[:, ::-1][:, : self.k] * (np.sqrt(len(data)) * powers(s, -1, len(data)) / unit)

    def features(self, data: Samples, Z: np.ndarray, projection: np.ndarray) -> np.ndarray:
        """Features G V sqrt(n) / s of shape (n, k), for the map ``projection`` of step (i)."""
        return np.concatenate(run(lambda part: self.values(data, part, Z) @ projection, data.blocks))

    def values(self, data: Samples, part: slice, Z: np.ndarray) -> np.ndarray:
        """Kernel values of a block of samples and the right points."""
        return self.kernel.differentiate(data.points(part), Z)[0]

    def slope(self, now: Parameters, projection: np.ndarray, data: Samples) -> tuple[float, Parameters]:
        """Step (ii): value and gradient of the penalised loss, with V fixed."""
        Z, Y = self.basis @ now.Q, data.targets

        def of_block(part: slice) -> tuple[float, Parameters]:
            G, pull_back = self.kernel.differentiate(data.points(part), Z)
            F = G @ projection
            S = F @ now.weights + now.bias
            share = len(S) / len(data)
            of_scores = share * self.loss.gradient(S, Y[part])
            of_values = of_scores @ (projection @ now.weights).T
            slopes = Parameters(pull_back(of_values), F.T @ of_scores, of_scores.sum(axis=0))
            return share * self.loss.value(S, Y[part]), slopes

        value, (of_points, of_weights, of_bias) = accumulate(_add_slopes, of_block, data.blocks)
        value += self.alpha / 2 * float(np.sum(now.weights**2))
        return value, Parameters(self.basis.T @ of_points, of_weights + self.alpha * now.weights, of_bias)


def _add_slopes(one: tuple[float, Parameters], other: tuple[float, Parameters]) -> tuple[float, Parameters]:
    return one[0] + other[0], Parameters(*map(add, one[1], other[1]))


def _add_in_units(one: InUnit, other: InUnit) -> InUnit:
    """Add two Gram matrices, in the larger of their units."""
    unit = max(one[0], other[0])
    return unit, (one[0] / unit) ** 2 * one[1] + (other[0] / unit) ** 2 * other[1]


@dataclass(frozen=True)
class LBFGS:
    """A few L-BFGS iterations on all rows, with Q in multiples of ``unit``; a line search sets the step length."""

    problem: Problem
    unit: float = 1.0
    rate: ClassVar[float] = 0.0  # it has none

    def move(self, now: Parameters, projection: np.ndarray, data: Samples) -> tuple[Parameters, Self]:
        """Run one round with V fixed; return the parameters and the optimiser of the next round."""

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            value, gradient = self.problem.slope(now.like(flat, self.unit), projection, data)
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

    def move(self, now: Parameters, projection: np.ndarray, data: Samples) -> tuple[Parameters, Self]:
        """Run one round with V fixed; return the parameters and the optimiser of the next round."""
        flat, (mean, square), count = now.flat(self.unit), self.moments, self.count
        order = self.rng.permutation(len(data))
        for batch in slices_of(len(data), self.batch_size):
            gradient = self.problem.slope(now.like(flat, self.unit), projection, data.take(order[batch]))[1]
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
