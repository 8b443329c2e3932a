"""What the machines are to learn: columns to fit, classes or real targets, and weights of the samples."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import _check_sample_weight

from .._core import Array, at_hand, reject_masked

EPS = np.finfo(float).eps
CONSTANT_EPS = 64  # in units of eps times the largest target: deviations below it are rounding errors
SMALLEST_SHARE = EPS**4  # of the largest weight: products of a few weights must not underflow
LARGEST_WEIGHT = 1e100  # and its reciprocal: nor overflow


@dataclass(frozen=True, eq=False)
class Targets:
    """Columns Y to be fitted, class numbers or targets y, and the weights of the samples, None if all are one."""

    Y: np.ndarray  # (n, k)
    y: np.ndarray  # (n,) class numbers, or (n, k) real targets
    weights: np.ndarray | None = None  # (n,)

    def take(self, rows: np.ndarray) -> Targets:
        """The targets of some samples."""
        return Targets(self.Y[rows], self.y[rows], None if self.weights is None else self.weights[rows])

    @property
    def shares(self) -> np.ndarray:
        """Weights (n,) of the samples that sum to one."""
        return np.full(len(self.y), 1 / len(self.y)) if self.weights is None else self.weights / self.weights.sum()

    @property
    def spreads(self) -> np.ndarray:
        """Standard deviations (k,) of the columns; infinite where they are rounding errors of a constant."""
        spreads = np.sqrt(self.shares @ np.square(self.Y - self.shares @ self.Y))
        return np.where(spreads > CONSTANT_EPS * EPS * np.abs(self.Y).max(axis=0), spreads, np.inf)

    def means(self, values: np.ndarray) -> np.ndarray:
        """Weighted means (g,) over the samples of values (g, n)."""
        return values.mean(axis=1) if self.weights is None else values @ self.weights / self.weights.sum()


def quantile(errors: np.ndarray, share: float, weights: np.ndarray | None) -> np.ndarray:
    """The errors (k,) that a new one exceeds with the probability 1 - share, from held-out ones (n,) or (n, k).

    A new error takes each of n + 1 ranks equally likely; a weight, in units of the mean weight, is a number of ranks.
    """
    order = np.argsort(errors, axis=0)
    ranks = np.ones(len(errors)) if weights is None else weights / weights.mean()
    reached = np.cumsum(ranks[order], axis=0) >= share * (len(errors) + 1) * (1 - EPS * len(errors))
    first = np.where(reached.any(axis=0), reached.argmax(axis=0), len(errors) - 1)
    return np.take_along_axis(errors, np.take_along_axis(order, first[None], axis=0), axis=0)[0]


def check_weights(sample_weight: Any, X: Array) -> np.ndarray | None:
    """Validate weights of the samples of X: finite, not negative, at least one above zero."""
    if sample_weight is None:
        return None
    sample_weight = reject_masked(at_hand(sample_weight), "sample_weight")
    return _check_range(_check_sample_weight(sample_weight, X, dtype=float, ensure_non_negative=True))


def with_class_weights(
    class_weight: Any, classes: np.ndarray, y: np.ndarray, weights: np.ndarray | None
) -> np.ndarray | None:
    """Weights of samples times those of their classes; raise an error if the samples of a class have no weight."""
    if weights is None and class_weight is None:
        return None
    weights = np.ones(len(y)) if weights is None else weights
    sums = np.bincount(y, weights=weights)
    if class_weight == "balanced":
        factors = np.divide(sums.sum() / len(classes), sums, out=np.zeros_like(sums), where=sums > 0)
    else:
        factors = compute_class_weight(class_weight, classes=classes, y=classes[y])
    if len(idle := classes[~((factors > 0) & (sums > 0))]):  # a factor of nan among them
        raise ValueError(
            f"the samples of class {idle.tolist()[0]!r} have no weight above 0; give the class a positive weight, or "
            "leave its samples out"
        )
    return _check_range(weights * factors[y])


def _check_range(weights: np.ndarray) -> np.ndarray:
    """Raise an error if fewer than two are positive, or so large or different that products overflow or underflow."""
    if np.count_nonzero(weights) < 2:
        raise ValueError(
            f"{np.count_nonzero(weights)} of {len(weights)} sample weights are above 0; at least two samples must count"
        )
    largest, least = weights.max(), weights[weights > 0].min(initial=np.inf)
    if not 1 / LARGEST_WEIGHT < largest < LARGEST_WEIGHT:
        raise ValueError(
            f"the largest of {len(weights)} sample weights is {largest:.3g}, but must lie between "
            f"{1 / LARGEST_WEIGHT:g} and {LARGEST_WEIGHT:g}"
        )
    if least < SMALLEST_SHARE * largest:
        raise ValueError(
            f"sample weights range from {least:.3g} to {largest:.3g}, a factor above {1 / SMALLEST_SHARE:.1e}; give "
            "samples that should not count the weight 0"
        )
    return weights
