"""Table 1 of the kernel SVD paper (Tao et al., 2024) beside ours: classes, reconstruction and links of five graphs.

    python benchmarks/graphs_table1.py              all of it (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/graphs_table1.py --only Cora  some graphs; --methods names some methods, --resume what is missing,
                                                    --links the links alone
    python benchmarks/graphs_table1.py --quick      two splits, 128 components and the small graphs only; nothing kept
    python benchmarks/graphs_table1.py --table      the table of an earlier run, as in docs/graphs_table1.md
    python benchmarks/graphs_table1.py ablation     the numbers that the default rests on, changed one at a time
    python benchmarks/graphs_table1.py --smoke      seconds of it on a generated graph

Protocol. Every method sees the graph without its labels and gives each node one vector, or a source and a target vector
side by side; 1,000 components of each where the method has a free rank and does not take minutes for it.

classes: ten random splits, 60 % for training, the same for all; linear LS-SVM with C = 1, one class against the rest.
Vectors of length one for the default, KPCA and KernelSVD; for others as they are or of length one, whichever comes out
better.
BlogCatalog: each test node is given as many labels as it has, those of largest decisions.

KPCA and KernelSVD (SNE and RBF) choose kernel and bandwidth by ten folds of the training nodes of each split, of 2,000
of them where there are more. KernelSVD compares rows and columns of A + I, KPCA rows; both are centred. PCA and SVD
take A or A + I, whichever comes out better.

reconstruction: for every node its out-degree many best targets, by distance from source to target vector as in the
paper and by source . target; induced norms 1 and 2 of the difference, with the bandwidth, or with A or A + I, that
reconstructs best. The graph is there to be compared with, so that this choice looks at nothing that is held out.

links: a tenth of the edges hidden, as many pairs that are no edges, half of them hidden edges turned round; 128
components; peers by the better decoder. AUC, AP, and R@10: the share of hidden edges among the ten best new targets of
their sources, of 2,000 sources where there are more; of the default by its scores of edges, and by its factors.

"default" is DirectedGraphEmbedding as it comes, on all graphs.

ablation: Cora and TwitchPT with a tenth of the edges hidden, two draws, 128 components: micro F1 of five splits, and
links, with one number of the default kernel or of the decoder changed at a time; the decoder leaves classes alone.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone
from sklearn.preprocessing import normalize

from common import DATA, RESULTS, changed, load_graph, parser, print_table, save
from contenders import by_distance
from embeddings import FIXED, LINK_METHODS, METHODS, OURS, SEED, TUNED, Candidates, Embedding
from lopsided import DirectedGraphEmbedding
from lopsided.datasets import make_citation_graph
from lopsided.graphs import classify_nodes, evaluate_links, hide_edges, reconstruct_graph
from lopsided.graphs.decoder import EdgeDecoder
from lopsided.graphs.kernel_choice import DEFAULT_KERNEL
from lopsided.graphs.links import HiddenEdges

SPLITS, SHARE, FOLDS, FOLD_NODES = 10, 0.6, 10, 2000
COMPONENTS, LINK_COMPONENTS = 1000, 128
RECALL_TARGETS, RECALL_SOURCES = 10, 2000
GRAPHS = {
    "Cora": "cora",
    "Citeseer": "citeseer",
    "TwitchPT": "twitch-pt",
    "Pubmed": "pubmed",
    "BlogCatalog": "blogcatalog",
}
ABLATION_GRAPHS, ABLATION_SPLITS, ABLATION_DRAWS = ("Cora", "TwitchPT"), 5, 2
ABLATION_KERNELS: dict[str, dict[str, Any]] = {
    "defaults": {},
    "restart 0.1": {"restart": 0.1},
    "restart 0.4": {"restart": 0.4},
    "threshold 1e-5": {"threshold": 1e-5},
    "threshold 1e-3": {"threshold": 1e-3},
    "transform log": {"transform": "log"},
    "transform none": {"transform": None},
    "direction both": {"direction": "both"},
}
ABLATION_DECODERS: dict[str, dict[str, Any]] = {
    "no degree term": {"graphs.decoder.DEGREE_RATIO": 0.0},
    "degree ratio 0.1": {"graphs.decoder.DEGREE_RATIO": 0.1},
    "degree ratio 1": {"graphs.decoder.DEGREE_RATIO": 1.0},
    "no damping by visits": {"graphs.decoder.HALF_VISITS": 1e-12},
    "half visits 0.03": {"graphs.decoder.HALF_VISITS": 0.03},
    "half visits 0.3": {"graphs.decoder.HALF_VISITS": 0.3},
    "half visits 1": {"graphs.decoder.HALF_VISITS": 1.0},
    "self step 1e-6": {"graphs.decoder.SELF_STEP": 1e-6},
    "self step 0.1": {"graphs.decoder.SELF_STEP": 0.1},
}
QUICK = {"graphs": ("Cora", "TwitchPT"), "splits": 2, "components": 128}
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


def evaluate(method: str, A: sparse.csr_array, Y: np.ndarray, k: int, splits: int) -> dict[str, Any]:
    """All scores of a method on a graph."""
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
    if method in LINK_METHODS:
        found["links"] = links(method, A, min(k, LINK_COMPONENTS))
    return found


def classify(candidates: Candidates, Y: np.ndarray, splits: int, tuned: bool, lengths: bool) -> dict[str, Any]:
    """F1 of every split; candidates, and lengths of vectors, chosen on the training nodes or, untuned, by the result.

    The default has one candidate, of length one.
    """
    features = {}
    for name, (source, target, *_) in candidates.items():
        X = source if source is target else np.hstack([source, target])
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


def links(method: str, A: sparse.csr_array, k: int) -> dict[str, float]:
    """Scores of hidden edges, the best of both decoders for peers; of the default also new targets by its factors."""
    hidden = hide_edges(A, random_state=SEED)
    found = next(iter(METHODS[method](hidden.adjacency, k).values()))
    if method in FIXED:
        scores = link_scores(found.edges, hidden)
        return scores | {"recall by factors": link_scores(found.factors, hidden)["recall"]}
    both = [link_scores(pair, hidden) for pair in (found.edges or found[:2], by_distance(*found[:2]))]
    return {name: max(scores[name] for scores in both) for name in both[0]}


def link_scores(vectors: Any, hidden: HiddenEdges) -> dict[str, float]:
    """AUC and average precision of hidden edges, and their share among the best new targets of their sources."""
    source, target = vectors
    pairs = EdgeDecoder(source, target, np.ones(source.shape[1], dtype=source.dtype))
    judged = evaluate_links(pairs.of_pairs, hidden, k=min(100, len(hidden.negative[0])))
    rows = np.random.default_rng(SEED).permutation(np.unique(hidden.positive[0]))[:RECALL_SOURCES]
    best = pairs.best_targets(rows, RECALL_TARGETS, hidden.adjacency[rows])
    wanted = sparse.csr_array((np.ones(len(hidden.positive[0])), hidden.positive), shape=hidden.adjacency.shape)[rows]
    hits = np.take_along_axis(wanted.toarray(), best, axis=1).sum()
    recall = hits / np.minimum(wanted.sum(axis=1), RECALL_TARGETS).sum()
    return {"auc": judged.auc, "ap": judged.average_precision, "recall": float(recall)}


def read(name: str) -> tuple[sparse.csr_array, np.ndarray]:
    """A stored graph in single precision, and a column of zeros and ones for each label."""
    A = load_graph(GRAPHS[name]).astype(np.float32)
    with np.load(DATA / "graphs" / f"{GRAPHS[name]}.npz") as file:
        if "labels" in file:
            return A, one_hot(file["labels"])
        indices, indptr = file["labels_indices"], file["labels_indptr"]
    return A, sparse.csr_array((np.ones(len(indices), dtype=int), indices, indptr)).toarray()


def one_hot(labels: np.ndarray) -> np.ndarray:
    """A column for each class."""
    return (labels[:, None] == np.unique(labels)).astype(int)


def rows(record: dict[str, Any]) -> Iterator[list[str]]:
    """Lines of the table: paper's cell / ours."""
    for graph, result in record.items():
        for method, found in result.items():
            paper = PAPER[graph] if method in PAPER_METHODS else None
            place = PAPER_METHODS.index(method) if paper else 0
            cells = [f"{column[place]:g}" if paper else "-" for column in PAPER[graph]]
            near, dot = (found["reconstruction"][decoder] for decoder in ("distance", "dot"))
            yield [
                graph,
                method,
                *(f"{cells[i]} / {np.mean(found[mean]):.3f}" for i, mean in enumerate(("micro", "macro"))),
                *(f"{cells[i]} / {near[n]:.3g} / {dot[n]:.3g}" for i, n in ((2, "norm_1"), (3, "norm_2"))),
                *link_cells(found.get("links", {})),
                f"{found['components']}",
                f"{len(found['micro'])}",
                f"{found['seconds']:.1f}",
            ]


def link_cells(found: dict[str, float]) -> list[str]:
    """AUC, AP and R@10, of the default by both decoders."""
    cells = [f"{found[score]:.3f}" if score in found else "-" for score in ("auc", "ap", "recall")]
    other = found.get("recall by factors")
    return cells if other is None else [*cells[:2], f"{cells[2]} / {other:.3f}"]


def below(record: dict[str, Any]) -> Iterator[str]:
    """Cells that miss their targets: the default above all of the paper, KernelSVD at least as good as the paper's."""
    for graph, result in record.items():
        for i, mean in enumerate(("micro", "macro")):
            paper = PAPER[graph][i]
            goals = dict.fromkeys(FIXED, max(paper)) | {"KernelSVD": paper[3]}
            for method, goal in goals.items():
                if method in result and (score := float(np.mean(result[method][mean]))) < goal:
                    yield f"{graph}, {method}, {mean} F1: {score:.3f}, paper {goal:.3f}"
        for i, norm in ((2, "norm_1"), (3, "norm_2")):
            goal = PAPER[graph][i][3]
            for method in (*FIXED, "KernelSVD"):
                if method in result:
                    score = min(found[norm] for found in result[method]["reconstruction"].values())
                    if score > goal:
                        yield f"{graph}, {method}, {norm}: {score:.4g}, paper's KSVD {goal:g}"
        judged = {method: found["links"] for method, found in result.items() if "links" in found}
        for ours in sorted(judged.keys() & set(FIXED)):
            for peer in sorted(judged.keys() - set(FIXED)):
                for score, value in judged[peer].items():
                    if value > judged[ours][score]:
                        yield f"{graph}, {ours}, links {score}: {judged[ours][score]:.3f}, {peer} {value:.3f}"


def show(record: dict[str, Any]) -> None:
    """The table, and what falls short."""
    headings = ["graph", "method", "micro F1", "macro F1", "norm 1", "norm 2", "AUC", "AP", "R@10", "k", "splits", "s"]
    print_table("Table 1: paper / ours; norms: paper / by distance / by product", headings, list(rows(record)))
    print("\nBelow target:\n")
    print("\n".join(f"- {line}" for line in below(record)) or "- none")


def stored() -> dict[str, Any]:
    """Results of earlier runs."""
    path = RESULTS / "graphs_table1.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    return {graph: record[graph]["result"] for graph in GRAPHS if graph in record}


def ablation(graphs: dict[str, tuple[sparse.csr_array, np.ndarray]], k: int, splits: int, draws: int) -> dict[str, Any]:
    """Classes and links of the default, with one number changed at a time; a list over draws for each score."""
    result: dict[str, Any] = {
        change: {graph: {} for graph in graphs} for change in (*ABLATION_KERNELS, *ABLATION_DECODERS)
    }

    def keep(change: str, graph: str, scores: dict[str, float]) -> None:
        for score, value in scores.items():
            result[change][graph].setdefault(score, []).append(value)

    for graph, (A, Y) in graphs.items():
        for draw in range(draws):
            hidden = hide_edges(A, random_state=draw)
            for change, parameters in ABLATION_KERNELS.items():
                kernel = clone(DEFAULT_KERNEL).set_params(**parameters)
                found = Embedding.of(DirectedGraphEmbedding(k, kernel=kernel, decoder="edges").fit(hidden.adjacency))
                micro = np.mean(classify({"": found}, Y, splits, tuned=False, lengths=False)["micro"])
                keep(change, graph, {"micro": float(micro), **link_scores(found.edges, hidden)})
                for other, constants in ({} if parameters else ABLATION_DECODERS).items():
                    with changed(constants):
                        decoder = EdgeDecoder.along_edges(*found.factors, np.ones(k, np.float32), hidden.adjacency)
                        keep(other, graph, link_scores((decoder.sources(), decoder.targets()), hidden))
    print_ablation(result)
    return result


def print_ablation(result: dict[str, Any]) -> None:
    """Means of the scores, and how far those of the default spread over draws."""
    scores = ("micro", "auc", "ap", "recall")
    cells = [
        [change, *(f"{np.mean(one[score]):.3f}" if score in one else "" for one in found.values() for score in scores)]
        for change, found in result.items()
    ]
    spread = [f"{np.std(one[score]):.3f}" for one in result["defaults"].values() for score in scores]
    headings = [f"{graph} {score}" for graph in result["defaults"] for score in scores]
    print_table(
        "The default embedding, one number changed at a time",
        ["changed", *headings],
        [*cells, ["deviation of the defaults over draws", *spread]],
    )


def main() -> None:
    """Run what was asked for."""
    command = parser(__doc__, ("graphs", "ablation"))
    command.add_argument("--quick", action="store_true", help="minutes, nothing kept")
    command.add_argument("--table", action="store_true", help="the table of an earlier run")
    command.add_argument("--links", action="store_true", help="judge links alone, and keep the rest of an earlier run")
    command.add_argument("--resume", action="store_true", help="leave out what an earlier run has")
    command.add_argument("--only", nargs="*", choices=GRAPHS, help="graphs")
    command.add_argument("--methods", nargs="*", choices=METHODS, help="methods")
    command.add_argument("--splits", type=int, default=SPLITS, help="random splits")
    command.add_argument("--components", type=int, default=COMPONENTS, help="of each side")
    options = command.parse_args()
    if options.table:
        return show(stored())
    if options.smoke:
        A, labels = make_citation_graph(150, n_classes=3, random_state=SEED)
        for method in OURS:
            evaluate(method, A, one_hot(labels), 20, 2)
        ablation({"generated": (A, one_hot(labels))}, 20, 1, 1)
        return print("smoke run finished:", ", ".join(OURS))
    if "ablation" in (options.parts or ("ablation",)) and not options.quick:
        graphs = {name: read(name) for name in options.only or ABLATION_GRAPHS}
        found = ablation(graphs, LINK_COMPONENTS, ABLATION_SPLITS, ABLATION_DRAWS)
        save("graphs_table1", {"ablation": found}, SEED)
    if options.parts == ["ablation"]:
        return None
    k, splits = (QUICK["components"], QUICK["splits"]) if options.quick else (options.components, options.splits)
    record, start = {} if options.quick else stored(), time.perf_counter()
    for graph in options.only or (QUICK["graphs"] if options.quick else GRAPHS):
        A, Y = read(graph)
        result = record.setdefault(graph, {})
        for method in options.methods or METHODS:
            if options.resume and method in result:
                continue
            if options.links:
                if method in LINK_METHODS and method in result:
                    result[method]["links"] = links(method, A, LINK_COMPONENTS)
                    save("graphs_table1", {graph: result}, SEED)
                    print(f"{time.strftime('%H:%M:%S')} {graph}, {method}: links", flush=True)
                continue
            try:
                result[method] = evaluate(method, A, Y, min(k, A.shape[0] - 1), splits)
            except np.linalg.LinAlgError as error:
                print(f"{graph}, {method}: {error}", flush=True)
                continue
            scores = [f"{np.mean(result[method][mean]):.3f}" for mean in ("micro", "macro")]
            print(f"{time.strftime('%H:%M:%S')} {graph}, {method}: {' / '.join(scores)}", flush=True)
            if not options.quick:
                save("graphs_table1", {graph: result}, SEED)
    show(record)
    minutes = (time.perf_counter() - start) / 60
    print(f"\n{minutes:.1f} minutes")
    if not (options.quick or options.resume or options.links or options.only or options.methods):
        save("graphs_table1", {"whole table": {"minutes": minutes}}, SEED)


if __name__ == "__main__":
    main()
