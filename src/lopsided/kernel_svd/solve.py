"""Decompose the kernel matrix of a fit, exactly or from landmarks, and find the maps that embed new points."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone

from .._core import Array
from ..kernels import Kernel, Precomputed
from ..nystrom import Attempt, Landmarks, Nystrom, approximate, select_nystrom
from ..operators import Centered, KernelOperator, as_operator
from ..svd import Choice, Factors, Side, Weights, exact_sides, factorise
from .inputs import Inputs, Settings, mapped_landmarks


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


def solve(inputs: Inputs, settings: Settings) -> Solution:
    """Decompose the kernel matrix by the requested solver, or by the one that suits its size and the budget."""
    chosen = None
    if inputs.weights is None:  # landmarks take none
        chosen = select_nystrom(settings.solver, inputs.kernel, inputs.X, inputs.Z, budget=settings.budget)
    return _exactly(inputs, settings) if chosen is None else _from_landmarks(inputs, *chosen, settings)


def _exactly(inputs: Inputs, settings: Settings) -> Solution:
    """Decompose the (centred, weighted) matrix k(X, Z) by an exact solver."""
    k, solver, center, tol, budget, seed = settings
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


def _from_landmarks(inputs: Inputs, method: Nystrom, choice: Choice, settings: Settings) -> Solution:
    """Approximate the (centred) matrix k(X, Z) from landmarks."""
    k, _, center, tol, budget, seed = settings
    landmarks = mapped_landmarks(method.landmarks, inputs.kernel, inputs.compatibility, inputs.widths)
    method = clone(method).set_params(landmarks=landmarks)
    points = inputs.kernel, inputs.X, inputs.Z
    found, path = approximate(*points, k, method=method, tol=tol, budget=budget, seed=seed, center=center)
    rows, columns = found.landmarks
    X = rows.indices[:, None] if isinstance(found.kernel, Precomputed) and rows.indices is not None else rows.points
    means = None if found.means is None else (*found.means, found.means[0].mean())
    maps = found.left, found.right
    return Solution(found.factors, choice, *maps, found.kernel, X, columns.points, means, found.landmarks, path)


def centred(A: KernelOperator, center: bool, weights: Weights | None) -> KernelOperator:
    """Centre A, with the weights of the points if there are any; return A itself if ``center`` is False."""
    if not center:
        return A
    return Centered(A) if weights is None else Centered(A, weights.left, weights.right)
