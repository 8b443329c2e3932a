"""``lopsided links``: suggest new edges of a directed graph, or score given ones."""

import argparse
from typing import Any

import numpy as np
from scipy import sparse

from ..._core import best_first
from ...graphs import reverse_scores
from ...io import plain_ids, read_edges
from ..inputs import as_file, embed, known_ids, nodes_of, read_graph_or_model
from ..report import PIPE, Report, checked_output


def run(options: argparse.Namespace) -> None:
    """Write a table source, target, score."""
    output = checked_output(options.output or PIPE, options.force)
    if options.pairs and options.of:
        raise ValueError("--pairs scores given edges and --of suggests new ones; give only one of them")
    report = Report(options)
    given = read_graph_or_model(options, report)
    nodes = nodes_of(given)
    pairs = _pairs(options.pairs, nodes) if options.pairs else None
    wanted = known_ids(options.of, nodes) if options.of else nodes.tolist()
    model = embed(given, options, report, options.components)
    report.write_table(_scored(model, *pairs) if pairs else _suggested(model, wanted, options), output)
    report.finish()


def _pairs(given: str, nodes: np.ndarray) -> tuple[list[Any], list[Any]]:
    with as_file(given) as path:
        edges = read_edges(path, known={str(node) for node in nodes.tolist()})
    ends = (edges.nodes[side].tolist() for side in (edges.source, edges.target))
    source, target = (known_ids([str(id) for id in ids], nodes) for ids in ends)
    return source, target


def _scored(model: Any, source: list[Any], target: list[Any]) -> dict[str, Any]:
    u, v = (np.fromiter(side, model.nodes_.dtype, len(side)) for side in (source, target))
    return _table(u, v, model.score_edges(source, target))


def _suggested(model: Any, wanted: list[Any], options: argparse.Namespace) -> dict[str, Any]:
    nodes, n = model.nodes_, len(model.nodes_)
    number = {node: i for i, node in enumerate(nodes.tolist())}
    rows = np.array([number[node] for node in wanted])
    itself = sparse.eye_array(n, format="csr")
    sources, targets = model.edge_vectors()
    leave_out = itself if options.known else sparse.csr_array(model.adjacency_ + itself)
    found = best_first(sources, targets, rows, options.k, leave_out, reverse_scores(model))
    return _table(nodes[found.left], nodes[found.right], found.scores)


def _table(source: np.ndarray, target: np.ndarray, scores: Any) -> dict[str, Any]:
    return {"source": plain_ids(source), "target": plain_ids(target), "score": np.asarray(scores, dtype=np.float32)}
