"""Kernels that are functions of the inner product, k(x, z) = h(x.z)."""

from abc import abstractmethod
from typing import Self

import numpy as np
from scipy import sparse

from .._core import Array
from .base import PullBack
from .constraints import COUNT, FINITE, POSITIVE
from .points import product
from .structure import SparseKernel, Structure


class InnerProductKernel(SparseKernel):
    """Base class of the kernels k(x, z) = h(x.z): one matrix product, then h elementwise."""

    symmetric = True  # x.z is symmetric
    commutes = True  # ``pairs`` is a function of l.r

    @abstractmethod
    def profile(self, P: np.ndarray) -> np.ndarray:
        """Return h of every entry of P; may overwrite P."""

    @abstractmethod
    def derivative(self, P: np.ndarray) -> np.ndarray:
        """Return h' of every entry of P, or a zero-dimensional array if h' is constant."""

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return h(x.z) for all pairs."""
        return self.profile(product(L, R))

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the pull-back W -> (W * h'(X Z^T))^T X."""
        P = product(X, Z)
        slopes = self.derivative(P)
        return self.profile(P), lambda W: (W * slopes).T @ X

    def structure(self, Z: sparse.csr_array) -> Structure:
        """Return the expansion on sparse data, K = h(0) + sparse."""
        return _InnerStructure(self, Z)


class _InnerStructure(Structure):
    """Expansion of an inner-product kernel around h(0)."""

    def __init__(self, kernel: InnerProductKernel, Z: sparse.csr_array) -> None:
        self.kernel = kernel
        self.right = np.ones((Z.shape[0], 1), dtype=Z.dtype)
        self.level = float(kernel.profile(np.zeros(1))[0])

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        return np.ones((X.shape[0], 1), dtype=P.dtype), self.kernel.profile(P.data.copy())

    def slope(self, unit: float) -> float | None:
        slope = (float(self.kernel.profile(np.array([unit]))[0]) - self.level) / unit
        return slope if np.isfinite(slope) else None


class Linear(InnerProductKernel):
    """The linear kernel, k(x, z) = x.z.

    Cost: one product X Z^T, O(n m width), less if sparse.

    Examples
    --------
    >>> from lopsided.kernels import Linear
    >>> Linear()([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[11.,  2.]])
    """

    def profile(self, P: np.ndarray) -> np.ndarray:
        """Return P unchanged."""
        return P

    def derivative(self, P: np.ndarray) -> np.ndarray:
        """Return one."""
        return np.ones((), dtype=P.dtype)


class Polynomial(InnerProductKernel):
    """The polynomial kernel, k(x, z) = (x.z + offset)^degree.

    Cost: one product X Z^T, O(n m width), less if sparse.

    Parameters
    ----------
    degree : int, default=2
        Exponent, at least one.
    offset : float, default=1.0
        Added to the inner product; the 2024 paper takes 1 (B.1).

    Examples
    --------
    >>> from lopsided.kernels import Polynomial
    >>> Polynomial(degree=2, offset=1.0)([[1.0, 2.0]], [[3.0, 4.0], [0.0, 1.0]])
    array([[144.,   9.]])
    """

    _parameter_constraints = {"degree": [COUNT], "offset": [FINITE]}

    def __init__(self, degree: int = 2, offset: float = 1.0) -> None:
        self.degree, self.offset = degree, offset

    def profile(self, P: np.ndarray) -> np.ndarray:
        """Return (u + offset)^degree."""
        P += float(self.offset)
        with np.errstate(over="ignore"):  # overflow is reported later
            return np.power(P, int(self.degree), out=P)

    def derivative(self, P: np.ndarray) -> np.ndarray:
        """Return degree (u + offset)^(degree - 1)."""
        degree = int(self.degree)
        return degree * (P + float(self.offset)) ** (degree - 1)


class LinearPolynomial(InnerProductKernel):
    """Linear minus polynomial, k(x, z) = u - weight u^degree with u = x.z (the 2016 paper, section 5).

    Cost: one product X Z^T, O(n m width), less if sparse.

    Parameters
    ----------
    weight : float, default=0.5
        The paper's c, positive.
    degree : int, default=2
        The paper's d.

    Examples
    --------
    >>> from lopsided.kernels import LinearPolynomial
    >>> LinearPolynomial(weight=0.5, degree=2)([[1.0]], [[1.0], [2.0], [3.0]])
    array([[ 0.5,  0. , -1.5]])
    """

    _parameter_constraints = {"weight": [POSITIVE], "degree": [COUNT]}

    def __init__(self, weight: float = 0.5, degree: int = 2) -> None:
        self.weight, self.degree = weight, degree

    def profile(self, P: np.ndarray) -> np.ndarray:
        """Return u - weight u^degree."""
        return P - float(self.weight) * P ** int(self.degree)

    def derivative(self, P: np.ndarray) -> np.ndarray:
        """Return 1 - weight degree u^(degree - 1)."""
        degree = int(self.degree)
        return 1 - float(self.weight) * degree * P ** (degree - 1)


class Tanh(InnerProductKernel):
    """The sigmoid kernel, k(x, z) = tanh(slope x.z + offset), which is indefinite.

    Cost: one product X Z^T, O(n m width), less if sparse.

    Parameters
    ----------
    slope : float or None, default=None
        The papers' c, of any sign; None means 1 / width.
    offset : float, default=0.0
        The papers' t.

    Attributes
    ----------
    slope_ : float
        The slope, given or derived from the width.

    Examples
    --------
    >>> from lopsided.kernels import Tanh
    >>> Tanh(slope=1.0)([[1.0]], [[-2.0], [0.0], [2.0]]).round(3)
    array([[-0.964,  0.   ,  0.964]])
    """

    _parameter_constraints = {"slope": [FINITE, None], "offset": [FINITE]}

    def __init__(self, slope: float | None = None, offset: float = 0.0) -> None:
        self.slope, self.offset = slope, offset

    def fit(self, X: Array, Z: Array) -> Self:
        """Set the slope from the width of the data if it is None."""
        super().fit(X, Z)
        self.slope_ = 1.0 / X.shape[1] if self.slope is None else float(self.slope)
        return self

    def profile(self, P: np.ndarray) -> np.ndarray:
        """Return tanh(slope u + offset)."""
        P *= self.slope_
        P += float(self.offset)
        return np.tanh(P, out=P)

    def derivative(self, P: np.ndarray) -> np.ndarray:
        """Return slope (1 - tanh(slope u + offset)^2)."""
        return self.slope_ * (1 - np.tanh(self.slope_ * P + float(self.offset)) ** 2)
