"""Validate left and right points and landmarks, and map them to coordinates that the kernel can compare."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._core import Array, as_indexable, by_rows, check_points, check_sides, same_points
from ..kernels import Kernel, Precomputed
from ..svd import Weights, check_weights
from .compatibility.maps import Compatibility, Identity, given, given_pair, make_compatible


@dataclass(frozen=True)
class Inputs:
    """What a fit decomposes: the matrix of a fitted kernel between left and right points, mapped to one width."""

    kernel: Kernel
    X: Array  # for "precomputed", the kernel matrix itself
    Z: Array  # for "precomputed", the numbers of its columns
    compatibility: Compatibility
    weights: Weights | None
    widths: tuple[int, int]  # of left and right points before the maps


def prepare(
    kernel: Kernel,
    X: Array,
    Z: Array,
    *,
    weights: tuple[Any, Any],
    k: float,
    compatibility: Any,
    seed: int,
    budget: int,
) -> Inputs:
    """Validate the right points, the weights and the rank, map both sides to one width, and fit the kernel to them.

    X must have been validated.
    """
    of_one_matrix, width = Z is None, X.shape[1]
    X, Z = both_sides(kernel, X, Z)
    shape = X.shape[0], Z.shape[0]
    checked = check_weights(*weights, shape, X.dtype)
    check_rank(k, shape, width, checked)
    right_width = X.shape[0] if isinstance(kernel, Precomputed) else Z.shape[1]
    maps = choose_compatibility(compatibility, kernel, X, Z, of_one_matrix=of_one_matrix, seed=seed, budget=budget)
    X, Z = maps.left(X), maps.right(Z)
    return Inputs(kernel.fit(X, Z), X, Z, maps, checked, (width, right_width))


def both_sides(kernel: Kernel, X: Array, Z: Array) -> tuple[Array, Array]:
    """Left and right points as arrays: two sets, the rows and columns of X, or a precomputed X and column numbers.

    X must have been validated.
    """
    if isinstance(kernel, Precomputed):
        if Z is not None:
            raise ValueError("kernel='precomputed' takes the kernel matrix as X; leave Z out")
        return X, np.arange(X.shape[1])[:, None]
    if Z is not None:
        return check_sides(X, as_indexable(Z, "Z"))
    columns = by_rows(X.T)
    return X, X if same_points(X, columns) else columns


def check_rank(k: float, shape: tuple[int, int], n_features: int, weights: Weights | None) -> None:
    """Raise an error if k exceeds the possible rank of the kernel matrix, without rows and columns of weight zero."""
    n, m = shape
    if k > min(n, m):
        raise ValueError(
            f"n_components={k} exceeds min(n_rows, n_columns)={min(n, m)} of the kernel matrix (n_samples={n}, "
            f"n_features={n_features}); lower it or give more points through Z"
        )
    if weights is not None and k > min(weights.counting()):
        raise ValueError(
            f"n_components={k} exceeds min(n_rows, n_columns)={min(weights.counting())} of those whose weight is not "
            "zero; lower it or weigh more points"
        )


def choose_compatibility(
    compatibility: Any, kernel: Kernel, X: Array, Z: Array, *, of_one_matrix: bool, seed: int, budget: int
) -> Compatibility:
    """Compatibility maps of both sides from the parameter ``compatibility``: a name, a matrix or a pair of matrices."""
    if isinstance(kernel, Precomputed):
        if not (isinstance(compatibility, str) and compatibility in ("auto", "identity")):
            raise ValueError("kernel='precomputed' compares no vectors; leave compatibility out")
        return Identity()
    p, q = X.shape[1], Z.shape[1]
    if isinstance(compatibility, tuple):
        if len(compatibility) != 2:
            raise ValueError(
                f"compatibility is a tuple of {len(compatibility)}; give one matrix as an array, or a tuple of two"
            )
        C1, C2 = (_as_map(C, X.dtype) for C in compatibility)
        return given_pair(C1, C2, p, q)
    if not isinstance(compatibility, str):
        return given(_as_map(compatibility, X.dtype), p, q)
    if compatibility == "auto":
        compatibility = "pca" if of_one_matrix and p != q and kernel.same_width else "identity"
    if compatibility == "identity" and not kernel.same_width:
        return Identity()
    return make_compatible(compatibility, X, Z, np.random.default_rng(seed), budget)


def mapped_landmarks(landmarks: Any, kernel: Kernel, maps: Compatibility, widths: tuple[int, int]) -> Any:
    """Return the name of a strategy unchanged, and map given landmark points by the compatibility of their side."""
    if isinstance(landmarks, str):
        return landmarks
    if len(landmarks) != 2:
        raise ValueError(f"landmarks must be a name or a pair, left and right; got {len(landmarks)} of them")
    sides = [side if sparse.issparse(side) else np.asarray(side) for side in landmarks]
    if isinstance(kernel, Precomputed) and any(side.ndim == 2 for side in sides):
        raise ValueError("kernel='precomputed' knows points by their numbers; give row and column numbers")
    for side, width, name in zip(sides, widths, ("left", "right"), strict=True):
        if side.ndim == 2 and side.shape[1] != width:
            raise ValueError(f"{name} landmarks have {side.shape[1]} columns, but {name} points {width}")
    return tuple(
        map(side) if side.ndim == 2 else side for map, side in zip((maps.left, maps.right), sides, strict=True)
    )


def _as_map(C: Any, dtype: np.dtype) -> Array:
    return check_points(C, "compatibility").astype(dtype, copy=False)
