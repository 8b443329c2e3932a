"""The association of the rows and columns of a table: its entries, corrected for how full either is."""

from __future__ import annotations

from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval

from .base import Precomputed
from .csr import per_entry
from .points import Array, canonical

OF_COUNTS = 0.5  # exponent of the sums that divide: the noise of counts grows with the roots of both sums
OF_WEIGHTS = 0.25  # exponent for columns of weights such as tf-idf, which are small in frequent columns already


class Association(Precomputed):
    """k(i, j) = y_ij / ((r_i + t mean r)^(1/2) (c_j + t mean c)^b) with y = sign(x) |x|^power.

    Row i and column j of a table meet in one entry x_ij. Long rows and frequent columns hold large entries whatever
    they have to do with each other. Entries are therefore divided by powers of r_i and c_j, the sums of |y| over their
    row and their column. Rows and columns that hold next to nothing would then have the largest values of all, which t
    prevents.

    A left point is a row of the table; a right point is the number of a column, as for ``Precomputed``.

    Parameters
    ----------
    power : float, default=0.75
        Tames large entries. Tables of zeros and ones are the same for every power.
    regularization : float, default=1.0
        t, in units of the mean sum.
    column_exponent : float or None, default=None
        b, kept in ``column_exponent_``. None is 1/2 for a table of whole numbers: the noise of counts grows with the
        square roots of both sums, and is the same everywhere once it is divided by them. It is 1/4 for other tables,
        as weights such as tf-idf are small in frequent columns already.

    Attributes
    ----------
    column_exponent_ : float
        The b that was taken.

    Notes
    -----
    Cost: O(nnz), the entries of the table that are not zero.

    ``Association(power=1, regularization=0, column_exponent=0.5)`` is the normalisation of Dhillon's co-clustering, by
    which no singular value exceeds one; with ``regularization=1`` it is that of Qin and Rohe.

    References
    ----------
    Dhillon, "Co-clustering documents and words using bipartite spectral graph partitioning", KDD 2001.
    Qin, Rohe, "Regularized spectral clustering under the degree-corrected stochastic blockmodel", NeurIPS 2013.

    Examples
    --------
    >>> from lopsided.kernels import Association
    >>> Association(power=1, regularization=0.0)([[1.0, 0.0], [1.0, 2.0]], [[0], [1]]).round(2)
    array([[0.71, 0.  ],
           [0.41, 0.82]])
    """

    _parameter_constraints: dict[str, Any] = {
        "power": [Interval(Real, 0, None, closed="neither")],
        "regularization": [Interval(Real, 0, None, closed="left")],
        "column_exponent": [Interval(Real, 0, None, closed="left"), None],
    }

    def __init__(self, power: float = 0.75, regularization: float = 1.0, column_exponent: float | None = None) -> None:
        self.power = power
        self.regularization = regularization
        self.column_exponent = column_exponent

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the sums of the table's rows and columns. Cost O(nnz)."""
        super().fit(X, Z)
        sizes = abs(self._tamed(X))
        sums = (np.asarray(sizes.sum(axis=axis)).ravel() for axis in (1, 0))
        row_exponent, self.column_exponent_ = OF_COUNTS, self.column_exponent
        if self.column_exponent_ is None:
            self.column_exponent_ = OF_COUNTS if _whole(X) else OF_WEIGHTS
        self._left, self._right = map(_Sums, sums, (row_exponent, self.column_exponent_))
        return self

    def left(self, X: Array) -> Array:
        """Rows against every column of the fitted table; sparse ones stay sparse. Cost O(nnz)."""
        Y = self._tamed(X)
        rows = self._left.weights(np.asarray(abs(Y).sum(axis=1)).ravel(), self.regularization)
        columns = self._right.weights(self._right.sums, self.regularization)
        if not sparse.issparse(Y):
            return rows[:, None] * Y * columns
        return sparse.csr_array((Y.data * per_entry(rows, Y) * columns[Y.indices], Y.indices, Y.indptr), Y.shape)

    @property
    def of_columns(self) -> Association:
        """The same kernel for the transposed table, whose rows are new columns of this one."""
        turned = Association(self.power, self.regularization, self.column_exponent)
        turned.widths_ = (len(self._left.sums), 1)
        turned._left, turned._right = self._right, self._left
        return turned

    def _tamed(self, X: Array) -> Array:
        """sign(x) |x|^power."""
        if sparse.issparse(X):
            X = canonical(X)
            return sparse.csr_array((self._tamed(X.data), X.indices, X.indptr), X.shape)
        return np.copysign(np.abs(X) ** X.dtype.type(self.power), X)


class _Sums:
    """The sums of one side's tamed entries, and the power by which they divide."""

    def __init__(self, sums: np.ndarray, exponent: float) -> None:
        self.sums, self.exponent = sums, exponent

    def weights(self, sums: np.ndarray, regularization: float) -> np.ndarray:
        """(sums + t mean)^-exponent, and zero where that divides by nothing."""
        total = sums + sums.dtype.type(regularization * self.sums.mean())
        return np.where(total > 0, np.where(total > 0, total, 1) ** sums.dtype.type(-self.exponent), 0)


def _whole(X: Array) -> bool:
    """Whether every entry is a whole number."""
    values = X.data if sparse.issparse(X) else X
    return bool((values == np.rint(values)).all())
