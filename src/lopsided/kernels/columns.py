"""Kernels that compare columns in units of their own spread, or by the ranks of their values."""

from abc import abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import ndtri
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from .._core import Array, dense, same_points, slices_of
from .bandwidth import SAMPLED_ROWS, sample_if_in_blocks
from .base import Composite, Kernel, PullBack, WeightedPoints

BATCH_ENTRIES = 1 << 22  # of points that are read at once, 32 MB in float64
MOST_QUANTILES = 200  # of a column, between which ranks are interpolated


class OfColumns(Composite):
    """k(g(x), g(z)) for a map g of columns that is learned from the points seen during ``fit``."""

    _parameter_constraints: dict[str, Any] = {"kernel": [Kernel]}
    _names = ("kernel",)
    kernel_: Kernel

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the map from both sets of points, and fit the inner kernel on the mapped points."""
        Kernel.fit(self, X, Z)
        X, Z = sample_if_in_blocks(X), sample_if_in_blocks(Z)
        self.learn_columns(X, Z)
        left = self.in_units(X)
        self.kernel_ = clone(self.kernel).fit(left, left if same_points(X, Z) else self.in_units(Z))
        return self

    @abstractmethod
    def learn_columns(self, X: Array, Z: Array) -> None:
        """Learn the map from left and right points together."""

    @abstractmethod
    def in_units(self, X: Array) -> Any:
        """Map points."""

    def left(self, X: Array) -> Array:
        """Prepare the mapped points as left points of the inner kernel."""
        return self.kernel_.left(self.in_units(X))

    def right(self, Z: Array) -> Array:
        """Prepare the mapped points as right points of the inner kernel."""
        return self.kernel_.right(self.in_units(Z))

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return the values of the inner kernel."""
        return self.kernel_.pairs(L, R)

    def normalised_over(self, left: WeightedPoints, right: WeightedPoints) -> Kernel:
        """Return a copy whose inner kernel is normalised over these points."""
        twin = copy(self)
        sides = ((self.in_units(points), counts) for points, counts in (left, right))
        twin.kernel_ = self.kernel_.normalised_over(*sides)
        return twin


class Standardised(OfColumns):
    """k(x / s, z / s), where s holds the standard deviations of the columns of the points seen during ``fit``.

    Columns in different units then count alike, without a step before the kernel. Constant columns keep their unit.
    Means are not subtracted, as distances do not depend on them, and sparse points stay sparse.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the points in these units; its bandwidth, too, is in them.

    Attributes
    ----------
    scale_ : array of shape (width,)
        Standard deviations of the columns of left and right points together.
    kernel_ : Kernel
        The fitted kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF, Standardised
    >>> X = np.array([[0.0, 0.0], [1.0, 1000.0]])
    >>> Standardised(RBF(2.0))(X, X).round(4)
    array([[1.    , 0.1353],
           [0.1353, 1.    ]])
    """

    def learn_columns(self, X: Array, Z: Array) -> None:
        """Measure the columns of both sets of points."""
        scaler = StandardScaler(with_mean=False)
        for points in (X, Z):
            for rows in slices_of(points.shape[0], max(1, BATCH_ENTRIES // points.shape[1])):
                scaler.partial_fit(points[rows])
        self.scale_ = scaler.scale_

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the pull-back of the inner kernel, the latter in units of the columns."""
        K, pull_back = self.kernel_.differentiate(self.in_units(X), self.in_units(Z))
        return K, lambda W: self.in_units(pull_back(W))

    def in_units(self, X: Array) -> Any:
        """Points in units of the columns, dense or sparse as they are."""
        scale = self.scale_.astype(X.dtype)
        return sparse.csr_array(X.multiply(1 / scale)) if sparse.issparse(X) else X / scale


class Ranked(OfColumns):
    """k(g(x), g(z)), where g replaces every value by the normal score of its rank in its column.

    Of n values seen during ``fit``, of which m are below a value and t equal to it, its rank is p = (m + t / 2) / n,
    and its score the standard normal quantile at p; between them ranks are interpolated, and beyond them scores are
    those of the least and the greatest. Heavy tails and outliers, and any increasing function of a column, then hardly
    matter. Sparse points become dense.

    Parameters
    ----------
    kernel : Kernel
        The kernel of the scores.

    Attributes
    ----------
    quantiles_ : array of shape (q, width)
        Quantiles of left and right points together, up to 200 of each column: all values if there are fewer.
    kernel_ : Kernel
        The fitted kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF, Ranked
    >>> X = np.array([[0.0], [1.0], [1000.0]])
    >>> Ranked(RBF(1.0))(X, X).round(3)
    array([[1.   , 0.392, 0.024],
           [0.392, 1.   , 0.392],
           [0.024, 0.392, 1.   ]])
    """

    def learn_columns(self, X: Array, Z: Array) -> None:
        """Take quantiles of the columns of both sets of points."""
        values = np.vstack([dense(side[:: max(1, side.shape[0] // SAMPLED_ROWS)]) for side in (X, Z)])
        places = _ranks(min(len(values), MOST_QUANTILES)) * len(values)
        self.quantiles_ = np.sort(values, axis=0)[places.astype(int)]  # values themselves, as equal ones share a rank

    def in_units(self, X: Array) -> np.ndarray:
        """Normal scores of the points, dense."""
        X, quantiles = dense(X), self.quantiles_
        ranks = _ranks(len(quantiles))
        scores = np.empty(X.shape, dtype=X.dtype)
        for values, known, column in zip(X.T, quantiles.T, scores.T, strict=True):
            upper = np.interp(values, known, ranks)  # of equal values the last, and below of their negatives
            lower = np.interp(-values, -known[::-1], ranks)
            column[:] = ndtri((upper + 1 - lower) / 2)
        return scores


def _ranks(count: int) -> np.ndarray:
    """Evenly spaced ranks between zero and one."""
    return (np.arange(count) + 0.5) / count
