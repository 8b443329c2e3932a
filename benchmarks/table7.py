"""Table 7 of the 2024 paper, past one machine: click logs of millions of rows and columns, out of core.

    python benchmarks/table7.py                   everything
    python benchmarks/table7.py scale processes   parts of it
    python benchmarks/table7.py --smoke           seconds of it on few rows

auroc: area under the ROC curve of a logistic regression on 20 components of 1,000 landmarks, trained on the first 90 %
of the rows and tested on the last; peers are scikit-learn's SGDClassifier in one out-of-core pass over the hashed
features, at the best of three penalties by a tenth of the training rows, and dask-ml's TruncatedSVD where it runs.
Data: 1,000,000 generated rows of 1,000,000 columns, and the paper's sets if $LOPSIDED_DATA/clicks has avazu-app.tr,
criteo.kaggle2014.svm or amazoncat13k.svm, in the format of svmlight.
small: the same with 200,000 generated rows.
scale: fit, and transform to disk, of 1M and 10M rows, medians of three runs; processes: two worker processes against
two threads; dense: against dask-ml's TruncatedSVD(20) on dense rows; graph: a graph on disk against one in memory.
"""

from __future__ import annotations

import os
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from common import DATA, in_child, main, print_table
from lopsided import DirectedGraphEmbedding, KernelSVD, Nystrom
from lopsided.datasets import make_click_log
from lopsided.distributed import read_svmlight, sketch_columns, store_graph
from lopsided.io import read_graph
from lopsided.kernels import RBF, Katz, NodeKernel

SEED, RANK, LANDMARKS, COLUMNS = 0, 20, 1000, 1_000_000
BANDWIDTH = 1.0  # the length of a row; not tuned
REPEATS = 3
MALLOC = (
    "MALLOC_TRIM_THRESHOLD_",
    "MALLOC_MMAP_THRESHOLD_",
)  # dask lowers the first, so that every array is new memory
SIZES, SMOKE_SIZES = (1_000_000, 10_000_000), (2000, 8000)
PAPER = {"avazu": "avazu-app.tr", "criteo": "criteo.kaggle2014.svm", "amazoncat": "amazoncat13k.svm"}
PENALTIES = (1e-4, 1e-5, 1e-6)


def model(smoke: bool = False, seed: int = SEED) -> KernelSVD:
    """The kernel SVD of the table."""
    return KernelSVD(RANK, kernel=RBF(BANDWIDTH), solver=Nystrom(60 if smoke else LANDMARKS), random_state=seed)


def log_of(n: int, smoke: bool = False) -> tuple[Any, Any]:
    """A click log in blocks of 50,000 rows."""
    return make_click_log(n, 5000 if smoke else COLUMNS, block_rows=500 if smoke else 50_000, random_state=SEED)


def sets(n: int, smoke: bool) -> Iterator[tuple[str, Any, Any]]:
    """Names, rows and labels of a generated log of n rows and of the paper's sets that are there."""
    yield f"generated, {n} rows", *log_of(n, smoke)
    for name, file in PAPER.items():
        path = DATA / "clicks" / file
        if path.exists() and not smoke:
            X, y = read_svmlight(path, COLUMNS, hashed=True)
            yield name, X, (y > 0).astype(np.int8)


def auroc_of(features: Any, y: np.ndarray) -> float:
    """Test AUROC of a logistic regression on standardised features of all rows, the last tenth for testing."""
    F, edge = np.asarray(features), int(0.9 * len(y))
    scaler = StandardScaler().fit(F[:edge])
    fitted = LogisticRegression(max_iter=300).fit(scaler.transform(F[:edge]), y[:edge])
    return float(roc_auc_score(y[edge:], fitted.decision_function(scaler.transform(F[edge:]))))


def sgd(X: Any, y: np.ndarray) -> float:
    """Test AUROC of logistic regression by one pass of SGD over blocks, its penalty by the last training tenth."""
    starts = np.concatenate([[0], np.cumsum(X.chunks[0])])
    edges = int(0.8 * len(y)), int(0.9 * len(y))
    models = [SGDClassifier(loss="log_loss", alpha=alpha, random_state=SEED) for alpha in PENALTIES]
    scores: list[list[np.ndarray]] = [[] for _ in models]
    for number in range(X.numblocks[0]):
        block, labels = X.blocks[number].compute(), y[starts[number] : starts[number + 1]]
        for each, found in zip(models, scores, strict=True):
            if (height := edges[0] - starts[number]) > 0:
                each.partial_fit(block[:height], labels[:height], classes=[0, 1])
            found.append(each.decision_function(block))
    held, test = slice(*edges), slice(edges[1], None)
    joined = [np.concatenate(found) for found in scores]
    best = max(joined, key=lambda values: roc_auc_score(y[held], values[held]))
    return float(roc_auc_score(y[test], best[test]))


def auroc(smoke: bool, n: int = SIZES[0]) -> dict[str, dict[str, float]]:
    """The table, with n generated rows."""
    record: dict[str, dict[str, float]] = {}
    p = 60 if smoke else LANDMARKS
    for name, X, labels in sets(4000 if smoke else n, smoke):
        y, edge = labels.compute(), int(0.9 * X.shape[0])
        training = X[:edge]
        ways: dict[str, Callable[[], Any]] = {
            "KPCA": lambda X=X, T=training: model(smoke).fit(T, Z=T).transform(X),
            "KernelSVD, columns by rows": lambda X=X, T=training: (
                model(smoke).fit(T, Z=sketch_columns(T, p)).transform(X)
            ),
            "KernelSVD, columns by a2": lambda X=X, T=training: (
                model(smoke).fit(T, Z=sketch_columns(T, p, compatibility="random")).transform(X)
            ),
        }
        record[name] = {}
        for way, features in ways.items():
            start = time.perf_counter()
            record[name][way] = auroc_of(features(), y)
            record[name][f"{way}, seconds"] = time.perf_counter() - start
            print(name, way, record[name][way], flush=True)
        start = time.perf_counter()
        record[name]["SGD on hashed features"] = sgd(X, y)
        record[name]["SGD on hashed features, seconds"] = time.perf_counter() - start
    for name, found in record.items():
        rows = [[way, value, found[f"{way}, seconds"]] for way, value in found.items() if "seconds" not in way]
        print_table(f"{name}: AUROC", ["", "AUROC", "seconds"], rows)
    return record


def small(smoke: bool) -> dict[str, dict[str, float]]:
    """The table with a fifth of the rows."""
    return auroc(smoke, SIZES[0] // 5)


def grown(n: str, smoke: str) -> dict[str, Any]:
    """Fit to n rows and transform them to disk, in a process of its own."""
    X, _ = log_of(int(n), smoke == "True")
    with tempfile.TemporaryDirectory() as folder:
        start, cpu = time.perf_counter(), time.process_time()
        fitted = model(smoke == "True").fit(X, Z=X)
        fit, fit_cpu = time.perf_counter() - start, time.process_time() - cpu
        start, cpu = time.perf_counter(), time.process_time()
        fitted.transform(X, out=Path(folder) / "out")
        transform, transform_cpu = time.perf_counter() - start, time.process_time() - cpu
    return {"fit": fit, "transform": transform, "fit_cpu": fit_cpu, "transform_cpu": transform_cpu}


def scale(smoke: bool) -> dict[str, Any]:
    """Time and memory of a million and of ten million rows, and the slope between them."""
    sizes = SMOKE_SIZES if smoke else SIZES
    found = {}
    for n in sizes:
        runs = [in_child(__file__, "grown", n, smoke) for _ in range(1 if smoke else REPEATS)]
        found[n] = {name: float(np.median([one[name] for one in runs])) for name in runs[0]} | {"runs": runs}
        print(n, found[n], flush=True)
    print_table(
        f"{LANDMARKS} landmarks, rank {RANK}, {COLUMNS} columns",
        ["rows", "fit, s", "CPU s", "transform, s", "CPU s", "peak, GB"],
        [
            [n, one["fit"], one["fit_cpu"], one["transform"], one["transform_cpu"], one["peak_bytes"] / 1e9]
            for n, one in found.items()
        ],
    )
    less, more = (found[n] for n in sizes)
    ratio = np.log(sizes[1] / sizes[0])
    slopes = {
        kind: float(
            np.log((more["fit" + kind] + more["transform" + kind]) / (less["fit" + kind] + less["transform" + kind]))
            / ratio
        )
        for kind in ("", "_cpu")
    }
    print(f"\nslope of time in log-log: {slopes['']:.3f}, of CPU time {slopes['_cpu']:.3f}")
    return {"sizes": found, "slopes": slopes}


@contextmanager
def two_processes(keep_memory: bool = False) -> Iterator[Any]:
    """A client of two worker processes of one thread each, in force; their malloc may keep what is freed."""
    from distributed import Client, LocalCluster

    kept = {f"distributed.nanny.pre-spawn-environ.{name}": str(1 << 27) for name in MALLOC} if keep_memory else {}
    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0"}
    with dask.config.set(kept), LocalCluster(**options) as cluster, Client(cluster) as client:
        yield client


def processes(smoke: bool) -> dict[str, Any]:
    """Seconds of a fit and a transform with two threads and with two worker processes, taking turns."""
    X, _ = log_of(4000 if smoke else SIZES[0], smoke)
    runs: dict[str, list[tuple[float, float]]] = {}

    def run(name: str, client: Any = None) -> None:
        model(True).fit(X[:1000], Z=X[:1000])  # imports
        start, cpu = time.perf_counter(), _cpu(client)
        model(smoke).fit(X, Z=X).transform(X).sum(axis=0).compute()
        runs.setdefault(name, []).append((time.perf_counter() - start, _cpu(client) - cpu))

    for _ in range(1 if smoke else REPEATS):
        with dask.config.set(scheduler="threads", num_workers=2):
            run("threads")
        for name, keep_memory in list({"processes": False, "processes that keep memory": True}.items())[smoke:]:
            with two_processes(keep_memory) as client:
                run(name, client)
    medians = {name: np.median(times, axis=0).tolist() for name, times in runs.items()}
    base = medians["threads"]
    rows = [[name, *found, base[0] / found[0], base[1] / found[1]] for name, found in medians.items()]
    print_table("fit and transform", ["", "seconds", "CPU s", "speed", "speed by CPU"], rows)
    return {"medians": medians, "runs": runs}


def _cpu(client: Any) -> float:
    """CPU seconds of this process, and of the workers of a client."""
    return time.process_time() + (0.0 if client is None else sum(client.run(time.process_time).values()))


def dense(smoke: bool) -> dict[str, Any]:
    """Against dask-ml's TruncatedSVD(20) on the same dense rows in memory, both from dask, with threads."""
    n, width = (2000, 30) if smoke else (200_000, 200)
    X = da.random.default_rng(SEED).standard_normal((n, width), chunks=(n // 20, width))
    X = (X * np.geomspace(5, 0.05, width)).astype(np.float32).persist()
    exact = np.sqrt(np.linalg.eigvalsh((X.T.astype(float) @ X.astype(float)).compute())[-RANK:])
    landmarks = Nystrom(60 if smoke else LANDMARKS)
    tasks: dict[str, Callable[[], Any]] = {
        "KernelSVD, linear": lambda: KernelSVD(RANK, kernel="linear", solver=landmarks).fit(X, Z=X),
        "KernelSVD, RBF": lambda: KernelSVD(RANK, kernel=RBF(20.0), solver=landmarks).fit(X, Z=X),
    }
    try:
        from dask_ml.decomposition import TruncatedSVD

        for algorithm in ("tsqr", "randomized"):
            tasks[f"dask-ml TruncatedSVD, {algorithm}"] = partial(TruncatedSVD(RANK, algorithm=algorithm).fit, X)
    except ImportError as error:
        print(f"dask-ml is not there: {error}")
    record = {name: _raced(name, task, X, exact) for name, task in tasks.items()}
    rows = [[name, *found.values()] for name, found in record.items()]
    print_table(f"{n} x {width} dense rows, fit and transform", ["", "seconds", "CPU s", "error of s"], rows)
    return record


def _raced(name: str, fit: Callable[[], Any], X: Any, exact: np.ndarray) -> dict[str, Any]:
    """Seconds of a fit and a transform, medians of a few runs, and the error of the singular values of linear ones."""
    runs, error = [], np.nan
    for _ in range(REPEATS):
        start, cpu = time.perf_counter(), time.process_time()
        try:
            fitted = fit()
            fitted.transform(X).sum(axis=0).compute()
        except Exception as fault:  # of the peer, which is part of the record
            return {"seconds": np.nan, "cpu": np.nan, "error": f"{type(fault).__name__}: {fault}"[:80]}
        runs.append((time.perf_counter() - start, time.process_time() - cpu))
    if "RBF" not in name:
        found = np.sort(fitted.singular_values_ if "dask-ml" in name else np.sqrt(fitted.singular_values_))
        error = float(np.abs(found / exact - 1).max())
    seconds, cpu = np.median(runs, axis=0).tolist()
    return {"seconds": seconds, "cpu": cpu, "error": error}


def drawn_edges(number: int, n: int, count: int) -> pd.DataFrame:
    """Edges of a graph of n nodes: sources by a power law, targets likewise within a community or anywhere."""
    rng = np.random.default_rng((SEED, number))
    source, near = ((n * rng.random(count) ** 2).astype(np.int64) for _ in range(2))
    target = np.where(rng.random(count) < 0.5, near, source // 1000 * 1000 + near % 1000)
    return pd.DataFrame({"source": source, "target": np.minimum(target, n - 1)})


def embedded(folder: str, kernel: str, where: str, k: str) -> dict[str, Any]:
    """Read a folder of edges and embed its nodes, in a process of its own."""
    start = time.perf_counter()
    if where == "blocks":
        graph: Any = store_graph(f"{folder}/edges", f"{folder}/blocks-{kernel}", dtype=np.float32)
    else:
        frame = pd.read_parquet(f"{folder}/edges")
        graph = read_graph(frame.assign(weight=np.ones(len(frame), dtype=np.float32)))
    read = time.perf_counter() - start
    settings = {"kernel": {"links": NodeKernel(), "Katz": Katz()}[kernel], "decoder": "factors", "random_state": SEED}
    start = time.perf_counter()
    fitted = DirectedGraphEmbedding(int(k), **settings).fit(graph)
    fit = time.perf_counter() - start
    return {"read": read, "fit": fit, "edges": int(graph.adjacency.nnz), "s": float(fitted.singular_values_[0])}


def graph(smoke: bool) -> dict[str, Any]:
    """Embeddings of a graph whose edges are in blocks on disk, and of the same graph in memory."""
    cases = {"links": (1_000_000, 20_000_000, 16), "Katz": (200_000, 2_000_000, 16)}
    record: dict[str, Any] = {}
    for kernel, (n, m, k) in cases.items():
        n, m, k = (500, 3000, 4) if smoke else (n, m, k)
        with tempfile.TemporaryDirectory() as folder:
            parts = dd.from_map(drawn_edges, range(20), n=n, count=m // 20)
            parts.to_parquet(f"{folder}/edges")
            for where in ("blocks", "memory"):
                name = f"{kernel}, {n} nodes, {where}"
                record[name] = in_child(__file__, "embedded", folder, kernel, where, k)
                print(name, record[name], flush=True)
    rows = [[name, one["edges"], one["read"], one["fit"], one["peak_bytes"] / 1e9] for name, one in record.items()]
    print_table("16 components", ["", "edges", "read, s", "fit, s", "peak, GB"], rows)
    return record


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="landmarks give")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parts = {"auroc": auroc, "small": small, "scale": scale, "processes": processes, "dense": dense, "graph": graph}
    main(__file__, __doc__, parts, {"grown": grown, "embedded": embedded}, SEED)
