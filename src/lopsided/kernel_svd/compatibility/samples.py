"""Samples that a compatibility is learned from, read in dense blocks."""

from dataclasses import dataclass, replace
from typing import Any, Self

import numpy as np

from ..._core import Array, blocks_of, dense

BLOCK_BYTES = 1 << 22  # of the kernel values of some rows and what is computed of them, at most
LEAST_ROWS = 128  # of a block, unless the budget is small: a sum over a block takes as much memory as p rows
BLOCK_COPIES = 8  # arrays of the shape of a block: points, kernel values, their derivatives, and those by the loss


@dataclass(frozen=True)
class Samples:
    """The rows of a table X (n, p), dense or sparse, that are used, and their targets; blocks of them are dense."""

    X: Array
    Y: np.ndarray
    rows: np.ndarray  # their numbers

    @classmethod
    def every(cls, X: Array, Y: np.ndarray) -> Self:
        """Return all rows of a table."""
        return cls(X, Y, np.arange(X.shape[0]))

    def __len__(self) -> int:
        return len(self.rows)

    def take(self, part: Any) -> Self:
        """Return some of them, by their places among these."""
        return replace(self, rows=self.rows[part])

    def points(self, part: slice) -> np.ndarray:
        """Return a block of points."""
        return dense(self.X[self.rows[part]])

    @property
    def targets(self) -> np.ndarray:
        """The targets of all."""
        return self.Y[self.rows]

    @property
    def blocks(self) -> list[slice]:
        """Blocks that leave room for kernel values with p points and what is computed of them."""
        row_bytes = BLOCK_COPIES * 8 * self.X.shape[1]
        return blocks_of(len(self), row_bytes, max(BLOCK_BYTES, LEAST_ROWS * row_bytes))
