"""Seconds of AsK-LS: all classes at once, sparse and dense, and a path of C with exact leave-one-out.

    python benchmarks/askls_speed.py            everything (data beside the project, or in $LOPSIDED_DATA)
    python benchmarks/askls_speed.py --smoke    on small generated data

The peer is the system (6) of the paper as it stands: for each class its own dense matrix of size 2n + 2, solved by
numpy. A time counts only if the answer differs from the peer's by less than 1e-8; of the path, what is said of a few
samples is checked against refits. Medians of runs that take turns; on a busy machine set OMP_NUM_THREADS=1, for BLAS
threads that wait for each other there make small factorisations slower than large ones.
mnist: AsymmetricLSSVC() without arguments on the first 60,000 digits, in a process of its own; peak memory counts the
digits. mnist_svc: scikit-learn's SVC at three values of gamma, a process to each, which takes half an hour. Both count
processor time, of fit and predictions.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.datasets import load_digits
from sklearn.svm import SVC

from common import DATA, clock, in_child, load_graph, load_labels, main, print_table, race
from lopsided import AsymmetricLSSVC
from lopsided.datasets import make_citation_graph
from lopsided.kernels import SNE, NodeKernel
from lopsided.least_squares.saddle import BlockLU, Dense, Duals, Spectral
from lopsided.operators import Stored

SEED = 0
ACCURATE = 1e-8
CLASSES = 7
PATH = np.logspace(-3, 1, 50)
GAMMAS = 0.01, 0.02, 0.04  # for digits with pixels from 0 to 1


def peer(K: np.ndarray, C: float, Y: np.ndarray) -> Duals:
    """Solve the system of every class with its own matrix."""
    n = len(K)
    left, right = slice(2, n + 2), slice(n + 2, None)
    solutions = []
    for y in Y.T:
        M = np.zeros((2 * n + 2, 2 * n + 2))
        H = y[:, None] * K * y
        M[0, left] = M[left, 0] = M[1, right] = M[right, 1] = y
        M[left, right], M[right, left] = H, H.T
        M[np.arange(2, len(M)), np.arange(2, len(M))] = 1 / C
        x = np.linalg.solve(M, np.r_[0, 0, np.ones(2 * n)])
        solutions.append((y * x[left], y * x[right], x[0], x[1]))
    return Duals(*(np.stack(part, axis=-1) for part in zip(*solutions, strict=True)))


def difference(found: Duals, expected: Duals) -> float:
    """The largest relative difference of the parts."""
    return max(float(np.abs(f - e).max() / np.abs(e).max()) for f, e in zip(found, expected, strict=True))


def all_classes(name: str, solve: Callable[[], Duals], K: np.ndarray, C: float, Y: np.ndarray, repeats: int) -> Any:
    """One row: ours for all classes against the peer class by class."""
    theirs, expected = clock(lambda: peer(K, C, Y), 1)
    error = difference(solve(), expected)
    times = race({"ours": solve, "one class": lambda: peer(K, C, Y[:, :1])}, repeats)
    ours = times["ours"] if error < ACCURATE else np.nan
    return {"case": name, "n": len(K), "ours": ours, "peer": theirs, "speedup": theirs / ours, "difference": error}


def cora(smoke: bool) -> dict[str, Any]:
    """The training block of a sparse graph; the kernel matrix of the authors, C = 0.5."""
    if smoke:
        A, labels = make_citation_graph(200, n_classes=3, random_state=SEED)
    else:
        A, labels = load_graph("cora"), load_labels("cora")
    train = np.random.default_rng(SEED).permutation(len(labels))[: round(0.6 * len(labels))]
    kernel = NodeKernel(A.T.tocsr(), "left", 1.0).fit(train[:, None], train[:, None])
    K, Y = kernel.block(train[:, None], train[:, None]), signs(labels[train])
    row = all_classes(
        "Cora, sparse", lambda: BlockLU(Stored(K)).at(0.5).solve(Y), K.toarray(), 0.5, Y, 1 if smoke else 9
    )
    model = AsymmetricLSSVC(0.5, kernel=NodeKernel(A.T.tocsr(), "left", 1.0))
    return {**row, "estimator": clock(lambda: model.fit(train[:, None], labels[train]), 1 if smoke else 9)[0]}


def dense(smoke: bool) -> dict[str, Any]:
    """A dense SNE kernel, n = 1,600, seven classes."""
    X, labels = points(smoke)
    K, Y = SNE()(X, X), signs(labels)
    row = all_classes("SNE, dense", lambda: Dense(Stored(K)).at(0.5).solve(Y), K, 0.5, Y, 1 if smoke else 5)
    return {**row, "estimator": clock(lambda: AsymmetricLSSVC(0.5, kernel="sne").fit(X, labels), 1 if smoke else 5)[0]}


def path(smoke: bool) -> dict[str, Any]:
    """Fifty C with exact leave-one-out against one dense fit of one target: the peer's, and ours."""
    X, labels = points(smoke)
    K, Y = SNE()(X, X), signs(labels)[:, :1]
    middle = float(PATH[len(PATH) // 2])

    def fifty() -> list[Any]:
        return list(Spectral.of_matrix(Stored(K), PATH.max()).leave_one_out(PATH, Y))

    tasks = {
        "fifty": fifty,
        "one fit by numpy": lambda: peer(K, middle, Y),
        "one fit by ours": lambda: Dense(Stored(K)).at(middle).solve(Y),
    }
    times = race(tasks, 1 if smoke else 5)
    source, target = fifty()[len(PATH) // 2]
    errors = []
    for i in (0, len(K) // 2, len(K) - 1):
        rest = np.delete(np.arange(len(K)), i)
        refit = peer(K[np.ix_(rest, rest)], middle, Y[rest])
        expected = K[i, rest] @ refit.c + refit.b1, K[rest, i] @ refit.a + refit.b2
        errors += [abs(source[i] - expected[0]).item(), abs(target[i] - expected[1]).item()]
    if max(errors) > ACCURATE:
        times["fifty"] = np.nan
    ratios = {f"ratio to {name}": times["fifty"] / times[name] for name in list(tasks)[1:]}
    return {**times, **ratios, "difference": max(errors)}


def points(smoke: bool) -> tuple[np.ndarray, np.ndarray]:
    """Seven Gaussian clouds in ten dimensions."""
    rng = np.random.default_rng(SEED)
    labels = np.arange(140 if smoke else 1600) % CLASSES
    return rng.standard_normal((CLASSES, 10))[labels] + rng.standard_normal((len(labels), 10)), labels


def signs(labels: np.ndarray) -> np.ndarray:
    """A column of 1 and -1 for each class."""
    return np.where(labels[:, None] == np.unique(labels), 1.0, -1.0)


def digits(smoke: bool) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Training and test digits, pixels from 0 to 1 in float32."""
    if smoke:
        X, y = load_digits(return_X_y=True)
        X = (X / 16).astype(np.float32)
        return X[:600], y[:600], X[600:900], y[600:900]
    with np.load(DATA / "ssl" / "mnist.npz") as file:
        X, y = (file["X"] / np.float32(255)).astype(np.float32), file["y"]
    return X[:60_000], y[:60_000], X[60_000:], y[60_000:]


def child_ours(smoke: str) -> dict[str, Any]:
    """Choose kernel, bandwidth and C, fit, and predict."""
    X, y, X_test, y_test = digits(smoke == "True")
    start = time.process_time()
    model = AsymmetricLSSVC().fit(X, y)
    fit = time.process_time() - start
    accuracy = model.score(X_test, y_test)
    seconds = time.process_time() - start
    chosen = {"kernel": repr(model.kernel_), "C": model.C_, "landmarks": len(model.X_fit_)}
    return {"accuracy": accuracy, "fit, s": fit, "with predictions, s": seconds, **chosen}


def child_svc(gamma: str, smoke: str) -> dict[str, Any]:
    """Fit scikit-learn's SVC with its default C, and predict."""
    X, y, X_test, y_test = digits(smoke == "True")
    start = time.process_time()
    accuracy = SVC(gamma=float(gamma), cache_size=1000).fit(X, y).score(X_test, y_test)
    return {"accuracy": accuracy, "with predictions, s": time.process_time() - start}


def mnist(smoke: bool) -> dict[str, Any]:
    """60,000 digits, nothing tuned by hand."""
    found = in_child(__file__, "ours", smoke)
    return {"peak GB": found.pop("peak_bytes") / 1e9, **found}


def mnist_svc(smoke: bool) -> dict[str, Any]:
    """60,000 digits, SVC at three values of gamma: the best accuracy on the test digits, and all seconds."""
    found = [in_child(__file__, "svc", gamma, smoke) for gamma in GAMMAS]
    accuracies, seconds = ([each[part] for each in found] for part in ("accuracy", "with predictions, s"))
    best = GAMMAS[int(np.argmax(accuracies))]
    return {"accuracy": max(accuracies), "gamma": best, "with predictions, s": sum(seconds), "of each": seconds}


def shown(part: Callable[[bool], dict[str, Any]]) -> Callable[[bool], dict[str, Any]]:
    """The part, with a table of what it found."""

    def run(smoke: bool) -> dict[str, Any]:
        result = part(smoke)
        print_table(part.__name__, list(result), [list(result.values())])
        return result

    return run


if __name__ == "__main__":
    parts = {part.__name__: shown(part) for part in (cora, dense, path, mnist, mnist_svc)}
    main(__file__, __doc__, parts, {"ours": child_ours, "svc": child_svc}, SEED)
