"""Saddle systems of a kernel on training samples, from the full kernel matrix or from landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from ..._core import Array, check_finite
from ...exceptions import NotFiniteError
from ...kernels import Kernel, Precomputed
from ...nystrom import Nystrom, approximate
from ...operators import Stored, as_operator
from ...svd import Choice
from .policy import build_saddle
from .spectral import Spectral, duals_over_landmarks
from .system import Duals, Saddle

N_LANDMARKS = 1000  # default number of landmarks
LARGEST = 1e150  # bound on sums of kernel values, whose squares must not overflow
KEPT = 0.7  # components per landmark; the trailing ones are mostly rounding error


@dataclass(frozen=True)
class KernelSaddle:
    """Saddle systems together with the kernel and the points needed for out-of-sample evaluation.

    Attributes
    ----------
    saddle : Saddle
        The systems of the kernel matrix, for any C.
    choice : Choice
        Name of the solver and the reason for it.
    kernel : Kernel
        The kernel used; with landmarks, SNE and StudentT may be normalised over the landmarks.
    X, Z : arrays or sparse matrices
        Left and right points with which new samples are compared.
    over_points : callable
        Maps (system, duals of all samples, targets Y) to duals over X and Z that define the same functions.
    """

    saddle: Saddle
    choice: Choice
    kernel: Kernel
    X: Array
    Z: Array
    over_points: Callable[[Any, Duals, np.ndarray], Duals]


def saddle_of_samples(
    kernel: Kernel,
    X: Array,
    Z: Array,
    *,
    solver: str,
    largest_C: float,
    many: bool,
    damping: float,
    tol: float,
    budget: int,
) -> KernelSaddle:
    """Build the systems of the full matrix k(X, Z); see :func:`build_saddle` for the parameters.

    The matrix of a symmetric kernel on one set is symmetrised, which removes rounding errors only.
    """
    A, symmetric = as_operator(kernel, X, Z, budget=budget), kernel.symmetric and X is Z
    if symmetric and isinstance(A, Stored):
        A = Stored((A.K + A.K.T) / 2)
    _check_sums(A @ np.ones((A.shape[1], 1)))
    saddle, choice = build_saddle(
        A,
        solver=solver,
        largest_C=largest_C,
        many=many,
        damping=damping,
        tol=tol,
        budget=budget,
        symmetric=symmetric,
    )
    left = Z if isinstance(kernel, Precomputed) else X  # a precomputed K is not stored: indices stand for both sides
    return KernelSaddle(saddle, choice, kernel, left, Z, lambda _, duals, __: duals)


def saddle_of_landmarks(
    kernel: Kernel, X: Array, choice: Choice, *, method: Nystrom, budget: int, seed: int
) -> KernelSaddle:
    """Build the systems of a centred Nystrom approximation of k(X, X), with 0.7 components per landmark."""
    count = min(N_LANDMARKS, X.shape[0]) if method.n_landmarks is None else method.n_landmarks
    found, _ = approximate(
        kernel,
        X,
        X,
        max(1, round(KEPT * int(np.min(count)))),
        method=clone(method).set_params(n_landmarks=count),
        budget=budget,
        seed=seed,
        center=True,
        quiet=True,  # fewer components than requested are acceptable here
    )
    left, right = found.landmarks
    saddle = Spectral.of_nystrom(found)

    def over_landmarks(system: Any, _: Duals, Y: np.ndarray) -> Duals:
        return duals_over_landmarks(found, system, Y)

    return KernelSaddle(saddle, choice, found.kernel, left.points, right.points, over_landmarks)


def _check_sums(sums: np.ndarray) -> None:
    """Raise an error if kernel values or the squares of their sums are not finite."""
    check_finite(sums)
    largest = np.abs(sums).max()
    if largest > LARGEST:
        raise NotFiniteError(
            f"kernel values of a sample sum to {largest:.3g}, whose square is beyond what a float holds; lower eta or "
            "degree, or scale the data down"
        )
