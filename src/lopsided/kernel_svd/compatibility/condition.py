"""The compatibility condition A C A = A, under which the linear kernel SVD of rows and columns is the SVD of A.

Rows x_i and columns z_j of A are compared as x_i^T C z_j, that is as the entries of A C A (2016 paper, equation 9).
"""

from __future__ import annotations

from functools import reduce
from itertools import pairwise
from operator import matmul

import numpy as np
from sklearn.utils.validation import check_array

from ...exceptions import RankWarning, warn
from .maps import thin_svd

METHODS = ("pinv", "kronecker")


def condition_residual(A: np.ndarray, *factors: np.ndarray) -> float:
    """Residual |A C A - A| / |A| in the Frobenius norm, for C the product of ``factors`` (Remark 1: C1, C2)."""
    A = _checked(A)
    chain = [A, *(check_array(factor, dtype=float, input_name="C") for factor in factors), A]
    if not factors or any(first.shape[1] != second.shape[0] for first, second in pairwise(chain)):
        raise ValueError(
            f"compatibility matrices of a {A.shape} matrix A must multiply to {A.shape[::-1]}; "
            f"got {', '.join(str(np.shape(factor)) for factor in factors) or 'none'}"
        )
    norm = float(np.linalg.norm(A))
    return float(np.linalg.norm(reduce(matmul, chain) - A)) / (norm if norm > 0 else 1.0)


def solve_condition(A: np.ndarray, method: str = "pinv", max_entries: int = 1 << 25) -> np.ndarray:
    """Find a compatibility matrix C of shape (m, n) with A C A = A (Corollary 3).

    Parameters
    ----------
    A : array of shape (n, m)
        Matrix whose rows and columns are compared.
    method : {"pinv", "kronecker"}, default="pinv"
        "pinv" is the pseudo-inverse, O(n m min(n, m)), which for a square matrix of full rank is the inverse.
        "kronecker" solves (A^T kron A) vec(C) = vec(A) by least squares, O((n m)^3), for small matrices; its
        minimum-norm solution is the same matrix.
    max_entries : int, default=2^25
        Upper bound on the number of entries of the Kronecker system, (n m)^2.

    Warns
    -----
    RankWarning
        If a square matrix is singular, in which case C is its pseudo-inverse.
    """
    A = _checked(A)
    n, m = A.shape
    if method == "pinv":
        U, s, (V,) = thin_svd(A)
        if n == m and len(s) < n:
            warn(
                f"the square matrix has rank {len(s)} of {n} and no inverse; C is its pseudo-inverse, for which "
                "A C A = A still holds",
                RankWarning,
            )
        return (V / s) @ U.T
    if method == "kronecker":
        if (n * m) ** 2 > max_entries:
            raise ValueError(
                f"the Kronecker system of a {n} x {m} matrix has {(n * m) ** 2:.3g} entries, above max_entries="
                f"{max_entries}; use method='pinv', which gives the same matrix"
            )
        c = np.linalg.lstsq(np.kron(A.T, A), A.ravel(order="F"), rcond=n * m * np.finfo(A.dtype).eps)[0]
        return c.reshape((m, n), order="F")
    raise ValueError(f"method={method!r} is not one of {', '.join(map(repr, METHODS))}")


def split_condition(A: np.ndarray, width: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find C1 (m, q) and C2 (q, n) with A C1 C2 A = A (Remark 1), for the maps x -> C1^T x and z -> C2 z.

    C1 C2 is the pseudo-inverse V s^-1 U^T, split evenly: C1 = V s^-1/2 and C2 = s^-1/2 U^T, zero-padded to the width q.

    Parameters
    ----------
    A : array of shape (n, m)
        Matrix whose rows and columns are compared.
    width : int or None, default=None
        The width q, at least max(n, m); None means max(n, m).
    """
    A = _checked(A)
    q = max(A.shape) if width is None else width
    if q < max(A.shape):
        raise ValueError(f"width={q} is below max(n, m)={max(A.shape)} of the matrix; take at least that")
    U, s, (V,) = thin_svd(A)
    pad = ((0, 0), (0, q - len(s)))
    return np.pad(V / np.sqrt(s), pad), np.pad(U / np.sqrt(s), pad).T


def _checked(A: np.ndarray) -> np.ndarray:
    return check_array(A, dtype=[np.float64, np.float32], input_name="A")
