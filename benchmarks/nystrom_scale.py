"""The asymmetric Nystrom method on dense data: a million rows, growth with the rows, and where landmarks lie.

    python benchmarks/nystrom_scale.py            everything (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/nystrom_scale.py --smoke    seconds of it on small generated data

million: 1,000,000 x 50 points in float32 from a seeded mixture, RBF kernel between the set and itself, 1,000 landmarks
on each side, rank 20; the same number of landmarks for scikit-learn's Nystroem followed by TruncatedSVD. The floor is
the matrix product and the exponential of the kernel blocks of both sides, nothing else; as they are one set and the
kernel is symmetric, one side is evaluated and serves as both. "Two sets" is the same with the rows in another order as
right points, which have landmarks of their own.
growth: the same with the points in a mapped file. landmarks: RBF kernel between two halves of protein-casp; the fewest
landmarks whose eta, against the exact factors, is at most 1e-2 and 1e-3, medians over seeds.
ablation: eta on 1,500 rows of either half at ranks 5 and 20 with the default number of landmarks, medians over seeds,
with one number of the method changed at a time; and the eta that a search with a tolerance estimates, beside the true.
"""

from __future__ import annotations

import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.kernel_approximation import Nystroem
from sklearn.preprocessing import StandardScaler

from common import DATA, changed, clock, eta, in_child, main, print_table
from lopsided import KernelSVD, Nystrom
from lopsided._core.threads import run, slices_of
from lopsided.kernels import RBF
from lopsided.nystrom.landmarks import STRATEGIES

SEED = 0
RANK = 20
WIDTH = 50
BANDWIDTH = 12.0
ABLATION_RANKS, ABLATION_ROWS = (5, 20), 1500
ABLATION: dict[str, tuple[dict[str, Any], dict[str, Any]]] = {  # parameters of Nystrom, and constants
    "uniform, defaults": ({}, {}),
    "10 landmarks per component": ({}, {"nystrom.solver.PER_COMPONENT": 10}),
    "40 landmarks per component": ({}, {"nystrom.solver.PER_COMPONENT": 40}),
    "at least 50 landmarks": ({}, {"nystrom.solver.FEWEST_LANDMARKS": 50}),
    "at least 400 landmarks": ({}, {"nystrom.solver.FEWEST_LANDMARKS": 400}),
    "oversampling 1": ({}, {"nystrom.extension.OVERSAMPLING": 1}),
    "oversampling 4": ({}, {"nystrom.extension.OVERSAMPLING": 4}),
    "combinations from 500 rows": ({}, {"nystrom.extension.SAMPLE_ROWS": 500}),
    "kmeans": ({"landmarks": "kmeans"}, {}),
    "kmeans, 2 points per cluster": ({"landmarks": "kmeans"}, {"nystrom.landmarks.POINTS_PER_CLUSTER": 2}),
    "leverage": ({"landmarks": "leverage"}, {}),
    "leverage, none uniform": ({"landmarks": "leverage"}, {"nystrom.landmarks.UNIFORM_SHARE": 0.0}),
    "pivoted": ({"landmarks": "pivoted"}, {}),
    "pivoted, 5 candidates per pivot": ({"landmarks": "pivoted"}, {"nystrom.landmarks.CANDIDATES_PER_PIVOT": 5}),
    "pivoted, 8 watched columns": ({"landmarks": "pivoted"}, {"nystrom.landmarks.WATCHED_COLUMNS": 8}),
    "pivoted, 256 watched columns": ({"landmarks": "pivoted"}, {"nystrom.landmarks.WATCHED_COLUMNS": 256}),
}
SEARCH_RANK, SEARCH_TOL = 10, 1e-2
SEARCH: dict[str, dict[str, Any]] = {
    "defaults": {},
    "8 landmarks per component first": {"nystrom.solver.FIRST_PER_COMPONENT": 8},
    "four times as many after each": {"nystrom.solver.GROWTH": 4},
    "32 held-out rows": {"nystrom.error.HELD_OUT_ROWS": 32},
    "512 held-out rows": {"nystrom.error.HELD_OUT_ROWS": 512},
}


def points(n: int, path: Path | None = None) -> np.ndarray:
    """A seeded mixture of twenty normal clouds, in memory or in a mapped file."""
    rng = np.random.default_rng(SEED)
    centres = 2 * rng.standard_normal((20, WIDTH), dtype=np.float32)
    X = np.empty((n, WIDTH), np.float32) if path is None else np.memmap(path, np.float32, "w+", shape=(n, WIDTH))
    for rows in slices_of(n, 100_000):
        height = rows.stop - rows.start
        X[rows] = centres[rng.integers(20, size=height)] + rng.standard_normal((height, WIDTH), dtype=np.float32)
    return X


def model(n_landmarks: int) -> KernelSVD:
    """The method as it is timed."""
    kernel = RBF(BANDWIDTH)
    return KernelSVD(RANK, kernel=kernel, solver=Nystrom(n_landmarks), random_state=SEED)


def floor(X: np.ndarray, n_landmarks: int) -> float:
    """Seconds of the products and exponentials of k(X, landmarks), on threads, in blocks that fit the cache."""
    kernel = RBF(BANDWIDTH).fit(X[:n_landmarks], X[:n_landmarks])
    L, R = kernel.left(X), kernel.right(X[:n_landmarks])

    def block(rows: slice) -> None:
        P = L[rows] @ R.T
        np.exp(P, out=P)

    start = time.perf_counter()
    run(block, slices_of(len(X), 256))
    return time.perf_counter() - start


def child_ours(n: str, n_landmarks: str) -> dict[str, Any]:
    """Fit and transform in one go, and the floor of both sides' blocks before and after."""
    X = points(int(n))
    model(10 + RANK).fit(X[:1000], Z=X[:1000])  # threads and libraries are awake
    floors = [floor(X, int(n_landmarks))]
    estimator, turned = model(int(n_landmarks)), X[::-1].copy()
    seconds: dict[str, list[float]] = {"one": [], "two": []}
    for _ in range(3):
        seconds["two"].append(clock(lambda: estimator.fit_transform(X, Z=turned), 1)[0])
        spent, scores = clock(lambda: estimator.fit_transform(X, Z=X), 1)
        seconds["one"].append(spent)
        floors.append(floor(X, int(n_landmarks)))
    factors = estimator.left_vectors_, estimator.right_vectors_
    return {
        "seconds": statistics.median(seconds["one"]),
        "two_sets": statistics.median(seconds["two"]),
        "floor": 2 * statistics.median(floors),
        "input_bytes": X.nbytes,
        "output_bytes": scores.nbytes + sum(side.nbytes for side in factors),
    }


def child_memory(n: str, n_landmarks: str) -> dict[str, Any]:
    """One fit and nothing else, for its memory."""
    X = points(int(n))
    scores = model(int(n_landmarks)).fit_transform(X, Z=X)
    return {"input_bytes": X.nbytes, "output_bytes": 3 * scores.nbytes}


def child_sklearn(n: str, n_landmarks: str) -> dict[str, Any]:
    """Nystroem features and their truncated SVD."""
    X = points(int(n))
    start = time.perf_counter()
    features = Nystroem(gamma=BANDWIDTH**-2, n_components=int(n_landmarks), random_state=SEED).fit_transform(X)
    TruncatedSVD(RANK, random_state=SEED).fit_transform(features)
    return {"seconds": time.perf_counter() - start}


def million(smoke: bool) -> dict[str, Any]:
    """A million rows: time, floor, scikit-learn, memory."""
    n, p = (2000, 50) if smoke else (1_000_000, 1000)
    found = {name: in_child(__file__, name, n, p) for name in ("ours", "memory", "sklearn")}
    ours, memory = found["ours"], found["memory"]
    beyond = memory["peak_bytes"] - memory["input_bytes"] - memory["output_bytes"]
    if not smoke:
        print_table(
            f"{n:,} x {WIDTH} float32, {p:,} landmarks on each side, rank {RANK}",
            ["", "seconds", "against the floor", "peak GB"],
            [
                [
                    "lopsided fit + transform",
                    ours["seconds"],
                    ours["seconds"] / ours["floor"],
                    memory["peak_bytes"] / 1e9,
                ],
                ["lopsided, two sets", ours["two_sets"], ours["two_sets"] / ours["floor"], ""],
                ["floor: the same products and exponentials", ours["floor"], 1.0, ""],
                [
                    "scikit-learn Nystroem + TruncatedSVD",
                    found["sklearn"]["seconds"],
                    found["sklearn"]["seconds"] / ours["floor"],
                    found["sklearn"]["peak_bytes"] / 1e9,
                ],
            ],
        )
        ratio = found["sklearn"]["seconds"] / ours["seconds"]
        print(f"\n{ratio:.1f}x faster; {beyond / 1e9:.2f} GB beyond input and output")
    return {**found, "beyond_bytes": beyond}


def child_growth(n: str, n_landmarks: str) -> dict[str, Any]:
    """One fit of points in a mapped file."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "points.f32"
        points(int(n), path)
        X = np.memmap(path, np.float32, "r", shape=(int(n), WIDTH))
        start = time.perf_counter()
        scores = model(int(n_landmarks)).fit_transform(X, Z=X)
        seconds = time.perf_counter() - start
    return {"seconds": seconds, "input_bytes": X.nbytes, "output_bytes": 3 * scores.nbytes}


def growth(smoke: bool) -> list[dict[str, Any]]:
    """Time and memory from 100,000 to 3,200,000 rows."""
    sizes, p = ((500, 1000), 50) if smoke else ((100_000, 320_000, 1_000_000, 3_200_000), 1000)
    rows = []
    for n in sizes:
        runs = [in_child(__file__, "growth", n, p) for _ in range(1 if smoke else 3)]
        row = min(runs, key=lambda run: run["seconds"])
        beyond = max(run["peak_bytes"] - run["input_bytes"] - run["output_bytes"] for run in runs)
        rows.append({"rows": n, "seconds": row["seconds"], "peak_bytes": row["peak_bytes"], "beyond_bytes": beyond})
    slope = float(np.polyfit(np.log(sizes), np.log([row["seconds"] for row in rows]), 1)[0])
    if not smoke:
        print_table(
            f"growth, {p:,} landmarks on each side, points in a mapped file; log-log slope {slope:.2f}",
            ["rows", "seconds", "peak GB", "GB beyond input and output"],
            [[f"{r['rows']:,}", r["seconds"], r["peak_bytes"] / 1e9, r["beyond_bytes"] / 1e9] for r in rows],
        )
    return [*rows, {"slope": slope}]


def protein(smoke: bool) -> tuple[np.ndarray, np.ndarray]:
    """Two disjoint samples of standardised protein-casp, or of the mixture."""
    if smoke:
        X = points(300).astype(float)
        return X[:150], X[150:]
    with np.load(DATA / "tabular" / "protein-casp.npz") as file:
        X = StandardScaler().fit_transform(file["X"])
    X = X[np.random.default_rng(SEED).permutation(len(X))]
    return X[:3000], X[3000:6000]


def landmarks(smoke: bool) -> list[dict[str, Any]]:
    """How many landmarks of each kind a given accuracy takes."""
    X, Z = protein(smoke)
    kernel = RBF()
    U, s, Vt = np.linalg.svd(kernel(X, Z), full_matrices=False)
    exact = U[:, :RANK], s[:RANK] / s[0], Vt[:RANK].T
    counts = (40, 60) if smoke else (24, 32, 40, 50, 64, 80, 100, 128, 160, 200, 256, 320, 400, 512)
    wanted = (1e-2, 1e-3)
    rows = []
    for strategy in STRATEGIES:
        for extension in ("orthonormal", "plain"):
            errors = []
            for count in counts:
                found = []
                for seed in range(1 if smoke else 5):
                    fitted = KernelSVD(
                        RANK,
                        kernel=kernel,
                        solver=Nystrom(count, landmarks=strategy, extension=extension),
                        random_state=seed,
                    ).fit(X, Z=Z)
                    found.append(eta(exact, fitted.left_vectors_, fitted.right_vectors_))
                errors.append(statistics.median(found))
                if errors[-1] <= min(wanted):
                    break
            needed = {
                str(bound): next((c for c, e in zip(counts, errors, strict=False) if e <= bound), None)
                for bound in wanted
            }
            rows.append({"landmarks": strategy, "extension": extension, "needed": needed, "eta": errors})
    if not smoke:
        print_table(
            f"landmarks on each side for eta at rank {RANK}, RBF on protein-casp, {len(X):,} x {len(Z):,}",
            ["landmarks", "extension", *(f"eta <= {bound:g}" for bound in wanted)],
            [[r["landmarks"], r["extension"], *(c or f"> {counts[-1]}" for c in r["needed"].values())] for r in rows],
        )
    return [*rows, {"counts": counts}]


def ablation(smoke: bool) -> dict[str, Any]:
    """Eta with one number changed at a time, of a default number of landmarks and of a search for it."""
    X, Z = (side[:ABLATION_ROWS] for side in protein(smoke))
    kernel, seeds = RBF(), range(1 if smoke else 3)
    U, s, Vt = np.linalg.svd(kernel(X, Z), full_matrices=False)

    def fitted(k: int, seed: int, method: Nystrom, tol: float = 0.0) -> tuple[KernelSVD, float]:
        svd = KernelSVD(k, kernel=kernel, solver=method, tol=tol, random_state=seed).fit(X, Z=Z)
        return svd, eta((U[:, :k], s[:k] / s[0], Vt[:k].T), svd.left_vectors_, svd.right_vectors_)

    fixed: dict[str, Any] = {}
    for change, (parameters, constants) in ABLATION.items():
        with changed(constants):
            fixed[change] = {k: [fitted(k, seed, Nystrom(**parameters))[1] for seed in seeds] for k in ABLATION_RANKS}
    rows = [[change, *(statistics.median(errors) for errors in found.values())] for change, found in fixed.items()]
    print_table("eta, one number changed at a time", ["changed", *(f"rank {k}" for k in ABLATION_RANKS)], rows)

    searched: dict[str, Any] = {}
    for change, constants in SEARCH.items():
        with changed(constants):
            found = [fitted(SEARCH_RANK, seed, Nystrom(), SEARCH_TOL) for seed in seeds]
        searched[change] = [
            {"landmarks": svd.path_[-1].left, "estimated": svd.relative_eta_, "eta": error} for svd, error in found
        ]
    names = ("landmarks", "estimated", "eta")
    rows = [[change, *(statistics.median(one[n] for one in f) for n in names)] for change, f in searched.items()]
    print_table(f"a search for eta <= {SEARCH_TOL:g} at rank {SEARCH_RANK}", ["changed", *names], rows)
    return {"fixed": fixed, "searched": searched}


CHILDREN = {"ours": child_ours, "memory": child_memory, "sklearn": child_sklearn, "growth": child_growth}
PARTS = {"million": million, "growth": growth, "landmarks": landmarks, "ablation": ablation}

if __name__ == "__main__":
    main(__file__, __doc__, PARTS, CHILDREN, SEED)
