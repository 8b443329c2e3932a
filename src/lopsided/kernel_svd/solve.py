"""Decompose the kernel matrix of a fit, exactly or from landmarks, and find the maps that embed new points."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._core import Array
from ..kernels import Kernel, Precomputed
from ..nystrom import Attempt, Landmarks, Nystrom, approximate
from ..operators import Centered, KernelOperator, as_operator
from ..svd import Choice, Factors, Side, Weights, exact_sides, factorise
from .inputs import Inputs, mapped_landmarks


@dataclass(frozen=True)
class Solution:
    """Factors of a kernel matrix, and what embeds new points: kernel values with X or Z, and the maps of both sides."""

    factors: Factors
    choice: Choice
    left: Side
    right: Side
    kernel: Kernel
    X: Array  # all points or the landmarks; for "precomputed", their numbers
    Z: Array
    means: tuple[Any, Any, Any] | None  # of rows, of columns and of all entries, if the matrix was centred
    landmarks: tuple[Landmarks, Landmarks] | None = None
    path: tuple[Attempt, ...] = ()


def solve_exactly(
    inputs: Inputs, k: int | float, *, center: bool, solver: str, tol: float, budget: int, seed: int
) -> Solution:
    """Decompose the (centred, weighted) matrix k(X, Z) by an exact solver."""
    weights = inputs.weights
    A = centred(as_operator(inputs.kernel, inputs.X, inputs.Z, budget=budget), center, weights)
    target, rng = A if weights is None else weights.on(A), np.random.default_rng(seed)
    factors, choice = factorise(target, k, solver=solver, tol=tol, budget=budget, rng=rng)
    weighted = factors
    if weights is not None:
        factors = weights.taken_out(A, factors)
        weighted = weights.times(factors)
    means = A.means if isinstance(A, Centered) else None
    left, right = exact_sides(weighted, means)
    X = np.arange(A.shape[0])[:, None] if isinstance(inputs.kernel, Precomputed) else inputs.X
    return Solution(factors, choice, left, right, inputs.kernel, X, inputs.Z, means)


def solve_from_landmarks(
    inputs: Inputs, k: int | float, *, method: Nystrom, choice: Choice, center: bool, tol: float, budget: int, seed: int
) -> Solution:
    """Approximate the (centred) matrix k(X, Z) from landmarks."""
    landmarks = mapped_landmarks(method.landmarks, inputs.kernel, inputs.compatibility, inputs.widths)
    found, path = approximate(
        inputs.kernel,
        inputs.X,
        inputs.Z,
        k,
        method=clone(method).set_params(landmarks=landmarks),
        tol=tol,
        budget=budget,
        seed=seed,
        center=center,
    )
    rows, columns = found.landmarks
    X = rows.indices[:, None] if isinstance(found.kernel, Precomputed) and rows.indices is not None else rows.points
    means = None if found.means is None else (*found.means, found.means[0].mean())
    return Solution(
        found.factors, choice, found.left, found.right, found.kernel, X, columns.points, means, found.landmarks, path
    )


def centred(A: KernelOperator, center: bool, weights: Weights | None) -> KernelOperator:
    """Centre A, with the weights of the points if there are any; return A itself if ``center`` is False."""
    if not center:
        return A
    return Centered(A) if weights is None else Centered(A, weights.left, weights.right)
