"""Input that arrives in blocks of rows, from an iterator or from an array-like file."""

import os
import reprlib
import tempfile
from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO, NamedTuple, cast

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe
from scipy import sparse

from .row_blocks import as_row_blocks, is_lazy
from .threads import slices_of
from .wording import count_of

BLOCK_BYTES = 1 << 26  # bytes of float64 rows that are read from a file at once


def as_indexable(points: Any, name: str) -> Any:
    """Return points that can be indexed like an array: the input itself, or a memory-mapped copy of its blocks.

    An iterator of row blocks, or an object with a shape and row slices (h5py, zarr), is read once and written to a
    temporary file, which is memory-mapped and deleted with the array; sparse blocks stay in memory. A dask collection
    or an Arrow dataset becomes its ``RowBlocks``, of which nothing is read. Any other input is returned unchanged.
    """
    if (blocks := as_row_blocks(points, name)) is not None:
        return blocks
    points = reject_masked(points, name)
    if isinstance(points, Iterator):
        return _spooled(points, name)
    if isinstance(points, np.memmap):
        _check_length(points, name)
    elif _is_sliced(points):
        n, width = points.shape
        rows = slices_of(n, BLOCK_BYTES // max(1, 8 * width)) if n else [slice(0, 0)]
        return _spooled((_block(points, part, name) for part in rows), name)
    return points


def reject_masked(points: Any, name: str, *, text: bool = False) -> Any:
    """Return points, or raise ValueError if entries are masked: the values that a mask hides would be read as data.

    So are columns of a dataframe that hold text or dates, by name, unless ``text`` is expected, as in labels. A dask
    collection raises TypeError: numpy would read all of it. Integers of sparse triplets are returned as float64, since
    scipy adds up repeated entries modulo their range.
    """
    if is_lazy(points):
        raise TypeError(
            f"{name} is a dask collection or an Arrow dataset, which would be read into memory as a whole; pass "
            f"{name}.compute() if it fits, or a sample of its rows"
        )
    if np.ma.is_masked(points):
        masked = count_of(points.mask.sum(), "masked entry", "masked entries")
        raise ValueError(f"{name} has {masked}; fill them in, or leave out their rows")
    if not text and is_into_dataframe(points):
        _reject_text(points, name)
    wraps = sparse.issparse(points) and points.format == "coo" and points.dtype.kind in "iu"
    return points.astype(np.float64) if wraps else points


def _reject_text(table: Any, name: str) -> None:
    """Raise ValueError if columns of a dataframe are not numbers; numpy would name a value and no column."""
    try:
        columns = [
            column for column in nw.from_native(table, eager_only=True).iter_columns() if not _is_numeric(column)
        ]
    except nw.exceptions.DuplicateError:  # no name would tell which column it is
        return
    if columns:
        names = ", ".join(repr(column.name) if isinstance(column.name, str) else str(column.name) for column in columns)
        example = next(value for value in columns[0].to_list() if not _is_number(value))
        raise ValueError(
            f"{name} has {count_of(len(columns), 'column that is', 'columns that are')} not numeric: {names}, with "
            f"values like {reprlib.repr(str(example))}; leave them out, or turn them into numbers first, such as with "
            "scikit-learn's OneHotEncoder in a ColumnTransformer"
        )


def _is_numeric(column: nw.Series[Any]) -> bool:
    """Whether a column holds numbers, booleans, or what numpy converts to them, such as categories that are numbers."""
    return column.dtype.is_numeric() or column.dtype == nw.Boolean or all(map(_is_number, column.to_list()))


def _is_number(value: Any) -> bool:
    """Whether numpy makes a number of a value, or scikit-learn says better why not, as of complex and missing ones."""
    try:
        float(value)
    except (TypeError, ValueError):
        return value is None or isinstance(value, complex)
    return True


def _is_sliced(points: Any) -> bool:
    """Whether ``points`` has a shape and row slices, and is not a container that scikit-learn reads."""
    known = isinstance(points, np.ndarray) or sparse.issparse(points)
    frame = is_into_dataframe(points) or hasattr(points, "__dataframe__") or hasattr(points, "__array_namespace__")
    shape = getattr(points, "shape", None)
    return not known and not frame and hasattr(points, "__getitem__") and isinstance(shape, tuple) and len(shape) == 2


def _block(points: Any, rows: slice, name: str) -> Any:
    """Rows of an object with row slices; raise ValueError if it holds fewer than its shape says."""
    block = points[rows]
    if block.shape[0] != rows.stop - rows.start:
        raise ValueError(
            f"{name} has {points.shape[0]} rows by its shape, but rows {rows.start} to {rows.stop} hold "
            f"{block.shape[0]}; the file may be truncated"
        )
    return block


def _check_length(points: np.memmap, name: str) -> None:
    """Raise ValueError if a memory-mapped file was truncated: reading past its end would kill the process."""
    while isinstance(points.base, np.memmap):  # a view has the offset of its base, not its own
        points = points.base
    path = points.filename
    if path is None or not os.path.exists(path):  # a copy is a memmap without a file
        return
    if (size := os.path.getsize(path)) < (needed := points.offset + points.nbytes):
        raise ValueError(f"{name} is mapped from a file of {size} bytes that should have {needed}; it was truncated")


class _Layout(NamedTuple):
    """Width and dtype of the first block, which the others must share."""

    width: int
    dtype: np.dtype

    @property
    def stored(self) -> np.dtype:
        """The dtype in which all blocks are stored."""
        return self.dtype if self.dtype in (np.float32, np.float64) else np.dtype(float)


def _spooled(blocks: Iterable[Any], name: str) -> Any:
    """Stack all blocks vertically: sparse blocks in memory, dense blocks in a temporary file."""
    layout: _Layout | None = None
    kept: list[Any] = []
    n = 0
    with tempfile.TemporaryFile() as file:
        for number, block in enumerate(blocks):
            block = _checked_block(block, layout, f"block {number} of {name}")
            layout = layout or _Layout(block.shape[1], block.dtype)
            n += block.shape[0]
            if sparse.issparse(block):
                kept.append(block)
            else:
                file.write(np.ascontiguousarray(block, dtype=layout.stored).data)
        if layout is None:
            raise ValueError(f"{name} has no row blocks; an iterator can be read only once")
        if kept:
            stacked = sparse.csr_array(sparse.vstack(kept, format="csr"))
            if stacked.shape[0] != n:
                raise ValueError(f"{name} mixes sparse and dense blocks; make all sparse or all dense")
            return stacked.astype(layout.stored, copy=False)
        if not n * layout.width:
            return np.empty((n, layout.width), dtype=layout.stored)
        file.flush()
        return np.memmap(cast(BinaryIO, file), dtype=layout.stored, mode="r", shape=(n, layout.width))


def _checked_block(block: Any, first: _Layout | None, name: str) -> Any:
    """A block as an array or a sparse matrix; raise ValueError unless it is laid out like the first."""
    block = reject_masked(block, name)
    block = block if sparse.issparse(block) else np.asarray(block)
    if block.ndim != 2 or (first and block.shape[1] != first.width):
        wanted = f"{first.width} columns like the first" if first else "two dimensions"
        raise ValueError(f"{name} has shape {block.shape}; it must have {wanted}")
    if block.dtype.kind == "c":
        raise ValueError(f"Complex data not supported: {name} is {block.dtype}")
    if first and block.dtype != first.dtype and not np.can_cast(block.dtype, first.stored):
        raise ValueError(f"{name} is {block.dtype}, but the first is {first.dtype}; give all one dtype")
    return block
