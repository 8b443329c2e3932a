"""Kernel SVD with weighted rows and columns.

With weights a on the rows and c on the columns, the covariances of the two feature maps are weighted sums. The factors
are those of diag(sqrt a) K diag(sqrt c), with the square roots divided out of the singular vectors:

    K = U diag(s) V^T,    K diag(c) V = U diag(s),    K^T diag(a) U = V diag(s),    U^T diag(a) U = V^T diag(c) V = I.

An integer weight is equivalent to repetition: a row of weight two has the same effect as a row that occurs twice.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array

from ..operators import KernelOperator, Weighted
from .factors import Factors, powers


@dataclass(frozen=True)
class Weights:
    """Weights of the rows and columns of a kernel matrix: not negative, at least one positive on each side."""

    left: np.ndarray  # (n,)
    right: np.ndarray  # (m,)

    def roots(self) -> tuple[np.ndarray, np.ndarray]:
        """Square roots of the left and the right weights."""
        return np.sqrt(self.left), np.sqrt(self.right)

    def on(self, A: KernelOperator) -> Weighted:
        """The operator diag(sqrt left) A diag(sqrt right), which is passed to the solvers."""
        return Weighted(A, *self.roots())

    def times(self, factors: Factors) -> Factors:
        """Multiply each entry of the singular vectors by the weight of its row or column."""
        return Factors(_scaled(self.left, factors.U), factors.s, _scaled(self.right, factors.V))

    def taken_out(self, A: KernelOperator, factors: Factors) -> Factors:
        """Factors of A, orthonormal in the weighted inner products, from the factors of ``on(A)``.

        Singular vectors are divided by the square roots of the weights. For points of little or no weight the quotient
        would be rounding error; these points are embedded out-of-sample instead.
        """
        left, right = self.roots()
        inverse = powers(factors.s, -1, max(A.shape))
        U = _divided(factors.U, left, A, _scaled(right, factors.V) * inverse)
        V = _divided(factors.V, right, A.T, _scaled(left, factors.U) * inverse)
        return Factors(U, factors.s, V).canonical()


def check_weights(left: Any, right: Any, shape: tuple[int, int], dtype: np.dtype) -> Weights | None:
    """Validate weights: a side without weights gets ones; without any weights the result is None.

    The square of the largest weight must neither overflow nor underflow in ``dtype``, the dtype of the points.
    """
    if left is None and right is None:
        return None
    return Weights(_check_side(left, shape[0], "left", dtype), _check_side(right, shape[1], "right", dtype))


def _check_side(given: Any, count: int, side: str, dtype: np.dtype) -> np.ndarray:
    if given is None:
        return np.ones(count)
    name = f"{side}_weights"
    weights = check_array(given, dtype=float, copy=True, ensure_2d=False, ensure_all_finite=False, input_name=name)
    if weights.shape != (count,):
        raise ValueError(f"{name} has shape {weights.shape}, but there are {count} {side} points; give ({count},)")
    refused = ~(np.isfinite(weights) & (weights >= 0))
    if refused.any():
        raise ValueError(f"{name} holds {weights[refused][0]}; weights are finite and not negative")
    if not weights.any():
        raise ValueError(f"all {count} {name} are zero; at least one point must count")
    heaviest, limits = weights.max(), np.finfo(dtype)
    if not limits.tiny**0.5 < heaviest < limits.max**0.5:
        raise ValueError(
            f"the largest of {name} is {heaviest:.3g}; {limits.dtype} needs one between {limits.tiny**0.5:.1e} and "
            f"{limits.max**0.5:.1e}: divide the weights by it"
        )
    return weights


def _scaled(weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    return weights[:, None].astype(vectors.dtype) * vectors


def _divided(vectors: np.ndarray, roots: np.ndarray, A: KernelOperator, map: np.ndarray) -> np.ndarray:
    """Singular vectors divided by the square roots of the weights; for points of negligible weight, rows of A @ map."""
    light = roots <= np.finfo(vectors.dtype).eps ** 0.25 * roots.max()
    divided = vectors / np.where(light, 1, roots)[:, None].astype(vectors.dtype)
    if light.any():
        divided[light] = (A @ map)[light]
    return divided
