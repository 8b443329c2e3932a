"""Embed new points by the map that a fit has learned: arrays at once, memory maps in slabs, blocks where they are."""

from dataclasses import dataclass
from typing import Any

import numpy as np

from .._core import Array, RowBlocks, check_finite, slices_of
from ..kernels import Kernel
from ..operators import out_of_sample_operator
from ..svd import Side
from .compatibility.maps import Compatibility

SLAB_ROWS = 1 << 18  # rows embedded at once into ``out``, so that a memory map is written piecewise


@dataclass(frozen=True)
class Embedding:
    """The map of one side, x -> (k(x, Z) map - offset) * factors for left points, and k(X, z)^T for right points.

    It is what travels to blocks of rows: the kernel, the points of ``fit`` on the other side, and small matrices.
    """

    kernel: Kernel
    fitted: Array  # the points of the other side, or their landmarks
    compatibility: Compatibility
    side: Side
    factors: np.ndarray
    of_right: bool

    def times(self, points: Array, weights: np.ndarray) -> np.ndarray:
        """k(points, Z) W of left points, or k(X, points)^T W of right ones, in blocks."""
        points = points.astype(np.result_type(points.dtype, self.side.map.dtype), copy=False)
        maps, fitted = self.compatibility, self.fitted
        X, Z = (fitted, maps.right(points)) if self.of_right else (maps.left(points), fitted)
        A = out_of_sample_operator(self.kernel, X, Z, of_right=self.of_right)
        return np.asarray(A @ weights.astype(A.dtype, copy=False))

    def __call__(self, points: Array) -> np.ndarray:
        """Embed points that are in memory."""
        features = (self.times(points, self.side.map) - self.side.offset) * self.factors
        check_finite(features)
        return features

    def into(self, points: Array, out: Any = None) -> Any:
        """Embed points at once, in slabs into an array ``out``, or block by block, lazily or into a folder ``out``."""
        if isinstance(points, RowBlocks):
            dtype = np.result_type(points.dtype, self.side.map.dtype)
            lazy = points.map(self, self.side.map.shape[1], dtype)
            return lazy.native() if out is None else lazy.written(out)
        if out is None:
            return self(points)
        _check_out(out, (points.shape[0], self.side.map.shape[1]), self.side.map.dtype)
        for rows in slices_of(points.shape[0], SLAB_ROWS):
            out[rows] = self(points[rows])
        return out


def _check_out(out: Any, shape: tuple[int, int], dtype: np.dtype) -> None:
    """Raise an error if ``out`` cannot hold a result of this shape and dtype."""
    if not isinstance(out, np.ndarray):
        raise TypeError(f"out must be a numpy array or memory map, not {type(out).__name__}")
    if out.shape != shape or not np.can_cast(dtype, out.dtype, "same_kind"):
        raise ValueError(
            f"out has shape {out.shape} and dtype {out.dtype}; it must be an array of floats of shape {shape}"
        )
