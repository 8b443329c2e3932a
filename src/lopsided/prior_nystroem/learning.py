"""Learn the dictionary of a selected candidate, and the feature maps that follow from it."""

from typing import NamedTuple

import numpy as np

from ..svd import Choice
from .candidates import Candidate, Selection
from .dictionary import Dictionary, Iteration, closed_form, learn_dictionary
from .frames import Frame
from .self_training import SELF_TRAINING_WEIGHT, completed, rows_to_label
from .side_information import SideInformation
from .smoothness import Moments, moments_of, rescaled
from .supervision import Labels, Pairs

EVALUATION_ROWS = 2000  # samples on which learned features are rescaled and given labels


class LearnedKernel(NamedTuple):
    """A learned dictionary S = left_map right_map^T; features are E_x left_map and E_z right_map."""

    left_map: np.ndarray
    right_map: np.ndarray
    dictionary: Dictionary  # in the coordinates in which it was learned
    weight: float  # of the prior, in units of the loss's curvature
    alignment: float  # with the given labels or pairs; nan without any
    n_self_labelled: int


def learn_kernel(
    candidates: list[Candidate],
    selection: Selection,
    known: Labels | Pairs | None,
    iteration: Iteration,
    *,
    self_training: bool,
) -> LearnedKernel:
    """Learn a dictionary from labels or pairs at the selected weight; after self-training, once more from all labels.

    Before self-training no step is taken from the closed-form start, whose features only have to predict labels.
    """
    candidate, weight = candidates[selection.number], selection.weight
    values, frame = candidate.values, candidate.frame()
    rows = np.sort(np.random.default_rng([values.data.seed, 4]).permutation(values.data.X.shape[0])[:EVALUATION_ROWS])
    others = rows_to_label(known, rows, selection.error) if self_training else rows[:0]
    E = values.left_values(rows) if candidate.smoothness or len(others) else np.empty((0, 0))
    moments = moments_of(E) if candidate.smoothness else None
    information = None if known is None else values.information(known, frame)
    dictionary = _solve(frame, information, weight, iteration._replace(max_iter=0) if len(others) else iteration)
    left, right = _feature_maps(candidate, frame, dictionary, moments)
    if len(others) and isinstance(known, Labels):
        F, G = values.left_values(known.left.rows) @ left, E[np.isin(rows, others)] @ left
        weight = SELF_TRAINING_WEIGHT
        dictionary = _solve(frame, values.information(completed(known, F, others, G), frame), weight, iteration)
        left, right = _feature_maps(candidate, frame, dictionary, moments)
    return LearnedKernel(
        left / values.unit**0.5,
        right / values.unit**0.5,
        dictionary,
        weight,
        alignment=np.nan if information is None else information.alignment(dictionary.N),
        n_self_labelled=len(others),
    )


def _solve(frame: Frame, information: SideInformation | None, weight: float, iteration: Iteration) -> Dictionary:
    """The dictionary; that of the Nystrom method without information or at an infinite weight."""
    if information is None:
        return Dictionary(frame.prior, np.empty(0), Choice("none", "there are no labels or pairs to learn from"))
    if np.isinf(weight):
        return Dictionary(frame.prior, np.empty(0), Choice("none", "the prior weight is infinite"))
    weight *= information.curvature
    if frame.one_set:
        return learn_dictionary(information, frame.scales, weight, iteration)
    return closed_form(information, frame.prior, weight)


def _feature_maps(
    candidate: Candidate, frame: Frame, dictionary: Dictionary, moments: Moments | None
) -> tuple[np.ndarray, np.ndarray]:
    """Maps from kernel values to features; smoothed features are brought to the scale of plain ones."""
    left, right = frame.maps(dictionary.N)
    if moments is None:
        return left, right
    learned, eps = len(dictionary.objectives) > 0, candidate.values.data.eps
    root = rescaled(left, candidate.rough.left, moments, learned=learned, eps=eps)
    return root, root
