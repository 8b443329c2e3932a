"""The arithmetic by which kernels make kernels: exchange of arguments, sums, products and scalings."""

from __future__ import annotations

from abc import abstractmethod
from copy import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from .base import Kernel, PullBack, Weighted
from .points import Array


class Swapped(Kernel):
    """The kernel k'(z, x) = k(x, z).

    Attributes
    ----------
    kernel_ : Kernel
        k, fitted.
    """

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

    @property
    def symmetric(self) -> bool:
        """As the inner kernel."""
        return self.kernel.symmetric

    @property
    def same_width(self) -> bool:
        """As the inner kernel."""
        return self.kernel.same_width

    @property
    def normalised(self) -> bool:
        """As the inner kernel."""
        return self.kernel.normalised

    @property
    def left_is_cheap(self) -> bool:
        """Whether the inner kernel's right is."""
        return self.kernel_.right_is_cheap

    @property
    def right_is_cheap(self) -> bool:
        """Whether the inner kernel's left is."""
        return self.kernel_.left_is_cheap

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """The inner kernel narrowed, with the two sides exchanged."""
        return self.kernel_.narrowed(right, left).T

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit the inner kernel with the two sides exchanged."""
        self.kernel_ = clone(self.kernel).fit(Z, X)
        self.widths_ = (X.shape[1], Z.shape[1])
        return self

    def left(self, X: Array) -> Array:
        """The inner kernel's view of these points as right points."""
        return self.kernel_.right(X)

    def right(self, Z: Array) -> Array:
        """The inner kernel's view of these points as left points."""
        return self.kernel_.left(Z)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return the transpose of the inner kernel's block, in the order of memory that a block of rows has."""
        return self.kernel_.pairs(L, R) if self.kernel_.commutes else self.kernel_.pairs(R, L).T

    @property
    def T(self) -> Kernel:
        """The kernel this one exchanged, fitted if this one is."""
        return self.kernel_ if hasattr(self, "kernel_") else self.kernel


class Pair(Kernel):
    """Two kernels evaluated on the same points; the subclass says how their values combine.

    Attributes
    ----------
    first_, second_ : Kernel
        Both, fitted.
    splits_ : (int, int)
        Columns of ``left`` and of ``right`` that belong to the first.
    """

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

    @property
    def symmetric(self) -> bool:
        """Whether both kernels are."""
        return self.first.symmetric and self.second.symmetric

    @property
    def same_width(self) -> bool:
        """Whether either kernel asks for it."""
        return self.first.same_width or self.second.same_width

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit both kernels on the same data."""
        self.first_ = clone(self.first).fit(X, Z)
        self.second_ = clone(self.second).fit(X, Z)
        self.splits_ = self.first_.left(X[:1]).shape[1], self.first_.right(Z[:1]).shape[1]
        return super().fit(X, Z)

    @property
    def normalised(self) -> bool:
        """Whether either kernel is."""
        return self.first.normalised or self.second.normalised

    @property
    def left_is_cheap(self) -> bool:
        """Whether it is for both kernels."""
        return self.first_.left_is_cheap and self.second_.left_is_cheap

    @property
    def right_is_cheap(self) -> bool:
        """Whether it is for both kernels."""
        return self.first_.right_is_cheap and self.second_.right_is_cheap

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """Both kernels narrowed."""
        narrow = copy(self)
        narrow.first_, narrow.second_ = self.first_.narrowed(left, right), self.second_.narrowed(left, right)
        return narrow

    def left(self, X: Array) -> Array:
        """What both kernels need of the left points, side by side."""
        return side_by_side(self.first_.left(X), self.second_.left(X))

    def right(self, Z: Array) -> Array:
        """What both kernels need of the right points, side by side."""
        return side_by_side(self.first_.right(Z), self.second_.right(Z))

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Evaluate both kernels and combine their blocks."""
        p, q = self.splits_
        return self.combine(self.first_.pairs(L[:, :p], R[:, :q]), self.second_.pairs(L[:, p:], R[:, q:]))

    @staticmethod
    @abstractmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Combine the two blocks, entry by entry."""


class Sum(Pair):
    """k(x, z) = first(x, z) + second(x, z)."""

    @staticmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Add the blocks."""
        return K + other

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values, and the sum of both pull-backs."""
        (K, one), (L, other) = self.first_.differentiate(X, Z), self.second_.differentiate(X, Z)
        return K + L, lambda W: one(W) + other(W)


class Product(Pair):
    """k(x, z) = first(x, z) second(x, z)."""

    @staticmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Multiply the blocks."""
        return K * other

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values, and the pull-back of each kernel for W times the values of the other."""
        (K, one), (L, other) = self.first_.differentiate(X, Z), self.second_.differentiate(X, Z)
        return K * L, lambda W: one(W * L) + other(W * K)


class Scaled(Kernel):
    """k(x, z) = factor kernel(x, z).

    Attributes
    ----------
    kernel_ : Kernel
        The inner kernel, fitted.
    """

    _parameter_constraints: dict[str, Any] = {"factor": [Interval(Real, None, None, closed="neither")]}

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

    @property
    def symmetric(self) -> bool:
        """As the inner kernel."""
        return self.kernel.symmetric

    @property
    def same_width(self) -> bool:
        """As the inner kernel."""
        return self.kernel.same_width

    def fit(self, X: Array, Z: Array) -> Self:
        """Fit the inner kernel."""
        self.kernel_ = clone(self.kernel).fit(X, Z)
        return super().fit(X, Z)

    @property
    def normalised(self) -> bool:
        """As the inner kernel."""
        return self.kernel.normalised

    @property
    def left_is_cheap(self) -> bool:
        """As the inner kernel."""
        return self.kernel_.left_is_cheap

    @property
    def right_is_cheap(self) -> bool:
        """As the inner kernel."""
        return self.kernel_.right_is_cheap

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """The inner kernel narrowed."""
        narrow = copy(self)
        narrow.kernel_ = self.kernel_.narrowed(left, right)
        return narrow

    def left(self, X: Array) -> Array:
        """As the inner kernel."""
        return self.kernel_.left(X)

    def right(self, Z: Array) -> Array:
        """As the inner kernel."""
        return self.kernel_.right(Z)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return factor kernel(x, z)."""
        return float(self.factor) * self.kernel_.pairs(L, R)

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values, and the inner kernel's pull-back times the factor."""
        (K, pull_back), factor = self.kernel_.differentiate(X, Z), float(self.factor)
        return factor * K, lambda W: factor * pull_back(W)


def side_by_side(first: Array, second: Array) -> Array:
    """The columns of both, sparse if either is."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.csr_array(sparse.hstack([first, second], format="csr"))
    return np.hstack([first, second])
