"""Recommendations, and their evaluation."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.metrics import ndcg_score

from lopsided import KernelRecommender
from lopsided.exceptions import LopsidedWarning, RankWarning
from lopsided.kernels import Association
from lopsided.recommendation import coverage, ndcg_at_k, ranking_scores, recall_at_k
from lopsided.recommendation.trials import hide

KINDS = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])


@pytest.fixture
def A(rng):
    """Users and items of three groups; most interactions are within a group."""
    users, items = np.arange(90) % 3, np.arange(60) % 3
    return (rng.random((90, 60)) < np.where(users[:, None] == items, 0.4, 0.04)).astype(float)


def smoothed(K, t):
    """K (K'K + t I)^-1 K'K."""
    G = K.T @ K
    return K @ np.linalg.solve(G + t * np.eye(len(G)), G)


@KINDS
def test_scores_are_those_of_ridge_regression_on_all_items(kind, A):
    model = KernelRecommender(60, kernel="association", popularity=0.0).fit(
        kind(A)
    )  # every component is treated exactly
    K = Association()(A, np.arange(60)[:, None])
    expected = smoothed(K, model.threshold_)
    found = np.asarray(model._scores(kind(K)))
    np.testing.assert_allclose(found, expected, atol=1e-3 * np.abs(expected).max())


@KINDS
def test_users_far_more_than_items_fit_the_budget(kind, rng):
    table = kind((rng.random((4000, 12)) < 0.5).astype(float))
    model = KernelRecommender(4, kernel="association", threshold=1.0, popularity=0.0).fit(table)
    expected, budget = model.recommend(table, 3, new_only=False), 8e6
    model.set_params(memory_budget=budget, n_jobs=1)
    tracemalloc.start()
    found = model.recommend(table, 3, new_only=False)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    np.testing.assert_array_equal(found, expected)
    assert peak < budget  # products of all users with each other take 128 MB


@KINDS
@pytest.mark.parametrize("threshold", [0.01, 1.0, 4.0])
def test_components_beyond_the_leading_ones_are_damped_along_a_chord(kind, threshold, A):
    model = KernelRecommender(10, kernel="association", popularity=0.0, threshold=threshold, tol=0.0).fit(kind(A))
    U, s, Vt = np.linalg.svd(Association()(A, np.arange(60)[:, None]), full_matrices=False)
    t = threshold * s[0] ** 2
    assert model.threshold_ == pytest.approx(t)
    assert model.path_ == ()
    filtered = np.where(np.arange(60) < 10, s**3 / (s**2 + t), s**3 / (s[9] ** 2 + t))
    np.testing.assert_allclose(model._scores(kind((U * s) @ Vt)), (U * filtered) @ Vt, atol=1e-9)


def test_what_is_chosen_ranks_hidden_interactions_best_unless_by_chance(A):
    model = KernelRecommender(kernel="association", random_state=0).fit(A)
    judged = {setting: ndcg for setting, ndcg, _ in model.path_}
    first = model.svd_.singular_values_[0] ** 2
    default = min(judged, key=lambda one: (one.threshold, abs(one.popularity - 0.25)))
    chosen = [one for one in judged if one.popularity == model.popularity_]
    assert any(model.threshold_ == pytest.approx(one.threshold * first) for one in chosen)
    assert max(judged[one] for one in chosen) in (max(judged.values()), judged[default])


def test_a_table_where_popularity_is_all_that_tells_is_ranked_by_it(rng):
    A = (rng.random((400, 80)) < np.linspace(0.01, 0.5, 80) ** 2).astype(float)  # independent users
    learned = KernelRecommender().fit(A)
    assert learned.popularity_ >= 0.25
    assert learned.threshold_ > KernelRecommender(popularity=0.25, threshold=0.01).fit(A).threshold_
    fresh = (rng.random((400, 80)) < np.linspace(0.01, 0.5, 80) ** 2) & (A == 0)
    fixed = KernelRecommender(popularity=0.0, threshold=0.01).fit(A)
    assert ndcg_at_k(learned.recommend(A, 10), fresh) > ndcg_at_k(fixed.recommend(A, 10), fresh) + 0.05


def tastes(seed, values):
    """Interactions of five groups with items of their own; values, by whether an item is of the group."""
    rng = np.random.default_rng(seed)
    own = np.arange(300)[:, None] % 5 == np.arange(100) % 5
    return np.where(rng.random(own.shape) < np.where(own, 0.3, 0.05), values(rng, own), 0.0)


def test_values_with_heavy_tails_say_less_than_in_proportion():
    A = tastes(0, lambda rng, own: np.ceil(rng.lognormal(1.0, 2.0, own.shape)))
    fresh = tastes(1, lambda rng, own: np.ones(own.shape)) * (A == 0)
    chosen, usual = (KernelRecommender(kernel=kernel).fit(A) for kernel in ("auto", "association"))
    assert chosen.svd_.kernel_.power < usual.svd_.kernel_.power
    assert ndcg_at_k(chosen.recommend(A, 10), fresh) > ndcg_at_k(usual.recommend(A, 10), fresh) + 0.05
    compared = {trial.kernel.power for trial in chosen.path_}
    assert {chosen.svd_.kernel_.power, usual.svd_.kernel_.power} == compared


def test_values_that_tell_tastes_are_used_and_equal_ones_compare_no_powers():
    A = tastes(0, lambda rng, own: np.where(own, 5.0, 1.0))
    usual = Association().power
    assert KernelRecommender().fit(A).svd_.kernel_.power == usual
    assert {trial.kernel.power for trial in KernelRecommender().fit(3 * np.sign(A)).path_} == {usual}


def test_a_list_of_interactions_is_no_table():
    log = np.random.default_rng(0).integers(0, 50, (400, 3)).astype(float)
    with pytest.warns(LopsidedWarning, match="X has 3 items.*csr_array"):
        KernelRecommender(1).fit(log)


def test_hidden_interactions_are_a_fifth_of_those_of_some_users(A):
    A[:3] = -np.abs(A[:3])  # what users dislike is not hidden
    hidden = hide(A, np.random.default_rng(0))
    assert np.array_equal(hidden.rows.toarray() + hidden.held_out.toarray(), A[hidden.users])
    assert np.array_equal(np.delete(hidden.table.toarray(), hidden.users, axis=0), np.delete(A, hidden.users, axis=0))
    counts = (A[hidden.users] > 0).sum(axis=1)
    assert np.array_equal((hidden.held_out.toarray() > 0).sum(axis=1), np.maximum(counts // 5, 1))
    assert not set(hidden.users) & {0, 1, 2}
    assert hide(A[:12], np.random.default_rng(0)) is None


@KINDS
def test_items_of_the_group_are_recommended_and_none_that_the_user_has(kind, A):
    found = KernelRecommender().fit(kind(A)).recommend(kind(A), 5)
    assert not np.take_along_axis(A, found, axis=1).any()
    assert np.mean(found % 3 == (np.arange(90) % 3)[:, None]) > 0.9


def test_new_users_and_items_with_ids_of_their_own_need_no_fit(A):
    model = KernelRecommender().fit(A[:80])
    assert np.mean(model.recommend(A[80:], 5) % 3 == (np.arange(80, 90) % 3)[:, None]) > 0.9
    assert np.array_equal(model.recommend(A[:80], 5), model.recommend(sparse.csr_array(A[:80]), 5))


def test_users_without_interactions_get_what_is_popular(A):
    A[4] = 0
    model = KernelRecommender().fit(A)
    with pytest.warns(LopsidedWarning, match="^1 user has no interactions"):
        found = model.recommend(A, 6)
    sums = (A**model.svd_.kernel_.power).sum(axis=0)
    assert np.array_equal(found[4], np.argsort(-sums, kind="stable")[:6])


def test_items_never_seen_are_not_recommended_before_others(A):
    A[:, 7] = 0
    assert not (KernelRecommender().fit(A).recommend(A, 10) == 7).any()


@KINDS
def test_an_item_that_nobody_chose_scores_zero_and_finds_users_on_average(kind, A):
    A[:, 7] = 0
    svd = KernelRecommender().fit(kind(A)).svd_
    np.testing.assert_allclose(svd.score_pairs(np.arange(90), 7), 0, atol=1e-12)
    np.testing.assert_array_equal(svd.transform_right(kind(np.zeros((1, 90)))), 0)
    with pytest.warns(LopsidedWarning, match="1 point scores all others alike"):
        found = svd.nearest_left([7], 4)
    everyone = (svd.left_vectors_ * svd.singular_values_) @ svd.right_vectors_.mean(axis=0)
    np.testing.assert_array_equal(found[0], np.argsort(-everyone, kind="stable")[:4])


def test_an_item_that_everyone_chose_is_left_to_new_users_alone(A):
    A[:, 7] = 1
    model = KernelRecommender().fit(A)
    assert not (model.recommend(A, 10) == 7).any()
    others = np.where(np.arange(60) == 7, 0.0, A[:20])
    assert (model.recommend(others, 10) == 7).any(axis=1).all()


def test_popularity_moves_frequent_items_up(A):
    A[:, :6] = np.random.default_rng(0).random((90, 6)) < 0.6
    counts = A.sum(axis=0)
    models = (KernelRecommender(popularity=p, threshold=0.1).fit(A) for p in (0.0, 0.5))
    rare, popular = (counts[model.recommend(A, 5)].mean() for model in models)
    assert popular > rare


def test_what_cannot_be_recommended_is_refused(A):
    model = KernelRecommender().fit(A)
    with pytest.raises(ValueError, match="k=61 must be a whole number from 1 to 60"):
        model.recommend(A, 61)
    with pytest.raises(ValueError, match="k=1 exceeds the 0 points that are left for row 0; lower k"):
        model.recommend(np.ones((1, 60)), 1)
    two_left = np.vstack([A[0], np.arange(60) > 1])
    with pytest.raises(ValueError, match="k=3 exceeds the 2 points that are left for row 1; lower k"):
        model.recommend(two_left, 3)
    assert set(model.recommend(two_left, 2)[1]) == {0, 1}
    assert model.recommend(np.ones((1, 60)), 60, new_only=False).shape == (1, 60)
    with pytest.warns(RankWarning, match="n_components=61 exceeds"):
        KernelRecommender(61).fit(A)
    ratings = pd.DataFrame(np.where(A > 0, A, np.nan))  # as DataFrame.pivot gives them
    for table in (ratings, ratings.to_numpy()):
        with pytest.raises(ValueError, match=rf"X has {(A == 0).sum():,} NaN.*is zero: pass X.fillna\(0\)"):
            KernelRecommender().fit(table)
    np.testing.assert_array_equal(KernelRecommender().fit(ratings.fillna(0)).recommend(A, 2), model.recommend(A, 2))


def test_a_table_of_one_user_or_of_zeros_gives_an_answer():
    assert KernelRecommender().fit([[1.0, 0.0, 1.0]]).recommend([[1.0, 0.0, 0.0]], 2).shape == (1, 2)
    with pytest.warns(LopsidedWarning, match="no interactions"):
        assert KernelRecommender().fit(np.zeros((3, 4))).recommend(np.zeros((3, 4)), 2).shape == (3, 2)


@KINDS
def test_ndcg_is_that_of_scikit_learn(kind, rng):
    held_out, scores = (rng.random((30, 40)) < 0.1).astype(float), rng.random((30, 40))
    held_out = held_out[held_out.any(axis=1)]
    scores = scores[: len(held_out)]
    best = np.argsort(-scores, axis=1)[:, :8]
    assert ndcg_at_k(best, kind(held_out)) == pytest.approx(ndcg_score(held_out, scores, k=8))
    hits = np.take_along_axis(held_out, best, axis=1).sum(axis=1)
    assert recall_at_k(best, kind(held_out)) == pytest.approx(np.mean(hits / held_out.sum(axis=1)))
    assert coverage(best, 40) == len(set(best.ravel())) / 40


def test_users_without_held_out_items_do_not_count():
    assert recall_at_k([[0], [1]], [[1, 0], [0, 0]]) == 1.0


@pytest.mark.parametrize(
    ("recommended", "message"),
    [
        ([[0, 9], [0, 1]], "item numbers from 0 to 2"),
        ([[0.5], [1.0]], "item numbers from 0 to 2; got float64"),
        (np.full((2, 30), 3e38, dtype=np.float32), "item numbers from 0 to 2; got float32"),
        ([[0, 1]], "recommended has 1 rows and held_out 2"),
        ([[0, 0], [0, 1]], "lists an item twice for user 0"),
    ],
)
def test_bad_rankings_are_refused(recommended, message):
    with pytest.raises(ValueError, match=message):
        ranking_scores(recommended, [[1, 0, 0], [0, 1, 1]])
    with pytest.raises(ValueError, match="nothing to evaluate"):
        recall_at_k([[0]], [[0, 0]])


@KINDS
@pytest.mark.parametrize("unit", [1e-100, 1e100])
def test_the_unit_of_weights_changes_no_recommendation(unit, kind, A, rng):
    weights = kind(A * rng.random(A.shape))
    one, other = KernelRecommender().fit(weights), KernelRecommender().fit(weights * unit)
    assert one.svd_.kernel_.column_exponent_ == other.svd_.kernel_.column_exponent_
    assert (one.recommend(weights, 5) == other.recommend(weights * unit, 5)).mean() > 0.99
