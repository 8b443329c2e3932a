"""Table 1 of the kernel SVD paper (Tao et al., 2024) beside ours: classes and reconstruction of five graphs.

    python benchmarks/graphs_table1.py              all of it (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_table1.py --only Cora  some graphs; --methods names some methods, --resume what is missing
    python benchmarks/graphs_table1.py --quick      two splits, 128 components and the small graphs only; nothing kept
    python benchmarks/graphs_table1.py --table      the tables of earlier runs, as in docs/graphs_table1.md
    python benchmarks/graphs_table1.py --smoke      seconds of it on a generated graph

Protocol. Every method sees the graph without its labels and gives each node one vector, or a source and a target vector
side by side; 1,000 components of each where the method has a free rank and does not take minutes for it. TwitchPT and
BlogCatalog are undirected, and have both directions of every edge. BlogCatalog is the graph of 5,196 nodes and six
classes, see docs/graphs_table1.md.

classes: ten random splits, 60 % for training, the same for all; linear LS-SVM with C = 1, one class against the rest.
The features of the default as they come; vectors of length one for KPCA and KernelSVD; for others as they are or of
length one, whichever comes out better.

KPCA and KernelSVD (SNE and RBF) choose kernel and bandwidth by ten folds of the training nodes of each split, of 2,000
of them where there are more. KernelSVD compares rows and columns of A + I, KPCA rows; both are centred. PCA and SVD
take A or A + I, whichever comes out better.

reconstruction: for every node its out-degree many best targets, by distance from source to target vector as in the
paper and by product, of the default that of its scores of edges; induced norms 1 and 2 of the difference, with the
bandwidth, or with A or A + I, that reconstructs best. The graph is there to be compared with, so that this choice looks
at nothing that is held out.

"default" is DirectedGraphEmbedding as it comes, on all graphs. Links are judged by benchmarks/graphs_links.py.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from sklearn.preprocessing import normalize

import graphsets
from common import RESULTS, parser, print_matrix, save
from embeddings import FIXED, METHODS, OURS, SEED, TUNED, Candidates
from lopsided.graphs import classify_nodes, reconstruct_graph

SPLITS, SHARE, FOLDS, FOLD_NODES = 10, 0.6, 10, 2000
COMPONENTS = 1000
GRAPHS = {
    "Cora": "cora",
    "Citeseer": "citeseer",
    "TwitchPT": "twitch-pt",
    "Pubmed": "pubmed",
    "BlogCatalog": "blogcatalog-6",
}
QUICK = {"graphs": ("Cora", "TwitchPT"), "splits": 2, "components": 128}
CLASSES = {"micro": "Micro F1", "macro": "Macro F1"}
NORMS = {"norm_1": "Reconstruction, norm 1 of the difference", "norm_2": "Reconstruction, norm 2 of the difference"}
DECODERS = {"distance": "by distance", "dot": "by product"}
PAPER_METHODS = ("PCA", "KPCA", "SVD", "KernelSVD", "DeepWalk", "HOPE", "DiGAE")
PAPER = {  # micro F1, macro F1, norm 1 and norm 2 of PAPER_METHODS
    "Cora": (
        (0.757, 0.771, 0.776, 0.792, 0.741, 0.750, 0.783),
        (0.751, 0.767, 0.770, 0.784, 0.736, 0.473, 0.776),
        (556.0, 349.0, 622.0, 14.0, 19.0, 15.0, 26.0),
        (41.2, 37.9, 41.7, 17.4, 17.6, 18.1, 20.9),
    ),
    "Citeseer": (
        (0.648, 0.666, 0.667, 0.678, 0.624, 0.642, 0.663),
        (0.611, 0.635, 0.632, 0.640, 0.587, 0.607, 0.627),
        (138.0, 46.0, 176.0, 25.0, 25.0, 26.0, 25.0),
        (21.3, 16.0, 24.6, 14.3, 14.4, 13.3, 16.4),
    ),
    "Pubmed": (
        (0.765, 0.754, 0.766, 0.773, 0.759, 0.771, 0.781),
        (0.736, 0.715, 0.738, 0.743, 0.737, 0.741, 0.749),
        (1937.0, 171.0, 1933.0, 170.0, 171.0, 171.0, 171.0),
        (128.0, 31.9, 118.1, 23.8, 19.4, 23.8, 27.9),
    ),
    "TwitchPT": (
        (0.681, 0.681, 0.694, 0.712, 0.637, 0.685, 0.633),
        (0.517, 0.531, 0.543, 0.596, 0.589, 0.568, 0.593),
        (1780.0, 766.0, 1839.0, 756.0, 864.0, 1108.0, 759.0),
        (196.3, 172.4, 192.1, 140.3, 146.5, 158.2, 79.7),
    ),
    "BlogCatalog": (
        (0.648, 0.663, 0.687, 0.710, 0.688, 0.704, 0.697),
        (0.643, 0.659, 0.673, 0.703, 0.679, 0.697, 0.690),
        (5173.0, 766.0, 5166.0, 764.0, 810.0, 3709.0, 771.0),
        (429.4, 99.9, 410.5, 94.2, 104.0, 286.7, 202.6),
    ),
}


def evaluate(method: str, graph: graphsets.Labelled, k: int, splits: int) -> dict[str, Any]:
    """All scores of a method on a graph."""
    A, Y = graph.adjacency.astype(np.float32), one_hot(graph.labels)
    start = time.perf_counter()
    candidates = METHODS[method](A, k)
    width = next(iter(candidates.values())).source.shape[1]
    found: dict[str, Any] = {"seconds": time.perf_counter() - start, "components": width}
    found |= classify(candidates, Y, splits, tuned=method in TUNED, lengths=method not in (*FIXED, *TUNED))
    near = [reconstruct_graph(*one[:2], A, decoder="distance")._asdict() for one in candidates.values()]
    dot = [reconstruct_graph(*(one.factors or one[:2]), A, decoder="dot")._asdict() for one in candidates.values()]
    found["reconstruction"] = {
        "distance": min(near, key=lambda found: found["norm_1"]),
        "dot": min(dot, key=lambda found: found["norm_1"]),
    }
    return found


def classify(candidates: Candidates, Y: np.ndarray, splits: int, tuned: bool, lengths: bool) -> dict[str, Any]:
    """F1 of every split; candidates, and lengths of vectors, chosen on the training nodes or, untuned, by the result.

    The default has one candidate, of length one.
    """
    features = {}
    for name, embedding in candidates.items():
        X = embedding.features()
        if lengths:
            features[name] = X
        features[name + " unit"] = normalize(X)
    found: dict[str, Any] = {name: {"micro": [], "macro": []} for name in features}
    chosen = []
    for trial in range(splits):
        names = [best_on_training(features, Y, trial)] if tuned else list(features)
        for name in names:
            scores = classify_nodes(features[name], Y, n_splits=1, train_size=SHARE, random_state=trial)
            found[name]["micro"] += scores.micro_f1.tolist()
            found[name]["macro"] += scores.macro_f1.tolist()
        chosen += names
    if tuned:
        merged = {mean: [score for part in found.values() for score in part[mean]] for mean in ("micro", "macro")}
        return merged | {"chosen": chosen}
    best = max(features, key=lambda name: np.mean(found[name]["micro"]) + np.mean(found[name]["macro"]))
    return found[best] | {"chosen": [best]}


def best_on_training(features: dict[str, np.ndarray], Y: np.ndarray, trial: int) -> str:
    """The candidate that finds most labels of training nodes in ten folds."""
    n = len(Y)
    train = np.random.RandomState(trial).permutation(n)[: round(SHARE * n)][:FOLD_NODES]  # that of classify_nodes
    return max(features, key=lambda name: share_found(features[name][train], Y[train]))


def share_found(X: np.ndarray, Y: np.ndarray) -> float:
    """The share of labels that LS-SVM with C = 1 finds in held-out folds, from one inverse.

    For the saddle matrix M of the machine and N = M^-1, the held-out errors of fold f are N[f, f]^-1 alpha[f].
    """
    n = len(X)
    M = np.ones((n + 1, n + 1))
    M[:n, :n] = X @ X.T + np.eye(n)
    M[n, n] = 0
    N, T = np.linalg.inv(M), 2.0 * Y - 1
    alpha, decisions = N[:n, :n] @ T, np.empty_like(T)
    for fold in np.array_split(np.arange(n), FOLDS):
        decisions[fold] = T[fold] - np.linalg.solve(N[np.ix_(fold, fold)], alpha[fold])
    rank = np.argsort(np.argsort(-decisions, axis=1), axis=1)
    return float(Y[rank < Y.sum(axis=1)[:, None]].mean())


def one_hot(labels: np.ndarray) -> np.ndarray:
    """A column for each class."""
    return (labels[:, None] == np.unique(labels)).astype(int)


def cells_of(record: dict[str, Any], score: str) -> dict[str, dict[str, float | None]]:
    """One figure for each graph and row of the table of a score: ours, and the paper's where it has the method."""
    place = (*CLASSES, *NORMS).index(score)
    cells: dict[str, dict[str, float | None]] = {}
    for graph, result in record.items():
        column = cells[graph] = {}
        for method, found in result.items():
            if score in CLASSES:
                column[method] = float(np.mean(found[score]))
            else:
                for decoder, name in DECODERS.items():
                    column[f"{method}, {name}"] = found["reconstruction"][decoder][score]
        for method, figure in zip(PAPER_METHODS, PAPER[graph][place], strict=True):
            column[f"{method}, paper"] = figure
    return cells


def rows_of(score: str) -> list[str]:
    """Rows of the table of a score."""
    ours = ("",) if score in CLASSES else tuple(f", {name}" for name in DECODERS.values())
    return [method + suffix for method in METHODS for suffix in (*ours, ", paper")]


def below(record: dict[str, Any]) -> Iterator[str]:
    """Classes in which the default misses the best of the paper or of the others here, or KernelSVD the paper's."""
    for score, title in CLASSES.items():
        for graph, column in cells_of(record, score).items():
            others = {name: value for name, value in column.items() if value is not None and name not in FIXED}
            best = max(others, key=lambda name: others[name])
            goals = dict.fromkeys(FIXED, best) | {"KernelSVD": "KernelSVD, paper"}
            for method, goal in goals.items():
                reached = column.get(method)
                if reached is not None and reached < others[goal]:
                    yield f"{graph}, {title}: {method} {reached:.3f}, {goal} {others[goal]:.3f}"


def show(record: dict[str, Any]) -> None:
    """A table for each score, the seconds, and what falls short."""
    for score, title in (CLASSES | NORMS).items():
        print_matrix(title, cells_of(record, score), rows_of(score))
    cells = {graph: {method: found["seconds"] for method, found in result.items()} for graph, result in record.items()}
    print_matrix("Seconds of all embeddings compared", cells, METHODS)
    print("\nBelow the best:\n")
    print("\n".join(f"- {line}" for line in below(record)) or "- none")


def stored() -> dict[str, Any]:
    """Results of earlier runs."""
    path = RESULTS / "graphs_table1.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    return {graph: record[graph]["result"] for graph in GRAPHS if graph in record}


def main() -> None:
    """Run what was asked for."""
    command = parser(__doc__)
    command.add_argument("--quick", action="store_true", help="minutes, nothing kept")
    command.add_argument("--table", action="store_true", help="the tables of earlier runs")
    command.add_argument("--resume", action="store_true", help="leave out what an earlier run has")
    command.add_argument("--only", nargs="*", choices=GRAPHS, help="graphs")
    command.add_argument("--methods", nargs="*", choices=METHODS, default=list(METHODS), help="methods")
    command.add_argument("--splits", type=int, default=SPLITS, help="random splits")
    command.add_argument("--components", type=int, default=COMPONENTS, help="of each side")
    options = command.parse_args()
    if options.table:
        return show(stored())
    if options.smoke:
        graph = graphsets.generated()
        show({"Cora": {method: evaluate(method, graph, 20, 2) for method in OURS}})
        return print("smoke run finished:", ", ".join(OURS))
    k, splits = (QUICK["components"], QUICK["splits"]) if options.quick else (options.components, options.splits)
    record: dict[str, Any] = {} if options.quick else stored()
    for name in options.only or (QUICK["graphs"] if options.quick else GRAPHS):
        graph, result = graphsets.load(GRAPHS[name]), record.setdefault(name, {})
        for method in options.methods:
            if options.resume and method in result:
                continue
            try:
                result[method] = evaluate(method, graph, min(k, graph.adjacency.shape[0] - 1), splits)
            except np.linalg.LinAlgError as error:
                print(f"{name}, {method}: {error}", flush=True)
                continue
            scores = [f"{np.mean(result[method][mean]):.3f}" for mean in CLASSES]
            print(f"{time.strftime('%H:%M:%S')} {name}, {method}: {' / '.join(scores)}", flush=True)
            if not options.quick:
                save("graphs_table1", {name: result}, SEED)
    show(record)


if __name__ == "__main__":
    main()
