"""Learn the dictionary of a selected candidate, and the feature maps that follow from it; self-training.

The tuned numbers below were chosen on the sixteen data sets of ``benchmarks/prior_table1.py table``, and
UNLABELLED_PER_LABEL on heart, ionosphere and sonar of its part ``fresh``; ``ablation`` prints errors with other values.
"""

from typing import NamedTuple

import numpy as np
from sklearn.svm import LinearSVC

from .candidates import Candidate, Selection
from .criteria import guessing_error
from .dictionary import Dictionary, Iteration, solve
from .frames import Frame, Moments, rescaled
from .supervision import LabelledRows, Labels, Pairs

MOST_COMPLETED_LABELS = 200  # more describe their classes better than predictions would; not varied, the table has 100
UNLABELLED_PER_LABEL = 5  # fewer samples without a label have little to teach
LEAST_EXPLAINED = 0.1  # share of the held-out labels' variance, below which predictions are of no use
SELF_TRAINING_WEIGHT = 1e-8  # prior weight in learning from completed labels, in units of the loss's curvature
SVM_C = 3.0  # C of the linear SVM, on features whose squared norms have mean one
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
    candidate: Candidate, selection: Selection, known: Labels | Pairs | None, iteration: Iteration, *, self_train: bool
) -> LearnedKernel:
    """Learn a dictionary from labels or pairs at the selected weight; after self-training, once more from all labels.

    Before self-training no step is taken from the closed-form start, whose features only have to predict labels.
    """
    values, frame, weight = candidate.values, candidate.frame(), selection.weight
    rows = np.sort(np.random.default_rng([values.data.seed, 4]).permutation(values.data.X.shape[0])[:EVALUATION_ROWS])
    others = _rows_to_label(known, rows, selection.error) if self_train else rows[:0]
    E = values.left_values(rows) if candidate.smoothness or len(others) else np.empty((0, 0))
    moments = Moments.of(E) if candidate.smoothness else None
    information = None if known is None else values.information(known, frame)
    dictionary = solve(frame, information, weight, iteration._replace(max_iter=0) if len(others) else iteration)
    left, right = _feature_maps(candidate, frame, dictionary, moments)
    if len(others) and isinstance(known, Labels):
        F, G = values.left_values(known.left.rows) @ left, E[np.isin(rows, others)] @ left
        weight = SELF_TRAINING_WEIGHT
        dictionary = solve(frame, values.information(_completed(known, F, others, G), frame), weight, iteration)
        left, right = _feature_maps(candidate, frame, dictionary, moments)
    alignment = np.nan if information is None else information.alignment(dictionary.N)
    unit = values.unit**0.5
    return LearnedKernel(left / unit, right / unit, dictionary, weight, alignment, len(others))


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


def _rows_to_label(known: Labels | Pairs | None, rows: np.ndarray, error: float) -> np.ndarray:
    """Those of ``rows`` that have no label; none with Z or pairs, or if the ``error`` of held-out labels is large."""
    if not isinstance(known, Labels) or known.right is not None:
        return rows[:0]
    others, count = np.setdiff1d(rows, known.left.rows), len(known.left.rows)
    trusted = error < (1 - LEAST_EXPLAINED) * guessing_error(known.left.classes, balanced=known.balanced)
    if count > MOST_COMPLETED_LABELS or len(others) < UNLABELLED_PER_LABEL * count or not trusted:
        return rows[:0]
    return others


def _completed(known: Labels, F: np.ndarray, others: np.ndarray, G: np.ndarray) -> Labels:
    """Labels completed by the classes that a linear SVM on features F (l, r) gives to ``others`` with features G."""
    rows, classes = known.left
    unit = np.sqrt(np.square(F).sum(axis=1).mean())  # LinearSVC shrinks its intercept, too, in units of the features
    predicted = LinearSVC(C=SVM_C, dual=False).fit(F / unit, classes).predict(G / unit)  # draws nothing
    return known._replace(left=LabelledRows(np.concatenate([rows, others]), np.concatenate([classes, predicted])))
