"""Weighting of a table before biclustering: unit-length rows and tf-idf."""

from __future__ import annotations

from typing import Self

import numpy as np
from scipy import sparse

from .._core import Array, by_rows, row_lengths, scale_rows

WEIGHTINGS = ("tfidf", "length")


class Weighting:
    """Scale rows to unit length; "tfidf" first multiplies column j by 1 + log((1 + n) / (1 + nonzeros of column j)).

    These are the defaults of scikit-learn's TfidfTransformer. None leaves the table unchanged. Sparse tables stay
    sparse, and the input is not modified.
    """

    def __init__(self, name: str | None) -> None:
        self.name = name

    def fit(self, X: Array) -> Self:
        """Compute column weights and row lengths. Cost O(nnz)."""
        self.idf_ = self._idf(X) if self.name == "tfidf" else None
        if self.name is not None:
            self.lengths_ = _lengths(self._columns_weighted(X))
        return self

    def rows(self, X: Array) -> Array:
        """Apply the weighting to rows with as many entries as the table has columns."""
        if self.name is None:
            return X
        Y = self._columns_weighted(X)
        return _rows_scaled(Y, 1 / _lengths(Y))

    def columns(self, Z: Array) -> Array:
        """Apply the weighting to new columns, passed as rows with one entry per row of the table."""
        if self.name is None:
            return Z
        weights = self._idf(Z.T) if self.name == "tfidf" else np.ones(Z.shape[0])
        return _rows_scaled(_columns_scaled(Z, 1 / self.lengths_), weights)

    def _columns_weighted(self, X: Array) -> Array:
        return X if self.idf_ is None else _columns_scaled(X, self.idf_)

    def _idf(self, X: Array) -> np.ndarray:
        filled = np.asarray((X != 0).sum(axis=0)).ravel()
        return 1 + np.log((1 + X.shape[0]) / (1 + filled))


def _columns_scaled(X: Array, weights: np.ndarray) -> Array:
    """X diag(weights), in the dtype of X."""
    weights = weights.astype(X.dtype)
    return by_rows(X @ sparse.diags_array(weights)) if sparse.issparse(X) else X * weights


def _rows_scaled(X: Array, weights: np.ndarray) -> Array:
    """diag(weights) X, in the dtype of X."""
    weights = weights.astype(X.dtype)
    return scale_rows(X, weights) if sparse.issparse(X) else X * weights[:, None]


def _lengths(X: Array) -> np.ndarray:
    """Lengths of the rows; one for rows of zeros, and for those too short to have a reciprocal."""
    lengths = row_lengths(X)
    return np.where(lengths < np.finfo(X.dtype).tiny, 1, lengths)
