"""Single-vector Lanczos bidiagonalisation, by PROPACK or by ARPACK on the normal equations."""

from __future__ import annotations

import numpy as np
from scipy.sparse.linalg import LinearOperator, svds

from ..exceptions import FallbackWarning, warn
from ..operators import KernelOperator
from .factors import Factors
from .krylov import krylov

BLOCK = 8  # columns of a block of the fallback, so that it finds copies of a repeated singular value


def propack(A: KernelOperator, k: int, *, rng: np.random.Generator) -> Factors:
    """Leading triplets by PROPACK: small singular values are accurate; falls back to ``krylov`` if PROPACK fails."""
    return _or_krylov("propack", A, k, rng)


def arpack(A: KernelOperator, k: int, *, rng: np.random.Generator) -> Factors:
    """Leading triplets by ARPACK on A^T A, inaccurate below sqrt(eps) s_1; falls back to ``krylov`` if ARPACK fails."""
    return _or_krylov("arpack", A, k, rng)


def _or_krylov(solver: str, A: KernelOperator, k: int, rng: np.random.Generator) -> Factors:
    try:
        return _svds(A, k, solver, rng)
    except (np.linalg.LinAlgError, RuntimeError) as error:  # ARPACK's errors are RuntimeErrors
        warn(f"{solver.upper()} failed ({error}); krylov gave the answer", FallbackWarning)
        return krylov(A, k, rng=rng, block=max(1, min(BLOCK, (min(A.shape) - k) // 2)))


def _svds(A: KernelOperator, k: int, solver: str, rng: np.random.Generator) -> Factors:
    """Triplets from ``svds``; raises LinAlgError if they are none, as PROPACK's for repeated singular values may be."""
    At = A.T  # once: transposing a sparse matrix for every product would cost more than the product
    operator = LinearOperator(A.shape, matvec=A.matvec, rmatvec=At.matvec, matmat=A.matmat, dtype=A.dtype)
    V = svds(operator, k, solver=solver, rng=rng, return_singular_vectors="vh")[2].T
    # svds returns vectors orthonormal to about 1e-10, or not at all if A is zero; one product corrects both sides.
    V = np.linalg.qr(V)[0]
    U, s, Wt = np.linalg.svd(A @ V, full_matrices=False)
    V = V @ Wt.T
    residual = np.linalg.norm(At @ U - V * s, axis=0).max()
    if residual > np.finfo(A.dtype).eps ** 0.5 * s[0]:
        raise np.linalg.LinAlgError(f"a residual of {residual / s[0]:.1e} of the largest singular value is left")
    return Factors(U, s, V).canonical()
