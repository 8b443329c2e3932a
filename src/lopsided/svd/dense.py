"""Full SVD of a dense matrix."""

from __future__ import annotations

from .._core import svd
from ..operators import KernelOperator
from .factors import Factors


def lapack(A: KernelOperator, k: int) -> Factors:
    """Full dense SVD, truncated to k triplets. Cost: O(n m min(n, m)) time, memory for about four n x m matrices."""
    U, s, Vt = svd(A.take())
    return Factors(U[:, :k], s[:k], Vt[:k].T).canonical()
