"""``lopsided classify``: classes for the unlabelled rows of a table, or nodes of a graph."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.linear_model import RidgeClassifierCV
from sklearn.model_selection import StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from ..._core import count_of
from ...io import is_matrix_file, read_columns, save
from ...least_squares import AsymmetricLSSVC
from ..inputs import (
    MODEL,
    as_file,
    embed,
    is_empty,
    numeric_table,
    read_input_graph,
    reject_unknown_ids,
    settings_of,
    shown_columns,
    two_columns,
)
from ..report import PIPE, Report, checked_output

FOLDS = 5
PENALTIES = np.logspace(-3, 3, 13)  # of which generalised cross-validation chooses


def run(options: argparse.Namespace) -> None:
    """Write a table id, class of the rows or nodes that have none yet."""
    output = checked_output(options.output or PIPE, options.force)
    if bool(options.label) == bool(options.labels):
        raise ValueError(f"give --label COLUMN for a table, or --labels FILE for a graph{_columns(options)}")
    if options.labels and (options.save or options.new or options.drop):
        raise ValueError("--save, --new and --drop are for tables; leave them out with --labels")
    report = Report(options)
    table = _nodes(options, report) if options.labels else _rows(options, report)
    report.write_table(table, output)
    report.finish()


def _columns(options: argparse.Namespace) -> str:
    """Which columns there are to choose from, unless a pipe would have to be read for that."""
    path = Path(options.data)
    if options.data == PIPE or is_matrix_file(path):
        return ""
    return f"; {path} has the {shown_columns(list(read_columns(path)))}"


def _rows(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    if options.save:
        checked_output(options.save, options.force, (MODEL,))
    X, rows, names, aside = numeric_table(options.data, [options.label, *options.drop])
    y = aside[options.label]
    known = ~is_empty(y)
    ids, unknown = _new_rows(options, names) if options.new else (rows[~known], X[~known])
    report.say(
        f"read {count_of(len(X), 'row')} of {count_of(len(names), 'number')}, {known.sum():,} of them with one of "
        f"{count_of(len(set(y[known].tolist())), 'class', 'classes')} in {options.label!r}",
        rows=len(X),
        labelled=int(known.sum()),
    )
    machine = AsymmetricLSSVC(**settings_of(options))
    model = make_pipeline(StandardScaler(), machine).fit(X[known], y[known])
    accuracy = float(model[-1].held_out_score_)
    report.say(f"leave-one-out accuracy {accuracy:.3f}; C = {model[-1].C_:.3g}", accuracy=accuracy)
    if options.save:
        save(model, options.save)
        report.wrote(options.save, "the model", role="model")
    if not len(ids):
        report.say("every row has a class; give further rows with --new FILE")
    return {"id": ids, "class": model.predict(unknown) if len(ids) else y[:0]}


def _new_rows(options: argparse.Namespace, names: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    with as_file(options.new) as path:
        present = [name for name in (options.label, *options.drop) if name in read_columns(path)]
    X, rows, found, _ = numeric_table(options.new, present)
    missing = [name for name in names if name not in found]
    if missing:
        raise ValueError(f"{options.new} has no column {missing[0]!r}, which {options.data} has")
    return rows, X[:, [found.tolist().index(name) for name in names]]


def _nodes(options: argparse.Namespace, report: Report) -> dict[str, Any]:
    graph = read_input_graph(options, report)
    ids, classes = two_columns(options.labels, "a class")
    number = {str(node): i for i, node in enumerate(graph.nodes.tolist())}
    places = np.array([number.get(str(id), -1) for id in ids.tolist()], dtype=np.intp)
    usable = ~is_empty(classes) & (places >= 0)
    if (places < 0).all():
        reject_unknown_ids(options.labels, graph.nodes.tolist())
    if (places < 0).any():
        absent = count_of((places < 0).sum(), f"id of {options.labels} is", f"ids of {options.labels} are")
        report.say(f"{absent} not in the graph, and left out")
    train, y = places[usable], classes[usable]
    if len(set(y.tolist())) < 2:
        raise ValueError(
            f"{options.labels} labels {count_of(len(y), 'node')} of the graph with "
            f"{count_of(len(set(y.tolist())), 'class', 'classes')}; at least two are needed"
        )
    model = embed(graph, options, report, options.k)
    vectors = np.hstack([model.source_embedding_, model.target_embedding_])
    machine = make_pipeline(StandardScaler(), RidgeClassifierCV(PENALTIES))
    if min(np.unique(y.astype(str), return_counts=True)[1]) >= FOLDS:
        folds = StratifiedKFold(FOLDS, shuffle=True, random_state=options.seed)
        accuracy = float(cross_val_score(machine, vectors[train], y, cv=folds).mean())
        report.say(f"{FOLDS}-fold cross-validated accuracy {accuracy:.3f} on the labelled nodes", accuracy=accuracy)
    rest = np.setdiff1d(np.arange(len(graph.nodes)), train)
    found = machine.fit(vectors[train], y).predict(vectors[rest]) if len(rest) else y[:0]
    return {"id": graph.nodes[rest], "class": found}
