"""Kernels given by a callable, or by the matrix of their values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Self

import numpy as np
from scipy import sparse

from .._core import Array, dense, even_slices
from .base import Kernel

OF_FUNCTIONS = (TypeError, ValueError, IndexError, AttributeError)  # what functions raise for arrays they cannot take
PROBES = 8  # points of each side on which a function is compared with itself on fewer points


class Function(Kernel):
    """A kernel defined by a vectorised callable: function(X, Z) returns the (n, m) array of all pairs.

    Cost: that of the function, which is called once per block where the matrix is not stored.

    Parameters
    ----------
    function : callable
        Takes two arrays of points, or blocks of their rows; the two widths may differ. It gets read-only views of dense
        points and copies of sparse ones, and each value must depend on its two points alone.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import Function
    >>> Function(lambda X, Z: np.maximum(X - Z.T, 0))([[1.0], [3.0]], [[0.0], [2.0]])
    array([[1., 0.],
           [3., 1.]])
    """

    same_width = False  # the function itself decides which widths it accepts

    def __init__(self, function: Callable[[Array, Array], Array]) -> None:
        self.function = function

    def fit(self, X: Array, Z: Array) -> Self:
        """Check on a few points that the value of a pair does not depend on the other points of the block."""
        super().fit(X, Z)
        X, Z = (side[np.unique(np.linspace(0, side.shape[0] - 1, PROBES, dtype=int))] for side in (X, Z))
        K = self._values(X, Z)
        for rows in even_slices(X.shape[0], 2):
            _check_same(K, rows, slice(None), self._values(X[rows], Z), X.dtype)
        for columns in even_slices(Z.shape[0], 2):
            _check_same(K, slice(None), columns, self._values(X, Z[columns]), X.dtype)
        return self

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Call the function, and check the shape and type of its result."""
        return self._values(L, R).astype(np.result_type(L.dtype, R.dtype), copy=False)

    def _values(self, L: Array, R: Array) -> np.ndarray:
        """Call the function; its values may have another dtype than the points."""
        try:
            K = dense(self.function(_read_only(L), _read_only(R)))
        except OF_FUNCTIONS as error:
            kind = TypeError if isinstance(error, TypeError) else ValueError  # numpy's subclasses take other arguments
            raise kind(
                f"the kernel function failed for left points of shape {L.shape} and right points of shape {R.shape}: "
                f"{error}{_hint(error, L, R)}"
            ) from error
        if K.dtype.kind == "c":
            raise ValueError("the kernel function returned complex values; it must return real ones")
        if K.shape != (L.shape[0], R.shape[0]):
            raise ValueError(
                f"the kernel function returned shape {K.shape} for {L.shape[0]} left and {R.shape[0]} right "
                f"points; it must return all pairs, shape {(L.shape[0], R.shape[0])}"
            )
        return K


def _check_same(K: np.ndarray, rows: slice, columns: slice, part: np.ndarray, dtype: np.dtype) -> None:
    """Raise ValueError if ``part``, a block of values of a kernel function, differs from that part of the larger K.

    Rounding may differ by eps^(1/4) of the largest value, in the coarser of the dtypes of points and values: where
    squared distances cancel and a root is taken, eps^(1/2) of the size of the points is left.
    """
    eps = max(float(np.finfo(np.result_type(kind, np.float16)).eps) for kind in (K.dtype, dtype))
    same, part = K[rows, columns].astype(float), part.astype(float)
    with np.errstate(invalid="ignore"):
        gaps = np.nan_to_num(np.abs(part - same), nan=0.0)  # values that are not finite are reported later
    if gaps.max() <= eps**0.25 * np.abs(K[np.isfinite(K)]).max(initial=0.0):
        return
    i, j = np.unravel_index(gaps.argmax(), gaps.shape)
    raise ValueError(
        f"the kernel function gives k(x, z) = {same[i, j]:.4g} in a block of {K.shape[0]} x {K.shape[1]} points and "
        f"{part[i, j]:.4g} for the same pair in one of {part.shape[0]} x {part.shape[1]}; it is called on blocks, "
        "so a value must not depend on the other points. For values divided by sums over the right points take "
        "kernels.SNE or kernels.Attention; otherwise compute the matrix and pass it with kernel='precomputed'"
    )


def _read_only(X: Array) -> Array:
    """Return a read-only view of dense points, or a copy of sparse ones: the data belong to the user."""
    if sparse.issparse(X):
        return X.copy()
    view = X.view()
    view.flags.writeable = False
    return view


def _hint(error: Exception, L: Array, R: Array) -> str:
    """Return what is likely to help against an error of a kernel function."""
    if "read-only" in str(error):
        return "; it must not modify its arguments, so let it work on copies"
    if L.shape[1] != R.shape[1]:
        return "; KernelSVD(compatibility='pca') maps points to the same width"
    return "; they are sparse, and X.toarray() makes them dense" if sparse.issparse(L) else ""


class Precomputed(Kernel):
    """A kernel whose values are given as a matrix.

    A left point is its row of values against every right point, and a right point is its column number:
    ``Precomputed()(K, [[0], [2]])`` is ``K[:, [0, 2]]``.

    Cost: a copy of the selected columns.

    Examples
    --------
    >>> from lopsided.kernels import Precomputed
    >>> Precomputed()([[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], [[0], [2]])
    array([[1., 3.],
           [4., 6.]])
    """

    same_width = False  # left points are rows of values, right points are column numbers
    takes_values = True

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
