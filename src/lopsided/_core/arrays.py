"""Validation of sets of points, and their conversion to the array formats that kernels expect."""

from copy import copy
from typing import Any, TypeVar, cast

import numpy as np
from scipy import sparse
from sklearn.utils import validation
from sklearn.utils.validation import validate_data

from .finite import gate
from .row_blocks import RowBlocks
from .rows import as_indexable, reject_masked
from .threads import slices_of

Array = np.ndarray | sparse.csr_array  # validated: float32 or float64, shape (n, width)
ArrayLike = Any  # what users pass: also lists, data frames, files that can be sliced, iterators of row blocks
Kind = TypeVar("Kind", bound=Array)  # dense stays dense, and sparse sparse
FLOATS = (np.float64, np.float32)
# scikit-learn looks for infinities by a sum, in which both signs make NaN with a warning; they are refused all the same
check_array = gate(validation.check_array)
SLAB_ENTRIES = 1 << 20  # entries of two sets that are compared at once, so that files are read piecewise


def check_points(points: ArrayLike, name: str) -> Array:
    """Validate a set of points: finite, two-dimensional, float32 or float64; sparse input becomes canonical CSR.

    Points in blocks are validated block by block, whenever one is read.
    """
    if isinstance(points, RowBlocks):
        return cast(Array, points)
    return canonical(check_array(reject_masked(points, name), accept_sparse="csr", dtype=FLOATS, input_name=name))


def check_samples(estimator: Any, X: ArrayLike, *, reset: bool) -> Array:
    """Validate the samples of an estimator, and store or compare their width and column names."""
    X = as_indexable(X, "X")
    if isinstance(X, RowBlocks):
        validate_data(estimator, X.header(), skip_check_array=True, reset=reset)
        return cast(Array, X)
    return canonical(validate_data(estimator, X, accept_sparse="csr", dtype=FLOATS, reset=reset))


def check_sides(X: ArrayLike, Z: ArrayLike) -> tuple[Array, Array]:
    """Validate two sets of points and convert both to a common dtype; sets of equal values become one object."""
    is_one_object, X = Z is X, check_points(X, "X")
    Z = X if is_one_object else check_points(Z, "Z")
    dtype = np.result_type(X.dtype, Z.dtype)
    X, Z = X.astype(dtype, copy=False), Z.astype(dtype, copy=False)
    return X, X if same_points(X, Z) else Z


def same_points(X: Array, Z: Array) -> bool:
    """Whether two sets hold the same values in the same order, compared in slabs of rows: at most O(n width).

    What depends on this, and not on whether both are one object, gives a copy of the points the same answer. Blocks of
    rows are not read for it: they are the same if both come from the same source by the same steps.
    """
    if X is Z:
        return True
    if isinstance(X, RowBlocks) or isinstance(Z, RowBlocks):
        return isinstance(X, RowBlocks) and X.same_as(Z)
    if X.shape != Z.shape or X.dtype != Z.dtype or sparse.issparse(X) != sparse.issparse(Z):
        return False
    if sparse.issparse(X):
        return all(np.array_equal(getattr(X, part), getattr(Z, part)) for part in ("indptr", "indices", "data"))
    slabs = slices_of(X.shape[0], max(1, SLAB_ENTRIES // max(1, X.shape[1])))
    return all(np.array_equal(X[rows], Z[rows]) for rows in slabs)


def dense(X: ArrayLike) -> np.ndarray:
    """Convert a sparse matrix or array-like to a numpy array."""
    return X.toarray() if sparse.issparse(X) else np.asarray(X)


def canonical(S: Kind) -> Kind:
    """Convert a sparse matrix to a CSR array with sorted indices and no duplicates; the input is not modified."""
    S = by_rows(S)
    if sparse.issparse(S) and not S.has_canonical_format:
        A = S.copy()
        A.sum_duplicates()
        return cast(Kind, A)
    return S


def by_rows(S: Kind) -> Kind:
    """Convert a sparse matrix to a CSR array, with 32-bit indices (faster) where they fit; return others unchanged."""
    if not sparse.issparse(S):
        return S
    A: sparse.csr_array = copy(S)  # scipy caches flags on its input
    if not isinstance(S, sparse.csr_array):
        A = sparse.csr_array(S)
    if A.indices.dtype == np.int64 and max(*A.shape, A.nnz) <= np.iinfo(np.int32).max:
        A = sparse.csr_array((A.data, A.indices.astype(np.int32), A.indptr.astype(np.int32)), shape=A.shape)
    return cast(Kind, A)
