"""Classes of nodes from their vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array

from ..estimators.supervision import encoded
from ..kernels.points import dense
from .ids import is_missing

SETS = (set, frozenset, list, tuple, np.ndarray)


class Classification(NamedTuple):
    """F1 scores of each split, shape (n_splits,)."""

    micro_f1: np.ndarray
    macro_f1: np.ndarray


def classify_nodes(
    embedding: Any,
    labels: Any,
    *,
    n_splits: int = 10,
    train_size: float = 0.6,
    C: float = 1.0,
    multilabel: str = "top",
    random_state: Any = 0,
) -> Classification:
    """Classify nodes from their vectors by linear least-squares machines, one class against the rest.

    Parameters
    ----------
    embedding : array of shape (n_nodes, width)
        Vectors, for instance source and target vectors side by side.
    labels : array of shape (n_nodes,), or array or sparse matrix of zeros and ones of shape (n_nodes, n_labels)
        A class for each node, or any number of labels.
    n_splits : int, default=10
        Random splits in training and test nodes.
    train_size : float, default=0.6
        Share of the nodes in training.
    C : float, default=1.0
        Weight of the squared errors against |w|^2; the papers' gamma.
    multilabel : {"top", "sign"}, default="top"
        Several labels: the usual protocol gives each test node as many labels as it has, those of largest decisions;
        "sign" gives those with positive decisions and knows nothing of the test labels.
    random_state : int, RandomState instance or None, default=0
        Draws the splits.

    Returns
    -------
    Classification
        ``micro_f1`` and ``macro_f1`` of the test nodes, for each split. With one class for each node micro F1 is
        accuracy, and a class counts in macro F1 if a test node has it or is given it, as in scikit-learn.

    Notes
    -----
    An LS-SVM with the linear kernel is ridge regression on labels 1 and -1 with penalty 1 / C and a free intercept; it
    is solved in the smaller of both dimensions.

    Examples
    --------
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.datasets import make_citation_graph
    >>> from lopsided.graphs import classify_nodes
    >>> graph, labels = make_citation_graph(300, n_classes=3, random_state=0)
    >>> vectors = DirectedGraphEmbedding(n_components=16).fit_transform(graph)
    >>> bool(classify_nodes(vectors, labels).micro_f1.mean() > 0.6)
    True
    """
    embedding = check_array(embedding, input_name="embedding")
    several = sparse.issparse(labels) or _is_table(labels)
    Y = _indicators(labels, several)
    if len(Y) != len(embedding):
        raise ValueError(f"embedding has {len(embedding)} rows and labels {len(Y)}; each node needs both")
    if multilabel not in ("top", "sign"):
        raise ValueError(f"multilabel={multilabel!r} is neither 'top' nor 'sign'")
    if n_splits < 1 or C <= 0:
        raise ValueError(f"n_splits={n_splits} must be at least 1, and C={C} positive")
    n_train = round(train_size * len(Y))
    if not 0 < n_train < len(Y):
        raise ValueError(f"train_size={train_size} of {len(Y)} nodes leaves none in training or none to test")
    rng, scores = check_random_state(random_state), []
    for _ in range(n_splits):
        order = rng.permutation(len(Y))
        train, test = order[:n_train], order[n_train:]
        machine = Ridge(alpha=1 / C).fit(embedding[train], 2.0 * Y[train] - 1)
        decisions = machine.predict(embedding[test]).reshape(len(test), -1)
        truth, found = Y[test], decisions > 0
        if not several:
            truth, found = truth.argmax(axis=1), decisions.argmax(axis=1)
        elif multilabel == "top":
            found = _largest(decisions, truth.sum(axis=1))
        scores.append([f1_score(truth, found, average=mean, zero_division=0) for mean in ("micro", "macro")])
    return Classification(*np.transpose(scores))


def _is_table(labels: Any) -> bool:
    """Whether they have rows and columns; rows of different lengths are no table."""
    try:
        return np.ndim(labels) == 2
    except ValueError:
        return False


def _indicators(labels: Any, several: bool) -> np.ndarray:
    """Zeros and ones, shape (n, classes)."""
    if several:
        Y = dense(labels)
        if not np.isin(Y, (0, 1)).all() or Y.shape[1] < 2:
            raise ValueError(
                "several labels are given as zeros and ones, a column for each label, as MultiLabelBinarizer of "
                "scikit-learn makes them; one class for each node as an array of shape (n_nodes,)"
            )
        return Y.astype(int)
    sets = [(node, label) for node, label in enumerate(labels) if isinstance(label, SETS)]
    if sets:
        raise ValueError(
            f"node {sets[0][0]} has the labels {sets[0][1]!r}; several labels are given as zeros and ones: "
            "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(labels)"
        )
    missing = [node for node, label in enumerate(labels) if is_missing(label)]
    if missing:
        raise ValueError(f"{len(missing)} nodes have no label, the first of them node {missing[0]}; leave them out")
    if np.asarray(labels).dtype.kind == "f":
        check_classification_targets(labels)
    classes, numbers = encoded(labels, "labels")
    return (numbers[:, None] == np.arange(len(classes))).astype(int)


def _largest(decisions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Zeros and ones: ones at the largest decisions of each row, as many as are asked for."""
    rank = np.argsort(np.argsort(-decisions, axis=1, kind="stable"), axis=1)
    return (rank < counts[:, None]).astype(int)
