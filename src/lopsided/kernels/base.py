"""What a kernel is, and the arithmetic by which kernels make kernels."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import check_array

Array = Any  # numpy array or scipy sparse; float32 or float64, shape (n, width)
Weighted = tuple[Array, np.ndarray]  # points, and how many points of a larger set each of them stands for
FLOATS = (np.float64, np.float32)


class Kernel(BaseEstimator, ABC):
    """A similarity k(x, z) that need not equal k(z, x).

    ``kernel(X, Z)`` is the dense (n, m) array of all pairs of rows. What depends on data (a bandwidth left
    to the kernel, the set over which it is normalised) is learned by ``fit(X, Z)`` and kept from then on; a
    kernel that was never fitted learns it from the two arrays it is called with, and forgets it.

    To write one, give ``pairs``. Work that belongs to one side only (norms, scaling) goes to ``left`` and
    ``right``, so that an operator does it once and not for every block.
    """

    _parameter_constraints: dict[str, Any] = {}

    @property
    def same_width(self) -> bool:
        """Whether left and right points must have as many entries."""
        return True

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn what the kernel takes from data: X is (n, width), Z is (m, width)."""
        self._validate_params()
        if not (hasattr(X, "shape") and hasattr(Z, "shape")):
            raise TypeError(f"fit takes arrays, not {type(X).__name__} and {type(Z).__name__}; see numpy.asarray")
        if self.same_width and X.shape[1] != Z.shape[1]:
            raise ValueError(
                f"{self!r} compares vectors of one width, but X has {X.shape[1]} columns and Z has "
                f"{Z.shape[1]}; bring them together with a compatibility (KernelSVD(compatibility='pca'))"
            )
        self.widths_ = (X.shape[1], Z.shape[1])
        return self

    def __call__(self, X: Array, Z: Array) -> np.ndarray:
        """Return the (n, m) array of k(x_i, z_j)."""
        X, Z = check_sides(X, Z)
        kernel = self if hasattr(self, "widths_") else clone(self).fit(X, Z)
        kernel.check_widths(X, Z)
        return kernel.pairs(kernel.left(X), kernel.right(Z))

    def check_widths(self, X: Array, Z: Array) -> None:
        """Refuse points that are not as wide as those the kernel was fitted on."""
        if (X.shape[1], Z.shape[1]) != self.widths_:
            raise ValueError(
                f"X and Z have {X.shape[1]} and {Z.shape[1]} columns, but {self!r} was fitted on "
                f"{self.widths_[0]} and {self.widths_[1]}"
            )

    @property
    def normalised(self) -> bool:
        """Whether values are divided by sums over a whole set."""
        return False

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``left`` costs little more than to read the points, so that it may be done anew for each block."""
        return not self.normalised

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """The fitted kernel with its sums taken over a few weighted points of each side; itself if it has no sums."""
        return self

    def left(self, X: Array) -> Array:
        """What ``pairs`` needs to know of the left points, row by row."""
        return X

    def right(self, Z: Array) -> Array:
        """What ``pairs`` needs to know of the right points, row by row."""
        return Z

    @abstractmethod
    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return all k(x_i, z_j) from rows of ``left(X)`` and of ``right(Z)``, as a new array."""

    @property
    def T(self) -> Kernel:
        """The same kernel with its arguments exchanged, fitted if this one is."""
        swapped = Swapped(self)
        if hasattr(self, "widths_"):
            swapped.kernel_, swapped.widths_ = self, self.widths_[::-1]
        return swapped

    def __add__(self, other: Kernel) -> Kernel:
        refuse_values(self, other)
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __mul__(self, other: Kernel | float) -> Kernel:
        refuse_values(self, other)
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


class Swapped(Kernel):
    """The kernel k'(z, x) = k(x, z)."""

    def __init__(self, kernel: Kernel) -> None:
        self.kernel = kernel

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
        """What is left here is right there, and that costs little."""
        return True

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
        """Return the transpose of the inner kernel's block."""
        return self.kernel_.pairs(R, L).T

    @property
    def T(self) -> Kernel:
        """The kernel this one exchanged, fitted if this one is."""
        return self.kernel_ if hasattr(self, "kernel_") else self.kernel


class Pair(Kernel):
    """Two kernels evaluated on the same points; the subclass says how their values combine."""

    def __init__(self, first: Kernel, second: Kernel) -> None:
        self.first = first
        self.second = second

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


class Product(Pair):
    """k(x, z) = first(x, z) second(x, z)."""

    @staticmethod
    def combine(K: np.ndarray, other: np.ndarray) -> np.ndarray:
        """Multiply the blocks."""
        return K * other


class Scaled(Kernel):
    """k(x, z) = factor kernel(x, z)."""

    def __init__(self, kernel: Kernel, factor: float) -> None:
        self.kernel = kernel
        self.factor = factor

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


class Function(Kernel):
    """Any vectorised callable: function(X, Z) returns the (n, m) array of all pairs."""

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    @property
    def same_width(self) -> bool:
        """What the function wants is its own affair."""
        return False

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Call the function and hold it to its shape."""
        K = np.asarray(self.function(L, R))
        if K.shape != (L.shape[0], R.shape[0]):
            raise ValueError(
                f"the kernel function returned shape {K.shape} for {L.shape[0]} left and {R.shape[0]} right "
                f"points; it must return all pairs, shape {(L.shape[0], R.shape[0])}"
            )
        return K.astype(np.result_type(L.dtype, R.dtype), copy=False)


class Precomputed(Kernel):
    """Kernel values that were computed elsewhere.

    A left point is its row of values against every right point; a right point is its column number, so
    ``Precomputed()(K, [[0], [2]])`` is ``K[:, [0, 2]]``.
    """

    @property
    def same_width(self) -> bool:
        """Values and column numbers are not compared."""
        return False

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Select the columns that the right points name."""
        K = L[:, np.asarray(R, dtype=np.intp).ravel()]
        return K.toarray() if sparse.issparse(K) else K


def refuse_values(*kernels: Any) -> None:
    """Stop arithmetic on kernel values that were computed elsewhere."""
    if any(isinstance(kernel, Precomputed) for kernel in kernels):
        raise TypeError("Precomputed does not combine with other kernels; combine the matrices and pass the result")


def side_by_side(first: Array, second: Array) -> Array:
    """The columns of both, sparse if either is."""
    if sparse.issparse(first) or sparse.issparse(second):
        return sparse.csr_array(sparse.hstack([first, second], format="csr"))
    return np.hstack([first, second])


def check_points(points: Array, name: str) -> Array:
    """Validate a set of points: finite, two-dimensional, float32 or float64, sparse ones in canonical CSR."""
    return canonical(check_array(points, accept_sparse="csr", dtype=FLOATS, input_name=name))


def check_sides(X: Array, Z: Array) -> tuple[Array, Array]:
    """Validate two sets of points and bring them to one floating type; neither is modified."""
    X, Z = check_points(X, "X"), check_points(Z, "Z")
    dtype = np.result_type(X.dtype, Z.dtype)
    return X.astype(dtype, copy=False), Z.astype(dtype, copy=False)


def canonical(S: Array) -> Array:
    """A sparse matrix as a CSR array with sorted entries, each there once; the input is left as it is."""
    S = by_rows(S)
    if sparse.issparse(S) and not S.has_canonical_format:
        S = S.copy()
        S.sum_duplicates()
    return S


def by_rows(S: Array) -> Array:
    """A sparse matrix as a CSR array, with the narrow indices that halve a product's traffic; a dense one as it is."""
    if not sparse.issparse(S):
        return S
    S = sparse.csr_array(S)
    if S.indices.dtype == np.int64 and max(*S.shape, S.nnz) <= np.iinfo(np.int32).max:
        indices, indptr = S.indices.astype(np.int32), S.indptr.astype(np.int32)
        S = sparse.csr_array((S.data, indices, indptr), shape=S.shape)
    return S
