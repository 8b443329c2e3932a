"""``tol`` of the iterative solver is an error of the answer: eta against the truth, over a hundred spectra."""

import warnings

import numpy as np
import pytest

from cases import eta
from lopsided import KernelSVD
from lopsided.exceptions import AccuracyWarning, ConvergenceWarning

N, M = 420, 360


def cluster_at(rng, k):
    """Values that leave k and those after it close together, at a random distance."""
    gap = 10 ** rng.uniform(-6, -1)
    return np.concatenate([np.linspace(3, 2, max(k - 1, 0)), 1 - gap * np.arange(6), 0.8 * 0.98 ** np.arange(300)])


FAMILIES = {
    "cluster at k": cluster_at,
    "cluster at one": lambda rng, k: np.concatenate(
        [1 - 10 ** rng.uniform(-5, -1) * np.arange(8), 0.5 * 0.99 ** np.arange(300)]
    ),
    "geometric": lambda rng, k: rng.uniform(0.9, 0.999) ** np.arange(340),
    "power": lambda rng, k: (1.0 + np.arange(340)) ** -rng.uniform(0.3, 2),
    "flat": lambda rng, k: 1 - rng.uniform(0, 0.3) * np.sort(rng.random(340)),
    "step": lambda rng, k: np.concatenate([np.ones(k), np.full(300, 10 ** rng.uniform(-9, -0.05))]),
    "pairs": lambda rng, k: np.repeat(0.95 ** np.arange(160), 2) * (1 - 1e-3 * rng.random(320)),
}


TAILS = {
    "geometric": lambda rng, n: 0.9 * rng.uniform(0.9, 0.9999) ** np.arange(n),
    "flat": lambda rng, n: rng.uniform(0.3, 0.99) * (1 - 0.1 * rng.random(n)),
    "power": lambda rng, n: (2.0 + np.arange(n)) ** -rng.uniform(0.2, 1.5),
    "wide": lambda rng, n: 1 - rng.uniform(0.01, 0.3) - rng.uniform(0, 0.5) * rng.random(n),
}


@pytest.mark.parametrize("tail", TAILS)
def test_a_cluster_of_singular_values_at_k_is_resolved(tail):
    """A Krylov space of a single vector takes values such as 1 and 0.9999 for one."""
    rng, n, most = np.random.default_rng(5), 320, 5
    U, V = (np.linalg.qr(rng.standard_normal((n, n)))[0] for _ in range(2))
    wrong = []
    for seed in range(60):
        rng = np.random.default_rng(seed)
        k, tol = int(rng.choice([1, 1, 1, 2, 3, 5])), float(rng.choice([0.2, 0.1, 0.01, 1e-3]))
        cluster = 1 - 10 ** rng.uniform(-7, -1.5) * np.arange(rng.integers(2, most + 1))
        values = [np.linspace(3, 2, k - 1), cluster, TAILS[tail](rng, n - k - most)]
        s = np.sort(np.abs(np.concatenate(values)))[::-1]
        left, right = U[:, : len(s)], V[:, : len(s)]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = KernelSVD(k, kernel="precomputed", solver="krylov", tol=tol, random_state=seed).fit(
                (left * s) @ right.T
            )
        told = any(issubclass(one.category, (AccuracyWarning, ConvergenceWarning)) for one in caught)
        error = eta((model.left_vectors_, model.right_vectors_), left, s, right, k)
        if error > tol and not told:
            wrong.append(f"eta {error:.2g} for tol={tol}, k={k}, seed={seed}")
    assert not wrong, "; ".join(wrong)


@pytest.mark.parametrize("family", FAMILIES)
def test_eta_of_the_answer_is_below_the_tolerance(family):
    for seed in range(15):
        rng = np.random.default_rng(seed)
        k, tol = int(rng.choice([1, 2, 5, 10])), float(rng.choice([0.1, 0.01, 1e-3]))
        s = np.sort(FAMILIES[family](rng, k))[::-1]
        U, V = (np.linalg.qr(rng.standard_normal((size, len(s))))[0] for size in (N, M))
        K = (U * s) @ V.T
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = KernelSVD(k, kernel="precomputed", solver="krylov", tol=tol, random_state=seed).fit(K)
        told = any(issubclass(one.category, (AccuracyWarning, ConvergenceWarning)) for one in caught)
        error = eta((model.left_vectors_, model.right_vectors_), U, s, V, k)
        assert told or error <= tol, f"eta {error:.2g} for tol={tol}, k={k}, seed={seed}"
