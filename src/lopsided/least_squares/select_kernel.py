"""Selection of a kernel and its bandwidth by exact leave-one-out, on all samples or on a subset of them."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._core import Array, check_finite, counted, is_sparse, n_threads, run, simplest_of_the_best, slices_of
from ..exceptions import FallbackWarning, warn
from ..kernels import (
    RBF,
    SNE,
    Kernel,
    Laplacian,
    Linear,
    OfColumns,
    Ranked,
    Standardised,
    StudentT,
    as_kernel,
    root_mean_squared_distance,
    summed_deviations,
)
from ..operators import Stored, as_operator
from .merging import HeldOutResult, Merging
from .saddle import Spectral, affordable_size
from .select_C import Grid, best_C, stratified_subset
from .targets import Targets

# Chosen on the half "choose" of `python benchmarks/tables_blind.py`; its part "ablation" prints other values.
FRACTIONS = 2.0 ** np.array([-2.5, 0.5, 3.5])  # first bandwidths, in units of the distance between samples
NEARBY = (0.5, 2.0)  # bandwidths that are compared next, in units of the best
REFINED = 2  # kernels around which this is done
FIRST_SAMPLES = 200  # of the first round, in which every kernel and bandwidth is compared
PILOTS = slice(2, 6, 3)  # of the kernels below, to choose units of columns: RBF and Laplacian at a middling bandwidth
EVEN = 1.2  # ratio of the largest to the smallest spread of a column up to which units hardly matter
FINALISTS = 3  # kernels that are compared again, on more samples
MOST_SAMPLES = 500  # of the second round: a decomposition takes a tenth of a second
RANKED_SAMPLES = 2000  # from which the unit of ranks is taken
WORTH_ANOTHER = 1.5  # times the samples of the first round, that a second must have
CHOICE_ERROR = 1e-3  # relative error that a decomposition may have for the sake of speed: what is chosen is solved anew


class Compared(NamedTuple):
    """A kernel, the best C for it among those that were compared, and its held-out error and score there."""

    kernel: Kernel
    C: float
    error: float
    score: float
    n_samples: int


class Trial(NamedTuple):
    """A kernel, the best C for it, and the held-out results there."""

    kernel: Kernel
    C: float
    result: HeldOutResult

    @property
    def summary(self) -> Compared:
        """What is kept for the record."""
        return Compared(self.kernel, self.C, self.result.error, self.result.score, len(self.result.losses))


class Failed(NamedTuple):
    """A kernel that cannot be compared, and why."""

    kernel: Kernel
    reason: str


class KernelPath(tuple[Compared, ...]):
    """What was compared when a kernel was chosen, the chosen one first; prints as a table."""

    def __str__(self) -> str:
        lines = [f"{'error':>10}  {'score':>8}  {'C':>10}  {'samples':>7}  kernel"]
        lines += [f"{e:>10.4g}  {r:>8.4f}  {C:>10.3g}  {n:>7}  {_in_a_line(kernel)}" for kernel, C, e, r, n in self]
        return "\n".join(lines)


def is_choice(kernel: Any) -> bool:
    """Whether a parameter asks for a choice of kernel: "auto", or a list of kernels."""
    return isinstance(kernel, list) or (isinstance(kernel, str) and kernel == "auto")


def list_kernels(kernel: Any, X: Array, *, many: bool = False) -> list[list[Kernel]]:
    """Unfitted kernels to be compared, in one list for each choice of units; in doubt the first is used, the usual.

    "auto" stands for Linear and, at three bandwidths each, RBF, Laplacian, StudentT and SNE. The unit is the root mean
    squared distance of two samples, divided by sqrt(2), or the sum of the standard deviations of the columns for the
    Laplacian, whose distances are in the 1-norm. If columns differ in spread, there is a list of the same kernels on
    standardised columns, which comes first unless samples are sparse, as texts are; if they are dense, there is
    another, of ranked columns. Of ``many`` samples only symmetric kernels are compared: others need twice the memory
    and thrice the time for as many landmarks.
    """
    if isinstance(kernel, list):
        if not kernel:
            raise ValueError("kernel=[] lists no kernel; give at least one, or 'auto'")
        kernels = [as_kernel(each) for each in kernel]
        if any(each.takes_values for each in kernels):
            raise ValueError(
                "kernel lists 'precomputed', but X holds one matrix, or points for the others; fit each matrix with "
                "kernel='precomputed', and compare held_out_score_"
            )
        return [kernels]
    choices = [_kernels_on(X, many)]
    columns = Standardised(Linear()).fit(X, X)
    if columns.scale_.max() > EVEN * columns.scale_.min():
        standardised = [Standardised(each) for each in _kernels_on(columns.in_units(X), many)]
        choices.insert(1 if is_sparse(X) else 0, standardised)
    if not is_sparse(X):
        sample = X[:: -(-X.shape[0] // RANKED_SAMPLES)]
        ranks = Ranked(Linear()).fit(sample, sample)
        choices.append([Ranked(each) for each in _kernels_on(ranks.in_units(sample), many)])
    return choices


def _kernels_on(X: Array, many: bool) -> list[Kernel]:
    unit = root_mean_squared_distance(X, X) / np.sqrt(2)
    units = [(RBF, unit), (Laplacian, summed_deviations(X)), *([] if many else [(StudentT, unit), (SNE, unit)])]
    return [Linear(), *(kind(float(size * part)) for kind, size in units for part in FRACTIONS)]


def at_other_bandwidths(kernel: Kernel, factors: Sequence[float]) -> list[Kernel]:
    """The same kernel at other bandwidths, in units of its own, if it has one."""
    given = kernel.get_params()
    found = [name for name in ("bandwidth", "kernel__bandwidth") if name in given]
    return [clone(kernel).set_params(**{name: factor * given[name]}) for name in found for factor in factors]


def rank_kernels(
    kernel: Any, X: Array, targets: Targets, grid: Grid | None, *, merging: Merging, seed: int, budget: int, many: bool
) -> KernelPath:
    """Compare kernels by exact leave-one-out, the chosen one first: all on at most 200 samples, three on at most 500.

    Kernels of a list that fail on the samples are left out with a warning, and if all do, there is an error.

    Of several units of the columns, the first are used in which the better of two pilots is within a standard error of
    the best. Then all kernels are compared, and with "auto" further bandwidths around the best two; there an asymmetric
    kernel, which costs three times as much, is chosen only if it is better by a standard error. One decomposition of
    each kernel matrix serves all C: those of the ``grid``, or without it a range in units of the matrix. Samples are
    drawn in proportion to the classes, and are fewer if decompositions would exceed the budget. Cost O(m^3) for each
    kernel on m samples.
    """
    affordable = affordable_size(budget // n_threads())  # each thread compares a kernel

    def on(size: int, kernels: Sequence[Kernel]) -> tuple[list[Trial], list[Failed]]:
        rows = stratified_subset(targets.y, min(size, affordable), seed, of_classes=merging.of_classes)
        return _tried(kernels, X[rows], targets.take(rows), grid, merging)

    choices = list_kernels(kernel, X, many=many)
    pilots = [on(FIRST_SAMPLES, kernels[PILOTS])[0] for kernels in choices] if len(choices) > 1 else [[]]
    best = _simplest_of_the_best(pilots)
    others = [each for number, found in enumerate(pilots) if number != best for each in found]
    rest = [each for each in choices[best] if not any(each is done.kernel for done in pilots[best])]
    found, failed = on(FIRST_SAMPLES, rest)
    ranked = sorted([*pilots[best], *found], key=_error)
    if not isinstance(kernel, list):
        near = [other for each in ranked[:REFINED] for other in at_other_bandwidths(each.kernel, NEARBY)]
        ranked += on(FIRST_SAMPLES, near)[0]
        ranked.sort(key=_error)
    if ranked and WORTH_ANOTHER * ranked[0].summary.n_samples < min(len(targets.y), affordable, MOST_SAMPLES):
        finalists, fallen = on(MOST_SAMPLES, [each.kernel for each in ranked[:FINALISTS]])
        ranked, failed = [*finalists, *ranked[FINALISTS:]], [*failed, *fallen]
    if not ranked:
        raise ValueError(f"none of {len(failed)} kernels can be compared on these samples; " + _listed(failed))
    if isinstance(kernel, list) and failed:
        what = f"{len(failed)} of {len(kernel)} kernels cannot be compared on these samples and are left out; "
        warn(what + _listed(failed), FallbackWarning)
    if not isinstance(kernel, list):
        ranked = _symmetric_first(ranked)
    return KernelPath(each.summary for each in [*ranked, *others])


def _simplest_of_the_best(trials: Sequence[Sequence[Trial]]) -> int:
    """The first choice whose best trial is within a standard error of the best of all."""
    tried = [number for number, found in enumerate(trials) if found]
    return tried[simplest_of_the_best([trials[number][0].result.losses for number in tried])] if tried else 0


def _symmetric_first(ranked: list[Trial]) -> list[Trial]:
    """The best symmetric kernel first, unless the best of all is better by more than a standard error."""
    n = len(ranked[0].result.losses)
    level = [each for each in ranked if len(each.result.losses) == n]
    sides = [[each for each in level if each.kernel.symmetric is wanted] for wanted in (True, False)]
    first = sides[_simplest_of_the_best(sides)][0]
    return [first, *(each for each in ranked if each is not first)]


def _tried(
    kernels: Sequence[Kernel], X: Array, targets: Targets, grid: Grid | None, merging: Merging
) -> tuple[list[Trial], list[Failed]]:
    """Kernels with their best C, the best first, and why others fail on the data."""
    inner, points = _in_columns(kernels, X)

    def judged(number: int) -> Trial | Failed:
        try:
            return Trial(kernels[number], *_at_best_C(inner[number], points, targets, grid, merging))
        except (ValueError, TypeError) as error:
            return Failed(kernels[number], str(error))

    parts = slices_of(len(kernels), n_threads())
    everything = range(len(kernels))
    results = [
        each for part in counted(parts, "kernels compared", len(parts)) for each in run(judged, everything[part])
    ]
    found = [each for each in results if isinstance(each, Trial)]
    return sorted(found, key=_error), [each for each in results if isinstance(each, Failed)]


def _in_columns(kernels: Sequence[Kernel], X: Array) -> tuple[Sequence[Kernel], Array]:
    """Kernels and the samples that they compare; a map of columns that all of them share is applied once."""
    kinds = {type(each) for each in kernels}
    if len(kinds) != 1 or not issubclass(kind := kinds.pop(), OfColumns):
        return kernels, X
    return [each.kernel for each in kernels if isinstance(each, OfColumns)], kind(Linear()).fit(X, X).in_units(X)


def _at_best_C(
    kernel: Kernel, X: Array, targets: Targets, grid: Grid | None, merging: Merging
) -> tuple[float, HeldOutResult]:
    """Decompose the matrix of a kernel, and compare all C: the best, and the held-out results there."""
    fitted = clone(kernel).fit(X, X)
    K = np.asarray(as_operator(fitted, X, X, budget=sys.maxsize).take(), dtype=float)
    check_finite(K)
    symmetric, weights = fitted.symmetric, targets.weights
    A = Stored((K + K.T) / 2 if symmetric else K)
    largest_C = 0.0 if grid is None or grid.in_units else float(grid.values.max())  # in units it is never too large
    family = Spectral.of_matrix(A, largest_C, symmetric=symmetric, weights=weights, error=CHOICE_ERROR)
    return best_C(family, grid, targets, merging)


def _listed(failed: Sequence[Failed]) -> str:
    """Why kernels fail, each reason once."""
    reasons = dict.fromkeys(each.reason for each in failed)
    names = {reason: [_in_a_line(each.kernel) for each in failed if each.reason == reason] for reason in reasons}
    return "; ".join(f"{', '.join(kernels)}: {reason}" for reason, kernels in names.items())


def _in_a_line(kernel: Kernel) -> str:
    """The kernel as it prints, but without the line breaks that a matrix among its parameters has."""
    return " ".join(repr(kernel).split())


def _error(trial: Trial) -> float:
    return trial.result.error
