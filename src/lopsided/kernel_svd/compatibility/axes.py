"""Principal axes of points, and the alignment of those of two sets."""

from collections.abc import Callable
from functools import reduce
from operator import matmul

import numpy as np
from scipy import sparse
from scipy.linalg import qr

from ..._core import (
    Array,
    accumulate,
    blocks_of,
    budget_bytes,
    by_rows,
    dense,
    eigh,
    in_unit,
    safe_unit,
    same_points,
    svd,
)
from ...operators import Stored
from ...svd import factorise

Decomposed = tuple[np.ndarray, np.ndarray, tuple[Array, ...]]  # U, s, and factors whose product is V
SVD_COPIES = 3  # of a dense matrix that its SVD holds beside it, with its workspace
BLOCK_BYTES = 1 << 25  # of the rows of a dense matrix that a thread multiplies at once, at most
LEADING_TOL = 1e-6  # eta of the leading axes of sparse points: kernels of their products need no more digits


def thin_svd(W: Array) -> Decomposed:
    """SVD of W truncated to its numerical rank: U, s, and factors whose product is V.

    For a sparse W it is computed from the Gram matrix of the smaller side, which drops singular values below about
    sqrt(eps) times the largest.
    """
    if not sparse.issparse(W):
        U, s, Vt = svd(W)
        r = np.count_nonzero(s > max(W.shape) * np.finfo(W.dtype).eps * s[0])
        return U[:, :r], s[:r], (Vt[:r].T,)
    unit = safe_unit(W)
    W = in_unit(W, unit)
    flat = W.shape[0] <= W.shape[1]
    s, Q = (part.astype(W.dtype) for part in gram_axes(W.T if flat else W))
    return (Q, unit * s, (sparse.csr_array(W.T), Q / s)) if flat else (W @ (Q / s), unit * s, (Q,))


def gram_axes(W: Array) -> tuple[np.ndarray, np.ndarray]:
    """Singular values s and right singular vectors of W, entries about one, from W^T W in double precision.

    Those below about sqrt(eps) times the largest are dropped. Cost: O(n width^2 + width^3), and no copy of a dense W.
    """

    def gram(rows: slice) -> np.ndarray:
        block = W[rows].astype(float, copy=False)
        return dense(block.T @ block)

    W = by_rows(W)
    rows = [slice(None)] if sparse.issparse(W) else blocks_of(len(W), 8 * W.shape[1], BLOCK_BYTES)
    squares, Q = eigh(accumulate(np.add, gram, rows))
    s, Q = np.sqrt(np.maximum(squares[::-1], 0)), Q[:, ::-1]
    r = np.count_nonzero(s > np.sqrt(max(W.shape) * np.finfo(float).eps) * s[0])
    return s[:r], Q[:, :r]


def row_space(X: Array, budget: int) -> tuple[np.ndarray, tuple[Array, ...]]:
    """Orthonormal basis B (p, r) of the rows of X (n, p), and factors of the F of least norm with X^T F = B.

    For the SVD X = U diag(s) B^T it is F = U diag(1 / s) = X B diag(1 / s^2). The second form serves where X is sparse
    or its SVD exceeds the budget; singular values below about sqrt(eps) times the largest then count as zero.
    """
    n, p = X.shape
    if sparse.issparse(X) or SVD_COPIES * X.nbytes > budget:
        unit = safe_unit(X)
        W = in_unit(X, unit)
        s, B = gram_axes(W)
        inverse = B / s / s / float(unit)
        factors = (W.copy(), inverse) if sparse.issparse(W) else (W @ inverse.astype(W.dtype),)
    else:
        U, s, (V,) = thin_svd(X)
        B, factors = dense(V), (U / s,)
    if not len(s):
        return np.eye(p, 1, dtype=X.dtype), (np.zeros((n, 1), dtype=X.dtype),)
    return B.astype(X.dtype, copy=False), factors


def leading_svd(W: Array, r: int, rng: np.random.Generator) -> Decomposed:
    """The r leading singular triplets of W, by an iterative solver if W is large. Cost: O(nnz r) per iteration."""
    found, _ = factorise(Stored(W), r, tol=LEADING_TOL, budget=budget_bytes(), rng=rng)
    return found.U, found.s, (found.V,)


def aligned_axes(W: Array, U: np.ndarray, N: Array, decompose: Callable[[Array], Decomposed]) -> np.ndarray:
    """Orthonormal axes (width of N, r) that the r leading axes of the points W = U S V^T are mapped to.

    If N holds the columns of W, these are U: axes of N, with the signs and, where singular values are equal, the
    rotation that make W V U^T symmetric. Otherwise they are the axes of N in order of their singular values, completed
    to r, and the sign of an axis is that of the sum of cubed coordinates, which no rotation of the points changes.
    """
    if are_columns(N, W):
        return U
    coordinates, _, factors = decompose(N)
    axes, r = np.asarray(reduce(matmul, factors)), U.shape[1]
    if axes.shape[1] < r:
        axes = np.hstack([axes, qr(axes, mode="full")[0][:, axes.shape[1] :]])
    both = min(r, coordinates.shape[1])
    signs = np.ones(r, dtype=W.dtype)
    signs[:both] = _skew_signs(coordinates[:, :both]) * _skew_signs(U[:, :both])
    return axes[:, :r].astype(W.dtype, copy=False) * signs


def are_columns(N: Array, W: Array) -> bool:
    """Whether the points N are the columns of the matrix W."""
    return N.shape == W.shape[::-1] and same_points(N, by_rows(W.T))


def polar_rotation(P: np.ndarray) -> np.ndarray:
    """Q with P Q = (P P^T)^(1/2) for a square P: orthogonal, or zero outside of the space of its rows. Cost: O(n^3)."""
    U, _, (V,) = thin_svd(P)
    return np.asarray(V @ U.T)


def _skew_signs(U: np.ndarray) -> np.ndarray:
    """Sign of each column that makes the sum of its cubes positive."""
    return np.where((U**3).sum(axis=0) < 0, -1, 1)
