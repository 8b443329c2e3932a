"""Show when direction pays: embed classes that only the direction of edges tells apart, with directions and without."""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("Agg")

import numpy as np
from matplotlib import pyplot
from scipy import sparse
from sklearn.decomposition import PCA
from sklearn.manifold import SpectralEmbedding

from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_directed_blocks
from lopsided.graphs import classify_nodes

SEED = 2026
COMPONENTS = 32
CLASSES, DEGREE, PICTURED = 3, 20.0, 0.9
SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 1.0)
DIRECTED, UNDIRECTED = "DirectedGraphEmbedding", "spectral embedding of A + A'"


def undirected(A: sparse.csr_array, k: int) -> np.ndarray:
    """The usual symmetric method: eigenvectors of the Laplacian of the graph without directions."""
    S = sparse.csr_matrix(A + A.T)
    return SpectralEmbedding(k, affinity="precomputed", random_state=SEED).fit_transform(S)


def directed(A: sparse.csr_array, k: int) -> np.ndarray:
    """Source and target vectors as they come."""
    return DirectedGraphEmbedding(k).fit_transform(A)


METHODS = {UNDIRECTED: undirected, DIRECTED: directed}


def micro_f1(X: np.ndarray, labels: np.ndarray) -> float:
    """Mean over ten splits."""
    return float(classify_nodes(X, labels, random_state=SEED).micro_f1.mean())


def scatter(ax: Any, X: np.ndarray, labels: np.ndarray, title: str) -> None:
    """Nodes in the plane of the two directions in which features vary most, coloured by class."""
    ax.scatter(*PCA(2).fit_transform(X).T, c=labels, cmap="viridis", s=8, alpha=0.7, linewidths=0)
    ax.set(title=title, xticks=[], yticks=[])


def read_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=1500, help="nodes of the graphs (default: 1500)")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture (default: out)")
    return parser.parse_args()


def main() -> None:
    """Print the scores of both methods, from no direction to direction alone, and draw them."""
    options = read_options()
    figure, axes = pyplot.subplots(1, 3, figsize=(13, 4.2), layout="constrained")
    scores: dict[str, list[float]] = {name: [] for name in METHODS}
    print(f"{'edges in the direction of the cycle':<36}" + "".join(f"{name:>32}" for name in METHODS))
    for share in SHARES:
        A, labels = make_directed_blocks(
            options.nodes, n_classes=CLASSES, direction=share, mean_degree=DEGREE, random_state=SEED
        )
        found = {name: embed(A, COMPONENTS) for name, embed in METHODS.items()}
        for name, X in found.items():
            scores[name].append(micro_f1(X, labels))
        print(f"{share:<36.0%}" + "".join(f"{scores[name][-1]:>32.3f}" for name in METHODS), flush=True)
        if share == PICTURED:
            scatter(axes[0], undirected(A, 2), labels, UNDIRECTED)
            scatter(axes[1], found[DIRECTED], labels, DIRECTED)
    for name, values in scores.items():
        axes[2].plot(SHARES, values, "o-", label=name)
    axes[2].axhline(1 / CLASSES, color="grey", linestyle=":", label="guessing")
    axes[2].set(xlabel="share of edges in the direction of the cycle", ylabel="micro F1 of classes", ylim=(0, 1))
    axes[2].legend(loc="lower right")
    options.out.mkdir(parents=True, exist_ok=True)
    figure.savefig(options.out / "direction_pays.png", dpi=100)
    print(f"\n{CLASSES} classes in a cycle, {COMPONENTS} components; picture: {options.out / 'direction_pays.png'}")


if __name__ == "__main__":
    main()
