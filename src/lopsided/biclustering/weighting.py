"""Weighting of a table before biclustering: unit-length rows and tf-idf."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from .._core import Array, by_rows, row_lengths, scale_rows

WEIGHTINGS = ("tfidf", "length")


class Weighting(NamedTuple):
    """Scale rows to unit length; "tfidf" first multiplies column j by 1 + log((1 + n) / (1 + nonzeros of column j)).

    These are the defaults of scikit-learn's TfidfTransformer, for dense tables and negative entries too. None leaves
    the table unchanged. Sparse tables stay sparse, and the input is not modified.
    """

    name: str | None
    column_weights: np.ndarray  # one per column of the table that was weighted
    lengths: np.ndarray  # of the rows of that table, after its columns were weighted

    @classmethod
    def of_table(cls, name: str | None, X: Array) -> Self:
        """Compute column weights and row lengths. Cost O(nnz)."""
        column_weights = _column_weights(name, X)
        lengths = np.ones(X.shape[0]) if name is None else _lengths(_scale_columns(X, column_weights))
        return cls(name, column_weights, lengths)

    def rows(self, X: Array) -> Array:
        """Apply the weighting to rows with as many entries as the table has columns."""
        if self.name is None:
            return X
        Y = _scale_columns(X, self.column_weights)
        return _scale_rows(Y, 1 / _lengths(Y))

    def columns(self, Z: Array) -> Array:
        """Apply the weighting to new columns, passed as rows with one entry per row of the table."""
        if self.name is None:
            return Z
        return _scale_rows(_scale_columns(Z, 1 / self.lengths), _column_weights(self.name, Z.T))


def _column_weights(name: str | None, X: Array) -> np.ndarray:
    if name != "tfidf":
        return np.ones(X.shape[1])
    filled = np.asarray((X != 0).sum(axis=0)).ravel()
    return 1 + np.log((1 + X.shape[0]) / (1 + filled))


def _scale_columns(X: Array, weights: np.ndarray) -> Array:
    """X diag(weights), in the dtype of X."""
    weights = weights.astype(X.dtype)
    return by_rows(X @ sparse.diags_array(weights)) if sparse.issparse(X) else X * weights


def _scale_rows(X: Array, weights: np.ndarray) -> Array:
    """diag(weights) X, in the dtype of X."""
    weights = weights.astype(X.dtype)
    return scale_rows(X, weights) if sparse.issparse(X) else X * weights[:, None]


def _lengths(X: Array) -> np.ndarray:
    """Lengths of the rows; one for rows of zeros, and for those too short to have a reciprocal."""
    lengths = row_lengths(X)
    return np.where(lengths < np.finfo(X.dtype).tiny, 1, lengths)
