"""Another look at the kernels that few samples chose: on many samples, which landmarks stand for."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from sklearn.base import clone

from .._core import Array, counted
from ..kernels import Kernel
from ..nystrom import Nystrom
from ..svd import Choice
from .build import FACTOR_COPIES, saddle_of_landmarks
from .merging import Merging
from .select_C import Grid, best_C, stratified_subset
from .select_kernel import Compared, KernelPath, at_other_bandwidths
from .targets import Targets

# Chosen on protein-casp, of the half "choose" of tables_blind.py, and on the sets of `python benchmarks/tables_keel.py
# many`, which prints other values.
LANDMARKS = 500
MOST_SAMPLES = 10_000  # a comparison takes a second
WORTHWHILE = 3.0  # times the samples that chose, which these must have
KINDS = 3  # of kernels that are compared again, each at its best bandwidth
NARROWER = 0.5  # next bandwidth, in units of the last, as long as errors fall; if they do not, wider ones are tried
LEAST_FALL = 1e-3  # of the error, relative, that is worth another step: nearly linear functions like ever wider kernels
NEARER = (0.5**0.5, 2**0.5)  # bandwidths that are compared at last, in units of the best


def refine_path(
    path: KernelPath, X: Array, targets: Targets, grid: Grid | None, *, merging: Merging, seed: int, budget: int
) -> KernelPath:
    """Compare the best kernel of each kind, at other bandwidths too, on up to 10,000 samples with 500 landmarks.

    The more samples, the finer the functions that they tell from noise: bandwidths that are best on 500 samples may be
    far too wide for thousands. Asymmetric kernels, which cost three times as much, are compared again only if one of
    them came first. What is found comes first in the path. Cost O(n p^2) for each kernel.
    """
    room = budget // (FACTOR_COPIES * LANDMARKS * np.dtype(float).itemsize)
    size = min(len(targets.y), MOST_SAMPLES, room)
    if size < WORTHWHILE * path[0].n_samples:
        return path
    rows = stratified_subset(targets.y, size, seed, of_classes=merging.of_classes)
    X, targets = X[rows], targets.take(rows)

    def compare(kernels: Sequence[Kernel]) -> list[Compared]:
        tried = (_compared(kernel, X, targets, grid, merging, seed, budget) for kernel in kernels)
        return [one for one in tried if one]

    def follow(start: Compared, factor: float) -> list[Compared]:
        """Compare bandwidths, each ``factor`` times the last, until errors no longer fall; those beyond the start."""
        followed = [start]
        while further := compare(at_other_bandwidths(followed[-1].kernel, [factor])):
            followed += further
            if not _falls(*followed[-2:]):
                break
        return followed[1:]

    found: list[Compared] = []
    wanted = [each for each in path if each.kernel.symmetric] if path[0].kernel.symmetric else path
    kinds = _best_of_each_kind(wanted)[:KINDS]
    for kernel in counted(kinds, "kernels compared on more samples", len(kinds)):
        for start in compare([kernel]):
            narrower = follow(start, NARROWER)
            found += [start, *narrower]
            if not (narrower and _falls(start, narrower[0])):
                found += follow(start, 1 / NARROWER)
    if found:
        best = min(found, key=_error)
        found += compare(at_other_bandwidths(best.kernel, NEARER))
    return KernelPath([*sorted(found, key=_error), *path])


def _best_of_each_kind(path: Sequence[Compared]) -> list[Kernel]:
    """The first kernel of each class, and of each class in other units of the columns."""
    kinds = [(type(one.kernel), type(one.kernel.get_params().get("kernel"))) for one in path]
    return [one.kernel for number, one in enumerate(path) if kinds[number] not in kinds[:number]]


def _compared(
    kernel: Kernel, X: Array, targets: Targets, grid: Grid | None, merging: Merging, seed: int, budget: int
) -> Compared | None:
    """A kernel at its best C, by exact leave-one-out of the approximation; None if it fails on the data."""
    asked = Choice("nystrom", "asked for")
    method, weights = Nystrom(min(LANDMARKS, X.shape[0])), targets.weights
    try:
        fitted = clone(kernel).fit(X, X)
        family = saddle_of_landmarks(fitted, X, method, asked, budget=budget, seed=seed, weights=weights).family
        C, best = best_C(family, grid, targets, merging)
    except ValueError:
        return None
    return Compared(kernel, C, best.error, best.score, X.shape[0])


def _falls(before: Compared, after: Compared) -> bool:
    """Whether the error falls by so much that another step is worth it."""
    return after.error < (1 - LEAST_FALL) * before.error


def _error(one: Compared) -> float:
    return one.error
