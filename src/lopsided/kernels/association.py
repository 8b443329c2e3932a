"""Association between the rows and columns of a table: its entries, normalised by row and column sums."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from .._core import Array, canonical, per_entry, whole, with_entries
from .constraints import NON_NEGATIVE, POSITIVE
from .given import Precomputed

# `python benchmarks/biclustering_table2.py ablation` changes these, and the power and regularization.
COUNT_EXPONENT = 0.5  # of the sums for counts, whose noise grows with the square roots of both sums
WEIGHT_EXPONENT = 0.25  # of column sums for weights such as tf-idf, which are already small in frequent columns


class Association(Precomputed):
    """k(i, j) = y_ij / ((r_i + t mean r)^(1/2) (c_j + t mean c)^b) with y = sign(x) |x|^power.

    r_i and c_j are the sums of |y| over row i and over column j of the table x: where they are large, so are entries,
    associated or not. The regularisation t keeps rows and columns with very small sums from getting the largest values.
    A left point is a row of the table; a right point is a column number, as for ``Precomputed``.

    Parameters
    ----------
    power : float, default=0.75
        Exponent that dampens large entries. It has no effect on tables of zeros and ones.
    regularization : float, default=1.0
        t, in units of the mean sum.
    column_exponent : float or None, default=None
        b. None means 1/2 for a table of integers, since the noise of counts grows with the square roots of both sums,
        and 1/4 for other tables, since weights such as tf-idf are already small in frequent columns.

    Attributes
    ----------
    column_exponent_ : float
        The exponent b, given or chosen from the data.

    Notes
    -----
    Cost: O(nnz), the number of nonzero entries of the table.

    With power=1 and column_exponent=0.5 it is the normalisation of Dhillon's co-clustering for regularization=0, which
    bounds the singular values by one, and that of Qin and Rohe for regularization=1.

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

    _parameter_constraints = {
        "power": [POSITIVE],
        "regularization": [NON_NEGATIVE],
        "column_exponent": [NON_NEGATIVE, None],
    }

    def __init__(self, power: float = 0.75, regularization: float = 1.0, column_exponent: float | None = None) -> None:
        self.power, self.regularization, self.column_exponent = power, regularization, column_exponent

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the row and column sums of the table. Cost O(nnz)."""
        super().fit(X, Z)
        chosen = COUNT_EXPONENT if whole(X.data if sparse.issparse(X) else X) else WEIGHT_EXPONENT
        self.column_exponent_ = chosen if self.column_exponent is None else self.column_exponent
        sizes = abs(self._tamed(X))
        self._left = _Sums(np.asarray(sizes.sum(axis=1)).ravel(), COUNT_EXPONENT)
        self._right = _Sums(np.asarray(sizes.sum(axis=0)).ravel(), self.column_exponent_)
        return self

    def left(self, X: Array) -> Array:
        """Return the values of the rows against every column of the fitted table, sparse if X is. Cost O(nnz)."""
        Y = self._tamed(X)
        rows = self._left.weights(np.asarray(abs(Y).sum(axis=1)).ravel(), self.regularization)
        columns = self._right.weights(self._right.sums, self.regularization)
        if not sparse.issparse(Y):
            return rows[:, None] * Y * columns
        return with_entries(Y, Y.data * per_entry(rows, Y) * columns[Y.indices])

    @property
    def column_sums(self) -> np.ndarray:
        """The sums c of the fitted table."""
        return self._right.sums

    @property
    def of_columns(self) -> Association:
        """The kernel of the transposed table, whose left points are new columns of this table."""
        turned = Association(self.power, self.regularization, self.column_exponent)
        turned.widths_ = (len(self._left.sums), 1)
        turned._left, turned._right = self._right, self._left
        return turned

    def _tamed(self, X: Array) -> Array:
        """Return sign(x) |x|^power."""
        if sparse.issparse(X):
            X = canonical(X)
            return with_entries(X, np.asarray(self._tamed(X.data)))
        return np.copysign(np.abs(X) ** X.dtype.type(self.power), X)


class _Sums(NamedTuple):
    """The sums of |y| over rows or columns of the fitted table, and their exponent in the denominator."""

    sums: np.ndarray
    exponent: float

    def weights(self, sums: np.ndarray, regularization: float) -> np.ndarray:
        """Return (sums + t mean)^-exponent, and zero where the base is zero."""
        total = sums + sums.dtype.type(regularization * self.sums.mean())
        return np.where(total > 0, np.where(total > 0, total, 1) ** sums.dtype.type(-self.exponent), 0)
