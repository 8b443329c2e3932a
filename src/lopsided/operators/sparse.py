"""Kernel matrices of sparse data, exact and never dense: sparse plus low rank."""

from __future__ import annotations

from functools import cached_property, reduce
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._parallel import even_slices, n_threads, run
from ..kernels.csr import per_entry, scale_rows, some_entries
from ..kernels.structure import SparseKernel, product_counts, product_slices
from .base import EVERY, Index, KernelOperator
from .blocked import EXPONENTIAL
from .sparse_low_rank import SparseLowRank
from .stored import WORTH_THREADS, rows_of

SAMPLE_ENTRIES = 1 << 12
SLICE_ENTRIES = 1 << 21
CROWDED = 0.5  # share of all pairs that meet, above which they are compared as dense data are
FULLER = 1.5  # how many times the data's entries must have one value before the sparse part is kept as a product


class Forecast(NamedTuple):
    """What the product P = X Z^T will be like, judged from a sample of its rows."""

    entries: int
    """Stored entries of P."""
    unit: float
    """The most frequent value of an entry."""
    share: float
    """How many of the entries have it, from 0 to 1."""
    crowded: bool
    """Whether P is so full that nothing is gained by keeping it sparse, and its background is a part of few entries."""


def forecast(X: sparse.csr_array, Z: sparse.csr_array) -> Forecast:
    """Estimate the product's size before it is formed.

    The multiplications of every row are known exactly (counts of the columns of X and Z); a sample of rows tells how
    many of them fall on one entry. Cost O(nnz(X) + nnz(Z)) and a sample of some thousand products.
    """
    counts = product_counts(X, Z)
    order = np.random.default_rng(0).permutation(X.shape[0])
    rows = order[: max(1, np.searchsorted(np.cumsum(counts[order]), SAMPLE_ENTRIES))]
    sample = (X[rows] @ Z.T).data
    if not len(sample):
        return Forecast(int(counts.sum()), 1.0, 0.0, False)
    values, frequency = np.unique(sample, return_counts=True)
    collapsed = len(sample) / counts[rows].sum()
    commonest = frequency.argmax()
    entries = int(np.ceil(counts.sum() * collapsed))
    return Forecast(
        entries=entries,
        unit=float(values[commonest]),
        share=float(frequency[commonest] / len(sample)),
        crowded=entries > CROWDED * X.shape[0] * Z.shape[0],
    )


def sparse_plus_low_rank(
    kernel: SparseKernel,
    X: sparse.csr_array,
    Z: sparse.csr_array,
    budget: int,
    expected: Forecast | None = None,
) -> KernelOperator:
    """The matrix k(X, Z) of a fitted kernel on sparse data, products in O(nnz(X Z^T) + n + m) or less.

    K = S + (slope) diag(u0) X Z^T diag(v0) + (level) u0 v0^T, where the middle term is used only if one value is
    frequent in X Z^T (unweighted graphs), because S then keeps none of those entries. What would not fit the budget
    is recomputed for every product.
    """
    expected = expected or forecast(X, Z)
    slices = Slices(kernel, X, Z, expected)
    kept = expected.entries * (1 - expected.share if slices.slope else 1)
    bytes_kept = kept * (X.dtype.itemsize + np.dtype(np.int32).itemsize)
    return slices.stored() if bytes_kept <= budget else Streamed(slices)


class Slices:
    """The terms of a sparse kernel matrix, a few rows at a time."""

    def __init__(self, kernel: SparseKernel, X: Any, Z: Any, expected: Forecast) -> None:
        self.kernel, self.X, self.Z = kernel, X, Z
        self.Zt = sparse.csr_array(Z.T)
        self.structure = kernel.structure(Z)
        self.unit = expected.unit
        fuller = expected.share * expected.entries > FULLER * _meeting_entries(X, Z)
        self.slope = (self.structure.slope(self.unit) or 0.0) if fuller else 0.0
        counts = product_counts(X, Z)
        parts = n_threads() if counts.sum() > WORTH_THREADS else 1
        self.rows = product_slices(counts, SLICE_ENTRIES, parts)

    def terms(self, rows: slice) -> tuple[np.ndarray, sparse.csr_array]:
        """Return u0 (rows, q) and the rows of S."""
        X = rows_of(self.X, rows)
        P = X @ self.Zt
        if self.slope:
            P = some_entries(P, P.data != self.unit)
        left, values = self.structure.expand(X, P, self.slope)
        right = self.structure.right
        weight = per_entry(left[:, 0], P) * right[P.indices, 0]
        for j in range(1, right.shape[1]):
            weight += per_entry(left[:, j], P) * right[P.indices, j]
        weight *= self.structure.level + self.slope * P.data if self.slope else self.structure.level
        return left, sparse.csr_array((values - weight, P.indices, P.indptr), shape=P.shape)

    def compose(self, rows: slice, left: np.ndarray, S: sparse.csr_array) -> SparseLowRank:
        """Put together the sparse part, the product of the data and the background."""
        right, level = self.structure.right, self.structure.level
        product = tuple(sparse.csr_array((side, 0), dtype=S.dtype) for side in S.shape)
        if self.slope:
            product = scale_rows(rows_of(self.X, rows), self.slope * left[:, 0]), self.weighted_Z
        q = right.shape[1] if level else 0
        return SparseLowRank(S, product, (level * left[:, :q], right[:, :q]))

    @cached_property
    def weighted_Z(self) -> sparse.csr_array:
        """diag(v0) Z."""
        return scale_rows(self.Z, self.structure.right[:, 0])

    def operator(self, rows: slice) -> KernelOperator:
        """A few rows of the matrix."""
        return self.compose(rows, *self.terms(rows))

    def stored(self) -> KernelOperator:
        """All rows at once."""
        parts = run(self.terms, self.rows)
        left, S = parts[0]
        if len(parts) > 1:
            left = np.concatenate([left for left, _ in parts])
            S = sparse.csr_array(sparse.vstack([S for _, S in parts], format="csr"))
        return self.compose(slice(0, S.shape[0]), left, S)


class Streamed(KernelOperator):
    """The same matrix when it is too large to keep: each product forms its slices anew and drops them."""

    def __init__(self, slices: Slices, transposed: bool = False) -> None:
        shape = (slices.X.shape[0], slices.Z.shape[0])
        super().__init__(shape[::-1] if transposed else shape, slices.X.dtype)
        self.slices = slices
        self.transposed = transposed

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Evaluate the kernel on some rows and columns."""
        if self.transposed:
            return self.T.take(cols, rows).T
        kernel = self.slices.kernel
        return kernel.pairs(kernel.left(self.slices.X[rows]), kernel.right(self.slices.Z[cols]))

    @property
    def work(self) -> int:
        """The multiplications of X Z^T, an exponential or its like for each."""
        return EXPONENTIAL * int(product_counts(self.slices.X, self.slices.Z).sum())

    @property
    def recomputed(self) -> bool:
        """Always."""
        return True

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        slices = self.slices
        if not self.transposed:
            return np.concatenate(run(lambda rows: slices.operator(rows) @ V, slices.rows))
        shares = even_slices(len(slices.rows), n_threads())
        return reduce(np.add, run(lambda share: self._adjoint_sum(slices.rows[share], V), shares))

    def _adjoint_sum(self, share: list[slice], U: np.ndarray) -> np.ndarray:
        return reduce(np.add, (self.slices.operator(rows).T @ U[rows] for rows in share))

    def _adjoint(self) -> Streamed:
        return Streamed(self.slices, not self.transposed)


def _meeting_entries(X: sparse.csr_array, Z: sparse.csr_array) -> int:
    """Entries of both sides in columns that both of them use; the others never meet in X Z^T."""
    counts = [np.bincount(side.indices, minlength=side.shape[1]) for side in (X, Z)]
    return int(sum(count[counts[0] * counts[1] > 0].sum() for count in counts))
