"""From dask collections and Arrow datasets to row blocks: validated at the gate, and block by block when read."""

import os
from functools import partial
from typing import Any

import dask.array as da
import dask.dataframe as dd
import numpy as np
from scipy import sparse

from .._core import canonical
from ..exceptions import FallbackWarning, warn
from .rows import DaskRows

NUMBERS = "biuf"  # kinds of dtypes that are read as points


def read_rows(points: Any, name: str) -> DaskRows:
    """Rows of a dask array, of a dask dataframe, or of an Arrow dataset, as row blocks.

    Blocks are checked for type, shape and finite values whenever they are read. Dataframes and datasets cost a pass
    that counts their rows.
    """
    names = None
    if type(points).__module__ == "pyarrow._dataset":
        points = as_frame(points)
    if isinstance(points, dd.DataFrame):
        names = np.asarray(points.columns, dtype=object)
        _reject_texts(points, name)
        points = points.to_dask_array(lengths=True)
    if not isinstance(points, da.Array):
        raise TypeError(f"{name} is a {type(points).__name__}; pass a dask array or dataframe of two dimensions")
    _check_shape(points, name)
    if len(points.chunks[1]) > 1:
        warn(
            f"{name} has {len(points.chunks[1])} chunks of columns, but all columns of a point must be in one block, "
            "so they are joined; chunk it by rows only, X.rechunk({1: -1}), to choose the heights of blocks",
            FallbackWarning,
        )
        points = points.rechunk({1: -1})
    dtype = points.dtype if points.dtype in (np.float32, np.float64) else np.dtype(float)
    starts = np.concatenate([[0], np.cumsum(points.chunks[0])]).astype(np.int64)
    check = partial(_checked, name=name, starts=starts, width=points.shape[1], target=dtype)
    checked = points.map_blocks(check, dtype=dtype, meta=_meta(points, dtype))
    return DaskRows(checked, names, steps=(name,), origin=points.name)


def _check_shape(points: Any, name: str) -> None:
    if points.ndim != 2:
        raise ValueError(f"{name} has {points.ndim} dimensions; pass an array of two, with one point per row")
    if np.isnan(points.shape[0]) or np.isnan(points.shape[1]):
        raise ValueError(
            f"{name} has chunks of unknown size, as dataframes and filters leave them; call X.compute_chunk_sizes() "
            "first, or df.to_dask_array(lengths=True)"
        )
    if not points.shape[0]:
        raise ValueError(f"{name} has no rows")
    if 0 in points.chunks[0]:
        empty = points.chunks[0].index(0)
        raise ValueError(f"chunk {empty} of {name} has no rows; merge it with others by X.rechunk()")
    if points.dtype.kind not in NUMBERS:
        raise ValueError(
            f"{name} has the dtype {points.dtype}, but points must be numeric; convert it with X.astype(float)"
        )


def _reject_texts(frame: Any, name: str) -> None:
    texts = [str(column) for column, kind in frame.dtypes.items() if getattr(kind, "kind", "O") not in NUMBERS]
    if texts:
        raise ValueError(
            f"columns {', '.join(texts[:3])} of {name} are not numeric; leave them out, or hash them with "
            "lopsided.distributed.hash_rows"
        )


def _meta(points: Any, dtype: np.dtype) -> Any:
    meta = points._meta
    return sparse.csr_array((0, 0), dtype=dtype) if sparse.issparse(meta) else np.empty((0, 0), dtype=dtype)


def as_frame(table: Any) -> Any:
    """A dask dataframe: itself, of a folder of parquet files, or with a partition per fragment of an Arrow dataset."""
    if isinstance(table, (str, os.PathLike)):
        return dd.read_parquet(table)
    if isinstance(table, dd.DataFrame):
        return table
    if type(table).__module__ != "pyarrow._dataset":
        raise TypeError(
            f"a {type(table).__name__} is not a dask dataframe, an Arrow dataset or a folder of parquet files"
        )
    return _frame_of(table)


def _frame_of(dataset: Any) -> Any:
    fragments = list(dataset.get_fragments())
    if not fragments:
        raise ValueError("the Arrow dataset has no fragments")
    meta = dataset.schema.empty_table().to_pandas()
    return dd.from_map(_read_fragment, fragments, columns=list(meta.columns), meta=meta)


def _read_fragment(fragment: Any, columns: list[str]) -> Any:
    return fragment.to_table(columns=columns).to_pandas()


def _checked(
    block: Any, block_id: tuple[int, ...] | None = None, *, name: str, starts: np.ndarray, width: int, target: np.dtype
) -> Any:
    """A block of rows in canonical form; raise ValueError with its number and the row at fault."""
    number = block_id[0] if block_id else 0
    block = block if sparse.issparse(block) else np.asarray(block)
    wanted = int(starts[number + 1] - starts[number]), width
    if block.shape != wanted:
        raise ValueError(f"chunk {number} of {name} has shape {block.shape}, but its declared chunks say {wanted}")
    if block.dtype.kind not in NUMBERS or not np.can_cast(block.dtype, target, "same_kind"):
        raise ValueError(
            f"chunk {number} of {name} is {block.dtype}, but {name} is {target}; give all chunks one dtype of numbers"
        )
    if block.dtype.itemsize > target.itemsize and block.dtype.kind == "f":
        raise ValueError(
            f"chunk {number} of {name} is {block.dtype}, but {name} is {target}, which would lose digits; convert "
            f"it with X.astype({block.dtype.name!r})"
        )
    block = canonical(block).astype(target, copy=False)
    _check_values(block, name, number, int(starts[number]))
    return block


def _check_values(block: Any, name: str, number: int, start: int) -> None:
    entries = block.data if sparse.issparse(block) else block
    if np.isfinite(entries).all():
        return
    if sparse.issparse(block):
        at = int(np.flatnonzero(~np.isfinite(entries))[0])
        row, column, value = int(np.searchsorted(block.indptr, at, "right")) - 1, int(block.indices[at]), entries[at]
    else:
        row, column = map(int, np.argwhere(~np.isfinite(block))[0])
        value = block[row, column]
    raise ValueError(
        f"chunk {number} of {name} holds {value} in its row {row}, column {column} (row {start + row} of {name}); "
        "fill it, or leave the row out"
    )
