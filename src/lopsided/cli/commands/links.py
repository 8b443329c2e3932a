"""``lopsided links``: suggest new edges of a directed graph, or score given ones."""

import argparse
from typing import Any

import numpy as np
from scipy import sparse

from ..._core import best_first
from ...graphs import reverse_scores
from ...io import plain_ids, read_columns
from ..inputs import as_file, embedding_of, known_ids
from ..report import PIPE, Report, checked_output


def run(options: argparse.Namespace) -> None:
    """Write a table source, target, score."""
    output = checked_output(options.output or PIPE, options.force)
    if options.pairs and options.of:
        raise ValueError("--pairs scores given edges and --of suggests new ones; give one of them")
    if options.k < 1:
        raise ValueError(f"-k {options.k} must be at least 1")
    report = Report(options)
    model = embedding_of(options, report, options.components)
    report.write_table(_scored(model, options.pairs) if options.pairs else _suggested(model, options), output)
    report.finish()


def _scored(model: Any, pairs: str) -> dict[str, Any]:
    with as_file(pairs) as path:
        columns = list(read_columns(path).values())
    if len(columns) < 2:
        raise ValueError(f"{pairs} has one column; pairs need two, a source and a target")
    source, target = (known_ids([str(id) for id in column.tolist()], model.nodes_) for column in columns[:2])
    u, v = (np.fromiter(side, model.nodes_.dtype, len(side)) for side in (source, target))
    return _table(u, v, model.score_edges(source, target))


def _suggested(model: Any, options: argparse.Namespace) -> dict[str, Any]:
    nodes, n = model.nodes_, len(model.nodes_)
    rows = np.arange(n)
    if options.of:
        number = {node: i for i, node in enumerate(nodes.tolist())}
        rows = np.array([number[node] for node in known_ids(options.of, nodes)])
    itself = sparse.eye_array(n, format="csr")
    sources, targets = model.edge_vectors()
    leave_out = itself if options.known else sparse.csr_array(model.adjacency_ + itself)
    found = best_first(sources, targets, rows, options.k, leave_out, reverse_scores(model))
    return _table(nodes[found.left], nodes[found.right], found.scores)


def _table(source: np.ndarray, target: np.ndarray, scores: Any) -> dict[str, Any]:
    return {"source": plain_ids(source), "target": plain_ids(target), "score": np.asarray(scores, dtype=float)}
