"""Lazy rows from functions, tables and text files: blocks that are made when they are read."""

from collections.abc import Callable, Sequence
from functools import partial
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import dask
import dask.array as da
import numpy as np
from pandas.util import hash_array
from scipy import sparse
from sklearn.datasets import load_svmlight_file

from .._core import canonical, mixed
from .compute import compute
from .gate import as_frame

PIECE_BYTES = 1 << 25  # of a text file that are read at once, and make one block


def from_blocks(make: Callable[[int], Any], heights: Sequence[int], width: int | None, meta: Any) -> Any:
    """A dask array of the blocks make(0), make(1), ..., of these numbers of rows; one-dimensional without a width."""
    chunks = (tuple(map(int, heights)), (width,)) if width is not None else (tuple(map(int, heights)),)
    return da.map_blocks(_make_block, make=make, chunks=chunks, dtype=meta.dtype, meta=meta)


def hash_rows(frame: Any, n_columns: int = 1 << 20, *, dtype: Any = np.float32) -> Any:
    """Hash the rows of a dataframe to sparse vectors: a category is a one in the column of its hash.

    A numeric column adds its value to the column that its name is hashed to; of any other column, the pair of its name
    and the row's category is hashed, and a missing value adds nothing. Categories that meet in a column are added up.

    Parameters
    ----------
    frame : dask dataframe, Arrow dataset, or path of a folder of parquet files
        The table. One pass counts its rows.
    n_columns : int, default=1048576
        Width of the vectors.
    dtype : dtype, default=float32
        Of their entries.

    Returns
    -------
    dask array of shape (n, n_columns)
        With a sparse block for every partition.

    Examples
    --------
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> from lopsided.distributed import hash_rows
    >>> frame = pd.DataFrame({"city": ["Rome", "Oslo", "Rome"], "size": [1.0, 2.0, 3.0]})
    >>> hash_rows(dd.from_pandas(frame, npartitions=1), 16).compute().shape
    (3, 16)
    """
    frame = as_frame(frame)
    parts = frame.to_delayed()
    heights = compute([dask.delayed(len)(part) for part in parts])
    task = dask.delayed(partial(_hash_partition, n_columns=n_columns, dtype=np.dtype(dtype)))
    meta = sparse.csr_array((0, 0), dtype=dtype)
    blocks = zip(parts, heights, strict=True)
    return da.concatenate([da.from_delayed(task(part), (rows, n_columns), meta=meta) for part, rows in blocks if rows])


def read_svmlight(
    paths: Any, n_columns: int, *, hashed: bool = False, zero_based: bool = False, dtype: Any = np.float32
) -> tuple[Any, Any]:
    """Rows and labels of svmlight (libsvm) text files, read in pieces of 32 MB when they are needed.

    Parameters
    ----------
    paths : path or list of paths
        Text files with lines ``label column:value column:value ...``; one pass counts their lines.
    n_columns : int
        Width of the rows. A larger column number is an error, which names the line, unless ``hashed``.
    hashed : bool, default=False
        Whether column numbers are hashed to ``n_columns``, so that they may be of any size.
    zero_based : bool, default=False
        Whether columns are numbered from zero, rather than from one as by libsvm.
    dtype : dtype, default=float32
        Of the rows.

    Returns
    -------
    X, y : dask arrays of shapes (n, n_columns) and (n,)
        The rows, in sparse blocks, and the labels as float64.

    Examples
    --------
    >>> import os, tempfile
    >>> from sklearn.datasets import dump_svmlight_file
    >>> from lopsided.distributed import read_svmlight
    >>> path = os.path.join(tempfile.mkdtemp(), "rows.svm")
    >>> dump_svmlight_file([[0.5, 0.0, 2.0], [0.0, 1.0, 0.0]], [1, -1], path, zero_based=False)
    >>> X, y = read_svmlight(path, 3)
    >>> X.shape, y.compute().tolist()
    ((2, 3), [1.0, -1.0])
    """
    files = [paths] if isinstance(paths, (str, Path)) else list(paths)
    pieces = [piece for file in files for piece in _cut_into_pieces(Path(file))]
    heights = compute([dask.delayed(_count_samples)(piece) for piece in pieces])
    kept = [(piece, rows) for piece, rows in zip(pieces, heights, strict=True) if rows]
    if not kept:
        raise ValueError(f"{', '.join(map(str, files))}: no line holds a sample")
    read = partial(_parse_piece, n_columns=n_columns, hashed=hashed, zero_based=zero_based, dtype=np.dtype(dtype))
    parts, rows = tuple(piece for piece, _ in kept), [rows for _, rows in kept]
    X = from_blocks(partial(_part_of, read, parts, 0), rows, n_columns, sparse.csr_array((0, 0), dtype=dtype))
    y = from_blocks(partial(_part_of, read, parts, 1), rows, None, np.empty(0))
    return X, y


class _Piece(NamedTuple):
    """Whole lines of a text file."""

    path: str
    start: int
    stop: int

    def read(self) -> bytes:
        with open(self.path, "rb") as file:
            file.seek(self.start)
            return file.read(self.stop - self.start)


def _make_block(block_id: tuple[int, ...] | None = None, *, make: Callable[[int], Any]) -> Any:
    return make(block_id[0] if block_id else 0)


def _hash_partition(frame: Any, *, n_columns: int, dtype: np.dtype) -> sparse.csr_array:
    """One partition of a table as sparse rows."""
    n, rows, columns, values = len(frame), [], [], []
    for name in frame.columns:
        column = frame[name]
        known = np.flatnonzero(column.notna().to_numpy())
        salt = hash_array(np.array([str(name)], dtype=object))
        if getattr(column.dtype, "kind", "O") in "biuf":
            places = np.full(len(known), salt[0], dtype=np.uint64)
            values.append(column.to_numpy()[known].astype(dtype))
        else:
            texts = column.iloc[known].astype(str).to_numpy(dtype=object)
            places = mixed(hash_array(texts) ^ salt)
            values.append(np.ones(len(known), dtype=dtype))
        rows.append(known)
        columns.append((places % np.uint64(n_columns)).astype(np.int64))
    entries = np.concatenate(values), (np.concatenate(rows), np.concatenate(columns))
    return canonical(sparse.csr_array(entries, shape=(n, n_columns)))


def _cut_into_pieces(path: Path) -> list[_Piece]:
    """Cut a file into pieces that end at the end of a line."""
    size, edges = path.stat().st_size, [0]
    with open(path, "rb") as file:
        while edges[-1] < size:
            file.seek(min(edges[-1] + PIECE_BYTES, size))
            file.readline()
            edges.append(max(file.tell(), edges[-1] + 1))
    return [_Piece(str(path), start, min(stop, size)) for start, stop in pairwise(edges)]


def _count_samples(piece: _Piece) -> int:
    """Number of lines with a sample; comments and empty lines have none."""
    return sum(bool(line.split(b"#")[0].strip()) for line in piece.read().splitlines())


def _parse_piece(
    piece: _Piece, *, n_columns: int, hashed: bool, zero_based: bool, dtype: np.dtype
) -> tuple[Any, np.ndarray]:
    """Rows and labels of a piece; raise ValueError with the number of the line at fault."""
    text = piece.read()
    width = None if hashed else n_columns
    try:
        X, y = load_svmlight_file(BytesIO(text), n_features=width, zero_based=zero_based, dtype=dtype)
    except ValueError as error:
        raise _error_with_line(piece, text, width, zero_based) or error from None
    if hashed:
        places = (mixed(X.indices) % np.uint64(n_columns)).astype(np.int64)
        X = sparse.csr_array((X.data, places, X.indptr), shape=(X.shape[0], n_columns))
    return canonical(X), y.astype(float, copy=False)


def _error_with_line(piece: _Piece, text: bytes, width: int | None, zero_based: bool) -> ValueError | None:
    """The error of the first line of a piece that cannot be read."""
    for number, line in enumerate(text.splitlines()):
        try:
            load_svmlight_file(BytesIO(line + b"\n"), n_features=width, zero_based=zero_based)
        except ValueError as error:
            with open(piece.path, "rb") as file:
                before = file.read(piece.start).count(b"\n")
            shown = line[:60].decode(errors="replace")
            return ValueError(f"{piece.path}, line {before + number + 1}: {shown!r} is not a sample ({error})")
    return None


def _part_of(read: Callable[[_Piece], tuple[Any, Any]], pieces: tuple[_Piece, ...], part: int, number: int) -> Any:
    """Rows (part 0) or labels (part 1) of the piece of this number."""
    return read(pieces[number])[part]
