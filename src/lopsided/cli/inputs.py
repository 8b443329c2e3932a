"""Graphs, tables and models that commands take, from files and pipes."""

import argparse
import errno
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..graphs import DirectedGraphEmbedding, Graph
from ..io import is_matrix_file, load, read_columns, read_graph, read_matrix
from .report import PIPE, Report

MODEL = ".lopsided"
MOST_SHOWN = 8  # columns named in a message


@contextmanager
def as_file(given: str) -> Iterator[Path]:
    """The path of an input; standard input is copied to a temporary CSV file, whose separator is guessed."""
    if given != PIPE:
        if not Path(given).exists():
            raise FileNotFoundError(errno.ENOENT, "there is no such file", given)
        if Path(given).is_dir():
            raise ValueError(f"{given} is a folder; name a file in it")
        yield Path(given)
        return
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "stdin.csv"
        path.write_bytes(sys.stdin.buffer.read())
        yield path


def output_beside(given: str, ending: str) -> str:
    """The name of an input with another ending, in the working folder; standard output for standard input."""
    if given == PIPE:
        return PIPE
    name = Path(given).name
    return name.removesuffix(".gz").rsplit(".", 1)[0] + ending


def read_edges(options: argparse.Namespace, report: Report) -> Graph:
    """The graph of a command, and a line that shows how its columns were understood."""
    with as_file(options.graph if "graph" in options else options.data) as path:
        if is_matrix_file(path):
            graph = read_graph(read_matrix(path)[0])
        else:
            names = {role: getattr(options, role) for role in ("source", "target", "weight")}
            graph = _with_options(lambda: read_graph(path, header=options.header, **names))
    A, nodes = graph
    i = int(np.flatnonzero(np.diff(A.indptr))[0]) if A.nnz else 0
    first = f"; first edge {nodes[i]} -> {nodes[A.indices[A.indptr[i]]]}, weight {A.data[0]:g}" if A.nnz else ""
    report.say(f"read {len(nodes):,} nodes and {A.nnz:,} edges{first}", nodes=len(nodes), edges=A.nnz)
    return graph


def _with_options(read: Any) -> Any:
    """Advice of the library in the words of the command line."""
    try:
        return read()
    except ValueError as error:
        text = str(error).replace("read_graph(table, source=..., target=...)", "--source COLUMN --target COLUMN")
        raise ValueError(text) from None


def embedding_of(options: argparse.Namespace, report: Report, components: int) -> DirectedGraphEmbedding:
    """The saved model that is given, or the embedding of the graph that is given."""
    if Path(options.graph).suffix.lower() == MODEL:
        model = load(options.graph)
        if not isinstance(model, DirectedGraphEmbedding):
            raise ValueError(f"{options.graph} holds a {type(model).__name__}, and no embedded graph")
        report.say(f"loaded {len(model.nodes_):,} nodes", nodes=len(model.nodes_))
        return model
    return embed(read_edges(options, report), options, report, components)


def embed(graph: Graph, options: argparse.Namespace, report: Report, components: int) -> DirectedGraphEmbedding:
    """Embed a graph with the options of the command line."""
    model = DirectedGraphEmbedding(
        min(components, len(graph.nodes)) if components > 0 else components,
        kernel=getattr(options, "kernel", "auto"),
        random_state=options.seed,
        n_jobs=options.jobs,
        memory_budget=options.memory,
    ).fit(graph)
    k = len(model.singular_values_)
    report.say(f"embedded with {k} components by {model.solver_.name}", components=k, solver=model.solver_.name)
    return model


def known_ids(given: list[str], nodes: np.ndarray) -> list[Any]:
    """Ids from the command line as the graph holds them: numbers, if its ids are numbers."""
    by_text = {str(node): node for node in nodes.tolist()}
    unknown = [name for name in given if name not in by_text]
    if unknown:
        raise ValueError(f"{unknown[0]!r} is not among the {len(nodes):,} ids, such as {next(iter(by_text))!r}")
    return [by_text[name] for name in given]


def numeric_table(given: str, leave_out: list[str]) -> tuple[Any, np.ndarray, np.ndarray, dict[str, np.ndarray]]:
    """Numbers, names of rows, names of columns and the columns left out, of a table or matrix file."""
    with as_file(given) as path:
        if is_matrix_file(path):
            X, y = read_matrix(path)
            return X, np.arange(X.shape[0]), np.arange(X.shape[1]), {} if y is None else {"label": y}
        columns = read_columns(path)
    missing = [name for name in leave_out if name not in columns]
    if missing:
        raise ValueError(f"there is no column {missing[0]!r} among {_shown(list(columns))}")
    aside = {name: columns.pop(name) for name in leave_out}
    first = next(iter(columns), None)
    rows: Any = None
    if first is not None and columns[first].dtype == object:
        rows = columns.pop(first)
    text = [name for name, column in columns.items() if column.dtype.kind not in "biuf"]
    if text or not columns:
        wrong = f"columns {_shown(text)} hold text" if text else "there is no column of numbers"
        raise ValueError(f"{wrong}; leave them out with --drop" if "label" in aside or leave_out else wrong)
    X = np.column_stack([column.astype(float) for column in columns.values()])
    return X, np.arange(len(X)) if rows is None else rows, np.array(list(columns), dtype=object), aside


def _shown(names: list[str]) -> str:
    return ", ".join(map(repr, names[:MOST_SHOWN])) + (", ..." if len(names) > MOST_SHOWN else "")
