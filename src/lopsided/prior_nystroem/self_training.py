"""Self-training: further samples are given the labels that the learned features predict."""

from __future__ import annotations

import numpy as np

from .candidates import HELD
from .samples import Labels

FEW = HELD  # maximum number of labels that are completed; more describe their classes better than predictions would
OUTNUMBERED = 5  # samples without a label per label, at least; fewer have little to teach
TRUSTED = 0.1  # least share of the held-out labels' variance that must be explained for predictions to be of use
SELF_WEIGHT = 1e-8  # weight of the prior in learning from completed labels, in units of the loss's curvature
PENALTY = 3.0  # C of the SVM, on features whose squared norms have mean one


def worth_labelling(known: Labels, some: np.ndarray, error: float) -> np.ndarray:
    """Those of the samples ``some`` that have no label; none of them if there are many labels or bad predictions.

    ``error`` is that of held-out labels: nan if it is not known, and zero, as that of guessing, if no class has two
    labels of which one can be held out. With right samples no sample is labelled.
    """
    others, few = np.setdiff1d(some, known.left), len(known.left)
    trusted = error < (1 - TRUSTED) * known.chance
    if known.right is not None or few > FEW or len(others) < OUTNUMBERED * few or not trusted:
        return others[:0]
    return others


def predicted_classes(F: np.ndarray, classes: np.ndarray, others: np.ndarray) -> np.ndarray:
    """Classes of samples with features ``others`` (u, r), by a linear SVM trained on features F (l, r)."""
    from sklearn.svm import LinearSVC  # imported here because the import is slow

    unit = np.sqrt(np.square(F).sum(axis=1).mean())  # LinearSVC shrinks its intercept, too, in units of the features
    return LinearSVC(C=PENALTY, dual=False).fit(F / unit, classes).predict(others / unit)
