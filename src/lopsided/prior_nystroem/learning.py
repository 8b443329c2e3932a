"""The Nystrom method with a prior: select a kernel, its smoothness and a prior weight, and learn the dictionary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np

from ..kernels import Kernel
from .candidates import (
    FRACTIONS,
    Candidate,
    Chosen,
    by_criterion,
    by_held_out,
    candidates_to_try,
    kernels_to_try,
    levels_to_try,
)
from .criteria import Path
from .dictionary import Dictionary, learn_dictionary
from .frames import Frame, TwoFrames
from .samples import Labels, Landscape, Pairs
from .self_training import SELF_WEIGHT, predicted_classes, worth_labelling
from .side_information import SideInformation


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
        Alignment of the learned kernel with the given labels or pairs; nan without any.
    self_labelled : int
        Number of samples that were given a label by self-training.
    candidates : list of (Kernel, float)
        The kernels and values of smoothness that were compared.
    paths : sequence of Path
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
    self_labelled: int
    candidates: list[tuple[Kernel, float]]
    paths: Sequence[Path]


def learn_kernel(
    place: Landscape,
    kernel: Any,
    known: Labels | Pairs | None,
    *,
    weight: str | float,
    smoothness: str | float,
    self_training: bool,
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
    self_training : bool
        Whether to label further samples by the learned kernel and learn it again from all; only if weight="auto".
    of_samples : bool
        Whether the prior measures changes in the metric of the samples (True) or of the landmarks (False).
    solver : {"closed", "gradient", "accelerated"}
        "closed" stops at the closed-form start; see :func:`learn_dictionary` for the others.
    tol, max_iter
        Stopping rule; see :func:`learn_dictionary`.
    """
    chooses = known is not None and isinstance(weight, str)
    by_errors = chooses and weight == "auto"
    kernels = kernels_to_try(kernel, place, FRACTIONS if by_errors else FRACTIONS[:1], chooses)
    levels = levels_to_try(smoothness, place, by_errors)
    candidates = candidates_to_try(place, kernels, levels, of_samples)
    if known is None or not isinstance(weight, str):
        chosen = Chosen(0, np.inf if known is None else float(weight))
    else:
        chosen = (by_held_out if by_errors else by_criterion)(place, candidates, known)
    learner = _Learner(place, candidates[chosen.number], solver, tol, max_iter)
    information = None if known is None else learner.information(known)
    others = np.empty(0, dtype=np.intp)
    if by_errors and self_training and isinstance(known, Labels):
        others = worth_labelling(known, place.some, chosen.error)
    learned = learner.learn(information, chosen.weight, refine=not len(others))
    if len(others) and isinstance(known, Labels):
        learned = learner.self_trained(known, others, learned.left_map)
    tried = [(each.kernel, each.smoothness) for each in candidates]
    scale = place.units[learner.chosen.kernel] ** 0.5
    left_map, right_map = learned.left_map / scale, learned.right_map / scale
    return LearnedKernel(
        *tried[chosen.number],
        S=left_map @ right_map.T,
        left_map=left_map,
        right_map=right_map,
        weight=learned.weight,
        objectives=learned.dictionary.objectives,
        alignment=np.nan if information is None else information.alignment(learned.dictionary.N),
        self_labelled=len(others),
        candidates=tried,
        paths=chosen.paths,
    )


class _Learned(NamedTuple):
    """A dictionary, the feature maps that follow from it, and the prior weight."""

    dictionary: Dictionary
    left_map: np.ndarray
    right_map: np.ndarray
    weight: float


@dataclass(frozen=True)
class _Learner:
    """Learns dictionaries of one candidate in the same frame."""

    place: Landscape
    chosen: Candidate
    solver: str
    tol: float
    max_iter: int

    @cached_property
    def frame(self) -> Frame | TwoFrames:
        """Coordinates of the dictionary."""
        return self.chosen.frame(self.place.eps)

    def information(self, known: Labels | Pairs) -> SideInformation:
        """Labels or pairs as a loss function of the dictionary."""
        return self.place.information(self.chosen.kernel, known, self.frame)

    @cached_property
    def values(self) -> np.ndarray:
        """Kernel values between some of the samples and the landmarks."""
        return self.place.left_values(self.chosen.kernel, self.place.some).astype(float)

    @cached_property
    def _moments(self) -> tuple[np.ndarray, np.ndarray]:
        """Mean and covariance of ``values``."""
        mean = self.values.mean(axis=0)
        centred = self.values - mean
        return mean, centred.T @ centred / len(centred)

    def learn(self, information: SideInformation | None, weight: float, *, refine: bool = True) -> _Learned:
        """Learn the dictionary; without information, or at infinite weight, it is that of the Nystrom method.

        Unless ``refine``, the closed-form start is taken.
        """
        learned = Dictionary(self.frame.prior, np.empty(0), True)
        if information is not None and np.isfinite(weight):
            learned = self._solved(information, weight, self.max_iter if refine and self.solver != "closed" else 0)
        maps = self.frame.maps(learned.N)
        if self.chosen.smoothness:
            maps = (self._like_plain(maps[0], learned=np.isfinite(weight)),) * 2
        return _Learned(learned, *maps, weight)

    def self_trained(self, known: Labels, others: np.ndarray, features: np.ndarray) -> _Learned:
        """Learn from the labels and from those that a classifier gives to ``others``, all among ``place.some``."""
        F = self.place.left_values(self.chosen.kernel, known.left) @ features
        said = predicted_classes(F, known.left_classes, self.values[np.isin(self.place.some, others)] @ features)
        return self.learn(self.information(known.with_others(others, said)), SELF_WEIGHT)

    def _solved(self, information: SideInformation, weight: float, max_iter: int) -> Dictionary:
        """The dictionary: by :func:`learn_dictionary` if symmetric, else by the closed form (no constraint)."""
        weight *= information.curvature
        if self.frame.symmetric:
            return learn_dictionary(
                information,
                self.frame.scales,
                weight,
                accelerated=self.solver == "accelerated",
                tol=self.tol,
                max_iter=max_iter,
            )
        N0 = self.frame.prior
        N = information.minimiser(N0, weight)
        return Dictionary(N, np.array([weight * np.vdot(N - N0, N - N0) + information.loss(N)]), True)

    def _like_plain(self, map: np.ndarray, *, learned: bool) -> np.ndarray:
        """Rescale a map so that its features F have the variance of Nystrom features and, if learned, no larger a mean.

        Smoothing shrinks the features, and penalised classifiers would neglect them. A learned dictionary first fits
        the mean of K*, a constant that carries no information and dominates the other features. F is replaced by
        F (I - (1 - t) u u^T / |u|^2), whose mean is t times the mean u of F, with the t that makes |mean|^2 / variance
        equal to that of the Nystrom method; unless all of the variance lies along u, and would shrink with the mean.
        """
        mean, covariance = self._moments

        def spread(map: np.ndarray) -> float:
            return float(np.vdot(map, covariance @ map))

        plain, u = self.chosen.rough.plain_map, mean @ map
        variance, own, square = spread(plain), spread(map), u @ u
        if not min(variance, own) > 0:
            return map
        share = np.square(mean @ plain).sum() / variance
        along = spread(map @ u) / square if square > 0 else 0.0
        across = own - along
        if learned and square > share * own and across > np.sqrt(self.place.eps) * own:
            factor = np.sqrt(share * across / (square - share * along))
            map = map - (1 - factor) / square * np.outer(map @ u, u)
            own -= (1 - factor**2) * along
        return np.sqrt(variance / own) * map
