"""Rows that are held in blocks elsewhere, on disk or on other machines: what the rooms ask of them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, wraps
from importlib import import_module
from typing import Any, Self, TypeVar, cast

import numpy as np
from scipy import sparse

from .finite import check_finite
from .threads import run, slices_of

T = TypeVar("T")
Method = TypeVar("Method", bound=Callable[..., Any])
HOME = f"{__name__.split('.')[0]}.distributed"  # the room that reads them; it lies above and is imported when needed


class RowBlocks(ABC):
    """A matrix of shape (n, width) whose rows are in blocks that are not in memory.

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
    def times(self, matrix: np.ndarray, entries: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
        """The product of sparse rows, or of a function of their stored entries, with a matrix in memory."""

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

    def finite(self) -> Self:
        """The same rows, which raise NotFiniteError where they are computed if they hold NaN or infinity."""
        return self.map(_finite, self.shape[1], self.dtype)

    def check_width(self, expected: int) -> None:
        """Raise ValueError if rows have another width than those of a fit."""
        if self.shape[1] != expected:
            raise ValueError(f"X has {self.shape[1]} features, but the model was fitted on {expected}")

    def column(self, number: int) -> np.ndarray:
        """One column as an array of shape (n,)."""
        return np.concatenate(self.reduce(partial(_column, number=number)))


def as_row_blocks(points: Any, name: str) -> RowBlocks | None:
    """The blocks of rows of a dask collection or an Arrow dataset; None for anything that is in memory."""
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
    """Whether points, in memory or in blocks, are sparse."""
    return points.is_sparse if isinstance(points, RowBlocks) else sparse.issparse(points)


def in_slabs(task: Callable[[Any], T], rows: Any, height: int) -> list[T]:
    """Results of a task for slabs of at most ``height`` rows, on threads, or for every block, wherever it is."""
    if isinstance(rows, RowBlocks):
        return rows.reduce(task)
    return run(lambda part: task(rows[part]), slices_of(rows.shape[0], height))


def rows_of_both(X: Any, rows: np.ndarray, Z: Any, columns: np.ndarray) -> tuple[Any, Any]:
    """Some rows of X and some of Z, fetched in one pass if both are the same blocks."""
    if not (isinstance(X, RowBlocks) and X.same_as(Z)):
        return X[rows], Z[columns]
    together = X[np.concatenate([rows, columns])]
    return together[: len(rows)], together[len(rows) :]


def native(rows: Any) -> Any:
    """What users get: lazy arrays for blocks, and arrays unchanged."""
    return rows.native() if isinstance(rows, RowBlocks) else rows


def at_hand(values: Any) -> Any:
    """Labels or targets as an array, computed if they are lazy."""
    return np.asarray(values) if is_lazy(values) else values


def by_blocks(method: Method) -> Method:
    """Decorate a method of new samples X: of a dask collection it returns a lazy array, computed block by block.

    The estimator has ``_example``, a sample in memory that shows the shape and dtype of what the method returns, and
    may have ``_portable``, itself as it travels to the blocks.
    """

    @wraps(method)
    def lifted(self: Any, X: Any, *args: Any, **kwargs: Any) -> Any:
        rows = as_row_blocks(X, "X")
        if rows is None:
            return method(self, X, *args, **kwargs)
        example = method(self, self._example, *args, **kwargs)
        rows.check_width(self.n_features_in_)
        model = self._portable() if hasattr(self, "_portable") else self
        task = _Called(model, method.__name__, args, tuple(sorted(kwargs.items())))
        found = rows.map(task, 1 if example.ndim == 1 else example.shape[1], example.dtype).native()
        return found[:, 0] if example.ndim == 1 else found

    return cast(Method, lifted)


@dataclass(frozen=True)
class _Called:
    """The task of calling a method of a model with one block of samples."""

    model: Any
    name: str
    args: tuple[Any, ...]
    options: tuple[tuple[str, Any], ...]

    def __call__(self, block: Any) -> np.ndarray:
        found = np.asarray(getattr(self.model, self.name)(block, *self.args, **dict(self.options)))
        return found[:, None] if found.ndim == 1 else found


def _affine(block: np.ndarray, *, matrix: np.ndarray, offset: np.ndarray | None, dtype: np.dtype) -> np.ndarray:
    found = block @ matrix
    return (found if offset is None else found - offset).astype(dtype, copy=False)


def _finite(block: np.ndarray) -> np.ndarray:
    check_finite(block)
    return block


def _column(block: np.ndarray, *, number: int) -> np.ndarray:
    return np.ascontiguousarray(block[:, number])
