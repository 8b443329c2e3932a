"""Kernels that are the exponential of something bilinear: Exponential, RBF and SNE."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax
from sklearn.utils._param_validation import Interval

from .bandwidth import check_resolution, euclidean_bandwidth, origin_of
from .base import Kernel, PullBack, Weighted
from .points import Array
from .structure import (
    SparseKernel,
    Structure,
    lifted,
    over_rows,
    product,
    refuse_sparse_sums,
    row_numbers,
    row_peaks,
    row_sums,
    squared_norms,
)

STEEPEST = 5.0  # beyond, what the linear term adds off the unit and the sparse part takes back costs digits


class ExponentialKernel(SparseKernel):
    """k(x, z) = exp(rate x.z + alpha(x) + beta(z)).

    Dense: one matrix product [x, alpha, 1] . [rate z, 1, beta] and one exponential in place. Sparse: outside the
    pattern of X Z^T the matrix is exp(alpha) exp(beta)^T, of rank one.
    """

    @property
    def symmetric(self) -> bool:
        """So is the inner product, and what is added to it."""
        return True

    @property
    @abstractmethod
    def rate(self) -> float:
        """The factor of x.z."""

    @abstractmethod
    def left_exponents(self, X: Array) -> np.ndarray:
        """Alpha of every left point, after ``moved``."""

    @abstractmethod
    def right_exponents(self, Z: Array) -> np.ndarray:
        """Beta of every right point, after ``moved``."""

    def moved(self, X: Array) -> Array:
        """The points in coordinates that lose the least to rounding."""
        return X

    def left(self, X: Array) -> Array:
        """The rows [x, alpha, 1]."""
        return lifted(X, self.moved, lambda X: (self.left_exponents(X), 1))

    def right(self, Z: Array) -> Array:
        """The rows [rate z, 1, beta]."""
        return lifted(Z, self.moved, lambda Z: (1, self.right_exponents(Z)), scale=self.rate)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return exp(l.r) for all pairs."""
        E = product(L, R)
        return np.exp(E, out=E)

    def structure(self, Z: sparse.csr_array) -> Structure:
        """On sparse data K = exp(alpha) exp(beta)^T + sparse."""
        return _ExponentialStructure(self, Z)


class _ExponentialStructure:
    level = 1.0

    def __init__(self, kernel: ExponentialKernel, Z: sparse.csr_array) -> None:
        self.kernel = kernel
        self.beta = kernel.right_exponents(Z)
        self.right = np.exp(self.beta)[:, None]

    def slope(self, unit: float) -> float | None:
        step = self.kernel.rate * unit
        return float(np.expm1(step)) / unit if step < STEEPEST else None

    def left_exponents(self, X: Array, P: sparse.csr_array, slope: float) -> np.ndarray:
        return self.kernel.left_exponents(X)

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        alpha = self.left_exponents(X, P, slope)
        E = self.kernel.rate * P.data
        E += self.beta[P.indices]
        E += alpha[row_numbers(P)]
        return np.exp(alpha)[:, None], np.exp(E, out=E)


class Exponential(ExponentialKernel):
    """The exponential kernel, k(x, z) = exp(eta x.z) (the 2016 paper; attention before its softmax).

    Parameters
    ----------
    eta : float, default=1.0
        Of either sign.

    Notes
    -----
    Cost: one product X Z^T, O(n m width), less if sparse, and an exponential for each pair.

    Examples
    --------
    >>> from lopsided.kernels import Exponential
    >>> Exponential(eta=0.5)([[1.0, 2.0]], [[0.0, 0.0], [0.0, 1.0]]).round(3)
    array([[1.   , 2.718]])
    """

    _parameter_constraints: dict[str, Any] = {"eta": [Interval(Real, None, None, closed="neither")]}

    def __init__(self, eta: float = 1.0) -> None:
        self.eta = eta

    @property
    def rate(self) -> float:
        """Eta."""
        return float(self.eta)

    def left_exponents(self, X: Array) -> np.ndarray:
        """Zero."""
        return np.zeros(X.shape[0], dtype=X.dtype)

    def right_exponents(self, Z: Array) -> np.ndarray:
        """Zero."""
        return np.zeros(Z.shape[0], dtype=Z.dtype)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values, and W -> eta (W * K)^T X."""
        K = self.pairs(self.left(X), self.right(Z))
        return K, lambda W: self.rate * ((W * K).T @ X)


class RBF(ExponentialKernel):
    """The Gaussian kernel, k(x, z) = exp(-|x - z|^2 / bandwidth^2).

    k(x, z) = k(z, x), but the matrix of k(row i, column j) of a table is not symmetric: row i and column i differ.

    Parameters
    ----------
    bandwidth : float or None, default=None
        The papers' gamma or sigma; scikit-learn's gamma is 1 / bandwidth^2. None is sqrt(width x variance), learned at
        fit and kept in ``bandwidth_``. The variance is that of all entries; left and right points weigh one half each,
        however many they are.

    Attributes
    ----------
    bandwidth_ : float
        The bandwidth that was taken.
    origin_ : array of shape (width,) or None
        Where distances are measured from: the mean of the right points, near which least is lost to rounding. None for
        sparse points, which would not stay sparse.

    Notes
    -----
    Cost: one product X Z^T, O(n m width), less if sparse, and an exponential for each pair.

    Examples
    --------
    >>> from lopsided.kernels import RBF
    >>> RBF(bandwidth=2.0)([[0.0]], [[0.0], [2.0]]).round(3)
    array([[1.   , 0.368]])
    """

    _parameter_constraints: dict[str, Any] = {"bandwidth": [Interval(Real, 0, None, closed="neither"), None]}

    def __init__(self, bandwidth: float | None = None) -> None:
        self.bandwidth = bandwidth

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the bandwidth if it was left open, and where the data are."""
        super().fit(X, Z)
        self.bandwidth_ = euclidean_bandwidth(X, Z) if self.bandwidth is None else float(self.bandwidth)
        dense = not (sparse.issparse(X) or sparse.issparse(Z))
        self.origin_ = origin_of(Z) if dense else None
        check_resolution(self.bandwidth_, self.origin_, X, Z)
        return self

    @property
    def rate(self) -> float:
        """2 / bandwidth^2."""
        return 2.0 / self.bandwidth_**2

    def left_exponents(self, X: Array) -> np.ndarray:
        """-|x|^2 / bandwidth^2."""
        return -self.rate / 2 * squared_norms(X)

    def right_exponents(self, Z: Array) -> np.ndarray:
        """-|z|^2 / bandwidth^2."""
        return -self.rate / 2 * squared_norms(Z)

    def moved(self, X: Array) -> Array:
        """Distances do not see a translation; far from the origin |x|^2 + |z|^2 - 2 x.z cancels."""
        return X if self.origin_ is None else X - self.origin_.astype(X.dtype)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values, and W -> 2 / bandwidth^2 ((W * K)^T X - diag(column sums of W * K) Z)."""
        K = self.pairs(self.left(X), self.right(Z))
        near, far = self.moved(X), self.moved(Z)
        return K, lambda W: self._pulled(W * K, near, far)

    def _pulled(self, of_exponents: np.ndarray, X: np.ndarray, Z: np.ndarray) -> np.ndarray:
        """The pull-back through -|x - z|^2 / bandwidth^2."""
        return self.rate * (of_exponents.T @ X - of_exponents.sum(axis=0)[:, None] * Z)


class SNE(RBF):
    """The stochastic-neighbour kernel, an RBF kernel whose rows are normalised over a fixed right set.

    k(x, z) = exp(-|x - z|^2 / bandwidth^2) / sum over z' of exp(-|x - z'|^2 / bandwidth^2), where z' runs over
    the right set the kernel was fitted on: a new left point sums over the same set, and a new right point is
    divided by the sums of the points it meets. Sums are taken in logarithms, so that no row underflows.

    Parameters
    ----------
    bandwidth : float or None, default=None
        As in :class:`RBF`.

    Attributes
    ----------
    bandwidth_, origin_
        As in :class:`RBF`.
    right_set_ : array or sparse matrix of shape (m, width)
        The z' over which rows are normalised.
    log_weights_ : array of shape (m,)
        Logarithms of how many points each z' stands for; zeros unless they are landmarks.
    bounded_ : bool
        Whether z' are landmarks. Their sums may miss the point that is nearest, and values are then cut at one.
    shift_ : float
        The largest -|z'|^2 / bandwidth^2, taken off all exponents, which changes no value and keeps them in range.

    Notes
    -----
    Cost: that of :class:`RBF`, and as much again for the sums, which new left points take over the whole right set.

    Examples
    --------
    >>> from lopsided.kernels import SNE
    >>> SNE(bandwidth=1.0)([[0.0], [3.0]], [[0.0], [1.0], [2.0]]).sum(axis=1)
    array([1., 1.])
    """

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the bandwidth, and fix the set over which rows are normalised."""
        super().fit(X, Z)
        self._sum_over(Z, np.ones(Z.shape[0]))
        return self

    def _sum_over(self, Z: Array, weights: np.ndarray) -> None:
        self.right_set_, self.log_weights_, self.bounded_ = Z, np.log(weights).astype(Z.dtype), False
        self.shift_ = float(super().right_exponents(self.moved(Z)).max())

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """Sum over a few weighted right points instead."""
        refuse_sparse_sums(right[0])
        narrow = copy(self)
        narrow._sum_over(*right)
        narrow.bounded_ = True
        return narrow

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return exp(l.r) for all pairs, at most one where sums run over a few points and may miss the nearest."""
        if not self.bounded_:
            return super().pairs(L, R)
        E = product(L, R)
        np.minimum(E, 0, out=E)
        return np.exp(E, out=E)

    def right_exponents(self, Z: Array) -> np.ndarray:
        """-|z|^2 / bandwidth^2, shifted so that the largest of the right set is zero."""
        return super().right_exponents(Z) - self.shift_

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values normalised over Z, and the pull-back of RBF for K * (W - row sums of W * K)."""
        X, Z = self.moved(X), self.moved(Z)
        K = softmax(self.rate * product(X, Z) + super().right_exponents(Z), axis=1)

        def pull_back(W: np.ndarray) -> np.ndarray:
            shares = W * K
            return self._pulled(shares - K * shares.sum(axis=1)[:, None], X, Z)

        return K, pull_back

    @property
    def symmetric(self) -> bool:
        """Rows are normalised and columns are not."""
        return False

    @property
    def normalised(self) -> bool:
        """Over the right set."""
        return True

    def left_exponents(self, X: Array) -> np.ndarray:
        """Minus the logarithm of the row's sum. Cost O(n m width), or that of X Z^T when both are sparse."""
        if sparse.issparse(X) and sparse.issparse(self.right_set_):
            structure = _SNEStructure(self, self.right_set_)
            return over_rows(X, self.right_set_, structure.left_exponents)
        Z = self.moved(self.right_set_)
        beta = self.right_exponents(Z) + self.log_weights_
        return over_rows(X, Z, lambda _, P: -logsumexp(self.rate * P + beta, axis=1))

    def structure(self, Z: sparse.csr_array) -> Structure:
        """As for RBF; beside the right set itself the sums come from products that are at hand."""
        return _SNEStructure(self, Z) if Z is self.right_set_ else _ExponentialStructure(self, Z)


class _SNEStructure(_ExponentialStructure):
    def __init__(self, kernel: ExponentialKernel, Z: sparse.csr_array) -> None:
        super().__init__(kernel, Z)
        self.Z = Z
        self.total = logsumexp(self.beta)
        self.pull = Z.T @ self.right[:, 0]

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """As for RBF; refuse points whose products with all near ones are so negative that the background is lost."""
        left, values = super().expand(X, P, slope)
        most = np.finfo(left.dtype).eps ** -0.5
        if left.max(initial=0) * np.exp(self.total) > most:
            weights = left[row_numbers(P), 0] * self.right[P.indices, 0]
            if not weights.max(initial=0) < most:
                raise ValueError(
                    f"bandwidth={self.kernel.bandwidth_:g} is so small beside entries of opposite signs that sparse "
                    f"values of at most one are differences of {weights.max():.1g}; take a larger one, or dense data"
                )
        return left, values

    def left_exponents(self, X: Array, P: sparse.csr_array, slope: float = 0.0) -> np.ndarray:
        """Minus log sum_j exp(beta_j) (1 + slope x.z_j) + what the entries of P differ from that."""
        beta = self.beta[P.indices]
        E = self.kernel.rate * P.data
        E += beta
        peak = row_peaks(E, P, least=0.0)
        shift = peak[row_numbers(P)]
        beta -= shift
        excess = np.exp(E - shift) - np.exp(beta) * (1 + slope * P.data)
        whole = np.exp(self.total - peak)
        sums = whole + row_sums(excess, P)
        if slope:
            sums += slope * np.exp(-peak) * (X @ self.pull)
        alpha = -peak - np.log(np.maximum(sums, np.finfo(sums.dtype).tiny))
        lost = np.flatnonzero(sums < np.sqrt(np.finfo(sums.dtype).eps) * whole)  # negative products cancelled it
        if len(lost):
            alpha[lost] = -logsumexp(self.kernel.rate * product(X[lost], self.Z) + self.beta, axis=1)
        return alpha
