"""Scores of clusterings: agreement with classes, and coherence of column clusters."""

from itertools import permutations

import numpy as np
import pytest
from scipy import sparse

from lopsided.biclustering import coherence_index, matched_accuracy, partition_scores


def test_coherence_is_its_definition(rng):
    X = rng.poisson(0.7, (30, 9)).astype(float)
    X[:, 8] = 0
    labels = np.array([0, 0, 1, 1, 2, 2, 2, 0, 1])
    C = X.T @ X
    expected = np.outer(C.sum(axis=1), C.sum(axis=0)) / C.sum()
    with np.errstate(divide="ignore", invalid="ignore"):
        P = np.where(C > 0, np.log(C / expected), 0)
    score = 0
    for c in range(3):
        inside = labels == c
        score += (P[inside][:, inside].mean() - P[inside][:, ~inside].mean()) * inside.mean()
    for table in (X, sparse.csr_array(X)):
        assert coherence_index(table, labels) == pytest.approx(score, rel=1e-12)
    assert coherence_index(X, np.zeros(9)) == pytest.approx(P.mean(), rel=1e-12)


@pytest.mark.parametrize("unit", [2.0**600, 2.0**-600])
@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_coherence_does_not_depend_on_the_unit_of_the_table(container, unit, rng):
    X, labels = rng.poisson(1.0, (20, 9)).astype(float), np.arange(9) % 3
    assert coherence_index(container(unit * X), labels) == pytest.approx(coherence_index(X, labels), rel=1e-12)


@pytest.mark.parametrize(
    "score",
    [
        matched_accuracy,
        partition_scores,
        lambda a, b: matched_accuracy(b, a),
        lambda a, b: coherence_index(np.eye(4), a),
    ],
)
def test_scores_do_not_read_masked_labels(score):
    with pytest.raises(ValueError, match=r"(labels_true|labels_pred|column_labels) has 1 masked entry"):
        score(np.ma.masked_array([0, 0, 1, 1], [0, 0, 1, 0]), np.array([0, 0, 1, 1]))


def test_coherence_refuses_what_has_no_mutual_information():
    with pytest.raises(ValueError, match="Negative values"):
        coherence_index(-np.eye(3), [0, 1, 1])
    with pytest.raises(ValueError, match="2 labels for 3 columns"):
        coherence_index(np.eye(3), [0, 1])


def test_matched_accuracy_is_the_best_over_all_matchings(rng):
    truth, found = rng.integers(4, size=60), rng.integers(4, size=60)
    best = max(np.mean(np.array(p)[found] == truth) for p in permutations(range(4)))
    assert matched_accuracy(truth, found) == pytest.approx(best)
    assert matched_accuracy([0, 1], [5, 5]) == 0.5
    assert matched_accuracy(truth[:, None], found) == matched_accuracy(truth, found)
    assert partition_scores(truth, truth) == {"nmi": 1.0, "ari": 1.0, "accuracy": 1.0}
