"""Exact kernel matrices of sparse data as sparse plus low rank, never dense."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, reduce
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from .._core import even_slices, jobs, n_threads, per_entry, run, scale_rows, some_entries, with_entries
from ..kernels import SPARSE_BYTES, SparseKernel, product_counts, product_slices
from .base import EVERY, Index, KernelOperator
from .blocked import EXPONENTIAL
from .forecast import Forecast, forecast, meeting_entries
from .sparse_low_rank import SparseLowRank
from .stored import WORTH_THREADS, rows_of

T = TypeVar("T")
SLICE_ENTRIES = 1 << 21  # multiplications of X Z^T for one slice of rows, unless the budget asks for smaller ones
LEAST_SLICE_ENTRIES = 1 << 16  # below which a slice spends its time on being begun, whatever the budget
STORED_COPIES = 2  # S and its transpose
FULLER = 1.5  # ratio of equal entries of X Z^T to entries of X and Z above which they are kept as a product


def sparse_plus_low_rank(
    kernel: SparseKernel, X: sparse.csr_array, Z: sparse.csr_array, budget: int, expected: Forecast | None = None
) -> KernelOperator:
    """Return k(X, Z) of a fitted kernel on sparse data as an operator with products in O(nnz(X Z^T) + n + m) or less.

    K = S + (slope) diag(u0) X Z^T diag(v0) + (level) u0 v0^T. The middle term is used only if one value is frequent in
    X Z^T (unweighted graphs), because S then stores none of the entries with that value. If S would exceed the budget,
    every product recomputes it.
    """
    expected = expected or forecast(X, Z)
    slices = Slices(kernel, X, Z, expected, budget)
    kept = expected.entries * (1 - expected.share if slices.slope else 1)
    bytes_kept = STORED_COPIES * kept * (X.dtype.itemsize + np.dtype(np.int32).itemsize)
    return slices.stored() if bytes_kept <= budget else Streamed(slices)


class Slices:
    """The terms of a sparse-plus-low-rank kernel matrix, computed in slices of rows."""

    def __init__(self, kernel: SparseKernel, X: Any, Z: Any, expected: Forecast, budget: int) -> None:
        self.kernel, self.X, self.Z = kernel, X, Z
        self.Zt = sparse.csr_array(Z.T)
        self.structure = kernel.structure(Z)
        self.unit = expected.unit
        fuller = expected.share * expected.entries > FULLER * meeting_entries(X, Z)
        # Without a budget nothing is stored, and X Z^T as a product forms an array of the width for every slice.
        narrow = budget > 0 or X.shape[1] <= LEAST_SLICE_ENTRIES
        self.slope = (self.structure.slope(self.unit) or 0.0) if fuller and narrow else 0.0
        counts = product_counts(X, Z)
        self.threads = max(1, min(n_threads(), budget // (SPARSE_BYTES * LEAST_SLICE_ENTRIES)))  # each holds a slice
        parts = self.threads if counts.sum() > WORTH_THREADS else 1
        entries = min(SLICE_ENTRIES, max(LEAST_SLICE_ENTRIES, budget // (SPARSE_BYTES * self.threads)))
        self.rows = product_slices(counts, entries, parts)

    def run(self, task: Callable[[Any], T], items: Sequence[Any]) -> list[T]:
        """Apply a task to slices, or to lists of them, on as many threads as the budget has room for."""
        with jobs(min(self.threads, n_threads())):
            return run(task, items)

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
        return left, with_entries(P, values - weight)

    def compose(self, rows: slice, left: np.ndarray, S: sparse.csr_array) -> SparseLowRank:
        """Combine the sparse part, the product of the data and the background into an operator."""
        right, level = self.structure.right, self.structure.level
        n, m = S.shape
        product = sparse.csr_array((n, 0), dtype=S.dtype), sparse.csr_array((m, 0), dtype=S.dtype)
        if self.slope:
            product = scale_rows(rows_of(self.X, rows), self.slope * left[:, 0]), self.weighted_Z
        q = right.shape[1] if level else 0
        return SparseLowRank(S, product, (level * left[:, :q], right[:, :q]))

    @cached_property
    def weighted_Z(self) -> sparse.csr_array:
        """The matrix diag(v0) Z."""
        return scale_rows(self.Z, self.structure.right[:, 0])

    def operator(self, rows: slice) -> KernelOperator:
        """Return a slice of rows as an operator."""
        return self.compose(rows, *self.terms(rows))

    def stored(self) -> KernelOperator:
        """Return all rows as one operator in memory."""
        parts = self.run(self.terms, self.rows)
        left, S = parts[0]
        if len(parts) > 1:
            left = np.concatenate([left for left, _ in parts])
            S = sparse.csr_array(sparse.vstack([S for _, S in parts], format="csr"))
        return self.compose(slice(0, S.shape[0]), left, S)


class Streamed(KernelOperator):
    """A sparse-plus-low-rank matrix too large to store: each product recomputes its slices and discards them."""

    matrix_free = True

    def __init__(self, slices: Slices, transposed: bool = False) -> None:
        shape = (slices.X.shape[0], slices.Z.shape[0])
        super().__init__(shape[::-1] if transposed else shape, slices.X.dtype)
        self.slices = slices
        self.transposed = transposed

    def take(self, rows: Index = EVERY, cols: Index = EVERY) -> np.ndarray:
        """Evaluate the kernel on the given rows and columns."""
        if self.transposed:
            return self.T.take(cols, rows).T
        kernel = self.slices.kernel
        return kernel.pairs(kernel.left(self.slices.X[rows]), kernel.right(self.slices.Z[cols]))

    @property
    def cost(self) -> int:
        """Cost of one exponential for each multiplication of X Z^T."""
        return EXPONENTIAL * int(product_counts(self.slices.X, self.slices.Z).sum())

    def _matmat(self, V: np.ndarray) -> np.ndarray:
        slices = self.slices
        if not self.transposed:
            return np.concatenate(slices.run(lambda rows: slices.operator(rows) @ V, slices.rows))

        def adjoint_sum(share: slice) -> np.ndarray:
            return reduce(np.add, (slices.operator(rows).T @ V[rows] for rows in slices.rows[share]))

        shares = even_slices(len(slices.rows), min(slices.threads, n_threads()))
        return reduce(np.add, slices.run(adjoint_sum, shares))

    def _adjoint(self) -> Streamed:
        return Streamed(self.slices, not self.transposed)
