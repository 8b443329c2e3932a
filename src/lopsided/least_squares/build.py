"""From a kernel and training samples to saddle systems, of the full kernel matrix or of landmarks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._core import Array, check_finite
from ..exceptions import NotFiniteError
from ..kernels import Kernel, Precomputed
from ..nystrom import Nystrom, approximate
from ..operators import KernelOperator, Stored, as_operator
from ..svd import Choice
from .saddle import MODERATE_SIZE, BlockLU, Dense, Landmarked, Minres, SaddleFamily, Spectral, choose_saddle

N_LANDMARKS = 1000  # default number of landmarks
LARGEST_SUM = 1e150  # bound on sums of kernel values, whose squares must not overflow
COMPONENTS_PER_LANDMARK = 0.7  # trailing ones are mostly rounding error; see the ablation in askls_tables.py


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


def saddle_of_samples(
    kernel: Kernel,
    X: Array,
    Z: Array,
    *,
    solver: str,
    largest_C: float,
    holds_out: bool,
    damping: float,
    tol: float,
    budget: int,
) -> KernelSaddle:
    """Build the systems of the full matrix k(X, Z), for C up to ``largest_C``; infinity means C="auto"."""
    A = as_operator(kernel, X, Z, budget=budget)
    if kernel.symmetric and isinstance(A, Stored):
        A = Stored((A.K + A.K.T) / 2)  # removes rounding errors only
    _check_sums(A @ np.ones((A.shape[1], 1)))
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
            family = BlockLU(_sparse(A), damping)
        case "symmetric" if holds_out:
            family = Spectral.of_matrix(_symmetric(A, kernel), largest_C, symmetric=True)
        case "symmetric":
            family = Dense(_symmetric(A, kernel), symmetric=True)
        case "spectral":
            family = Spectral.of_matrix(A, largest_C)
        case _:
            family = BlockLU(Stored(np.asarray(A.take(), dtype=float)), damping) if damping else Dense(A)
    left = Z if isinstance(kernel, Precomputed) else X  # a precomputed K is not stored: indices stand for both sides
    return KernelSaddle(family, choice, kernel, left, Z)


def saddle_of_landmarks(
    kernel: Kernel, X: Array, method: Nystrom, choice: Choice, *, budget: int, seed: int
) -> KernelSaddle:
    """Build the systems of a centred Nystrom approximation of k(X, X), with 0.7 components per landmark."""
    count = min(N_LANDMARKS, X.shape[0]) if method.n_landmarks is None else method.n_landmarks
    found, _ = approximate(
        kernel,
        X,
        X,
        max(1, round(COMPONENTS_PER_LANDMARK * int(np.min(count)))),
        method=clone(method).set_params(n_landmarks=count),
        budget=budget,
        seed=seed,
        center=True,
        quiet=True,  # fewer components than requested are acceptable here
    )
    left, right = found.landmarks
    return KernelSaddle(Landmarked(found), choice, found.kernel, left.points, right.points)


def _sparse(A: KernelOperator) -> Stored:
    if not (isinstance(A, Stored) and sparse.issparse(A.K)):
        raise ValueError("solver='sparse_lu' needs a sparse kernel matrix, but this one is dense; use solver='dense'")
    return A


def _symmetric(A: KernelOperator, kernel: Kernel) -> Stored:
    """The stored matrix, free of rounding errors if the kernel is symmetric; raise an error if K differs from K'."""
    K = A.take()
    if kernel.symmetric:
        return Stored((K + K.T) / 2)
    if not np.array_equal(K, K.T):
        gap = np.abs(K - K.T).max()
        raise ValueError(f"solver='symmetric' needs K = K', but they differ by up to {gap:.3g}; use solver='auto'")
    return Stored(K)


def _check_sums(sums: np.ndarray) -> None:
    """Raise an error if kernel values or the squares of their sums are not finite."""
    check_finite(sums)
    largest = np.abs(sums).max()
    if largest > LARGEST_SUM:
        raise NotFiniteError(
            f"kernel values of a sample sum to {largest:.3g}, whose square overflows; multiply the kernel by a small "
            "number, or scale the data down"
        )
