"""What DirectedGraphEmbedding costs beside scikit-network's SVD: Pubmed, and graphs of 100,000 and a million nodes.

    python benchmarks/graphs_speed.py            all (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_speed.py pubmed     one of pubmed, large and million
    python benchmarks/graphs_speed.py --smoke    seconds of it on small generated graphs

128 components of each side. Every fit runs in a process of its own, for its memory; ours and theirs take turns, three
times on Pubmed. Medians of wall time and of CPU seconds, all threads included, which a busy machine disturbs less.
Generated graphs have five edges per node, a power law of degrees, and single precision.
"""

from __future__ import annotations

import os
import statistics
import time
from typing import Any

import numpy as np
from scipy import sparse

from common import in_child, load_graph, main, print_table
from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from peers import network_svd

SEED = 0
COMPONENTS, TINY = 128, 16
FITS = {
    "DirectedGraphEmbedding": lambda A, k: DirectedGraphEmbedding(k).fit(A),
    "sknetwork SVD": network_svd,
}
MEASURED = ("seconds", "cpu_seconds", "peak_bytes")


def pubmed(smoke: bool) -> dict[str, Any]:
    """Pubmed, medians of three."""
    return compare("pubmed", smoke, 3)


def large(smoke: bool) -> dict[str, Any]:
    """A hundred thousand nodes, once."""
    return compare("100000", smoke, 1)


def million(smoke: bool) -> dict[str, Any]:
    """A million nodes, once."""
    return compare("1000000", smoke, 1)


def compare(graph: str, smoke: bool, repeats: int) -> dict[str, Any]:
    """Costs of both, and their ratios."""
    names = list(FITS)[:1] if smoke else list(FITS)  # a smoke run does without peers' packages
    wanted = ("400", TINY) if smoke else (graph, COMPONENTS)
    found: dict[str, list[dict[str, Any]]] = {name: [] for name in names}
    for turn in range(1 if smoke else repeats):
        for name in names[:: -1 if turn % 2 else 1]:
            found[name].append(in_child(__file__, "embed", name, *wanted))
    costs = {
        name: {cost: statistics.median(one[cost] for one in runs) for cost in MEASURED} for name, runs in found.items()
    }
    if not smoke:
        ours, theirs = costs.values()
        costs["ratio"] = {cost: ours[cost] / theirs[cost] for cost in MEASURED}
    size = {name: found[names[0]][0][name] for name in ("nodes", "edges", "components")}
    title = "{nodes:,} nodes, {edges:,} edges, {components} components of each side".format(**size)
    print_table(title, ["", *MEASURED], [[name, *one.values()] for name, one in costs.items()])
    return size | costs


def child_embed(method: str, graph: str, components: str) -> dict[str, Any]:
    """Embed a graph by a method."""
    A, k = load(graph), int(components)
    start, busy = time.perf_counter(), cpu_seconds()
    FITS[method](A, k)
    spent = {"seconds": time.perf_counter() - start, "cpu_seconds": cpu_seconds() - busy}
    return {"nodes": A.shape[0], "edges": A.nnz, "components": k} | spent


def load(graph: str) -> sparse.csr_array:
    """A stored graph, or a generated one of so many nodes."""
    if graph.isdigit():
        return make_citation_graph(int(graph), mean_references=5.0, random_state=SEED)[0].astype(np.float32)
    return load_graph(graph)


def cpu_seconds() -> float:
    """Processor time of this process and of its children that have ended."""
    spent = os.times()
    return spent.user + spent.system + spent.children_user + spent.children_system


if __name__ == "__main__":
    main(__file__, __doc__, {"pubmed": pubmed, "large": large, "million": million}, {"embed": child_embed}, SEED)
