"""The kernel matrix between left and right landmarks: its weighting, centring and decomposition."""

import sys
from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.linalg

from .._core import Array, check_finite, eigh, singular_values, with_one_blas_thread
from ..kernels import Kernel
from ..operators import Stored, as_operator
from ..svd import factorise
from .landmarks import Landmarks

NOISE_EPS = 10  # in units of eps: singular values below this multiple of the matrix's norm are rounding error


@dataclass(frozen=True)
class LandmarkMatrix:
    """Kernel values K = k(X_I, Z_J) between p left and q right landmarks, and the matrix W that is decomposed.

    W is K with every row and column multiplied by the square root of its landmark's weight, and centred if asked for.
    Centring uses the same weights, so that adding a constant to a row or column of K does not change W.
    """

    K: np.ndarray  # in double precision
    W: np.ndarray
    roots: tuple[np.ndarray, np.ndarray]  # square roots of the weights of both sides
    rounding: float  # singular values of W up to this are rounding error
    center: bool

    @classmethod
    def of(cls, kernel: Kernel, landmarks: tuple[Landmarks, Landmarks], *, center: bool) -> Self:
        """Evaluate the kernel, always in float64 because the extension divides by singular values of W."""
        points = [side.points for side in landmarks]
        K = between(kernel, *(side.astype(float) if side.dtype.kind == "f" else side for side in points))
        roots = np.sqrt(landmarks[0].weights), np.sqrt(landmarks[1].weights)
        W = roots[0][:, None] * K * roots[1]
        eps = max((float(np.finfo(side.dtype).eps) for side in points if side.dtype.kind == "f"), default=0.0)
        rounding = NOISE_EPS * eps * float(np.linalg.norm(W))  # before centring, which may leave only rounding error
        if center:
            W = _orthogonal_to(roots[1], _orthogonal_to(roots[0], W).T).T
        return cls(K, W, roots, rounding, center)

    def holding(self, share: float) -> int:
        """Number of leading triplets of W that hold a share of its energy, the sum of squared singular values."""
        energy = np.cumsum(singular_values(self.W) ** 2)
        return 1 + int(np.searchsorted(energy, share * energy[-1]))

    def maps(self, count: int, *, symmetric: bool, rng: np.random.Generator) -> tuple[list[np.ndarray], np.ndarray]:
        """Maps from kernel values with the landmarks to extended vectors, and the values that belong to them.

        For the left side V / s and for the right side U / s, from at most ``count`` triplets of W above rounding, times
        the roots of the weights; for a symmetric W one map, of eigenvectors, and eigenvalues with their signs. If all
        triplets of a positive definite W are wanted, any square root of its inverse will do: a triangular one takes a
        tenth of the time, and the values are ones.
        """
        if symmetric and count >= len(self.W) and (map := self._triangular_map()) is not None:
            return [map], np.ones(len(map))
        if symmetric:
            values, E = eigh(self.W)
            leading = np.argsort(-np.abs(values), kind="stable")[:count]
            leading = leading[self._counts(np.abs(values[leading]))]
            values, vectors = values[leading], [(self.roots[0], E[:, leading])]
        else:
            small = factorise(Stored(self.W), min(count, *self.W.shape), budget=sys.maxsize, rng=rng)[0]
            live = int(np.count_nonzero(self._counts(small.s)))
            values, vectors = small.s[:live], [(self.roots[1], small.V[:, :live]), (self.roots[0], small.U[:, :live])]
        if self.center:  # vectors are orthogonal to the roots only up to eps / s, and the extension divides by s again
            vectors = [(root, _orthogonal_to(root, side)) for root, side in vectors]
        return [root[:, None] * side / values for root, side in vectors], values

    @with_one_blas_thread
    def _triangular_map(self) -> np.ndarray | None:
        """A map M with M M' = W^+ between the roots, from a Cholesky factor; None if pivots are near rounding.

        A centred W has the roots as a null vector: W + t r r' has an inverse, which differs from W^+ along r alone.
        """
        root, W = self.roots[0], self.W.copy()
        if self.center:
            W += np.outer(root, root) * (np.trace(W) / (len(W) * (root @ root)))
        try:
            L = scipy.linalg.cholesky(W, lower=True, overwrite_a=True, check_finite=False)
        except np.linalg.LinAlgError:
            return None
        if L.diagonal().min() ** 2 <= self.rounding:
            return None
        inverse = scipy.linalg.lapack.dtrtri(L, lower=True, overwrite_c=True)[0].T
        return root[:, None] * (_orthogonal_to(root, inverse) if self.center else inverse)

    def _counts(self, s: np.ndarray) -> np.ndarray:
        """Mask of the singular values above rounding; raises ValueError if there are none."""
        counts = s > max(self.rounding, np.finfo(float).tiny)
        if not counts.any():
            what = "less its means " if self.center else ""
            left, right = self.W.shape
            raise ValueError(
                f"the kernel {what}vanishes between the {left} left and the {right} right landmarks; take other ones, "
                "or more"
            )
        return counts


def between(kernel: Kernel, X: Array, Z: Array) -> np.ndarray:
    """Kernel values k(X, Z), evaluated in parallel in the dtype of the points and returned as float64."""
    K = as_operator(kernel, X, Z, budget=sys.maxsize).take().astype(float, copy=False)
    check_finite(K)
    return K


def _orthogonal_to(root: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Project the columns of ``vectors`` on the orthogonal complement of ``root``."""
    unit = root / np.linalg.norm(root)
    return vectors - np.outer(unit, unit @ vectors)
