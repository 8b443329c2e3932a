"""Validate left and right points and landmarks, and map them to coordinates that the kernel can compare."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import Array, RowBlocks, as_indexable, by_rows, check_points, check_sides, same_points
from ..exceptions import LopsidedWarning, warn
from ..kernels import Attention, Kernel, Precomputed, SparseKernel
from ..svd import Weights, check_weights
from .compatibility.build import (
    aligned_compatibility,
    compatibility_from_matrix,
    compatibility_from_pair,
    make_compatible,
)
from .compatibility.maps import Compatibility, Identity


class Settings(NamedTuple):
    """Parameters of a fit that decide what is decomposed and how."""

    k: int | float
    solver: Any
    center: bool
    tol: float
    budget: int  # in bytes
    seed: int


@dataclass(frozen=True)
class Inputs:
    """What a fit decomposes: the matrix of a fitted kernel between left and right points, mapped to one width."""

    kernel: Kernel
    X: Array  # for "precomputed", the kernel matrix itself
    Z: Array  # for "precomputed", the numbers of its columns
    compatibility: Compatibility
    weights: Weights | None
    widths: tuple[int, int]  # of left and right points before the maps


def check_ignored(y: Any, X: Array) -> None:
    """Detect right points passed by position: they would be taken for y, which is ignored."""
    if getattr(y, "ndim", 1) != 2:
        return
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"y is ignored, but it has {y.shape[0]} rows and X has {X.shape[0]}; use fit(X, Z=Z)")
    if y.shape[1] == X.shape[1] > 1:
        warn(
            f"y is ignored, but has as many columns as X, {y.shape[1]}; pass right points with fit(X, Z=Z)",
            LopsidedWarning,
        )


def prepare(
    kernel: Kernel, X: Array, Z: Array, weights: tuple[Any, Any], compatibility: Any, settings: Settings
) -> Inputs:
    """Validate the right points, weights and rank, map both sides to one width, and fit the kernel; X is validated."""
    of_one_matrix, width = Z is None, X.shape[1]
    X, Z = _both_sides(kernel, X, Z)
    shape = X.shape[0], Z.shape[0]
    checked = check_weights(*weights, shape, X.dtype)
    _check_rank(settings.k, shape, width, checked)
    right_width = X.shape[0] if isinstance(kernel, Precomputed) else Z.shape[1]
    maps = _choose_compatibility(compatibility, kernel, X, Z, of_one_matrix, settings)
    X, Z = mapped(maps.left, X), mapped(maps.right, Z)
    return Inputs(kernel.fit(X, Z), X, Z, maps, checked, (width, right_width))


def _both_sides(kernel: Kernel, X: Array, Z: Array) -> tuple[Array, Array]:
    """Left and right points as arrays: two sets, the rows and columns of X, or a precomputed X and column numbers."""
    if isinstance(X, RowBlocks) and (Z is None or isinstance(kernel, Precomputed)):
        raise ValueError(
            "the columns of rows in blocks cannot be read; pass right points, fit(X, Z=Z): X itself, landmarks, or "
            "columns of X that lopsided.distributed.sketch_columns has read"
        )
    if isinstance(kernel, Precomputed):
        if Z is not None:
            raise ValueError("kernel='precomputed' takes the kernel matrix as X; leave Z out")
        return X, np.arange(X.shape[1])[:, None]
    if Z is not None:
        return check_sides(X, as_indexable(Z, "Z"))
    columns = by_rows(X.T)
    return X, X if same_points(X, columns) else columns


def mapped(map: Callable[[Array], Array], points: Array) -> Array:
    """Points mapped by one side of a compatibility, blocks of rows when they are read."""
    if not isinstance(points, RowBlocks):
        return map(points)
    nothing = sparse.csr_array((1, points.shape[1]), dtype=points.dtype)
    found = map(nothing)
    return points if found is nothing else points.map(map, found.shape[1], found.dtype)


def same_points_as_in_fit(
    kernel: Kernel, X: Array, Z: Array, of_fit: tuple[tuple[int, int], tuple[int, int]]
) -> tuple[Array, Array]:
    """Left and right points, passed a second time and of the same shapes as in ``fit``."""
    X, Z = _both_sides(kernel, X, Z)
    width = X.shape[0] if isinstance(kernel, Precomputed) else Z.shape[1]
    if (X.shape, (Z.shape[0], width)) != of_fit:
        raise ValueError(
            f"diagnostics takes the left and right points of fit, of shapes {of_fit[0]} and {of_fit[1]}, not "
            f"{X.shape} and {Z.shape}; pass X and Z as in fit"
        )
    return X, Z


def _check_rank(k: float, shape: tuple[int, int], n_features: int, weights: Weights | None) -> None:
    """Raise an error if k exceeds the possible rank of the kernel matrix, without rows and columns of weight zero."""
    if k > min(shape):
        raise ValueError(
            f"n_components={k} exceeds min(n_rows, n_columns)={min(shape)} of the kernel matrix (n_samples={shape[0]}, "
            f"n_features={n_features}); lower it or give more points through Z"
        )
    counting = min(shape) if weights is None else min(map(np.count_nonzero, (weights.left, weights.right)))
    if k > counting:
        raise ValueError(
            f"n_components={k} exceeds min(n_rows, n_columns)={counting}, counting those of nonzero weight; lower it "
            "or give more points a weight"
        )


def _choose_compatibility(
    compatibility: Any, kernel: Kernel, X: Array, Z: Array, of_one_matrix: bool, settings: Settings
) -> Compatibility:
    """Compatibility maps of both sides from the parameter ``compatibility``: a name, a matrix or a pair of matrices."""
    if isinstance(kernel, Precomputed):
        if not (isinstance(compatibility, str) and compatibility in ("auto", "identity")):
            raise ValueError("kernel='precomputed' does not compare vectors; leave compatibility out")
        return Identity()
    p, q = X.shape[1], Z.shape[1]
    if isinstance(compatibility, tuple):
        if len(compatibility) != 2:
            raise ValueError(
                f"compatibility is a tuple of {len(compatibility)}; give one matrix as an array, or a tuple of two"
            )
        C1, C2 = (check_points(C, "compatibility").astype(X.dtype, copy=False) for C in compatibility)
        return compatibility_from_pair(C1, C2, p, q)
    if not isinstance(compatibility, str):
        return compatibility_from_matrix(check_points(compatibility, "compatibility").astype(X.dtype, copy=False), p, q)
    if compatibility == "auto":
        compatibility = "pca" if of_one_matrix and p != q and kernel.same_width else "identity"
    if compatibility == "identity" and not kernel.same_width:
        return Identity()
    rng = np.random.default_rng(settings.seed)
    if compatibility == "pca" and isinstance(kernel, SparseKernel) and not isinstance(kernel, Attention):
        return aligned_compatibility(X, Z, settings.k, rng, settings.budget)
    return make_compatible(compatibility, X, Z, rng, settings.budget)  # Attention's scale depends on the width


def mapped_landmarks(landmarks: Any, kernel: Kernel, maps: Compatibility, widths: tuple[int, int]) -> Any:
    """Return the name of a strategy unchanged, and map given landmark points by the compatibility of their side."""
    if isinstance(landmarks, str):
        return landmarks
    if len(landmarks) != 2:
        raise ValueError(f"landmarks must be a name or a pair, left and right; got {len(landmarks)} of them")
    sides = [side if sparse.issparse(side) else np.asarray(side) for side in landmarks]
    if isinstance(kernel, Precomputed) and any(side.ndim == 2 for side in sides):
        raise ValueError("kernel='precomputed' has no points; give landmarks as row and column numbers")
    for side, width, name in zip(sides, widths, ("left", "right"), strict=True):
        if side.ndim == 2 and side.shape[1] != width:
            raise ValueError(f"{name} landmarks have {side.shape[1]} columns, but {name} points have {width}")
    left, right = sides
    return maps.left(left) if left.ndim == 2 else left, maps.right(right) if right.ndim == 2 else right
