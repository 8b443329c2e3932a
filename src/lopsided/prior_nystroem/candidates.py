"""Candidate kernels and values of smoothness, and the selection of one of them together with a prior weight."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import run
from ..kernels import RBF, Kernel, as_kernel, root_mean_squared_distance
from .criteria import (
    Parts,
    Path,
    dealt,
    held_out_alignments,
    held_out_errors,
    least_error,
    paper_criterion,
    plain_errors,
)
from .frames import Axes, Frame, TwoFrames
from .samples import Labels, Landscape, Pairs

FRACTIONS = (1.0, 0.5**0.5)  # bandwidths compared by cross-validation, in units of the bandwidth from the data
SMOOTHNESS = (0.0, 1e3, 1e4, 1e5)  # values compared by cross-validation, in units of 1 / (mean k(z, z))
FOLDS = 5  # cross-validation folds
HELD = 200  # maximum number of labels used to select the weight: the cost is cubic in it, and more change little
MANY = 2000  # maximum number of labels used to select kernel and smoothness, which needs no learned dictionary


class Candidate(NamedTuple):
    """A fitted kernel, a smoothness, and the coordinates of the dictionary before smoothing."""

    kernel: Kernel
    smoothness: float
    rough: Axes | TwoFrames

    @property
    def coordinates(self) -> Axes | TwoFrames:
        """Coordinates of the dictionary after smoothing."""
        return self.rough.smoothed(self.smoothness)

    def frame(self, eps: float) -> Frame | TwoFrames:
        """Coordinates in which the dictionary is learned."""
        return self.coordinates.frame(eps)

    def plain_features(self, place: Landscape, rows: np.ndarray) -> np.ndarray:
        """Smoothed Nystrom features of the left samples ``rows``, without a learned dictionary."""
        return place.left_values(self.kernel, rows) @ self.coordinates.plain_map


class Chosen(NamedTuple):
    """Index of the selected candidate, the prior weight, and the errors of all candidates if they were compared."""

    number: int
    weight: float
    paths: Sequence[Path] = ()

    @property
    def error(self) -> float:
        """Mean error of the selected candidate at its weight, or 1 - alignment; nan if none were compared."""
        if not self.paths:
            return np.nan
        path = self.paths[self.number]
        return float(path.errors[path.weights == self.weight].mean())


def kernels_to_try(kernel: Any, place: Landscape, fractions: Sequence[float], chooses: bool) -> list[Kernel]:
    """Candidate kernels, fitted to the samples; "rbf" gives one for each fraction of the bandwidth from the data."""
    if isinstance(kernel, str) and kernel == "rbf":
        Z = place.X if place.Z is None else place.Z
        bandwidth = root_mean_squared_distance(place.X, Z) if place.X.shape[1] == Z.shape[1] else 1.0
        kernel = [RBF(bandwidth * part) for part in fractions]
    elif not isinstance(kernel, list):
        kernel = [kernel]
    if not kernel or (len(kernel) > 1 and not chooses):
        raise ValueError(
            f"kernel lists {len(kernel)} kernels; what is known of samples chooses among several with "
            "prior_weight='auto' or 'alignment', else give one"
        )
    return [place.fit(as_kernel(each)) for each in kernel]


def levels_to_try(smoothness: str | float, place: Landscape, chooses: bool) -> Sequence[float]:
    """Candidate values of smoothness; with right samples Z only zero is allowed."""
    if smoothness == "auto":
        return SMOOTHNESS if chooses and place.Z is None else SMOOTHNESS[:1]
    if smoothness and place.Z is not None:
        raise ValueError(
            f"smoothness={smoothness} is about samples of one kind that are near each other; with Z leave it at 'auto'"
        )
    return (float(smoothness),)


def candidates_to_try(
    place: Landscape, kernels: Sequence[Kernel], levels: Sequence[float], of_samples: bool
) -> list[Candidate]:
    """All combinations of kernels and values of smoothness."""
    if place.Z is not None:
        return [Candidate(kernel, 0.0, place.two_frames(kernel)) for kernel in kernels]
    laplacian = place.laplacian if any(levels) else None
    axes = run(lambda kernel: place.axes(kernel, of_samples, laplacian), kernels)
    return [Candidate(kernel, level, each) for kernel, each in zip(kernels, axes, strict=True) for level in levels]


def by_criterion(place: Landscape, candidates: list[Candidate], known: Labels | Pairs) -> Chosen:
    """Select the candidate and the weight by the paper's alignment criterion (12)."""
    paths = []
    for candidate in candidates:
        frame = candidate.frame(place.eps)
        L, R = frame.bases
        information = place.information(candidate.kernel, known, frame)
        paths.append(paper_criterion(information, frame.prior, L, R, symmetric=frame.symmetric))
    return Chosen(*least_error(paths), paths)


def by_held_out(place: Landscape, candidates: list[Candidate], known: Labels | Pairs) -> Chosen:
    """Select the candidate and the weight by cross-validation.

    With more than 200 labels of one set, the candidate is selected first, from up to 2,000 labels and without learning
    a dictionary, because the best candidate depends on the number of labels. Its weight is then selected from 200.
    """
    rng = np.random.default_rng([place.seed, 3])
    if isinstance(known, Labels) and place.Z is None and len(known.left) > HELD and len(candidates) > 1:
        many = known.thinned(MANY, rng)
        paths = run(lambda each: _plain_path(place, each, many), candidates)
        number, _ = least_error(paths, many.chance)
        _, weight, paths[number : number + 1] = by_held_out(place, [candidates[number]], known)
        return Chosen(number, weight, paths)
    few = known.thinned(HELD, rng) if isinstance(known, Labels) else known
    folds = _folds(few, rng, symmetric=place.Z is None)
    if not folds:
        return Chosen(0, np.inf)
    paths = run(lambda each: _path(place, each, few, folds), candidates)
    return Chosen(*least_error(paths, few.chance), paths)


def _path(place: Landscape, candidate: Candidate, known: Labels | Pairs, folds: Sequence[Parts]) -> Path:
    """Held-out errors of a candidate at every weight: of classifiers for labels of one set, else by alignment."""
    spread = candidate.coordinates.spread
    if isinstance(known, Labels) and spread is not None:
        F = candidate.plain_features(place, known.left)
        return held_out_errors(F, spread, known.left_classes, folds, balanced=known.balanced)
    frame = candidate.frame(place.eps)
    return held_out_alignments(place.information(candidate.kernel, known, frame), frame.prior, folds)


def _plain_path(place: Landscape, candidate: Candidate, known: Labels) -> Path:
    """Leave-one-out errors of a candidate without a learned dictionary."""
    F = candidate.plain_features(place, known.left)
    return plain_errors(F, known.left_classes, balanced=known.balanced)


def _folds(known: Labels | Pairs, rng: np.random.Generator, *, symmetric: bool) -> list[Parts]:
    """Cross-validation folds (kept, held out) of labelled samples, of both sides at once with Z, or of pairs.

    The list is empty if there are fewer than two labelled samples or pairs.
    """

    def parts(groups: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        folds = dealt(groups, min(FOLDS, len(groups)), rng) if len(groups) > 1 else []
        return [(np.setdiff1d(np.arange(len(groups)), fold), fold) for fold in folds]

    if isinstance(known, Pairs):
        # Within one set both orders of a pair say the same, and go to one fold.
        numbers = np.sort(known.numbers, axis=1) if symmetric else known.numbers
        _, first, pair = np.unique(numbers, axis=0, return_index=True, return_inverse=True)
        folds = parts(known.targets[first])
        return [(np.flatnonzero(np.isin(pair, kept)), np.flatnonzero(np.isin(pair, out))) for kept, out in folds]
    left = parts(known.left_classes)
    if known.right_classes is None:
        return left
    right = parts(known.right_classes)
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(left, right, strict=False)]
