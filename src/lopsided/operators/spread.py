"""Rows of a large matrix that are spread from a smaller one with the same nonzero singular values.

In a sparse-plus-low-rank matrix, rows without sparse entries ("dead" rows) lie in the row space of the background, of
dimension q. With the QR decomposition U0[dead] = Q R they are K[dead] = Q (R V0^T), so that the q rows R V0^T replace
all of them, and the SVD of the smaller matrix gives that of the larger one exactly.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Spread:
    """Map from rows of a small matrix to rows of a large one: live rows are copied, others are Q times the last q."""

    live: np.ndarray
    Q: np.ndarray

    @classmethod
    def of(cls, live: np.ndarray, background: np.ndarray) -> tuple[Spread, np.ndarray]:
        """Return the spread that keeps the live rows, and the background (live + q, q) of the small matrix."""
        Q, R = np.linalg.qr(background[~live])
        return cls(live, Q), np.concatenate([background[live], R])

    def __call__(self, vectors: np.ndarray) -> np.ndarray:
        """Map singular vectors (live + q, k) of the small matrix to those (n, k) of the large one."""
        out = np.empty((len(self.live), vectors.shape[1]), dtype=vectors.dtype)
        kept = len(vectors) - self.Q.shape[1]
        out[self.live] = vectors[:kept]
        out[~self.live] = self.Q @ vectors[kept:]
        return out
