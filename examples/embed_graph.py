"""Embed a graph from a file of edges, then find targets of known and new nodes, similar nodes, classes and links."""

from __future__ import annotations

import csv
import tempfile
from pathlib import Path

import numpy as np

from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from lopsided.graphs import classify_nodes, evaluate_links, hide_edges, reconstruct_graph
from lopsided.kernels import NodeKernel

SEED = 2026


def write_edges(path: Path) -> np.ndarray:
    """Write a generated citation graph to a CSV file of edges, and return the classes of its nodes."""
    A, labels = make_citation_graph(1500, random_state=SEED)
    with path.open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["source", "target"])
        writer.writerows([f"paper-{i}", f"paper-{j}"] for i, j in zip(*A.nonzero(), strict=True))
    return labels


def main() -> None:
    """Embed the graph, then use the vectors for recommendation, classification, reconstruction and link prediction."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "citations.csv"
        labels = write_edges(path)
        model = DirectedGraphEmbedding(n_components=32).fit(path)
    print(f"{len(model.nodes_)} nodes, {model.adjacency_.nnz} edges; {model.solver_}\n")
    print("paper-900 might cite", *model.nearest_targets("paper-900", k=3))

    print("papers that cite much as paper-900 does:", *model.most_similar("paper-900", k=3, as_="source"))
    references = [("new", "paper-3"), ("new", "paper-11"), ("newer", "new")]
    proposed = model.nearest_targets(out_edges=references, k=3, new_only=True)
    print("a new paper that cites papers 3 and 11 might cite", *proposed[0])
    print("a newer one that cites only the new one might cite", *proposed[1])

    numbers = [int(node.removeprefix("paper-")) for node in model.nodes_]
    vectors = DirectedGraphEmbedding(n_components=32).fit_transform(model.adjacency_)
    f1 = classify_nodes(vectors, labels[numbers])
    print(f"\nclasses of papers: micro F1 {f1.micro_f1.mean():.3f}, macro F1 {f1.macro_f1.mean():.3f}")

    linear = DirectedGraphEmbedding(n_components=32, kernel=NodeKernel(), decoder="factors").fit(model.adjacency_)
    rebuilt = reconstruct_graph(*linear.edge_vectors(), model.adjacency_)
    print(f"the graph rebuilt from its own SVD: {rebuilt.precision:.0%} of the edges right", end=", ")
    print(f"norm of the difference {rebuilt.norm_2:.1f}")

    hidden = hide_edges(model.adjacency_, random_state=SEED)
    links = evaluate_links(DirectedGraphEmbedding(n_components=32).fit(hidden.adjacency).score_edges, hidden)
    print(f"hidden links, half of the others reversed: AUC {links.auc:.3f}, AP {links.average_precision:.3f}")


if __name__ == "__main__":
    main()
