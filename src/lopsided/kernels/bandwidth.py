"""The length scale of the data, for kernels whose bandwidth is left to them."""

from __future__ import annotations

import numpy as np
from scipy import sparse

from .._parallel import slices_of
from .base import Array

CHUNK = 1 << 20


def variance(X: Array, Z: Array) -> float:
    """Variance of all entries of the two arrays together, zeros of sparse arrays included."""
    size = sum(np.prod(side.shape, dtype=float) for side in (X, Z))
    mean = sum(float(chunk.sum(dtype=float)) for chunk in _chunks(X, Z)) / size
    stored = sum(chunk.size for chunk in _chunks(X, Z))
    spread = sum(float(np.square(chunk - mean, dtype=float).sum()) for chunk in _chunks(X, Z))
    found = (spread + (size - stored) * mean**2) / size
    return found if found > np.finfo(float).eps * mean**2 else 0.0  # what is left of a constant is rounding


def euclidean_bandwidth(X: Array, Z: Array) -> float:
    """sqrt(width x variance), the rule of the 2024 paper (C.2); one for constant data."""
    return float(np.sqrt(X.shape[1] * variance(X, Z))) or 1.0


def manhattan_bandwidth(X: Array, Z: Array) -> float:
    """Width x standard deviation, the same rule for distances in the 1-norm; one for constant data."""
    return float(X.shape[1] * np.sqrt(variance(X, Z))) or 1.0


def _chunks(*sides: Array) -> list[np.ndarray]:
    entries = [side.data if sparse.issparse(side) else side for side in sides]
    return [e[rows] for e in entries for rows in slices_of(len(e), CHUNK * len(e) // max(1, e.size))]
