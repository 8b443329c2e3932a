"""Kernel SVD with weighted rows and columns.

With weights a on the rows and c on the columns the covariances of the two feature maps are weighted sums, and the
factors are those of diag(sqrt a) K diag(sqrt c), with the roots taken out of the vectors again:

    K = U diag(s) V^T,    K diag(c) V = U diag(s),    K^T diag(a) U = V diag(s),    U^T diag(a) U = V^T diag(c) V = I.

Whole numbers repeat: a row of weight two is a row that is there twice.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from ..operators import KernelOperator, Weighted
from .factors import Factors, powers


@dataclass(frozen=True)
class Weights:
    """How much each row and each column counts.

    Attributes
    ----------
    left, right : arrays of shapes (n,) and (m,)
        Not negative, and some above zero.
    """

    left: np.ndarray
    right: np.ndarray

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """Their square roots."""
        return np.sqrt(self.left), np.sqrt(self.right)

    def on(self, A: KernelOperator) -> Weighted:
        """diag(sqrt left) A diag(sqrt right), which solvers decompose."""
        return Weighted(A, *self.roots())

    def times(self, factors: Factors) -> Factors:
        """Vectors each entry of which is multiplied by its weight."""
        return Factors(_scaled(self.left, factors.U), factors.s, _scaled(self.right, factors.V))

    def taken_out(self, A: KernelOperator, factors: Factors) -> Factors:
        """Factors of A in weighted inner products, from those of ``on(A)``. Points of no weight are embedded as new."""
        U, V = (
            _scaled(np.divide(1, root, out=np.zeros_like(root), where=root > 0), vectors)
            for root, vectors in zip(self.roots(), (factors.U, factors.V), strict=True)
        )
        inverse = powers(factors.s, -1, max(A.shape))
        known = self.times(Factors(U, factors.s, V))
        U = _filled(U, self.left == 0, A, known.V * inverse)
        V = _filled(V, self.right == 0, A.T, known.U * inverse)
        return Factors(U, factors.s, V).canonical()


def check_weights(left: Any, right: Any, shape: tuple[int, int]) -> Weights | None:
    """Weights of both sides, ones where a side has none; None where neither has."""
    if left is None and right is None:
        return None
    checked = (
        _check_side(given, count, side)
        for given, count, side in zip((left, right), shape, ("left", "right"), strict=True)
    )
    return Weights(*checked)


def _check_side(given: Any, count: int, side: str) -> np.ndarray:
    if given is None:
        return np.ones(count)
    weights = np.asarray(given, dtype=float)
    if weights.shape != (count,):
        raise ValueError(
            f"{side}_weights has shape {weights.shape}, but there are {count} {side} points; give ({count},)"
        )
    if not np.isfinite(weights).all() or weights.min() < 0:
        worst = weights[~np.isfinite(weights)][:1] if not np.isfinite(weights).all() else weights.min()
        raise ValueError(f"{side}_weights holds {np.ravel(worst)[0]}; weights are finite and not negative")
    if not weights.any():
        raise ValueError(f"all {count} {side}_weights are zero; at least one point must count")
    return weights


def _scaled(weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return weights[:, None].astype(vectors.dtype) * vectors


def _filled(vectors: np.ndarray, missing: np.ndarray, A: KernelOperator, map: np.ndarray) -> np.ndarray:
    """Vectors with the rows that are missing taken from A times a map."""
    if missing.any():
        vectors[missing] = (A @ map)[missing]
    return vectors
