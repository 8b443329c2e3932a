"""The Nystrom method with a prior: select a kernel, its smoothness and a prior weight, and learn the dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._parallel import run
from ...kernels import RBF, Kernel, as_kernel
from ...kernels.bandwidth import root_mean_squared_distance
from .choice import (
    Parts,
    Path,
    dealt,
    held_out_alignments,
    held_out_errors,
    least_error,
    paper_criterion,
    plain_errors,
)
from .dictionary import Dictionary, learn_dictionary
from .frames import Axes, Frame, TwoFrames
from .landscape import Labels, Landscape, Pairs
from .side_information import SideInformation

FRACTIONS = (1.0, 0.5**0.5)  # bandwidths compared by cross-validation, in units of the bandwidth from the data
SMOOTHNESS = (0.0, 1e3, 1e4, 1e5)  # values compared by cross-validation, in units of 1 / (mean k(z, z))
FOLDS = 5  # cross-validation folds
HELD = 200  # maximum number of labels used to select the weight: the cost is cubic in it, and more change little
MANY = 2000  # maximum number of labels used to select kernel and smoothness, which needs no learned dictionary


class LearnedKernel(NamedTuple):
    """A kernel with a learned dictionary, and the results of its selection.

    Attributes
    ----------
    kernel : Kernel
        The selected kernel, fitted.
    smoothness : float
        The selected smoothness, which shrinks rough features.
    S : array of shape (right landmarks, left landmarks)
        The dictionary: the learned kernel is E_x S E_z^T.
    left_map, right_map : arrays
        Features are E_x left_map and E_z right_map, and S = left_map right_map^T.
    weight : float
        Weight of the prior, in units of the loss's curvature.
    objectives : array
        The objective at the start and after every step.
    alignment : float
        Alignment of the learned kernel with the labels or pairs; nan without any.
    candidates : list of (Kernel, float)
        The kernels and values of smoothness that were compared.
    paths : list of Path
        Errors of each candidate at all weights; empty if nothing was selected.
    """

    kernel: Kernel
    smoothness: float
    S: np.ndarray
    left_map: np.ndarray
    right_map: np.ndarray
    weight: float
    objectives: np.ndarray
    alignment: float
    candidates: list[tuple[Kernel, float]]
    paths: list[Path]


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


def learn_kernel(
    place: Landscape,
    kernel: Any,
    known: Labels | Pairs | None,
    *,
    weight: str | float,
    smoothness: str | float,
    of_samples: bool,
    solver: str,
    tol: float,
    max_iter: int,
) -> LearnedKernel:
    """Select a kernel, its smoothness and a prior weight, then learn the dictionary and the feature maps.

    Parameters
    ----------
    place : Landscape
        Samples and landmarks.
    kernel : str, Kernel, callable or list of them
        One kernel, or several to choose from; "rbf" takes its bandwidth from the data.
    known : Labels, Pairs or None
        Labels or pairs with which the learned kernel should agree.
    weight : "auto", "alignment" or float
        Weight of the prior, in units of the loss's curvature.
    smoothness : "auto" or float
        How strongly rough features shrink; "auto" is zero unless weight="auto" and there are labels or pairs and no Z.
    of_samples : bool
        Whether the prior measures changes in the metric of the samples (True) or of the landmarks (False).
    solver : {"closed", "gradient", "accelerated"}
        "closed" stops at the closed-form start; see :func:`learn_dictionary` for the others.
    tol, max_iter
        Stopping rule; see :func:`learn_dictionary`.
    """
    chooses = known is not None and isinstance(weight, str)
    by_held_out = chooses and weight == "auto"
    kernels = kernels_to_try(kernel, place, FRACTIONS if by_held_out else FRACTIONS[:1], chooses)
    levels = levels_to_try(smoothness, place, by_held_out)
    candidates = _candidates(place, kernels, levels, of_samples)
    number, paths = 0, list[Path]()
    if known is None or (not chooses and np.isinf(float(weight))):
        weight = np.inf
    elif chooses:
        choose = _by_held_out if by_held_out else _by_criterion
        number, weight, paths = choose(place, candidates, known)
    chosen, weight = candidates[number], float(weight)
    frame = chosen.frame(place.eps)
    learned = Dictionary(frame.prior, np.empty(0), True)
    alignment = np.nan
    if known is not None:
        information = place.information(chosen.kernel, known, frame)
        if np.isfinite(weight):
            learned = _solved(
                information, frame, weight=weight * information.curvature, solver=solver, tol=tol, max_iter=max_iter
            )
        alignment = information.alignment(learned.N)
    left_map, right_map = frame.maps(learned.N)
    if chosen.smoothness:
        left_map = right_map = _like_plain(place, chosen, left_map, learned=np.isfinite(weight))
    S = left_map @ right_map.T
    tried = [(each.kernel, each.smoothness) for each in candidates]
    return LearnedKernel(*tried[number], S, left_map, right_map, weight, learned.objectives, alignment, tried, paths)


def _like_plain(place: Landscape, chosen: Candidate, map: np.ndarray, *, learned: bool) -> np.ndarray:
    """Rescale a map so that its features F have the variance of Nystrom features and, if learned, no larger a mean.

    Smoothing shrinks the features, and penalised classifiers would neglect them. A learned dictionary first fits the
    mean of K*, a constant that carries no information and dominates the other features. F is therefore replaced by
    F (I - (1 - t) u u^T / |u|^2), whose mean is t times the mean u of F, with the t that makes |mean|^2 / variance
    equal to that of the Nystrom method; unless all of the variance lies along u, and would shrink with the mean.
    """
    n = place.X.shape[0]
    rows = np.sort(np.random.default_rng([place.seed, 4]).permutation(n)[:MANY])
    E = place.left_values(chosen.kernel, rows).astype(float)
    plain, F = E @ chosen.rough.plain_map, E @ map
    variance, own = plain.var(axis=0).sum(), F.var(axis=0).sum()
    if not min(variance, own) > 0:
        return map
    share, mean = np.square(plain.mean(axis=0)).sum() / variance, F.mean(axis=0)
    square = mean @ mean
    across = own - ((F @ mean).var() / square if square > 0 else 0.0)
    if learned and square > share * own and across > np.sqrt(place.eps) * own:
        along = own - across
        factor = np.sqrt(share * across / (square - share * along))
        map = map - (1 - factor) / square * np.outer(map @ mean, mean)
        own -= (1 - factor**2) * along
    return np.sqrt(variance / own) * map


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


def _candidates(
    place: Landscape, kernels: Sequence[Kernel], levels: Sequence[float], of_samples: bool
) -> list[Candidate]:
    """All combinations of kernels and values of smoothness."""
    if place.Z is not None:
        return [Candidate(kernel, 0.0, place.two_frames(kernel)) for kernel in kernels]
    laplacian = place.laplacian if any(levels) else None
    axes = run(lambda kernel: place.axes(kernel, of_samples, laplacian), kernels)
    return [Candidate(kernel, level, each) for kernel, each in zip(kernels, axes, strict=True) for level in levels]


def _solved(
    information: SideInformation, frame: Frame | TwoFrames, *, weight: float, solver: str, tol: float, max_iter: int
) -> Dictionary:
    """Learn the dictionary: by :func:`learn_dictionary` if symmetric, else by the closed form (no constraint)."""
    if frame.symmetric:
        steps = 0 if solver == "closed" else max_iter
        return learn_dictionary(
            information, frame.scales, weight, accelerated=solver == "accelerated", tol=tol, max_iter=steps
        )
    N0 = frame.prior
    N = information.minimiser(N0, weight)
    return Dictionary(N, np.array([weight * np.vdot(N - N0, N - N0) + information.loss(N)]), True)


Chosen = tuple[int, float, list[Path]]


def _by_criterion(place: Landscape, candidates: list[Candidate], known: Labels | Pairs) -> Chosen:
    """Select the candidate and the weight by the paper's alignment criterion (12)."""
    paths = []
    for candidate in candidates:
        frame = candidate.frame(place.eps)
        L, R = frame.bases
        information = place.information(candidate.kernel, known, frame)
        paths.append(paper_criterion(information, frame.prior, L, R, symmetric=frame.symmetric))
    return *least_error(paths), paths


def _by_held_out(place: Landscape, candidates: list[Candidate], known: Labels | Pairs) -> Chosen:
    """Select the candidate and the weight by cross-validation.

    With more than 200 labels of one set, the candidate is selected first, from up to 2,000 labels and without learning
    a dictionary, because the best candidate depends on the number of labels. Its weight is then selected from 200.
    """
    rng = np.random.default_rng([place.seed, 3])
    if isinstance(known, Labels) and place.Z is None and len(known.left) > HELD and len(candidates) > 1:
        many = known.thinned(MANY, rng)
        paths = run(lambda each: _plain_path(place, each, many), candidates)
        number, _ = least_error(paths, many.chance)
        _, weight, paths[number : number + 1] = _by_held_out(place, [candidates[number]], known)
        return number, weight, paths
    few = known.thinned(HELD, rng) if isinstance(known, Labels) else known
    folds = _folds(few, rng, symmetric=place.Z is None)
    if not folds:
        return 0, np.inf, []
    paths = run(lambda each: _path(place, each, few, folds), candidates)
    return *least_error(paths, few.chance), paths


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
