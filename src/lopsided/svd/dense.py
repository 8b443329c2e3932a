"""Full SVD of a dense matrix by LAPACK, with fallback drivers for the case that one does not converge."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from ..exceptions import FallbackWarning, warn
from ..operators import KernelOperator
from .factors import Factors

# Divide and conquer (gesdd) is an order of magnitude faster than QR iteration (gesvd) but occasionally fails to
# converge, and the builds in numpy and scipy fail on different matrices. QR iteration almost never fails.
DRIVERS: dict[str, Callable[[np.ndarray], Any]] = {
    "numpy gesdd": lambda K: np.linalg.svd(K, full_matrices=False),
    "scipy gesdd": lambda K: scipy.linalg.svd(K, full_matrices=False, check_finite=False),
    "scipy gesvd": lambda K: scipy.linalg.svd(K, full_matrices=False, check_finite=False, lapack_driver="gesvd"),
}


def lapack(A: KernelOperator, k: int) -> Factors:
    """Full dense SVD, truncated to k triplets. Cost: O(n m min(n, m)) time, memory for about four n x m matrices."""
    U, s, Vt = _svd(A.take())
    return Factors(U[:, :k], s[:k], Vt[:k].T).canonical()


def _svd(K: np.ndarray) -> Any:
    failures: list[str] = []
    for name, driver in DRIVERS.items():
        try:
            found = driver(K)
        except np.linalg.LinAlgError as error:
            failures.append(f"{name} ({error})")
            continue
        if failures:
            warn(f"{' and '.join(failures)} failed; {name} gave the answer", FallbackWarning)
        return found
    raise np.linalg.LinAlgError(f"no driver could decompose a {K.shape} matrix: {', '.join(failures)}")
