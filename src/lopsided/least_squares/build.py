"""From a kernel and training samples to saddle systems, of the full kernel matrix or of landmarks."""

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._core import Array, RowBlocks, check_finite, eigh, product, same_points, svd
from ..exceptions import NotFiniteError
from ..kernels import Kernel, Precomputed
from ..nystrom import Nystrom, NystromFactors, approximate, landmark_bytes
from ..operators import KernelOperator, LowRank, Stored, Sum, as_operator
from ..svd import Choice, Factors
from .saddle import (
    SMALL_BYTES,
    BlockLU,
    Border,
    Dense,
    Duals,
    Minres,
    SaddleFamily,
    SaddleSystem,
    Spectral,
    affordable_size,
    check_affordable,
    choose_saddle,
)

# Default number of landmarks. On spambase, satimage and usps (`python benchmarks/askls_tables.py landmarks`) accuracy
# gains 0.02 to 0.03 from 250 to 1,000, and -0.02 to 0.01 from there to 2,000, at four times the cost.
N_LANDMARKS = 1000
# kernel="auto" uses all samples up to EXACT_SIZE; beyond, this many landmarks, or if that is more a twelfth of the
# samples up to MOST_LANDMARKS: `python benchmarks/tables_blind.py sizes` prints accuracy and time of other numbers.
EXACT_SIZE = 4000
MANY_LANDMARKS, SAMPLES_PER_LANDMARK, MOST_LANDMARKS = 2000, 12, 5000
# One decomposition costs less than leave-one-out by factorisations at three values of C: 4,000 samples take 30 s
# instead of two minutes. Beyond this size both take many minutes, and memory counts.
DECOMPOSED_SIZE = 1 << 14
FEWEST_LANDMARKS = 100  # in a small budget; MINRES, which is left without them, takes minutes and only a small C
FACTOR_COPIES = 6  # arrays of the size of the left factors that are held at once, at most
LARGEST_SUM = 1e150  # bound on sums of kernel values, whose squares must not overflow


class Settings(NamedTuple):
    """What decides how the systems are solved, besides kernel and samples."""

    solver: str
    damping: float
    tol: float
    budget: int  # bytes
    largest_C: float  # infinity stands for C="auto"
    holds_out: bool
    weights: np.ndarray | None  # of the samples


@dataclass(frozen=True)
class KernelSaddle:
    """Saddle systems for any C, the solver, and what new samples are compared with: points X and Z under a kernel.

    With landmarks, kernels such as SNE and Attention may be normalised over the landmarks.
    """

    family: SaddleFamily
    choice: Choice
    kernel: Kernel
    X: Array
    Z: Array

    @property
    def compared(self) -> KernelOperator:
        """Kernel values of the points X and Z."""
        return self.family.A

    def duals(self, system: SaddleSystem, Y: np.ndarray) -> Duals:
        """Solve a system of the family for duals over the points X and Z."""
        return system.solve(Y)


@dataclass(frozen=True)
class LandmarkedSaddle(KernelSaddle):
    """Systems of a Nystrom approximation: solved for all samples, with X and Z the landmarks. Cost O(n k)."""

    family: Spectral
    found: NystromFactors
    turns: tuple[np.ndarray, np.ndarray]  # (k, k) each: U'a and V'c of the approximation from those of the family

    @property
    def compared(self) -> KernelOperator:
        """Kernel values of the landmarks."""
        return as_operator(self.kernel, self.X, self.Z)

    def duals(self, system: SaddleSystem, Y: np.ndarray) -> Duals:
        """Solve for duals over the landmarks, which define the same functions as the duals over all samples.

        f_source(x) = left(x) s V'c + an offset, where left(x) is a sum over landmarks; f_target(x) has the same form.
        U'a and V'c are found without forming a and c, whose other components are far larger.
        """
        factors, left, right, border = self.found.factors, self.found.left, self.found.right, self.family.border
        R, mean, own = border.right_hand_sides(Y), border.mean(Y), self.family.factors
        found = self.family.at(system.C).coordinates(product(own.U.T, R), product(own.V.T, R))
        sUa, sVc = (factors.s[:, None] * (turn @ part) for turn, part in zip(self.turns, found, strict=True))
        of_left, of_right = left.offset + border.mean(factors.U), right.offset + border.mean(factors.V)
        return Duals(right.map @ sUa, left.map @ sVc, mean - of_left @ sVc, mean - of_right @ sUa)


def saddle_of_samples(kernel: Kernel, X: Array, Z: Array, settings: Settings) -> KernelSaddle:
    """Build the systems of the full matrix k(X, Z)."""
    A = as_operator(kernel, X, Z, budget=max(settings.budget, SMALL_BYTES))
    if kernel.symmetric and isinstance(A, Stored):
        A = Stored((A.K + A.K.T) / 2)  # removes rounding errors only
    sums = A @ np.ones((A.shape[0], 1))
    check_finite(sums)
    if (largest := np.abs(sums).max()) > LARGEST_SUM:
        raise NotFiniteError(
            f"kernel values of a sample sum to {largest:.3g}, whose square overflows; multiply the kernel by a "
            "small number, or scale the data down"
        )
    choice = _choice(A, kernel, settings)
    check_affordable(choice, A.shape[0], settings.budget)
    family = _family(choice.name, A, kernel, settings)
    left = Z if isinstance(kernel, Precomputed) else X  # a precomputed K is not stored: indices stand for both sides
    return KernelSaddle(family, choice, kernel, left, Z)


def are_many(X: Array) -> bool:
    """Whether there are so many samples that kernel="auto" has landmarks stand for them."""
    return X.shape[0] > EXACT_SIZE


def many_landmarks(kernel: Kernel, X: Array, budget: int, *, few: bool = False) -> tuple[Nystrom, Choice] | None:
    """Landmarks for samples too many to decompose, as many as the budget has room for; None if samples are few.

    None also if there is room for no more than the usual number of them or, with ``few``, for too few to be of use, or
    if their own matrix exceeds the budget.
    """
    n, copies = X.shape[0], FACTOR_COPIES // 2 if kernel.symmetric else FACTOR_COPIES
    wanted = max(MANY_LANDMARKS, min(n // SAMPLES_PER_LANDMARK, MOST_LANDMARKS))
    room = budget / (copies * n * X.dtype.itemsize)
    count = min(wanted, int(room), affordable_size(budget))
    if not are_many(X) or count <= (FEWEST_LANDMARKS if few else N_LANDMARKS):
        return None
    method = Nystrom(count)
    if landmark_bytes(method.landmarks, (count, count), (n, n)) > budget:
        return None
    return method, Choice("nystrom", f"{n} samples are more than the {EXACT_SIZE} that kernel='auto' decomposes")


def saddle_of_landmarks(
    kernel: Kernel, X: Array, method: Nystrom, choice: Choice, *, budget: int, seed: int, weights: np.ndarray | None
) -> LandmarkedSaddle:
    """Build the systems of a centred Nystrom approximation of k(X, X), with as many components as landmarks.

    Weights of the samples change what is orthonormal, and cost another O(n k^2), half of it for a symmetric kernel.
    """
    count = min(N_LANDMARKS, X.shape[0]) if method.n_landmarks is None else method.n_landmarks
    k = int(np.min(count))
    method = clone(method).set_params(n_landmarks=count)
    found, _ = approximate(kernel, X, X, k, method=method, budget=budget, seed=seed, center=True, quiet=True)
    found = replace(found, factors=_in_memory(found.factors, budget))
    symmetric = kernel.symmetric and same_points(*(side.points for side in found.landmarks))
    if symmetric:
        found = _with_signs(found)
    assert found.means is not None  # the approximation is centred
    factors, (rows, columns), (left, right) = found.factors, found.means, found.landmarks
    ones = np.ones_like(rows)
    means = LowRank(np.column_stack([ones, rows]), np.column_stack([columns - rows.mean(), ones]))
    A = Sum([LowRank(factors.U, factors.V, factors.s), means])
    weighted, turns = _weighted(factors, Border(X.shape[0], weights), symmetric=symmetric)
    family = Spectral(A, weighted, symmetric=symmetric, weights=weights)
    return LandmarkedSaddle(family, choice, found.kernel, left.points, right.points, found, turns)


def _choice(A: KernelOperator, kernel: Kernel, settings: Settings) -> Choice:
    """The solver that was asked for, or the one that suits the matrix and what is to be done with it."""
    n, is_sparse = A.shape[0], isinstance(A, Stored) and sparse.issparse(A.K)
    if settings.solver != "auto":
        return Choice(settings.solver, "asked for")
    if settings.damping:
        return Choice("sparse_lu" if is_sparse else "dense", "damping needs a factorisation of the whole system")
    decomposed = min(DECOMPOSED_SIZE, affordable_size(settings.budget))
    return choose_saddle(
        n,
        entries=A.cost,
        budget=settings.budget,
        many=settings.holds_out and (settings.largest_C < np.inf or n <= decomposed),
        symmetric=kernel.symmetric or (isinstance(A, Stored) and (A.K != A.K.T).sum() == 0),
        is_sparse=is_sparse,
    )


def _family(solver: str, A: KernelOperator, kernel: Kernel, settings: Settings) -> SaddleFamily:
    """The systems of the matrix, to be solved by the named solver."""
    damping, weights, largest_C = settings.damping, settings.weights, settings.largest_C
    match solver:
        case "minres":
            return Minres(A, settings.tol, weights=weights)
        case "sparse_lu":
            if not (isinstance(A, Stored) and sparse.issparse(A.K)):
                raise ValueError("solver='sparse_lu' needs a sparse kernel matrix, but this is dense; use 'dense'")
            return BlockLU(A, damping, weights=weights)
        case "symmetric" if settings.holds_out:
            return Spectral.of_matrix(_symmetric(A, kernel), largest_C, symmetric=True, weights=weights)
        case "symmetric":
            return Dense(_symmetric(A, kernel), symmetric=True, weights=weights)
        case "spectral":
            return Spectral.of_matrix(A, largest_C, weights=weights)
        case _:
            K = Stored(np.asarray(A.take(), dtype=float))
            return BlockLU(K, damping, weights=weights) if damping else Dense(K, weights=weights)


def _with_signs(found: NystromFactors) -> NystromFactors:
    """The approximation of a symmetric matrix with signs in the values and not in the right vectors, which go."""
    U, s, V = found.factors.U, found.factors.s, found.factors.V
    signs = np.sign(np.einsum("ij,ij->j", U, V))
    return replace(found, factors=Factors(U, s * signs, U), right=found.left)


def _in_memory(factors: Factors, budget: int) -> Factors:
    """Factors as arrays: the systems hold two of n rows, of which leave-one-out makes a few copies."""
    sides = factors.U, factors.V
    if not any(isinstance(side, RowBlocks) for side in sides):
        return factors
    n, k = factors.U.shape
    if (needed := FACTOR_COPIES * n * k * factors.U.dtype.itemsize) > budget:
        raise ValueError(
            f"the rows stay in blocks, but {FACTOR_COPIES} arrays of {n} x {k} factors need {needed} bytes, above the "
            f"budget of {budget}; use fewer landmarks with solver=Nystrom(n_landmarks), or raise memory_budget"
        )
    U, V = (side.gathered() if isinstance(side, RowBlocks) else side for side in sides)
    return Factors(U, factors.s, V)


def _weighted(factors: Factors, border: Border, *, symmetric: bool) -> tuple[Factors, tuple[np.ndarray, np.ndarray]]:
    """Factors of H r U s V'r H, with signs in s if U is V, and the maps from coordinates in them to U'a and V'c."""
    if border.weights is None:
        return factors, (np.eye(len(factors.s)),) * 2
    if symmetric:
        Q, S = np.linalg.qr(border.centred(border.roots * factors.U))
        s, W = eigh((S * factors.s) @ S.T)
        U = product(Q, W)
        return Factors(U, s, U), (S.T @ W,) * 2
    (Q, S), (P, T) = (np.linalg.qr(border.centred(border.roots * side)) for side in (factors.U, factors.V))
    W, s, Zt = svd((S * factors.s) @ T.T)
    return Factors(Q @ W, s, P @ Zt.T), (S.T @ W, T.T @ Zt.T)


def _symmetric(A: KernelOperator, kernel: Kernel) -> Stored:
    """The stored matrix, free of rounding errors if the kernel is symmetric; raise an error if K differs from K'."""
    K = A.take()
    if kernel.symmetric:
        return Stored((K + K.T) / 2)
    if not np.array_equal(K, K.T):
        gap = np.abs(K - K.T).max()
        raise ValueError(f"solver='symmetric' needs K = K', but they differ by up to {gap:.3g}; use solver='auto'")
    return Stored(K)
