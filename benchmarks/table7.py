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
scale: fit, and transform to disk, of 1M and 10M rows; processes: two worker processes against two threads;
dense: against dask-ml's TruncatedSVD(20) on dense rows; kills: a driver killed at twenty random moments.
"""

from __future__ import annotations

import os
import random
import subprocess
import sys
import tempfile
import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import dask
import dask.array as da
import numpy as np
from sklearn.linear_model import LogisticRegression, SGDClassifier
from sklearn.metrics import roc_auc_score
from sklearn.preprocessing import StandardScaler

from common import DATA, in_child, main, print_table
from lopsided import KernelSVD, Nystrom
from lopsided.datasets import make_click_log
from lopsided.distributed import checkpoint, read_svmlight, sketch_columns
from lopsided.kernels import RBF

SEED, RANK, LANDMARKS, COLUMNS = 0, 20, 1000, 1_000_000
BANDWIDTH = 1.0  # the length of a row; not tuned
SIZES, SMOKE_SIZES = (1_000_000, 10_000_000), (2000, 8000)
PAPER = {"avazu": "avazu-app.tr", "criteo": "criteo.kaggle2014.svm", "amazoncat": "amazoncat13k.svm"}
PENALTIES = (1e-4, 1e-5, 1e-6)
DRIVER = """
import sys, dask
sys.path.insert(0, {folder!r})
from table7 import drive
drive(sys.argv[1], int(sys.argv[2]))
"""


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
    found = {n: in_child(__file__, "grown", n, smoke) for n in sizes}
    for n, one in found.items():
        print(n, one, flush=True)
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
def two_processes() -> Iterator[None]:
    """A client of two worker processes of one thread each, in force."""
    from distributed import Client, LocalCluster

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": None}
    with LocalCluster(**options) as cluster, Client(cluster):
        yield


def processes(smoke: bool) -> dict[str, float]:
    """Seconds of a fit and a transform with two threads and with two worker processes, taking turns."""
    X, _ = log_of(4000 if smoke else SIZES[0], smoke)
    seconds: dict[str, list[float]] = {"threads": [], "processes": []}

    def both() -> None:
        fitted = model(smoke).fit(X, Z=X)
        fitted.transform(X).sum(axis=0).compute()

    for _ in range(1 if smoke else 3):
        with dask.config.set(scheduler="threads", num_workers=2):
            start = time.perf_counter()
            both()
            seconds["threads"].append(time.perf_counter() - start)
        with two_processes():
            model(True).fit(X[:1000], Z=X[:1000])  # imports
            start = time.perf_counter()
            both()
            seconds["processes"].append(time.perf_counter() - start)
    medians = {name: float(np.median(times)) for name, times in seconds.items()}
    print_table("fit and transform", ["", "seconds"], list(medians.items()))
    print(f"\nspeed of processes over threads: {medians['threads'] / medians['processes']:.2f}")
    return medians


def dense(smoke: bool) -> dict[str, Any]:
    """Against dask-ml's TruncatedSVD(20) on dense rows, both from dask, with threads."""
    n, width = (2000, 30) if smoke else (1_000_000, 200)
    X = da.random.default_rng(SEED).standard_normal((n, width), chunks=(n // 20, width))
    X = (X * np.geomspace(5, 0.5, width)).astype(np.float32)
    landmarks = Nystrom(60 if smoke else LANDMARKS)
    tasks: dict[str, Callable[[], Any]] = {
        "KernelSVD, linear": lambda: KernelSVD(RANK, kernel="linear", solver=landmarks).fit(X, Z=X).transform(X),
        "KernelSVD, RBF": lambda: KernelSVD(RANK, kernel=RBF(20.0), solver=landmarks).fit(X, Z=X).transform(X),
    }
    try:
        from dask_ml.decomposition import TruncatedSVD

        for algorithm in ("tsqr", "randomized"):
            tasks[f"dask-ml TruncatedSVD, {algorithm}"] = lambda algorithm=algorithm: TruncatedSVD(
                RANK, algorithm=algorithm
            ).fit_transform(X)
    except ImportError as error:
        print(f"dask-ml is not there: {error}")
    record: dict[str, Any] = {}
    for name, task in tasks.items():
        try:
            start = time.perf_counter()
            task().sum(axis=0).compute()
            record[name] = time.perf_counter() - start
        except Exception as error:  # of the peer, which is part of the record
            record[name] = f"{type(error).__name__}: {error}"[:200]
        print(name, record[name], flush=True)
    print_table(f"{n} x {width} dense rows, fit and transform", ["", "seconds"], list(record.items()))
    return record


def drive(folder: str, n: int) -> None:
    """Fit and transform with checkpoints, as the process that is killed."""
    X, _ = make_click_log(n, 20_000, block_rows=max(100, n // 40), random_state=SEED)
    print("ready", flush=True)
    with dask.config.set(scheduler="threads", num_workers=2), checkpoint(f"{folder}/passes"):
        fitted = KernelSVD(5, kernel=RBF(BANDWIDTH), solver=Nystrom(100)).fit(X, Z=X)
        fitted.transform(X, out=f"{folder}/out")
    np.save(f"{folder}/values.npy", fitted.singular_values_)
    print("finished", flush=True)


def driven(folder: Path, n: int, patience: float | None) -> bool:
    """Run the driver, kill it after so many seconds of work, and tell whether it had finished."""
    script = DRIVER.format(folder=str(Path(__file__).parent))
    with subprocess.Popen([sys.executable, "-c", script, folder, str(n)], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        process.stdout.readline()
        if patience is not None:
            time.sleep(patience)
            process.kill()
        return "finished" in process.stdout.read()


def kills(smoke: bool) -> dict[str, int]:
    """Kill a driver at twenty random moments, let it resume after each, and compare bits."""
    n, wanted, draw = (2000, 1, random.Random(SEED)) if smoke else (40_000, 20, random.Random(SEED))
    with tempfile.TemporaryDirectory() as base:
        folders = [Path(base) / name for name in ("whole", "killed")]
        for folder in folders:
            folder.mkdir()
        start = time.perf_counter()
        driven(folders[0], n, None)
        length = time.perf_counter() - start
        record, turn = {"kills": 0, "resumed to the same bits": 0}, 0
        while record["kills"] < wanted:
            turn += 1
            killed = not driven(folders[1], n, draw.uniform(0, length / 2))
            record["kills"] += killed
            if not killed:
                _compare(*folders, record)
        if not record["resumed to the same bits"]:
            driven(folders[1], n, None)
            _compare(*folders, record)
    print_table(f"a driver killed by SIGKILL, {turn} starts", list(record), [list(record.values())])
    return record


def _compare(whole: Path, killed: Path, record: dict[str, int]) -> None:
    """Compare the results of both folders, and begin the killed one anew."""
    contents = [{path.name: path.read_bytes() for path in (folder / "out").iterdir()} for folder in (whole, killed)]
    if contents[0] != contents[1]:
        raise AssertionError("the results after kills differ")
    record["resumed to the same bits"] += 1
    for path in sorted(killed.rglob("*"), reverse=True):
        path.unlink() if path.is_file() else path.rmdir()


if __name__ == "__main__":
    warnings.filterwarnings("ignore", message="landmarks give a largest singular value")
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    parts = {"auroc": auroc, "small": small, "scale": scale, "processes": processes, "dense": dense, "kills": kills}
    main(__file__, __doc__, parts, {"grown": grown}, SEED)
