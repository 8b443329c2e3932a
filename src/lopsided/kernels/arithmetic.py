"""Kernels composed of other kernels: exchanged arguments, sums, products and multiples."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from .._core import Array
from .base import Kernel, PullBack, Weighted


class Derived(Kernel):
    """A kernel that has the properties of the one it is made from."""

    kernel: Kernel

    @property
    def symmetric(self) -> bool:
        """Whether the inner kernel is symmetric."""
        return self.kernel.symmetric

    @property
    def same_width(self) -> bool:
        """Whether the inner kernel requires equal widths."""
        return self.kernel.same_width

    @property
    def commutes(self) -> bool:
        """Whether the inner kernel commutes."""
        return self.kernel.commutes

    @property
    def normalised(self) -> bool:
        """Whether the inner kernel is normalised."""
        return self.kernel.normalised


class Swapped(Derived):
    """A kernel with its arguments exchanged, k'(z, x) = k(x, z).

    Attributes
    ----------
    kernel_ : Kernel
        The fitted kernel k.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``right`` of the inner kernel is cheap."""
        return self.kernel_.right_is_cheap

    @property
    def right_is_cheap(self) -> bool:
        """Whether ``left`` of the inner kernel is cheap."""
        return self.kernel_.left_is_cheap

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """Narrow the inner kernel with the two sides exchanged."""
        return self.kernel_.narrowed(right, left).T

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit the inner kernel with the two sides exchanged."""
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

    @property
    def T(self) -> Kernel:
        """The inner kernel, fitted if this one is."""
        return self.kernel_ if hasattr(self, "kernel_") else self.kernel


class Pair(Kernel):
    """Two kernels evaluated on the same points; subclasses define how their values combine.

    Attributes
    ----------
    first_, second_ : Kernel
        The two fitted kernels.
    splits_ : (int, int)
        Number of columns of ``left`` and of ``right`` that belong to the first kernel.
    """

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    @property
    def symmetric(self) -> bool:
        """Whether both kernels are symmetric."""
        return self.first.symmetric and self.second.symmetric

    @property
    def same_width(self) -> bool:
        """Whether either kernel requires equal widths."""
        return self.first.same_width or self.second.same_width

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit both kernels on the same data."""
        self.first_ = clone(self.first).fit(X, Z)
        self.second_ = clone(self.second).fit(X, Z)
        self.splits_ = self.first_.left(X[:1]).shape[1], self.first_.right(Z[:1]).shape[1]
        return super().fit(X, Z)

    @property
    def normalised(self) -> bool:
        """Whether either kernel is normalised."""
        return self.first.normalised or self.second.normalised

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``left`` is cheap for both kernels."""
        return self.first_.left_is_cheap and self.second_.left_is_cheap

    @property
    def right_is_cheap(self) -> bool:
        """Whether ``right`` is cheap for both kernels."""
        return self.first_.right_is_cheap and self.second_.right_is_cheap

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """Narrow both kernels."""
        narrow = copy(self)
        narrow.first_, narrow.second_ = self.first_.narrowed(left, right), self.second_.narrowed(left, right)
        return narrow

    def left(self, X: Array) -> Array:
        """Stack the prepared left points of both kernels side by side."""
        return side_by_side(self.first_.left(X), self.second_.left(X))

    def right(self, Z: Array) -> Array:
        """Stack the prepared right points of both kernels side by side."""
        return side_by_side(self.first_.right(Z), self.second_.right(Z))

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Evaluate both kernels and combine their blocks."""
        p, q = self.splits_
        return self.combine(self.first_.pairs(L[:, :p], R[:, :q]), self.second_.pairs(L[:, p:], R[:, q:]))

    @staticmethod
    @abstractmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Combine two blocks of kernel values elementwise."""


class Sum(Pair):
    """The sum of two kernels, k(x, z) = first(x, z) + second(x, z)."""

    @staticmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Add the blocks."""
        return K + other

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the sum of both pull-backs."""
        (K, one), (L, other) = self.first_.differentiate(X, Z), self.second_.differentiate(X, Z)
        return K + L, lambda W: one(W) + other(W)


class Product(Pair):
    """The product of two kernels, k(x, z) = first(x, z) second(x, z)."""

    @staticmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Multiply the blocks."""
        return K * other

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the sum of both pull-backs, each applied to W times the values of the other kernel."""
        (K, one), (L, other) = self.first_.differentiate(X, Z), self.second_.differentiate(X, Z)
        return K * L, lambda W: one(W * L) + other(W * K)


class Scaled(Derived):
    """A multiple of a kernel, k(x, z) = factor kernel(x, z).

    Attributes
    ----------
    kernel_ : Kernel
        The fitted inner kernel.
    """

    _parameter_constraints: dict[str, Any] = {"factor": [Interval(Real, None, None, closed="neither")]}

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit the inner kernel."""
        self.kernel_ = clone(self.kernel).fit(X, Z)
        return super().fit(X, Z)

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``left`` of the inner kernel is cheap."""
        return self.kernel_.left_is_cheap

    @property
    def right_is_cheap(self) -> bool:
        """Whether ``right`` of the inner kernel is cheap."""
        return self.kernel_.right_is_cheap

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """Narrow the inner kernel."""
        narrow = copy(self)
        narrow.kernel_ = self.kernel_.narrowed(left, right)
        return narrow

    def left(self, X: Array) -> Array:
        """Prepare the left points for the inner kernel."""
        return self.kernel_.left(X)

    def right(self, Z: Array) -> Array:
        """Prepare the right points for the inner kernel."""
        return self.kernel_.right(Z)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return factor kernel(x, z)."""
        return float(self.factor) * self.kernel_.pairs(L, R)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """Return the values and the pull-back of the inner kernel, both times the factor."""
        (K, pull_back), factor = self.kernel_.differentiate(X, Z), float(self.factor)
        return factor * K, lambda W: factor * pull_back(W)


def side_by_side(first: Array, second: Array) -> Array:
    """Concatenate the columns of two arrays; the result is sparse if either is."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.csr_array(sparse.hstack([first, second], format="csr"))
    return np.hstack([first, second])
