"""``lopsided explore``: a page with sources and targets as linked scatter plots."""

import argparse
from pathlib import Path
from typing import Any

import numpy as np

from ..._core import count_of
from ...explore import write_page
from ...io import is_matrix_file, read_columns
from ..inputs import (
    Vectors,
    as_file,
    embed,
    nodes_of,
    output_beside,
    read_graph_or_model,
    reject_unknown_ids,
    two_columns,
)
from ..report import PIPE, Report, checked_output

SIDES = ("source", "target")


def run(options: argparse.Namespace) -> None:
    """Write the page."""
    output = options.output or ("graph.html" if options.graph == PIPE else output_beside(options.graph, ".html"))
    if output == PIPE:
        raise ValueError("a page cannot be written to standard output; name a file with -o")
    checked_output(output, options.force, (".html", ".htm"))
    report = Report(options)
    vectors = _vectors(options.graph, report)
    given = read_graph_or_model(options, report) if vectors is None else None
    labels = None
    if options.labels:
        labels = _labels(options.labels, (vectors.nodes_ if given is None else nodes_of(given)).tolist())
        report.say(f"{count_of(len(labels), 'node has a label', 'nodes have labels')}", labelled=len(labels))
    model = vectors if given is None else embed(given, options, report, options.k)
    title = "Directed graph" if options.graph == PIPE else Path(options.graph).name
    write_page(model, output, labels=labels, title=title, layout=options.layout)
    report.wrote(output, count_of(len(model.nodes_), "node"), "; open it in a browser")
    report.finish()


def _vectors(given: str, report: Report) -> Any:
    """The vectors in a table with the columns of `lopsided embed`; None for anything else."""
    path = Path(given)
    if given == PIPE or is_matrix_file(path) or path.suffix.lower() not in (".csv", ".tsv", ".parquet"):
        return None
    with as_file(given) as file:
        try:
            columns = read_columns(file, lambda names: [name for name in names if name == "id"])
        except ValueError:  # of no regular table; as a file of edges it gets a better message
            return None
    sides = [[column for name, column in columns.items() if name.startswith(f"{side}_")] for side in SIDES]
    if "id" not in columns or not all(sides):
        return None
    source, target = (np.column_stack(side).astype(float) for side in sides)
    if source.shape != target.shape or not np.isfinite(source).all() or not np.isfinite(target).all():
        raise ValueError(f"{given} must have as many source_ as target_ columns, all of finite numbers")
    report.say(
        f"read the vectors of {count_of(len(source), 'node')}; for best targets give the model that "
        "`lopsided embed --save` writes",
        nodes=len(source),
    )
    return Vectors(columns["id"], source, target)


def _labels(given: str, nodes: list[Any]) -> dict[Any, str]:
    """The labels of those nodes that have one."""
    ids, names = two_columns(given, "a label")
    pairs = zip(ids.tolist(), names.tolist(), strict=True)
    label_of = {str(id): str(label) for id, label in pairs if label is not None}
    labels = {node: label_of[str(node)] for node in nodes if str(node) in label_of}
    if not labels:
        reject_unknown_ids(given, nodes)
    return labels
