"""Rows of dense real-valued tables, clustered into their number of classes: gene expression, measurements, images.

Twenty tables, in alphabetical order: the 1st, 3rd, ... were used to choose how KernelBiclustering reads a table, and
the 2nd, 4th, ... ("report") were run once after all was fixed, and once more after k-means was given a feature less
for centred tables. NMI of the rows' classes, means over three seeds. No method is tuned to a table and none sees a
class. Peers get the tables as they are, but for what their names say; those that need positive entries get the table
shifted to a minimum of zero (logarithms: plus one thousandth of the range). "modularity" (CoclustMod: Ailem, Role,
Nadif, 2016) and "information" (Dhillon, Mallela, Modha, 2003) are written from their papers, with the best of ten
starts.

planted: blocks of 300 x 200 tables with noise one, and added to that levels of rows or columns, units of columns,
exponentials of both, or heavy tails; NMI of the rows.
ablation: the choosing half with one number or rule changed at a time.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from sklearn import datasets
from sklearn.cluster import KMeans, SpectralBiclustering, SpectralCoclustering
from sklearn.metrics import normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from biclustering_table2 import plant
from common import DATA, changed, main, print_table
from lopsided import KernelBiclustering

SEEDS = 3
STARTS = 10
SWEEPS = 50
BUNDLED = {
    "breast-cancer": datasets.load_breast_cancer,
    "digits": datasets.load_digits,
    "iris": datasets.load_iris,
    "wine": datasets.load_wine,
}
FOLDERS = {"ionosphere": "tabular", "sonar": "tabular", "satimage": "ssl", "segment": "ssl"}
GENES = (
    "bittner-2000", "chen-2002", "garber-2001", "khan-2001", "lapointe-2004-v1", "liang-2005", "nutt-2003-v1",
    "pomeroy-2002-v2", "risinger-2003", "su-2001", "tomlins-2006", "west-2001",
)  # fmt: skip
SETS = sorted([*BUNDLED, *FOLDERS, *GENES])
HALVES = {"choose": SETS[0::2], "report": SETS[1::2]}
EFFECTS = ("none", "row levels", "column levels", "column units", "exponentials", "heavy tails")
ABLATION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # parameters, and constants
    "defaults": ({}, {}),
    "attributes": ({"reading": "attributes"}, {}),
    "profiles": ({"reading": "profiles"}, {}),
    "counts, as for sparse tables": ({"reading": "counts"}, {}),
    "no refinement": ({"refine": False}, {}),
    "k-means on a feature for each cluster": (
        {},
        {"biclustering.clustering.Clustering.of_reading": lambda self, _: self},
    ),
    "comparable from 0.9": ({}, {"biclustering.readings.COMPARABLE": 0.9}),
    "comparable from 0.99": ({}, {"biclustering.readings.COMPARABLE": 0.99}),
    "2 halvings": ({}, {"biclustering.stability.N_SPLITS": 2}),
    "20 halvings": ({}, {"biclustering.stability.N_SPLITS": 20}),
}

Method = Callable[[np.ndarray, int, int], np.ndarray]


def load(name: str) -> tuple[np.ndarray, np.ndarray]:
    """A table and the classes of its rows."""
    if name in BUNDLED:
        return BUNDLED[name](return_X_y=True)
    with np.load(DATA / FOLDERS.get(name, "dense") / f"{name}.npz") as file:
        return file["X"].astype(float), file["y"]


def kmeans(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """k-means with ten starts."""
    return KMeans(k, n_init=STARTS, random_state=seed).fit_predict(X)


def standardised(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """k-means on standardised columns."""
    return kmeans(StandardScaler().fit_transform(X), k, seed)


def logarithms(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """k-means on logarithms."""
    return kmeans(np.log(X if X.min() > 0 else _shifted(X) + np.ptp(X) / 1000), k, seed)


def svd(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """k-means on the leading scores of the SVD."""
    U, s, _ = np.linalg.svd(X, full_matrices=False)
    return kmeans((U * s)[:, :k], k, seed)


def coclustering(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """scikit-learn's SpectralCoclustering."""
    return SpectralCoclustering(k, random_state=seed).fit(_shifted(X) + np.ptp(X) / 1000).row_labels_


def checkerboard(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """scikit-learn's SpectralBiclustering, by its method for logarithms."""
    columns = min(k, X.shape[1])
    model = SpectralBiclustering(
        (k, columns), method="log", n_components=max(6, k), n_best=max(3, k), random_state=seed
    )
    return model.fit(_shifted(X) + np.ptp(X) / 1000).row_labels_


def modularity(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Block-diagonal modularity, the trace of Z' (A - r c' / N) W, by assigning rows and columns in turn."""
    A = _shifted(X)
    B = A - A.sum(axis=1)[:, None] * A.sum(axis=0) / A.sum()
    rng, found = np.random.default_rng(seed), []
    for _ in range(STARTS):
        columns, rows = rng.integers(k, size=B.shape[1]), np.full(len(B), -1)
        for _ in range(SWEEPS):
            before, rows = rows, np.argmax(B @ np.eye(k)[columns], axis=1)
            columns = np.argmax(B.T @ np.eye(k)[rows], axis=1)
            if np.array_equal(before, rows):
                break
        found.append((float(np.trace(np.eye(k)[rows].T @ B @ np.eye(k)[columns])), rows))
    return max(found, key=lambda one: one[0])[1]


def information(X: np.ndarray, k: int, seed: int) -> np.ndarray:
    """Information-theoretic co-clustering: the largest mutual information of row and column clusters."""
    A = _shifted(X)
    P = A / A.sum()
    rng, found = np.random.default_rng(seed), []
    for _ in range(STARTS):
        rows, columns = rng.integers(k, size=P.shape[0]), rng.integers(k, size=P.shape[1])
        for _ in range(SWEEPS):
            before = rows
            rows = np.argmax(P @ np.eye(k)[columns] @ _ratios(P, rows, columns, k)[1].T, axis=1)
            columns = np.argmax(P.T @ np.eye(k)[rows] @ _ratios(P, rows, columns, k)[1], axis=1)
            if np.array_equal(before, rows):
                break
        joint, ratio = _ratios(P, rows, columns, k)
        found.append((float((joint * ratio).sum()), rows))
    return max(found, key=lambda one: one[0])[1]


def _ratios(P: np.ndarray, rows: np.ndarray, columns: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Joint distribution of row and column clusters, and logarithms of its ratio to that of independent ones."""
    joint = np.eye(k)[rows].T @ P @ np.eye(k)[columns] + np.finfo(float).tiny
    return joint, np.log(joint / joint.sum(axis=1)[:, None] / joint.sum(axis=0))


def _shifted(X: np.ndarray) -> np.ndarray:
    return X - min(X.min(), 0)


def ours(X: np.ndarray, k: int, seed: int, **parameters: Any) -> np.ndarray:
    """KernelBiclustering at its defaults, unless told otherwise."""
    return KernelBiclustering(k, random_state=seed, **parameters).fit(X).row_labels_


METHODS: dict[str, Method] = {
    "k-means, standardised": standardised,
    "k-means, logarithms": logarithms,
    "SVD + k-means": svd,
    "SpectralCoclustering": coclustering,
    "SpectralBiclustering": checkerboard,
    "modularity": modularity,
    "information": information,
    "KernelBiclustering": ours,
}


def half(name: str, smoke: bool) -> dict[str, Any]:
    """All methods on one half of the tables."""
    record: dict[str, Any] = {}
    for table in ("iris",) if smoke else HALVES[name]:
        X, y = load(table)
        found = {method: _judged(run, X, y, 1 if smoke else SEEDS) for method, run in METHODS.items()}
        reading = str(KernelBiclustering(len(np.unique(y)), random_state=0).fit(X).reading_)
        record[table] = {"shape": X.shape, "classes": len(np.unique(y)), "reading": reading, "methods": found}
    rows = [
        [table, f"{one['shape'][0]} x {one['shape'][1]}", *(one["methods"][method]["nmi"] for method in METHODS)]
        for table, one in record.items()
    ]
    rows.append(["mean", "", *(float(np.mean([row[i] for row in rows])) for i in range(2, 2 + len(METHODS)))])
    print_table(f"{name}: NMI of rows", ["table", "shape", *METHODS], rows)
    short = [row[0] for row in rows[:-1] if row[-1] < max(row[2:-1]) - 0.1]
    print(f"more than 0.1 below the best peer: {len(short)} of {len(rows) - 1}: {', '.join(map(str, short))}")
    return record


def _judged(run: Method, X: np.ndarray, y: np.ndarray, seeds: int) -> dict[str, float]:
    start, k = time.perf_counter(), len(np.unique(y))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        nmi = [float(normalized_mutual_info_score(y, run(X, k, seed))) for seed in range(seeds)]
    return {"nmi": float(np.mean(nmi)), "spread": float(np.std(nmi)), "seconds": (time.perf_counter() - start) / seeds}


def planted(smoke: bool) -> dict[str, Any]:
    """Blocks under effects that are not of interest."""
    record: dict[str, Any] = {}
    for effect in EFFECTS[:1] if smoke else EFFECTS:
        found: dict[str, list[float]] = {method: [] for method in METHODS}
        for seed in range(1 if smoke else SEEDS):
            X, rows = with_effect(effect, np.random.default_rng(seed))
            for method, run in METHODS.items():
                found[method].append(_judged(run, X, rows, 1)["nmi"])
        record[effect] = {method: float(np.mean(values)) for method, values in found.items()}
    print_table("planted blocks, NMI of rows", ["effect", *METHODS], [[e, *one.values()] for e, one in record.items()])
    return record


def with_effect(effect: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """A table of four planted blocks with noise one and an effect, and the clusters of its rows."""
    X, rows, _ = plant("blocks", 1.0, rng)
    n, m = X.shape
    changes: dict[str, Callable[[], np.ndarray]] = {
        "none": lambda: X,
        "row levels": lambda: X + 5 * rng.standard_normal((n, 1)),
        "column levels": lambda: X + 5 * rng.standard_normal((1, m)),
        "column units": lambda: X * 10 ** rng.uniform(-2, 2, (1, m)),
        "exponentials": lambda: np.exp(X + rng.standard_normal((n, 1)) + 2 * rng.standard_normal((1, m))),
        "heavy tails": lambda: X + 0.3 * rng.standard_t(1.5, size=X.shape),
    }
    return changes[effect](), rows


def ablation(smoke: bool) -> dict[str, Any]:
    """KernelBiclustering on the choosing half, one number or rule changed at a time."""
    record: dict[str, Any] = {}
    tables = {name: load(name) for name in (("iris",) if smoke else HALVES["choose"])}
    for change, (parameters, constants) in ABLATION.items():
        with changed(constants):
            run = partial(ours, **parameters)
            record[change] = {name: _judged(run, X, y, 1)["nmi"] for name, (X, y) in tables.items()}
    rows = [[change, *one.values(), float(np.mean(list(one.values())))] for change, one in record.items()]
    print_table("KernelBiclustering, one number or rule changed", ["changed", *tables, "mean"], rows)
    return record


if __name__ == "__main__":
    parts = {name: partial(half, name) for name in HALVES} | {"planted": planted, "ablation": ablation}
    main(__file__, __doc__, parts)
