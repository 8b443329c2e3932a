"""Numerical truth: singular triplets and saddle solutions against exact constructions and fifty digits of mpmath."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, NamedTuple

import mpmath
import numpy as np
from scipy.linalg import hadamard, hilbert

from lopsided import AsymmetricLSSVR, KernelSVD, Nystrom
from lopsided.exceptions import AccuracyWarning, ConvergenceWarning, LopsidedWarning

from . import Budget, Row, timed

DIGITS = 50
SIDE, LARGE = 64, 1024  # powers of four, for which there are Hadamard matrices with entries of exact length
LIMIT = 100.0  # in units of eps s_1 for values, of eps s_1 / gap for subspaces, of eps times condition for systems
ALONE = 1e-9  # of s_1: values closer than this are compared as one subspace
K = 12  # triplets that are asked for


class Case(NamedTuple):
    """A matrix whose singular values, and vectors where they are not None, are known beyond rounding."""

    matrix: np.ndarray
    s: np.ndarray
    U: np.ndarray | None = None
    V: np.ndarray | None = None


def constructed(s: Any, scale: float = 1.0, dtype: Any = float, side: int = SIDE) -> Case:
    """H diag(s) G' with orthogonal Hadamard matrices H and G, whose entries are exact; it is rounded once."""
    s = np.sort(np.concatenate([s, np.zeros(side - len(s))]))[::-1] * scale
    H = hadamard(side) / np.sqrt(side)
    V = H[:, np.random.default_rng(0).permutation(side)]
    return Case((_transformed(s[:, None] * V.T) / np.sqrt(side)).astype(dtype), s, H, V)


def _transformed(A: np.ndarray) -> np.ndarray:
    """The Walsh-Hadamard transform of the columns in extended precision, whose sums have few terms."""
    A, n, half = A.astype(np.longdouble), len(A), 1
    while half < n:
        upper, lower = A.reshape(-1, 2, half, n).swapaxes(0, 1)
        A, half = np.stack([upper + lower, upper - lower], axis=1).reshape(n, n), 2 * half
    return A


def by_mpmath(M: np.ndarray) -> Case:
    """A matrix as it is stored, its singular values to fifty digits."""
    with mpmath.workdps(DIGITS):
        s = mpmath.svd_r(mpmath.matrix(M.tolist()), compute_uv=False)
        return Case(M, np.array([float(value) for value in s]))


def kahan(n: int = 20, angle: float = 1.2) -> np.ndarray:
    """Upper triangular, numerically singular, without a small pivot to show it."""
    c, s = np.cos(angle), np.sin(angle)
    return s ** np.arange(n)[:, None] * (np.eye(n) - c * np.triu(np.ones((n, n)), 1))


def lauchli(n: int = 30, mu: float = 1e-7) -> Case:
    """A row of ones above mu I: singular values sqrt(n + mu^2), and mu n - 1 times."""
    s = np.append(np.sqrt(n + mu**2), np.full(n - 1, mu))
    return Case(np.vstack([np.ones(n), mu * np.eye(n)]), s)


i = np.arange(SIDE)
CASES: dict[str, Callable[[], Case]] = {
    "graded": lambda: constructed(0.5**i),
    "steeply graded": lambda: constructed(10.0 ** -np.arange(16)),
    "clustered": lambda: constructed(np.concatenate([1 - 1e-6 * np.arange(8), 0.5 - 1e-5 * np.arange(30)])),
    "repeated": lambda: constructed(np.repeat([3.0, 2.0, 1.0, 0.5], [4, 7, 5, 30])),
    "all equal": lambda: constructed(np.ones(SIDE)),
    "pairs 1e-13 apart": lambda: constructed(np.repeat(2.0 ** -np.arange(10), 2) * (1 - 1e-13 * (np.arange(20) % 2))),
    "a step to 1e-13": lambda: constructed(np.concatenate([np.ones(6), np.full(40, 1e-13)])),
    "a step at k": lambda: constructed(np.concatenate([1 - 0.05 * np.arange(K), np.full(40, 1e-4)])),
    "rank one": lambda: constructed([2.0]),
    "constant": lambda: Case(np.full((SIDE, SIDE), 0.3), np.append(0.3 * SIDE, np.zeros(SIDE - 1))),
    "zero": lambda: Case(np.zeros((SIDE, SIDE)), np.zeros(SIDE)),
    "of scale 1e150": lambda: constructed(0.8**i, 1e150),
    "of scale 1e-150": lambda: constructed(0.8**i, 1e-150),
    "Lauchli": lauchli,
    "Kahan": lambda: by_mpmath(kahan()),
    "Hilbert": lambda: by_mpmath(hilbert(20)),
    "a Gaussian kernel": lambda: by_mpmath(np.exp(-((i[:18, None] - 1.1 * i[:20]) ** 2) / 40)),
    "steeply scaled rows": lambda: by_mpmath(10.0 ** -i[:18, None] * np.cos(np.outer(i[:18], i[:18]))),
    "large, slowly graded": lambda: constructed(0.99 ** np.arange(LARGE), side=LARGE),
    "large, repeated": lambda: constructed(np.repeat([3.0, 2.0, 1.0], [5, 9, 300]), side=LARGE),
    "large, a cluster at k": lambda: constructed(
        np.concatenate([2 - 0.1 * np.arange(K - 1), 1 - 1e-8 * np.arange(4), np.full(300, 0.5)]), side=LARGE
    ),
    "float32, graded": lambda: constructed(0.5**i, dtype=np.float32),
    "float32, repeated": lambda: constructed(np.repeat([3.0, 2.0, 1.0, 0.5], [4, 7, 5, 30]), dtype=np.float32),
}


def solvers(matrix: np.ndarray, k: int) -> Iterator[tuple[str, Callable[[], KernelSVD]]]:
    """Every way to decompose a matrix; with landmarks it is the linear kernel of its rows and unit vectors."""
    for name in ("lapack", "krylov"):
        yield name, partial(KernelSVD(k, kernel="precomputed", solver=name).fit, matrix)
    unit = np.eye(matrix.shape[1], dtype=matrix.dtype)
    for extension in ("orthonormal", "plain"):
        all_of_them = Nystrom(matrix.shape, extension=extension)
        yield f"nystrom, {extension}", partial(KernelSVD(k, kernel="linear", solver=all_of_them).fit, matrix, Z=unit)


def rows(budget: Budget) -> list[Row]:
    """Triplets by every solver, and saddle systems."""
    cases = list(CASES)[:: 7 if budget.smoke else 1]
    made = {case: CASES[case]() for case in cases}
    found = [
        timed(f"truth, {name}: {figure}", limit, partial(_triplets, name, made, error, limit))
        for name, _ in solvers(np.eye(4), 1)
        for figure, (error, limit) in (ITERATIVE if name == "krylov" else EXACT).items()
    ]
    direct, iterative = (partial(_saddles, budget, names) for names in (DIRECT, ("minres",)))
    return [
        *found,
        timed("truth, saddle systems: error of duals / (eps condition)", LIMIT, direct),
        timed("truth, saddle systems by MINRES: error of duals / (its tol times condition)", 1.0, iterative),
    ]


def _triplets(solver: str, cases: dict[str, Case], error_of: Error, limit: float) -> tuple[int, float, list[str]]:
    worst, defects = 0.0, []
    for name, case in cases.items():
        k = min(K, min(case.matrix.shape) // 3)
        with warnings.catch_warnings(record=True) as told:
            warnings.simplefilter("always")
            try:
                model = dict(solvers(case.matrix, k))[solver]()
            except ValueError as refusal:
                if not str(refusal):
                    defects.append(f"{name}: refused without a word")
                continue
        strange = [each for each in told if not issubclass(each.category, LopsidedWarning)]
        if strange:
            defects.append(f"{name}: {strange[0].message}")
        warned = any(issubclass(each.category, (AccuracyWarning, ConvergenceWarning)) for each in told)
        error = 0.0 if warned else error_of(case, model)
        if error > limit:
            defects.append(f"{name}: {error:.3g}")
        worst = max(worst, error)
    return len(cases), worst, defects


def of_values(case: Case, model: KernelSVD) -> float:
    """The largest error of values over eps s_1."""
    found = model.singular_values_.astype(float)
    return float(np.abs(found - case.s[: len(found)]).max()) / _rounding(case)


def of_subspaces(case: Case, model: KernelSVD) -> float:
    """The largest error of subspaces over eps s_1 / gap."""
    s, k, unit, worst = case.s, len(model.singular_values_), _rounding(case), 0.0
    if case.U is None or s[0] == 0:
        return worst
    for begin, end in _groups(s, k):
        gap = min(s[begin - 1] - s[begin] if begin else s[0], s[end - 1] - s[end] if end < len(s) else s[0])
        for true, vectors in ((case.U, model.left_vectors_), (case.V, model.right_vectors_)):
            inside = vectors[:, begin : min(end, k)].astype(float)
            outside = inside - true[:, begin:end] @ (true[:, begin:end].T @ inside)
            worst = max(worst, float(np.linalg.norm(outside, axis=0).max()) * gap / unit)
    return worst


def _rounding(case: Case) -> float:
    return float(np.finfo(case.matrix.dtype).eps * max(case.s[0], np.finfo(float).tiny))


def of_both(case: Case, model: KernelSVD) -> float:
    """The larger of the two."""
    return max(of_values(case, model), of_subspaces(case, model))


def by_precision(case: Case, model: KernelSVD) -> float:
    """The largest error of subspaces over eps^0.8 s_1 / gap: the iteration ends at residuals of eps^0.8 s_1."""
    return of_subspaces(case, model) * float(np.finfo(case.matrix.dtype).eps) ** 0.2


Error = Callable[[Case, KernelSVD], float]
EXACT: dict[str, tuple[Error, float]] = {"error of triplets / (eps s_1)": (of_both, LIMIT)}
ITERATIVE: dict[str, tuple[Error, float]] = {
    "error of values / (eps s_1)": (of_values, LIMIT),
    "error of subspaces / (eps^0.8 s_1 / gap)": (by_precision, 1.0),
}


def _groups(s: np.ndarray, k: int) -> Iterator[tuple[int, int]]:
    """Ranges of values that are equal, or nearly, among the k leading ones; none of values lost in rounding."""
    ends = np.append(np.flatnonzero(s[:-1] - s[1:] > ALONE * s[0]) + 1, len(s))
    begin = 0
    for end in ends:
        if begin < k and s[begin] > ALONE * s[0]:
            yield begin, int(end)
        begin = int(end)


DIRECT = ("dense", "spectral", "sparse_lu")
MINRES_TOL = 1e-10  # the relative residual that it promises
RIDGES = (1e-3, 1.0, 1e3, "near", "nearer", "at")  # values of C; the last three lie at a singular value


def _saddles(budget: Budget, names: tuple[str, ...]) -> tuple[int, float, list[str]]:
    """Duals of systems with C far from, near and at a singular value, by the solvers of these names."""
    worst, defects, tried = 0.0, [], 0
    unit, limit = (MINRES_TOL, 1.0) if names == ("minres",) else (float(np.finfo(float).eps), LIMIT)
    for seed in range(1 if budget.smoke else 4):
        rng = np.random.default_rng(seed)
        matrix, y = rng.standard_normal((14, 14)), rng.standard_normal(14)
        for ridge in RIDGES[:: 3 if budget.smoke else 1]:
            C = _ridge(matrix, ridge)
            truth, condition = _solved(matrix, C, y)
            for solver in names:
                tried += 1
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    try:
                        model = AsymmetricLSSVR(C, kernel="precomputed", solver=solver).fit(matrix, y)
                    except ValueError:
                        continue
                found = np.concatenate([np.ravel(model.left_duals_), np.ravel(model.right_duals_)])
                error = float(np.abs(found - truth).max() / np.abs(truth).max()) / (unit * condition)
                if not told:
                    worst = max(worst, error)
                    if error > limit:
                        defects.append(f"{solver}, C={C!r}, seed {seed}: {error:.3g}")
    return tried, worst, defects


def _ridge(matrix: np.ndarray, ridge: float | str) -> float:
    centred = matrix - matrix.mean(axis=0) - matrix.mean(axis=1, keepdims=True) + matrix.mean()
    sigma = np.linalg.svd(centred, compute_uv=False)[3]
    return {"near": (1 + 1e-4) / sigma, "nearer": (1 + 1e-9) / sigma, "at": 1 / sigma}.get(ridge, ridge)


def _solved(matrix: np.ndarray, C: float, y: np.ndarray) -> tuple[np.ndarray, float]:
    """Both duals of the bordered system, to fifty digits, and its condition number."""
    n = len(y)
    with mpmath.workdps(DIGITS):
        M, r = mpmath.zeros(2 * n + 2), mpmath.matrix([0, 0, *y.tolist(), *y.tolist()])
        for a in range(n):
            M[0, 2 + a] = M[2 + a, 0] = M[1, n + 2 + a] = M[n + 2 + a, 1] = 1
            M[2 + a, 2 + a] = M[n + 2 + a, n + 2 + a] = mpmath.mpf(1) / mpmath.mpf(C)
            for b in range(n):
                M[2 + a, n + 2 + b] = M[n + 2 + b, 2 + a] = mpmath.mpf(float(matrix[a, b]))
        x = mpmath.lu_solve(M, r)
        dense = np.array(M.tolist(), dtype=float)
        return np.array([float(value) for value in x])[2:], float(np.linalg.cond(dense))
