"""Node classification from embeddings."""

from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import f1_score
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from .._core import check_array, count_of, dense, encoded, reject_masked
from ..io import is_missing

SETS = (set, frozenset, list, tuple, np.ndarray)


class Classification(NamedTuple):
    """Micro and macro F1 scores on the test nodes of each split, arrays of shape (n_splits,)."""

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
    """Evaluate an embedding by node classification with linear LS-SVMs, one class against the rest.

    Parameters
    ----------
    embedding : array of shape (n_nodes, width)
        Node vectors, for example source and target vectors side by side.
    labels : array of shape (n_nodes,), or array or sparse matrix of zeros and ones of shape (n_nodes, n_labels)
        One class per node, or an indicator matrix with any number of labels per node.
    n_splits : int, default=10
        Number of random splits into training and test nodes.
    train_size : float, default=0.6
        Fraction of the nodes used for training.
    C : float, default=1.0
        Weight of the squared errors relative to |w|^2; gamma in the papers.
    multilabel : {"top", "sign"}, default="top"
        Labels predicted for multilabel data: "top", the usual protocol, those with the largest decision values, as
        many as the test node truly has; "sign" those with positive decision values.
    random_state : int, RandomState instance or None, default=0
        Seed of the splits.

    Returns
    -------
    Classification
        ``micro_f1`` (accuracy, with one class per node) and ``macro_f1``, as in scikit-learn, on the test nodes of
        each split.

    Notes
    -----
    A linear LS-SVM is ridge regression on labels 1 and -1 with penalty 1 / C and an unpenalised intercept.

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
    embedding = check_array(reject_masked(embedding, "embedding"), input_name="embedding")
    several = sparse.issparse(reject_masked(labels, "labels", text=True)) or np.asarray(labels, dtype=object).ndim == 2
    Y = _indicators(labels, several)
    if len(Y) != len(embedding):
        raise ValueError(f"embedding has {len(embedding)} rows and labels {len(Y)}; give one label per row")
    if not (isinstance(multilabel, str) and multilabel in ("top", "sign")):
        raise ValueError(f"multilabel={multilabel!r} is neither 'top' nor 'sign'")
    if not (isinstance(n_splits, Integral) and n_splits >= 1 and isinstance(C, Real) and 0 < C < np.inf):
        raise ValueError(f"n_splits={n_splits} must be a whole number of at least 1, and C={C} positive and finite")
    n_train = round(train_size * len(Y)) if isinstance(train_size, Real) and np.isfinite(train_size) else 0
    if not 0 < n_train < len(Y):
        raise ValueError(
            f"train_size={train_size} of {len(Y)} nodes leaves none to train on or none to test; give a "
            "share between 0 and 1"
        )
    rng = check_random_state(random_state)
    scores = []
    for _ in range(n_splits):
        order = rng.permutation(len(Y))
        train, test = order[:n_train], order[n_train:]
        machine = Ridge(alpha=1 / C).fit(embedding[train], 2.0 * Y[train] - 1)
        decisions = machine.predict(embedding[test]).reshape(len(test), -1)
        truth, found = Y[test], decisions > 0
        if not several:
            truth, found = truth.argmax(axis=1), decisions.argmax(axis=1)
        elif multilabel == "top":
            rank = np.argsort(np.argsort(-decisions, axis=1, kind="stable"), axis=1)
            found = rank < truth.sum(axis=1)[:, None]
        scores.append([f1_score(truth, found, average=mean, zero_division=0) for mean in ("micro", "macro")])
    return Classification(*np.transpose(scores))


def _indicators(labels: Any, several: bool) -> np.ndarray:
    """Labels as an indicator array of zeros and ones, shape (n, classes)."""
    if several:
        Y = dense(labels)
        if not np.isin(Y, (0, 1)).all() or Y.shape[1] < 2:
            raise ValueError(
                "pass several labels per node as zeros and ones, a column for each label, as scikit-learn's "
                "MultiLabelBinarizer returns them, and one class per node as an array of shape (n_nodes,)"
            )
        return Y.astype(int)
    sets = [(node, label) for node, label in enumerate(labels) if isinstance(label, SETS)]
    if sets:
        raise ValueError(
            f"node {sets[0][0]} has the labels {sets[0][1]!r}; pass several labels per node as zeros and ones: "
            "sklearn.preprocessing.MultiLabelBinarizer().fit_transform(labels)"
        )
    missing = [node for node, label in enumerate(labels) if is_missing(label)]
    if missing:
        found = count_of(len(missing), "node has", "nodes have")
        raise ValueError(f"{found} no label, beginning with node {missing[0]}; leave them out")
    if np.asarray(labels).dtype.kind == "f":
        check_classification_targets(labels)
    classes, numbers = encoded(labels, "labels")
    return (numbers[:, None] == np.arange(len(classes))).astype(int)
