"""The choice of C on samples that were left out."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from sklearn.model_selection import check_cv

from ..kernels.points import Array
from ..linalg import Fold, HeldOut, largest_singular_value
from ..operators import KernelOperator

FOLDS = 10
MANY_C = 0.2 * 10 ** np.arange(0, 6.5, 0.5)  # times 1 / (largest singular value); none is one, where that is singular
MODERATE_C = MANY_C[MANY_C <= 20]  # for which MINRES converges soon
FEW_C = np.array([0.2, 0.6])
NEIGHBOURS = np.array([0.7, 1.0, 1.4])
PART = 1500  # samples on which C is found where each value costs as much as a fit
LARGEST_C = 1e150


class Judged(NamedTuple):
    """Held-out values of both functions at one C, merged and compared with the targets."""

    merger: Any
    """What merged or calibrates them, trained on all of them."""
    merged: np.ndarray
    """(n, k), one value for each sample and target."""
    error: float
    """By which C is chosen."""
    score: float
    """As ``score`` would give it."""


@dataclass(frozen=True)
class Chosen:
    """The best of several C, what was judged of it, and the errors and scores of all of them."""

    C: float
    best: Judged
    path: dict[str, np.ndarray]


def grid_of(C: Any) -> np.ndarray:
    """The values of C from which one is taken, shape (number,); their squares must be numbers, too."""
    grid = np.atleast_1d(np.asarray(C, dtype=float))
    if grid.ndim != 1 or not grid.size:
        raise ValueError(f"C has shape {grid.shape}; give a number, or a list of them from which the best is taken")
    if not (np.isfinite(grid).all() and grid.min() > 0):
        raise ValueError(f"C={C} must be finite and above 0")
    if grid.min() < 1 / LARGEST_C or grid.max() > LARGEST_C:
        raise ValueError(f"C={C} must lie between {1 / LARGEST_C:g} and {LARGEST_C:g}; scale the kernel instead")
    return grid


def unit_of_C(A: KernelOperator) -> float:
    """1 / (largest singular value of the centred matrix); one if nothing but rounding is left of the matrix."""
    largest = largest_singular_value(A)
    mean = np.abs(A @ np.full((A.shape[1], 1), 1 / A.shape[1])).max()
    return 1 / largest if largest > A.shape[0] * np.finfo(A.dtype).eps * mean else 1.0


def part_of(y: np.ndarray, seed: int, *, of_classes: bool) -> np.ndarray:
    """Numbers of some of the samples, ascending; of every class at least one."""
    some = np.random.default_rng(seed).permutation(len(y))[:PART]
    firsts = np.unique(y, return_index=True)[1] if of_classes else np.empty(0, dtype=int)
    return np.union1d(some, firsts)


def folds_of(cv: Any, X: Array, y: np.ndarray, *, of_classes: bool) -> list[Fold]:
    """The folds to leave out in turn; None is ten, or as many as the smallest class has samples, if more than one."""
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
    """Folds to which the samples are dealt in turn, class by class, however few there are of some."""
    fold = np.empty(len(y), dtype=int)
    fold[np.argsort(y, axis=0, kind="stable").ravel()] = np.arange(len(y)) % number
    return [(np.flatnonzero(fold != i), np.flatnonzero(fold == i)) for i in range(number)]


def choose_C(
    grid: np.ndarray, held_out: Iterable[HeldOut], judge: Callable[[np.ndarray, np.ndarray], Judged]
) -> Chosen:
    """Judge what both functions say of samples left out, for every C, and take the one of the least error.

    A C at which some of it is not finite is passed over.
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
