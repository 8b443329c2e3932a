"""The Nystrom method with a prior, from samples and what is known of them to maps of the landmarks' kernel values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from ..._parallel import run
from ...kernels import RBF, Kernel, as_kernel
from ...kernels.bandwidth import mean_squared_distance
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

FRACTIONS = (1.0, 0.5**0.5)  # times the bandwidth that the data give: those tried where labels can tell
SMOOTHNESS = (0.0, 1e3, 1e4, 1e5)  # in units of 1 / (mean k(z, z)): those tried where labels can tell
FOLDS = 5  # parts of what is known, each held out in turn
HELD = 200  # labelled samples by which a weight is chosen: the work grows with their cube, and more change little
MANY = 2000  # labelled samples by which a kernel and its smoothness are chosen, for which features as they are will do


class LearnedKernel(NamedTuple):
    """A kernel with a learned dictionary, and how it came about.

    Attributes
    ----------
    kernel : Kernel
        The one that was chosen, fitted.
    smoothness : float
        How much its features were made to shrink as they are rough.
    S : array of shape (right landmarks, left landmarks)
        The dictionary: the learned kernel is E_x S E_z^T.
    left_map, right_map : arrays
        Features are E_x left_map and E_z right_map, and S = left_map right_map^T.
    weight : float
        Of the prior, in curvatures of the loss.
    objectives : array
        The objective at the start and after every step.
    alignment : float
        Of the learned kernel with what was known; nan where nothing was.
    candidates : list of (Kernel, float)
        Kernels and values of smoothness that were tried.
    paths : list of Path
        For each of them the errors at all weights; empty where nothing was chosen.
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
    """A fitted kernel, how smooth its features are to be, and the coordinates of its dictionary before they are."""

    kernel: Kernel
    smoothness: float
    rough: Axes | TwoFrames

    @property
    def coordinates(self) -> Axes | TwoFrames:
        """The coordinates once features are smooth."""
        return self.rough.smoothed(self.smoothness)

    def frame(self, eps: float) -> Frame | TwoFrames:
        """Where the dictionary is learned."""
        return self.coordinates.frame(eps)

    def plain_features(self, place: Landscape, rows: np.ndarray) -> np.ndarray:
        """Features of some left samples where nothing is learned."""
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
    """Choose a kernel, its smoothness and a weight, learn the dictionary and give the features' maps.

    Parameters
    ----------
    place : Landscape
        Samples and landmarks.
    kernel : str, Kernel, callable or list of them
        One kernel, or several to choose from; "rbf" takes its bandwidth from the data.
    known : Labels, Pairs or None
        What the learned kernel should agree with.
    weight : "auto", "alignment" or float
        Of the prior, in units of the loss's curvature.
    smoothness : "auto" or float
        How much features should shrink as they are rough; zero where there is nothing to choose by.
    of_samples : bool
        Whether the prior is measured along the samples' axes or the landmarks'.
    solver, tol, max_iter
        "closed" for the start alone, "gradient" or "accelerated", and when to stop.
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
    """The map that gives features F the variance of the Nystrom method's and, once learned, no more of a mean.

    Smooth features are small ones, and classifiers with a penalty would not see them. What is learned first is the mean
    of K*, a constant, which tells nothing and hides the rest. So F gives way to F (I - (1 - t) u u^T / |u|^2), whose
    mean is t times that of F, u, with the t that makes |mean|^2 / variance that of the Nystrom method.
    """
    n = place.X.shape[0]
    rows = np.sort(np.random.default_rng([place.seed, 4]).permutation(n)[:MANY])
    E = place.left_values(chosen.kernel, rows).astype(float)
    plain, F = E @ chosen.rough.plain_map, E @ map
    variance, own = plain.var(axis=0).sum(), F.var(axis=0).sum()
    if not own > 0:
        return map
    share, mean = np.square(plain.mean(axis=0)).sum() / variance, F.mean(axis=0)
    square = mean @ mean
    if learned and square > share * own:
        along = (F @ mean).var() / square
        factor = np.sqrt(share * (own - along) / (square - share * along))
        map = map - (1 - factor) / square * np.outer(map @ mean, mean)
        own -= (1 - factor**2) * along
    return np.sqrt(variance / own) * map


def kernels_to_try(kernel: Any, place: Landscape, fractions: Sequence[float], chooses: bool) -> list[Kernel]:
    """The kernels to try, fitted to the samples."""
    if isinstance(kernel, str) and kernel == "rbf":
        Z = place.X if place.Z is None else place.Z
        bandwidth = np.sqrt(mean_squared_distance(place.X, Z)) if place.X.shape[1] == Z.shape[1] else 1.0
        kernel = [RBF(float(bandwidth * part)) for part in fractions]
    elif not isinstance(kernel, list):
        kernel = [kernel]
    if not kernel or (len(kernel) > 1 and not chooses):
        raise ValueError(
            f"kernel lists {len(kernel)} kernels; what is known of samples chooses among several with "
            "prior_weight='auto' or 'alignment', else give one"
        )
    return [place.fit(as_kernel(each)) for each in kernel]


def levels_to_try(smoothness: str | float, place: Landscape, chooses: bool) -> Sequence[float]:
    """The values of smoothness to try; with right samples there is none but zero."""
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
    """Every kernel with every smoothness."""
    if place.Z is not None:
        return [Candidate(kernel, 0.0, place.two_frames(kernel)) for kernel in kernels]
    laplacian = place.laplacian if any(levels) else None
    axes = run(lambda kernel: place.axes(kernel, of_samples, laplacian), kernels)
    return [Candidate(kernel, level, each) for kernel, each in zip(kernels, axes, strict=True) for level in levels]


def _solved(
    information: SideInformation, frame: Frame | TwoFrames, *, weight: float, solver: str, tol: float, max_iter: int
) -> Dictionary:
    """The dictionary; a rectangular one has no constraint, and a closed form."""
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
    """The candidate and the weight of the paper's criterion."""
    paths = []
    for candidate in candidates:
        frame = candidate.frame(place.eps)
        L, R = frame.bases
        information = place.information(candidate.kernel, known, frame)
        paths.append(paper_criterion(information, frame.prior, L, R, symmetric=frame.symmetric))
    return *least_error(paths), paths


def _by_held_out(place: Landscape, candidates: list[Candidate], known: Labels | Pairs) -> Chosen:
    """The candidate and the weight that do best on what is held out.

    With more than 200 labels of one set a candidate is chosen first, by up to 2,000 of them and without learning: what
    suits few labels is not what suits many. Then its weight is, by 200.
    """
    rng = np.random.default_rng([place.seed, 3])
    if isinstance(known, Labels) and place.Z is None and len(known.left) > HELD and len(candidates) > 1:
        many = known.thinned(MANY, rng)
        paths = run(lambda each: _plain_path(place, each, many), candidates)
        number, _ = least_error(paths)
        _, weight, paths[number : number + 1] = _by_held_out(place, [candidates[number]], known)
        return number, weight, paths
    few = known.thinned(HELD, rng) if isinstance(known, Labels) else known
    folds = _folds(few, rng)
    if not folds:
        return 0, np.inf, []
    paths = run(lambda each: _path(place, each, few, folds), candidates)
    return *least_error(paths), paths


def _path(place: Landscape, candidate: Candidate, known: Labels | Pairs, folds: Sequence[Parts]) -> Path:
    """Errors at every weight."""
    spread = candidate.coordinates.spread
    if isinstance(known, Labels) and spread is not None:
        F = candidate.plain_features(place, known.left)
        return held_out_errors(F, spread, known.left_classes, folds, balanced=known.balanced)
    frame = candidate.frame(place.eps)
    return held_out_alignments(place.information(candidate.kernel, known, frame), frame.prior, folds)


def _plain_path(place: Landscape, candidate: Candidate, known: Labels) -> Path:
    """Errors of the prior as it is."""
    F = candidate.plain_features(place, known.left)
    return plain_errors(F, known.left_classes, balanced=known.balanced)


def _folds(known: Labels | Pairs, rng: np.random.Generator) -> list[Parts]:
    """What is kept and what is held out, in turn: labelled samples, of both sides at once, or pairs.

    The list is empty where there are not two of them.
    """

    def parts(groups: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        folds = dealt(groups, min(FOLDS, len(groups)), rng) if len(groups) > 1 else []
        return [(np.setdiff1d(np.arange(len(groups)), fold), fold) for fold in folds]

    if isinstance(known, Pairs):  # both orders of a pair go together, for in one set they say the same
        _, first, pair = np.unique(np.sort(known.numbers, axis=1), axis=0, return_index=True, return_inverse=True)
        folds = parts(known.targets[first])
        return [(np.flatnonzero(np.isin(pair, kept)), np.flatnonzero(np.isin(pair, out))) for kept, out in folds]
    left = parts(known.left_classes)
    if known.right_classes is None:
        return left
    right = parts(known.right_classes)
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(left, right, strict=False)]
