"""Classes of nodes from embeddings of the graph: ours and the peers, beside degrees alone.

    python benchmarks/graphs_nodes.py                    all graphs (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_nodes.py --graphs choose    those on which defaults are chosen; "report", or names
    python benchmarks/graphs_nodes.py --methods default  some methods; the others keep the results of earlier runs
    python benchmarks/graphs_nodes.py --table            the tables of earlier runs
    python benchmarks/graphs_nodes.py ablation           the constants of the default, changed one at a time
    python benchmarks/graphs_nodes.py --smoke            seconds of it on a generated graph

Every method sees the graph without its labels and gives each node a source and a target vector of 128 components side
by side, or one vector. Ours are those of fit_transform; peers' are as they are or of length one, whichever comes out
better in the end. "degrees" are cubic polynomials of the logarithms of the out- and the in-degree. Linear LS-SVM with
C = 1, ten splits, 60 % of the nodes for training, the same for all; means. With several labels per node, each test node
is given as many as it has. Undirected graphs have both directions of every edge. DiGAE has the 64 and 32 components of
its authors.

ablation: the default on five small graphs of the first half, five splits. Rows named "walks" follow random walks where
a graph of this size would be solved densely, as graphs of more than 4,096 nodes are.
"""

from __future__ import annotations

import time
import warnings
from functools import partial
from typing import Any

import numpy as np
from sklearn.base import clone

import graphsets
from common import ablated, parser, print_ablation, print_matrix, print_shortfalls, save, shown, stored
from contenders import NODE_METHODS, PACKAGES, TOLERANCES, features
from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import classify_nodes
from lopsided.graphs.kernel_choice import PROXIMITY

SEED = 0
COMPONENTS, SPLITS = 128, 10
CLASSES = ("micro", "macro")
SCORES = {"micro": "micro F1", "macro": "macro F1", "seconds": "seconds of the embedding, one run"}
ABLATION_GRAPHS, ABLATION_SPLITS = ("webkb-texas", "telegram", "airports-europe", "twitch-pt", "cora"), 5
DIFFUSION = "kernels.graph.diffusion"
WALKS = {f"{DIFFUSION}.ALWAYS_DENSE_NODES": 0, f"{DIFFUSION}.WELL_FILLED": 1.0}
ABLATION: dict[str, dict[str, Any]] = {
    "defaults": {},
    "most weight 1": {"graphs.blend.MOST_WEIGHT": 1.0},
    "most weight 2": {"graphs.blend.MOST_WEIGHT": 2.0},
    "most weight 16": {"graphs.blend.MOST_WEIGHT": 16.0},
    "mutual weight 1": {"graphs.blend.MUTUAL_WEIGHT": 1.0},
    "mutual weight 4": {"graphs.blend.MUTUAL_WEIGHT": 4.0},
    "no degrees": {"graphs.blend.DEGREE_WEIGHT": 0.0},
    "degree weight 0.25": {"graphs.blend.DEGREE_WEIGHT": 0.25},
    "degree weight 1": {"graphs.blend.DEGREE_WEIGHT": 1.0},
    **{
        f"{name} {value}": {"graphs.kernel_choice.PROXIMITY": clone(PROXIMITY).set_params(**{name: value})}
        for name, value in (
            ("restart", 0.1),
            ("restart", 0.4),
            ("transform", "log"),
            ("transform", None),
            ("direction", "both"),
        )
    },
    "proximity width 1": {"graphs.kernel_choice.PROXIMITY_WIDTH": 1},
    "links width 2": {"graphs.kernel_choice.LINKS_WIDTH": 2},
    "finest threshold 1e-3": {f"{DIFFUSION}.FINEST_THRESHOLD": 1e-3},
    "finest threshold 1e-5": {f"{DIFFUSION}.FINEST_THRESHOLD": 1e-5},
    "walks, at least 2^20 entries": WALKS,
    "walks, at least 2^16 entries": {**WALKS, f"{DIFFUSION}.ENTRIES_AT_LEAST": 1 << 16},
    **{
        f"walks, {count} entries per node": {
            **WALKS,
            f"{DIFFUSION}.ENTRIES_AT_LEAST": 0,
            f"{DIFFUSION}.ENTRIES_PER_NODE": count,
        }
        for count in (16, 64, 256)
    },
}
KATZ_ABLATION: dict[str, dict[str, Any]] = {
    f"Katz, beta {share} of the largest": {"kernels.graph.katz.BETA_SHARE": share} for share in (0.1, 0.5, 0.9)
}


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
    """A table for each score, and what falls short."""
    for score, title in SCORES.items():
        cells = {graph: {name: one.get(score) for name, one in found.items()} for graph, found in record.items()}
        print_matrix(title, cells, NODE_METHODS)
    print_shortfalls(record, {score: SCORES[score] for score in CLASSES}, "default")


def ablation(graphs: dict[str, graphsets.Labelled], k: int, splits: int, *, smoke: bool = False) -> dict[str, Any]:
    """Classes by the default, and by Katz, under every change."""
    found = {}
    tolerances: list[tuple[str, dict[str, Any]]] = [(name, {name: {}}) for name in TOLERANCES]
    for method, changes in (("default", ABLATION), *tolerances, ("Katz", KATZ_ABLATION)):
        cases = {name: partial(evaluate, method, graph, k, splits) for name, graph in graphs.items()}
        found |= ablated(changes, cases, smoke=smoke)
    print_ablation(found, {score: SCORES[score] for score in CLASSES})
    return found


def main() -> None:
    """Run what was asked for."""
    command = parser(__doc__)
    command.add_argument("part", nargs="?", choices=("ablation",), help="instead of the tables")
    command.add_argument("--graphs", nargs="*", default=["choose", "report"], help="names, choose or report")
    command.add_argument("--methods", nargs="*", choices=NODE_METHODS, default=NODE_METHODS)
    command.add_argument("--table", action="store_true", help="the tables of earlier runs")
    options = command.parse_args()
    warnings.simplefilter("ignore", LopsidedWarning)  # rows of nodes without edges cannot be normalised
    if options.smoke:
        names = [name for name in NODE_METHODS if name not in PACKAGES]
        show({"generated": {name: evaluate(name, graphsets.generated(), 20, 2) for name in names}})
        ablation({"generated": graphsets.generated()}, 20, 1, smoke=True)
        return print("smoke run finished:", ", ".join(names))
    if options.part:
        found = ablation({name: graphsets.load(name) for name in ABLATION_GRAPHS}, COMPONENTS, ABLATION_SPLITS)
        return save("graphs_nodes", {"ablation": found}, SEED)
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
