"""The choice of an operator for a kernel and its data."""

from functools import reduce
from operator import add

import numpy as np
from scipy import sparse
from sklearn.exceptions import NotFittedError

from .._core import Array, RowBlocks, checked, dense
from ..kernels import (
    GraphKernel,
    Katz,
    Kernel,
    Linear,
    Precomputed,
    Scaled,
    SparseKernel,
    Standardised,
    Sum as SumKernel,
    Swapped,
)
from .base import KernelOperator
from .blocked import Blocked, Prepared
from .by_blocks import ByBlocks
from .combined import LowRank, Sum
from .forecast import forecast
from .resolvent import Resolvent
from .sparse_slices import sparse_plus_low_rank
from .stored import Stored


@checked(kernel=[Kernel])
def as_operator(kernel: Kernel, X: Array, Z: Array, *, budget: int = 0) -> KernelOperator:
    """Return k(X, Z) as an operator: structured if the data are sparse, stored if it fits, and blocked otherwise.

    Sparse data whose product X Z^T is more than half full count as dense. The linear kernel stays a product of factors
    if dense data have few columns. Rows in blocks are multiplied block by block.

    Parameters
    ----------
    kernel : Kernel
        A fitted kernel.
    X, Z : arrays or sparse matrices of shape (n, width) and (m, width)
        The left and the right points.
    budget : int, default=0
        Memory that the operator may use for stored entries, in bytes.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF
    >>> from lopsided.operators import as_operator
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> [type(as_operator(RBF(1.0).fit(X, X), X, X, budget=size)).__name__ for size in (10**6, 1)]
    ['Stored', 'Blocked']
    """
    if not hasattr(kernel, "widths_"):
        raise NotFittedError(f"{kernel!r} is not fitted; pass kernel.fit(X, Z)")
    if not all(getattr(points, "ndim", 0) == 2 for points in (X, Z)):
        kinds = " and ".join(f"{type(points).__name__} of shape {np.shape(points)}" for points in (X, Z))
        raise TypeError(f"X and Z must be arrays or CSR matrices with two dimensions, not {kinds}")
    if isinstance(X, RowBlocks):
        return ByBlocks(kernel, X, Z, as_operator)
    if isinstance(Z, RowBlocks):
        return ByBlocks(kernel.T, Z, X, as_operator).T
    if isinstance(kernel, Precomputed):
        return Stored(_columns(kernel.left(X), dense(Z)))
    if isinstance(kernel, Katz):
        return Resolvent(kernel, kernel.numbers(X), kernel.numbers(Z))
    if isinstance(kernel, GraphKernel):
        return Stored(kernel.block(X, Z))
    if isinstance(kernel, Swapped):
        return as_operator(kernel.T, Z, X, budget=budget).T
    if is_indexed(kernel) and isinstance(kernel, (Scaled, SumKernel)):
        return _of_parts(kernel, X, Z, budget)
    if is_factored(kernel, X, Z):
        return LowRank(X, Z)
    if sparse.issparse(X) and sparse.issparse(Z):
        if isinstance(kernel, Standardised):
            return as_operator(kernel.kernel_, kernel.in_units(X), kernel.in_units(Z), budget=budget)
        if isinstance(kernel, SparseKernel) and not (expected := forecast(X, Z)).crowded:
            return sparse_plus_low_rank(kernel, X, Z, budget, expected)
        if isinstance(kernel, (Scaled, SumKernel)):
            return _of_parts(kernel, X, Z, budget)
    left_by_block = kernel.left_is_cheap and not sparse.issparse(X)
    right_by_block = kernel.right_is_cheap and Z.shape[0] > X.shape[0] and not sparse.issparse(Z)
    L = Prepared(kernel.left, X) if left_by_block else kernel.left(X)
    R = Prepared(kernel.right, Z) if right_by_block else kernel.right(Z)
    blocked = Blocked(kernel, L, R)
    return blocked if is_matrix_free(kernel, X, Z, budget) else Stored(blocked.stored())


def out_of_sample_operator(kernel: Kernel, X: Array, Z: Array, *, of_right: bool = False) -> KernelOperator:
    """Return k(X, Z) for new left points, or k(X, Z)^T for new right points, with a memory budget of zero.

    For precomputed kernels the new points are rows of values against all points of the other side, and the other side
    is given by its numbers.
    """
    if not of_right:
        return as_operator(kernel, X, Z)
    if isinstance(kernel, Precomputed):
        return as_operator(kernel.of_columns, Z, X)
    return as_operator(kernel, X, Z).T


def is_matrix_free(kernel: Kernel, X: Array, Z: Array, budget: int) -> bool:
    """Whether the dense matrix would exceed the budget, so that every product evaluates it again."""
    if is_indexed(kernel):
        return any(is_matrix_free(part, X, Z, budget) for part in _parts(kernel))
    if is_factored(kernel, X, Z):
        return False
    return X.shape[0] * Z.shape[0] * np.result_type(X.dtype, Z.dtype).itemsize > budget


def is_factored(kernel: Kernel, X: Array, Z: Array) -> bool:
    """Whether the matrix is X Z^T and its factors are sparse, or take less than half of its memory."""
    if not isinstance(kernel, Linear) or isinstance(X, RowBlocks) or isinstance(Z, RowBlocks):
        return False
    both_sparse = sparse.issparse(X) and sparse.issparse(Z)
    both_dense = not sparse.issparse(X) and not sparse.issparse(Z)
    (n, width), m = X.shape, Z.shape[0]
    return both_sparse or (both_dense and 2 * width * (n + m) < n * m)


def is_indexed(kernel: Kernel) -> bool:
    """Whether the kernel, or one that it transposes, scales or adds, looks up values by node or column number."""
    return isinstance(kernel, (Precomputed, GraphKernel)) or any(map(is_indexed, _parts(kernel)))


def _parts(kernel: Kernel) -> list[Kernel]:
    """Return the kernels of which this one is a transpose, a multiple or a sum."""
    if isinstance(kernel, (Swapped, Scaled)):
        return [kernel.kernel]
    return [kernel.first, kernel.second] if isinstance(kernel, SumKernel) else []


def _of_parts(kernel: Scaled | SumKernel, X: Array, Z: Array, budget: int) -> KernelOperator:
    """Return the operator of a multiple or a sum, part by part; stored parts are merged unless X is sparse."""
    fitted = [kernel.kernel_] if isinstance(kernel, Scaled) else [kernel.first_, kernel.second_]
    factors = [kernel.factor] if isinstance(kernel, Scaled) else [1.0, 1.0]
    parts = [as_operator(part, X, Z, budget=budget // len(fitted)) for part in fitted]
    if sparse.issparse(X) or not all(isinstance(part, Stored) for part in parts):
        return Sum(parts, factors)
    return Stored(reduce(add, (factor * part.K for part, factor in zip(parts, factors, strict=True))))


def _columns(K: Array, numbers: np.ndarray) -> Array:
    """Return the columns of K with the given numbers, or K itself if these are all columns in order."""
    numbers = numbers.ravel().astype(np.intp)
    return K if np.array_equal(numbers, np.arange(K.shape[1])) else K[:, numbers]
