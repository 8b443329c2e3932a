"""What is done to the stored entries of a CSR array, row by row."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def row_numbers(P: sparse.csr_array) -> np.ndarray:
    """The row of every stored entry."""
    return per_entry(np.arange(P.shape[0]), P)


def per_entry(values: np.ndarray, P: sparse.csr_array) -> np.ndarray:
    """For every stored entry the value of its row, from values of the rows."""
    return np.repeat(values, np.diff(P.indptr))


def scale_rows(X: sparse.csr_array, weights: np.ndarray) -> sparse.csr_array:
    """diag(weights) X, sharing the pattern of X."""
    return sparse.csr_array((X.data * per_entry(weights, X), X.indices, X.indptr), shape=X.shape)


def some_entries(P: sparse.csr_array, chosen: np.ndarray) -> sparse.csr_array:
    """P with only those stored entries for which ``chosen``, an array like ``P.data``, is true."""
    kept = np.flatnonzero(chosen)
    indptr = np.searchsorted(kept, P.indptr).astype(P.indptr.dtype)
    return sparse.csr_array((P.data[kept], P.indices[kept], indptr), shape=P.shape)


def row_sums(values: np.ndarray, P: sparse.csr_array) -> np.ndarray:
    """Sums over each row of P of values, an array like ``P.data``."""
    return _reduced(np.add, values, P, np.zeros(P.shape[0], dtype=values.dtype))


def row_peaks(values: np.ndarray, P: sparse.csr_array, least: float) -> np.ndarray:
    """The largest of values, an array like ``P.data``, in each row of P; never less than ``least``."""
    return _reduced(np.maximum, values, P, np.full(P.shape[0], least, dtype=values.dtype))


def _reduced(join: np.ufunc, values: np.ndarray, P: sparse.csr_array, start: np.ndarray) -> np.ndarray:
    """The values of each row and its number in ``start``, joined by a ufunc; overwrites ``start``."""
    filled = np.flatnonzero(np.diff(P.indptr))
    if len(filled):  # reduceat takes an empty row for its successor's first entry
        start[filled] = join(start[filled], join.reduceat(values, P.indptr[filled]))
    return start
