"""Kernels that are the exponential of a matrix product: Exponential and RBF."""

from abc import abstractmethod
from typing import Self, cast

import numpy as np
from scipy import sparse

from .._core import Array, Kind, per_entry
from .bandwidth import BandwidthKernel, check_resolution, origin_of
from .base import PullBack
from .constraints import FINITE
from .points import augmented, product, squared_norms
from .structure import SparseKernel, Structure

MAX_CHORD_EXPONENT = 5.0  # largest exponent at x.z = unit for a linear term, which the sparse part corrects


class ExponentialKernel(SparseKernel):
    """Base class of the kernels k(x, z) = exp(steepness x.z + alpha(x) + beta(z)).

    Exponents are one matrix product, [x, alpha, 1] . [steepness z, 1, beta]. On sparse data the matrix equals
    exp(alpha) exp(beta)^T, of rank one, outside the sparsity pattern of X Z^T.
    """

    symmetric = True  # x.z is symmetric, and alpha and beta are the same function
    commutes = True  # ``pairs`` is a function of l.r

    @property
    @abstractmethod
    def steepness(self) -> float:
        """The factor of x.z."""

    def exponents(self, X: Array) -> np.ndarray:
        """Return what each point adds to its exponents, in the coordinates of ``moved``; zero unless overridden."""
        return np.zeros(X.shape[0], dtype=X.dtype)

    def left_exponents(self, X: Array) -> np.ndarray:
        """Return alpha for every left point, in the coordinates of ``moved``."""
        return self.exponents(X)

    def right_exponents(self, Z: Array) -> np.ndarray:
        """Return beta for every right point, in the coordinates of ``moved``."""
        return self.exponents(Z)

    def moved(self, X: Kind) -> Kind:
        """Return the points in coordinates that reduce rounding errors."""
        return X

    def left(self, X: Array) -> Array:
        """Return the rows [x, alpha, 1]."""
        return augmented(X, self.moved, lambda X: (self.left_exponents(X), 1))

    def right(self, Z: Array) -> Array:
        """Return the rows [steepness z, 1, beta]."""
        return augmented(Z, self.moved, lambda Z: (1, self.right_exponents(Z)), scale=self.steepness)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return exp(l.r) for all pairs."""
        E = product(L, R)
        with np.errstate(over="ignore"):  # overflow is reported later
            return np.exp(E, out=E)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the pull-back of W * K, the derivatives by the exponents, to Z."""
        K = self.pairs(self.left(X), self.right(Z))
        X, Z = self.moved(X), self.moved(Z)
        return K, lambda W: self.pull_exponents(W * K, X, Z)

    def pull_exponents(self, G: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Pull derivatives G by the exponents steepness x.z + beta(z) back to Z: here steepness G^T X."""
        return self.steepness * (G.T @ X)

    def structure(self, Z: sparse.csr_array) -> Structure:
        """Return the expansion on sparse data, K = exp(alpha) exp(beta)^T + sparse."""
        return ExponentialStructure(self, Z)


class ExponentialStructure(Structure):
    """Expansion of an exponential kernel around exp(alpha) exp(beta)^T."""

    def __init__(self, kernel: ExponentialKernel, Z: sparse.csr_array) -> None:
        self.kernel = kernel
        self.beta = kernel.right_exponents(Z)
        self.right = np.exp(self.beta)[:, None]

    def slope(self, unit: float) -> float | None:
        """Return the slope of the chord of exp(steepness p) from 0 to the unit, or None if it would lose accuracy."""
        step = self.kernel.steepness * unit
        return float(np.expm1(step)) / unit if step < MAX_CHORD_EXPONENT else None

    def left_exponents(self, X: Array, P: sparse.csr_array, slope: float) -> np.ndarray:
        """Return alpha(x) of the rows; normalised kernels compute it from the products P with the right points."""
        return self.kernel.left_exponents(X)

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """Return exp(alpha) of the rows, and the kernel values at the entries of P."""
        alpha = self.left_exponents(X, P, slope)
        E = self.kernel.steepness * P.data
        E += self.beta[P.indices]
        E += per_entry(alpha, P)
        return np.exp(alpha)[:, None], np.exp(E, out=E)


class Exponential(ExponentialKernel):
    """The exponential kernel, k(x, z) = exp(eta x.z) (the 2016 paper; attention before its softmax).

    Cost: one product X Z^T, O(n m width), less if sparse, and an exponential for each pair.

    Parameters
    ----------
    eta : float, default=1.0
        Factor of the inner product, of either sign.

    Examples
    --------
    >>> from lopsided.kernels import Exponential
    >>> Exponential(eta=0.5)([[1.0, 2.0]], [[0.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 2.718]])
    """

    _parameter_constraints = {"eta": [FINITE]}

    def __init__(self, eta: float = 1.0) -> None:
        self.eta = eta

    @property
    def steepness(self) -> float:
        """The parameter eta."""
        return float(self.eta)


class RBF(BandwidthKernel, ExponentialKernel):
    """The Gaussian kernel, k(x, z) = exp(-|x - z|^2 / bandwidth^2).

    The kernel itself is symmetric. The matrix k(row i, column j) of a table is not, because row i and column i differ.

    Cost: one product X Z^T, O(n m width), less if sparse, and an exponential for each pair.

    Parameters
    ----------
    bandwidth : float or None, default=None
        The papers' gamma or sigma; scikit-learn's gamma is 1 / bandwidth^2. None means sqrt(width x variance), with the
        variance of all entries, where left and right points have weight one half each, whatever their numbers.

    Attributes
    ----------
    origin_ : array of shape (width,) or None
        Mean of a sample of right points, subtracted from all points to reduce rounding errors; None for sparse data.

    Examples
    --------
    >>> from lopsided.kernels import RBF
    >>> RBF(bandwidth=2.0)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.368]])
    """

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the origin, and the bandwidth if it is None."""
        super().fit(X, Z)
        if self.steepness > float(np.finfo(X.dtype).max):
            raise ValueError(
                f"2 / bandwidth^2 overflows in {X.dtype} for bandwidth={self.bandwidth_:g}; scale the data"
            )
        self.origin_ = origin_of(X, Z)
        check_resolution(self.bandwidth_, self.origin_, X, Z)
        return self

    @property
    def steepness(self) -> float:
        """2 / bandwidth^2."""
        return 2.0 / self.bandwidth_ / self.bandwidth_  # bandwidth_**2 may overflow

    def exponents(self, X: Array) -> np.ndarray:
        """Return -|x|^2 / bandwidth^2."""
        return -self.steepness / 2 * squared_norms(X)

    def moved(self, X: Kind) -> Kind:
        """Subtract ``origin_``: distances stay the same, and |x|^2 + |z|^2 - 2 x.z cancels less."""
        return X if self.origin_ is None else cast(Kind, X - self.origin_.astype(X.dtype))

    def pull_exponents(self, G: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """Pull derivatives G by the exponents -|x - z|^2 / bandwidth^2 back to Z: steepness (G^T X - G^T 1 * Z)."""
        return self.steepness * (G.T @ X - G.sum(axis=0)[:, None] * Z)
