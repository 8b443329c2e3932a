"""What ``tol`` asks for and what is reached: relative eta over random spectra, and the values that landmarks give."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable
from functools import partial

import numpy as np

from lopsided import KernelSVD, Nystrom
from lopsided.exceptions import AccuracyWarning, ConvergenceWarning, RankWarning
from lopsided.kernels import RBF, SNE, Exponential, Linear, Polynomial, StudentT

from . import Budget, Row, timed

N = 320  # from which on the iterative solver is the default
SPECTRA = 1000
EQUAL = 1e-6  # of s_1: values closer than this are compared as one subspace
TOLERANCES = (0.2, 0.1, 0.01, 1e-3)
TOO_LARGE = 1.5  # ratio of the largest singular value to the truth, above which there must be a warning
SMALL = 1e-3  # of the largest singular value: smaller ones are not compared


def cluster(rng: np.random.Generator, k: int) -> np.ndarray:
    """Values of which k and those after it are close, at a random distance."""
    near = 1 - 10 ** rng.uniform(-7, -1) * np.arange(6)
    return np.concatenate([np.linspace(3, 2, max(k - 1, 0)), near, 0.8 * 0.98 ** np.arange(250)])


FAMILIES: dict[str, Callable[[np.random.Generator, int], np.ndarray]] = {
    "cluster": cluster,
    "geometric": lambda rng, k: rng.uniform(0.9, 0.999) ** np.arange(300),
    "power": lambda rng, k: (1.0 + np.arange(300)) ** -rng.uniform(0.3, 2),
    "flat": lambda rng, k: 1 - rng.uniform(0, 0.3) * np.sort(rng.random(300)),
    "step": lambda rng, k: np.concatenate([np.ones(k), np.full(250, 10 ** rng.uniform(-13, -0.05))]),
    "pairs": lambda rng, k: np.repeat(0.95 ** np.arange(150), 2) * (1 - 1e-3 * rng.random(300)),
}
KERNELS = (RBF(1.0), RBF(None), SNE(1.0), StudentT(1.0), Linear(), Polynomial(2), Exponential(0.1))


def rows(budget: Budget) -> list[Row]:
    """Reached over asked by the iterative solver and by landmarks, and values of few landmarks."""
    count, quarter = min(SPECTRA, budget.examples), budget.seconds / 4
    half = count // 2
    spectra, landmarks, values, later = (
        partial(part, number, quarter)
        for part, number in ((_spectra, count), (_landmarks, half // 2), (_values, half), (_later_values, half))
    )
    return [
        timed("tol, krylov: relative eta reached / asked, without a warning", 1.0, spectra),
        timed("tol, nystrom: share beyond twice tol without a warning", 0.05, landmarks),
        timed("few landmarks: largest value / truth, without a warning", TOO_LARGE, values),
        timed("few landmarks: share with any value beyond 1.5 times its truth, without a warning", 0.05, later),
    ]


def _bases() -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(5)
    return tuple(np.linalg.qr(rng.standard_normal((N, N)))[0] for _ in range(2))


def eta(model: KernelSVD, U: np.ndarray, s: np.ndarray, V: np.ndarray, k: int) -> float:
    """Relative eta of k triplets; within groups of equal singular values, cosines with the whole group."""
    total = 0.0
    for i in range(k):
        group = np.abs(s - s[i]) <= EQUAL * s[0]
        for true, found in ((U, model.left_vectors_), (V, model.right_vectors_)):
            total += s[i] / s[0] * (1 - min(1.0, float(np.linalg.norm(true[:, group].T @ found[:, i]))))
    return total / k


def _fitted(model: KernelSVD, *data: np.ndarray) -> tuple[KernelSVD, bool]:
    """The model and whether it said that something is amiss."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model.fit(data[0]) if len(data) == 1 else model.fit(data[0], Z=data[1])
    kinds = (AccuracyWarning, ConvergenceWarning, RankWarning)
    return model, any(issubclass(each.category, kinds) for each in caught)


def _spectra(count: int, seconds: float) -> tuple[int, float, list[str]]:
    U, V = _bases()
    worst, tried, defects, end = 0.0, 0, [], time.monotonic() + seconds
    for seed in range(count):
        if tried and time.monotonic() > end:
            break
        rng, tried = np.random.default_rng(seed), tried + 1
        k, tol = int(rng.choice([1, 1, 2, 5, 10])), float(rng.choice(TOLERANCES))
        family = str(rng.choice(list(FAMILIES)))
        s = np.sort(FAMILIES[family](rng, k))[::-1]
        left, right = U[:, : len(s)], V[:, : len(s)]
        model, told = _fitted(
            KernelSVD(k, kernel="precomputed", solver="krylov", tol=tol, random_state=seed), (left * s) @ right.T
        )
        ratio = 0.0 if told else eta(model, left, s, right, k) / tol
        worst = max(worst, ratio)
        if ratio > 1:
            defects.append(f"{family}, k={k}, tol={tol}, seed {seed}: {ratio:.3g}")
    return tried, worst, defects


def _points(rng: np.random.Generator, n: int) -> np.ndarray:
    """Points with heavy tails, rare clusters, tight clusters or none of that."""
    X = rng.standard_normal((n, 4))
    match rng.integers(4):
        case 0:
            return np.clip(rng.standard_t(1.2, (n, 4)), -30, 30)
        case 1:
            X[: max(2, n // 100)] += 12
            return X
        case 2:
            return 3 * X[rng.integers(0, 5, n)] + 0.01 * rng.standard_normal((n, 4))
    return X


def _landmarks(count: int, seconds: float) -> tuple[int, float, list[str]]:
    beyond, tried, end = 0, 0, time.monotonic() + seconds
    for seed in range(max(1, count)):
        if tried and time.monotonic() > end:
            break
        rng, tried = np.random.default_rng((seed, 1)), tried + 1
        X, Z = _points(rng, N), _points(rng, N - 40)
        kernel = KERNELS[rng.integers(4)]
        k, tol = int(rng.choice([1, 3, 5])), float(rng.choice(TOLERANCES[:3]))
        model, told = _fitted(KernelSVD(k, kernel=kernel, tol=tol, random_state=seed, solver=Nystrom()), X, Z)
        U, s, Vt = np.linalg.svd(model.kernel_(X, Z), full_matrices=False)
        beyond += not told and eta(model, U, s, Vt.T, min(k, len(model.singular_values_))) > 2 * tol
    return tried, beyond / tried, []


def _values(count: int, seconds: float) -> tuple[int, float, list[str]]:
    """The largest first value over its truth, without a warning."""
    tried, ratios = _few_landmarks(count, seconds)
    return tried, max((float(each[0]) for each in ratios), default=0.0), []


def _later_values(count: int, seconds: float) -> tuple[int, float, list[str]]:
    """The share of fits in which some value is too large, without a warning."""
    tried, ratios = _few_landmarks(count, seconds)
    return tried, sum(bool(each.max() > TOO_LARGE) for each in ratios) / tried, []


def _few_landmarks(count: int, seconds: float) -> tuple[int, list[np.ndarray]]:
    """How many fits were tried, and the singular values over their truth of those that did not warn."""
    ratios, tried, end = [], 0, time.monotonic() + seconds
    for seed in range(max(1, count)):
        if tried and time.monotonic() > end:
            break
        rng, tried = np.random.default_rng((seed, 2)), tried + 1
        X, Z = _points(rng, N), _points(rng, N - 40)
        kernel = KERNELS[rng.integers(len(KERNELS))]
        if isinstance(kernel, Exponential):
            X, Z = (np.clip(side, -3, 3) for side in (X, Z))
        k, per = int(rng.choice([1, 3, 5])), int(rng.choice([1, 2, 5]))
        landmarks = Nystrom(k * per, landmarks=str(rng.choice(["uniform", "kmeans", "leverage"])))
        try:
            model, told = _fitted(KernelSVD(k, kernel=kernel, random_state=seed, solver=landmarks), X, Z)
        except ValueError:
            continue
        if not told:
            s = model.singular_values_[model.singular_values_ > SMALL * model.singular_values_[0]]
            ratios.append(s / np.linalg.svd(model.kernel_(X, Z), compute_uv=False)[: len(s)])
    return tried, ratios
