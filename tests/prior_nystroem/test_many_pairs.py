"""The loss on many pairs, in passes over samples, against the one with a row for every pair."""

import numpy as np
import pytest

from lopsided import PriorNystroem
from lopsided.prior_nystroem import many_pairs
from lopsided.prior_nystroem.many_pairs import ManyPairTargets
from lopsided.prior_nystroem.side_information import PairTargets


@pytest.fixture(params=[0.0, 1.0], ids=["all values", "gathered"])
def block(request, monkeypatch):
    """Both ways to compute values of pairs, in small blocks."""
    monkeypatch.setattr(many_pairs, "DENSE_SHARE", request.param)
    monkeypatch.setattr(many_pairs, "BLOCK_ENTRIES", 64)


@pytest.fixture(params=["one set", "two sets"])
def both(request, block, rng):
    """The same pairs with a row each and as a sparse table, and a dictionary."""
    E = rng.standard_normal((30, 4))
    if request.param == "two sets":
        F, S, orders = rng.standard_normal((20, 3)), rng.standard_normal((4, 3)), None
        i, j = np.unique(rng.integers([30, 20], size=(200, 2)), axis=0)[rng.permutation(150)].T
    else:
        F, S = E, np.cov(rng.standard_normal((4, 9)))
        i, j = np.unique(np.sort(rng.integers(30, size=(200, 2)), axis=1), axis=0)[rng.permutation(150)].T
        orders = np.where(i == j, 1.0, 2.0)
    targets = (rng.random(len(i)) < 0.4).astype(float)
    return PairTargets(E[i], F[j], targets, orders), ManyPairTargets.of(E, F, (i, j), targets), S


def test_values_and_gradients_are_sums_over_the_pairs(both):
    closed, many, S = both
    assert many.loss(S) == pytest.approx(closed.loss(S))
    assert many.alignment(S) == pytest.approx(closed.alignment(S))
    np.testing.assert_allclose(many.half_gradient(S), closed.half_gradient(S), rtol=1e-10)
    np.testing.assert_allclose(many.axes[0], closed.axes[0], rtol=1e-10)
    assert many.loss(-S) == pytest.approx(closed.loss(-S))  # the values kept of S are not taken for those of -S


def test_the_curvature_and_the_minimiser_are_those_of_the_gram_matrix(both):
    closed, many, S = both
    assert many.curvature == pytest.approx(closed.curvature, rel=0.05)
    for weight in (0.1, 10.0, 1000.0):
        np.testing.assert_allclose(many.minimiser(S, weight), closed.minimiser(S, weight), atol=1e-3)


def test_restriction_keeps_the_pairs_that_are_asked_for(both):
    closed, many, S = both
    part = np.array([3, 140, 17, 5])
    assert many.restricted(part).loss(S) == pytest.approx(closed.restricted(part).loss(S))
    again = np.array([2, 0])
    found = many.restricted(part).restricted(again)
    assert found.loss(S) == pytest.approx(closed.restricted(part).restricted(again).loss(S))


def test_many_pairs_teach_what_their_labels_would(rng):
    y = np.repeat([0, 1], 150)
    X = np.column_stack([y + 0.3 * rng.standard_normal(300), 5 * rng.standard_normal(300)])
    i, j = np.triu_indices(300, 1)
    some = rng.permutation(len(i))[:6000]
    i, j = i[some], j[some]
    same = y[i] == y[j]
    pairs = np.c_[i, j][same], np.c_[i, j][~same]
    found = PriorNystroem(20, prior_weight=1e-6, random_state=0).fit(X, pairs=pairs)
    plain = PriorNystroem(20, prior_weight=np.inf, random_state=0).fit(X, pairs=pairs)
    assert found.alignment_ > plain.alignment_ + 0.2
