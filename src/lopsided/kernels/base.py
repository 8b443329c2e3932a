"""What a kernel is, and the kernels whose values come from elsewhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from .points import Array, check_sides, dense

PullBack = Callable[[np.ndarray], np.ndarray]
Weighted = tuple[Array, np.ndarray]  # points, and how many points of a larger set each of them stands for


class Kernel(BaseEstimator, ABC):
    """A similarity k(x, z) that need not equal k(z, x).

    ``kernel(X, Z)`` is the dense (n, m) array of all pairs of rows. What depends on data (a bandwidth left
    to the kernel, the set over which it is normalised) is learned by ``fit(X, Z)`` and kept from then on; a
    kernel that was never fitted learns it from the two arrays it is called with, and forgets it.

    To write one, give ``pairs``. Work that belongs to one side only (norms, scaling) goes to ``left`` and
    ``right``, so that an operator does it once and not for every block.

    Attributes
    ----------
    widths_ : (int, int)
        Columns of the left and of the right points it was fitted on.
    """

    _parameter_constraints: dict[str, Any] = {}

    @property
    def same_width(self) -> bool:
        """Whether left and right points must have as many entries."""
        return True

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn what the kernel takes from data: X is (n, width), Z is (m, width)."""
        self._validate_params()
        for side in (X, Z):
            if not hasattr(side, "dtype") or side.ndim != 2 or (self.same_width and side.dtype.kind != "f"):
                what = f"{type(side).__name__} of {getattr(side, 'dtype', 'no one type')}, shape {np.shape(side)}"
                raise TypeError(f"fit takes arrays of floats with two dimensions, not {what}; see numpy.asarray")
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

    def differentiate(self, X: np.ndarray, Z: np.ndarray) -> tuple[np.ndarray, PullBack]:
        """The values k(X, Z) of dense points, and the pull-back of a loss through them to Z.

        The pull-back takes W = dL / dK, shape (n, m), to dL / dZ = sum_i W_ij dk(x_i, z_j) / dz_j, shape (m, width).
        Parameters that were learned at ``fit`` stay; a kernel that is normalised over the right set sums over Z.
        Cost: that of the values and of one product (m, n) x (n, width).
        """
        from .names import with_derivative  # the kernels that have one stand above this module

        having = ", ".join(with_derivative())
        raise TypeError(f"{self!r} offers no derivative; {having} do, and sums, products and multiples of them")

    def check_widths(self, X: Array, Z: Array) -> None:
        """Refuse points that are not as wide as those the kernel was fitted on."""
        if (X.shape[1], Z.shape[1]) != self.widths_:
            raise ValueError(
                f"X and Z have {X.shape[1]} and {Z.shape[1]} columns, but {self!r} was fitted on "
                f"{self.widths_[0]} and {self.widths_[1]}"
            )

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x) for all points, so that the matrix of one set is known by its half."""
        return False

    @property
    def commutes(self) -> bool:
        """Whether ``pairs(R, L)`` is the transpose of ``pairs(L, R)``, as it is for functions of l.r alone."""
        return False

    @property
    def normalised(self) -> bool:
        """Whether values are divided by sums over a whole set."""
        return False

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``left`` costs little more than to read the points, so that it may be done anew for each block."""
        return not self.normalised

    @property
    def right_is_cheap(self) -> bool:
        """Whether ``right`` costs as little."""
        return True

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
        from .arithmetic import Swapped  # kernels made of kernels stand above this module

        refuse_values(self)
        swapped = Swapped(self)
        if hasattr(self, "widths_"):
            swapped.kernel_, swapped.widths_ = self, self.widths_[::-1]
        return swapped

    def __add__(self, other: Kernel) -> Kernel:
        from .arithmetic import Sum

        refuse_values(self, other)
        return Sum(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self if isinstance(other, Real) and other == 0 else NotImplemented  # so begins sum(kernels)

    def __mul__(self, other: Kernel | float) -> Kernel:
        from .arithmetic import Product, Scaled

        refuse_values(self, other)
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


class Function(Kernel):
    """Any vectorised callable: function(X, Z) returns the (n, m) array of all pairs.

    Parameters
    ----------
    function : callable
        Takes the two arrays of points, of any widths, or blocks of their rows.

    Notes
    -----
    Cost: that of the function. It is called for each block where the matrix is not stored.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import Function
    >>> Function(lambda X, Z: np.maximum(X - Z.T, 0))([[1.0], [3.0]], [[0.0], [2.0]])
    array([[1., 0.],
           [3., 1.]])
    """

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    @property
    def same_width(self) -> bool:
        """What the function wants is its own affair."""
        return False

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Call the function and hold it to its shape."""
        try:
            K = self.function(L, R)
        except (TypeError, ValueError) as error:
            hint = "they are sparse, and X.toarray() makes them dense" if sparse.issparse(L) else ""
            if L.shape[1] != R.shape[1]:
                hint = "KernelSVD(compatibility='pca') brings points to one width"
            kind = TypeError if isinstance(error, TypeError) else ValueError  # numpy's own take other arguments
            raise kind(
                f"the kernel function failed for left points of shape {L.shape} and right points of shape {R.shape}: "
                f"{error}{hint and '; '}{hint}"
            ) from error
        K = dense(K)
        if K.dtype.kind == "c":
            raise ValueError("the kernel function returned complex values; it must return real ones")
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

    Notes
    -----
    Cost: a copy of the columns that are asked for.

    Examples
    --------
    >>> from lopsided.kernels import Precomputed
    >>> Precomputed()([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0], [2]])
    array([[1., 3.],
           [4., 6.]])
    """

    @property
    def same_width(self) -> bool:
        """Values and column numbers are not compared."""
        return False

    @property
    def of_columns(self) -> Precomputed:
        """The kernel of the transposed values, whose left points are columns."""
        return self

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Select the columns that the right points name."""
        K = L[:, np.asarray(R, dtype=np.intp).ravel()]
        return K.toarray() if sparse.issparse(K) else K


def refuse_values(*kernels: Any) -> None:
    """Stop arithmetic on kernel values that were computed elsewhere."""
    if any(isinstance(kernel, Precomputed) for kernel in kernels):
        raise TypeError(
            "kernels of given values are not combined, nor transposed; do so with the matrices, and pass the result"
        )
