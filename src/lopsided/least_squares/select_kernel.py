"""Selection of a kernel and its bandwidth by exact leave-one-out, on all samples or on a subset of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._core import Array, check_finite
from ..kernels import RBF, SNE, Kernel, Laplacian, Linear, StudentT, as_kernel, root_mean_squared_distance
from ..operators import Stored, as_operator
from .merging import Merging
from .saddle import Spectral, affordable_size
from .select_C import LEAST_SUBSET_SIZE, Grid, compare_C, stratified_subset, wide_grid
from .targets import Targets

# Chosen on the half "choose" of `python benchmarks/tables_blind.py`; its part "ablation" prints other values.
FRACTIONS = 2.0 ** np.arange(-2.5, 3)  # bandwidths that are compared, in units of the distance between samples
FIRST_SAMPLES = 200  # of the first round, in which every kernel and bandwidth is compared
FINALISTS = 3  # kernels that are compared once more, on more samples
MOST_SAMPLES = 500  # of the second round: a decomposition takes a tenth of a second


class Compared(NamedTuple):
    """A kernel, the best C for it among those that were compared, and its held-out error and score there."""

    kernel: Kernel
    C: float
    error: float
    score: float
    n_samples: int


class KernelPath(tuple[Compared, ...]):
    """What was compared when a kernel was chosen, the best first; prints as a table."""

    def __str__(self) -> str:
        lines = [f"{'error':>10}  {'score':>8}  {'C':>10}  {'samples':>7}  kernel"]
        lines += [f"{e:>10.4g}  {r:>8.4f}  {C:>10.3g}  {n:>7}  {kernel!r}" for kernel, C, e, r, n in self]
        return "\n".join(lines)


def is_choice(kernel: Any) -> bool:
    """Whether a parameter asks for a choice of kernel: "auto", or a list of kernels."""
    return isinstance(kernel, list) or (isinstance(kernel, str) and kernel == "auto")


def list_kernels(kernel: Any, X: Array) -> list[Kernel]:
    """Unfitted kernels to be compared, the simplest first, since ties go to the first.

    "auto" stands for Linear and, at six bandwidths each, RBF, Laplacian, StudentT and SNE. The unit is the root mean
    squared distance of two samples, divided by sqrt(2); for the Laplacian, whose distances are in the 1-norm, its own.
    """
    if isinstance(kernel, list):
        if not kernel:
            raise ValueError("kernel=[] lists no kernel; give at least one, or 'auto'")
        return [as_kernel(each) for each in kernel]
    unit = root_mean_squared_distance(X, X) / np.sqrt(2)
    in_one_norm = Laplacian().fit(X, X).bandwidth_
    units = ((RBF, unit), (Laplacian, in_one_norm), (StudentT, unit), (SNE, unit))
    return [Linear(), *(kind(float(size * part)) for kind, size in units for part in FRACTIONS)]


def rank_kernels(
    kernels: Sequence[Kernel],
    X: Array,
    targets: Targets,
    grid: Grid | None,
    *,
    merging: Merging,
    seed: int,
    budget: int,
) -> KernelPath:
    """Compare kernels by exact leave-one-out, the best first: all on at most 200 samples, three on at most 500.

    One decomposition of each kernel matrix serves all C: those of the ``grid``, or without it a range in units of the
    matrix. Samples are drawn in proportion to the classes, and are fewer if decompositions would exceed the budget.
    Cost O(m^3) for each kernel on m samples.
    """
    affordable = max(affordable_size(budget), LEAST_SUBSET_SIZE)
    ranked: list[Compared] = []
    for size, kept in ((FIRST_SAMPLES, len(kernels)), (MOST_SAMPLES, FINALISTS)):
        some = stratified_subset(targets.y, min(size, affordable), seed, of_classes=merging.of_classes)
        if not ranked or len(some) > ranked[0].n_samples:
            leading = [each.kernel for each in ranked[:kept]] or kernels
            ranked = [*_compared(leading, X[some], targets.take(some), grid, merging), *ranked[len(leading) :]]
    return KernelPath(ranked)


def _compared(
    kernels: Sequence[Kernel], X: Array, targets: Targets, grid: Grid | None, merging: Merging
) -> list[Compared]:
    """Kernels with their best C, the best first; those that fail on the data are left out."""
    found, reasons = [], []
    for kernel in kernels:
        try:
            found.append(_at_best_C(kernel, X, targets, grid, merging))
        except (ValueError, TypeError) as error:
            reasons.append(f"{kernel!r}: {error}")
    if not found:
        raise ValueError(f"none of {len(kernels)} kernels can be compared on these samples; " + "; ".join(reasons))
    return sorted(found, key=lambda each: each.error)


def _at_best_C(kernel: Kernel, X: Array, targets: Targets, grid: Grid | None, merging: Merging) -> Compared:
    """Decompose the matrix of a kernel, and compare all C."""
    fitted = clone(kernel).fit(X, X)
    A = as_operator(fitted, X, X, budget=sys.maxsize)
    K = np.asarray(A.take(), dtype=float)
    check_finite(K)
    symmetric, weights = fitted.symmetric, targets.weights
    family = Spectral.of_matrix(Stored((K + K.T) / 2 if symmetric else K), np.inf, symmetric=symmetric, weights=weights)
    values = wide_grid(family) if grid is None else grid.of(family)
    C, best, _ = compare_C(family, values, targets, merging, clipped=grid is None)
    return Compared(kernel, C, best.error, best.score, len(K))
