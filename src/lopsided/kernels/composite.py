"""Kernels made of other kernels: exchanged arguments, sums, products and multiples."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from copy import copy
from typing import Any, ClassVar, Self

import numpy as np
from sklearn.base import clone

from .._core import Array
from .base import Kernel, PullBack, WeightedPoints
from .constraints import FINITE
from .points import side_by_side


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


def exchanged(kernel: Kernel) -> Kernel:
    """Return a kernel with its arguments exchanged, fitted if it is."""
    _check_combinable(kernel)
    swapped = Swapped(kernel)
    if hasattr(kernel, "widths_"):
        swapped.kernel_, swapped.widths_ = kernel, kernel.widths_[::-1]
    return swapped


def added(first: Kernel, second: Kernel) -> Kernel:
    """Return the sum of two kernels."""
    _check_combinable(first, second)
    return Sum(first, second)


def multiplied(kernel: Kernel, other: Kernel | float) -> Kernel:
    """Return the product of two kernels, or a multiple of one."""
    _check_combinable(kernel, other)
    return Product(kernel, other) if isinstance(other, Kernel) else Scaled(kernel, float(other))


def _check_combinable(*kernels: Any) -> None:
    """Raise TypeError if any of the kernels takes precomputed values, which have no kernel arithmetic."""
    if any(isinstance(kernel, Kernel) and kernel.takes_values for kernel in kernels):
        raise TypeError(
            "precomputed kernels cannot be combined or transposed; combine or transpose the matrices instead, and pass "
            "the result"
        )
