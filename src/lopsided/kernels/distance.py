"""Kernels of the 1-norm (Manhattan) distance: Laplacian and truncated 1-norm."""

from typing import Self

import numpy as np
from scipy import sparse
from scipy.spatial.distance import cdist
from sklearn.metrics.pairwise import manhattan_distances

from .._core import Array
from .bandwidth import BandwidthKernel, manhattan_bandwidth
from .base import Kernel
from .constraints import POSITIVE

RADIUS_SHARE = 0.7  # of the width, as in the papers


class Laplacian(BandwidthKernel):
    """The Laplacian kernel, k(x, z) = exp(-|x - z|_1 / bandwidth).

    Cost: O(n m width), not a matrix product; for sparse data O(n m) times the stored entries of two rows.

    Parameters
    ----------
    bandwidth : float or None, default=None
        scikit-learn's gamma is 1 / bandwidth. None means width x standard deviation of the data.

    Examples
    --------
    >>> from lopsided.kernels import Laplacian
    >>> Laplacian(bandwidth=2.0)([[0.0, 0.0]], [[0.0, 0.0], [1.0, 1.0]]).round(3)
    array([[1.   , 0.368]])
    """

    symmetric = True  # distances are symmetric
    default_bandwidth = staticmethod(manhattan_bandwidth)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return exp(-|x - z|_1 / bandwidth) for all pairs."""
        D = _manhattan(L, R)
        with np.errstate(over="ignore"):  # the kernel of distances that overflow is zero
            D *= -1 / self.bandwidth_
        return np.exp(D, out=D)


class TL1(Kernel):
    """The truncated 1-norm kernel, k(x, z) = max(radius - |x - z|_1, 0), which is indefinite.

    Cost: O(n m width), not a matrix product; for sparse data O(n m) times the stored entries of two rows.

    Parameters
    ----------
    radius : float or None, default=None
        The papers' rho. None means 0.7 x width, their choice for data scaled to [0, 1].

    Attributes
    ----------
    radius_ : float
        The radius, given or derived from the width.

    Examples
    --------
    >>> from lopsided.kernels import TL1
    >>> TL1(radius=2.0)([[0.0, 0.0]], [[0.5, 0.5], [1.0, -1.0]])
    array([[1., 0.]])
    """

    _parameter_constraints = {"radius": [POSITIVE, None]}
    symmetric = True  # distances are symmetric

    def __init__(self, radius: float | None = None) -> None:
        self.radius = radius

    def fit(self, X: Array, Z: Array) -> Self:
        """Set the radius from the width of the data if it is None."""
        super().fit(X, Z)
        self.radius_ = RADIUS_SHARE * X.shape[1] if self.radius is None else float(self.radius)
        if self.radius_ > float(np.finfo(X.dtype).max):
            raise ValueError(f"radius={self.radius_:g} overflows in {X.dtype}; scale the data")
        return self

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return max(radius - |x - z|_1, 0) for all pairs."""
        D = _manhattan(L, R)
        np.subtract(self.radius_, D, out=D)
        return np.maximum(D, 0, out=D)


def _manhattan(X: Array, Z: Array) -> np.ndarray:
    """Return |x - z|_1 for all pairs, in the dtype of the data; sparse points are not made dense."""
    if sparse.issparse(X) or sparse.issparse(Z):
        D = manhattan_distances(*(sparse.csr_matrix(side, copy=True) for side in (X, Z)))  # sorted in place
    else:
        D = cdist(X, Z, metric="cityblock")
    return D.astype(X.dtype, copy=False)
