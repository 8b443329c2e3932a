"""Kernel matrices of sparse data as sparse plus low rank.

If k(x, z) = f(|x|^2, |z|^2, x.z) and P = X Z^T is sparse, then k differs from the *background* f(|x|^2, |z|^2, 0)
only on the sparsity pattern of P, and for every kernel here the background has (numerically) low rank.
"""

from abc import ABC, abstractmethod
from collections.abc import Callable
from copy import copy
from itertools import pairwise
from typing import Any, Self

import numpy as np
from scipy import sparse

from .._core import Array, RowBlocks, block_bytes, blocks_of, row_sums, run
from .base import Kernel, WeightedPoints
from .points import product

BLOCK_ENTRIES = 1 << 21  # entries of a product that a thread forms at once, at most
DENSE_BYTES = 16  # per entry of a dense block: the product, and an array of its size
SPARSE_BYTES = 48  # per multiplication of a sparse block: entries, column numbers, and arrays of their size


class Structure(ABC):
    """A kernel bound to a right set: K = u0 v0 (level + slope x.z), except on a sparse pattern of entries.

    u0 v0 denotes the entries of U0 V0^T, where V0 (m, q) is ``right``.
    """

    right: np.ndarray
    level = 1.0  # zero if k = 0 wherever x.z = 0

    def slope(self, unit: float) -> float | None:
        """Return the slope for which u0 v0 (level + slope x.z) is exact at x.z = unit too, or None to use no slope."""
        return None  # on unweighted graphs nearly all x.z are one, and the slope represents them without storing them

    @abstractmethod
    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """Return U0 (n, q) for the rows X, and values at P: X Z^T, without entries equal to the unit if slope != 0."""


class SparseKernel(Kernel):
    """A kernel of |x|^2, |z|^2 and x.z, whose matrix on sparse data is exactly sparse plus low rank."""

    @abstractmethod
    def structure(self, Z: sparse.csr_array) -> Structure:
        """Bind the fitted kernel to a sparse right set."""


class NormalisedKernel(SparseKernel):
    """A kernel k(x, z) = g(x, z) / sum over z' of g(x, z'), where z' runs over the right set seen during ``fit``.

    Attributes
    ----------
    right_set_, weights_ : arrays of shape (m, width) and (m,)
        The points z', and the number of points that each represents: one unless the z' are landmarks.
    """

    normalised = True

    def fit(self, X: Array, Z: Array) -> Self:
        """Learn the parameters of g that are None, and store the set over which rows are normalised."""
        super().fit(X, Z)
        if isinstance(Z, RowBlocks):
            Z = Z[:1]  # sums over blocks run over landmarks, which take its place
        self._sum_over(Z, np.ones(Z.shape[0]), bounded=False)
        return self

    def normalised_over(self, left: WeightedPoints, right: WeightedPoints) -> Kernel:
        """Return a copy that is normalised over a few weighted right points."""
        if sparse.issparse(right[0]):
            raise ValueError(
                "denominators='landmarks' is for dense data; on sparse data use 'all', which is exact and costs no more"
            )
        twin = copy(self)
        twin._sum_over(*right, bounded=True)
        return twin

    def _sum_over(self, Z: Array, weights: np.ndarray, bounded: bool) -> None:
        """Set the z'; landmarks may omit the nearest point, so values divided by their sums are bounded by one."""
        self.right_set_, self.weights_, self._bounded = Z, weights.astype(Z.dtype), bounded


def product_counts(X: sparse.csr_array, Z: sparse.csr_array) -> np.ndarray:
    """Count the multiplications for each row of X Z^T, a bound on its stored entries. Cost O(nnz)."""
    per_column = np.bincount(Z.indices, minlength=Z.shape[1])
    return row_sums(per_column[X.indices], X)


def product_slices(counts: np.ndarray, limit: int, parts: int = 1) -> list[slice]:
    """Cut rows into slices of similar work: ``parts`` or more, of about ``limit`` at most, unless rows are longer."""
    work = np.cumsum(np.maximum(counts, 1), dtype=np.int64)
    limit = min(limit, -(-int(work[-1]) // parts))
    edges = np.searchsorted(work, np.arange(limit, work[-1], limit))
    edges = np.unique(np.concatenate([[0], edges, [len(counts)]]))
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def over_rows(X: Array, Z: Array, task: Callable[[Any, Any], np.ndarray]) -> np.ndarray:
    """Concatenate task(X[rows], X[rows] Z^T) over slices of rows; the product is sparse if both sides are."""
    if sparse.issparse(X) and sparse.issparse(Z):
        Zt = sparse.csr_array(Z.T)
        slices = product_slices(product_counts(X, Z), block_bytes(SPARSE_BYTES * BLOCK_ENTRIES) // SPARSE_BYTES)
        return np.concatenate(run(lambda rows: task(X[rows], X[rows] @ Zt), slices))
    slices = blocks_of(X.shape[0], DENSE_BYTES * Z.shape[0], DENSE_BYTES * BLOCK_ENTRIES)
    return np.concatenate(run(lambda rows: task(X[rows], product(X[rows], Z)), slices))
