"""What DirectedGraphEmbedding costs: Pubmed beside scikit-network's Spectral, and a graph of a million nodes.

    python benchmarks/graphs_speed.py            both (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_speed.py --smoke    seconds of it on small generated graphs

pubmed: 128 components of each side by the default, 128 of one by Spectral, taking turns; medians.
million: a million nodes and five million edges (power law, seeded, single precision) in a process of its own, for its
memory.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from common import clock, in_child, load_graph, main, print_table, race
from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from peers import network_spectral

SEED = 0
COMPONENTS = 128


def pubmed(smoke: bool) -> dict[str, float]:
    """Seconds of both, and their ratio."""
    A = make_citation_graph(300, random_state=SEED)[0] if smoke else load_graph("pubmed")
    k = 20 if smoke else COMPONENTS
    tasks = {"DirectedGraphEmbedding": lambda: DirectedGraphEmbedding(k).fit(A)}
    if not smoke:
        tasks["sknetwork Spectral"] = lambda: network_spectral(A, k)
    seconds = race(tasks, 1 if smoke else 5)
    if not smoke:
        seconds["ratio"] = seconds["DirectedGraphEmbedding"] / seconds["sknetwork Spectral"]
    print_table(f"{A.shape[0]:,} nodes, {k} components, seconds", list(seconds), [list(seconds.values())])
    return seconds


def million(smoke: bool) -> dict[str, Any]:
    """Seconds and peak memory."""
    found = in_child(__file__, "embed", *((2_000, 16) if smoke else (1_000_000, COMPONENTS)))
    headings = ["nodes", "edges", "components", "threshold", "entries", "seconds"]
    shown = [*(found[name] for name in headings), found["peak_bytes"] / 1e9]
    print_table("DirectedGraphEmbedding", [*headings, "peak GB"], [shown])
    return found


def child_embed(nodes: str, components: str) -> dict[str, Any]:
    """Embed a generated graph."""
    A = make_citation_graph(int(nodes), mean_references=5.0, random_state=SEED)[0].astype(np.float32)
    seconds, model = clock(lambda: DirectedGraphEmbedding(int(components)).fit(A), 1)
    size = {"nodes": A.shape[0], "edges": A.nnz, "components": int(components)}
    kernel = {"threshold": model.kernel_.threshold_, "entries": sparse.csr_array(model.kernel_.matrix_).nnz}
    return size | {"seconds": seconds, "solver": str(model.solver_)} | kernel


if __name__ == "__main__":
    main(__file__, __doc__, {"pubmed": pubmed, "million": million}, {"embed": child_embed}, SEED)
