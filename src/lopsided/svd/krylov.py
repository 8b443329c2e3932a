"""Block Lanczos bidiagonalisation with thick restarts, the default solver for large operators."""

import math
from functools import partial

import numpy as np

from .._core import check_finite, counted, frobenius, product, run, safe_unit, slices_of, svd, with_one_blas_thread
from ..exceptions import ConvergenceWarning, warn
from ..operators import KernelOperator
from .factors import Factors, canonical_signs
from .qr import CHUNK_ROWS, least_pivot, length, orthonormalise, qr

SVD_COPIES = 9  # arrays of the size of B that its SVD takes: B, factors, workspace
SVD_COST = 40  # multiplications in the SVD of B, in units of the cube of its size
EXTRA_COLUMNS = 10  # columns beyond k in a block whose width is free
RESIDUAL_MARGIN = 10  # times that residuals are below a tolerance on eta
EQUAL_VALUES = 1e-8  # of the largest singular value: difference up to which two count as equal
EQUAL_EPS = 100  # or so many roundings, if that is more
BASIS_TRIPLETS, LEAST_TRIPLETS = 4, 1.5  # vectors in a basis, in units of k, and where memory is short
BASIS_BLOCKS, LEAST_BLOCKS = 6, 2  # blocks in it beyond k and the spare triplets, if that gives more
SPARE_TRIPLETS = 20  # triplets kept beyond k at a restart, so that the k-th converges too
PROBE_COLUMNS = 3  # random columns that must find no further singular value, nor U to have lost its orthogonality
WIDEST_SEARCH = 8  # columns, at most, of a block that searches for further copies of a repeated singular value
MAX_STEPS = 1000  # block steps before a ConvergenceWarning
LARGEST_DRIFT = 1e5  # in units of eps, at most sqrt(eps): estimated |U^T U - I| above which U is reorthogonalised
NEGLIGIBLE_LOSS = 0.01  # in units of the residual that is asked for: |U^T U - I| that need not be taken into account
ORTHONORMAL_TO = 100.0  # in units of eps: deviation from orthonormality allowed in the returned vectors


@with_one_blas_thread
def krylov(
    A: KernelOperator,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float = 0.0,
    block: int = 8,
    max_steps: int = MAX_STEPS,
    budget: int | None = None,
    rounding: float = 0.0,
) -> Factors:
    """Compute the k leading singular triplets by block Lanczos bidiagonalisation, by default to rounding.

    Bases V of the Krylov space and U of its image satisfy A V = U B with a small matrix B. The triplets of B give
    approximate triplets of A for which A v = s u holds exactly; the iteration ends when the other residual,
    |A^T u - s v|, is below eps^0.8 times the largest singular value. With ``tol`` it ends when that is below ``tol`` /
    10 and an estimate of eta, the error of the vectors (see :func:`estimated_eta`), is below ``tol``. When the bases
    are full, a thick restart keeps the leading triplets and drops the rest. A Krylov space contains at most ``block``
    copies of a repeated singular value, so after convergence a few steps from random directions search for further
    copies.

    V lies on the shorter side and is fully orthogonalised. U follows from a one-sided recurrence (Simon and Zha, 2000)
    and is reorthogonalised when an estimate of its loss of orthogonality becomes too large. What is left of the loss
    is taken into account before restarts and before convergence is accepted.

    Cost per step: two products with ``block`` columns and O(min(n, m) k block); memory O((n + m)(4 k + 6 block)). If
    the bases would exceed ``budget`` bytes, they are shortened, down to 1.5 k vectors, and restarted more often.
    """
    wide, At = A.shape[0] < A.shape[1], A.T
    block = min(block, *A.shape)
    capacity = _capacity(A, k, block, budget)
    space = _Bidiagonal(At if wide else A, A if wide else At, capacity, rng, rounding)
    step_cost = block * (2 * A.cost + 4 * capacity * min(A.shape))
    pace = _Pace(patience=SVD_COST * capacity**3 // step_cost)
    fresh, settled, next_look = space.random(block), None, -(-k // block)
    for step in counted(range(1, 1 + max(max_steps, next_look)), "Krylov steps"):
        fresh = space.grow(fresh)
        full = space.size + block > capacity
        if step < next_look and not full:
            continue
        space.solve()
        residual = max(min(tol, 1.0) / RESIDUAL_MARGIN, space.rounding)
        excess = space.excess(k, residual, tol)
        if (excess <= 1 or full) and space.loss() > max(space.precision, NEGLIGIBLE_LOSS * residual):
            space.mend()
            excess = space.excess(k, residual, tol)
        next_look = pace.next_look(step, excess)
        if excess <= 1:
            slack = residual * space.s[0] + space.info.tiny**0.5
            found_again = settled is not None and np.allclose(settled, space.s[:k], rtol=residual**0.5, atol=slack)
            if found_again and (space.is_leading(k, residual) or (full and capacity - block <= k)):
                break  # second case: a restart could keep no triplet beyond k, so the search would never end
            next_look = step + 2 + PROBE_COLUMNS // block
            if not found_again:
                if settled is not None:  # the last search found copies of a singular value, and there may be more
                    block = min(2 * block, WIDEST_SEARCH, capacity - k)
                space.shrink(k)
                fresh, settled = space.random(block), space.s[:k]
                continue
        if full:
            space.shrink(min(k + SPARE_TRIPLETS, capacity - block))
    else:
        space.solve()
        warn(
            f"the {k} leading singular triplets reached a residual of {space.residuals[:k].max() / space.s[0]:.1e} of "
            f"the largest singular value in {step} steps, not {residual:.1e}, and an estimated eta of "
            f"{estimated_eta(space.s, space.residuals, k):.1e}; raise tol or use fewer components",
            ConvergenceWarning,
        )
    U, s, V = space.triplets(k)
    U, V = (V, U) if wide else (U, V)
    signs = canonical_signs(U)
    U *= signs  # in place: on large graphs the page faults of a new array cost as much as the product
    V *= signs
    return Factors(U, s, V)


def _capacity(A: KernelOperator, k: int, block: int, budget: int | None) -> int:
    """Vectors that the bases may hold before a restart."""
    capacity = max(BASIS_TRIPLETS * k, k + SPARE_TRIPLETS + BASIS_BLOCKS * block)
    if budget is not None:
        sides, entries = sum(A.shape), budget // A.dtype.itemsize  # capacity (sides + SVD_COPIES capacity) <= entries
        affordable = int((math.sqrt(sides**2 + 4 * SVD_COPIES * entries) - sides) / (2 * SVD_COPIES))
        least = max(int(LEAST_TRIPLETS * k), k + SPARE_TRIPLETS + LEAST_BLOCKS * block)
        capacity = max(least, min(capacity, affordable))
    capacity = min(capacity, min(A.shape) - block)
    if capacity < k + block:
        raise ValueError(
            f"k={k} with blocks of {block} leaves no room for a Krylov space in min(n, m)={min(A.shape)}; use lapack"
        )
    return capacity


class _Bidiagonal:
    """Orthonormal bases with A V = U B and A^T U = V B^T, plus fresh T on the columns ``bound`` of U.

    A is divided by ``unit``, so that squares of its singular values neither overflow nor underflow.
    """

    def __init__(
        self, A: KernelOperator, At: KernelOperator, capacity: int, rng: np.random.Generator, noise: float
    ) -> None:
        self.A, self.At, self.rng = A, At, rng
        self.U = np.empty((A.shape[0], capacity), dtype=A.dtype, order="F")
        self.V = np.empty((A.shape[1], capacity), dtype=A.dtype, order="F")
        self.B = np.zeros((capacity, capacity), dtype=A.dtype)
        self.size, self.info = 0, np.finfo(A.dtype)
        self.precision, self.noise = float(self.info.eps) ** 0.8, noise
        self.most_drift = min(LARGEST_DRIFT * float(self.info.eps), float(self.info.eps) ** 0.5)
        self.drift = float(self.info.eps)

    @property
    def rounding(self) -> float:
        """Residual, relative to the largest singular value, below which nothing more can be had."""
        return max(self.precision, self.noise / max(float(self.s[0]), self.info.tiny))

    def random(self, block: int) -> np.ndarray:
        """Return random orthonormal directions orthogonal to V; no column of U is bound to them."""
        self.bound, self.T = slice(0, 0), np.empty((block, 0), dtype=self.V.dtype)
        directions = self.rng.standard_normal((self.V.shape[0], block)).astype(self.V.dtype)
        return orthonormalise(directions, self.V[:, : self.size], 0.0, self.rng)[0]

    def grow(self, fresh: np.ndarray) -> np.ndarray:
        """Append a block to V and its orthonormalised image to U; return the next block for V."""
        old, new = slice(0, self.size), slice(self.size, self.size + fresh.shape[1])
        self.V[:, new] = fresh
        image = self.A._matmat(fresh)
        if not self.size:
            noise = self.noise * image.shape[1] ** 0.5
            self.unit = safe_unit(image, np.full(1, self.noise, image.dtype))
            self.vanishes = frobenius(image) <= noise
            self.noise /= float(self.unit)
            self.scale = self.noise / (self.info.eps * max(self.A.shape) ** 0.5)  # of an entry of a perturbation
        self._in_units(image)
        if self.T.size:
            image -= product(self.U[:, self.bound], self.T.T)
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
        back -= product(fresh, R.T)
        fresh, _, self.T = orthonormalise(back, self.V[:, : self.size], self.scale, self.rng)
        self.bound = new
        return fresh

    def _in_units(self, image: np.ndarray) -> None:
        if self.unit != 1:
            image /= self.unit

    def _drifts_by(self, R: np.ndarray) -> bool:
        """Update the estimate of the loss of orthogonality in U, and return whether the next block loses too much.

        U^T (A v - U T^T) = (I - U^T U) T^T: the next block inherits the loss of the last one, multiplied by |T| / |R|.
        The actual loss is mostly far smaller, but may be larger where U was reorthogonalised against columns that had
        lost their own orthogonality; ``loss`` measures it.
        """
        eps, bond, least = self.info.eps, length(self.T), least_pivot(R)
        self.scale = max(self.scale, bond, length(R), self.info.tiny**0.5)
        lost = bond * self.drift + eps * self.scale
        drifts = bool(lost > self.most_drift * least)
        self.drift = float(eps if drifts else lost / least)
        return drifts

    def solve(self, R: np.ndarray | None = None) -> None:
        """Compute the SVD B = P diag(s) Q^T and the residual |A^T u - s v| of each triplet.

        With U^T U = R^T R given, R B is decomposed and U P made orthonormal, since A V = (U R^-1)(R B).
        """
        B = self.B[: self.size, : self.size]
        B = B if R is None else R @ B
        check_finite(B)
        P, self.s, Qt = svd(B)
        self.P, self.Q = P if R is None else np.linalg.solve(R, P), Qt.T
        self.residuals = np.linalg.norm(self.T @ self.P[self.bound], axis=0)

    def mend(self) -> None:
        """Solve with the inner products that the columns of U have. Cost O(n size^2).

        A^T U has a part V B^T (U^T U - I), which the recurrence takes for zero. A restart would lose it: the triplets
        that it keeps would have residuals that no later step sees.
        """
        U = self.U[:, : self.size]
        try:
            R = np.linalg.cholesky(product(U.T, U)).T
        except np.linalg.LinAlgError:
            R = np.asarray(np.linalg.qr(U, mode="r"))
        self.solve(R)

    def loss(self) -> float:
        """Estimate |U^T U - I| in the Frobenius norm from products with random vectors. Cost O(n size)."""
        U, some = self.U[:, : self.size], self.rng.standard_normal((self.size, PROBE_COLUMNS)).astype(self.U.dtype)
        return length(product(U.T, product(U, some)) - some) / PROBE_COLUMNS**0.5

    def excess(self, k: int, residual: float, eta: float) -> float:
        """How far the k leading triplets are from convergence: at most one if they have converged.

        They have if residuals are below ``residual`` times the largest singular value and the estimated eta is below
        ``eta``; or if residuals are down to rounding, since nothing more can be had.
        """
        largest = float(self.residuals[:k].max() / max(self.s[0], self.info.tiny))
        at_best = largest / self.rounding
        if not eta:
            return at_best
        return min(max(largest / residual, estimated_eta(self.s, self.residuals, k) / eta), at_best)

    def is_leading(self, k: int, residual: float) -> bool:
        """Whether triplet k + 1 is known accurately enough to rule it out of the k leading ones."""
        if self.size <= k:
            return False
        following, unsure = self.s[k], self.residuals[k]
        return bool(following + unsure <= self.s[k - 1] or unsure <= residual**0.5 * self.s[0])

    def shrink(self, size: int) -> None:
        """Thick restart: the leading triplets become the bases, and the next block is bound to all of them."""
        for basis, turn in ((self.U[:, : self.size], self.P[:, :size]), (self.V[:, : self.size], self.Q[:, :size])):
            run(partial(_turn, basis, turn), slices_of(len(basis), CHUNK_ROWS))
        self.B[:] = 0
        np.fill_diagonal(self.B[:size, :size], self.s[:size])
        self.T, self.bound, self.size = self.T @ self.P[self.bound, :size], slice(0, size), size
        self.drift = float(self.info.eps)
        self.P = self.Q = np.eye(size, dtype=self.B.dtype)

    def triplets(self, k: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Return the k leading triplets; the bases are freed, because memory use on large graphs peaks here."""
        U = product(self.U[:, : self.size], self.P[:, :k])
        del self.U
        V = product(self.V[:, : self.size], self.Q[:, :k])
        del self.V
        s = self.s[:k]
        if np.abs(product(U.T, U) - np.eye(k, dtype=U.dtype)).max() > ORTHONORMAL_TO * np.finfo(U.dtype).eps:
            W, R = qr(U * s)  # A V = U diag(s) holds however U has drifted
            P, s, Qt = svd(R)
            U, V = product(W, P), product(V, Qt.T)
        return U, s * (0 if self.vanishes else self.unit), V


def _turn(basis: np.ndarray, turn: np.ndarray, rows: slice) -> None:
    """Replace the first columns of a basis by basis @ turn, in some rows."""
    basis[rows, : turn.shape[1]] = basis[rows] @ turn


class _Pace:
    """Schedule of convergence checks from the decay of the residual; ``patience`` is the cost of a check in steps."""

    def __init__(self, patience: int) -> None:
        self.patience, self.step, self.height = max(1, patience), 0, np.inf

    def next_look(self, step: int, excess: float) -> int:
        """Step at which, by extrapolation, log(excess) will have halved; at most ``patience`` steps ahead."""
        height = float(np.log(max(excess, 1.0)))
        fall = (self.height - height) / (step - self.step)
        self.step, self.height = step, height
        ahead = int(height / (2 * fall)) if 0 < fall < np.inf else 1
        return step + min(max(1, ahead), self.patience)


def estimated_eta(s: np.ndarray, residuals: np.ndarray, k: int) -> float:
    """Relative eta of k triplets: the mean of (s_i / s_1)(1 - |cosine|), both sides added.

    A vector is wrong by an angle of up to its residual over the gap to the nearest other singular value. Values that
    agree to EQUAL_VALUES count as one, as any basis of their vectors is right. The value after the k-th may still grow
    by its residual; those that no vector has found yet cannot be taken into account.
    """
    eps, scale = float(np.finfo(s.dtype).eps), max(float(s[0]), np.finfo(float).tiny)
    s = s[: k + 1] / scale
    equal = max(EQUAL_VALUES, EQUAL_EPS * eps)
    apart = s[:-1] - s[1:] > equal
    if len(s) > k:
        unsure = residuals[k] / scale
        apart[-1] |= unsure > equal
        s[k] += unsure
    first = np.flatnonzero(np.append(True, apart))  # of each group of equal values
    last = np.append(first[1:], len(s)) - 1
    between = np.maximum(s[last[:-1]] - s[first[1:]], eps)
    gaps = np.minimum(np.append(np.inf, between), np.append(between, np.inf))
    gaps = np.repeat(gaps, last - first + 1)[:k]
    sines = np.minimum(residuals[:k] / scale / gaps, 1)
    return 2 * float(s[:k] @ (1 - np.sqrt(1 - sines**2))) / k
