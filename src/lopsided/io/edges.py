"""Edges from tables, lists of tuples and files, with the nodes at their ends numbered."""

from __future__ import annotations

import os
from collections.abc import Container
from pathlib import Path
from typing import Any, NamedTuple

import narwhals as nw
import numpy as np

from .._core import FLOATS
from .columns import ColumnNames, choose_columns, is_number
from .files import SEPARATORS, ends_of_arrow, extension, read_parquet, read_text
from .ids import Ends, as_ids

ANY_NAMES = ColumnNames()


class Edges(NamedTuple):
    """Edges from nodes[source[i]] to nodes[target[i]]; the nodes are distinct, in order of first appearance."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray
    nodes: np.ndarray


def read_edges(
    table: Any, wanted: ColumnNames = ANY_NAMES, header: bool | None = None, known: Container[Any] = ()
) -> Edges:
    """Read the edges of a table, of a list of tuples or of a file. Ids from text files are strings.

    A first line that contains a known id is read as an edge, unless its columns are named by the caller.
    """
    if is_text(table):
        ends, weight = read_text(Path(table), wanted, header, known)
    elif is_path(table):
        ends, weight = _from_table(read_parquet(Path(table)), wanted)
    elif is_list_of_edges(table):
        ends = Ends.of(*(as_ids([edge[side] for edge in table]) for side in (0, 1)))
        weight = [edge[2] if len(edge) > 2 else 1 for edge in table]
    else:
        ends, weight = _from_table(table, wanted)
    ends.reject_missing()
    nodes, (u, v) = ends.numbered()
    return Edges(u, v, np.ones(len(u)) if weight is None else checked_weights(weight), nodes)


def holds_edges(graph: Any) -> bool:
    """Whether graph is a path, a table (pandas, polars, pyarrow) or a list of tuples, rather than a matrix."""
    if hasattr(graph, "collect_schema") and hasattr(graph, "collect"):
        raise TypeError("a LazyFrame of polars holds no edges yet; pass graph.collect()")
    return is_path(graph) or is_list_of_edges(graph) or bool(nw.dependencies.is_into_dataframe(graph))


def is_list_of_edges(graph: Any) -> bool:
    """Whether graph is a list of (source, target[, weight]): of tuples, or of lists that begin with a string."""
    if type(graph) not in (list, tuple) or not len(graph):
        return False
    return all(
        isinstance(edge, (list, tuple)) and len(edge) in (2, 3) and (type(edge) is tuple or isinstance(edge[0], str))
        for edge in graph
    )


def is_path(table: Any) -> bool:
    """Whether table is the path of a file."""
    return isinstance(table, (str, os.PathLike))


def is_text(table: Any) -> bool:
    """Whether table is the path of a text file, from which all ids are read as strings."""
    return is_path(table) and extension(Path(table)) in SEPARATORS


def _from_table(table: Any, wanted: ColumnNames) -> tuple[Ends, Any]:
    names = [str(name) for name in (table.column_names if hasattr(table, "column_names") else table.columns)]
    place = choose_columns(names, len(names), wanted)
    frame = nw.from_native(table, eager_only=True)
    source, target = frame[:, place.source], frame[:, place.target]
    weights = None if place.weight is None else frame[:, place.weight].to_numpy()
    if frame.implementation.is_pyarrow() and source.dtype == target.dtype == nw.String:
        return ends_of_arrow(source.to_native(), target.to_native()), weights
    return Ends.of(_ids(source, "source"), _ids(target, "target")), weights


def _ids(column: nw.Series[Any], side: str) -> np.ndarray:
    zone = getattr(column.dtype, "time_zone", None)  # which numpy drops
    values = column.to_numpy() if zone is None else np.fromiter(column.to_list(), object, len(column))
    if values.ndim > 1:
        raise TypeError(f"node ids must be hashable, such as numbers, strings and tuples; a {side} has several values")
    return as_ids(values)


def checked_weights(column: Any) -> np.ndarray:
    """Check that weights are finite real numbers, and return them as floats."""
    try:
        weights = np.asarray(column)
        if weights.dtype.kind in "mMc" or weights.ndim > 1:
            raise TypeError(f"these are of type {weights.dtype}")
        weights = weights if weights.dtype in FLOATS else weights.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        first = next((f"edge {i} has {w!r}" for i, w in enumerate(column) if not _is_real(w)), str(error))
        raise ValueError(f"edge weights must be real numbers: {first}") from error
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        raise ValueError(f"edge {wrong[0]} has the weight {weights[wrong[0]]}; weights must be finite numbers")
    return weights


def _is_real(weight: Any) -> bool:
    single = isinstance(weight, str) or not np.iterable(weight)
    return single and not np.iscomplexobj(weight) and is_number(weight)
