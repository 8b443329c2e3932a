"""Table 2 of the 2024 paper (section 4.2): documents and terms clustered together, and planted biclusters.

Each set is a documents x terms table. Documents are clustered into their number of classes and judged by normalised
mutual information, terms into the numbers of the paper's Table 9 (for sets that are not in it: as many as classes) and
judged by the coherence index of BCOT. Tables are given to every method as they are. No method sees a class, and none
is tuned to a set: KernelBiclustering runs at its defaults, which were chosen once while looking at these six sets;
others at theirs or at the paper's settings (kernel SNE or RBF with the paper's bandwidth, compatibility a1, as many
components as clusters, k-means with ten starts). The paper does not state its preprocessing. KernelSVD's, tf-idf and
k-means on the directions of ten left and as many right singular vectors as clusters, was picked with the classes of
these sets in view (for all sets at once). Numbers are means over ten seeds, over three of KernelPCA, KernelSVD and
optimal transport. scikit-learn's two methods give an error on empty rows or columns; these are left out for them and
counted as one more cluster. KernelPCA would need a matrix of 3 GB on Pubmed's documents and is replaced there by
2,000 Nystroem samples.

Seconds are those of one run, documents and terms together, all methods in one process. The paper's cells come from its
own protocol. "maps" repeats KernelSVD's row with a1 and a2, aligned or not, and with only a few axes, as for large
tables; seconds are those of the decomposition. Planted biclusters are judged by the consensus score; the checkerboards
that SpectralBiclustering finds where one block for each cluster is planted are paired in its favour.

ablation: documents and terms of all sets but ACM, three seeds (Wiki: one), with one number of KernelBiclustering or of
the association kernel changed at a time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.decomposition import KernelPCA, TruncatedSVD
from sklearn.feature_extraction.text import TfidfTransformer
from sklearn.kernel_approximation import Nystroem
from sklearn.metrics import confusion_matrix, consensus_score, normalized_mutual_info_score
from sklearn.preprocessing import normalize

from common import DATA, changed, in_child, main, print_table, race
from lopsided import KernelBiclustering, KernelSVD
from lopsided.biclustering import coherence_index
from lopsided.kernels import Association

SEEDS = 10
FEW_SEEDS = 3  # of the methods that take longest
TERM_CLUSTERS = {"acm": 18, "dblp": 2, "pubmed": 3, "wiki": 23}
SETS = ("acm", "dblp", "pubmed", "wiki", "cora", "citeseer")
PAPER = {  # NMI and coherence
    "SVD": {"acm": (0.58, 0.21), "dblp": (0.09, -0.06), "pubmed": (0.31, 0.42), "wiki": (0.39, 0.42)},
    "KPCA": {"acm": (0.59, 0.28), "dblp": (0.26, 0.17), "pubmed": (0.29, 0.51), "wiki": (0.46, 0.57)},
    "KSVD": {"acm": (0.68, 0.32), "dblp": (0.28, 0.21), "pubmed": (0.33, 0.54), "wiki": (0.48, 0.64)},
    "BCOT": {"acm": (0.38, 0.27), "dblp": (0.27, 0.22), "pubmed": (0.16, 0.54), "wiki": (0.48, 0.64)},
    "EBC": {"acm": (0.62, 0.20), "dblp": (0.15, 0.21), "pubmed": (0.19, 0.56), "wiki": (0.47, 0.63)},
}
LEFT_VECTORS = 10  # of KernelSVD, in which documents are clustered
TRUNCATIONS = (64, 128, 256)  # axes of the aligned a1
MANY = 10_000  # rows above which a symmetric kernel matrix is not formed

ABLATION_SEEDS = {"dblp": 3, "cora": 3, "citeseer": 3, "pubmed": 3, "wiki": 1}  # the last two have weights
ABLATION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # parameters, and constants
    "defaults": ({}, {}),
    "no refinement": ({"refine": False}, {}),
    "4 features per cluster": ({}, {"biclustering.clustering.FEATURES_PER_CLUSTER": 4}),
    "16 features per cluster": ({}, {"biclustering.clustering.FEATURES_PER_CLUSTER": 16}),
    "24 features at most": ({}, {"biclustering.clustering.MAX_FEATURES": 24}),
    "96 features at most": ({}, {"biclustering.clustering.MAX_FEATURES": 96}),
    "1 sweep": ({}, {"biclustering.discriminant.FISHER_SWEEPS": 1}),
    "10 sweeps": ({}, {"biclustering.discriminant.FISHER_SWEEPS": 10}),
    "shrinkage 0.001": ({}, {"biclustering.discriminant.FISHER_SHRINKAGE": 0.001}),
    "shrinkage 0.3": ({}, {"biclustering.discriminant.FISHER_SHRINKAGE": 0.3}),
    "power 0.5": ({"kernel": Association(power=0.5)}, {}),
    "power 1": ({"kernel": Association(power=1.0)}, {}),
    "regularization 0.1": ({"kernel": Association(regularization=0.1)}, {}),
    "regularization 10": ({"kernel": Association(regularization=10.0)}, {}),
    "column exponent 0.25": ({"kernel": Association(column_exponent=0.25)}, {}),
    "column exponent 0.5": ({"kernel": Association(column_exponent=0.5)}, {}),
}

Labels = tuple[np.ndarray, np.ndarray]
Method = Callable[[sparse.csr_array, int, int, int], Labels]


def load(name: str) -> tuple[sparse.csr_array, np.ndarray]:
    """A documents x terms table and the classes of the documents."""
    with np.load(DATA / "biclustering" / f"{name}.npz") as file:
        X = sparse.csr_array((file["data"].astype(float), file["indices"], file["indptr"]), shape=tuple(file["shape"]))
        return X, file["labels"]


def bandwidth(X: sparse.csr_array) -> float:
    """The 2024 paper's rule, sqrt(width x variance)."""
    mean = X.mean()
    return float(np.sqrt(X.shape[1] * (X.multiply(X).mean() - mean**2)))


def kmeans(features: np.ndarray, k: int, seed: int) -> np.ndarray:
    """k-means as the paper has it, scikit-learn's, with ten starts."""
    return KMeans(k, n_init=10, random_state=seed).fit_predict(features)


def svd(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    """Linear SVD, k-means on both sides."""
    model = TruncatedSVD(max(k_rows, k_columns), algorithm="arpack", random_state=seed).fit(X)
    right = model.components_.T * model.singular_values_
    return kmeans(model.transform(X)[:, :k_rows], k_rows, seed), kmeans(right[:, :k_columns], k_columns, seed)


def kpca(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    """KernelPCA twice, of the rows and of the columns."""
    return tuple(
        kmeans(_kernel_features(side, k, seed), k, seed) for side, k in ((X, k_rows), (X.T.tocsr(), k_columns))
    )


def _kernel_features(X: sparse.csr_array, k: int, seed: int) -> np.ndarray:
    gamma = 1 / bandwidth(X) ** 2
    if X.shape[0] > MANY:
        samples = Nystroem(gamma=gamma, n_components=2000, random_state=seed).fit_transform(X)
        return TruncatedSVD(k, random_state=seed).fit_transform(samples - samples.mean(axis=0))
    return KernelPCA(k, kernel="rbf", gamma=gamma, eigen_solver="randomized", random_state=seed).fit_transform(X)


def ksvd(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    """The paper's method: tf-idf, SNE kernel, aligned a1, k-means on the directions of singular vectors."""
    return _clustered(_vectors(X, k_columns, "pca"), X, k_rows, k_columns, seed)


def _vectors(X: sparse.csr_array, k_columns: int, compatibility: str) -> Labels:
    """Directions of left and right singular vectors."""
    X = TfidfTransformer().fit_transform(X)
    model = KernelSVD(max(LEFT_VECTORS, k_columns), kernel="sne", compatibility=compatibility).fit(X)
    return normalize(model.left_vectors_[:, :LEFT_VECTORS]), normalize(model.right_vectors_[:, :k_columns])


def _clustered(vectors: Labels, _: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    return kmeans(vectors[0], k_rows, seed), kmeans(vectors[1], k_columns, seed)


def ours(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int, **parameters: Any) -> Labels:
    """KernelBiclustering at its defaults, unless told otherwise."""
    model = KernelBiclustering((k_rows, k_columns), random_state=seed, **parameters).fit(X)
    return model.row_labels_, model.column_labels_


def coclustering(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    """scikit-learn's SpectralCoclustering, for documents and for terms with their numbers of clusters."""
    documents = _on_filled(X, lambda F: SpectralCoclustering(k_rows, random_state=seed).fit(F))
    return documents[0], _on_filled(X, lambda F: SpectralCoclustering(k_columns, random_state=seed).fit(F))[1]


def checkerboard(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    """scikit-learn's SpectralBiclustering."""
    counts = (k_rows, k_columns)
    n_components = max(6, *counts)
    return _on_filled(
        X,
        lambda F: SpectralBiclustering(
            counts, method="scale", n_components=n_components, n_best=max(3, *counts), random_state=seed
        ).fit(F),
    )


def _on_filled(X: sparse.csr_array, fit: Callable[[Any], Any]) -> Labels:
    """Labels found on the rows and columns that have entries; the others share one more."""
    rows, columns = (np.flatnonzero(np.asarray(X.sum(axis=axis)).ravel() > 0) for axis in (1, 0))
    model = fit(X[rows][:, columns])
    labels = np.full(X.shape[0], -1), np.full(X.shape[1], -1)
    labels[0][rows], labels[1][columns] = model.row_labels_, model.column_labels_
    return labels


def transport(X: sparse.csr_array, k_rows: int, k_columns: int, seed: int) -> Labels:
    """BCOT (Fettal, Labiod, Nadif 2022) on POT: alternating exact transport, once for each number of clusters."""
    return _transported(X, k_rows, seed)[0], _transported(X, k_columns, seed)[1]


def _transported(X: sparse.csr_array, k: int, seed: int, rounds: int = 100) -> Labels:
    from ot import emd  # an extra

    def assign(cost: np.ndarray) -> np.ndarray:
        """The plan that brings all points to k clusters of one size, from costs between 0 and 1, which change no plan.

        Masses are whole numbers and costs near one: POT gives up on some tables otherwise.
        """
        masses = np.full(len(cost), float(k)), np.full(k, float(len(cost)))
        cost = (cost - cost.min()) / np.ptp(cost)
        return emd(*masses, np.ascontiguousarray(cost), numItermax=10**7) / (len(cost) * k)

    plan = assign(np.random.default_rng(seed).random((X.shape[0], k)))
    labels = np.zeros(X.shape[0]), np.zeros(X.shape[1])
    for _ in range(rounds):
        right = assign(-(X.T @ plan))
        plan = assign(-(X @ right))
        before, labels = labels, (plan.argmax(axis=1), right.argmax(axis=1))
        if all(map(np.array_equal, before, labels)):
            break
    return labels


METHODS: dict[str, Method] = {
    "SVD + k-means": svd,
    "KPCA twice": kpca,
    "KernelSVD, SNE, a1": ksvd,
    "SpectralCoclustering": coclustering,
    "SpectralBiclustering": checkerboard,
    "optimal transport (POT)": transport,
    "KernelBiclustering": ours,
}


def table(name: str, smoke: bool) -> dict[str, Any]:
    """All methods on one set."""
    X, y = _tiny() if smoke else load(name)
    k_rows = len(np.unique(y))
    k_columns = k_rows if smoke else TERM_CLUSTERS.get(name, k_rows)
    record = {}
    for method, run in METHODS.items():
        try:
            seeds = FEW_SEEDS if run in (kpca, ksvd, transport) else SEEDS
            record[method] = _scores(run, X, y, k_rows, k_columns, 1 if smoke else seeds)
        except ImportError as error:
            print(f"{method} is left out: {error}")
    rows = [
        [m, r["nmi"], r["nmi_spread"], r["coherence"], r["coherence_spread"], r["seconds"]] for m, r in record.items()
    ]
    rows += [
        [f"{m} in the paper", cells[name][0], "", cells[name][1], "", ""] for m, cells in PAPER.items() if name in cells
    ]
    headings = ["method", "NMI", "+-", "coherence", "+-", "seconds"]
    print_table(f"{name}: {X.shape[0]} x {X.shape[1]}, {k_rows} and {k_columns} clusters", headings, rows)
    return {"shape": X.shape, "clusters": (k_rows, k_columns), "methods": record}


def _scores(run: Method, X: sparse.csr_array, y: np.ndarray, k_rows: int, k_columns: int, seeds: int) -> dict[str, Any]:
    nmi, coherence, seconds = [], [], []
    for seed in range(seeds):
        start = time.perf_counter()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            rows, columns = run(X, k_rows, k_columns, seed)
        seconds.append(time.perf_counter() - start)
        nmi.append(float(normalized_mutual_info_score(y, rows)))
        coherence.append(coherence_index(X, columns))
    return {
        "nmi": float(np.mean(nmi)),
        "nmi_spread": float(np.std(nmi)),
        "coherence": float(np.mean(coherence)),
        "coherence_spread": float(np.std(coherence)),
        "seconds": float(np.median(seconds)),
        "seeds": seeds,
    }


def ablation(smoke: bool) -> dict[str, Any]:
    """KernelBiclustering with one number changed at a time."""
    result: dict[str, Any] = {change: {} for change in ABLATION}
    for name in ("dblp",) if smoke else ABLATION_SEEDS:
        X, y = _tiny() if smoke else load(name)
        k_rows = len(np.unique(y))
        k_columns = k_rows if smoke else TERM_CLUSTERS.get(name, k_rows)
        for change, (parameters, constants) in ABLATION.items():
            with changed(constants):
                run = partial(ours, **parameters)
                result[change][name] = _scores(run, X, y, k_rows, k_columns, 1 if smoke else ABLATION_SEEDS[name])
    rows = [
        [change, *(f"{one[score]:.3f}" for one in found.values() for score in ("nmi", "coherence"))]
        for change, found in result.items()
    ]
    headings = [f"{name} {score}" for name in result["defaults"] for score in ("NMI", "coherence")]
    print_table("KernelBiclustering, one number changed at a time", ["changed", *headings], rows)
    return result


def maps(smoke: bool) -> dict[str, Any]:
    """KernelSVD with a1 and a2, aligned or not, and with a1 truncated to a few axes."""
    of, result = "kernel_svd.compatibility.build", dict[str, Any]()
    ways: dict[str, tuple[str, dict[str, Any]]] = {
        "a1": ("pca", {}),
        "a1, not aligned": ("pca", {f"{of}.aligned_axes": _unaligned}),
        "a2": ("random", {}),
        "a2, not aligned": ("random", {f"{of}.GRAM_SIDE": 0}),
        **{f"a1, {r} axes": ("pca", {f"{of}.ALIGNED_DIRECTIONS": r, f"{of}.GRAM_SIDE": 0}) for r in TRUNCATIONS},
    }
    for name in SETS[:1] if smoke else SETS[:4]:
        X, y = _tiny() if smoke else load(name)
        k_rows, k_columns = len(np.unique(y)), len(np.unique(y)) if smoke else TERM_CLUSTERS[name]
        result[name] = {}
        for way, (compatibility, constants) in ways.items():
            start = time.perf_counter()
            with changed(constants), warnings.catch_warnings():
                warnings.simplefilter("ignore")
                vectors = _vectors(X, k_columns, compatibility)
            seconds = time.perf_counter() - start
            scores = _scores(partial(_clustered, vectors), X, y, k_rows, k_columns, 1 if smoke else FEW_SEEDS)
            result[name][way] = scores | {"seconds": seconds}
    rows = [
        [name, way, one["nmi"], one["coherence"], one["seconds"]]
        for name, found in result.items()
        for way, one in found.items()
    ]
    print_table("KernelSVD, SNE, by compatibility", ["set", "compatibility", "NMI", "coherence", "seconds"], rows)
    return result


def _unaligned(W: Any, U: np.ndarray, N: Any, decompose: Any) -> np.ndarray:
    """Principal axes in place of their alignment: another minimiser of the paper's objective."""
    return np.eye(N.shape[1], U.shape[1])


def planted(smoke: bool) -> list[dict[str, Any]]:
    """Blocks, checkerboards and counts of known biclusters of unequal sizes, at rising levels of noise."""
    levels = {
        "blocks": (0.5, 1.0, 1.5, 2.0, 3.0),
        "checkerboard": (0.5, 1.0, 1.5, 2.0, 3.0),
        "counts": (0.1, 0.2, 0.4, 0.6),
    }
    record = []
    for kind, noises in levels.items():
        for noise in noises[:1] if smoke else noises:
            scores = [_planted_scores(kind, noise, seed) for seed in range(1 if smoke else SEEDS)]
            means = {name: float(np.mean([s[name] for s in scores])) for name in scores[0]}
            record.append({"kind": kind, "noise": noise, **means})
    names = list(record[0])
    print_table("planted biclusters, consensus score", names, [[row[name] for name in names] for row in record])
    return record


def _planted_scores(kind: str, noise: float, seed: int) -> dict[str, float]:
    X, rows, columns = plant(kind, noise, np.random.default_rng(seed))
    k, board = rows.max() + 1, kind == "checkerboard"
    truth = _indicators(rows, columns, k, board)
    shifted = X - min(X.min(), 0) + (X.min() <= 0)  # scikit-learn's methods divide by sums
    mine = KernelBiclustering((k, k) if board else k, random_state=seed).fit(X)
    scores = {"KernelBiclustering": consensus_score(mine.biclusters_, truth)}
    for model in (SpectralCoclustering(k, random_state=seed), SpectralBiclustering((k, k), random_state=seed)):
        model.fit(shifted)
        found = model.biclusters_
        if isinstance(model, SpectralBiclustering) and not board:
            found = _indicators(_renamed(rows, model.row_labels_), _renamed(columns, model.column_labels_), k, board)
        scores[type(model).__name__] = consensus_score(found, truth)
    return scores


def plant(kind: str, noise: float, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """A 300 x 200 table with four (a checkerboard: three) clusters of rows and of columns, shuffled."""
    sizes = ([150, 100, 50], [90, 70, 40]) if kind == "checkerboard" else ([120, 80, 60, 40], [80, 50, 40, 30])
    rows, columns = (rng.permutation(np.repeat(np.arange(len(s)), s)) for s in sizes)
    shape = len(rows), len(columns)
    met = rows[:, None] == columns
    if kind == "counts":
        rates = np.where(met, 1.0, noise) * rng.gamma(2, 0.5, shape[0])[:, None] * rng.gamma(2, 0.5, shape[1])
        return rng.poisson(rates).astype(float), rows, columns
    levels = rng.uniform(0.5, 2.5, (3, 3))[rows][:, columns] if kind == "checkerboard" else met
    return levels + noise * rng.standard_normal(shape), rows, columns


def _indicators(rows: np.ndarray, columns: np.ndarray, k: int, board: bool) -> tuple[np.ndarray, np.ndarray]:
    pairs = [(i, j) for i in range(k) for j in range(k) if board or i == j]
    return np.array([rows == i for i, _ in pairs]), np.array([columns == j for _, j in pairs])


def _renamed(truth: np.ndarray, labels: np.ndarray) -> np.ndarray:
    """Labels by the names of the true clusters that they match best."""
    counts = confusion_matrix(truth, labels)
    found = linear_sum_assignment(-counts)
    return found[0][np.argsort(found[1])][labels]


def speed(smoke: bool) -> dict[str, Any]:
    """Pubmed beside SpectralCoclustering, taking turns, and a sparse table of 20,000 x 20,000 in its own process."""
    X = _tiny()[0] if smoke else load("pubmed")[0]
    seconds = race(
        {
            "SpectralCoclustering": lambda: SpectralCoclustering(3, random_state=0).fit(X),
            "KernelBiclustering": lambda: KernelBiclustering(3, random_state=0).fit(X),
        },
        repeats=1 if smoke else 5,
    )
    ratio = seconds["KernelBiclustering"] / seconds["SpectralCoclustering"]
    large = in_child(__file__, "large", *((300, 2000) if smoke else (20_000, 10_000_000)))
    print_table("Pubmed", ["method", "seconds"], [*seconds.items(), ["ratio", ratio]])
    print_table("a large table", list(large), [list(large.values())])
    return {"pubmed": seconds, "ratio": ratio, "large": large}


def large(side: str, entries: str) -> dict[str, Any]:
    """Cluster a random sparse square table with ten planted biclusters."""
    n, nnz = int(side), int(entries)
    rng = np.random.default_rng(0)
    rows, columns = rng.integers(n, size=(2, nnz), dtype=np.int32)
    inside = rng.random(nnz) < 0.5
    columns[inside] = (columns[inside] // 10) * 10 % n + rows[inside] % 10
    X = sparse.csr_array((np.ones(nnz), (rows, np.minimum(columns, n - 1))), shape=(n, n))
    start = time.perf_counter()
    model = KernelBiclustering(10, random_state=0).fit(X)
    seconds = time.perf_counter() - start
    nmi = normalized_mutual_info_score(np.arange(n) % 10, model.row_labels_)
    return {"side": n, "entries": X.nnz, "seconds": seconds, "nmi": float(nmi)}


def _tiny() -> tuple[sparse.csr_array, np.ndarray]:
    X, rows, _ = plant("counts", 0.1, np.random.default_rng(0))
    return sparse.csr_array(X), rows


if __name__ == "__main__":
    parts = {name: partial(table, name) for name in SETS} | {"planted": planted, "speed": speed, "ablation": ablation}
    parts["maps"] = maps
    main(__file__, __doc__, parts, {"large": large})
