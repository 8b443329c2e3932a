"""Edges from tables, lists of tuples and files, with the nodes at their ends numbered."""

import os
import reprlib
from collections.abc import Container, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from .._core import FLOATS
from .columns import Wanted, choose_columns, is_number, log_columns, reject_matrix
from .files import SEPARATORS, encoded_strings, extension, read_file
from .ids import as_ids, by_appearance, encoded, reject_missing

BY_USUAL_NAMES: Mapping[str, str] = MappingProxyType({})


class Edges(NamedTuple):
    """Edges from nodes[source[i]] to nodes[target[i]]; the nodes are distinct, in order of first appearance."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    nodes: np.ndarray


def read_edges(
    table: Any, wanted: Wanted = BY_USUAL_NAMES, header: bool | None = None, known: Container[Any] = ()
) -> Edges:
    """Read the edges of a table, of a list of tuples or of a file. Ids from text files are strings.

    A first line that contains a known id is read as an edge, unless its columns are named by the caller.
    """
    if is_list_of_edges(table):
        codes, values = encoded(*(as_ids([edge[side] for edge in table]) for side in (0, 1)))
        weight: Any = [edge[2] if len(edge) > 2 else 1 for edge in table]
    elif is_path(table):
        found = read_file(Path(table), wanted, header, known)
        codes, values, weight = _columns(found, BY_USUAL_NAMES if is_text(table) else wanted)
    else:
        codes, values, weight = _columns(table, wanted)
    reject_missing(codes, values)
    nodes, (u, v) = by_appearance(codes, values)
    return Edges(u, v, np.ones(len(u)) if weight is None else checked_weights(weight), nodes)


def holds_edges(graph: Any) -> bool:
    """Whether graph is a path, a table (pandas, polars, pyarrow) or a list of tuples, rather than a matrix."""
    if hasattr(graph, "collect_schema") and hasattr(graph, "collect"):
        raise TypeError("a polars LazyFrame must be collected first; pass graph.collect()")
    return is_path(graph) or is_list_of_edges(graph) or bool(nw.dependencies.is_into_dataframe(graph))


def is_list_of_edges(graph: Any) -> bool:
    """Whether graph is a list, maybe empty, of (source, target[, weight]): tuples or lists that begin with a string."""
    if type(graph) not in (list, tuple):
        return False
    if not all(type(edge) is tuple or (isinstance(edge, (list, tuple)) and _begins_with_text(edge)) for edge in graph):
        return False
    wrong = next((i for i, edge in enumerate(graph) if len(edge) not in (2, 3)), None)
    if wrong is not None and (len(set(map(len, graph))) > 1 or _begins_with_text(graph[wrong])):
        raise ValueError(
            f"edge {wrong} is {reprlib.repr(graph[wrong])}, with length {len(graph[wrong])}; an edge has a source, a "
            "target and perhaps a weight"
        )
    return wrong is None  # rows of one other length are those of a matrix


def _begins_with_text(edge: Sequence[Any]) -> bool:
    return len(edge) > 0 and isinstance(edge[0], str)


def is_path(table: Any) -> bool:
    """Whether table is the path of a file."""
    return isinstance(table, (str, os.PathLike))


def is_text(table: Any) -> bool:
    """Whether table is the path of a text file, from which all ids are read as strings."""
    return is_path(table) and extension(Path(table)) in SEPARATORS


def _columns(table: Any, wanted: Wanted) -> tuple[np.ndarray, np.ndarray, Any]:
    """Codes and values of the ends, and weights or None, of a table in any library that narwhals knows."""
    names = [str(name) for name in (table.column_names if hasattr(table, "column_names") else table.columns)]
    if len(table) == len(names) - 1 == len(set(names)) - 1:
        reject_matrix(names, nw.from_native(table, eager_only=True)[:, 0].to_list())
    place = choose_columns(names, len(names), wanted)
    log_columns(names, place)
    frame = nw.from_native(table, eager_only=True)
    source, target, *weight = (frame[:, j] for j in place)
    if frame.implementation.is_pyarrow() and source.dtype == target.dtype == nw.String:
        ends = encoded_strings(source.to_native(), target.to_native())
    else:
        ends = encoded(_ids(source), _ids(target))
    return *ends, weight[0].to_numpy() if weight else None


def _ids(column: nw.Series[Any]) -> np.ndarray:
    zone = getattr(column.dtype, "time_zone", None)  # which numpy drops
    return as_ids(column.to_numpy() if zone is None else column.to_list())


def checked_weights(column: Any) -> np.ndarray:
    """Check that weights are finite real numbers, and return them as floats."""
    weights = column if isinstance(column, np.ndarray) else np.fromiter(column, object, len(column))
    if weights.dtype.kind not in "biuf" or weights.ndim > 1:
        for i, weight in enumerate(weights):
            if not is_number(weight):
                raise ValueError(
                    f"edge weights must be real numbers: edge {i} has {reprlib.repr(weight)}; if that column is not "
                    "a weight, name the other two: read_graph(table, source=..., target=...)"
                )
    weights = weights if weights.dtype in FLOATS else weights.astype(float)
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        raise ValueError(f"edge {wrong[0]} has the weight {weights[wrong[0]]}; weights must be finite numbers")
    return weights
