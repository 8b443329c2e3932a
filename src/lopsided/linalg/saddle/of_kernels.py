"""The saddle systems of a kernel on samples, from the whole matrix or from landmarks."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ...kernels.base import Kernel, Precomputed
from ...kernels.points import Array
from ...operators.build import as_operator
from ...operators.stored import Stored
from ..finite import check_finite
from ..landmarks.adaptive import approximate, many_sums
from ..svd.solvers import Choice
from .solvers import build_saddle
from .spectral import Spectral, of_landmarks
from .system import Duals, Saddle

N_LANDMARKS = 1000  # by default
KEPT = 0.7  # components for each landmark; the last ones are mostly rounding


@dataclass(frozen=True)
class KernelSaddle:
    """Saddle systems, and the points that new samples are compared with.

    Attributes
    ----------
    saddle : Saddle
        The systems of the kernel matrix.
    choice : Choice
        Which solver, and why.
    kernel : Kernel
        The kernel that was used: normalised over the landmarks, if it sums over them.
    X, Z : arrays or sparse matrices
        Left and right points.
    over_points : callable
        Takes the duals of all samples, and the targets Y, to the duals of X and Z that make the same functions.
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
    """The systems of the whole matrix k(X, Z); parameters as for :func:`build_saddle`.

    The matrix of a symmetric kernel on one set is made symmetric: what it differs by from its transpose is rounding.
    """
    A = as_operator(kernel, X, Z, budget=budget)
    if kernel.symmetric and X is Z and isinstance(A, Stored):
        A = Stored((A.K + A.K.T) / 2)
    check_finite(A @ np.ones((A.shape[1], 1)))
    saddle, choice = build_saddle(
        A, solver=solver, largest_C=largest_C, many=many, damping=damping, tol=tol, budget=budget
    )
    left = Z if isinstance(kernel, Precomputed) else X  # values are not kept: numbers name both sides
    return KernelSaddle(saddle, choice, kernel, left, Z, lambda _, duals, __: duals)


def saddle_of_landmarks(
    kernel: Kernel, X: Array, choice: Choice, *, landmarks: str, n_landmarks: int | None, budget: int, seed: int
) -> KernelSaddle:
    """The systems of the centred k(X, X) as landmarks give it, with seven components for every ten of them."""
    count = min(N_LANDMARKS, X.shape[0]) if n_landmarks is None else n_landmarks
    found, _ = approximate(
        kernel,
        X,
        X,
        max(1, round(KEPT * count)),
        landmarks=landmarks,
        n_landmarks=count,
        budget=budget,
        seed=seed,
        center=True,
        over_landmarks=many_sums(kernel, X, X),
        quiet=True,  # as many components as there are will do
    )
    left, right = found.landmarks
    saddle = Spectral.of_nystrom(found)

    def over_landmarks(system: Any, _: Duals, Y: np.ndarray) -> Duals:
        return of_landmarks(found, system, Y)

    return KernelSaddle(saddle, choice, found.kernel, left.points, right.points, over_landmarks)
