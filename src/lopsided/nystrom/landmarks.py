"""Landmarks, the few points that represent a side in the Nystrom method, and those that a user gives."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._core import Array, check_points


@dataclass(frozen=True)
class Landmarks:
    """Landmarks of one side, and the number of points that each represents.

    Attributes
    ----------
    points : array or sparse matrix of shape (p, width)
        The landmarks.
    weights : array of shape (p,)
        Number of points of the side that each landmark represents; the sum is the size of the side.
    indices : array of shape (p,) or None
        Row numbers of the landmarks, if they are points of the side.
    """

    points: Array
    weights: np.ndarray
    indices: np.ndarray | None = None

    def __len__(self) -> int:
        return int(self.points.shape[0])


def rows_as_landmarks(points: Array, indices: np.ndarray, weights: np.ndarray | None = None) -> Landmarks:
    """Rows of a side as landmarks, sorted because files read faster in order; weights are scaled to sum to its size."""
    order = np.argsort(indices)
    indices = indices[order]
    weights = np.ones(len(indices)) if weights is None else weights[order]
    return Landmarks(points[indices], weights * (points.shape[0] / weights.sum()), indices)


def given_landmarks(wanted: Any, points: Array, side: str) -> Landmarks:
    """Validate landmarks given by the user as row numbers (p,) or points (p, width)."""
    found = wanted if sparse.issparse(wanted) else np.asarray(wanted)
    if found.ndim == 2:
        chosen = check_points(found, f"{side} landmarks")
        if sparse.issparse(chosen) and not sparse.issparse(points):
            chosen = chosen.toarray()
        return Landmarks(
            chosen.astype(points.dtype, copy=False), np.full(chosen.shape[0], points.shape[0] / chosen.shape[0])
        )
    if found.ndim != 1 or found.dtype.kind not in "iu" or not len(found):
        raise ValueError(
            f"{side} landmarks must be row numbers, shape (p,) of integers, or points, shape (p, width); "
            f"got shape {found.shape} of {found.dtype}"
        )
    n = points.shape[0]
    if found.min() < 0 or found.max() >= n:
        raise ValueError(f"{side} landmarks reach from {found.min()} to {found.max()}; rows are numbered 0 to {n - 1}")
    values, counts = np.unique(found, return_counts=True)
    if len(values) < len(found):
        raise ValueError(f"{side} landmark {values[counts.argmax()]} is named {counts.max()} times; name each row once")
    return rows_as_landmarks(points, values)
