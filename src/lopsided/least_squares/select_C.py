"""Selection of C by leave-one-out or cross-validation."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from .._core import Array
from ..operators import KernelOperator
from .saddle.policy import largest_singular_value
from .saddle.system import Fold, HeldOut

FOLDS = 10  # default number of cross-validation folds
MANY_C = 0.2 * 10 ** np.arange(0, 6.5, 0.5)  # in units of 1 / (largest singular value); 1 would be a singular system
MODERATE_C = MANY_C[MANY_C <= 20]  # values for which MINRES converges quickly
FEW_C = np.array([0.2, 0.6])  # same units; the system is positive definite below 1
NEIGHBOURS = np.array([0.7, 1.0, 1.4])  # multiples of the C selected on a subset, which may be near-singular on all
PART = 1500  # samples in the subset that selects C if each value costs as much as a fit
LARGEST_C = 1e150  # the square of C and of 1/C must not overflow


class Judged(NamedTuple):
    """Held-out values of both functions at one C, merged and compared with the targets."""

    merger: Any
    """Stacking model or calibration slope, trained on all held-out values."""
    merged: np.ndarray
    """(n, k), merged held-out values."""
    error: float
    """Criterion by which C is selected."""
    score: float
    """Held-out accuracy or R^2, as defined by ``score``."""


@dataclass(frozen=True)
class Chosen:
    """The selected C, its held-out results, and the errors and scores of all values."""

    C: float
    best: Judged
    path: dict[str, np.ndarray]


def grid_of(C: Any) -> np.ndarray:
    """Validate C and return its values as a 1-d array; their squares must neither overflow nor underflow."""
    grid = np.atleast_1d(np.asarray(C, dtype=float))
    if grid.ndim != 1 or not grid.size:
        raise ValueError(f"C has shape {grid.shape}; give a number, or a list of them from which the best is taken")
    if not (np.isfinite(grid).all() and grid.min() > 0):
        raise ValueError(f"C={C} must be finite and above 0")
    if grid.min() < 1 / LARGEST_C or grid.max() > LARGEST_C:
        raise ValueError(f"C={C} must lie between {1 / LARGEST_C:g} and {LARGEST_C:g}; scale the kernel instead")
    return grid


def unit_of_C(A: KernelOperator) -> float:
    """1 / (largest singular value of the centred matrix), or 1 if the centred matrix is zero to rounding."""
    largest = largest_singular_value(A)
    mean = np.abs(A @ np.full((A.shape[1], 1), 1 / A.shape[1])).max()
    unit = 1 / largest if largest > A.shape[0] * np.finfo(A.dtype).eps * mean else 1.0
    if unit * MANY_C[-1] > LARGEST_C:
        raise ValueError(
            f"singular values of the centred kernel matrix reach {largest:.3g} only, for which C would have to exceed "
            f"{LARGEST_C:g}; multiply the kernel, or scale the data up"
        )
    return unit


def part_of(y: np.ndarray, seed: int, *, of_classes: bool) -> np.ndarray:
    """Sorted indices of a random subset of ``PART`` samples; for classification, every class is represented."""
    some = np.random.default_rng(seed).permutation(len(y))[:PART]
    firsts = np.unique(y, return_index=True)[1] if of_classes else np.empty(0, dtype=int)
    return np.union1d(some, firsts)


def folds_of(cv: Any, X: Array, y: np.ndarray, *, of_classes: bool) -> list[Fold]:
    """Cross-validation folds; cv=None means ten, or the size of the smallest class if that is from two to nine."""
    counts = np.unique(y, return_counts=True)[1] if of_classes else np.array([len(y)])
    if cv is None and counts.max() < 2:
        raise ValueError(
            f"none of the {len(counts)} classes has two samples, so that none can be held out; give more samples, or a "
            "single C and a merge other than 'stack'"
        )
    if cv is None and counts.min() == 1:
        return _dealt(y, min(FOLDS, len(y)))
    splits = min(FOLDS, int(counts.min())) if cv is None else cv
    folds = list(check_cv(splits, y, classifier=of_classes).split(X, y))
    everything = np.arange(len(y))
    times = np.bincount(np.concatenate([left_out for _, left_out in folds]), minlength=len(y))
    whole = all(np.array_equal(np.sort(np.concatenate(fold)), everything) for fold in folds)
    if not (whole and (times == 1).all()):
        raise ValueError(f"cv={cv} must leave every sample out once and train on all the others, as KFold does")
    return folds


def _dealt(y: np.ndarray, number: int) -> list[Fold]:
    """Stratified folds that also allow classes with fewer samples than folds."""
    fold = np.empty(len(y), dtype=int)
    fold[np.argsort(y, axis=0, kind="stable").ravel()] = np.arange(len(y)) % number
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(number)]


def choose_C(
    grid: np.ndarray, held_out: Iterable[HeldOut], judge: Callable[[np.ndarray, np.ndarray], Judged]
) -> Chosen:
    """Evaluate the held-out values of both functions for every C, and select the C with the least error.

    Values of C with non-finite held-out values are skipped.
    """
    errors, scores = np.full(len(grid), np.inf), np.full(len(grid), np.nan)
    best, C = None, np.nan
    for number, (source, target) in enumerate(held_out):
        if not (np.isfinite(source).all() and np.isfinite(target).all()):
            continue
        judged = judge(source, target)
        errors[number], scores[number] = judged.error, judged.score
        if judged.error < errors[:number].min(initial=np.inf):
            best, C = judged, float(grid[number])
    if best is None:
        raise ValueError(
            f"without some of the samples the system is singular, to rounding, at C={grid.tolist()}; add other values "
            "of C, smaller ones if values of the kernel are large"
        )
    return Chosen(C, best, {"C": grid, "error": errors, "score": scores})
