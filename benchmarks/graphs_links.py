"""Hidden edges of graphs: our scores and recommendations, the peers, and heuristics.

    python benchmarks/graphs_links.py                    all graphs (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_links.py --graphs choose    those on which defaults are chosen; "report", or names
    python benchmarks/graphs_links.py --methods default  some methods; the others keep the results of earlier runs
    python benchmarks/graphs_links.py --seeds 1          fewer draws than three
    python benchmarks/graphs_links.py --table            the tables of earlier runs
    python benchmarks/graphs_links.py ablation           constants of the learned decoder, changed one at a time
    python benchmarks/graphs_links.py --smoke            seconds of it on generated graphs

128 components of each side, DiGAE 64 and 32. Ours by score_edges and nearest_targets as they come, with the learned
decoder or, where the name says so, by factors; peers' vectors by product or by distance, whichever comes out better in
each score. Medians over draws of the hidden edges.

half-reversed: a tenth of the edges hidden, as many pairs that are no edges, half of them hidden edges turned round,
which only a method that knows directions can tell apart. Undirected graphs have none, and are left out.

public: the benchmark of He et al. (Rethinking link prediction for directed graphs, 2025): the largest component, 80 %
of the edges to learn from, which connect it, 15 % hidden, as many uniform pairs. Hits@k, mean reciprocal rank, AUC, AP.

recall: the share of the hidden edges of the first protocol among the 20 best new targets of their sources, of 2,000
sources where there are more. An edge of an undirected graph is hidden, and wanted, in both directions.

ablation: the default on four small graphs of the first half, two draws.
"""

from __future__ import annotations

import time
import warnings
from typing import Any, NamedTuple

import numpy as np

import graphsets
from common import ablated, parser, print_ablation, print_matrix, print_shortfalls, save, shown, stored
from contenders import LINK_METHODS, PACKAGES, scorers
from linkprotocols import Split, half_reversed, public, recall, separation
from lopsided.exceptions import LopsidedWarning

SEED = 0
COMPONENTS, DRAWS = 128, 3
SCORES = {
    "half-reversed AUC": "AUC, half of the negative pairs reversed edges (directed graphs)",
    "half-reversed AP": "Average precision, half of the negative pairs reversed edges (directed graphs)",
    "public Hits@100": "Hits@100, uniform negative pairs",
    "public AUC": "AUC, uniform negative pairs",
    "public AP": "Average precision, uniform negative pairs",
    "recall": "Recall@20 of hidden targets",
    "seconds": "Seconds of one fit",
}
PUBLIC = ("Hits@20", "Hits@50", "Hits@100", "MRR", "AUC", "AP")
PUBLISHED = {"amazon-photo": {"STRAP": 0.692, "SDGAE": 0.688}, "amazon-computers": {"STRAP": 0.519, "SDGAE": 0.538}}

ABLATION_GRAPHS, ABLATION_DRAWS = ("webkb-texas", "telegram", "airports-europe", "cora"), 2
ABLATION: dict[str, dict[str, Any]] = {
    "defaults": {},
    "1 uniform negative pair per edge": {"graphs.trials.UNIFORM_NEGATIVES": 1},
    "20 uniform negative pairs per edge": {"graphs.trials.UNIFORM_NEGATIVES": 20},
    "hidden share 0.05": {"graphs.trials.HIDDEN_SHARE": 0.05},
    "hidden share 0.2": {"graphs.trials.HIDDEN_SHARE": 0.2},
    "50 hidden edges are enough": {"graphs.trials.ENOUGH_HIDDEN": 50},
    "2000 hidden edges are enough": {"graphs.trials.ENOUGH_HIDDEN": 2000},
    "all triplets score": {"graphs.learn_decoder.simplest_of_the_best": lambda losses: 0},
    "the most likely number of triplets": {
        "graphs.learn_decoder.simplest_of_the_best": lambda losses: int(np.argmin([each.sum() for each in losses]))
    },
}


class Draw(NamedTuple):
    """Hidden edges by both protocols."""

    seed: int
    directed: bool
    reversed: Split
    public: Split

    @classmethod
    def of(cls, graph: graphsets.Labelled, seed: int) -> Draw:
        """Hide edges of a graph."""
        return cls(seed, graph.directed, half_reversed(graph, seed), public(graph, seed))


def draws_of(name: str, count: int) -> list[Draw]:
    """Draws of hidden edges of a stored graph."""
    graph = graphsets.load(name)
    return [Draw.of(graph, SEED + draw) for draw in range(count)]


def evaluate(method: str, draw: Draw, k: int) -> dict[str, float]:
    """All scores of a method for one draw of hidden edges; the better decoder of each."""
    found: dict[str, list[float]] = {}
    start = time.perf_counter()
    fitted = scorers(method, draw.reversed.adjacency, k, draw.seed)
    found["seconds"] = [time.perf_counter() - start]
    for scorer in fitted:
        if draw.directed:
            _keep(found, "half-reversed ", separation(scorer, draw.reversed))
        _keep(found, "", {"recall": recall(scorer, draw.reversed, draw.directed)})
    for scorer in scorers(method, draw.public.adjacency, k, draw.seed):
        _keep(found, "public ", separation(scorer, draw.public))
    return {name: max(values) for name, values in found.items()}


def _keep(found: dict[str, list[float]], prefix: str, scores: dict[str, float]) -> None:
    for name, value in scores.items():
        found.setdefault(prefix + name, []).append(value)


def median(draws: list[dict[str, float]]) -> dict[str, float]:
    """The median of each score, and of how many it is."""
    return {name: float(np.median([draw[name] for draw in draws])) for name in draws[0]} | {"draws": len(draws)}


def show(record: dict[str, Any]) -> None:
    """A table for each score, the public benchmark's of the graphs for which it has figures, and what falls short."""
    for score, title in SCORES.items():
        cells = {graph: {name: one.get(score) for name, one in found.items()} for graph, found in record.items()}
        print_matrix(title, {graph: column for graph, column in cells.items() if any(column.values())}, LINK_METHODS)
    for graph, published in PUBLISHED.items():
        if graph in record:
            cells = {score: {name: one[f"public {score}"] for name, one in record[graph].items()} for score in PUBLIC}
            cells["Hits@100"] |= {f"{name}, published": value for name, value in published.items()}
            rows = (*LINK_METHODS, *(f"{name}, published" for name in published))
            print_matrix(f"The public benchmark, {graph}", cells, rows)
    print_shortfalls(record, {score: score for score in SCORES if score != "seconds"}, "default")


def ablation(drawn: dict[str, list[Draw]], k: int, *, smoke: bool = False) -> dict[str, Any]:
    """Links by the default under every change."""
    cases = {
        name: lambda draws=draws: median([evaluate("default", draw, k) for draw in draws])
        for name, draws in drawn.items()
    }
    found = ablated(ABLATION, cases, smoke=smoke)
    print_ablation(found, {score: title for score, title in SCORES.items() if score != "seconds"})
    return found


def main() -> None:
    """Run what was asked for."""
    command = parser(__doc__)
    command.add_argument("part", nargs="?", choices=("ablation",), help="instead of the tables")
    command.add_argument("--graphs", nargs="*", default=["choose", "report"], help="names, choose or report")
    command.add_argument("--methods", nargs="*", choices=LINK_METHODS, default=LINK_METHODS)
    command.add_argument("--seeds", type=int, default=DRAWS, help="draws of hidden edges")
    command.add_argument("--table", action="store_true", help="the tables of earlier runs")
    options = command.parse_args()
    warnings.simplefilter("ignore", LopsidedWarning)  # hiding edges leaves nodes without any
    if options.smoke:
        names = [name for name in LINK_METHODS if name not in PACKAGES]
        graphs = {f"directed {directed}": graphsets.generated(directed) for directed in (True, False)}
        draws = {graph: Draw.of(one, SEED) for graph, one in graphs.items()}
        show({graph: {name: evaluate(name, draw, 20) for name in names} for graph, draw in draws.items()})
        ablation({graph: [draw] for graph, draw in draws.items()}, 20, smoke=True)
        return print("smoke run finished:", ", ".join(names))
    if options.part:
        drawn = {name: draws_of(name, ABLATION_DRAWS) for name in ABLATION_GRAPHS}
        return save("graphs_links", {"ablation": ablation(drawn, COMPONENTS)}, SEED)
    names = graphsets.named(options.graphs)
    record = {name: found for name in names if (found := stored("graphs_links", name))}
    for name in () if options.table else names:
        found, draws = record.setdefault(name, {}), draws_of(name, options.seeds)
        for method in options.methods:
            found[method] = median([evaluate(method, draw, COMPONENTS) for draw in draws])
            save("graphs_links", {name: found}, SEED)
            print(f"{name}, {method}: {shown(found[method])}", flush=True)
    show(record)


if __name__ == "__main__":
    main()
