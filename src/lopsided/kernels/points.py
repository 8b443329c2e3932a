"""What kernels compute of points before they compare them: products, norms, and rows with further columns."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from .._core import Array, canonical, dense, in_strips, row_sums, run, slices_of

AUGMENTED_ENTRIES = 1 << 17  # entries of augmented points that a thread writes at once


def product(L: Array, R: Array) -> np.ndarray:
    """Return L R^T as a dense array, for dense or sparse factors."""
    if sparse.issparse(L) or sparse.issparse(R):
        return dense(L @ R.T)
    return in_strips(L, R.T)


def squared_norms(X: Array) -> np.ndarray:
    """Return |x_i|^2 for every row."""
    if sparse.issparse(X):
        X = canonical(X)
        return row_sums(np.square(X.data), X)
    return np.einsum("ij,ij->i", X, X)


def augmented(
    X: Array, point: Callable[[Array], Array], columns: Callable[[Array], tuple[Any, Any]], scale: float = 1.0
) -> Array:
    """Return the rows [scale y, columns(y)] for y = point(x), in one threaded pass over dense points."""
    if sparse.issparse(X):
        Y = point(X)
        extra = np.empty((X.shape[0], 2), dtype=X.dtype)
        extra[:, 0], extra[:, 1] = columns(Y)
        return sparse.csr_array(sparse.hstack([scale * Y, sparse.csr_array(extra)], format="csr"))
    wide = np.empty((X.shape[0], X.shape[1] + 2), dtype=X.dtype)

    def fill(rows: slice) -> None:
        Y = point(X[rows])
        wide[rows, -2], wide[rows, -1] = columns(Y)
        np.multiply(Y, scale, out=wide[rows, :-2])

    run(fill, slices_of(X.shape[0], AUGMENTED_ENTRIES // wide.shape[1]))
    return wide


def side_by_side(blocks: list[Array]) -> Array:
    """Concatenate the columns of arrays; the result is sparse if any of them is."""
    if len(blocks) == 1:
        return blocks[0]
    if any(map(sparse.issparse, blocks)):
        return sparse.csr_array(sparse.hstack(blocks, format="csr"))
    return np.hstack(blocks)
