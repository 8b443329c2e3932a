"""Kernels given by a callable, or by the matrix of their values."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy import sparse

from .._core import Array, dense
from .base import Kernel


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

    same_width = False  # the function itself decides which widths it accepts

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
