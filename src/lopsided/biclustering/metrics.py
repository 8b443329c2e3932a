"""Evaluation metrics for biclustering: agreement with known classes, and coherence of column clusters."""

from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.metrics.cluster import contingency_matrix
from sklearn.utils.validation import check_consistent_length, column_or_1d

from .._core import check_array, count_of, dense, in_unit, reject_masked, safe_unit, slices_of

BLOCK_ENTRIES = 1 << 22  # entries of C formed at once: 32 MB


def matched_accuracy(labels_true: Any, labels_pred: Any) -> float:
    """Clustering accuracy: fraction of points whose cluster is matched to their class by the best one-to-one matching.

    Both are arrays of n labels, of any values; clusters in excess of the number of classes stay unmatched.

    Examples
    --------
    >>> from lopsided.biclustering import matched_accuracy
    >>> matched_accuracy([0, 0, 1, 1], ["b", "b", "a", "b"])
    0.75
    """
    counts = contingency_matrix(*_labels(labels_true, labels_pred))
    if not counts.size:
        raise ValueError("there are no labels to compare")
    return float(counts[linear_sum_assignment(-counts)].sum() / counts.sum())


def partition_scores(labels_true: Any, labels_pred: Any) -> dict[str, float]:
    """Normalised mutual information, adjusted Rand index and matched accuracy, with keys nmi, ari and accuracy.

    All are 1 for perfect agreement. To compare biclusters, use ``sklearn.metrics.consensus_score``.

    Examples
    --------
    >>> from lopsided.biclustering import partition_scores
    >>> partition_scores([0, 0, 1, 1], ["b", "b", "a", "a"])
    {'nmi': 1.0, 'ari': 1.0, 'accuracy': 1.0}
    """
    labels_true, labels_pred = _labels(labels_true, labels_pred)
    return {
        "nmi": float(normalized_mutual_info_score(labels_true, labels_pred)),
        "ari": float(adjusted_rand_score(labels_true, labels_pred)),
        "accuracy": matched_accuracy(labels_true, labels_pred),
    }


def _labels(labels_true: Any, labels_pred: Any) -> tuple[np.ndarray, np.ndarray]:
    """Validate labels of the same points: two arrays of one dimension and one length."""
    check_consistent_length(labels_true, labels_pred)
    true, found = (
        reject_masked(labels_true, "labels_true", text=True),
        reject_masked(labels_pred, "labels_pred", text=True),
    )
    return column_or_1d(true), column_or_1d(found)


def coherence_index(X: Any, column_labels: Any) -> float:
    """Coherence of column clusters: pointwise mutual information within clusters minus that between clusters.

    With C = X^T X, P_ab = log(C_ab sum(C) / (C_a. C_b.)) is the pointwise mutual information of columns a and b, zero
    where C_ab is not positive. The index is the mean over clusters, weighted by their sizes, of the mean of P within
    the cluster (a column with itself included) minus the mean of P between the cluster and all others. BCOT (Fettal,
    Labiod, Nadif, NeurIPS 2022) evaluates term clusters by this index, and so does Table 2 of the 2024 paper.

    Larger values mean more coherent clusters. Cost: the product X^T X, formed a few columns at a time.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        Documents x terms; entries must be nonnegative.
    column_labels : array of shape (m,)
        Cluster labels of the terms.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.biclustering import coherence_index
    >>> X = np.kron(np.eye(2), np.ones((3, 2))) + 0.1
    >>> coherence_index(X, [0, 0, 1, 1]) > coherence_index(X, [0, 1, 0, 1])
    True
    """
    X = reject_masked(X, "X")
    X = check_array(X, accept_sparse="csr", dtype=np.float64, ensure_non_negative=True, input_name="X")
    X = in_unit(X, safe_unit(X))  # P does not depend on it
    labels = np.unique(column_or_1d(reject_masked(column_labels, "column_labels", text=True)), return_inverse=True)[1]
    m, k = X.shape[1], labels.max(initial=0) + 1
    if len(labels) != m:
        raise ValueError(f"{count_of(len(labels), 'label')} for {count_of(m, 'column')}; give one for each column of X")
    sizes = np.bincount(labels)
    Xt = sparse.csr_array(X.T) if sparse.issparse(X) else X.T
    totals = np.asarray(Xt @ np.asarray(X.sum(axis=1)).ravel())
    members = sparse.csr_array((np.ones(m), (np.arange(m), labels)), shape=(m, k))
    sums = np.zeros((k, k))  # sums[i, j]: sum of P over the columns of clusters i and j
    for columns in slices_of(m, BLOCK_ENTRIES // m):
        C = dense(Xt[columns] @ X)
        with np.errstate(divide="ignore", invalid="ignore"):
            P = np.where(C > 0, np.log(C) - np.log(totals[columns])[:, None] - np.log(totals) + np.log(totals.sum()), 0)
        sums += members[columns].T @ (P @ members)
    within, others = np.diag(sums), sums.sum(axis=1) - np.diag(sums)
    between = others / np.maximum(sizes * (m - sizes), 1)
    return float(((within / sizes**2 - between) * sizes).sum() / m)
