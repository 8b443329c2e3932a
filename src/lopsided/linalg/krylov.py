"""Block Lanczos bidiagonalisation with thick restarts: the work horse for every operator."""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._parallel import run, slices_of
from ..operators.base import KernelOperator
from .factors import Factors

CHUNK_ROWS = 1 << 13
EXTRA = 10  # kept beyond k at a restart, so that the last wanted triplet converges too
MAX_STEPS = 1000


def krylov(
    A: KernelOperator,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float = 0.0,
    block: int | None = None,
    max_steps: int = MAX_STEPS,
) -> Factors:
    """The k leading triplets, to rounding by default.

    Bases V of the Krylov space and U of its image satisfy A V = U B with B small and upper triangular, so that the
    triplets of B give those of A with A v = s u exactly; the other residual, |A^T u - s v|, falls step by step until
    it is below ``tol`` times the largest singular value (0: eps^0.8). When the bases are full, the best triplets
    found are kept and the rest is dropped.

    Cost: two products with ``block`` columns and O((n + m) basis block) a step; memory O((n + m)(3 k + block)).
    """
    block = min(block or _block_size(k), *A.shape)
    tol = tol or float(np.finfo(A.dtype).eps ** 0.8)
    capacity = min(max(3 * k + EXTRA, k + 6 * block), *A.shape)
    if capacity < k + block:
        raise ValueError(f"k={k} is too near min(n, m)={min(A.shape)} for a Krylov method; use lapack")
    U = np.empty((A.shape[0], capacity), dtype=A.dtype, order="F")
    V = np.empty((A.shape[1], capacity), dtype=A.dtype, order="F")
    B = np.zeros((capacity, capacity), dtype=A.dtype)
    fresh, _ = qr(rng.standard_normal((A.shape[1], block)).astype(A.dtype))
    size, bound = 0, slice(0, 0)  # bound: the columns of U that A^T ties to fresh, by the block T
    T = np.zeros((block, 0), dtype=A.dtype)
    for _ in range(max_steps):
        new = slice(size, size + block)
        V[:, new] = fresh
        image = A @ fresh
        image -= U[:, bound] @ T.T
        image, H, R = orthonormalise(image, U[:, :size])
        B[:size, new], B[new, new] = H, R
        B[bound, new] += T.T
        U[:, new] = image
        size += block
        Y = A.T @ image
        Y -= fresh @ R.T
        fresh, _, T = orthonormalise(Y, V[:, :size])
        _check_finite(T)
        P, s, Qt = np.linalg.svd(B[:size, :size])
        residuals = np.linalg.norm(T @ P[new], axis=0)
        if size >= k and residuals[:k].max() <= tol * s[0]:
            break
        bound = new
        if size + block > capacity:
            kept = min(k + EXTRA, capacity - block)
            U[:, :kept] = U[:, :size] @ P[:, :kept]
            V[:, :kept] = V[:, :size] @ Qt[:kept].T
            B[:] = np.diag(np.pad(s[:kept], (0, capacity - kept)))
            T, bound, size = T @ P[new, :kept], slice(0, kept), kept
            P, Qt = np.eye(kept, dtype=A.dtype), np.eye(kept, dtype=A.dtype)
    else:
        warnings.warn(
            f"the {k} leading singular triplets reached a residual of {residuals[:k].max() / s[0]:.1e} of the largest "
            f"singular value in {max_steps} steps, not {tol:.1e}; raise tol or take fewer components",
            ConvergenceWarning,
            stacklevel=2,
        )
    return Factors(U[:, :size] @ P[:, :k], s[:k], V[:, :size] @ Qt[:k].T).canonical()


def orthonormalise(Y: np.ndarray, Q: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (W, H, R) with Y = Q H + W R and W orthonormal and orthogonal to Q."""
    H = Q.T @ Y
    Y -= Q @ H
    W, R = qr(Y)
    if np.abs(np.diag(R)).min() <= np.sqrt(np.finfo(Y.dtype).eps) * max(np.abs(H).max(initial=0), np.abs(R).max()):
        # Directions that all but vanished are rounding, and rounding need not be orthogonal to Q.
        G = Q.T @ W
        W, S = qr(W - Q @ G)
        H, R = H + G @ R, S @ R
    return W, H, R


def qr(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thin QR of a tall matrix: of chunks that fit the cache, on threads, and then of their triangles."""
    if Y.shape[0] < 2 * CHUNK_ROWS:
        return np.linalg.qr(Y)
    rows = slices_of(Y.shape[0], CHUNK_ROWS)
    chunks = run(lambda part: np.linalg.qr(Y[part]), rows)
    Q, R = np.linalg.qr(np.concatenate([triangle for _, triangle in chunks]))
    width = Y.shape[1]
    out = np.empty_like(Y, order="C")
    for i, (part, (piece, _)) in enumerate(zip(rows, chunks, strict=True)):
        np.matmul(piece, Q[i * width : (i + 1) * width], out=out[part])
    return out, R


def _block_size(k: int) -> int:
    return max(2, min(8, k))


def _check_finite(T: np.ndarray) -> None:
    if not np.isfinite(T).all():
        raise ValueError(
            "the kernel matrix has entries that are not finite; lower eta or degree, or scale the data down"
        )
