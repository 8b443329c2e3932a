"""The kernel interface."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone

from .._core import Array, Documented, check_finite, check_sides, gate

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
        return _composite().exchanged(self)

    def __add__(self, other: Kernel) -> Kernel:
        return _composite().added(self, other) if isinstance(other, Kernel) else NotImplemented

    def __radd__(self, other: object) -> Kernel:
        return self if isinstance(other, Real) and other == 0 else NotImplemented  # sum(kernels) starts with 0

    def __mul__(self, other: Kernel | float) -> Kernel:
        return _composite().multiplied(self, other) if isinstance(other, (Kernel, Real)) else NotImplemented

    __rmul__ = __mul__


def _composite() -> Any:
    """Kernels made of kernels; imported late, as they derive from this one."""
    from . import composite

    return composite
