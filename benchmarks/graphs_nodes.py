"""Classes of nodes from embeddings of the graph: ours and the peers, beside degrees alone.

    python benchmarks/graphs_nodes.py                    all graphs (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_nodes.py --graphs choose    those on which defaults are chosen; "report", or names
    python benchmarks/graphs_nodes.py --methods default  some methods; the others keep the results of earlier runs
    python benchmarks/graphs_nodes.py --table            the tables of earlier runs
    python benchmarks/graphs_nodes.py --smoke            seconds of it on a generated graph

Every method sees the graph without its labels and gives each node a source and a target vector of 128 components side
by side, or one vector. Ours are those of fit_transform; peers' are as they are or of length one, whichever comes out
better in the end. "degrees" are cubic polynomials of the logarithms of the out- and the in-degree. Linear LS-SVM with
C = 1, ten splits, 60 % of the nodes for training, the same for all; means. With several labels per node, each test node
is given as many as it has. Undirected graphs have both directions of every edge. DiGAE has the 64 and 32 components of
its authors.
"""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np

import graphsets
from common import parser, print_matrix, save, shown, stored
from contenders import NODE_METHODS, PACKAGES, features
from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import classify_nodes

SEED = 0
COMPONENTS, SPLITS = 128, 10
SCORES = {"micro": "micro F1", "macro": "macro F1", "seconds": "seconds of the embedding, one run"}


def evaluate(method: str, graph: graphsets.Labelled, k: int, splits: int) -> dict[str, float]:
    """Mean F1 scores of a method on a graph."""
    start = time.perf_counter()
    candidates = features(method, graph.adjacency, min(k, graph.adjacency.shape[0]), SEED)
    seconds = time.perf_counter() - start
    found = [classify_nodes(X, graph.labels, n_splits=splits, random_state=SEED) for X in candidates]
    best = max(found, key=lambda scores: scores.micro_f1.mean() + scores.macro_f1.mean())
    return {
        "micro": float(best.micro_f1.mean()),
        "macro": float(best.macro_f1.mean()),
        "deviation": float(np.std(best.micro_f1)),
        "seconds": seconds,
    }


def show(record: dict[str, Any]) -> None:
    """A table for each score."""
    for score, title in SCORES.items():
        cells = {graph: {name: one.get(score) for name, one in found.items()} for graph, found in record.items()}
        print_matrix(title, cells, NODE_METHODS)


def main() -> None:
    """Run what was asked for."""
    command = parser(__doc__)
    command.add_argument("--graphs", nargs="*", default=["choose", "report"], help="names, choose or report")
    command.add_argument("--methods", nargs="*", choices=NODE_METHODS, default=NODE_METHODS)
    command.add_argument("--table", action="store_true", help="the tables of earlier runs")
    options = command.parse_args()
    warnings.simplefilter("ignore", LopsidedWarning)  # rows of nodes without edges cannot be normalised
    if options.smoke:
        names = [name for name in NODE_METHODS if name not in PACKAGES]
        show({"generated": {name: evaluate(name, graphsets.generated(), 20, 2) for name in names}})
        return print("smoke run finished:", ", ".join(names))
    names = graphsets.named(options.graphs)
    record = {name: found for name in names if (found := stored("graphs_nodes", name))}
    for name in () if options.table else names:
        graph, found = graphsets.load(name), record.setdefault(name, {})
        for method in options.methods:
            found[method] = evaluate(method, graph, COMPONENTS, SPLITS)
            save("graphs_nodes", {name: found}, SEED)
            print(f"{name}, {method}: {shown(found[method])}", flush=True)
    show(record)


if __name__ == "__main__":
    main()
