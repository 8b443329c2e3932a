"""Candidate kernels and values of smoothness, and the selection of one of them together with a prior weight.

Bandwidths and smoothness were chosen on the sixteen data sets of ``benchmarks/prior_table1.py table``; its part
``ablation`` prints errors with other values. The numbers of labels limit the cost.
"""

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import run
from ..kernels import RBF, Kernel, as_kernel, root_mean_squared_distance
from .criteria import (
    Path,
    admitted,
    guessing_error,
    held_out_alignments,
    held_out_errors,
    least_error,
    leave_one_out_errors,
    paper_criterion,
)
from .dictionary import Iteration
from .frames import Axes, Frame, axes_of_one_set, axes_of_two_sets, neighbour_laplacian
from .samples import LandmarkedKernel, LandmarkedSamples, fit_kernel
from .supervision import Labels, Pairs, Parts, folds_of, thinned, thinned_pairs

BANDWIDTH_FRACTIONS = (1.0, 0.5**0.5)  # RBF bandwidths that are compared, in units of the bandwidth from the data
SMOOTHNESS_GRID = (0.0, 1e3, 1e4, 1e5)  # values that are compared, in units of 1 / (mean k(z, z))
WEIGHT_LABELS = 200  # most labels that select the weight: the cost is cubic in them, and more change little
CANDIDATE_PAIRS = 500  # most pairs that select kernel and smoothness: the cost is cubic in them
WEIGHT_PAIRS = 2000  # most pairs that select the weight, by iterations
CANDIDATE_LABELS = 2000  # most labels that select kernel and smoothness, which needs no learned dictionary


class Candidate(NamedTuple):
    """A kernel on landmarked samples, a smoothness, and the axes of its features before smoothing."""

    values: LandmarkedKernel
    smoothness: float
    rough: Axes

    @property
    def axes(self) -> Axes:
        """Axes of the smoothed Nystrom features."""
        return self.rough.smoothed(self.smoothness)

    def features(self, rows: np.ndarray) -> np.ndarray:
        """Smoothed Nystrom features of rows of X."""
        return self.values.left_values(rows) @ self.axes.left

    def frame(self) -> Frame:
        """Coordinates in which the dictionary is learned. Cost O(m^3)."""
        return self.axes.frame(self.values.data.eps)


class Compared(NamedTuple):
    """A kernel and a smoothness that were compared, with prior weights and their errors (weights, samples)."""

    kernel: Kernel
    smoothness: float
    weights: np.ndarray
    errors: np.ndarray


class Selection(NamedTuple):
    """Index of the selected candidate, the prior weight, and the errors of all candidates if they were compared."""

    number: int
    weight: float
    paths: Sequence[Path] = ()

    def compared(self, candidates: Sequence[Candidate]) -> list[Compared]:
        """What was compared; empty if nothing was."""
        both = zip(candidates, self.paths, strict=False)
        return [Compared(each.values.kernel, each.smoothness, *path) for each, path in both]


def list_candidates(
    data: LandmarkedSamples, kernel: Any, smoothness: str | float, *, of_samples: bool, by_errors: bool
) -> list[Candidate]:
    """All combinations of kernels and values of smoothness, those from the grids only if ``by_errors`` selects.

    Second moments and roughness are estimated from some of the samples, labelled or not.
    """
    kernels = [fit_kernel(as_kernel(each), data) for each in _kernels_to_compare(kernel, data, by_errors)]
    if data.Z is not None:
        return [Candidate(each, 0.0, axes_of_two_sets(each.W, data.eps)) for each in kernels]
    grid = SMOOTHNESS_GRID if by_errors else SMOOTHNESS_GRID[:1]
    levels = grid if isinstance(smoothness, str) else (float(smoothness),)
    laplacian = neighbour_laplacian(data.X[data.moment_rows]) if any(levels) else None

    def axes(values: LandmarkedKernel) -> Axes:
        E = values.left_values(data.moment_rows) if of_samples or laplacian is not None else None
        return axes_of_one_set(values.W, data.eps, E, of_samples=of_samples, laplacian=laplacian)

    pairs = zip(kernels, run(axes, kernels), strict=True)
    return [Candidate(values, level, rough) for values, rough in pairs for level in levels]


def _kernels_to_compare(kernel: Any, data: LandmarkedSamples, by_errors: bool) -> list[Any]:
    """The kernels given by the user; "rbf" stands for one at each fraction of the bandwidth from the data."""
    if not (isinstance(kernel, str) and kernel == "rbf"):
        return kernel if isinstance(kernel, list) else [kernel]
    Z = data.X if data.Z is None else data.Z
    bandwidth = root_mean_squared_distance(data.X, Z) if data.X.shape[1] == Z.shape[1] else 1.0
    return [RBF(bandwidth * part) for part in (BANDWIDTH_FRACTIONS if by_errors else BANDWIDTH_FRACTIONS[:1])]


def select(
    candidates: list[Candidate], known: Labels | Pairs | None, weight: str | float, seed: int, iteration: Iteration
) -> Selection:
    """Select a candidate and a prior weight: the given one, by the paper's criterion (12), or by cross-validation.

    With more than 200 labels of one set, cross-validation selects the candidate first, from up to 2,000 labels and
    without learning a dictionary, because the best candidate depends on the number of labels. Its weight is then
    selected from 200.
    """
    if known is None:
        return Selection(0, np.inf)
    if not isinstance(weight, str):
        return Selection(0, float(weight))
    if weight == "alignment":
        paths = []
        for values, frame in ((each.values, each.frame()) for each in candidates):
            paths.append(paper_criterion(values.information(known, frame), frame, iteration))
        return Selection(*least_error(paths), paths)
    two_sets = candidates[0].values.data.Z is not None
    if isinstance(known, Pairs):
        return _select_by_pairs(candidates, known, seed)
    if two_sets or len(known.left.rows) <= WEIGHT_LABELS or len(candidates) == 1:
        return _select_held_out(candidates, known, seed)
    many = thinned(known, CANDIDATE_LABELS, np.random.default_rng([seed, 3]))
    rows, classes = many.left
    paths = run(lambda each: leave_one_out_errors(each.features(rows), classes, balanced=many.balanced), candidates)
    number, _ = _best(candidates, paths, guessing_error(classes, balanced=many.balanced))
    best = _select_held_out([candidates[number]], known, seed)
    return Selection(number, best.weight, [*paths[:number], *best.paths, *paths[number + 1 :]])


def _select_by_pairs(candidates: list[Candidate], known: Pairs, seed: int) -> Selection:
    """Select a candidate from up to 500 pairs, and if there are more, its weight from up to 2,000."""
    counts = (CANDIDATE_PAIRS, WEIGHT_PAIRS)
    few, many = (thinned_pairs(known, count, np.random.default_rng([seed, 5])) for count in counts)
    first = _select_held_out(candidates, few, seed)
    if len(few.targets) == len(many.targets):
        return first
    best = _select_held_out([candidates[first.number]], many, seed)
    paths = list(first.paths)
    paths[first.number : first.number + 1] = best.paths
    return Selection(first.number, best.weight, paths)


def _select_held_out(candidates: list[Candidate], known: Labels | Pairs, seed: int) -> Selection:
    """Select a candidate and a weight by cross-validation; the first and an infinite weight if that is impossible."""
    rng, guessing = np.random.default_rng([seed, 3]), np.inf  # of alignments, that of guessing is unknown
    if isinstance(known, Labels):
        known = thinned(known, WEIGHT_LABELS, rng)
        if known.right is None:
            guessing = guessing_error(known.left.classes, balanced=known.balanced)
    folds = folds_of(known, rng)
    if not folds:
        return Selection(0, np.inf)
    paths = run(lambda each: _held_out_path(each, known, folds), candidates)
    return Selection(*_best(candidates, paths, guessing), paths)


def _best(candidates: Sequence[Candidate], paths: Sequence[Path], guessing: float) -> tuple[int, float]:
    """Index and weight of least error among the candidates that are admitted."""
    numbers = admitted(paths, [each.smoothness > 0 for each in candidates])
    number, weight = least_error([paths[each] for each in numbers], guessing)
    return numbers[number], weight


def _held_out_path(candidate: Candidate, known: Labels | Pairs, folds: Sequence[Parts]) -> Path:
    """Held-out errors of a candidate at every weight: of classifiers for labels of one set, else by alignment."""
    if isinstance(known, Labels) and known.right is None:
        rows, classes = known.left
        F, spread = candidate.features(rows), candidate.axes.spread
        return held_out_errors(F, spread, classes, folds, balanced=known.balanced)
    frame = candidate.frame()
    return held_out_alignments(candidate.values.information(known, frame), frame.prior, folds)
