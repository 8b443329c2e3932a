"""Graphs, tables and models that commands take, from files and pipes."""

import argparse
import difflib
import itertools
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numpy as np

from .._core import count_of
from ..graphs import DirectedGraphEmbedding, Graph
from ..io import is_matrix_file, is_nameless, load, read_columns, read_graph, read_matrix, shown
from .report import PIPE, Report

MODEL = ".lopsided"
MOST_COMPARED = 10_000  # ids that may be meant by an unknown one


class Vectors(NamedTuple):
    """The vectors of an embedding, without its model."""

    nodes_: np.ndarray
    source_embedding_: np.ndarray
    target_embedding_: np.ndarray


@contextmanager
def as_file(given: str) -> Iterator[Path]:
    """The path of an input; standard input is copied to a temporary CSV file, whose separator is guessed."""
    if given != PIPE:
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin.csv"
        path.write_bytes(sys.stdin.buffer.read())
        try:
            yield path
        except ValueError as error:
            raise ValueError(str(error).replace(repr(str(path)), "standard input")) from error


def output_beside(given: str, ending: str) -> str:
    """The name of an input with another ending, in the working folder; standard output for standard input."""
    if given == PIPE:
        return PIPE
    name = Path(given).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] + ending


def read_input_graph(options: argparse.Namespace, report: Report) -> Graph:
    """The graph of a command, and lines that show how its columns were understood."""
    with as_file(options.graph if "graph" in options else options.data) as path, report.echo("lopsided.io"):
        if is_matrix_file(path):
            graph = read_graph(read_matrix(path)[0])
        else:
            names = {role: getattr(options, role) for role in ("source", "target", "weight")}
            graph = read_graph(path, header=options.header, **names)
    A, nodes = graph
    i = int(np.flatnonzero(np.diff(A.indptr))[0]) if A.nnz else 0
    first = f"; first edge {nodes[i]} -> {nodes[A.indices[A.indptr[i]]]}, weight {A.data[0]:g}" if A.nnz else ""
    size = f"{count_of(len(nodes), 'node')} and {count_of(A.nnz, 'edge')}"
    report.say(f"read {size}{first}", nodes=len(nodes), edges=A.nnz)
    return graph


def read_graph_or_model(options: argparse.Namespace, report: Report) -> Graph | DirectedGraphEmbedding:
    """The graph that is given, or the saved model."""
    if Path(options.graph).suffix.lower() != MODEL:
        return read_input_graph(options, report)
    idle = [name for name in ("source", "target", "weight", "header") if getattr(options, name) is not None]
    if idle:
        raise ValueError(f"--{idle[0]} describes a file of edges, but {options.graph} is a saved model; leave it out")
    model = load(options.graph)
    if not isinstance(model, DirectedGraphEmbedding):
        raise ValueError(
            f"{options.graph} holds a {type(model).__name__}, not an embedded graph; `lopsided embed --save` writes one"
        )
    report.say(f"loaded {count_of(len(model.nodes_), 'node')}", nodes=len(model.nodes_))
    return model


def nodes_of(given: Graph | DirectedGraphEmbedding) -> np.ndarray:
    """The ids of a graph or of a model."""
    return given.nodes if isinstance(given, Graph) else given.nodes_


def embed(
    given: Graph | DirectedGraphEmbedding, options: argparse.Namespace, report: Report, components: int
) -> DirectedGraphEmbedding:
    """Embed a graph with the options of the command line; a model is embedded already."""
    if not isinstance(given, Graph):
        return given
    model = DirectedGraphEmbedding(
        min(components, len(given.nodes)), kernel=getattr(options, "kernel", "auto"), **settings_of(options)
    ).fit(given)
    k = model.source_embedding_.shape[1]
    most = ", as many as there are nodes," if k < components else ""
    report.say(
        f"embedded in {count_of(k, 'component')}{most} by {model.solver_.name}", components=k, solver=model.solver_.name
    )
    return model


def settings_of(options: argparse.Namespace) -> dict[str, Any]:
    """The parameters that every estimator takes from the command line."""
    return {"random_state": options.seed, "n_jobs": options.jobs, "memory_budget": options.memory}


def known_ids(given: list[str], nodes: np.ndarray) -> list[Any]:
    """Ids from the command line as the graph holds them: numbers, if its ids are numbers."""
    by_text = {str(node): node for node in nodes.tolist()}
    unknown = next((name for name in given if name not in by_text), None)
    if unknown is not None:
        near = difflib.get_close_matches(unknown, itertools.islice(by_text, MOST_COMPARED), 1)
        such = f"did you mean {near[0]!r}?" if near else f"ids look like {next(iter(by_text))!r}"
        raise ValueError(f"{unknown!r} is not among the {count_of(len(nodes), 'id')}; {such}")
    return [by_text[name] for name in given]


def reject_unknown_ids(given: str, nodes: list[Any]) -> NoReturn:
    """Say that none of the ids in a file is one of the graph."""
    raise ValueError(f"no id in {given} is a node of the graph, whose ids look like {str(nodes[0])!r}")


def two_columns(given: str, second: str) -> tuple[np.ndarray, np.ndarray]:
    """The ids in a table, in the column called id or else the first, and the first of the other columns."""
    with as_file(given) as path:
        table = read_columns(path, lambda names: _id_first(names)[:1])
    columns = _id_first(list(table))
    if len(columns) < 2:
        raise ValueError(f"{given} has one column; it needs two, an id and {second}")
    return table[columns[0]], table[columns[1]]


def _id_first(names: list[str]) -> list[str]:
    """The names of columns, id before all others, without those of an index of pandas."""
    return sorted((name for name in names if not is_nameless(name)), key=lambda name: name.lower() != "id")


def is_empty(column: np.ndarray) -> np.ndarray:
    """Which cells of a column of a table are empty."""
    if column.dtype == object:
        return np.array([value is None for value in column], dtype=bool)
    return np.isnan(column) if column.dtype.kind == "f" else np.zeros(len(column), dtype=bool)


def numeric_table(
    given: str, leave_out: list[str], *, may_miss: bool = False
) -> tuple[Any, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Numbers, names of rows, names of columns and the columns left out, of a table or matrix file.

    A column called id names the rows, or one without a name, as pandas writes its index, or else a first one of text.
    """
    with as_file(given) as path:
        if is_matrix_file(path):
            X, y = read_matrix(path)
            return X, np.arange(X.shape[0]), np.arange(X.shape[1]), {} if y is None else {"label": y}
        columns = read_columns(path, lambda names: list(filter(_names_rows, names)))
    missing = [name for name in leave_out if name not in columns]
    if missing:
        raise ValueError(f"there is no {missing[0]!r} among the {shown_columns(list(columns))}")
    aside = {name: columns.pop(name) for name in leave_out}
    numbers = [columns.pop(name) for name in list(filter(_names_rows, columns))]
    rows: Any = numbers[-1] if numbers else None
    first = next(iter(columns), None)
    if rows is None and first is not None and columns[first].dtype == object:
        rows = columns.pop(first)
    empty = [name for name, column in columns.items() if is_empty(column).all()]
    if empty and len(empty) < len(columns):
        raise ValueError(f"there is nothing in {shown_columns(empty)}; leave a column out with --drop COLUMN")
    text = [name for name, column in columns.items() if column.dtype.kind not in "biuf"]
    if text or not columns:
        wrong = f"there is text in {shown_columns(text)}" if text else "there is no column of numbers"
        raise ValueError(f"{wrong}; leave a column out with --drop COLUMN")
    X = np.column_stack([column.astype(float) for column in columns.values()])
    names = np.array(list(columns), dtype=object)
    holes = np.argwhere(np.isnan(X))
    if len(holes) and not may_miss:
        row, j = holes[0]
        raise ValueError(
            f"{count_of(len(holes), 'cell is', 'cells are')} empty, the first in row {row + 1} of column {names[j]!r}; "
            "fill them in, remove those rows, or leave the column out with --drop"
        )
    return X, np.arange(len(X)) if rows is None else rows, names, aside


def _names_rows(name: str) -> bool:
    return is_nameless(name) or name.lower() == "id"


def shown_columns(names: list[str]) -> str:
    """The names of columns for a message."""
    return f"{'column' if len(names) == 1 else 'columns'} {shown(names)}"
