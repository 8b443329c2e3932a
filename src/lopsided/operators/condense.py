"""Smaller operators with the same singular values.

Rows of a sparse-plus-low-rank matrix without sparse entries lie in the row space of the background, of dimension q.
They are orthonormal combinations of q rows, K[dead] = U0[dead] V0^T = Q (R V0^T), so that q rows stand for all of them
and the decomposition of the smaller matrix is that of the larger one, exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

if TYPE_CHECKING:
    from .base import KernelOperator


@dataclass(frozen=True)
class Spread:
    """How rows of a large matrix follow from those of a small one: kept as they are, or as Q times the last ones."""

    live: np.ndarray
    Q: np.ndarray

    @classmethod
    def of(cls, live: np.ndarray, background: np.ndarray) -> tuple[Spread, np.ndarray]:
        """Keep the live rows; return the spread and the background (live + q, q) of the small matrix."""
        Q, R = np.linalg.qr(background[~live])
        return cls(live, Q), np.concatenate([background[live], R])

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Vectors (live + q, k) of the small matrix as vectors (n, k) of the large one."""
        out = np.empty((len(self.live), vectors.shape[1]), dtype=vectors.dtype)
        kept = len(vectors) - self.Q.shape[1]
        out[self.live] = vectors[:kept]
        out[~self.live] = self.Q @ vectors[kept:]
        return out


class Condensed(NamedTuple):
    """A small operator, and how its left and right vectors become those of the large one."""

    operator: KernelOperator
    left: Spread
    right: Spread
