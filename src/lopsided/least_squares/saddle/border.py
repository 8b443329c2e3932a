"""The border of saddle systems: the weights of the samples, and what is orthogonal to them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..._core import centred_twice
from ...operators import Centered, KernelOperator, Weighted


@dataclass(frozen=True, eq=False)
class Border:
    """Weights w of n samples and r = sqrt(w), the border of the system in the unknowns a / r and c / r.

    In these unknowns the kernel matrix is r K r, and H = I - r r' / r'r takes the place of centring. Without weights
    r is a vector of ones.
    """

    n: int
    weights: np.ndarray | None = None  # (n,), positive

    @cached_property
    def roots(self) -> np.ndarray:
        """The vector r, as a column."""
        return np.ones((self.n, 1)) if self.weights is None else np.sqrt(self.weights)[:, None]

    @cached_property
    def unit(self) -> np.ndarray:
        """The vector r of length one, as a column."""
        return self.roots / np.linalg.norm(self.roots)

    def centred(self, x: np.ndarray) -> np.ndarray:
        """H x for an array (..., n, k)."""
        if self.weights is None:
            return x - x.mean(axis=-2, keepdims=True)
        return x - self.unit * (self.unit.T @ x)

    def right_hand_sides(self, Y: np.ndarray) -> np.ndarray:
        """H r Y, twice: rounding leaves a small part along r, which an inverse would amplify."""
        return self.centred(self.roots * (Y - self.mean(Y)))

    def mean(self, Y: np.ndarray) -> np.ndarray:
        """Weighted means of the columns of Y, shape (k,)."""
        return np.average(Y, axis=0, weights=self.weights)

    def centred_matrix(self, K: np.ndarray) -> np.ndarray:
        """B = H r K r H; means are subtracted first, when differences of near numbers are still exact."""
        B = centred_twice(K, self.weights)
        return B if self.weights is None else self.scaled(B)

    def scaled(self, K: Any) -> Any:
        """The matrix r K r, sparse if K is."""
        return K * self.roots * self.roots.T

    def led(self, B: np.ndarray) -> np.ndarray:
        """B + t r r' for a centred B, with t large enough to make r the leading singular vector.

        It is a null vector of B, and a decomposition of B would mix it with the other null vectors. After the shift,
        the remaining triplets are exactly the decomposition of B on the vectors orthogonal to r.
        """
        return B + (2 * np.linalg.norm(B) or 1.0) * self.unit * self.unit.T

    def centred_operator(self, A: KernelOperator) -> KernelOperator:
        """The operator H r A r H."""
        if self.weights is None:
            return Centered(A)
        return Weighted(Centered(A, self.weights, self.weights), self.roots[:, 0], self.roots[:, 0])
