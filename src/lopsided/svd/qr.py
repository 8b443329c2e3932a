"""Orthonormal bases of tall matrices."""

import math

import numpy as np

from .._core import product, run, slices_of

CHUNK_ROWS = 1 << 13  # rows per chunk in restarts and QR, so that a chunk fits the cache
BEST_FOR_CHOLESKY = 30.0  # condition number below which one pass of Cholesky QR is accurate enough
WORST_FOR_CHOLESKY = 0.01  # in units of eps^-1/2: condition number from which Cholesky QR is unreliable


def orthonormalise(
    Y: np.ndarray, Q: np.ndarray, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (W, H, R) with Y = Q H + W R and W orthonormal and orthogonal to Q; overwrites Y.

    Columns of Y that are negligible relative to ``scale`` have a direction set by rounding errors, possibly in the span
    of Q. They are perturbed by random noise of the size of rounding, and further passes orthogonalise the result.
    """
    H = product(Q.T, Y)
    Y -= product(Q, H)
    W, R = qr(Y)
    eps = np.finfo(Y.dtype).eps
    scale = max(scale, length(H), length(R), np.finfo(Y.dtype).tiny ** 0.5)
    if least_pivot(R) > eps**0.5 * scale:
        return W, H, R
    Y += eps * scale * rng.standard_normal(Y.shape).astype(Y.dtype)
    W, R = qr(Y)
    for _ in range(2):  # one pass is not enough if Q nearly spans the space
        G = product(Q.T, W)
        W, S = qr(W - product(Q, G))
        R = S @ R
    return W, H, R


def length(Y: np.ndarray) -> float:
    """Frobenius norm, with less overhead than ``np.linalg.norm`` on the small blocks of each step."""
    flat = Y.ravel(order="K")
    return math.sqrt(flat @ flat)


def least_pivot(R: np.ndarray) -> float:
    """Smallest magnitude on the diagonal of a triangular matrix, with a fast path for the common 1 x 1 case."""
    return abs(float(R[0, 0])) if len(R) == 1 else float(np.abs(R.diagonal()).min())


def qr(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thin QR of a tall matrix, by Cholesky of its Gram matrix where that is accurate, else by Householder."""
    if Y.shape[1] == 1 and (size := length(Y)) > np.finfo(Y.dtype).tiny ** 0.5:
        return Y / size, np.array([[size]], dtype=Y.dtype)
    try:
        R = np.linalg.cholesky(product(Y.T, Y)).T
    except np.linalg.LinAlgError:
        return _tall_qr(Y)
    inverse = np.linalg.inv(R)
    condition = np.abs(R).max() * np.abs(inverse).max()
    if not condition < WORST_FOR_CHOLESKY * np.finfo(Y.dtype).eps ** -0.5:
        return _tall_qr(Y)
    Q = product(Y, inverse)
    if condition < BEST_FOR_CHOLESKY:
        return Q, R
    Q, S = qr(Q)  # the first pass is orthonormal to eps condition^2, the second to rounding
    return Q, S @ R


def _tall_qr(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Tall-skinny QR: Householder QR of chunks that fit the cache, in parallel, then of their stacked triangles."""
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
