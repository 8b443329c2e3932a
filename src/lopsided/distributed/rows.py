"""Rows of a dask array as the row blocks that the other rooms know."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import cached_property, partial
from typing import Any, TypeVar, cast

import dask
import joblib
import numpy as np
import pandas as pd
from scipy import sparse

from .._core import RowBlocks, canonical, with_entries
from .compute import apply, call, compute, in_plain_words, shared
from .passes import keep_blocks, recall
from .store import write

T = TypeVar("T")
JOINED_AT_ONCE = 8  # results of neighbouring blocks that are joined in one step of a fold


class DaskRows(RowBlocks):
    """Blocks of rows of a dask array with known row chunks and one chunk of columns.

    Parameters
    ----------
    array : dask array of shape (n, width)
        Its blocks are numpy arrays or scipy sparse matrices.
    names : array of str or None, default=None
        Names of the columns.
    source : DaskRows or None, default=None
        The rows that this comes from; None means these.
    steps : tuple, default=()
        What was done to the source: what it is called, "X" or "Z", and then tasks.
    origin : str or None, default=None
        Name that dask gave to the source before it was checked; None means that of ``array``.
    """

    def __init__(
        self,
        array: Any,
        names: np.ndarray | None = None,
        source: DaskRows | None = None,
        steps: tuple[Any, ...] = (),
        origin: str | None = None,
    ) -> None:
        self.array, self.names, self.source, self.steps = array, names, source or self, steps
        self.origin = origin or array.name
        self.shape, self.dtype = array.shape, array.dtype
        self._last: tuple[np.ndarray, Any] | None = None  # numbers and rows of the last request: some come twice

    def _after(self, array: Any, *steps: Any, names: np.ndarray | None = None) -> DaskRows:
        return DaskRows(array, names, self.source, (*self.steps, *steps))

    def key(self) -> str:
        """Hash of the first block of the source and of all that was done to it, the same in every process."""
        return str(joblib.hash((self.source.fingerprint, self.steps, self.heights, str(self.dtype))))

    @cached_property
    def fingerprint(self) -> str:
        """Hash of the first block."""
        return str(joblib.hash(self.peek()))

    @property
    def heights(self) -> tuple[int, ...]:
        """Numbers of rows of the blocks."""
        return tuple(map(int, self.array.chunks[0]))

    @cached_property
    def starts(self) -> np.ndarray:
        """Number of the first row of every block, and of all rows."""
        return np.concatenate([[0], np.cumsum(self.heights)])

    @cached_property
    def is_sparse(self) -> bool:
        """Whether blocks are sparse, as the first one shows."""
        return sparse.issparse(self._peeked)

    @cached_property
    def _peeked(self) -> Any:
        return compute(self._blocks[:1])[0]

    def peek(self) -> Any:
        """The first block."""
        return self._peeked

    def __getitem__(self, rows: Any) -> Any:
        numbers = np.arange(self.shape[0])[rows] if isinstance(rows, slice) else np.asarray(rows)
        if self._last is None or not np.array_equal(numbers, self._last[0]):
            self._last = numbers, self._fetched(numbers)
        return self._last[1]

    def _fetched(self, numbers: np.ndarray) -> Any:
        order = np.argsort(numbers, kind="stable")
        edges = np.searchsorted(numbers[order], self.starts)
        wanted = [i for i in range(len(self.heights)) if edges[i] < edges[i + 1]]
        local = [numbers[order[edges[i] : edges[i + 1]]] - self.starts[i] for i in wanted]
        parts = recall("rows", self, numbers, lambda: self._one_by_one(_take, wanted, local))
        stacked = _stacked(parts, (0, self.shape[1]), self.dtype)
        back = np.empty_like(order)
        back[order] = np.arange(len(order))
        return canonical(stacked[back])

    def map(self, task: Callable[[Any], Any], width: int, dtype: Any) -> DaskRows:
        """Apply a task to every block, lazily."""
        meta = np.empty((0, 0), dtype=dtype)
        chunks = (self.array.chunks[0], (width,))
        array = self.array.map_blocks(partial(apply, task), dtype=dtype, chunks=chunks, meta=meta)
        return self._after(array, task)

    def _cast(self, dtype: np.dtype) -> DaskRows:
        array = self.array.map_blocks(_cast_block, target=dtype, dtype=dtype, meta=self.array._meta)
        return self._after(array, str(dtype), names=self.names)

    def reduce(self, task: Callable[..., T], alongside: np.ndarray | None = None) -> list[T]:
        """Results of a task for every block, in order."""
        every = range(len(self.heights))
        beside = None if alongside is None else [alongside[self.starts[i] : self.starts[i + 1]] for i in every]
        return recall("pass", self, (task, alongside), lambda: self._one_by_one(task, every, beside))

    def fold(self, task: Callable[[Any], T], join: Callable[[list[T]], T]) -> T:
        """Join the results of all blocks, a few neighbours at a time, where they are."""
        return folded([call(task, block) for block in self._blocks], join)

    def kept(self) -> DaskRows:
        """Compute all blocks; they stay on the workers, or in the folder of the current checkpoint."""
        stored = keep_blocks(self)
        if stored is not None:
            return self._after(stored)
        with in_plain_words():
            return self._after(self.array.persist())

    def same_as(self, other: Any) -> bool:
        """Whether both come from one array, by the name that dask gives it, and by the same steps."""
        if not isinstance(other, DaskRows):
            return False
        ours, theirs = ((rows.source.origin, joblib.hash(rows.steps[1:])) for rows in (self, other))
        return ours == theirs

    def times(self, matrix: np.ndarray, entries: Callable[[np.ndarray], np.ndarray] | None = None) -> np.ndarray:
        """The product of sparse rows with a matrix; no checkpoint keeps it, as an iteration makes hundreds of them."""
        factor = shared(np.ascontiguousarray(matrix))
        return np.concatenate(compute([call(_product, block, factor, entries) for block in self._blocks]))

    def header(self) -> Any:
        """A frame or an array of no rows."""
        nothing = np.empty((0, self.shape[1]), dtype=self.dtype)
        return nothing if self.names is None else pd.DataFrame(nothing, columns=self.names)

    def native(self) -> Any:
        """The dask array."""
        return self.array

    def written(self, folder: Any) -> Any:
        """Compute all blocks into a folder, and return the dask array of what was written."""
        return write(self.array, self.key(), folder)

    @cached_property
    def _blocks(self) -> list[Any]:
        return list(self.array.to_delayed().ravel())

    def _one_by_one(self, task: Callable[..., T], wanted: Sequence[int], beside: Any = None) -> list[T]:
        """Results of a task for some blocks, each with its entry of ``beside`` as a second argument, if given."""
        blocks, once = self._blocks, dask.delayed(task, traverse=False)
        if beside is None:
            return compute([call(once, blocks[i]) for i in wanted])
        return compute([call(once, blocks[i], each) for i, each in zip(wanted, beside, strict=True)])


def folded(parts: list[Any], join: Callable[[list[T]], T]) -> T:
    """Join lazy values, a few neighbours at a time, where they are."""
    while len(parts) > 1:
        parts = [call(join, parts[i : i + JOINED_AT_ONCE]) for i in range(0, len(parts), JOINED_AT_ONCE)]
    return cast(T, compute(parts)[0])


def _stacked(parts: list[Any], shape: tuple[int, int], dtype: np.dtype) -> Any:
    if not parts:
        return np.empty(shape, dtype=dtype)
    if sparse.issparse(parts[0]):
        return sparse.csr_array(sparse.vstack(parts, format="csr"))
    return np.concatenate(parts)


def _product(block: sparse.csr_array, matrix: np.ndarray, entries: Callable[[np.ndarray], np.ndarray] | None) -> Any:
    return (block if entries is None else with_entries(block, entries(block.data))) @ matrix


def _take(block: Any, rows: np.ndarray) -> Any:
    return block[rows]


def _cast_block(block: Any, *, target: np.dtype) -> Any:
    return block.astype(target, copy=False)
