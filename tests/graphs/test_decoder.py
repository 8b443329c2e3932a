"""The logistic regression that weighs the terms of the decoder of edges."""

import numpy as np
import pytest
from sklearn.linear_model import LogisticRegression
from sklearn.preprocessing import StandardScaler

from lopsided.graphs.decoder import _logistic


@pytest.fixture
def pairs(rng):
    X = rng.standard_normal((300, 4)) * [1.0, 10.0, 0.1, 3.0] + [0.0, 5.0, 1.0, -2.0]
    score = X @ [1.0, -0.2, 4.0, 0.0] + 0.5
    return X, (score + rng.logistic(size=300) > 0).astype(int)


def test_free_coefficients_are_those_of_scikit_learn(pairs):
    X, y = pairs
    weights, constant = _logistic(X, y, n_positive=0)
    scaler = StandardScaler().fit(X)
    expected = LogisticRegression(C=1.0, tol=1e-8, max_iter=1000).fit(scaler.transform(X), y)
    np.testing.assert_allclose(weights, expected.coef_[0] / scaler.scale_, rtol=1e-3, atol=1e-4)
    scores = X @ weights + constant
    np.testing.assert_allclose(scores, expected.decision_function(scaler.transform(X)), rtol=1e-3, atol=1e-2)


def test_coefficients_of_kernels_are_not_negative_and_the_others_are_free(pairs):
    X, y = pairs
    weights, _ = _logistic(X, y, n_positive=2)
    assert weights[0] > 0 and weights[1] == 0 and weights[2] > 0
    rest, _ = _logistic(X[:, [0, 2, 3]], y, n_positive=1)
    np.testing.assert_allclose(weights[[0, 2, 3]], rest, rtol=1e-3, atol=1e-4)
    assert _logistic(X[:, [0, 2, 1]], y, n_positive=2)[0][2] < 0


def test_a_column_without_spread_gets_no_weight(pairs):
    X, y = pairs
    weights, _ = _logistic(np.column_stack([X, np.full(len(X), 3.0)]), y, n_positive=0)
    assert weights[-1] == 0
