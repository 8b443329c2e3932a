"""The one door to LAPACK's SVD, symmetric eigendecomposition and solve: results are checked, failing drivers replaced.

Divide and conquer is an order of magnitude faster than QR iteration, but on some spectra (many equal values) it does
not converge, or returns vectors that are orthonormal to 1e-9 only. QR iteration has neither fault.
"""

from collections.abc import Callable, Iterable

import numpy as np
import scipy.linalg

from .finite import check_finite
from .threads import ONE_THREAD, with_one_blas_thread

ORTHONORMAL_TO = 100.0  # in units of eps sqrt(rows): loss of orthonormality beyond rounding
PROBES = np.arange(1.0, 4.0)  # frequencies of the fixed vectors with which orthonormality is probed

Parts = tuple[np.ndarray, ...]


def svd(K: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Thin SVD K = U diag(s) Vt; all three are accurate to rounding."""
    U, s, Vt = _first_sound(
        K,
        (
            lambda: np.linalg.svd(K, full_matrices=False),
            lambda: scipy.linalg.svd(K, full_matrices=False, check_finite=False),
            lambda: scipy.linalg.svd(K, full_matrices=False, check_finite=False, lapack_driver="gesvd"),
        ),
        lambda found: (found[0], found[2].T),
    )
    return U, s, Vt


def singular_values(K: np.ndarray) -> np.ndarray:
    """Singular values alone, in descending order."""
    try:
        return np.linalg.svd(K, compute_uv=False)
    except np.linalg.LinAlgError:
        return svd(K)[1]


def eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Ascending eigenvalues and orthonormal eigenvectors of a symmetric matrix, accurate to rounding."""
    values, vectors = _first_sound(
        A,
        (lambda: np.linalg.eigh(A), lambda: scipy.linalg.eigh(A, check_finite=False, driver="ev")),
        lambda found: (found[1],),
    )
    return values, vectors


def solve(A: np.ndarray, B: np.ndarray) -> np.ndarray:
    """Solve A X = B for a square A; both are overwritten."""
    found = with_one_blas_thread(scipy.linalg.solve) if A.size <= ONE_THREAD else scipy.linalg.solve
    return found(A, B, overwrite_a=True, overwrite_b=True, check_finite=False)


def _first_sound(
    A: np.ndarray, drivers: Iterable[Callable[[], Parts]], bases: Callable[[Parts], Iterable[np.ndarray]]
) -> Parts:
    """Result of the first driver that converges to orthonormal bases, or of the last one that converges."""
    if A.size <= ONE_THREAD:
        drivers = [with_one_blas_thread(driver) for driver in drivers]
    found = failure = None
    for driver in drivers:
        try:
            found = driver()
        except np.linalg.LinAlgError as error:
            check_finite(A)
            failure = error
            continue
        if all(map(_is_orthonormal, bases(found))):
            break
    if found is None:
        raise np.linalg.LinAlgError(f"LAPACK could not decompose a matrix of shape {A.shape}; scale it") from failure
    return found


def _is_orthonormal(Q: np.ndarray) -> bool:
    """Whether Q^T Q is the identity to rounding, judged by products with fixed vectors. Cost O(n k)."""
    probes = np.cos(np.arange(Q.shape[1])[:, None] * PROBES).astype(Q.dtype)
    lost = np.linalg.norm(Q.T @ (Q @ probes) - probes)
    return bool(lost <= ORTHONORMAL_TO * np.finfo(Q.dtype).eps * max(1, *Q.shape) ** 0.5)
