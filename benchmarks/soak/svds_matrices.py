"""The ten matrices of scipy's svds benchmark, which PROPACK's author recommends: values, residuals, and ARPACK's.

They are read from ``$LOPSIDED_DATA/svds``, one ``scipy.sparse.save_npz`` file each; scipy's source distribution holds
them in ``benchmarks/benchmarks/svds_benchmark_files``. Their condition numbers reach 1e17.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import svds

from common import DATA
from lopsided import KernelSVD

from . import Budget, Row, timed

NAMES = (
    "abb313", "illc1033", "illc1850", "qh1484", "rbs480a", "tols4000", "well1033", "well1850", "west0479", "west2021",
)  # fmt: skip
K = 20  # triplets, as in scipy's benchmark
LIMITS = {"error of values / (eps s_1)": 100.0, "residuals / (eps^0.8 s_1)": 1.0}  # the latter end the iteration
LONGEST_SIDE = 2500  # of matrices that LAPACK decomposes in full
PROMISE = "truth, matrices of scipy's svds, {}: {}"


def rows(budget: Budget) -> list[Row]:
    """Two rows a solver, and ARPACK's for comparison; none if the matrices are not at hand."""
    names = [name for name in NAMES if (DATA / "svds" / f"{name}.npz").exists()]
    if not names or budget.smoke:
        return []
    cases = {name: sparse.csr_array(sparse.load_npz(DATA / "svds" / f"{name}.npz")) for name in names}
    truth = {name: singular_values(A) for name, A in cases.items()}
    return [
        timed(PROMISE.format(solver, figure), "-" if solver == "ARPACK" else limit, check)
        for solver in ("krylov", "lapack", "ARPACK")
        for number, (figure, limit) in enumerate(LIMITS.items())
        for check in [partial(_worst, solver, number, cases, truth)]
    ]


def singular_values(A: sparse.csr_array) -> np.ndarray:
    """All singular values, by dense decompositions of the blocks into which rows and columns fall."""
    n, m = A.shape
    _, labels = connected_components(sparse.block_array([[None, A], [A.T, None]]), directed=False)
    found = np.concatenate([np.linalg.svd(block, compute_uv=False) for block in _blocks(A, labels[:n], labels[n:])])
    return np.sort(np.concatenate([found, np.zeros(min(n, m) - len(found))]))[::-1]


def _blocks(A: sparse.csr_array, of_rows: np.ndarray, of_columns: np.ndarray) -> Iterator[np.ndarray]:
    for label in np.intersect1d(of_rows, of_columns):
        yield A[np.flatnonzero(of_rows == label)][:, np.flatnonzero(of_columns == label)].toarray()


def _worst(
    solver: str, number: int, cases: dict[str, Any], truth: dict[str, np.ndarray]
) -> tuple[int, float, list[str]]:
    tried = {name: A for name, A in cases.items() if solver != "lapack" or max(A.shape) <= LONGEST_SIDE}
    errors = {name: _errors(solver, A, truth[name])[number] for name, A in tried.items()}
    name = max(errors, key=errors.__getitem__)
    print(f"{solver}: {errors[name]:.3g} at worst, {name}", flush=True)
    return len(errors), errors[name], []


def _errors(solver: str, A: sparse.csr_array, truth: np.ndarray) -> tuple[float, float]:
    """The largest error of a value, and the largest |A v - s u| or |A'u - s v|, in the units of LIMITS."""
    if solver == "ARPACK":
        U, s, Vt = svds(A, K, tol=0, rng=np.random.default_rng(0))
        U, s, V = U[:, ::-1], s[::-1], Vt[::-1].T
    else:
        model = KernelSVD(K, kernel="precomputed", solver=solver).fit(A)
        U, s, V = model.left_vectors_, model.singular_values_, model.right_vectors_
    eps, residuals = np.finfo(float).eps, (A @ V - U * s, A.T @ U - V * s)
    largest = max(np.linalg.norm(each, axis=0).max() for each in residuals)
    return float(np.abs(s - truth[:K]).max() / (eps * truth[0])), float(largest / (eps**0.8 * truth[0]))
