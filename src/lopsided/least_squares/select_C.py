"""Selection of C by exact leave-one-out or cross-validation."""

import reprlib
from collections.abc import Sequence
from dataclasses import replace
from itertools import islice
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.model_selection import KFold, StratifiedKFold, check_cv
from sklearn.utils import resample

from .._core import Array, dense, slices_of
from ..exceptions import LopsidedWarning, warn
from ..operators import KernelOperator, Stored
from .merging import HeldOutResult, Merging
from .saddle import BlockLU, Fold, Minres, SaddleFamily, SaddleSystem, Spectral, affordable_size, largest_singular_value
from .targets import Targets

N_FOLDS = 10  # of cross-validation, as in the 2023 paper
STACKING_FOLDS = 5  # on which merge="auto" judges stacking; each takes a logistic regression
# Candidates for C="auto", in units of 1 / (largest singular value): below 1 the system is positive definite, at 1 it is
# singular. `python benchmarks/askls_tables.py ablation` changes them on four UCI sets.
WIDE_C = 0.2 * 10 ** np.arange(0, 6.5, 0.5)
MINRES_C = WIDE_C[WIDE_C <= 20]  # the number of iterations grows with C
DEFINITE_C = np.array([0.2, 0.6])
USEFUL_C = WIDE_C[0] / 100, 100 * WIDE_C[-1]  # beyond which there is a warning
NEIGHBOUR_FACTORS = np.array([0.7, 1.0, 1.4])  # around the C selected on a subset, which may be near-singular on all
SUBSET_SIZE = 1500  # samples that select C if each value costs as much as a fit; their SVD takes seconds
LOOKED_AT = 100  # samples that may be like others
MOSTLY_ROUNDING = 1e4  # in units of eps: share of K left by centring below which no C resolves its singular values
JUDGED_ENTRIES = 1 << 22  # of held-out values that are judged at once, 32 MB
EXTREME_C = 1e150  # the square of C and of 1/C must not overflow


class Grid(NamedTuple):
    """Given values of C, plain or in units of the kernel matrix."""

    values: np.ndarray
    in_units: bool

    def of(self, family: SaddleFamily) -> np.ndarray:
        """The values for the systems of a kernel matrix; those in units are moved away from singular systems."""
        if not self.in_units:
            return self.values
        plain = self.values * _unit_of_C(family)
        return family.clear_of_singular(plain) if isinstance(family, Spectral) else plain


def select_C(
    grid: Grid | None,
    family: SaddleFamily,
    X: Array,
    targets: Targets,
    *,
    merging: Merging,
    cv: Any,
    seed: int,
    budget: int,
) -> tuple[float, HeldOutResult, dict[str, np.ndarray]]:
    """Select the C of the grid, or without a grid of the default candidates, with the least held-out error.

    Samples X are for the splitter ``cv`` only; None means exact leave-one-out if it is available and nothing is
    stacked. The seed draws the subset that selects C if each candidate costs as much as a fit; the subset is small
    enough for its decomposition to fit the budget.

    The squared error of candidates that were moved clear of the singular values is that of clipped predictions: a few
    refits may come close to singular all the same, and their enormous predictions would decide. Where the candidates
    may be close themselves, enormous predictions are what tells; and for real targets, unless all systems are positive
    definite, since ``predict`` returns such values to new samples, where a class has but a sign.

    Returns C, the held-out results at this C, and the errors and scores of all candidates.
    """
    clear = grid is None and isinstance(family, Spectral)
    if grid is None:
        size = min(SUBSET_SIZE, affordable_size(budget))
        values = _auto_C_grid(family, targets, merging, seed, size)
    else:
        values = grid.of(family)
    return compare_C(family, values, targets, merging, _folds(family, merging, cv, X, targets.y, seed), clipped=clear)


def stack_if_better(
    family: SaddleFamily, C: float, best: HeldOutResult, targets: Targets, merging: Merging
) -> HeldOutResult | None:
    """Held-out results of stacking three or more classes, if their log-loss is below that of ``best``, else None.

    Where a class lies between others, no function of its own machine is large on it, but those of the others tell it.
    Only tried on a full decomposition, which makes folds cheap, and if every fold holds every class.
    """
    judged = merging.of_classes and merging.by_likelihood and merging.how == "mean" and targets.Y.shape[1] > 1
    if not (judged and isinstance(family, Spectral) and family.complete):
        return None
    if np.bincount(targets.y, minlength=targets.Y.shape[1]).min() < STACKING_FOLDS:
        return None
    stacking = replace(merging, how="stack")
    folds = _folds(family, stacking, STACKING_FOLDS, targets.Y, targets.y, 0)
    ((source, target),) = family.leave_folds_out(np.array([C]), targets.Y, folds)
    if not np.isfinite(source + target).all():
        return None
    (found,) = stacking.held_out(source[None], target[None], targets, folds)
    return found if found.error < best.error else None


def C_grid(C: Any, *, in_units: bool) -> Grid:
    """Validate C and return its values as a 1-d array; their squares must neither overflow nor underflow."""
    try:
        grid = np.atleast_1d(np.asarray(C, dtype=float))
    except (TypeError, ValueError) as error:
        raise ValueError(f"C={C!r} must be 'auto', a number, or a list of numbers") from error
    if grid.ndim != 1 or not grid.size:
        raise ValueError(f"C has shape {grid.shape}; give a number, or a list of numbers from which the best is taken")
    if not (np.isfinite(grid).all() and grid.min() > 0):
        raise ValueError(f"C={C} must be finite and above 0")
    if grid.min() < 1 / EXTREME_C or grid.max() > EXTREME_C:
        raise ValueError(f"C={C} must lie between {1 / EXTREME_C:g} and {EXTREME_C:g}; scale the kernel instead")
    return Grid(grid, in_units)


def _auto_C_grid(family: SaddleFamily, targets: Targets, merging: Merging, seed: int, size: int) -> np.ndarray:
    """Grid for C="auto": multiples of 1 / (largest singular value of the centred matrix).

    If one decomposition serves all values, the grid is wide. If each value needs its own factorisation or iteration, it
    holds the best C of a subset of the samples and, for factorisations, two neighbours. With damping, and for sparse
    matrices, of which a subset is not representative, it holds two values at which the system is positive definite.
    """
    A, iterated = family.A, isinstance(family, Minres)
    unit = _unit_of_C(family)
    if isinstance(family, BlockLU) or (iterated and isinstance(A, Stored) and sparse.issparse(A.K)):
        return DEFINITE_C * unit
    if isinstance(family, Spectral):
        return _wide_grid(family)
    rows = stratified_subset(targets.y, size, seed, of_classes=merging.of_classes)
    chosen = targets.take(rows)
    part = Spectral.of_matrix(Stored(A.take(rows, rows)), np.inf, weights=chosen.weights)
    unit_of_part = _unit_of_C(part)
    grid = part.clear_of_singular((MINRES_C if iterated else WIDE_C) * unit_of_part)
    folds = _folds(part, merging, None, rows, chosen.y, seed)
    best = compare_C(part, grid, chosen, merging, folds, clipped=True)[0]
    return best / unit_of_part * unit * (np.ones(1) if iterated else NEIGHBOUR_FACTORS)


def best_C(family: Spectral, grid: Grid | None, targets: Targets, merging: Merging) -> tuple[float, HeldOutResult]:
    """The C of the grid, or without a grid of the default candidates, of least leave-one-out error, and the results."""
    values = _wide_grid(family) if grid is None else grid.of(family)
    return compare_C(family, values, targets, merging, clipped=grid is None)[:2]


def _wide_grid(family: Spectral) -> np.ndarray:
    """The values of C that one decomposition serves, clear of singular systems."""
    return family.clear_of_singular(WIDE_C * _unit_of_C(family))


def _unit_of_C(family: SaddleFamily) -> float:
    """1 / (largest singular value of the centred matrix), or of the whole one if little but rounding is left of it."""
    known, whole = family.largest if isinstance(family, Spectral) else None, family.mean_size
    largest = largest_singular_value(family.A, family.border) if known is None else known
    if largest <= MOSTLY_ROUNDING * np.finfo(family.A.dtype).eps * whole:
        largest = whole or 1.0
    unit = 1 / largest
    if unit * WIDE_C[-1] > EXTREME_C:
        raise ValueError(
            f"the largest singular value of the centred kernel matrix is only {largest:.3g}, so C would have to exceed "
            f"{EXTREME_C:g}; multiply the kernel, or scale the data up"
        )
    return unit


def warn_if_useless(system: SaddleSystem, *, in_units: bool) -> None:
    """Warn if C is so far from what "auto" compares that functions are nearly constant, or follow every sample."""
    s = system.norm_estimate()
    least, most = USEFUL_C
    if s > 0 and not least < system.C * s < most:
        what = "are nearly constant" if system.C * s <= least else "follow every sample"
        way_out = "" if in_units else ", or give C in units of the matrix with scale_C=True"
        warn(
            f"C={system.C:g} is far outside the useful range of this kernel matrix, {WIDE_C[0] / s:.2g} to "
            f"{WIDE_C[-1] / s:.2g}, so that the functions {what}; use C='auto'{way_out}",
            LopsidedWarning,
        )


def warn_if_constant(family: SaddleFamily, system: SaddleSystem) -> None:
    """Warn if centring leaves nothing of the kernel matrix but rounding: the functions are then constant."""
    if system.norm_estimate() <= MOSTLY_ROUNDING * np.finfo(family.A.dtype).eps * family.mean_size:
        warn(
            "centring leaves nothing but rounding of this kernel matrix, as if all samples were alike, so that "
            "predictions are constant; take a smaller bandwidth, another kernel, or samples that differ",
            LopsidedWarning,
        )


def warn_if_diagonal(A: KernelOperator) -> None:
    """Warn if samples are like none but themselves, of which a hundred are looked at. Cost O(100 n)."""
    rows = np.unique(np.linspace(0, A.shape[0] - 1, LOOKED_AT).astype(int))
    K = np.abs(dense(A.take(rows)))
    own = K[np.arange(len(rows)), rows]
    K[np.arange(len(rows)), rows] = 0
    if (K.max(axis=1) <= np.finfo(A.dtype).eps * own).all() and own.any():
        warn(
            "the values of this kernel for two different samples are zero, as if each were like none but itself, so "
            "that nothing is learned of new ones; take a larger bandwidth, another kernel, or more samples",
            LopsidedWarning,
        )


def stratified_subset(y: np.ndarray, size: int, seed: int, *, of_classes: bool) -> np.ndarray:
    """Sorted indices of a random subset of ``size`` samples, of classes in proportion and at least one each."""
    everything, size = np.arange(len(y)), min(size, len(y))
    rows = resample(everything, n_samples=size, replace=False, stratify=y if of_classes else None, random_state=seed)
    return np.union1d(rows, np.unique(y, return_index=True)[1]) if of_classes else np.sort(rows)


def _folds(family: SaddleFamily, merging: Merging, cv: Any, X: Array, y: np.ndarray, seed: int) -> list[Fold]:
    """Folds to be held out, or an empty list for exact leave-one-out.

    Stacking never uses leave-one-out: the mean of the remaining labels reveals the label left out, and a stacking model
    would learn only that. The default is ten folds, or fewer if the smallest class of two or more samples has fewer; a
    class of one sample is dealt out with the largest class. They are drawn at random: of samples in some order, folds
    of neighbours would leave only strangers to learn from.
    """
    if cv is None and family.leaves_one_out and merging.how != "stack":
        return []
    strata, splits = y, cv
    if cv is None:
        numbers, counts = np.unique(y, return_counts=True) if merging.of_classes else (None, np.array([len(y)]))
        if counts.max() < 2:
            raise ValueError(
                f"none of the {len(counts)} classes has two samples, so none can be held out; give more samples, or a "
                "single C and a merge other than 'stack'"
            )
        if numbers is not None:
            strata = np.where(np.isin(y, numbers[counts == 1]), numbers[counts.argmax()], y)
        count, kind = min(N_FOLDS, int(counts[counts > 1].min())), StratifiedKFold if merging.of_classes else KFold
        splits = kind(count, shuffle=True, random_state=seed)
    try:
        folds = list(check_cv(splits, strata, classifier=merging.of_classes).split(X, strata))
    except TypeError as error:
        raise ValueError(
            f"cv={reprlib.repr(cv)} must be a number of folds, a splitter such as KFold, or pairs of indices"
        ) from error
    parts = [[left_out for _, left_out in folds], *folds]
    if not all(
        np.array_equal(np.sort(np.concatenate([[], *map(np.ravel, part)])), np.arange(len(y))) for part in parts
    ):
        raise ValueError(
            f"cv={reprlib.repr(cv)} must leave every sample out once and train on all the others, as KFold does"
        )
    return [(np.asarray(kept, dtype=np.intp), np.asarray(left_out, dtype=np.intp)) for kept, left_out in folds]


def compare_C(
    family: SaddleFamily,
    grid: np.ndarray,
    targets: Targets,
    merging: Merging,
    folds: Sequence[Fold] = (),
    *,
    clipped: bool,
) -> tuple[float, HeldOutResult, dict[str, np.ndarray]]:
    """Merge and judge the held-out values at every C, where finite, and select the C with the least error.

    A logistic regression that stacks classes is trained once for each C and judged on what it was trained on, values of
    held-out samples, since one for each fold would cost ten times as much; only at the selected C is it judged on folds
    held out again.
    """
    if clipped and isinstance(family, Spectral) and not merging.of_classes:
        clipped = family.definite_up_to(grid.max())
    errors, scores = np.full(len(grid), np.inf), np.full(len(grid), np.nan)
    best, chosen, values, costly = None, 0, None, merging.how == "stack" and merging.of_classes
    held_out = family.leave_folds_out(grid, targets.Y, folds) if folds else family.leave_one_out(grid, targets.Y)
    for part in slices_of(len(grid), JUDGED_ENTRIES // targets.Y.size):
        source, target = np.stack(list(islice(held_out, part.stop - part.start)), axis=1)
        finite = np.flatnonzero(np.isfinite(source + target).all(axis=(1, 2)))
        results = merging.held_out(source[finite], target[finite], targets, () if costly else folds, clipped=clipped)
        for place, found in zip(finite, results, strict=True):
            number = part.start + place
            errors[number], scores[number] = found.error, found.score
            if found.error < errors[:number].min(initial=np.inf):
                best, chosen, values = found, number, (source[[place]], target[[place]])
    if costly and values is not None:
        (best,) = merging.held_out(*values, targets, folds)
    if best is None:
        raise ValueError(
            f"without some of the samples the system is singular, up to rounding, at C={grid.tolist()}; add other "
            "values of C, smaller ones if values of the kernel are large"
        )
    return float(grid[chosen]), best, {"C": grid, "error": errors, "score": scores}
