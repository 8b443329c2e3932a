"""Single-vector Lanczos bidiagonalisation, by PROPACK or by ARPACK on the normal equations."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, svds

from ...exceptions import FallbackWarning, warn
from ...operators.base import KernelOperator
from ..factors import Factors


def propack(A: KernelOperator, k: int, *, rng: np.random.Generator, tol: float = 0.0) -> Factors:
    """Leading triplets by PROPACK: small singular values are accurate; falls back to ARPACK if PROPACK fails."""
    try:
        return _svds(A, k, "propack", rng, tol)
    except (np.linalg.LinAlgError, RuntimeError) as error:
        warn(f"PROPACK failed ({error}); ARPACK gave the answer", FallbackWarning)
        return _svds(A, k, "arpack", rng, tol)


def arpack(A: KernelOperator, k: int, *, rng: np.random.Generator, tol: float = 0.0) -> Factors:
    """Leading triplets by ARPACK on A^T A, inaccurate below sqrt(eps) s_1; falls back to PROPACK if ARPACK fails."""
    try:
        return _svds(A, k, "arpack", rng, tol)
    except ArpackError as error:
        warn(f"ARPACK failed ({error}); PROPACK gave the answer", FallbackWarning)
        return _svds(A, k, "propack", rng, tol)


def _svds(A: KernelOperator, k: int, solver: str, rng: np.random.Generator, tol: float) -> Factors:
    At = A.T  # once: transposing a sparse matrix for every product would cost more than the product
    operator = LinearOperator(A.shape, matvec=A.matvec, rmatvec=At.matvec, matmat=A.matmat, dtype=A.dtype)
    V = svds(operator, k, solver=solver, rng=rng, tol=tol, return_singular_vectors="vh")[2].T
    # svds returns vectors orthonormal to about 1e-10, or not at all if A is zero; one product corrects both sides.
    V = np.linalg.qr(V)[0]
    U, s, Wt = np.linalg.svd(A @ V, full_matrices=False)
    return Factors(U, s, V @ Wt.T).canonical()
