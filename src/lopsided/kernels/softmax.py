"""Exponential kernels whose rows are normalised over a fixed right set, as by a softmax: SNE and Attention."""

from typing import Self

import numpy as np
from scipy import sparse
from scipy.special import logsumexp, softmax

from .._core import Array, per_entry, row_peaks, row_sums
from .bandwidth import check_products
from .base import PullBack
from .constraints import POSITIVE
from .exponential import RBF, ExponentialKernel, ExponentialStructure
from .points import product
from .structure import NormalisedKernel, Structure, over_rows


class SoftmaxKernel(NormalisedKernel, ExponentialKernel):
    """Base class of the exponential kernels whose rows are normalised, with sums as log-sum-exp: no row underflows."""

    symmetric = False  # rows are normalised and columns are not

    def _sum_over(self, Z: Array, weights: np.ndarray, bounded: bool) -> None:
        super()._sum_over(Z, weights, bounded)
        self._shift = float(self.exponents(self.moved(Z)).max())

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return exp(l.r) for all pairs, clipped at one where sums run over landmarks."""
        if not self._bounded:
            return super().pairs(L, R)
        E = product(L, R)
        np.minimum(E, 0, out=E)
        return np.exp(E, out=E)

    def right_exponents(self, Z: Array) -> np.ndarray:
        """Return the exponents of g, shifted so that the maximum over the right set is zero."""
        return self.exponents(Z) - self._shift

    def left_exponents(self, X: Array) -> np.ndarray:
        """Return minus the logarithm of each row sum. Cost O(n m width), or that of X Z^T if both are sparse."""
        if sparse.issparse(X) and sparse.issparse(self.right_set_):
            structure = _SoftmaxStructure(self, self.right_set_)
            return over_rows(X, self.right_set_, structure.left_exponents)
        Z = self.moved(self.right_set_)
        beta = self.right_exponents(Z) + np.log(self.weights_)

        def minus_log_sums(X: Array, E: np.ndarray) -> np.ndarray:
            E *= self.steepness
            E += beta
            peak = E.max(axis=1)
            E -= peak[:, None]
            np.exp(E, out=E)
            return -peak - np.log(E.sum(axis=1))

        return over_rows(X, Z, minus_log_sums)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values normalised over Z, and the pull-back of K * (W - row sums of W * K) through exponents."""
        X, Z = self.moved(X), self.moved(Z)
        K = softmax(self.steepness * product(X, Z) + self.exponents(Z), axis=1)

        def pull_back(W: np.ndarray) -> np.ndarray:
            shares = W * K
            return self.pull_exponents(shares - K * shares.sum(axis=1)[:, None], X, Z)

        return K, pull_back

    def structure(self, Z: sparse.csr_array) -> Structure:
        """Return the expansion of g; if Z is the right set itself, row sums reuse the products with Z."""
        return _SoftmaxStructure(self, Z) if Z is self.right_set_ else ExponentialStructure(self, Z)


class SNE(SoftmaxKernel, RBF):
    """The stochastic-neighbour kernel, an RBF kernel whose rows are normalised over a fixed right set.

    k(x, z) = exp(-|x - z|^2 / bandwidth^2) / sum over z' of exp(-|x - z'|^2 / bandwidth^2), where z' runs over the
    right set seen during ``fit``.

    Cost: twice that of :class:`RBF`, since the row sums of left points, new ones included, run over the right set.

    Parameters
    ----------
    bandwidth : float or None, default=None
        As in :class:`RBF`, which also documents what is learned.

    Examples
    --------
    >>> from lopsided.kernels import SNE
    >>> SNE(bandwidth=1.0)([[0.0], [3.0]], [[0.0], [1.0], [2.0]]).sum(axis=1)
    array([1., 1.])
    """


class Attention(SoftmaxKernel):
    """The attention kernel, exp(x.z / scale) / sum over z' of exp(x.z' / scale): a softmax over a fixed right set.

    Left points are queries and right points are keys. z' runs over the right set seen during ``fit``: new queries
    attend to the same keys, and new keys are divided by the sums over the old ones.

    Cost: two products X Z^T, one for the values and one for the sums, O(n m width) each, less if sparse.

    Parameters
    ----------
    scale : float or None, default=None
        Divisor of the inner products, the temperature of the softmax. None means sqrt(width), as in transformers.

    Attributes
    ----------
    scale_ : float
        The scale, given or derived from the width.

    References
    ----------
    Vaswani et al., "Attention is all you need", NeurIPS 2017.

    Examples
    --------
    >>> from lopsided.kernels import Attention
    >>> Attention(scale=1.0)([[0.0, 0.0], [0.0, 1.0]], [[1.0, 0.0], [0.0, 1.0]]).round(3)
    array([[0.5  , 0.5  ],
           [0.269, 0.731]])
    """

    _parameter_constraints = {"scale": [POSITIVE, None]}

    def __init__(self, scale: float | None = None) -> None:
        self.scale = scale

    def fit(self, X: Array, Z: Array) -> Self:
        """Set the scale if it is None, and store the set over which rows are normalised."""
        super().fit(X, Z)
        self.scale_ = float(np.sqrt(X.shape[1])) if self.scale is None else float(self.scale)
        check_products(self.scale_, X, Z)
        return self

    @property
    def steepness(self) -> float:
        """1 / scale."""
        return 1 / self.scale_


class _SoftmaxStructure(ExponentialStructure):
    """Expansion over the right set itself: row sums come from the products that the values need anyway."""

    def __init__(self, kernel: ExponentialKernel, Z: sparse.csr_array) -> None:
        super().__init__(kernel, Z)
        self.Z = Z
        self.total = logsumexp(self.beta)
        self.pull = Z.T @ self.right[:, 0]

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """Expand as without the sums; raise ValueError if the sparse part would be a difference of large numbers."""
        left, values = super().expand(X, P, slope)
        most = np.finfo(left.dtype).eps ** -0.5
        if left.max(initial=0) * np.exp(self.total) > most:
            weights = per_entry(left[:, 0], P) * self.right[P.indices, 0]
            if not weights.max(initial=0) < most:
                raise ValueError(
                    f"{self.kernel!r} is so steep, given entries of opposite signs, that values of at most one are "
                    f"differences of numbers up to {weights.max():.1g}; use a larger bandwidth or scale, or dense data"
                )
        return left, values

    def left_exponents(self, X: Array, P: sparse.csr_array, slope: float = 0.0) -> np.ndarray:
        """Return minus the log of row sums: sum_j exp(beta_j) (1 + slope x.z_j), corrected at the entries of P."""
        beta = self.beta[P.indices]
        E = self.kernel.steepness * P.data
        E += beta
        peak = row_peaks(E, P, least=0.0)
        shift = per_entry(peak, P)
        beta -= shift
        excess = np.exp(E - shift) - np.exp(beta) * (1 + slope * P.data)
        whole = np.exp(self.total - peak)
        sums = whole + row_sums(excess, P)
        if slope:
            sums += slope * np.exp(-peak) * (X @ self.pull)
        alpha = -peak - np.log(np.maximum(sums, np.finfo(sums.dtype).tiny))
        lost = np.flatnonzero(sums < np.sqrt(np.finfo(sums.dtype).eps) * whole)  # cancellation from negative products
        if len(lost):
            alpha[lost] = -logsumexp(self.kernel.steepness * product(X[lost], self.Z) + self.beta, axis=1)
        return alpha
