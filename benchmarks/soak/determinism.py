"""The same seed gives the same bits; threads, budgets, blocks and the form of the data change rounding alone."""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
from scipy import sparse
from sklearn.base import clone

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR
from lopsided.operators import blocked

from . import Budget, Row, timed
from .models import answers, data_for, distance, estimators, fit, is_graph, same_bits, with_resources

NEAR = 1e-10  # of answers that differ by the order of sums alone
SIZES, SMOKE_SIZES = (40, 130, 420), (60,)
BUDGET = "64MB"  # enough for the same solver, so that blocks alone are smaller


def rows(budget: Budget) -> list[Row]:
    """Bits of repeated fits, in this process and in others, and what resources and formats change."""
    sizes = SMOKE_SIZES if budget.smoke else SIZES
    names = list(estimators())[-7:-4] if budget.smoke else list(estimators())
    return [
        timed("same seed, same bits: repeated fits", 0, lambda: repeated(names, sizes)),
        timed("same seed, same bits: other processes", 0, lambda: in_processes(names, 1 if budget.smoke else 4)),
        timed("answers across n_jobs, blocks and budgets", NEAR, lambda: compared(names, sizes, RESOURCES)),
        timed("answers across dense, sparse and memory-mapped data", NEAR, lambda: compared(names, sizes, FORMATS)),
    ]


def repeated(names: Sequence[str], sizes: tuple[int, ...]) -> tuple[int, int, list[str]]:
    """Fit every estimator twice on one and on two threads."""
    cases = [(name, n, threads) for name in names for n in sizes for threads in (1, 2)]
    wrong = [f"{case}" for case in cases if not same_bits(_fitted(*case), _fitted(*case))]
    return len(cases), len(wrong), wrong


def _fitted(name: str, n: int, threads: int) -> list[np.ndarray]:
    model = with_resources(estimators()[name], n_jobs=threads, random_state=3)
    X, y = data_for(model, n)
    return answers(fit(model, X, y), X)


def digest(*names: str) -> str:
    """A hash of the answers of estimators on one thread."""
    found = hashlib.sha256()
    for name in names:
        for each in _fitted(name, 60, 1):
            found.update(each.tobytes())
    return found.hexdigest()


def in_processes(names: Sequence[str], repeats: int) -> tuple[int, int, list[str]]:
    """Digests of processes that hash strings differently."""
    code = "import sys; from soak.determinism import digest; print(digest(*sys.argv[1:]))"
    expected, wrong = digest(*names), []
    for seed in range(repeats):
        done = subprocess.run(
            [sys.executable, "-c", code, *names],
            env={**os.environ, "PYTHONHASHSEED": str(seed + 1)},
            cwd=Path(__file__).parents[1],
            capture_output=True,
            text=True,
            check=True,
        )
        if done.stdout.split()[-1] != expected:
            wrong.append(f"PYTHONHASHSEED={seed + 1}")
    return repeats, len(wrong), wrong


@contextmanager
def small_blocks() -> Iterator[None]:
    """Evaluate kernels in tiles of a few rows and columns."""
    with mock.patch.multiple(blocked, TILE_BYTES=4000, TILE_COLUMNS=17, FILL_BYTES=4000):
        yield


def _of_threads(model: Any, X: np.ndarray, y: Any) -> list[np.ndarray]:
    return answers(fit(with_resources(model, n_jobs=2), X, y), X)


def _of_budget(model: Any, X: np.ndarray, y: Any) -> list[np.ndarray]:
    return answers(fit(with_resources(model, memory_budget=BUDGET), X, y), X)


def _of_blocks(model: Any, X: np.ndarray, y: Any) -> list[np.ndarray]:
    with small_blocks():
        return answers(fit(model, X, y), X)


def _of_fortran(model: Any, X: np.ndarray, y: Any) -> list[np.ndarray]:
    X = np.asfortranarray(X)
    return answers(fit(model, X, y), X)


def _of_sparse(model: Any, X: np.ndarray, y: Any) -> list[np.ndarray]:
    settings = model.get_params()
    chooses_units = isinstance(model, AsymmetricLSSVC | AsymmetricLSSVR) and settings["kernel"] == "auto"
    reads_otherwise = settings.get("reading") == "auto" or chooses_units  # as the documentation of both says
    if reads_otherwise or not (is_graph(model) or model.__sklearn_tags__().input_tags.sparse):
        return []
    S = sparse.csr_array(X)
    return answers(fit(model, S, y), S)


def _of_memmap(model: Any, X: np.ndarray, y: Any) -> list[np.ndarray]:
    with tempfile.TemporaryDirectory() as folder:
        np.save(Path(folder) / "X.npy", X)
        mapped = np.load(Path(folder) / "X.npy", mmap_mode="r")
        found = [each.copy() for each in answers(fit(model, mapped, y), mapped)]
        del mapped, model
    return found


RESOURCES = {"two threads": _of_threads, "a small budget": _of_budget, "small blocks": _of_blocks}
FORMATS = {"Fortran order": _of_fortran, "sparse": _of_sparse, "memory map": _of_memmap}


def compared(names: Sequence[str], sizes: tuple[int, ...], variants: dict[str, Any]) -> tuple[int, float, list[str]]:
    """Compare the answers of each variant with those of one thread and dense data."""
    worst, tried, wrong = 0.0, 0, []
    for name in names:
        for n in sizes:
            model = with_resources(estimators()[name], n_jobs=1, random_state=3)
            X, y = data_for(model, n)
            expected = answers(fit(model, X, y), X)
            for variant, make in variants.items():
                found = make(clone(model), X, y)
                if not found:
                    continue
                tried, off = tried + 1, distance(found, expected)
                worst = max(worst, off)
                if off > NEAR:
                    wrong.append(f"{name} on {n} points, {variant}: {off:.1e}")
    return tried, worst, wrong
