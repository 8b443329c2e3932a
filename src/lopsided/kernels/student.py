"""The Student t kernel of t-SNE, normalised over a fixed right set."""

from typing import Self

import numpy as np
from scipy import sparse
from scipy.interpolate import BarycentricInterpolator

from .._core import Array, dense, per_entry, row_sums, scale_rows
from .bandwidth import check_inverse, check_resolution, origin_of
from .constraints import POSITIVE
from .points import augmented, product, squared_norms
from .structure import NormalisedKernel, Structure, over_rows

TABULATED_NORMS = 32  # distinct norms up to which a table of them is cheaper than interpolation


class StudentT(NormalisedKernel):
    """The T kernel, k(x, z) = g(x, z) / sum over z' of g(x, z') with g = 1 / (1 + |x - z|^2 / bandwidth^2).

    z' runs over the right set seen during ``fit``, as for :class:`SNE`.

    Cost: two products X Z^T, one for the values and one for the sums, O(n m width) each, less if sparse.

    Parameters
    ----------
    bandwidth : float, default=1.0
        Distance at which g falls to one half. The papers use one.

    Attributes
    ----------
    origin_ : array of shape (width,) or None
        As in :class:`RBF`.

    Examples
    --------
    >>> from lopsided.kernels import StudentT
    >>> StudentT()([[0.0]], [[0.0], [1.0]]).round(3)
    array([[0.667, 0.333]])
    """

    _parameter_constraints = {"bandwidth": [POSITIVE]}

    def __init__(self, bandwidth: float = 1.0) -> None:
        self.bandwidth = bandwidth

    def fit(self, X: Array, Z: Array) -> Self:
        """Store the set over which rows are normalised, and check the bandwidth against rounding."""
        super().fit(X, Z)
        check_inverse(float(self.bandwidth), X.dtype)
        self.origin_ = origin_of(X, Z)
        check_resolution(self.bandwidth, self.origin_, X, Z)
        return self

    def scaled(self, X: Array) -> Array:
        """Return the points divided by the bandwidth, after subtracting ``origin_`` if the data are dense."""
        moved = X if self.origin_ is None else X - self.origin_.astype(X.dtype)
        return moved * (1 / float(self.bandwidth))

    def left(self, X: Array) -> Array:
        """Return the rows [-2 x, 1 + |x|^2, 1] times the row sum, so that one reciprocal gives k."""
        sums = self.row_sums(X)
        rows = augmented(X, self.scaled, lambda X: (1 + squared_norms(X), 1), scale=-2)
        return scale_rows(rows, sums) if sparse.issparse(rows) else rows * sums[:, None]

    def right(self, Z: Array) -> Array:
        """Return the rows [z, 1, |z|^2]."""
        return augmented(Z, self.scaled, lambda Z: (1, squared_norms(Z)))

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return 1 / (l.r), with l.r at least the row sum despite rounding, or one if sums run over landmarks."""
        D = product(L, R)
        np.maximum(D, 1 if self._bounded else dense(L[:, [-1]]), out=D)
        return np.reciprocal(D, out=D)

    def row_sums(self, X: Array) -> np.ndarray:
        """Return the sums of g over the right set. Cost O(n m width), or that of X Z^T if both are sparse."""
        if sparse.issparse(X) and sparse.issparse(self.right_set_):
            structure = _StudentStructure(self, self.right_set_)
            return over_rows(X, self.right_set_, lambda X, P: structure.parts(X, P)[2])
        Z = self.scaled(self.right_set_)
        c = 1 + squared_norms(Z)

        def sums(X: Array, P: np.ndarray) -> np.ndarray:
            values = 1 / np.maximum(squared_norms(X)[:, None] + c - 2 * P, 1)
            return values @ self.weights_

        return over_rows(self.scaled(X), Z, sums)

    def structure(self, Z: sparse.csr_array) -> Structure:
        """Return the expansion on sparse data, K = a function of both norms, numerically of low rank, + sparse."""
        return _StudentStructure(self, Z)


class _StudentStructure(Structure):
    """Expansion of g = 1 / (r + c - 2 x.z), where r = |x|^2 and c = 1 + |z|^2, around 1 / (r + c)."""

    def __init__(self, kernel: StudentT, Z: sparse.csr_array) -> None:
        self.kernel = kernel
        self.is_right_set = Z is kernel.right_set_
        self.c = 1 + squared_norms(kernel.scaled(Z))
        self.nodes, self.right = _nodes(self.c)
        self.total = self.right.sum(axis=0)

    def parts(self, X: Array, P: sparse.csr_array) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the left factors (n, q), g at the entries of P, and the row sums of g."""
        r, bandwidth = squared_norms(self.kernel.scaled(X)), P.dtype.type(self.kernel.bandwidth)
        left = 1 / (r[:, None] + self.nodes)
        distances = per_entry(r, P) + self.c[P.indices]
        values = 1 / np.maximum(distances - 2 * (P.data / bandwidth / bandwidth), 1)
        return left, values, left @ self.total + row_sums(values - 1 / distances, P)

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        left, values, sums = self.parts(X, P)
        if not self.is_right_set:
            sums = self.kernel.row_sums(X)
        return left / sums[:, None], values / per_entry(sums, P)


def _nodes(c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return nodes t (q,) and weights W (m, q) with 1 / (r + c_j) = sum_q W[j, q] / (r + t_q) for all r >= 0.

    Few distinct c are tabulated. Others are interpolated in log c at Chebyshev nodes: 1 / (r + c) is analytic in log c
    within a strip of half-width pi, so that the error decreases geometrically, at a rate that depends on their range.
    """
    distinct, which = np.unique(c, return_inverse=True)
    if len(distinct) <= TABULATED_NORMS:
        return distinct, np.eye(len(distinct), dtype=c.dtype)[which]
    half = np.log(distinct[-1] / distinct[0]) / 2
    height = np.pi / half
    decay = np.log(height + np.hypot(1, height))  # log rho of the largest Bernstein ellipse inside the strip
    q = int(np.ceil(-np.log(np.finfo(c.dtype).eps) / decay)) + 1
    angles = (2 * np.arange(q) + 1) * np.pi / (2 * q)
    nodes = np.log(distinct[0]) + half * (1 + np.cos(angles))
    signs = (-1.0) ** np.arange(q)
    weights = BarycentricInterpolator(nodes, np.eye(q), wi=signs * np.sin(angles))(np.log(c))
    return np.exp(nodes).astype(c.dtype), weights.astype(c.dtype)
