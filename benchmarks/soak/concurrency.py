"""Estimators used and fitted from many threads and processes at once: same answers, no deadlock, no thread too many."""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from threadpoolctl import threadpool_info, threadpool_limits

from lopsided import AsymmetricLSSVC, KernelSVD
from lopsided._core import n_threads

from . import Budget, Row, timed
from .models import answers, data_for, distance, estimators, fit, same_bits, with_resources

USERS = 8  # threads that use one model
NEAR = 1e-10  # of answers whose sums have another order
PATIENCE = 120  # seconds after which a process counts as deadlocked
POLL = 0.002  # seconds between counts of threads


def rows(budget: Budget) -> list[Row]:
    """Threads, joblib's backends, a fork, and searches within searches."""
    few = budget.smoke
    names = list(estimators())[-7:-4] if few else list(estimators())
    return [
        timed(f"answers from {USERS} threads at once", 0, lambda: used_at_once(names, 2 if few else 20)),
        timed("fits in joblib's threads", NEAR, lambda: in_backend("threading", names)),
        timed("fits in joblib's processes (loky)", NEAR, lambda: in_backend("loky", names)),
        timed("fits after a fork", NEAR, lambda: after_fork(names)),
        timed("a grid search within cross-validation, on two workers each", 0.0, lambda: nested(40 if few else 120)),
        timed("threads beyond those of the caller and the cores", 0, lambda: surplus_threads(2 if few else 10)),
    ]


def answered(name: str, n: int = 60) -> list[np.ndarray]:
    """What a newly fitted estimator says."""
    model = with_resources(estimators()[name], random_state=3)
    X, y = data_for(model, n)
    return answers(fit(model, X, y), X)


def used_at_once(names: list[str], repeats: int) -> tuple[int, int, list[str]]:
    """Ask one fitted model from several threads that begin together."""
    wrong = []
    with ThreadPoolExecutor(USERS) as pool:
        for name in names:
            model = with_resources(estimators()[name], random_state=3)
            X, y = data_for(model)
            expected, start = answers(fit(model, X, y), X), threading.Barrier(USERS)

            def ask(_: int, model: Any = model, X: Any = X, start: Any = start) -> list[list[np.ndarray]]:
                start.wait()
                return [answers(model, X) for _ in range(repeats)]

            found = [each for many in pool.map(ask, range(USERS)) for each in many]
            if not all(same_bits(each, expected) for each in found):
                wrong.append(f"{name}: {max(distance(each, expected) for each in found):.1e}")
    return USERS * repeats * len(names), len(wrong), wrong


def _compared(names: list[str], found: list[list[np.ndarray]]) -> tuple[int, float, list[str]]:
    off = {name: distance(each, answered(name)) for name, each in zip(names, found, strict=True)}
    return len(names), max(off.values()), [f"{name}: {each:.1e}" for name, each in off.items() if each > NEAR]


def in_backend(backend: str, names: list[str]) -> tuple[int, float, list[str]]:
    """Fit each estimator on one of two workers of joblib."""
    return _compared(names, Parallel(2, backend=backend)(delayed(answered)(name) for name in names))


def _put(queue: Any, task: Callable[..., Any], *args: Any) -> None:
    queue.put(task(*args))


def after_fork(names: list[str]) -> tuple[int, float, list[str]]:
    """Use the threads of the library and of OpenMP, fork, and fit in the child."""
    X = np.random.default_rng(0).standard_normal((900, 400))
    with threadpool_limits(2):
        KernelSVD(5, kernel="sne", n_jobs=2).fit(X)
        kneighbors_graph(X, 3)
    fork, found = multiprocessing.get_context("fork"), []
    for name in names:
        queue = fork.Queue()
        child = fork.Process(target=_put, args=(queue, answered, name))
        child.start()
        try:
            found.append(queue.get(timeout=PATIENCE))
        except Exception:
            child.kill()
            return len(found) + 1, np.inf, [f"{name} did not answer within {PATIENCE} s of a fork"]
        child.join(PATIENCE)
    return _compared(names, found)


def nested(n: int) -> tuple[int, float, list[str]]:
    """Scores of a grid search within cross-validation, on one worker and on two within two."""
    rng = np.random.default_rng(0)
    X = rng.standard_normal((n, 6))
    y = (X[:, 0] * X[:, 1] > 0).astype(int)

    def scores(workers: int) -> np.ndarray:
        model = make_pipeline(KernelSVD(4, kernel="rbf"), AsymmetricLSSVC(C=[0.1, 1.0], kernel="rbf"))
        search = GridSearchCV(model, {"kernelsvd__n_components": [2, 4]}, cv=2, n_jobs=workers)
        return np.asarray(cross_val_score(search, X, y, cv=2, n_jobs=workers))

    off = float(np.abs(scores(2) - scores(1)).max())
    return 2, off, [] if off == 0 else [f"scores differ by {off:g}"]


def surplus_threads(repeats: int) -> tuple[int, int, list[str]]:
    """The most threads alive while USERS threads fit, less these, one for each core, and those that were there."""
    X, _ = data_for(AsymmetricLSSVC(), 300)
    before, most, stop = threading.active_count(), 0, threading.Event()

    def count() -> None:
        nonlocal most
        while not stop.is_set():
            most = max(most, threading.active_count())
            time.sleep(POLL)

    watch = threading.Thread(target=count)
    watch.start()
    with ThreadPoolExecutor(USERS) as pool:
        list(pool.map(lambda _: KernelSVD(5, kernel="sne").fit(X, Z=X[::-1]), range(USERS * repeats)))
    stop.set()
    watch.join()
    surplus = max(0, most - before - USERS - n_threads() - 1)
    blas = {each["num_threads"] for each in threadpool_info() if each["user_api"] == "blas"}
    wrong = [f"BLAS is left at {blas} threads"] if len(blas) > 1 else []
    return USERS * repeats, surplus, wrong + ([f"{surplus} threads too many"] if surplus else [])
