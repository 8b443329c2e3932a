"""Self-training: further samples are given the labels that the learned features predict.

The tuned numbers below were chosen on the sixteen data sets of ``benchmarks/prior_table1.py table``, and
UNLABELLED_PER_LABEL on heart, ionosphere and sonar of its part ``fresh``; ``ablation`` prints errors with other values.
"""

import numpy as np
from sklearn.svm import LinearSVC

from .criteria import guessing_error
from .supervision import LabelledRows, Labels, Pairs

MOST_COMPLETED_LABELS = 200  # more describe their classes better than predictions would; not varied, the table has 100
UNLABELLED_PER_LABEL = 5  # fewer samples without a label have little to teach
LEAST_EXPLAINED = 0.1  # share of the held-out labels' variance, below which predictions are of no use
SELF_TRAINING_WEIGHT = 1e-8  # prior weight in learning from completed labels, in units of the loss's curvature
SVM_C = 3.0  # C of the linear SVM, on features whose squared norms have mean one


def rows_to_label(known: Labels | Pairs | None, rows: np.ndarray, error: float) -> np.ndarray:
    """Those of ``rows`` that have no label; none of them with Z, with pairs, or if predictions would not help.

    ``error`` is that of held-out labels: nan if it is unknown; zero, like that of guessing, if no class has two labels.
    """
    if not isinstance(known, Labels) or known.right is not None:
        return rows[:0]
    others, count = np.setdiff1d(rows, known.left.rows), len(known.left.rows)
    trusted = error < (1 - LEAST_EXPLAINED) * guessing_error(known.left.classes, balanced=known.balanced)
    if count > MOST_COMPLETED_LABELS or len(others) < UNLABELLED_PER_LABEL * count or not trusted:
        return rows[:0]
    return others


def completed(known: Labels, F: np.ndarray, others: np.ndarray, G: np.ndarray) -> Labels:
    """Labels completed by the classes that a linear SVM gives to the rows ``others``.

    F (l, r) are the features of the labelled samples and G (u, r) those of the others. The SVM is solved in the primal,
    which draws nothing at random, to scikit-learn's tolerance.
    """
    rows, classes = known.left
    unit = np.sqrt(np.square(F).sum(axis=1).mean())  # LinearSVC shrinks its intercept, too, in units of the features
    predicted = LinearSVC(C=SVM_C, dual=False).fit(F / unit, classes).predict(G / unit)
    return known._replace(left=LabelledRows(np.concatenate([rows, others]), np.concatenate([classes, predicted])))
