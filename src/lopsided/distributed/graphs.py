"""Graphs whose edges do not fit in memory: a folder of sparse blocks, of the adjacency and of its transpose."""

import os
import shutil
from collections.abc import Sequence
from functools import partial
from itertools import pairwise, repeat
from pathlib import Path
from threading import Lock
from typing import Any

import dask
import joblib
import numpy as np
import pandas as pd
import pyarrow
from pyarrow import parquet
from scipy import sparse

from .._core import AdjacencyBlocks, row_numbers
from ..io import Edges, Graph, Wanted, assembled, read_edges
from .compute import call, compute, shared
from .gate import as_frame
from .rows import DaskRows, folded
from .sources import from_blocks
from .store import MANIFEST, StoreError, clear_left_overs, read_manifest, reject_other_files, write_file, write_manifest

KIND = "lopsided graph, 1"
NODES = "nodes.parquet"
SIDES = ("out", "into")  # blocks of the adjacency, and of its transpose
PIECES = "pieces"  # folder of edges that are not in blocks yet
BLOCK_EDGES = 1 << 22  # edges of a block, of which a task holds a few copies
SAMPLED = 1 << 10  # edges of a piece for each one that is sampled to place the borders of blocks
PARTS = ("data", "indices", "indptr")
COLUMNS = ("row", "column", "weight")
_indexing = Lock()  # pandas builds the table of an index at the first lookup


def store_graph(
    edges: Any,
    folder: str | os.PathLike[str],
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    dtype: Any = np.float64,
) -> Graph:
    """Store edges that do not fit in memory as sparse blocks on disk, and return them as a graph to embed.

    Weights of repeated edges are added, edges of weight zero dropped, and nodes numbered in order of first appearance,
    as by :func:`lopsided.io.read_graph`. Passes: one over the ids, one that numbers the ends of edges and sorts them
    partition by partition, and two that gather blocks from these. A folder that the same call has written is opened,
    and one that it has left half-written is written again.

    Parameters
    ----------
    edges : dask dataframe, Arrow dataset, or path of a folder of parquet files
        A row for every edge. A partition must fit in memory once for every worker.
    folder : path
        Where blocks are kept; workers must see it under the same name. It takes about 24 bytes an edge, and twice that
        while it is written.
    source, target, weight : str or None, default=None
        Column names, as in :func:`lopsided.io.read_graph`. Without a weight column all weights are 1.
    dtype : dtype, default=float64
        Of the weights, and of the embedding: float32 halves its memory.

    Returns
    -------
    Graph
        ``adjacency``, in blocks, and ``nodes``, the ids, strings or integers, which are held in memory. Fit it with
        ``DirectedGraphEmbedding(kernel=Katz())`` or ``kernel=NodeKernel()``.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.distributed import store_graph
    >>> from lopsided.kernels import Katz
    >>> frame = pd.DataFrame({"source": ["ann", "bob", "eve", "ann"], "target": ["bob", "eve", "ann", "eve"]})
    >>> graph = store_graph(dd.from_pandas(frame, npartitions=2), tempfile.mkdtemp())
    >>> model = DirectedGraphEmbedding(2, kernel=Katz()).fit(graph)
    >>> model.nodes_.tolist(), model.source_embedding_.shape
    (['ann', 'bob', 'eve'], (3, 2))
    """
    kind = np.dtype(dtype)
    if kind not in (np.float32, np.float64):
        raise ValueError(f"dtype={kind} must be float32 or float64")
    names = {"source": source, "target": target, "weight": weight}
    wanted = {role: name for role, name in names.items() if name is not None}
    path, parts = Path(folder), list(as_frame(edges).to_delayed())
    key = str(joblib.hash((wanted, kind.str, len(parts), compute(parts[:1]))))
    if _is_complete(path, key):
        return open_graph(path)
    path.mkdir(parents=True, exist_ok=True)
    clear_left_overs(path)
    write_manifest(path, KIND, {"key": key})
    heights = _write_blocks(path, parts, wanted, kind)
    write_manifest(path, KIND, {"key": key, "dtype": kind.str, "heights": heights})
    return open_graph(path)


def open_graph(folder: str | os.PathLike[str]) -> Graph:
    """Open a graph that :func:`store_graph` wrote.

    Parameters
    ----------
    folder : path
        Its folder. It holds ``nodes.parquet``, the ids, and npy files of the blocks.

    Returns
    -------
    Graph
        ``adjacency``, in blocks, and ``nodes``. Blocks are read from their files at every product.

    Examples
    --------
    >>> import tempfile
    >>> import pandas as pd
    >>> import dask.dataframe as dd
    >>> from lopsided.distributed import open_graph, store_graph
    >>> frame = pd.DataFrame({"source": [1, 2, 1], "target": [2, 3, 3], "weight": [1.0, 0.5, 2.0]})
    >>> folder = tempfile.mkdtemp()
    >>> _ = store_graph(dd.from_pandas(frame, npartitions=1), folder)
    >>> open_graph(folder).adjacency[[0]].toarray()
    array([[0., 1., 2.]])
    """
    path = Path(folder).absolute()
    found: dict[str, Any] | None = read_manifest(path, KIND, dict)
    if found is None:
        raise StoreError(f"{path} has no {MANIFEST}; store_graph did not write it")
    if "heights" not in found:
        raise StoreError(f"{path} is half-written; repeat the call of store_graph that was writing it")
    try:
        nodes = parquet.read_table(path / NODES)["id"].to_numpy()
        out, into = (_degrees(path / side, len(found["heights"][side])) for side in SIDES)
    except (OSError, ValueError) as error:
        raise StoreError(
            f"{path} lacks a file or holds a damaged one ({error}); delete it, and store the graph again"
        ) from error
    rows, columns = (_rows(path / side, found["heights"][side], len(nodes), np.dtype(found["dtype"])) for side in SIDES)
    adjacency: Any = AdjacencyBlocks(rows, columns, (out, into))
    return Graph(adjacency, nodes)


def _write_blocks(path: Path, parts: list[Any], wanted: Wanted, dtype: np.dtype) -> dict[str, list[int]]:
    """Write the ids and the blocks of both sides; return the numbers of rows of the blocks."""
    nodes = _checked_ids(folded([call(_ids_of_partition, part, i, wanted) for i, part in enumerate(parts)], _merge_ids))
    parquet.write_table(pyarrow.table({"id": nodes}), path / NODES)
    folder, index, heights = path / PIECES, shared(pd.Index(nodes, dtype=nodes.dtype)), {}
    folder.mkdir(exist_ok=True)
    pieces = [f"{folder}/{number}" for number in range(len(parts))]
    tasks = enumerate(zip(parts, pieces, strict=True))
    samples = compute(
        [call(_write_numbered_edges, part, i, wanted, index, dtype, piece, SAMPLED) for i, (part, piece) in tasks]
    )
    for side in SIDES:
        starts = _block_starts(samples, len(nodes))
        turned = [f"{folder}/turned-{number}" for number in range(len(starts) - 1)]
        samples = _write_side(path / side, pieces, starts, turned if side == SIDES[0] else None)
        heights[side], pieces = np.diff(starts).tolist(), turned
    shutil.rmtree(folder)
    return heights


def _rows(base: Path, heights: list[int], n: int, dtype: np.dtype) -> DaskRows:
    make = partial(_read_block, str(base), n)
    return DaskRows(from_blocks(make, heights, n, sparse.csr_array((0, 0), dtype=dtype)))


def _read_block(base: str, n: int, number: int) -> sparse.csr_array:
    data, indices, indptr = (np.load(f"{base}-{number}.{part}.npy", mmap_mode="r") for part in PARTS)
    return sparse.csr_array((data, indices, indptr), shape=(len(indptr) - 1, n))


def _degrees(base: Path, count: int) -> np.ndarray:
    return np.concatenate([np.diff(np.load(f"{base}-{number}.indptr.npy")) for number in range(count)])


def _is_complete(path: Path, key: str) -> bool:
    """Whether the folder holds this graph; raise StoreError if it holds anything else."""
    found: dict[str, Any] | None = read_manifest(path, KIND, dict)
    if found is None:
        reject_other_files(path)
        return False
    if found.get("key") != key:
        raise StoreError(
            f"{path} holds another graph, or this one with other columns, dtype or partitions; name another folder, or "
            "delete this one"
        )
    return "heights" in found


def _checked_ids(nodes: np.ndarray | None) -> np.ndarray:
    """The ids; raise ValueError unless there are some, all integers or all strings."""
    if nodes is None:
        raise ValueError("the graph has no edges, hence no nodes; a table of edges needs at least one row")
    kinds = {"int"} if nodes.dtype != object else {type(node).__name__ for node in nodes.tolist()}
    if kinds not in ({"int"}, {"str"}):
        raise ValueError(
            f"node ids are of the types {', '.join(sorted(kinds))}; a stored graph needs all integers or all strings: "
            "convert both columns with astype(int), or those of text with astype(str)"
        )
    return nodes


def _edges(part: Any, number: int, wanted: Wanted) -> Edges | None:
    """The edges of a partition, with its nodes numbered; None if it is empty."""
    if not len(part):
        return None
    try:
        return read_edges(pyarrow.Table.from_pandas(part, preserve_index=False), wanted)
    except ValueError as error:
        raise ValueError(f"partition {number} of the edges: {error}") from error


def _ids_of_partition(part: Any, number: int, wanted: Wanted) -> np.ndarray | None:
    """The ids of a partition, in order of first appearance."""
    found = _edges(part, number, wanted)
    return None if found is None else found.nodes


def _merge_ids(parts: list[np.ndarray | None]) -> np.ndarray | None:
    """The ids of neighbouring partitions, in order of first appearance."""
    found = [ids for ids in parts if ids is not None]
    return np.asarray(pd.unique(np.concatenate(found))) if found else None


def _write_numbered_edges(
    part: Any, number: int, wanted: Wanted, index: pd.Index, dtype: np.dtype, piece: str, step: int
) -> np.ndarray:
    """Write the edges of a partition with nodes as numbers; return a sample of their sources."""
    found = _edges(part, number, wanted)
    if found is None:
        nothing = np.empty(0, dtype=np.int32)
        return _write_piece(piece, step, nothing, nothing, nothing.astype(dtype))
    with _indexing:
        numbers = index.get_indexer(found.nodes).astype(np.min_scalar_type(-len(index)))
    if (numbers < 0).any():
        raise ValueError(
            f"partition {number} of the edges has other ids than in the previous pass; the edges must not change"
        )
    return _write_piece(piece, step, numbers[found.source], numbers[found.target], found.weight.astype(dtype))


def _write_piece(piece: str, step: int, *columns: np.ndarray) -> np.ndarray:
    """Write edges sorted by their rows; return every ``step``-th row."""
    order = np.argsort(columns[0], kind="stable")
    for name, column in zip(COLUMNS, columns, strict=True):
        write_file(Path(f"{piece}.{name}.npy"), column[order])
    return columns[0][order[::step]]


def _block_starts(samples: Sequence[np.ndarray], n: int) -> np.ndarray:
    """First rows of blocks with about BLOCK_EDGES edges each, and n."""
    rows = np.sort(np.concatenate(samples))
    return np.unique([0, *rows[:: max(1, BLOCK_EDGES // SAMPLED)][1:], n])


def _write_side(base: Path, pieces: list[str], starts: np.ndarray, turned: list[str] | None) -> list[np.ndarray]:
    """Write the blocks of rows that begin at ``starts`` from all pieces, and their transposes as pieces, if wanted."""
    every, n = dask.delayed(pieces, traverse=False), int(starts[-1])
    ranges, targets = pairwise(starts.tolist()), turned or repeat(None, len(starts) - 1)
    tasks = enumerate(zip(ranges, targets, strict=True))
    return compute(
        [call(_write_block, every, *rows, n, f"{base}-{number}", target, SAMPLED) for number, (rows, target) in tasks]
    )


def _write_block(
    pieces: list[str], first: int, last: int, n: int, block: str, turned: str | None, step: int
) -> np.ndarray | None:
    """Write the edges of all pieces with rows from ``first`` to before ``last`` as one sparse block."""
    slices = [_edges_in_rows(piece, first, last) for piece in pieces]
    rows, columns, weights = (np.concatenate([part[i] for part in slices]) for i in range(len(COLUMNS)))
    A = assembled(rows - rows.dtype.type(first), columns, weights, (last - first, n))
    for part in PARTS:
        write_file(Path(f"{block}.{part}.npy"), getattr(A, part))
    if turned is None:
        return None
    return _write_piece(turned, step, A.indices, (row_numbers(A) + first).astype(A.indices.dtype), A.data)


def _edges_in_rows(piece: str, first: int, last: int) -> list[np.ndarray]:
    """Rows, columns and weights of the edges of a piece that lie in a range of rows."""
    columns = [np.load(f"{piece}.{name}.npy", mmap_mode="r") for name in COLUMNS]
    return [column[slice(*np.searchsorted(columns[0], [first, last]))] for column in columns]
