"""Rows that are held in blocks elsewhere, on disk or on other machines: what the rooms ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from functools import partial
from importlib import import_module
from typing import Any, Self, TypeVar

import numpy as np
from scipy import sparse

from .threads import run, slices_of

T = TypeVar("T")
HOME = f"{__name__.split('.')[0]}.distributed"  # the room that reads them; it lies above and is imported when needed


class RowBlocks(ABC):
    """A matrix of shape (n, width) whose rows are in blocks that are not at hand.

    Of such a matrix a few rows are fetched, every block is reduced to something small, or it is mapped block by block
    to another one, lazily. A task receives one block, a numpy or CSR array, and what it computes of a row must not
    depend on how rows are divided. Tasks travel: they are functions of a module, partial ones, or frozen objects.
    """

    shape: tuple[int, int]
    dtype: np.dtype
    ndim = 2

    @property
    @abstractmethod
    def is_sparse(self) -> bool:
        """Whether blocks are sparse."""

    @abstractmethod
    def __getitem__(self, rows: Any) -> Any:
        """Fetch rows by number or slice, in the order given."""

    @abstractmethod
    def peek(self) -> Any:
        """The first block."""

    @abstractmethod
    def map(self, task: Callable[[Any], Any], width: int, dtype: Any) -> Self:
        """Apply a task to every block, lazily; it returns a dense block of as many rows."""

    @abstractmethod
    def reduce(self, task: Callable[..., T], alongside: np.ndarray | None = None) -> list[T]:
        """Results of a task for every block, in order; with an array of n rows, task(block, its rows)."""

    @abstractmethod
    def fold(self, task: Callable[[Any], T], join: Callable[[list[T]], T]) -> T:
        """Join the results of all blocks, a few neighbours at a time, where they are; for results that are large."""

    @abstractmethod
    def header(self) -> Any:
        """A frame of no rows with the names of the columns, or an array of no rows if they have none."""

    @abstractmethod
    def kept(self) -> Self:
        """Compute all blocks and keep them where they were computed, or on disk."""

    @abstractmethod
    def same_as(self, other: Any) -> bool:
        """Whether the other is known to hold the same rows, without reading them."""

    @abstractmethod
    def native(self) -> Any:
        """The lazy array that users know."""

    @abstractmethod
    def written(self, folder: Any) -> Any:
        """Compute all blocks into a folder, continuing what is there, and return the lazy array of what was written."""

    def gathered(self) -> np.ndarray:
        """All rows as one array in this process."""
        return np.concatenate(self.reduce(np.asarray))

    def astype(self, dtype: Any, copy: bool = True) -> Self:
        """The same rows in another dtype, or these."""
        return self if np.dtype(dtype) == self.dtype else self._cast(np.dtype(dtype))

    @abstractmethod
    def _cast(self, dtype: np.dtype) -> Self: ...

    def __len__(self) -> int:
        return self.shape[0]

    def __matmul__(self, matrix: np.ndarray) -> Self:
        return self.affine(matrix, None)

    def __mul__(self, factors: np.ndarray) -> Self:
        return self.affine(np.diag(factors), None)

    def affine(self, matrix: np.ndarray, offset: np.ndarray | None) -> Self:
        """The rows x @ matrix - offset."""
        task = partial(_affine, matrix=matrix, offset=offset, dtype=self.dtype)
        return self.map(task, matrix.shape[1], self.dtype)

    def column(self, number: int) -> np.ndarray:
        """One column as an array of shape (n,)."""
        return np.concatenate(self.reduce(partial(_column, number=number)))


def as_row_blocks(points: Any, name: str) -> RowBlocks | None:
    """The blocks of rows of a dask collection or an Arrow dataset; None for anything that is at hand."""
    if isinstance(points, RowBlocks):
        return points
    if not is_lazy(points):
        return None
    read: Callable[[Any, str], RowBlocks] = import_module(HOME).read_rows
    return read(points, name)


def is_lazy(points: Any) -> bool:
    """Whether points are a dask collection, which has a graph, or an Arrow dataset."""
    return hasattr(points, "__dask_graph__") or type(points).__module__ == "pyarrow._dataset"


def is_sparse(points: Any) -> bool:
    """Whether points, at hand or in blocks, are sparse."""
    return points.is_sparse if isinstance(points, RowBlocks) else sparse.issparse(points)


def in_slabs(task: Callable[[Any], T], rows: Any, height: int) -> list[T]:
    """Results of a task for slabs of at most ``height`` rows, on threads, or for every block, wherever it is."""
    if isinstance(rows, RowBlocks):
        return rows.reduce(task)
    return run(lambda part: task(rows[part]), slices_of(rows.shape[0], height))


def native(rows: Any) -> Any:
    """What users get: lazy arrays for blocks, and arrays unchanged."""
    return rows.native() if isinstance(rows, RowBlocks) else rows


def _affine(block: np.ndarray, *, matrix: np.ndarray, offset: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    found = block @ matrix
    return (found if offset is None else found - offset).astype(dtype, copy=False)


def _column(block: np.ndarray, *, number: int) -> np.ndarray:
    return np.ascontiguousarray(block[:, number])
