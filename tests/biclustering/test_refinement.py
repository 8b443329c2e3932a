"""The parts of biclustering: discriminants, sweeps over blocks, and the matching and counting of classes."""

import numpy as np
import pytest
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.metrics import adjusted_rand_score

from cases import planted_blocks
from lopsided.biclustering.blocks import (
    block_means,
    block_sweeps,
    description_length,
    matched_left_classes,
    unequal_sweeps,
)
from lopsided.biclustering.discriminant import fisher, nearest_mean, refine_partition
from lopsided.svd import Factors


def test_fishers_rule_is_that_of_scikit_learn(rng):
    F = rng.standard_normal((200, 4)) @ rng.standard_normal((4, 4))
    labels = (F @ rng.standard_normal((4, 3))).argmax(axis=1)
    shrinkage = 0.2
    peer = LinearDiscriminantAnalysis(solver="lsqr", shrinkage=shrinkage).fit(F, labels)
    found = fisher(F, labels, 3, shrinkage)
    np.testing.assert_allclose(F @ found.weights + found.offsets, peer.decision_function(F), rtol=1e-9, atol=1e-9)


def test_fishers_rule_without_shrinkage_does_not_depend_on_the_coordinates(rng):
    F = rng.standard_normal((100, 3))
    labels = F[:, 0] > 0
    G = F @ rng.standard_normal((3, 3))
    rules = [fisher(features, labels.astype(int), 2, 0.0) for features in (F, G)]
    np.testing.assert_array_equal(rules[0].labels(F), rules[1].labels(G))


def test_refinement_mends_a_partition_and_empties_no_class(rng):
    truth = np.repeat(np.arange(3), 100)
    F = np.eye(3)[truth] * 3 + rng.standard_normal((300, 3)) * 0.3
    F = np.hstack([F, rng.standard_normal((300, 5))])
    spoiled = np.where(rng.random(300) < 0.3, rng.integers(3, size=300), truth)
    assert adjusted_rand_score(truth, refine_partition(F, spoiled, 3).labels(F)) == 1
    lonely = np.zeros(300, dtype=int)
    lonely[0] = 1
    assert len(np.unique(refine_partition(F, lonely, 2).labels(F))) == 2


def test_block_sweeps_lower_the_distance_to_the_block_means_and_label_by_their_rules(rng):
    X, rows, columns = planted_blocks(1.0, rng)
    spoiled = [np.where(rng.random(len(true)) < 0.3, rng.integers(3, size=len(true)), true) for true in (rows, columns)]

    def distance(rows, columns):
        R, C = np.eye(3)[rows], np.eye(3)[columns]
        return np.linalg.norm(X - R @ (np.linalg.pinv(R) @ X @ np.linalg.pinv(C).T) @ C.T)

    reached = [distance(*spoiled)]
    for sweeps in (1, 2, 20):
        rules, *found = block_sweeps(X, *spoiled, sweeps=sweeps)
        reached.append(distance(*found))
        np.testing.assert_array_equal(rules.rows.labels(X @ rules.columns_of), found[0])
        np.testing.assert_array_equal(rules.columns.labels(X.T @ rules.rows_of), found[1])
    assert np.all(np.diff(reached) <= 0) and reached[-1] < reached[0]
    assert adjusted_rand_score(rows, found[0]) > adjusted_rand_score(rows, spoiled[0])


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("hidden", [True, False])
def test_unequal_sweeps_label_by_their_rules_and_use_a_finer_partition_only_where_the_matrix_has_one(
    hidden, turned, rng
):
    X, rows, finer = planted_blocks(0.3, rng, ((40, 30, 20), (25, 25, 25)))
    columns = np.minimum(finer, 1)
    if not hidden:  # two classes of columns, one of them split at random
        X = np.array([[1.0, 0.0], [0.0, 1.0], [0.0, 0.0]])[rows][:, columns] + 0.3 * rng.standard_normal(X.shape)
        finer = np.where(finer == 0, 0, rng.integers(1, 3, size=len(finer)))
    energy = np.square(X).sum()
    if turned:
        rules, new_columns, new_rows = unequal_sweeps(X.T, columns, rows, finer, energy)
        rules = rules.T
    else:
        rules, new_rows, new_columns = unequal_sweeps(X, rows, columns, finer, energy)
    assert adjusted_rand_score(rows, new_rows) == adjusted_rand_score(columns, new_columns) == 1
    assert rules.columns_of.shape[1] == (3 if hidden else 2)
    np.testing.assert_array_equal(rules.rows.labels(X @ rules.columns_of), new_rows)
    np.testing.assert_array_equal(rules.columns.labels(X.T @ rules.rows_of), new_columns)


def test_description_length_is_its_formula_and_least_for_the_planted_numbers_of_classes(rng):
    X, rows, columns = planted_blocks(0.5, rng)

    def expected(rows, columns):
        R, C = np.eye(rows.max() + 1)[rows], np.eye(columns.max() + 1)[columns]
        error = np.square(X - R @ (np.linalg.pinv(R) @ X @ np.linalg.pinv(C).T) @ C.T).sum()
        shares = R.mean(axis=0)[rows], C.mean(axis=0)[columns]
        (n, k_rows), (m, k_columns) = R.shape, C.shape
        free = k_rows * k_columns * np.log(X.size) + (k_rows - 1) * np.log(n) + (k_columns - 1) * np.log(m)
        return X.size / 2 * np.log(error) - sum(np.log(p).sum() for p in shares) + free / 2

    lengths = []
    for labels in (columns, np.minimum(columns, 1), 2 * columns + rng.integers(2, size=len(columns))):
        lengths.append(description_length(X, rows, labels, np.square(X).sum()))
        assert lengths[-1] == pytest.approx(expected(rows, labels), rel=1e-12)
    assert np.argmin(lengths) == 0


def test_block_sweeps_that_would_empty_a_class_are_not_made():
    X, labels = np.ones((6, 4)), np.array([0, 0, 0, 0, 0, 1])
    rules, rows, columns = block_sweeps(X, labels, labels[2:])
    assert rules is None
    np.testing.assert_array_equal(rows, labels)
    np.testing.assert_array_equal(columns, labels[2:])


def test_points_are_assigned_to_the_nearest_mean(rng):
    F, labels = rng.standard_normal((50, 4)), rng.integers(3, size=50)
    means = np.array([F[labels == c].mean(axis=0) for c in range(3)])
    nearest = ((F[:, None] - means) ** 2).sum(axis=2).argmin(axis=1)
    np.testing.assert_array_equal(nearest_mean(F, labels, 3).labels(F), nearest)


def test_block_means_are_means_of_the_matrix(rng):
    factors = Factors(rng.standard_normal((8, 2)), np.array([2.0, 1.0]), rng.standard_normal((6, 2)))
    left, right = np.array([0, 0, 1, 1, 1, 2, 2, 0]), np.array([1, 0, 0, 1, 1, 0])
    found = block_means(factors, left, right, (3, 2))
    K = factors.matrix()
    expected = [[K[np.ix_(left == i, right == j)].mean() for j in range(2)] for i in range(3)]
    np.testing.assert_allclose(found, expected, rtol=1e-12)


def test_classes_are_matched_one_to_one_with_the_largest_sum_of_means():
    assert matched_left_classes(np.array([[1.0, 9.0, 2.0], [8.0, 6.0, 3.0], [4.0, 4.0, 1.0]])).tolist() == [1, 0, 2]
    assert matched_left_classes(np.array([[5.0], [7.0], [6.0]])).tolist() == [1]
