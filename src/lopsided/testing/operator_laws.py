"""The laws that every operator obeys."""

import numpy as np

from ..operators import KernelOperator
from .agreement import ROUNDINGS, assert_same

COLUMNS = 3  # of the random blocks that operators are multiplied by


def check_operator(A: KernelOperator, K: np.ndarray | None = None, *, tol: float | None = None) -> None:
    """Raise AssertionError if an operator is not the matrix that it says it is.

    The laws: products from both sides are those of the matrix; <A v, u> = <v, A^T u>; taking entries is slicing the
    matrix; transposing exchanges everything; batches of rows, the norm and the condensed operator are those of the
    matrix; the dtype is kept and input is not modified.

    Parameters
    ----------
    A : KernelOperator
        The operator to check, with at least two rows and two columns.
    K : array of shape (n, m), default=None
        The matrix, computed independently; None means ``A.take()``.
    tol : float, default=None
        Largest error relative to the largest entry; None means a thousand times eps.

    Notes
    -----
    Cost: that of the dense matrix, and of a dozen products with few columns.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.operators import Stored
    >>> from lopsided.testing import check_operator
    >>> K = np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]])
    >>> check_operator(Stored(K), K)
    """
    K = A.take() if K is None else np.asarray(K)
    tol = ROUNDINGS * float(np.finfo(A.dtype).eps) if tol is None else tol
    assert A.shape == K.shape, f"the operator says shape {A.shape}, and its matrix has {K.shape}"
    assert A.T.shape == K.T.shape, f"the transpose says shape {A.T.shape}, and that of the matrix is {K.T.shape}"
    assert A.cost > 0, f"cost is {A.cost}; a product takes at least one multiplication"
    _check_products(A, K, tol)
    _check_entries(A, K, tol)
    _check_condensed(A, K, tol)


def _check_products(A: KernelOperator, K: np.ndarray, tol: float) -> None:
    """Check products from both sides with blocks, single columns and vectors, the adjoint test and the dtype."""
    rng = np.random.default_rng(0)
    U, V = (rng.standard_normal((size, COLUMNS)).astype(A.dtype) for size in K.shape)
    before = U.copy(), V.copy()
    for name, product, expected in (
        ("A @ V", A @ V, K @ V),
        ("A.T @ U", A.T @ U, K.T @ U),
        ("A.rmatmat(U)", A.rmatmat(U), K.T @ U),
        ("A @ v", A @ V[:, 0], K @ V[:, 0]),
        ("A.rmatvec(u)", A.rmatvec(U[:, 0]), K.T @ U[:, 0]),
        ("A @ V with one column", A @ V[:, :1], K @ V[:, :1]),
        ("A.T.T @ V", A.T.T @ V, K @ V),
    ):
        assert_same(product, expected, f"{name} is the product with the matrix", tol=tol)
        assert product.dtype == A.dtype, f"{name} has dtype {product.dtype} for an operator and vectors of {A.dtype}"
    assert np.array_equal(U, before[0]) and np.array_equal(V, before[1]), "a product modified the array it was given"
    u, v = U[:, 0].astype(float), V[:, 0].astype(float)
    gap = abs(float((A @ V[:, 0]) @ u - v @ (A.T @ U[:, 0])))
    scale = float(np.linalg.norm(K) * np.linalg.norm(u) * np.linalg.norm(v))
    assert gap <= tol * scale, f"<A v, u> and <v, A^T u> differ by {gap:.2g}, where {tol * scale:.2g} is allowed"


def _check_entries(A: KernelOperator, K: np.ndarray, tol: float) -> None:
    """Check that entries, batches and the norm are those of the matrix."""
    n, m = K.shape
    rows, cols = np.array([n - 1, 0, n - 1]), np.array([m - 1, m // 2])
    law = "taking entries is slicing the matrix"
    assert_same(A.take(), K, law, tol=tol)
    assert_same(A.T.take(), K.T, f"{law}, transposed", tol=tol)
    assert_same(A.take(slice(1, n)), K[1:], f"{law}, a slice of rows", tol=tol)
    assert_same(A.take(cols=slice(None, None, 2)), K[:, ::2], f"{law}, every other column", tol=tol)
    assert_same(A.take(rows, cols), K[rows][:, cols], f"{law}, numbers of rows and columns", tol=tol)
    assert_same(A.take(rows, slice(1, m)), K[rows, 1:], f"{law}, numbers of rows and a slice", tol=tol)
    assert_same(np.concatenate(list(A.batches())), K, "batches of rows are the matrix", tol=tol)
    assert_same(np.array(A.norm()), np.array(np.linalg.norm(K)), "the norm is that of the matrix", tol=tol)


def _check_condensed(A: KernelOperator, K: np.ndarray, tol: float) -> None:
    """Check that K = E_left K' E_right^T for the condensed matrix K', with orthonormal columns in both E."""
    if (condensed := A.condensed()) is None:
        return
    small = condensed.operator.take()
    left, right = (
        spread(np.eye(size, dtype=A.dtype))
        for spread, size in zip((condensed.left, condensed.right), small.shape, strict=True)
    )
    for E in (left, right):
        assert_same(E.T @ E, np.eye(E.shape[1]), "vectors of the condensed operator stay orthonormal", tol=tol)
    assert_same(
        left @ small @ right.T, K, "the condensed operator has the singular triplets of the matrix", tol=10 * tol
    )
