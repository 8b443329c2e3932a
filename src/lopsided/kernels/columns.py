"""A kernel that compares columns in units of their own spread."""

from copy import copy
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import StandardScaler

from .._core import Array, slices_of
from .bandwidth import spaced_blocks
from .base import Composite, Kernel, PullBack, Weighted

BATCH_ENTRIES = 1 << 22  # of points that are read at once, 32 MB in float64


class Standardised(Composite):
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

    _parameter_constraints: dict[str, Any] = {"kernel": [Kernel]}
    _names = ("kernel",)
    kernel_: Kernel

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, X: Array, Z: Array) -> Self:
        """Measure the columns of both sets of points, and fit the inner kernel on points in these units."""
        Kernel.fit(self, X, Z)
        X, Z = spaced_blocks(X), spaced_blocks(Z)
        scaler = StandardScaler(with_mean=False)
        for points in (X, Z):
            for rows in slices_of(points.shape[0], max(1, BATCH_ENTRIES // points.shape[1])):
                scaler.partial_fit(points[rows])
        self.scale_ = scaler.scale_
        self.kernel_ = clone(self.kernel).fit(self.in_units(X), self.in_units(Z))
        return self

    def left(self, X: Array) -> Array:
        """Prepare the points in units of the columns as left points of the inner kernel."""
        return self.kernel_.left(self.in_units(X))

    def right(self, Z: Array) -> Array:
        """Prepare the points in units of the columns as right points of the inner kernel."""
        return self.kernel_.right(self.in_units(Z))

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return the values of the inner kernel."""
        return self.kernel_.pairs(L, R)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the pull-back of the inner kernel, the latter in units of the columns."""
        K, pull_back = self.kernel_.differentiate(self.in_units(X), self.in_units(Z))
        return K, lambda W: self.in_units(pull_back(W))

    def normalised_over(self, left: Weighted, right: Weighted) -> Kernel:
        """Return a copy whose inner kernel is normalised over these points."""
        twin = copy(self)
        sides = ((self.in_units(points), counts) for points, counts in (left, right))
        twin.kernel_ = self.kernel_.normalised_over(*sides)
        return twin

    def in_units(self, X: Array) -> Any:
        """Points in units of the columns, dense or sparse as they are."""
        scale = self.scale_.astype(X.dtype)
        return sparse.csr_array(X.multiply(1 / scale)) if sparse.issparse(X) else X / scale
