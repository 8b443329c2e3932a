"""Block Lanczos bidiagonalisation with thick restarts: the work horse for every operator."""

from __future__ import annotations

import math

import numpy as np

from ..._parallel import run, slices_of
from ...exceptions import ConvergenceWarning, warn
from ...operators.base import KernelOperator
from ...operators.stored import times
from ..factors import Factors, canonical_signs
from ..finite import check_finite

CHUNK_ROWS = 1 << 13
LOOK = 40  # multiplications for each cube of a size in the singular values of B
EXTRA = 10  # columns beyond k in a block whose width is free
SPARE = 20  # triplets kept beyond k at a restart, so that the last wanted one converges too
PROBES = 3  # columns from random directions that must find nothing new before the answer is believed
WIDEST = 8  # columns of a block that looks for more copies
MAX_STEPS = 1000
BEST_FOR_CHOLESKY = 30.0
WORST_FOR_CHOLESKY = 0.01
DRIFT = 1e5  # in eps, up to its root: a block of U is orthogonalised, too, once the bound on U^T U - I exceeds it
DRIFT_AGAIN = 1e2  # the same after a restart, for there what was lost once is lost again and again
ORTHONORMAL = 100.0  # eps that the vectors that are returned may lack


def krylov(
    A: KernelOperator,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float = 0.0,
    block: int = 8,
    max_steps: int = MAX_STEPS,
    budget: int | None = None,
) -> Factors:
    """The k leading triplets, to rounding by default.

    Bases V of the Krylov space and U of its image satisfy A V = U B with B small, so that the triplets of B give those
    of A with A v = s u exactly; the other residual, |A^T u - s v|, falls step by step until it is below ``tol`` times
    the largest singular value (0: eps^0.8). When the bases are full the best triplets are kept and the rest dropped.
    A Krylov space sees at most ``block`` copies of a repeated singular value, so after convergence a few steps from
    random directions look for others.

    V takes the shorter side. It is kept orthonormal throughout; U follows by recurrence (Simon and Zha, 2000) and is
    brought back whenever it may have drifted.

    Cost: two products with ``block`` columns and O(min(n, m) k block) a step; memory O((n + m)(4 k + 6 block)). Bases
    that would exceed a ``budget`` of bytes are kept shorter, down to 1.5 k, and restarted more often.
    """
    wide, At = A.shape[0] < A.shape[1], A.T
    block = min(block, *A.shape)
    capacity = max(4 * k, k + SPARE + 6 * block)
    if budget is not None:
        affordable = budget // (sum(A.shape) * A.dtype.itemsize)
        capacity = max(k + k // 2, k + SPARE + 2 * block, min(capacity, affordable))
    capacity = min(capacity, min(A.shape) - block)
    if capacity < k + block:
        raise ValueError(
            f"k={k} with blocks of {block} leaves no room for a Krylov space in min(n, m)={min(A.shape)}; use lapack"
        )
    tol = tol or float(np.finfo(A.dtype).eps ** 0.8)
    space = _Bidiagonal(At if wide else A, A if wide else At, capacity, rng)
    step_cost = block * (2 * A.work + 4 * capacity * min(A.shape))
    pace = _Pace(patience=LOOK * capacity**3 // step_cost)
    fresh, settled, next_look = space.random(block), None, -(-k // block)
    for step in range(1, 1 + max(max_steps, next_look)):
        fresh = space.grow(fresh)
        full = space.size + block > capacity
        if step < next_look and not full:
            continue
        space.solve()
        excess = space.residuals[:k].max() / (tol * max(space.s[0], np.finfo(A.dtype).tiny))
        next_look = pace.next_look(step, excess)
        if excess <= 1:
            found_again = settled is not None and _agree(settled, space.s[:k], tol)
            if found_again and (space.is_leading(k, tol) or (full and capacity - block <= k)):
                break  # the last where a restart would keep nothing beyond the k, and so look for ever
            next_look = step + 2 + PROBES // block
            if not found_again:
                if settled is not None:  # there were copies, and there may be more of them
                    block = min(2 * block, WIDEST, capacity - k)
                space.shrink(k)
                fresh, settled = space.random(block), space.s[:k]
                continue
        if full:
            space.shrink(min(k + SPARE, capacity - block))
    else:
        space.solve()
        warn(
            f"the {k} leading singular triplets reached a residual of {space.residuals[:k].max() / space.s[0]:.1e} of "
            f"the largest singular value in {max_steps} steps, not {tol:.1e}; raise tol or take fewer components",
            ConvergenceWarning,
        )
    U, s, V = space.triplets(k)
    U, V = (V, U) if wide else (U, V)
    signs = canonical_signs(U)
    U *= signs  # in place: on large graphs the first touch of new memory costs as much as the product
    V *= signs
    return Factors(U, s, V)


class _Bidiagonal:
    """Orthonormal bases with A V = U B and A^T U = V B^T + fresh T on the columns of U that are ``bound``.

    B is in a ``unit`` in which squares of A's singular values neither overflow nor vanish.
    """

    def __init__(self, A: KernelOperator, At: KernelOperator, capacity: int, rng: np.random.Generator) -> None:
        self.A, self.At, self.rng = A, At, rng
        self.U = np.empty((A.shape[0], capacity), dtype=A.dtype, order="F")
        self.V = np.empty((A.shape[1], capacity), dtype=A.dtype, order="F")
        self.B = np.zeros((capacity, capacity), dtype=A.dtype)
        self.size, self.scale, self.unit, self.info = 0, 0.0, 1.0, np.finfo(A.dtype)
        self.most_drift = min(DRIFT * float(self.info.eps), float(self.info.eps) ** 0.5)
        self.drift = float(self.info.eps)
        self.bound, self.T = slice(0, 0), np.zeros((0, 0), dtype=A.dtype)

    def random(self, block: int) -> np.ndarray:
        """A block of random directions orthogonal to V; nothing is bound to it."""
        self.bound, self.T = slice(0, 0), np.zeros((block, 0), dtype=self.V.dtype)
        directions = self.rng.standard_normal((self.V.shape[0], block)).astype(self.V.dtype)
        return orthonormalise(directions, self.V[:, : self.size], 0.0, self.rng)[0]

    def grow(self, fresh: np.ndarray) -> np.ndarray:
        """Take a block into V and its image into U; return the next block."""
        old, new = slice(0, self.size), slice(self.size, self.size + fresh.shape[1])
        self.V[:, new] = fresh
        image = self.A._matmat(fresh)
        if not self.size:
            self.unit = unit_of(image)
        self._in_units(image)
        if self.T.size:
            image -= times(self.U[:, self.bound], self.T.T)
        W, R = qr(image)
        if self._drifts_by(R):
            image, self.B[old, new], R = orthonormalise(image, self.U[:, old], self.scale, self.rng)
        else:
            image = W
        self.B[self.bound, new] += self.T.T
        self.B[new, new] = R
        self.U[:, new] = image
        self.size += fresh.shape[1]
        back = self.At._matmat(image)
        self._in_units(back)
        back -= times(fresh, R.T)
        fresh, _, self.T = orthonormalise(back, self.V[:, : self.size], self.scale, self.rng)
        self.bound = new
        return fresh

    def _in_units(self, image: np.ndarray) -> None:
        if self.unit not in (0, 1):
            image /= self.unit

    def _drifts_by(self, R: np.ndarray) -> bool:
        """Note how far the next block of U drifts, and say whether that is too far from orthogonal to the others.

        U^T (A v - U T^T) = (I - U^T U) T^T: what the last block has lost comes back in the next one, |T| / |R| times.
        That is a bound; what is truly lost is far less.
        """
        eps, bond, least = self.info.eps, length(self.T), least_pivot(R)
        self.scale = max(self.scale, bond, length(R), self.info.tiny**0.5)
        lost = bond * self.drift + eps * self.scale
        drifts = bool(lost > self.most_drift * least)
        self.drift = float(eps if drifts else lost / least)
        return drifts

    def solve(self) -> None:
        """Decompose B = P diag(s) Q^T, and find |A^T u - s v| for each triplet."""
        B = self.B[: self.size, : self.size]
        check_finite(B)
        self.P, self.s, Qt = np.linalg.svd(B)
        self.Q = Qt.T
        self.residuals = np.linalg.norm(self.T @ self.P[self.bound], axis=0)

    def is_leading(self, k: int, tol: float) -> bool:
        """Whether what follows the k leading triplets has shown that it does not belong among them."""
        if self.size <= k:
            return False
        following, unsure = self.s[k], self.residuals[k]
        return bool(following + unsure <= self.s[k - 1] or unsure <= tol**0.5 * self.s[0])

    def shrink(self, size: int) -> None:
        """Keep the leading triplets as the bases; the next block is then bound to all of them."""
        for basis, turn in ((self.U, self.P), (self.V, self.Q)):
            for rows in slices_of(len(basis), CHUNK_ROWS):
                basis[rows, :size] = basis[rows, : self.size] @ turn[:, :size]
        self.B[:] = 0
        np.fill_diagonal(self.B[:size, :size], self.s[:size])
        self.T, self.bound, self.size = self.T @ self.P[self.bound, :size], slice(0, size), size
        self.drift, self.most_drift = self.most_drift, DRIFT_AGAIN * float(self.info.eps)
        self.P = self.Q = np.eye(size, dtype=self.B.dtype)

    def triplets(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The k leading triplets; the bases are given up, for on large graphs memory ends here first."""
        U = self.U[:, : self.size] @ self.P[:, :k]
        del self.U
        V = self.V[:, : self.size] @ self.Q[:, :k]
        del self.V
        s = self.s[:k]
        if np.abs(U.T @ U - np.eye(k, dtype=U.dtype)).max() > ORTHONORMAL * np.finfo(U.dtype).eps:
            W, R = qr(U * s)  # A V = U diag(s) holds however U has drifted
            P, s, Qt = np.linalg.svd(R)
            U, V = times(W, P), times(V, Qt.T)
        return U, s * s.dtype.type(self.unit), V


class _Pace:
    """How fast the residual falls, and so when to look again; ``patience`` is the cost of a look in steps."""

    def __init__(self, patience: int) -> None:
        self.patience, self.step, self.height = max(1, patience), 0, np.inf

    def next_look(self, step: int, excess: float) -> int:
        """The step at which, at the pace since the last look, half of the remaining fall is done; sooner if cheap."""
        height = float(np.log(max(excess, 1.0)))
        fall = (self.height - height) / (step - self.step)
        self.step, self.height = step, height
        ahead = int(height / (2 * fall)) if 0 < fall < np.inf else 1
        return step + min(max(1, ahead), self.patience)


def orthonormalise(
    Y: np.ndarray, Q: np.ndarray, scale: float, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return (W, H, R) with Y = Q H + W R and W orthonormal and orthogonal to Q; overwrites Y.

    Columns of Y that all but vanish beside ``scale`` point where rounding sends them, which may be into Q. Noise of the
    size of rounding gives them a direction of their own, and further passes make it orthogonal.
    """
    H = Q.T @ Y
    Y -= Q @ H
    W, R = qr(Y)
    eps = np.finfo(Y.dtype).eps
    scale = max(scale, length(H), length(R), np.finfo(Y.dtype).tiny ** 0.5)
    if least_pivot(R) > eps**0.5 * scale:
        return W, H, R
    Y += eps * scale * rng.standard_normal(Y.shape).astype(Y.dtype)
    W, R = qr(Y)
    for _ in range(2):  # one pass is not enough where Q leaves hardly any room
        G = Q.T @ W
        W, S = qr(W - Q @ G)
        H, R = H + G @ R, S @ R
    return W, H, R


def unit_of(image: np.ndarray) -> float:
    """A power of two like the size of a matrix, from its image of random directions: 1 if it is harmless, 0 if nil."""
    peak, info = float(np.abs(image).max()), np.finfo(image.dtype)
    if peak == 0 or float(info.tiny) ** 0.25 < peak < float(info.max) ** 0.25 or not np.isfinite(peak):
        return float(peak > 0)
    return max(math.ldexp(1.0, math.frexp(peak)[1] - 1), float(info.tiny))


def length(Y: np.ndarray) -> float:
    """The Frobenius norm. Blocks are small and asked at every step, where numpy's own takes longer to begin."""
    flat = Y.ravel(order="K")
    return math.sqrt(flat @ flat)


def least_pivot(R: np.ndarray) -> float:
    """The least magnitude on the diagonal of a triangle, which is often but one number."""
    return abs(float(R[0, 0])) if len(R) == 1 else float(np.abs(R.diagonal()).min())


def qr(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Thin QR of a tall matrix, by Cholesky of its Gram matrix where that is accurate, else by reflections."""
    if Y.shape[1] == 1 and (size := length(Y)) > np.finfo(Y.dtype).tiny ** 0.5:
        return Y / size, np.array([[size]], dtype=Y.dtype)
    try:
        R = np.linalg.cholesky(Y.T @ Y).T
    except np.linalg.LinAlgError:
        return _tall_qr(Y)
    inverse = np.linalg.inv(R)
    condition = np.abs(R).max() * np.abs(inverse).max()
    if not condition < WORST_FOR_CHOLESKY * np.finfo(Y.dtype).eps ** -0.5:
        return _tall_qr(Y)
    Q = times(Y, inverse)
    if condition < BEST_FOR_CHOLESKY:
        return Q, R
    Q, S = qr(Q)  # the first pass left eps condition^2; the second is at rounding
    return Q, S @ R


def _tall_qr(Y: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Reflections on chunks that fit the cache, a thread to each, and then on the chunks' triangles."""
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


def _agree(s: np.ndarray, other: np.ndarray, tol: float) -> bool:
    """Whether singular values are the same to the tolerance, which is relative to the largest."""
    least = np.finfo(s.dtype).tiny ** 0.5
    return bool(np.allclose(s, other, rtol=np.sqrt(tol), atol=tol * s[0] + least))
