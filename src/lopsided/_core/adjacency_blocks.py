"""A sparse square matrix whose rows, and those of its transpose, are in blocks elsewhere: what kernels ask of it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .csr import with_entries
from .row_blocks import RowBlocks

Entries = Callable[[np.ndarray], np.ndarray]


@dataclass(frozen=True, eq=False)
class AdjacencyBlocks:
    """The matrix diag(left) (f(A) + diag(loops)) diag(right) of shape (n, n), where A is sparse and in blocks of rows.

    Its products are arrays in memory: every block is read once, and multiplied where it is. Memory here is O(n) besides
    them, whatever the number of entries. Products with the transpose read blocks of its rows, which are stored too, so
    that no block adds to all n rows of a result.

    Parameters
    ----------
    rows, columns : RowBlocks of shape (n, n)
        The rows of A and those of its transpose, sparse, with sorted indices and no entry of zero.
    degrees : pair of arrays of shape (n,)
        Numbers of stored entries in the rows and in the columns of A.
    entries : callable or None, default=None
        The function f of stored entries, which does not map them to zero; None means A itself.
    left, loops, right : arrays of shape (n,) or None, default=None
        None means ones, and no loops.
    """

    rows: RowBlocks
    columns: RowBlocks
    degrees: tuple[np.ndarray, np.ndarray]
    entries: Entries | None = None
    left: np.ndarray | None = None
    loops: np.ndarray | None = None
    right: np.ndarray | None = None

    ndim = 2
    __array_ufunc__ = None  # numpy leaves products with its numbers to __rmul__

    @property
    def shape(self) -> tuple[int, int]:
        """Numbers of rows and columns, which are equal."""
        return self.rows.shape

    @property
    def dtype(self) -> np.dtype:
        """Of the entries."""
        return self.rows.dtype

    @cached_property
    def nnz(self) -> int:
        """Number of stored entries of A."""
        return int(self.degrees[0].sum())

    @property
    def size(self) -> int:
        """The same, as sparse matrices call it."""
        return self.nnz

    @property
    def T(self) -> AdjacencyBlocks:
        """The transpose."""
        return replace(
            self, rows=self.columns, columns=self.rows, degrees=self.degrees[::-1], left=self.right, right=self.left
        )

    def __matmul__(self, V: np.ndarray) -> np.ndarray:
        columns = V if V.ndim == 2 else V[:, None]
        columns = columns if self.right is None else columns * self.right[:, None]
        found = self.rows.times(columns, self.entries)
        if self.loops is not None:
            found = found + columns * self.loops[:, None]
        found = found if self.left is None else found * self.left[:, None]
        return found if V.ndim == 2 else found[:, 0]

    def __getitem__(self, numbers: Any) -> sparse.csr_array:
        """Fetch rows by number or slice."""
        numbers = np.arange(self.shape[0])[numbers]
        entries: Any = self.rows[numbers]
        if self.entries is not None:
            entries = with_entries(entries, self.entries(entries.data))
        if self.loops is not None:
            places = self.loops[numbers], (np.arange(len(numbers)), numbers)
            entries = entries + sparse.csr_array(places, shape=entries.shape)
        entries = entries if self.left is None else sparse.diags_array(self.left[numbers]) @ entries
        return sparse.csr_array(entries if self.right is None else entries @ sparse.diags_array(self.right))

    def sum(self, axis: int) -> np.ndarray:
        """Sums of the rows (axis 1) or of the columns (axis 0)."""
        return (self if axis == 1 else self.T) @ np.ones(self.shape[0], dtype=self.dtype)

    def __abs__(self) -> AdjacencyBlocks:
        """The absolute values; on the diagonal, those of loops and of stored entries are added."""
        sizes = [None if side is None else np.abs(side) for side in (self.left, self.loops, self.right)]
        return AdjacencyBlocks(self.rows, self.columns, self.degrees, np.abs, *sizes)

    def __rmul__(self, factor: float) -> AdjacencyBlocks:
        return self.scaled(np.full(self.shape[0], factor, dtype=self.dtype), None)

    def binary(self) -> AdjacencyBlocks:
        """A one for every stored entry."""
        self._check_plain("binary=True")
        return replace(self, entries=np.ones_like)

    def with_loops(self, loops: np.ndarray) -> AdjacencyBlocks:
        """The matrix with these numbers added on its diagonal."""
        self._check_plain("self_loops")
        return replace(self, loops=loops)

    def _check_plain(self, what: str) -> None:
        if self.left is not None or self.loops is not None or self.right is not None:
            raise ValueError(
                f"on a graph in blocks, {what} must come before normalize and self_loops; pass all of them to the "
                "kernel, NodeKernel(...), and none to the embedding"
            )

    def scaled(self, left: np.ndarray | None, right: np.ndarray | None) -> AdjacencyBlocks:
        """The matrix diag(left) . diag(right); None means ones."""
        return replace(self, left=_product(self.left, left), right=_product(self.right, right))

    def __deepcopy__(self, memo: Any) -> AdjacencyBlocks:
        return self  # it never changes


def _product(first: np.ndarray | None, second: np.ndarray | None) -> np.ndarray | None:
    if first is None or second is None:
        return second if first is None else first
    return first * second
