"""Weights of samples and classes: what they mean, over every solver and both estimators."""

import math
from fractions import Fraction

import numpy as np
import pytest
from machine_data import NEW, REAL, RNG, SAFE, THREE, TWO, X, either, targets_of
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_classification
from sklearn.metrics import r2_score, recall_score

from cases import assert_close
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided.kernels import RBF, SNE, Linear, Polynomial
from lopsided.least_squares.merging import _r2
from lopsided.least_squares.targets import Targets, quantile

COUNTS = RNG.integers(0, 4, len(X))
COUNTS[:6] = 1  # every class is there
WEIGHTS = RNG.uniform(0.2, 3.0, len(X))
REPEATED = np.repeat(np.arange(len(X)), COUNTS)


def directed(L, R):
    """A smooth kernel without symmetry."""
    return np.exp(-np.square(L[:, None] - R[None] + 0.3).sum(axis=2) / 8)


SETTINGS = {
    "dense": {"kernel": directed, "solver": "dense"},
    "spectral": {"kernel": directed, "solver": "spectral"},
    "minres": {"kernel": directed, "solver": "minres", "tol": 1e-13},
    "symmetric": {"kernel": RBF(2.0), "solver": "symmetric"},
    "damped": {"kernel": directed, "damping": 0.3},
    "landmarks": {"kernel": Linear(), "solver": Nystrom(12, landmarks="uniform")},  # exact for a kernel of rank four
}


@either
@pytest.mark.parametrize("name", SETTINGS)
def test_a_sample_of_weight_two_counts_as_two_samples(name, estimator):
    y, model = targets_of(estimator), estimator(SAFE, **SETTINGS[name])
    for values in (estimator.source_decision_function, estimator.target_decision_function):
        weighted = values(model.fit(X, y, sample_weight=COUNTS), NEW)
        repeated = values(model.fit(X[REPEATED], y[REPEATED]), NEW)
        assert_close(weighted, repeated, ulps=1e6)


def test_weights_hold_for_a_sparse_kernel_matrix_and_several_targets():
    K = sparse.random_array((30, 30), density=0.2, rng=np.random.default_rng(0)).tocsr()
    Y = np.column_stack([REAL, X[:, 2]])
    by_lu = AsymmetricLSSVR(SAFE, kernel="precomputed", solver="sparse_lu").fit(K, Y, WEIGHTS)
    densely = AsymmetricLSSVR(SAFE, kernel="precomputed", solver="dense").fit(K.toarray(), Y, WEIGHTS)
    assert_close(by_lu.left_duals_, densely.left_duals_, ulps=1e5)
    one_by_one = [AsymmetricLSSVR(SAFE, kernel="precomputed").fit(K, y, WEIGHTS).left_duals_[:, 0] for y in Y.T]
    assert_close(by_lu.left_duals_, np.column_stack(one_by_one), ulps=1e5)


def test_landmarks_and_all_samples_learn_the_same_if_the_approximation_is_exact():
    kernel = Linear() + Linear().T
    exact = AsymmetricLSSVR([0.01, 1.0], kernel=kernel, solver="spectral").fit(X, REAL, WEIGHTS)
    landmarked = AsymmetricLSSVR([0.01, 1.0], kernel=kernel, solver=Nystrom(15)).fit(X, REAL, WEIGHTS)
    assert_close(landmarked.predict(NEW), exact.predict(NEW), ulps=1e7)
    assert_close(landmarked.held_out_predictions_, exact.held_out_predictions_, ulps=1e7)


@either
@pytest.mark.parametrize("kernel", [RBF(2.0), Polynomial(2), SNE(2.0)], ids=repr)
def test_weights_of_one_change_nothing_with_landmarks(kernel, estimator):
    """Candidates for C of an asymmetric kernel are moved, and those of a symmetric one stay where they are."""
    y, machine = targets_of(estimator), estimator(kernel=kernel, solver=Nystrom(12))
    plain, weighted = (clone(machine).fit(X, y, sample_weight=w) for w in (None, np.ones(len(X))))
    np.testing.assert_allclose(weighted.path_["C"], plain.path_["C"], rtol=1e-7)
    np.testing.assert_allclose(weighted.path_["error"], plain.path_["error"], rtol=1e-5)
    assert_close(weighted.held_out_predictions_, plain.held_out_predictions_, ulps=1e7)


@either
def test_held_out_predictions_are_those_of_refits_with_the_other_weights(estimator):
    y = targets_of(estimator)
    model = estimator([SAFE], kernel=directed).fit(X, y, WEIGHTS)
    values = estimator.decision_function if estimator is AsymmetricLSSVC else estimator.predict
    for i in range(0, len(X), 7):
        kept = np.delete(np.arange(len(X)), i)
        refitted = estimator(SAFE, kernel=directed).fit(X[kept], y[kept], WEIGHTS[kept])
        assert_close(model.held_out_predictions_[[i]], values(refitted, X[[i]]), ulps=1e6)


@either
@pytest.mark.parametrize("kernel", ["rbf", "precomputed"])
def test_a_sample_without_weight_is_not_used_but_predicted(kernel, estimator):
    y, used = targets_of(estimator), COUNTS > 0
    K = directed(X, X) if kernel == "precomputed" else X
    model = estimator(kernel=kernel).fit(K, y, used)
    alone = estimator(kernel=kernel).fit(K[used][:, used] if kernel == "precomputed" else X[used], y[used])
    assert_close(model.left_duals_, alone.left_duals_, ulps=1e5)
    assert model.held_out_predictions_.shape[:1] == (len(X),)
    both = {"Z": K.T} if kernel == "precomputed" else {}
    values = model.decision_function if estimator is AsymmetricLSSVC else model.predict
    assert_close(model.held_out_predictions_[~used], values(K, **both)[~used])
    assert_close(model.held_out_predictions_[used], alone.held_out_predictions_, ulps=1e5)


@pytest.mark.parametrize("weights", [None, WEIGHTS], ids=["plain", "weighted"])
def test_the_held_out_score_of_several_targets_is_that_of_scikit_learn(weights):
    Y = np.column_stack([REAL, X[:, 2]])
    model = AsymmetricLSSVR([0.3], kernel="sne").fit(X, Y, weights)
    expected = r2_score(Y, model.held_out_predictions_, sample_weight=weights)
    assert model.held_out_score_ == pytest.approx(expected, rel=1e-12)


def test_a_constant_target_is_explained_only_by_exact_predictions():
    Y = np.column_stack([REAL, np.zeros(len(X))])
    near, exact = np.column_stack([X[:, 0], np.ones(len(X))]), np.column_stack([X[:, 0], np.zeros(len(X))])
    expected = [r2_score(Y, predictions) for predictions in (near, exact)]
    assert _r2(Targets(Y, Y), np.stack([near, exact])) == pytest.approx(expected, rel=1e-12)


@either
@pytest.mark.parametrize("merge", ["mean", "stack"])
def test_only_ratios_of_weights_matter_where_C_is_in_units_of_the_matrix(merge, estimator):
    y = targets_of(estimator)
    one, other = (estimator(merge=merge, random_state=0).fit(X, y, factor * WEIGHTS) for factor in (1.0, 64.0))
    assert repr(one.kernel_path_[0].kernel) == repr(other.kernel_path_[0].kernel)
    assert pytest.approx(64 * other.C_) == one.C_
    np.testing.assert_allclose(one.held_out_predictions_, other.held_out_predictions_, rtol=1e-6)
    assert one.held_out_score_ == pytest.approx(other.held_out_score_)


@either
def test_equal_weights_are_a_larger_C(estimator):
    y = targets_of(estimator)
    weighted = estimator(SAFE, kernel=directed).fit(X, y, np.full(len(X), 4.0))
    plain = estimator(4 * SAFE, kernel=directed).fit(X, y)
    assert_close(weighted.left_duals_, plain.left_duals_, ulps=1e5)


@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_balanced_classes_are_weights_of_samples(y):
    classes, codes, counts = np.unique(y, return_inverse=True, return_counts=True)
    expected = AsymmetricLSSVC(kernel="rbf").fit(X, y, (len(y) / len(classes) / counts)[codes] * 1.0)
    balanced = AsymmetricLSSVC(kernel="rbf", class_weight="balanced").fit(X, y)
    given = AsymmetricLSSVC(kernel="rbf", class_weight=dict(zip(classes.tolist(), 1 / counts, strict=True))).fit(X, y)
    assert_close(balanced.predict_proba(NEW), expected.predict_proba(NEW))
    np.testing.assert_allclose(given.predict_proba(NEW), expected.predict_proba(NEW), rtol=1e-6)


def test_weights_of_classes_multiply_those_of_samples_and_balance_their_sums():
    weights = np.where(TWO == "yes", WEIGHTS, 5.0)
    sums = {name: weights[name == TWO].sum() for name in ("no", "yes")}
    factors = {name: sum(sums.values()) / 2 / value for name, value in sums.items()}
    balanced = AsymmetricLSSVC(0.1, kernel="rbf", class_weight="balanced").fit(X, TWO, weights)
    expected = AsymmetricLSSVC(0.1, kernel="rbf", class_weight=factors).fit(X, TWO, weights)
    assert_close(balanced.left_duals_, expected.left_duals_, ulps=1e5)


def test_balance_finds_more_of_a_rare_class():
    X, y = make_classification(300, weights=[0.93], flip_y=0.1, random_state=0)
    plain, balanced = (AsymmetricLSSVC(class_weight=w).fit(X[:150], y[:150]) for w in (None, "balanced"))
    found = [recall_score(y[150:], model.predict(X[150:])) for model in (plain, balanced)]
    assert found[1] > found[0] + 0.1


@either
def test_the_primal_problem_has_weights_too(estimator):
    y = targets_of(estimator)
    model = estimator(SAFE, kernel=directed).fit(X, y, COUNTS)
    assert model.diagnostics(X, y, COUNTS).worst < 1e-10
    with pytest.raises(ValueError, match="but the model has duals of"):
        model.diagnostics(X, y)


@pytest.mark.parametrize("n", [1, 4, 9, 19, 99])
@pytest.mark.parametrize("share", ["0.07", "0.5", "0.55", "0.8", "0.95", "0.99"])
def test_a_quantile_is_the_least_error_whose_rank_among_one_more_reaches_the_share(share, n, rng):
    errors = rng.permuted(np.arange(2 * n).reshape(n, 2), axis=0)
    rank = min(n, math.ceil(Fraction(share) * (n + 1)))  # exact, unlike float(share) * (n + 1)
    for weights in (None, np.full(n, 0.3)):
        np.testing.assert_array_equal(quantile(errors, float(share), weights), np.sort(errors, axis=0)[rank - 1])


def test_intervals_count_weights():
    heavy = np.where(np.median(REAL) < REAL, 1.0, 1e-6)
    model = AsymmetricLSSVR(kernel=SNE(2.0)).fit(X, REAL, heavy)
    low, high = model.predict_interval(NEW, coverage=0.5) - model.predict(NEW)
    errors = np.sort((REAL - model.held_out_predictions_)[heavy == 1])
    assert errors[0] <= low[0] <= high[0] <= errors[-1]


@either
@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.where(np.arange(30) == 3, -1.0, 1.0), "[Nn]egative"),
        (np.zeros(30), "zero|0 of 30 sample weights"),
        (np.eye(30)[3], "1 of 30 sample weights are above 0"),
        (np.ones(29), "29"),
        (np.where(np.arange(30) == 3, 1e-90, 1.0), "range from 1e-90 to 1"),
        (np.full(30, 1e120), "largest of 30 sample weights is 1e.120"),
        (np.where(np.arange(30) == 3, np.nan, 1.0), "NaN"),
        (np.ma.masked_array(np.ones(30), np.arange(30) == 3), "sample_weight has 1 masked entry"),
    ],
    ids=["negative", "zeros", "one", "too few", "too different", "too large", "nan", "masked"],
)
def test_bad_weights_are_refused(weights, message, estimator):
    with pytest.raises(ValueError, match=message):
        estimator().fit(X, targets_of(estimator), weights)


NO_WEIGHT = [{"no": 0.0}, {"no": np.nan}]


@pytest.mark.parametrize("how", [*({"class_weight": each} for each in (*NO_WEIGHT, "balanced")), {}], ids=str)
def test_a_class_without_weight_is_named(how):
    weights = None if how.get("class_weight") in NO_WEIGHT else np.where(TWO == "no", 0.0, 1.0)
    with pytest.raises(ValueError, match="samples of class .*no.* have no weight above 0"):
        AsymmetricLSSVC(**how).fit(X, TWO, weights)
    with pytest.raises(ValueError, match="class_weight"):
        AsymmetricLSSVC(class_weight={"maybe": 2.0}).fit(X, TWO)
