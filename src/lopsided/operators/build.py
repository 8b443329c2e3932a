"""The operator that suits a kernel and its data."""

from __future__ import annotations

from scipy import sparse

from ..kernels.base import Array, Kernel, Precomputed, Scaled, Swapped
from ..kernels.base import Sum as SumKernel
from ..kernels.inner import Linear
from ..kernels.node import NodeKernel
from ..kernels.structure import SparseKernel
from .base import KernelOperator
from .blocked import Blocked, Prepared
from .compound import LowRank, Sum
from .sparse import forecast, sparse_plus_low_rank
from .stored import Stored


def as_operator(kernel: Kernel, X: Array, Z: Array, *, budget: int, n_jobs: int | None = None) -> KernelOperator:
    """The matrix k(X, Z) of a fitted kernel: structured if the data are sparse, stored if it fits, else blocked.

    Sparse data of which nearly every row meets every other count as dense.

    Parameters
    ----------
    kernel : Kernel
        Fitted.
    X, Z : arrays or sparse matrices of shape (n, width) and (m, width)
        The left and the right points.
    budget : int
        Bytes the operator may keep.
    n_jobs : int or None
        Threads; None is one for each core.
    """
    if isinstance(kernel, Precomputed):
        return Stored(X, n_jobs)
    if isinstance(kernel, NodeKernel):
        return Stored(kernel.block(X, Z), n_jobs)
    if isinstance(kernel, Swapped):
        return as_operator(kernel.T, Z, X, budget=budget, n_jobs=n_jobs).T
    if sparse.issparse(X) and sparse.issparse(Z):
        if isinstance(kernel, Linear):
            return LowRank(X, Z, n_jobs)
        if isinstance(kernel, SparseKernel) and not (expected := forecast(X, Z)).crowded:
            return sparse_plus_low_rank(kernel, X, Z, budget, n_jobs, expected)
        if isinstance(kernel, Scaled):
            return Sum([as_operator(kernel.kernel_, X, Z, budget=budget, n_jobs=n_jobs)], [kernel.factor])
        if isinstance(kernel, SumKernel):
            terms = (kernel.first_, kernel.second_)
            return Sum([as_operator(term, X, Z, budget=budget // 2, n_jobs=n_jobs) for term in terms])
    cheap = kernel.left_is_cheap and not sparse.issparse(X)
    L = Prepared(kernel.left, X) if cheap else kernel.left(X)
    blocked = Blocked(kernel, L, kernel.right(Z), n_jobs)
    size = X.shape[0] * Z.shape[0] * blocked.dtype.itemsize
    return Stored(blocked.stored(), n_jobs) if size <= budget else blocked
