"""Tables II to IV of the AsK-LS paper (He et al., 2023) beside ours: nodes of directed graphs, and UCI data.

    python benchmarks/askls_tables.py               all of it (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/askls_tables.py uci           parts: sizes, graphs, directions, uci, variants, ablation, landmarks
    python benchmarks/askls_tables.py --only Cora   some rows
    python benchmarks/askls_tables.py --smoke       a minute of it on generated data

Protocol. Every method sees the same random splits, 60 % for training; everything is tuned on the training part. Graphs
and spambase have ten splits, as in the paper, the small sets of uci fifty: with ten of them the standard error is 0.011
to 0.016 on sonar, as large as the differences between kernels. Ten had been run first; --trials 10 repeats them.

sizes: Table II. The paper does not say of which matrix its eigenvalues are. Ours are extreme ones of (K + K')/2 over
the training nodes, with rows of A + I, or of A' + I as in the authors' code, normalised; means over the splits.

graphs: k(i, j) is an entry of the adjacency with self-loops, normalised on both sides. AsK-LS and the LS-SVM on the
symmetrised matrix (K + K')/2 choose self-loops and C from one grid by the log-loss of ten folds, and learn to merge
their functions by logistic regression on those folds. "authors" is AsK-LS with the settings of the authors' code: rows
normalised, C = 1, the damped solution, ten folds. SVM, clip, shift and flip (= Krein SVM) work on the symmetrised
matrix, their C chosen on a quarter of the training nodes; they need a dense matrix and are run up to 2,000 nodes.

directions: "authors" with rows of A' + I, as above, and of A + I. Files differ in the direction of their edges: the
eigenvalues of Table II fit A' + I for Cora and Citeseer, and A + I for the others. Graphs of few edges only.

uci: scaling ([0, 1] or unit variance), bandwidth and C are chosen by the squared error of exact leave-one-out; with
more than 1,500 training samples all but C on 1,000 of them. monks 1-3 come with training and test parts of their own.

variants: the first ten of these splits (spambase: three) for two other columns. The paper's T kernel has no parameter,
where the column T of uci tunes a bandwidth. Values of tanh are not normalised, so that with many samples the grid of C,
which ends at 0.01, lies where the systems are nearly singular; here C="auto" follows the size of the kernel matrix.

ablation: the machine with its defaults (SNE, C="auto") on standardised UCI data, with one of the numbers that C="auto"
and landmarks rest on changed at a time; ten splits.

landmarks: accuracy, and seconds to choose C and fit, of the machine with solver="nystrom" as the number of landmarks
varies, on standardised data with more samples than landmarks; three splits, or the published one.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import eigsh
from sklearn.metrics import f1_score
from sklearn.preprocessing import MinMaxScaler, StandardScaler

from common import DATA, changed, load_graph, load_labels, parser, print_table, save
from indefinite import tuned
from lopsided import AsymmetricLSSVC, Nystrom
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, SNE, TL1, Kernel, Laplacian, Linear, NodeKernel, StudentT, Tanh

SEED = 0
TRIALS, UCI_TRIALS = 10, {"heart": 50, "sonar": 50, "pima": 50, "australian": 50}
SHARE = 0.6
GRAPHS = {
    "Cora": "cora",
    "Citeseer": "citeseer-askls",
    "Pubmed": "pubmed",
    "AM-photo": "amazon-photo",
    "AM-computer": "amazon-computers",
}
PAPER_EMBEDDED = {  # micro and macro F1 of SVM and LS-SVM on the vectors of an embedding method, NERD
    "Cora": ((0.740, 0.733), (0.730, 0.724)),
    "Citeseer": ((0.497, 0.507), (0.454, 0.452)),
    "Pubmed": ((0.732, 0.726), (0.680, 0.669)),
    "AM-photo": ((0.858, 0.834), (0.834, 0.767)),
    "AM-computer": ((0.606, 0.609), (0.429, 0.454)),
}
PAPER_SIZES = {  # Table II: classes, nodes, edges, largest and least eigenvalue
    "Cora": (7, 2078, 5429, 1.2688, -0.2060),
    "Citeseer": (6, 3327, 4732, 1.3398, -0.1684),
    "Pubmed": (3, 19717, 44338, 1.2578, -0.2986),
    "AM-photo": (8, 7650, 143663, 1.4195, -0.9778),
    "AM-computer": (10, 13752, 287209, 1.5163, -1.1002),
}
PAPER_COLUMNS = ("AsK-LS", "LS-SVM", "SVM", "flip", "clip", "shift", "Krein SVM", "IKSVM-DC")
PAPER_GRAPHS = {  # micro and macro F1 of PAPER_COLUMNS
    "Cora": (
        (0.753, 0.713, 0.305, 0.311, 0.310, 0.309, 0.726, 0.715),
        (0.748, 0.708, 0.077, 0.079, 0.078, 0.079, 0.726, 0.712),
    ),
    "Citeseer": (
        (0.605, 0.596, 0.393, 0.403, 0.397, 0.401, 0.609, 0.592),
        (0.579, 0.560, 0.301, 0.312, 0.307, 0.312, 0.584, 0.568),
    ),
    "Pubmed": (
        (0.719, 0.635, 0.602, 0.594, 0.616, 0.610, 0.658, 0.396),
        (0.698, 0.503, 0.451, 0.444, 0.463, 0.457, 0.627, 0.190),
    ),
    "AM-photo": (
        (0.885, 0.799, 0.319, 0.390, 0.344, 0.324, 0.832, 0.237),
        (0.874, 0.732, 0.155, 0.221, 0.188, 0.159, 0.818, 0.080),
    ),
    "AM-computer": (
        (0.868, 0.619, 0.400, 0.406, 0.401, 0.401, 0.790, 0.375),
        (0.846, 0.443, 0.107, 0.119, 0.115, 0.104, 0.747, 0.055),
    ),
}
LOOPS = (1.0, 3.0)
GRAPH_C = np.array([0.01, 0.03, 0.1, 0.3])
SVM_C = (1.0, 10.0, 100.0)
SVM_NODES = 2000
AUTHORS_ENTRIES = 4  # of the kernel a row; fuller ones fill up when factorised
ITERATION = {"solver": "minres", "tol": 1e-6, "cv": 10, "merge": "stack"}

PAPER_UCI = {  # accuracy: TL1, tanh, RBF (LS-SVM); SNE, T (AsK-LS)
    "heart": (0.828, 0.775, 0.837, 0.824, 0.825),
    "sonar": (0.732, 0.537, 0.856, 0.854, 0.865),
    "monks1": (0.741, 0.762, 0.791, 0.790, 0.778),
    "monks2": (0.671, 0.699, 0.841, 0.866, 0.866),
    "monks3": (0.961, 0.914, 0.936, 0.936, 0.901),
    "pima": (0.750, 0.749, 0.738, 0.749, 0.752),
    "australian": (0.856, 0.855, 0.862, 0.854, 0.859),
    "spambase": (0.918, 0.919, 0.925, 0.908, 0.922),
}
BANDWIDTHS = tuple(np.logspace(-3, 3.5, 14, base=2))
KERNELS: dict[str, list[Kernel]] = {
    "TL1": [TL1()],
    "tanh": [Tanh(c, t) for c in (-10.0, -5.0, -1.0, 1.0, 5.0, 10.0) for t in (0.0, 1.0, 5.0)],
    "RBF": [RBF(w) for w in BANDWIDTHS],
    "SNE": [SNE(w) for w in BANDWIDTHS],
    "T": [StudentT(w) for w in BANDWIDTHS],
    "linear": [Linear()],
    "Laplacian": [Laplacian(w) for w in (0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)],
}
VARIANTS: dict[str, list[Kernel]] = {
    "T, no parameter": [StudentT(1.0)],
    "tanh, C auto": [Tanh(c, t) for c in (0.01, 0.1, 1.0) for t in (0.0, 1.0)],
}
VARIANT_TRIALS = {"spambase": 3}
UCI_C = np.logspace(-2, 4, 19)
LANDMARKS, LANDMARK_TRIALS = (125, 250, 500, 1000, 2000), 3
LANDMARK_SETS = {"spambase": "tabular/spambase", "satimage": "ssl/satimage", "usps": "ssl/usps"}
MANY, SOME = 1500, 1000

Method = Callable[[sparse.csr_array, np.ndarray, np.ndarray, np.ndarray, np.random.Generator], np.ndarray]


def nodes(numbers: np.ndarray) -> np.ndarray:
    """Node numbers as samples."""
    return numbers[:, None]


def asymmetric(A: Any, labels: np.ndarray, train: np.ndarray, test: np.ndarray, rng: Any) -> np.ndarray:
    """AsK-LS with self-loops and C tuned."""
    return chosen([NodeKernel(A, "both", loops) for loops in LOOPS], labels, train).predict(nodes(test))


def symmetrised(A: Any, labels: np.ndarray, train: np.ndarray, test: np.ndarray, rng: Any) -> np.ndarray:
    """LS-SVM on (K + K')/2, with the same grid, folds and logistic regression."""
    return chosen([NodeKernel(symmetric(A, loops)) for loops in LOOPS], labels, train).predict(nodes(test))


def authors(A: Any, labels: np.ndarray, train: np.ndarray, test: np.ndarray, rng: Any) -> np.ndarray | None:
    """AsK-LS with the settings of the authors' code, whose G = D^-1 (A' + I)."""
    if A.nnz > AUTHORS_ENTRIES * A.shape[0]:
        return None
    kernel = NodeKernel(A.T.tocsr(), "left", 1.0)
    model = AsymmetricLSSVC(1.0, kernel=kernel, damping=1.0, merge="stack", cv=10)
    return model.fit(nodes(train), labels[train]).predict(nodes(test))


def support_vectors(spectrum: str) -> Method:
    """A support vector machine on the symmetrised matrix, its spectrum modified."""

    def run(A: Any, labels: np.ndarray, train: np.ndarray, test: np.ndarray, rng: Any) -> np.ndarray | None:
        if len(train) > SVM_NODES:
            return None
        G = symmetric(A, 1.0)
        model = tuned(spectrum, G[train][:, train].toarray(), labels[train], SVM_C, rng)
        return model.predict(G[test][:, train].toarray())

    return run


def chosen(kernels: list[NodeKernel], labels: np.ndarray, train: np.ndarray) -> AsymmetricLSSVC:
    """The machine whose held-out predictions have the least log-loss."""
    models = [AsymmetricLSSVC(GRAPH_C, kernel=kernel, **ITERATION) for kernel in kernels]
    return min((model.fit(nodes(train), labels[train]) for model in models), key=held_out_error)


def held_out_error(model: AsymmetricLSSVC) -> float:
    """The least error along the path of C."""
    return float(model.path_["error"].min())


def symmetric(A: Any, loops: float) -> sparse.csr_array:
    """(K + K')/2 of the same kernel."""
    everything = nodes(np.arange(A.shape[0]))
    G = NodeKernel(A, "both", loops).fit(everything, everything).matrix_
    return sparse.csr_array(G + G.T) / 2


GRAPH_METHODS: dict[str, Method] = {
    "AsK-LS": asymmetric,
    "authors": authors,
    "LS-SVM sym": symmetrised,
    **{name: support_vectors(name) for name in ("SVM", "flip", "clip", "shift")},
}


def print_sizes(results: dict[str, Any]) -> None:
    """Table II."""
    rows = [[name, *row.values(), *PAPER_SIZES[name]] for name, row in results.items()]
    columns = [f"paper {what}" for what in ("classes", "nodes", "edges", "largest", "least")]
    print_table("Table II", ["graph", *next(iter(results.values())), *columns], rows)


def sizes_row(name: str, smoke: bool, trials: int | None) -> dict[str, Any]:
    """Counts of a graph, and extreme eigenvalues of its symmetrised kernel."""
    A, labels = graph_of(name, smoke)
    found = {"classes": len(np.unique(labels)), "nodes": A.shape[0], "edges": int(A.nnz)}
    for side, M in (("A' + I", sparse.csr_array(A.T)), ("A + I", A)):
        everything = nodes(np.arange(A.shape[0]))
        K = NodeKernel(M, "left", 1.0).fit(everything, everything).matrix_
        ends = []
        for train, _, _ in splits(len(labels), trials or TRIALS):
            block = sparse.csr_array(K)[train][:, train]
            ends.append(eigsh((block + block.T) / 2, 2, which="BE", return_eigenvectors=False))
        least, largest = np.sort(ends, axis=1).mean(axis=0).tolist()
        found |= {f"largest of {side}": largest, f"least of {side}": least}
    print(name, found, flush=True)
    return found


def graph_of(name: str, smoke: bool) -> tuple[sparse.csr_array, np.ndarray]:
    """A stored graph and its labels, or a tiny one."""
    if smoke:
        return make_citation_graph(250, n_classes=3, random_state=SEED)
    return load_graph(GRAPHS[name]), load_labels(GRAPHS[name])


def print_directions(results: dict[str, Any]) -> None:
    """The authors' settings in both directions."""
    rows = [
        [name, average, *(show(one[average]) for one in row.values()), PAPER_GRAPHS[name][number][0]]
        for name, row in results.items()
        for number, average in enumerate(("micro", "macro"))
    ]
    print_table("AsK-LS with the authors' settings", ["graph", "F1", *next(iter(results.values())), "paper"], rows)


def directions_row(name: str, smoke: bool, trials: int | None) -> dict[str, Any]:
    """F1 of the authors' settings, with the edges of the file and with all of them reversed."""
    A, labels = graph_of(name, smoke)
    found: dict[str, Any] = {}
    for side, M in (("A' + I", A), ("A + I", sparse.csr_array(A.T))):
        scores: dict[str, list[float]] = {"micro": [], "macro": []}
        for train, test, rng in splits(len(labels), trials or TRIALS):
            predicted = authors(M, labels, train, test, rng)
            for average in scores:
                scores[average].append(f1_score(labels[test], predicted, average=average))
        found[side] = scores
    print(name, {side: show(scores["micro"]) for side, scores in found.items()}, flush=True)
    return found


def print_graphs(results: dict[str, Any]) -> None:
    """Table III."""
    table = []
    for name, row in results.items():
        for number, average in enumerate(("micro", "macro")):
            paper = PAPER_GRAPHS[name][number]
            cells = [show(row[method][average]) for method in GRAPH_METHODS]
            seconds = f"{np.mean(row['AsK-LS']['seconds']):.1f}"
            others = (*paper[1:], *PAPER_EMBEDDED[name][number])
            table.append([name, average, f"{paper[0]:.3f}", *cells, seconds, *(f"{cell:.3f}" for cell in others)])
    headings = ["graph", "F1", "paper AsK-LS", *GRAPH_METHODS, "AsK-LS, s"]
    rest = [f"paper {name}" for name in (*PAPER_COLUMNS[1:], "NERD + SVM", "NERD + LS-SVM")]
    print_table("Table III: mean +- deviation; seconds to tune, train and predict once", [*headings, *rest], table)


def graph_row(name: str, smoke: bool, trials: int | None) -> dict[str, Any]:
    """F1 and seconds of every method on one graph."""
    A, labels = graph_of(name, smoke)
    found: dict[str, Any] = {method: {"micro": [], "macro": [], "seconds": []} for method in GRAPH_METHODS}
    for train, test, rng in splits(len(labels), trials or TRIALS):
        for method, run in GRAPH_METHODS.items():
            start = time.perf_counter()
            predicted = run(A, labels, train, test, rng)
            if predicted is None:
                continue
            found[method]["seconds"].append(time.perf_counter() - start)
            for average in ("micro", "macro"):
                found[method][average].append(f1_score(labels[test], predicted, average=average))
        print(name, {method: show(one["micro"]) for method, one in found.items()}, flush=True)
    return found


def splits(n: int, trials: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.random.Generator]]:
    """Training and test numbers of each trial, and a generator for what else is random in it."""
    for trial in range(trials):
        rng = np.random.default_rng([SEED, trial])
        order = rng.permutation(n)
        cut = round(SHARE * n)
        yield order[:cut], order[cut:], rng


def print_uci(results: dict[str, Any]) -> None:
    """Table IV."""
    columns = list(KERNELS)
    table = []
    for name, row in results.items():
        cells = [show(row[kernel]["accuracy"]) for kernel in columns]
        best, paper = max(np.mean(row[kernel]["accuracy"]) for kernel in columns), PAPER_UCI[name]
        table.append([name, *cells, f"{best:.3f}", *(f"{cell:.3f}" for cell in paper), f"{max(paper):.3f}"])
    headings = ["data", *columns, "best", *(f"paper {name}" for name in columns[:5]), "paper best"]
    print_table("Table IV: accuracy, mean +- deviation", headings, table)


def uci_row(
    name: str, smoke: bool, trials: int | None, grids: dict[str, list[Kernel]] = KERNELS, C: Any = UCI_C
) -> dict[str, Any]:
    """Accuracy and seconds of every kernel on one data set."""
    found: dict[str, Any] = {kernel: {"accuracy": [], "seconds": []} for kernel in grids}
    for X, y, X_test, y_test, rng in uci_splits(name, smoke, trials or UCI_TRIALS.get(name, TRIALS)):
        for kernel, kernels in grids.items():
            start = time.perf_counter()
            scaler, model = best_kernel(kernels[-2:] if smoke else kernels, X, y, rng, C)
            found[kernel]["seconds"].append(time.perf_counter() - start)
            found[kernel]["accuracy"].append(model.score(scaler.transform(X_test), y_test))
    print(name, {kernel: show(one["accuracy"]) for kernel, one in found.items()}, flush=True)
    return found


def variants_row(name: str, smoke: bool, trials: int | None) -> dict[str, Any]:
    """The same for the other grids."""
    return uci_row(name, smoke, trials or VARIANT_TRIALS.get(name, TRIALS), VARIANTS, "auto")


def print_variants(results: dict[str, Any]) -> None:
    """One row for each data set, beside the paper's cells of T and of tanh."""
    rows = [
        [name, *(show(row[kernel]["accuracy"]) for kernel in VARIANTS), PAPER_UCI[name][4], PAPER_UCI[name][1]]
        for name, row in results.items()
    ]
    print_table("Table IV, other grids: accuracy", ["data", *VARIANTS, "paper T", "paper tanh"], rows)


def uci_splits(name: str, smoke: bool, trials: int) -> Iterator[Any]:
    """Training and test parts: random ones, or published ones where there are any."""
    if smoke:
        rng = np.random.default_rng(SEED)
        X = rng.standard_normal((60, 3))
        data = {"X": X, "y": np.sign(X[:, 0] + 0.1 * rng.standard_normal(60))}
    else:
        with np.load(DATA / f"{LANDMARK_SETS.get(name, f'tabular/{name}')}.npz") as file:
            data = dict(file)
    X, y = data["X"], data["y"]
    if "X_test" in data:
        yield X, y, data["X_test"], data["y_test"], np.random.default_rng(SEED)
        return
    for train, test, rng in splits(len(y), trials):
        yield X[train], y[train], X[test], y[test], rng


def best_kernel(
    kernels: list[Kernel], X: np.ndarray, y: np.ndarray, rng: np.random.Generator, C: Any = UCI_C
) -> tuple[Any, Any]:
    """Scaling and machine of the least held-out error; of many samples some choose the kernel and all choose C."""
    some = rng.permutation(len(y))[:SOME] if len(y) > MANY else np.arange(len(y))
    fits = []
    for scaler in (MinMaxScaler().fit(X), StandardScaler().fit(X)):
        points = scaler.transform(X[some])
        for kernel in kernels:
            try:
                fits.append((scaler, AsymmetricLSSVC(C, kernel=kernel).fit(points, y[some])))
            except ValueError as error:
                if "bandwidth" not in str(error):  # one that rounding loses is no candidate
                    raise
    scaler, model = min(fits, key=lambda fit: held_out_error(fit[1]))
    return scaler, model if len(some) == len(y) else model.fit(scaler.transform(X), y)


def ablation_row(name: str, smoke: bool, trials: int | None) -> dict[str, Any]:
    """Accuracy on one data set, with one thing changed at a time."""
    found: dict[str, Any] = {change: {"accuracy": []} for change in ABLATION}
    for X, y, X_test, y_test, _ in uci_splits(name, smoke, trials or TRIALS):
        scaler = StandardScaler().fit(X)
        for change, (parameters, constants) in ABLATION.items():
            with changed({f"least_squares.{constant}": value for constant, value in constants.items()}):
                model = AsymmetricLSSVC(kernel="sne", **parameters).fit(scaler.transform(X), y)
            found[change]["accuracy"].append(model.score(scaler.transform(X_test), y_test))
    print(name, {change: show(one["accuracy"]) for change, one in found.items()}, flush=True)
    return found


def print_ablation(results: dict[str, Any]) -> None:
    """One row for each change, one column for each data set."""
    rows = [[change, *(show(row[change]["accuracy"]) for row in results.values())] for change in ABLATION]
    print_table("Accuracy, one thing changed at a time", ["changed", *results], rows)


def landmarks_row(name: str, smoke: bool, trials: int | None) -> dict[str, Any]:
    """Accuracy and seconds on one data set, for every number of landmarks."""
    counts = (10, 20) if smoke else LANDMARKS
    found: dict[str, Any] = {str(count): {"accuracy": [], "seconds": []} for count in counts}
    for X, y, X_test, y_test, _ in uci_splits(name, smoke, trials or LANDMARK_TRIALS):
        scaler = StandardScaler().fit(X)
        for count in counts:
            start = time.perf_counter()
            model = AsymmetricLSSVC(solver=Nystrom(count), random_state=SEED).fit(scaler.transform(X), y)
            found[str(count)]["seconds"].append(time.perf_counter() - start)
            found[str(count)]["accuracy"].append(model.score(scaler.transform(X_test), y_test))
    print(name, {count: show(one["accuracy"]) for count, one in found.items()}, flush=True)
    return found


def print_landmarks(results: dict[str, Any]) -> None:
    """One row for each number of landmarks, one column for each data set."""
    rows = [
        [
            count,
            *(f"{show(row[count]['accuracy'])}, {np.mean(row[count]['seconds']):.2g} s" for row in results.values()),
        ]
        for count in map(str, LANDMARKS)
    ]
    print_table("Accuracy and seconds of a fit by landmarks", ["landmarks", *results], rows)


def show(scores: list[float]) -> str:
    """Mean and deviation."""
    return f"{np.mean(scores):.3f}+-{np.std(scores):.3f}" if scores else "-"


SUBSET = {"build.DECOMPOSED_SIZE": 0, "select_C.SUBSET_SIZE": 30}
ABLATION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # parameters, and constants of the modules
    "defaults": ({}, {}),
    "C in steps of a decade": ({}, {"select_C.WIDE_C": 0.2 * 10.0 ** np.arange(7)}),
    "C in steps of a quarter": ({}, {"select_C.WIDE_C": 0.2 * 10 ** np.arange(0, 6.25, 0.25)}),
    "C as near to singular as it comes": ({}, {"saddle.spectral.CLEARANCE": 0.0}),
    "C 30 % off singular values": ({}, {"saddle.spectral.CLEARANCE": 0.3}),
    "C by 30 samples": ({}, SUBSET),
    "C by 30 samples, no neighbours": ({}, {**SUBSET, "select_C.NEIGHBOUR_FACTORS": np.ones(1)}),
    "30 landmarks": ({"solver": Nystrom(30)}, {}),
}
PARTS: dict[str, tuple[Any, Callable[..., dict[str, Any]], Callable[[dict[str, Any]], None]]] = {
    "sizes": (PAPER_SIZES, sizes_row, print_sizes),
    "graphs": (PAPER_GRAPHS, graph_row, print_graphs),
    "directions": (("Cora", "Citeseer", "Pubmed"), directions_row, print_directions),
    "uci": (PAPER_UCI, uci_row, print_uci),
    "variants": (PAPER_UCI, variants_row, print_variants),
    "ablation": (("heart", "sonar", "pima", "australian"), ablation_row, print_ablation),
    "landmarks": (LANDMARK_SETS, landmarks_row, print_landmarks),
}


def main() -> None:
    """Run the parts that were asked for."""
    command = parser(__doc__, PARTS)
    command.add_argument("--only", nargs="*", help="names of graphs or data sets")
    command.add_argument("--trials", type=int, help="random splits")
    options = command.parse_args()
    warnings.simplefilter("ignore", LopsidedWarning)  # grids pass through C that are nearly singular
    for part in options.parts or PARTS:
        names, row, show_table = PARTS[part]
        if options.smoke:
            row(next(iter(names)), True, 1)
            continue
        results = {}
        for name in options.only or names:
            results[name] = row(name, False, options.trials)
            save("askls_tables", {f"{part}: {name}": results[name]}, SEED)
        show_table(results)
    if options.smoke:
        print("smoke run finished:", ", ".join(options.parts or PARTS))


if __name__ == "__main__":
    main()
