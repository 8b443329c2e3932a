"""Two compatibility matrices from the condition A C1 C2 A = A."""

import numpy as np
from sklearn.utils.validation import check_array

from ..._core import FLOATS
from .maps import thin_svd


def split_condition(A: np.ndarray, width: int | None = None) -> tuple[np.ndarray, np.ndarray]:
    """Find C1 (m, q) and C2 (q, n) with A C1 C2 A = A (2016 paper, Remark 1), for the maps x -> C1^T x and z -> C2 z.

    Rows x_i and columns z_j of A are then compared as x_i^T C1 C2 z_j = A_ij, so that the linear kernel SVD of rows and
    columns is the SVD of A. C1 C2 is the pseudo-inverse V s^-1 U^T, split evenly: C1 = V s^-1/2 and C2 = s^-1/2 U^T,
    zero-padded to the width q. Cost: O(n m min(n, m)).

    Parameters
    ----------
    A : array of shape (n, m)
        Matrix whose rows and columns are compared.
    width : int or None, default=None
        The width q, at least max(n, m); None means max(n, m).
    """
    A = check_array(A, dtype=FLOATS, input_name="A")
    q = max(A.shape) if width is None else width
    if q < max(A.shape):
        raise ValueError(f"width={q} is below max(n, m)={max(A.shape)} of the matrix; take at least that")
    U, s, (V,) = thin_svd(A)
    pad = ((0, 0), (0, q - len(s)))
    return np.pad(V / np.sqrt(s), pad), np.pad(U / np.sqrt(s), pad).T
