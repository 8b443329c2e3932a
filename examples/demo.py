"""Embed a directed graph by three methods, and compare the embeddings by node classification."""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

import numpy as np
from scipy import sparse
from sklearn.decomposition import KernelPCA, TruncatedSVD
from sklearn.linear_model import RidgeClassifierCV
from sklearn.metrics import f1_score
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lopsided import KernelSVD
from lopsided.datasets import make_citation_graph
from lopsided.kernels import RBF
from lopsided.plotting import plot_embeddings

SEED = 2026
COMPONENTS = 32  # per side; KernelPCA, which has one side, gets twice as many, so that all have equally many features
WIDENINGS = (1.0, 2.0, 4.0)  # bandwidths relative to the default rule, for both kernel methods
PENALTIES = np.logspace(-2, 4, 13)
GRAPHS: dict[str, dict[str, float]] = {
    "Direction matters: half of the citations go to other classes, most of them to the next one": {
        "homophily": 0.5,
        "flow": 0.8,
    },
    "Direction matters little: four citations in five stay in their class": {"homophily": 0.8, "flow": 0.5},
}
NOTES = f"""\
F1: node classification, mean of 10 random 60/40 splits, the same for all methods; a ridge classifier
whose penalty, and the kernels' bandwidth (1, 2 or 4 times the default), are chosen on the training
nodes. Seconds: one embedding, median of 3. All embed A + I (every node also points to itself).
Features: {COMPONENTS} left and {COMPONENTS} right components for the SVDs, {2 * COMPONENTS} components for KernelPCA,
which sees the graph without directions. Both kernel methods use the Gaussian kernel."""


def linear_svd(A: sparse.csr_array, widening: float) -> np.ndarray:
    """Features [U s, V s] from the SVD of the adjacency."""
    model = TruncatedSVD(COMPONENTS, algorithm="arpack", random_state=SEED)
    left = model.fit_transform(A)
    return np.hstack([left, model.components_.T * model.singular_values_])


def symmetric_kernel_pca(A: sparse.csr_array, widening: float) -> np.ndarray:
    """KernelPCA scores of the undirected graph, max(A, A^T)."""
    S = A.maximum(A.T).tocsr()
    gamma = bandwidth(S, widening) ** -2
    model = KernelPCA(2 * COMPONENTS, kernel="rbf", gamma=gamma, eigen_solver="arpack", random_state=SEED, n_jobs=-1)
    return model.fit_transform(S)


def fit_kernel_svd(A: sparse.csr_array, widening: float) -> KernelSVD:
    """Kernel SVD between the rows and the columns of the adjacency."""
    return KernelSVD(COMPONENTS, kernel=RBF(bandwidth(A, widening))).fit(A)


def kernel_svd(A: sparse.csr_array, widening: float) -> np.ndarray:
    """Features [U s, V s] from the SVD of the kernel matrix."""
    model = fit_kernel_svd(A, widening)
    return np.hstack([model.left_vectors_, model.right_vectors_]) * np.tile(model.singular_values_, 2)


def bandwidth(A: sparse.csr_array, widening: float) -> float:
    """Bandwidth of the default rule, sqrt(width x variance), multiplied by ``widening``."""
    return widening * RBF().fit(A, A.T.tocsr()).bandwidth_


METHODS: dict[str, tuple[Callable[[sparse.csr_array, float], np.ndarray], tuple[float, ...]]] = {
    "linear SVD (TruncatedSVD)": (linear_svd, (1.0, 1.0, 1.0)),
    "KernelPCA, symmetrised": (symmetric_kernel_pca, WIDENINGS),
    "KernelSVD (lopsided)": (kernel_svd, WIDENINGS),
}


def timed(task: Callable[[], np.ndarray]) -> tuple[np.ndarray, float]:
    """Result of a task and its run time in seconds."""
    start = time.perf_counter()
    return task(), time.perf_counter() - start


def classify(candidates: list[np.ndarray], labels: np.ndarray) -> tuple[float, float]:
    """Mean micro and macro F1 over ten splits; each split selects the best candidate on its training nodes."""
    scores = []
    for train, test in StratifiedShuffleSplit(10, train_size=0.6, random_state=SEED).split(labels, labels):
        models = [make_pipeline(StandardScaler(), RidgeClassifierCV(PENALTIES)) for _ in candidates]
        for model, points in zip(models, candidates, strict=True):
            model.fit(points[train], labels[train])
        best = int(np.argmax([model[-1].best_score_ for model in models]))
        found = models[best].predict(candidates[best][test])
        scores.append([f1_score(labels[test], found, average=kind) for kind in ("micro", "macro")])
    micro, macro = np.mean(scores, axis=0)
    return float(micro), float(macro)


def print_table(A: sparse.csr_array, labels: np.ndarray) -> None:
    """Print one row per method, each as soon as it is computed."""
    print(f"{'embedding':<28}{'features':>9}{'micro F1':>10}{'macro F1':>10}{'seconds':>9}")
    for name, (embed, widenings) in METHODS.items():
        runs = [timed(partial(embed, A, widening)) for widening in widenings]
        micro, macro = classify([points for points, _ in runs], labels)
        seconds = float(np.median([seconds for _, seconds in runs]))
        print(f"{name:<28}{runs[0][0].shape[1]:>9}{micro:>10.3f}{macro:>10.3f}{seconds:>9.2f}", flush=True)


def save_picture(A: sparse.csr_array, labels: np.ndarray, folder: Path) -> Path:
    """Plot left and right embeddings, without the first component, which is nearly constant."""
    folder.mkdir(parents=True, exist_ok=True)
    axes = plot_embeddings(fit_kernel_svd(A, 2.0), labels, components=(1, 2))
    axes[0].figure.suptitle("KernelSVD of a citation graph: nodes as they cite, and as they are cited")
    axes[0].figure.savefig(folder / "demo.png", dpi=150)
    return folder / "demo.png"


def read_options() -> argparse.Namespace:
    """Parse the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--nodes", type=int, default=3000, help="nodes of the graph, at least 100 (default: 3000)")
    parser.add_argument("--out", type=Path, default=Path("out"), help="folder of the picture (default: out)")
    options = parser.parse_args()
    if options.nodes < 100:
        parser.error(f"--nodes {options.nodes} is too few for {2 * COMPONENTS} features; give at least 100")
    return options


def main() -> None:
    """Generate the graphs, print a table for each and plot the first."""
    options = read_options()
    pictured = None
    for title, parameters in GRAPHS.items():
        graph, labels = make_citation_graph(options.nodes, mean_references=6.0, random_state=SEED, **parameters)
        A = (graph + sparse.eye_array(options.nodes)).tocsr()
        print(f"{title}.\n({options.nodes} nodes, {graph.nnz} directed edges, 6 classes, generated)\n")
        print_table(A, labels)
        print()
        pictured = pictured or save_picture(A, labels, options.out)
    print(f"{NOTES}\n\nPicture of the left and right embeddings of the first graph: {pictured}")


if __name__ == "__main__":
    main()
