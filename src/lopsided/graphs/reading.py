"""Graphs from whatever holds them: matrices, networkx, tables of edges and files."""

from __future__ import annotations

import ast
import csv
import gzip
import os
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from ..kernels.node import check_adjacency
from ..kernels.points import FLOATS, canonical

NAMES = {
    "source": ("source", "src", "from", "tail", "u"),
    "target": ("target", "dst", "to", "head", "v"),
    "weight": ("weight", "w", "value"),
}
SPACES = " "
DELIMITERS = {".csv": ",", ".tsv": "\t", ".edgelist": SPACES, ".edges": SPACES, ".txt": SPACES}
COMMENT = "#"


class Graph(NamedTuple):
    """A directed graph: A[i, j] is the weight of the edge from nodes[i] to nodes[j]."""

    adjacency: sparse.csr_array
    nodes: np.ndarray


class Edges(NamedTuple):
    """Edges by the ids of their ends, with a weight each."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray


def read_graph(graph: Any, *, source: str | None = None, target: str | None = None, weight: str | None = None) -> Graph:
    """Read a directed graph.

    Parameters
    ----------
    graph : sparse matrix, array, networkx graph, table or path
        A square adjacency, whose nodes are numbered from 0; a networkx graph, whose edges count both ways if it is
        undirected; a pandas, polars or pyarrow table of edges; a path to such a table, CSV or TSV (.csv, .tsv), Parquet
        (.parquet, which takes the extra ``lopsided[graph]``) or an edge list separated by spaces (.edgelist, .edges,
        .txt); text files may be compressed (.gz). A ``Graph`` is returned as it is.
    source, target, weight : str or None, default=None
        Names of the columns of a table. None takes columns called source (src, from), target (dst, to) and weight, else
        the first two and, if there are three, the third as weight. Without a weight every edge counts one. For networkx
        ``weight`` is the edges' attribute, "weight" unless given.

    Returns
    -------
    Graph
        ``adjacency``, a CSR array, and ``nodes``, the ids in the order of the matrix, of ``graph.nodes``, or in which
        they first appear in the edges.

    Notes
    -----
    Weights of repeated edges are added. Self-loops are kept. An edge of weight zero is none, but its nodes stay. In
    text files the ids are whole numbers if all of them are, and texts otherwise; lines that begin with # are comments;
    the first line is a header if it names the columns, or has no number where a column has nothing else.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.graphs import read_graph
    >>> read_graph(np.array([[0.0, 2.0], [0.0, 0.0]])).adjacency.toarray()
    array([[0., 2.],
           [0., 0.]])
    """
    if isinstance(graph, Graph):
        return graph
    if is_networkx(graph):
        return _from_networkx(graph, weight or "weight")
    if is_path_or_table(graph):
        edges = read_edges(graph, source=source, target=target, weight=weight)
        if not len(edges.source):
            raise ValueError("the graph has no edges, and so no nodes; a table of edges needs at least one row")
        nodes, (rows, columns) = number_nodes(edges.source, edges.target)
        return Graph(assembled(rows, columns, edges.weight, (len(nodes), len(nodes))), nodes)
    A = canonical(sparse.csr_array(check_adjacency(graph)))
    return Graph(_without_zeros(A), np.arange(A.shape[0]))


def read_edges(table: Any, *, source: str | None = None, target: str | None = None, weight: str | None = None) -> Edges:
    """The edges of a table or of the file that holds one; parameters as in ``read_graph``."""
    names, columns = _read_file(Path(table)) if isinstance(table, (str, os.PathLike)) else _table_columns(table)
    left, right, value = _choose_columns(names, len(columns), source, target, weight)
    if _is_text(table) and _is_whole(columns[left]) and _is_whole(columns[right]):
        columns[left], columns[right] = columns[left].astype(np.int64), columns[right].astype(np.int64)
    u, v = _checked_ids(columns[left], "source"), _checked_ids(columns[right], "target")
    return Edges(u, v, np.ones(len(u)) if value is None else _checked_weights(columns[value]))


def is_networkx(graph: Any) -> bool:
    """Whether it is a graph of networkx, or of a library that speaks like it."""
    return hasattr(graph, "is_directed") and hasattr(graph, "edges")


def is_path_or_table(graph: Any) -> bool:
    """Whether it is a path, or a pandas, polars or pyarrow table."""
    if isinstance(graph, (str, os.PathLike)):
        return True
    return hasattr(graph, "columns") and (hasattr(graph, "to_numpy") or hasattr(graph, "column_names"))


def number_nodes(*sides: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Ids in the order in which they first appear, row by row, and each side as numbers among them."""
    kinds = {side.dtype.kind for side in sides}
    ids = np.stack([side.astype(object) if len(kinds) > 1 else side for side in sides], axis=1).ravel()
    if ids.dtype == object:
        known: dict[Any, int] = {}
        codes = np.fromiter((known.setdefault(node, len(known)) for node in ids.tolist()), np.intp, len(ids))
        nodes = np.fromiter(known, dtype=object, count=len(known))
    else:
        nodes, first, codes = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        nodes, codes = nodes[order], rank[codes]
    return nodes, list(codes.reshape(-1, len(sides)).T)


def assembled(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """A CSR array from edges; repeated ones are added, those of weight zero left out."""
    return _without_zeros(canonical(sparse.csr_array(sparse.coo_array((weights, (rows, columns)), shape=shape))))


def _without_zeros(A: sparse.csr_array) -> sparse.csr_array:
    if not A.data.all():
        A = A.copy()
        A.eliminate_zeros()
    return A


def _from_networkx(graph: Any, weight: str) -> Graph:
    nodes = list(graph.nodes)
    if not nodes:
        raise ValueError("the graph has no nodes")
    number = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=weight, default=1))
    rows = np.fromiter((number[u] for u, _, _ in edges), np.intp, len(edges))
    columns = np.fromiter((number[v] for _, v, _ in edges), np.intp, len(edges))
    weights = _checked_weights([w for *_, w in edges])
    if not graph.is_directed():
        other = rows != columns
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        weights = np.concatenate([weights, weights[other]])
    return Graph(assembled(rows, columns, weights, (len(nodes), len(nodes))), _as_ids(nodes))


def _table_columns(table: Any) -> tuple[list[str], list[Any]]:
    if hasattr(table, "column_names"):  # pyarrow
        return list(table.column_names), [column.to_numpy(zero_copy_only=False) for column in table.columns]
    names = [str(name) for name in table.columns]
    if hasattr(table, "iloc"):
        return names, [table.iloc[:, i].to_numpy() for i in range(len(names))]
    return names, [table[name].to_numpy() for name in names]


def _kind(path: Path) -> str:
    """The ending of a file's name, before .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def _is_text(table: Any) -> bool:
    return isinstance(table, (str, os.PathLike)) and _kind(Path(table)) in DELIMITERS


def _read_file(path: Path) -> tuple[list[str], list[Any]]:
    kind = _kind(path)
    if kind == ".parquet":
        return _read_parquet(path)
    if kind not in DELIMITERS:
        raise ValueError(
            f"{path.name!r} ends with {kind or 'nothing'!r}, not with one of {', '.join([*DELIMITERS, '.parquet'])}"
        )
    try:
        with gzip.open(path, "rt", newline="") if path.suffix.lower() == ".gz" else path.open(newline="") as file:
            lines = (line for line in file if line.strip() and not line.lstrip().startswith(COMMENT))
            rows = _split(lines) if DELIMITERS[kind] == SPACES else list(csv.reader(lines, delimiter=DELIMITERS[kind]))
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, SyntaxError, csv.Error) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error
    return _parsed(rows, path)


def _read_parquet(path: Path) -> tuple[list[str], list[Any]]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files are read by pyarrow: pip install 'lopsided[graph]'") from error
    try:
        return _table_columns(pyarrow.parquet.read_table(path))
    except FileNotFoundError:
        raise
    except (OSError, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error


def _split(lines: Iterable[str]) -> list[list[str]]:
    """Cells between spaces; networkx's {'weight': 2.0} at the end of a line becomes 2.0."""
    rows = []
    for line in lines:
        head, brace, attributes = line.partition("{")
        cells = head.split()
        if brace:
            found = ast.literal_eval(brace + attributes.strip())
            cells += [str(found["weight"])] if "weight" in found else []
        rows.append(cells)
    return rows


def _parsed(rows: list[list[str]], path: Path) -> tuple[list[str], list[np.ndarray]]:
    """Columns of a text file, and their names if it has a header."""
    width = max(2, len(rows[0])) if rows else 2
    wrong = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        raise ValueError(
            f"row {wrong + 1} of {str(path)!r} has {len(rows[wrong])} cells, {rows[wrong][:4]}, where there should be "
            f"{width}: a source, a target and perhaps a weight"
        )
    names: list[str] = []
    if rows and _is_header(rows):
        names, rows = [cell.strip() for cell in rows[0]], rows[1:]
    return names, [np.array([row[j].strip() for row in rows], dtype=object) for j in range(width)]


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns, or is without numbers where some column has nothing else."""
    first = [cell.strip().lower() for cell in rows[0]]
    if set(first) & set(NAMES["source"]) and set(first) & set(NAMES["target"]):
        return True
    if len(rows) < 2 or any(map(_is_number, first)):
        return False
    return any(all(_is_number(row[j]) for row in rows[1:]) for j in range(len(first)))


def _is_whole(column: np.ndarray) -> bool:
    """Whether texts are whole numbers, written as such: 007 stays a text."""
    return all(cell.removeprefix("-").isdecimal() and str(int(cell)) == cell for cell in column)


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def _choose_columns(
    names: list[str], width: int, source: str | None, target: str | None, weight: str | None
) -> tuple[int, int, int | None]:
    """Numbers of the columns source, target and weight."""
    repeated = sorted({name for name in names if names.count(name) > 1})
    if repeated:
        raise ValueError(f"columns {repeated} appear more than once in {names}; rename them, so that one is meant")
    u, v, w = _find(names, "source", source), _find(names, "target", target), _find(names, "weight", weight)
    if u is None and v is None and width in (2, 3):
        return 0, 1, 2 if width == 3 else w
    if u is None or v is None:
        raise ValueError(
            f"the {width} columns {names} do not tell source and target of the edges; call them so, or name them: "
            "read_graph(table, source=..., target=...); an adjacency is given as an array"
        )
    return u, v, w


def _find(names: Sequence[str], role: str, name: str | None) -> int | None:
    """The number of the column with the given name, or with one of the usual names."""
    if name is not None:
        if name not in names:
            raise ValueError(f"{role}={name!r} is not among the columns {list(names)}")
        return names.index(name)
    lower = [other.lower() for other in names]
    return next((lower.index(usual) for usual in NAMES[role] if usual in lower), None)


def _checked_ids(column: Any, side: str) -> np.ndarray:
    ids = _as_ids(column)
    if ids.dtype == object:
        missing = next((i for i, node in enumerate(ids.tolist()) if node is None or node != node or node == ""), None)
        if missing is not None:
            raise ValueError(f"edge {missing} has no {side}; drop it, or name the node")
    return ids


def _as_ids(values: Any) -> np.ndarray:
    """Ids as an array: whole numbers, or objects as they are."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values
    ids = np.fromiter(values, dtype=object, count=len(values))
    kinds = set(map(type, ids.tolist()))
    whole = kinds and all(issubclass(kind, (int, np.integer)) and kind is not bool for kind in kinds)
    return ids.astype(np.int64) if whole else ids


def _checked_weights(column: Any) -> np.ndarray:
    try:
        weights = np.asarray(column)
        weights = weights if weights.dtype in FLOATS else weights.astype(float)
    except (TypeError, ValueError) as error:
        raise ValueError(f"weights of edges must be numbers: {error}") from error
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        raise ValueError(f"edge {wrong[0]} has the weight {weights[wrong[0]]}; weights must be finite numbers")
    return weights
