"""What a kernel of x.z knows about its matrix on sparse data: sparse plus low rank.

If k(x, z) = f(|x|^2, |z|^2, x.z) and P = X Z^T is sparse, then k differs from the *background* f(|x|^2, |z|^2, 0)
only on the pattern of P, and for every kernel here the background has (numerically) low rank.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from itertools import pairwise
from typing import Any, Protocol

import numpy as np
from scipy import sparse

from .._parallel import run, slices_of
from .._strips import in_strips
from .base import Kernel
from .csr import row_sums
from .points import Array, canonical, dense

BLOCK_ENTRIES = 1 << 21
LIFT_ENTRIES = 1 << 17


class Structure(Protocol):
    """A kernel bound to a right set: K = u0 v0 (level + slope x.z) but for ``values`` on a sparse pattern."""

    right: np.ndarray
    """V0, shape (m, q); u0 v0 stands for the product U0 V0^T."""
    level: float
    """Weight of the background; zero when k vanishes with x.z."""

    def slope(self, unit: float) -> float | None:
        """The number for which u0 v0 (level + slope x.z) is exact at x.z = unit too, or None if there is none.

        On unweighted graphs almost every entry of P is one. There the middle term alone, a product of two sparse
        factors, stands for nearly all of the far fuller matrix P.
        """

    def expand(self, X: Array, P: sparse.csr_array, slope: float) -> tuple[np.ndarray, np.ndarray]:
        """Return U0 (n, q) for the rows X, and the kernel's values on the entries of P.

        P holds all entries of X Z^T if slope is zero, else those that are not at the unit.
        """


class SparseKernel(Kernel):
    """A kernel of |x|^2, |z|^2 and x.z, exact on sparse data without forming its matrix."""

    @abstractmethod
    def structure(self, Z: sparse.csr_array) -> Structure:
        """Bind the fitted kernel to a sparse right set."""


def product(L: Array, R: Array) -> np.ndarray:
    """L R^T as a dense array, whether the factors are dense or sparse."""
    if sparse.issparse(L) or sparse.issparse(R):
        return dense(L @ R.T)
    return in_strips(L, R.T)


def refuse_sparse_sums(Z: Array) -> None:
    """Stop sums over landmarks where sums over everything cost no more."""
    if sparse.issparse(Z):
        raise ValueError(
            "sums over landmarks are for dense data; over all sparse points they cost no more and are exact"
        )


def dense_column(X: Array, j: int) -> np.ndarray:
    """One column, shape (n, 1)."""
    return X[:, [j]].toarray() if sparse.issparse(X) else X[:, [j]]


def squared_norms(X: Array) -> np.ndarray:
    """|x_i|^2 for every row."""
    if sparse.issparse(X):
        X = canonical(X)
        return row_sums(np.square(X.data), X)
    return np.einsum("ij,ij->i", X, X)


def lifted(
    X: Array, point: Callable[[Array], Array], columns: Callable[[Array], tuple[Any, Any]], scale: float = 1.0
) -> Array:
    """The rows [scale y, columns(y)] for y = point(x): in one pass over dense points, on threads."""
    if sparse.issparse(X):
        Y = point(X)
        extra = np.empty((X.shape[0], 2), dtype=X.dtype)
        extra[:, 0], extra[:, 1] = columns(Y)
        return sparse.csr_array(sparse.hstack([scale * Y, sparse.csr_array(extra)], format="csr"))
    wide = np.empty((X.shape[0], X.shape[1] + 2), dtype=X.dtype)

    def fill(rows: slice) -> None:
        Y = point(X[rows])
        wide[rows, -2], wide[rows, -1] = columns(Y)
        np.multiply(Y, scale, out=wide[rows, :-2])

    run(fill, slices_of(X.shape[0], LIFT_ENTRIES // wide.shape[1]))
    return wide


def product_counts(X: sparse.csr_array, Z: sparse.csr_array) -> np.ndarray:
    """For each row of X Z^T a bound on its entries: the multiplications it takes. Cost O(nnz)."""
    per_column = np.bincount(Z.indices, minlength=Z.shape[1])
    return row_sums(per_column[X.indices], X)


def product_slices(counts: np.ndarray, limit: int, parts: int = 1) -> list[slice]:
    """Cut rows into at least ``parts`` slices of equal work, none above ``limit`` entries unless it is one row."""
    work = np.cumsum(np.maximum(counts, 1), dtype=np.int64)
    limit = min(limit, -(-int(work[-1]) // parts))
    edges = np.searchsorted(work, np.arange(limit, work[-1], limit))
    edges = np.unique(np.concatenate([[0], edges, [len(counts)]]))
    return [slice(int(a), int(b)) for a, b in pairwise(edges)]


def over_rows(X: Array, Z: Array, task: Callable[[Array, Array], np.ndarray]) -> np.ndarray:
    """Concatenate task(X[rows], X[rows] Z^T) over slices whose product is small; it is sparse if both sides are."""
    if sparse.issparse(X) and sparse.issparse(Z):
        Zt = sparse.csr_array(Z.T)
        slices = product_slices(product_counts(X, Z), BLOCK_ENTRIES)
        return np.concatenate(run(lambda rows: task(X[rows], X[rows] @ Zt), slices))
    slices = slices_of(X.shape[0], BLOCK_ENTRIES // Z.shape[0])
    return np.concatenate(run(lambda rows: task(X[rows], product(X[rows], Z)), slices))
