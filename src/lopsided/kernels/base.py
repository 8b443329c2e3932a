"""The kernel interface, and kernels defined by a callable or by precomputed values."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, clone

from .._core import Array, check_sides, dense

PullBack = Callable[[np.ndarray], np.ndarray]
Weighted = tuple[Array, np.ndarray]  # points, and the number of points of a larger set that each one represents


class Kernel(BaseEstimator, ABC):
    """A similarity k(x, z) that need not equal k(z, x).

    ``kernel(X, Z)`` is the dense (n, m) array of values for all pairs of rows. ``fit(X, Z)`` learns what depends on
    data, such as a default bandwidth or the set over which rows are normalised. Calling an unfitted kernel fits a copy
    on the two arrays; the kernel itself stays unfitted.

    Subclasses implement ``pairs``. Work that concerns one side only (norms, scaling) belongs in ``left`` and
    ``right``, so that operators do it once instead of for every block.

    Attributes
    ----------
    widths_ : (int, int)
        Number of columns of the left and of the right points seen during ``fit``.
    """

    _parameter_constraints: dict[str, Any] = {}

    @property
    def same_width(self) -> bool:
        """Whether left and right points must have the same number of columns."""
        return True

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn data-dependent parameters from X of shape (n, width) and Z of shape (m, width)."""
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
        """Return the values k(X, Z) of dense points, and the pull-back of a loss through them to Z.

        The pull-back maps W = dL / dK, shape (n, m), to dL / dZ = sum_i W_ij dk(x_i, z_j) / dz_j, shape (m, width).
        Parameters learned by ``fit`` are held fixed; a kernel normalised over the right set is normalised over Z.
        Cost: that of the values and of one product (m, n) x (n, width).
        """
        from .names import with_derivative  # a circular import at module level: kernels import this module

        having = ", ".join(with_derivative())
        raise TypeError(f"{self!r} offers no derivative; {having} do, and sums, products and multiples of them")

    def check_widths(self, X: Array, Z: Array) -> None:
        """Raise ValueError if the points differ in width from those seen during ``fit``."""
        if (X.shape[1], Z.shape[1]) != self.widths_:
            raise ValueError(
                f"X and Z have {X.shape[1]} and {Z.shape[1]} columns, but {self!r} was fitted on "
                f"{self.widths_[0]} and {self.widths_[1]}"
            )

    @property
    def symmetric(self) -> bool:
        """Whether k(x, z) = k(z, x) for all points, so that one triangle determines k(X, X)."""
        return False

    @property
    def commutes(self) -> bool:
        """Whether ``pairs(R, L)`` is the transpose of ``pairs(L, R)``, as for functions of l.r alone."""
        return False

    @property
    def normalised(self) -> bool:
        """Whether values are divided by sums over a set of points."""
        return False

    @property
    def left_is_cheap(self) -> bool:
        """Whether ``left`` costs little more than reading the points, so that operators may redo it for each block."""
        return not self.normalised

    @property
    def right_is_cheap(self) -> bool:
        """Whether ``right`` costs little more than reading the points."""
        return True

    def narrowed(self, left: Weighted, right: Weighted) -> Kernel:
        """Return this fitted kernel normalised over a few weighted points, or itself if it is not normalised."""
        return self

    def left(self, X: Array) -> Array:
        """Prepare the left points for ``pairs``, row by row."""
        return X

    def right(self, Z: Array) -> Array:
        """Prepare the right points for ``pairs``, row by row."""
        return Z

    @abstractmethod
    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Return k(x_i, z_j) for all pairs of rows of ``left(X)`` and ``right(Z)``, as a new array."""

    @property
    def T(self) -> Kernel:
        """The same kernel with its arguments exchanged, fitted if this one is."""
        from .arithmetic import Swapped  # a circular import at module level

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
        return self if isinstance(other, Real) and other == 0 else NotImplemented  # sum(kernels) starts with 0

    def __mul__(self, other: Kernel | float) -> Kernel:
        from .arithmetic import Product, Scaled

        refuse_values(self, other)
        if isinstance(other, Kernel):
            return Product(self, other)
        return Scaled(self, float(other)) if isinstance(other, Real) else NotImplemented

    __rmul__ = __mul__


class Function(Kernel):
    """A kernel defined by a vectorised callable: function(X, Z) returns the (n, m) array of all pairs.

    Parameters
    ----------
    function : callable
        Takes two arrays of points, or blocks of their rows; the two widths may differ.

    Notes
    -----
    Cost: that of the function, which is called once per block where the matrix is not stored.

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
        """False: the function itself decides which widths it accepts."""
        return False

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Call the function and check the shape and type of its result."""
        try:
            K = self.function(L, R)
        except (TypeError, ValueError) as error:
            hint = "they are sparse, and X.toarray() makes them dense" if sparse.issparse(L) else ""
            if L.shape[1] != R.shape[1]:
                hint = "KernelSVD(compatibility='pca') brings points to one width"
            kind = TypeError if isinstance(error, TypeError) else ValueError  # numpy's subclasses take other arguments
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
    """A kernel whose values are given as a matrix.

    A left point is its row of values against every right point, and a right point is its column number:
    ``Precomputed()(K, [[0], [2]])`` is ``K[:, [0, 2]]``.

    Notes
    -----
    Cost: a copy of the selected columns.

    Examples
    --------
    >>> from lopsided.kernels import Precomputed
    >>> Precomputed()([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0], [2]])
    array([[1., 3.],
           [4., 6.]])
    """

    @property
    def same_width(self) -> bool:
        """False: left points are rows of values, right points are column numbers."""
        return False

    @property
    def of_columns(self) -> Precomputed:
        """The kernel of the transposed matrix, whose left points are columns of this one."""
        return self

    def right(self, Z: Array) -> np.ndarray:
        """Check that the right points are numbers of columns."""
        numbers, m = dense(Z), self.widths_[0]
        if numbers.shape[1] != 1 or not np.isin(numbers, np.arange(m)).all():
            raise ValueError(
                f"right points of {self!r} are column numbers from 0 to {m - 1}, of shape (points, 1); got shape "
                f"{numbers.shape} with values from {numbers.min():g} to {numbers.max():g}"
            )
        return numbers

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Select the columns whose numbers the right points give."""
        K = L[:, np.asarray(R, dtype=np.intp).ravel()]
        return K.toarray() if sparse.issparse(K) else K


def refuse_values(*kernels: Any) -> None:
    """Raise TypeError if any of the kernels holds precomputed values, which have no kernel arithmetic."""
    if any(isinstance(kernel, Precomputed) for kernel in kernels):
        raise TypeError(
            "kernels of given values are not combined, nor transposed; do so with the matrices, and pass the result"
        )
