"""The kernel interface, and the arithmetic of kernels: exchanged arguments, sums, products and multiples."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable
from copy import copy
from numbers import Real
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from .._core import Array, Documented, check_finite, check_sides, gate
from .constraints import FINITE
from .points import side_by_side

PullBack = Callable[[np.ndarray], np.ndarray]
WeightedPoints = tuple[Array, np.ndarray]  # points, and the number of points of a larger set that each one represents
DIFFERENTIABLE = "Linear, Polynomial, LinearPolynomial, Exponential, RBF, SNE, Attention, Tanh"


class Kernel(Documented, ABC):
    """A similarity k(x, z) that need not equal k(z, x).

    ``kernel(X, Z)`` is the dense (n, m) array of values for all pairs of rows. ``fit(X, Z)`` learns what depends on
    data, such as a default bandwidth or the set over which rows are normalised. Calling an unfitted kernel fits a copy
    on the two arrays; the kernel itself stays unfitted. Points are sparse where the data are.

    Subclasses implement ``pairs``, and :func:`lopsided.testing.check_kernel` tests them. Work that concerns one side
    only (norms, scaling) belongs in ``left`` and ``right``, so that operators do it once instead of for every block.

    Attributes
    ----------
    widths_ : (int, int)
        Number of columns of the left and of the right points seen during ``fit``.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import Kernel
    >>> class Excess(Kernel):
    ...     def pairs(self, L, R):
    ...         return np.maximum(L[:, None, :] - R[None, :, :], 0).sum(axis=2)
    >>> Excess()(np.array([[3.0]]), np.array([[1.0], [4.0]]))
    array([[2., 0.]])
    """

    _parameter_constraints: dict[str, Any] = {}
    same_width: bool = True  # left and right points must have the same number of columns
    symmetric: bool = False  # k(x, z) = k(z, x) for all points, so that one triangle determines k(X, X)
    commutes: bool = False  # ``pairs(R, L)`` is the transpose of ``pairs(L, R)``, as for functions of l.r alone
    normalised: bool = False  # values are divided by sums over a set of points
    takes_values: bool = False  # left points are rows of given values; such kernels are not combined with others

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn data-dependent parameters from X of shape (n, width) and Z of shape (m, width)."""
        self._validate_params()
        for side in (X, Z):
            if not hasattr(side, "dtype") or side.ndim != 2 or (self.same_width and side.dtype.kind != "f"):
                what = f"{type(side).__name__} of {getattr(side, 'dtype', 'no one type')}, shape {np.shape(side)}"
                raise TypeError(
                    f"fit takes two-dimensional arrays of floats, not {what}; convert them with numpy.asarray"
                )
        if self.same_width and X.shape[1] != Z.shape[1]:
            raise ValueError(
                f"{self!r} compares vectors of one width, but X has {X.shape[1]} columns and Z has "
                f"{Z.shape[1]}; map them to the same width with a compatibility (KernelSVD(compatibility='pca'))"
            )
        self.widths_ = (X.shape[1], Z.shape[1])
        return self

    @gate
    def __call__(self, X: Array, Z: Array) -> np.ndarray:
        """Return the (n, m) array of k(x_i, z_j)."""
        X, Z = check_sides(X, Z)
        kernel = self if hasattr(self, "widths_") else clone(self).fit(X, Z)
        kernel.check_widths(X, Z)
        K = kernel.pairs(kernel.left(X), kernel.right(Z))
        check_finite(K)
        return K

    def check_widths(self, X: Array, Z: Array) -> None:
        """Raise ValueError if the points differ in width from those seen during ``fit``."""
        if (X.shape[1], Z.shape[1]) != self.widths_:
            raise ValueError(
                f"X and Z have {X.shape[1]} and {Z.shape[1]} columns, but {self!r} was fitted on "
                f"{self.widths_[0]} and {self.widths_[1]}"
            )

    def left(self, X: Array) -> Array:
        """Prepare the left points for ``pairs``, row by row."""
        return X

    def right(self, Z: Array) -> Array:
        """Prepare the right points for ``pairs``, row by row."""
        return Z

    @abstractmethod
    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return k(x_i, z_j) for all pairs of rows of ``left(X)`` and ``right(Z)``, as a new array."""

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values k(X, Z) of dense points, and the pull-back of a loss through them to Z.

        The pull-back maps W = dL / dK, shape (n, m), to dL / dZ = sum_i W_ij dk(x_i, z_j) / dz_j, shape (m, width).
        Parameters learned by ``fit`` are held fixed; a kernel normalised over the right set is normalised over Z.
        Cost: that of the values and of one product (m, n) x (n, width).
        """
        raise TypeError(f"{self!r} has no derivative; {DIFFERENTIABLE} do, and sums, products and multiples of them")

    def normalised_over(self, left: WeightedPoints, right: WeightedPoints) -> Kernel:
        """Return this fitted kernel normalised over a few weighted points, or itself if it is not normalised."""
        return self

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``left`` costs little more than reading the points, so that operators may redo it for each block."""
        return not self.normalised

    @property
    def right_is_cheap(self) -> bool:
        """Whether ``right`` costs little more than reading the points."""
        return True

    @property
    def T(self) -> Kernel:
        """The same kernel with its arguments exchanged, fitted if this one is."""
        _check_combinable(self)
        swapped = Swapped(self)
        if hasattr(self, "widths_"):
            swapped.kernel_, swapped.widths_ = self, self.widths_[::-1]
        return swapped

    def __add__(self, other: Kernel) -> Kernel:
        if not isinstance(other, Kernel):
            return NotImplemented
        _check_combinable(self, other)
        return Sum(self, other)

    def __radd__(self, other: object) -> Kernel:
        return self if isinstance(other, Real) and other == 0 else NotImplemented  # sum(kernels) starts with 0

    def __mul__(self, other: Kernel | float) -> Kernel:
        if not isinstance(other, (Kernel, Real)):
            return NotImplemented
        _check_combinable(self, other)
        return Product(self, other) if isinstance(other, Kernel) else Scaled(self, float(other))

    __rmul__ = __mul__


def _of_parts(combine: Callable[[Iterable[object]], bool], name: str) -> Any:
    """Return a property that combines, by any or all, a property of the parts."""
    doc = f"Whether ``{name}`` holds for {combine.__name__} of the parts."
    return property(lambda self: combine(getattr(getattr(self, part), name) for part in self._names), doc=doc)


class Composite(Kernel):
    """A kernel made of other kernels.

    Attributes
    ----------
    kernel_, first_, second_ : Kernel
        The fitted kernels, each under its name with a trailing underscore.
    """

    _names: tuple[str, ...]
    same_width = _of_parts(any, "same_width")
    symmetric = _of_parts(all, "symmetric")
    commutes = _of_parts(all, "commutes")
    normalised = _of_parts(any, "normalised")
    left_is_cheap = _of_parts(all, "left_is_cheap")
    right_is_cheap = _of_parts(all, "right_is_cheap")

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit the parts on the same data."""
        self.check_parts()
        for name in self._names:
            setattr(self, f"{name}_", clone(getattr(self, name)).fit(X, Z))
        return super().fit(X, Z)

    def check_parts(self) -> None:
        """Raise TypeError if a part is not a kernel."""
        for name in self._names:
            if not isinstance(getattr(self, name), Kernel):
                kind = type(getattr(self, name)).__name__
                raise TypeError(f"{name} of {type(self).__name__} must be a Kernel, not a {kind}; as_kernel makes one")

    def left(self, X: Array) -> Array:
        """Prepare the left points for every part, side by side."""
        return side_by_side([getattr(self, f"{name}_").left(X) for name in self._names])

    def right(self, Z: Array) -> Array:
        """Prepare the right points for every part, side by side."""
        return side_by_side([getattr(self, f"{name}_").right(Z) for name in self._names])

    def normalised_over(self, left: WeightedPoints, right: WeightedPoints) -> Kernel:
        """Return a copy whose parts are normalised over these points."""
        twin = copy(self)
        for name in self._names:
            setattr(twin, f"{name}_", getattr(self, f"{name}_").normalised_over(left, right))
        return twin


class Swapped(Composite):
    """A kernel with its arguments exchanged, k'(z, x) = k(x, z).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import SNE
    >>> X, kernel = np.array([[0.0], [1.0], [3.0]]), SNE(1.0)
    >>> bool(np.allclose(kernel.fit(X, X).T(X, X), kernel(X, X).T))
    True
    """

    _names = ("kernel",)
    kernel_: Kernel
    left_is_cheap = _of_parts(all, "right_is_cheap")
    right_is_cheap = _of_parts(all, "left_is_cheap")

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit the inner kernel with the two sides exchanged."""
        self.check_parts()
        self.kernel_ = clone(self.kernel).fit(Z, X)
        self.widths_ = (X.shape[1], Z.shape[1])
        return self

    def left(self, X: Array) -> Array:
        """Prepare the points as right points of the inner kernel."""
        return self.kernel_.right(X)

    def right(self, Z: Array) -> Array:
        """Prepare the points as left points of the inner kernel."""
        return self.kernel_.left(Z)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return the transposed block of the inner kernel, in C order if that kernel commutes."""
        return self.kernel_.pairs(L, R) if self.kernel_.commutes else self.kernel_.pairs(R, L).T

    def normalised_over(self, left: WeightedPoints, right: WeightedPoints) -> Kernel:
        """Return the exchange of the inner kernel normalised over these points."""
        return self.kernel_.normalised_over(right, left).T

    @property
    def T(self) -> Kernel:
        """The inner kernel, fitted if this one is."""
        return self.kernel_ if hasattr(self, "kernel_") else self.kernel


class Scaled(Composite):
    """A multiple of a kernel, k(x, z) = factor kernel(x, z).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import Linear
    >>> (0.5 * Linear())(np.array([[3.0]]), np.array([[2.0]])).item()
    3.0
    """

    _parameter_constraints: dict[str, Any] = {"factor": [FINITE]}
    _names = ("kernel",)
    kernel_: Kernel

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel, self.factor = kernel, factor

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return factor kernel(x, z)."""
        return float(self.factor) * self.kernel_.pairs(L, R)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the pull-back of the inner kernel, both times the factor."""
        (K, pull_back), factor = self.kernel_.differentiate(X, Z), float(self.factor)
        return factor * K, lambda W: factor * pull_back(W)


class Pair(Composite):
    """Two kernels of the same points; ``combine`` makes one block of values of two, elementwise."""

    _names = ("first", "second")
    combine: ClassVar[np.ufunc]
    first_: Kernel
    second_: Kernel

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first, self.second = first, second

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit both kernels on the same data."""
        super().fit(X, Z)
        self._splits = self.first_.left(X[:1]).shape[1], self.first_.right(Z[:1]).shape[1]
        return self

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Evaluate both kernels and combine their blocks."""
        p, q = self._splits
        K: np.ndarray = self.combine(self.first_.pairs(L[:, :p], R[:, :q]), self.second_.pairs(L[:, p:], R[:, q:]))
        return K


class Sum(Pair):
    """The sum of two kernels, k(x, z) = first(x, z) + second(x, z).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF, Linear
    >>> (Linear() + RBF(1.0))(np.array([[2.0]]), np.array([[2.0]])).item()
    5.0
    """

    combine = np.add

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the sum of both pull-backs."""
        (K, one), (L, other) = self.first_.differentiate(X, Z), self.second_.differentiate(X, Z)
        return K + L, lambda W: one(W) + other(W)


class Product(Pair):
    """The product of two kernels, k(x, z) = first(x, z) second(x, z).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import Linear
    >>> (Linear() * Linear())(np.array([[3.0]]), np.array([[2.0]])).item()
    36.0
    """

    combine = np.multiply

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the sum of both pull-backs, each applied to W times the values of the other kernel."""
        (K, one), (L, other) = self.first_.differentiate(X, Z), self.second_.differentiate(X, Z)
        return K * L, lambda W: one(W * L) + other(W * K)


def _check_combinable(*kernels: Any) -> None:
    """Raise TypeError if any of the kernels takes precomputed values, which have no kernel arithmetic."""
    if any(isinstance(kernel, Kernel) and kernel.takes_values for kernel in kernels):
        raise TypeError(
            "precomputed kernels cannot be combined or transposed; combine or transpose the matrices instead, and pass "
            "the result"
        )
