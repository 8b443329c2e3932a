"""From a kernel and training samples to saddle systems, of the full kernel matrix or of landmarks."""

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._core import Array, centred, check_finite
from ..exceptions import NotFiniteError
from ..kernels import Kernel, Precomputed
from ..nystrom import Nystrom, NystromFactors, approximate
from ..operators import KernelOperator, LowRank, Stored, as_operator
from ..svd import Choice
from .saddle import MODERATE_SIZE, BlockLU, Dense, Duals, Minres, SaddleFamily, SaddleSystem, Spectral, choose_saddle

# Default number of landmarks. On spambase, satimage and usps (`python benchmarks/askls_tables.py landmarks`) accuracy
# gains 0.02 to 0.03 from 250 to 1,000, and -0.02 to 0.01 from there to 2,000, at four times the cost.
N_LANDMARKS = 1000
LARGEST_SUM = 1e150  # bound on sums of kernel values, whose squares must not overflow
COMPONENTS_PER_LANDMARK = 0.7  # trailing ones are mostly rounding error; see the ablation in askls_tables.py


class Settings(NamedTuple):
    """What the estimator asks of the systems, besides kernel and samples."""

    solver: str
    damping: float
    tol: float
    budget: int  # bytes
    largest_C: float  # infinity stands for C="auto"
    holds_out: bool


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

    def duals(self, system: SaddleSystem, Y: np.ndarray) -> Duals:
        """Solve a system of the family for duals over the points X and Z."""
        return system.solve(Y)


@dataclass(frozen=True)
class LandmarkedSaddle(KernelSaddle):
    """Systems of a Nystrom approximation: solved for all samples, with X and Z the landmarks. Cost O(n k)."""

    family: Spectral
    found: NystromFactors

    def duals(self, system: SaddleSystem, Y: np.ndarray) -> Duals:
        """Solve for duals over the landmarks, which define the same functions as the duals over all samples.

        f_source(x) = left(x) s V'c + mean(y), where left(x) is a sum over landmarks; f_target(x) has the same form.
        U'a and V'c are found without forming a and c, whose other components are far larger.
        """
        factors, left, right = self.found.factors, self.found.left, self.found.right
        R, mean = centred(centred(Y)), Y.mean(axis=0)
        found = self.family.at(system.C).coordinates(factors.U.T @ R, factors.V.T @ R)
        sUa, sVc = (factors.s[:, None] * part for part in found)
        return Duals(right.map @ sUa, left.map @ sVc, mean - left.offset @ sVc, mean - right.offset @ sUa)


def saddle_of_samples(kernel: Kernel, X: Array, Z: Array, settings: Settings) -> KernelSaddle:
    """Build the systems of the full matrix k(X, Z)."""
    solver, damping, tol, budget, largest_C, holds_out = settings
    A = as_operator(kernel, X, Z, budget=budget)
    if kernel.symmetric and isinstance(A, Stored):
        A = Stored((A.K + A.K.T) / 2)  # removes rounding errors only
    sums = A @ np.ones((A.shape[1], 1))
    check_finite(sums)
    if np.abs(sums).max() > LARGEST_SUM:
        raise NotFiniteError(
            f"kernel values of a sample sum to {np.abs(sums).max():.3g}, whose square overflows; multiply the kernel "
            "by a small number, or scale the data down"
        )
    is_sparse = isinstance(A, Stored) and sparse.issparse(A.K)
    if solver != "auto":
        choice = Choice(solver, "asked for")
    elif damping:
        choice = Choice("sparse_lu" if is_sparse else "dense", "damping needs a factorisation of the whole system")
    else:
        choice = choose_saddle(
            A.shape[0],
            entries=A.cost,
            budget=budget,
            many=holds_out and (largest_C < np.inf or A.shape[0] <= MODERATE_SIZE),
            symmetric=kernel.symmetric or (isinstance(A, Stored) and (A.K != A.K.T).sum() == 0),
            is_sparse=is_sparse,
        )
    family: SaddleFamily
    match choice.name:
        case "minres":
            family = Minres(A, tol)
        case "sparse_lu":
            if not (isinstance(A, Stored) and is_sparse):
                raise ValueError("solver='sparse_lu' needs a sparse kernel matrix, but this is dense; take 'dense'")
            family = BlockLU(A, damping)
        case "symmetric" if holds_out:
            family = Spectral.of_matrix(_symmetric(A, kernel), largest_C, symmetric=True)
        case "symmetric":
            family = Dense(_symmetric(A, kernel), symmetric=True)
        case "spectral":
            family = Spectral.of_matrix(A, largest_C)
        case _:
            K = Stored(np.asarray(A.take(), dtype=float))
            family = BlockLU(K, damping) if damping else Dense(K)
    left = Z if isinstance(kernel, Precomputed) else X  # a precomputed K is not stored: indices stand for both sides
    return KernelSaddle(family, choice, kernel, left, Z)


def saddle_of_landmarks(
    kernel: Kernel, X: Array, method: Nystrom, choice: Choice, *, budget: int, seed: int
) -> KernelSaddle:
    """Build the systems of a centred Nystrom approximation of k(X, X), with 0.7 components per landmark."""
    count = min(N_LANDMARKS, X.shape[0]) if method.n_landmarks is None else method.n_landmarks
    k = max(1, round(COMPONENTS_PER_LANDMARK * int(np.min(count))))
    method = clone(method).set_params(n_landmarks=count)
    found, _ = approximate(kernel, X, X, k, method=method, budget=budget, seed=seed, center=True, quiet=True)
    assert found.means is not None  # the approximation is centred
    factors, (rows, columns), (left, right) = found.factors, found.means, found.landmarks
    L = np.column_stack([factors.U * factors.s, np.ones_like(rows), rows])
    R = np.column_stack([factors.V, columns - rows.mean(), np.ones_like(columns)])
    family = Spectral(LowRank(L, R), factors)
    return LandmarkedSaddle(family, choice, found.kernel, left.points, right.points, found)


def _symmetric(A: KernelOperator, kernel: Kernel) -> Stored:
    """The stored matrix, free of rounding errors if the kernel is symmetric; raise an error if K differs from K'."""
    K = A.take()
    if kernel.symmetric:
        return Stored((K + K.T) / 2)
    if not np.array_equal(K, K.T):
        gap = np.abs(K - K.T).max()
        raise ValueError(f"solver='symmetric' needs K = K', but they differ by up to {gap:.3g}; use solver='auto'")
    return Stored(K)
