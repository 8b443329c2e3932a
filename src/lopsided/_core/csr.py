"""Row-wise operations on the stored entries of CSR arrays."""

import numpy as np
from scipy import sparse


def row_numbers(P: sparse.csr_array) -> np.ndarray:
    """Return the row number of every stored entry."""
    return per_entry(np.arange(P.shape[0]), P)


def per_entry(values: np.ndarray, P: sparse.csr_array) -> np.ndarray:
    """Repeat one value per row for every stored entry of that row."""
    return np.repeat(values, np.diff(P.indptr))


def with_entries(P: sparse.csr_array, values: np.ndarray) -> sparse.csr_array:
    """Return P with other stored entries, sharing its index arrays."""
    return sparse.csr_array((values, P.indices, P.indptr), shape=P.shape)


def scale_rows(X: sparse.csr_array, weights: np.ndarray) -> sparse.csr_array:
    """Return diag(weights) X, sharing the index arrays of X."""
    return with_entries(X, X.data * per_entry(weights, X))


def some_entries(P: sparse.csr_array, chosen: np.ndarray) -> sparse.csr_array:
    """Keep the stored entries of P for which ``chosen``, an array aligned with ``P.data``, is true."""
    kept = np.flatnonzero(chosen)
    indptr = np.searchsorted(kept, P.indptr).astype(P.indptr.dtype)
    return sparse.csr_array((P.data[kept], P.indices[kept], indptr), shape=P.shape)


def row_sums(values: np.ndarray, P: sparse.csr_array) -> np.ndarray:
    """Sum ``values``, an array aligned with ``P.data``, over each row of P."""
    return _reduced(np.add, values, P, np.zeros(P.shape[0], dtype=values.dtype))


def row_peaks(values: np.ndarray, P: sparse.csr_array, least: float) -> np.ndarray:
    """Return the maximum of ``values``, an array aligned with ``P.data``, and ``least`` in each row of P."""
    return _reduced(np.maximum, values, P, np.full(P.shape[0], least, dtype=values.dtype))


def _reduced(join: np.ufunc, values: np.ndarray, P: sparse.csr_array, start: np.ndarray) -> np.ndarray:
    """Reduce the values of each row and its entry of ``start`` with a ufunc; overwrites ``start``."""
    filled = np.flatnonzero(np.diff(P.indptr))
    if len(filled):  # reduceat would give an empty row the first entry of the next one
        start[filled] = join(start[filled], join.reduceat(values, P.indptr[filled]))
    return start
