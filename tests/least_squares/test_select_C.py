"""Laws of held-out predictions, of the selection of C by them, and of stacking and calibration."""

import warnings

import numpy as np
import pytest
from machine_data import BITS, NEW, REAL, THREE, TWO, X, either, signs, targets_of
from scipy import sparse
from scipy.optimize import minimize_scalar
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, StratifiedKFold, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import centred, solve_bordered
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided._core import seed_of
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, SNE, Katz, LinearPolynomial, NodeKernel, Polynomial
from lopsided.least_squares import merging
from lopsided.least_squares.merging import _log_losses
from lopsided.least_squares.saddle import SADDLE_SOLVERS, Spectral
from lopsided.least_squares.saddle.spectral import CLEARANCE
from lopsided.least_squares.select_C import stratified_subset
from lopsided.least_squares.targets import Targets
from lopsided.operators import Stored
from lopsided.svd import Factors


@pytest.mark.parametrize("C", [1e-160, [1e-160, 1.0], [1.0, 1e160]])
def test_every_C_must_have_a_square(C):
    with pytest.raises(ValueError, match="must lie between 1e-150 and 1e\\+150"):
        AsymmetricLSSVR(C).fit(X, REAL)


@pytest.mark.parametrize("bad", [np.inf, np.nan, 0.0, -1.0])
@pytest.mark.parametrize("place", [0, 1, 2])
def test_every_C_of_a_list_must_be_finite_and_positive(bad, place):
    with pytest.raises(ValueError, match="must be finite and above 0"):
        AsymmetricLSSVR(np.insert([0.5, 2.0], place, bad)).fit(X, REAL)


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_a_certain_mistake_is_as_likely_for_any_number_of_classes(n_classes):
    """Laplace's rule of succession: after n right decisions the next is wrong with probability 1 / (n + 2)."""
    y = np.arange(40) % n_classes
    decisions = 50.0 * np.eye(n_classes)[y]  # others are less likely by exp(-50)
    (loss,) = _log_losses(decisions[None], Targets(np.eye(n_classes)[y], y))
    assert loss == pytest.approx(50 / 42, rel=1e-12)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
@pytest.mark.parametrize("size", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("noise", [0.3, 1.0, 30.0])
@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_the_likeliest_slope_is_found_by_newtons_steps(n_classes, noise, size, weighted, rng, monkeypatch):
    y, steps, moments = np.arange(60) % n_classes, [], merging._moments
    monkeypatch.setattr(merging, "_moments", lambda *given: steps.append(moments(*given)) or steps[-1])
    decisions = size * (np.eye(n_classes)[y] + noise * rng.standard_normal((60, n_classes)))[None]
    targets = Targets(np.eye(n_classes)[y], y, rng.uniform(0.5, 2, 60) if weighted else None)
    (slope,) = merging._likeliest_slopes(decisions, targets)
    bounds = np.log([1 / merging.STEEPEST_SLOPE, merging.STEEPEST_SLOPE])
    best = minimize_scalar(
        lambda power: targets.means(_log_losses(np.exp(power) * decisions, targets))[0], bounds=bounds
    ).x
    assert np.log(slope) == pytest.approx(best, abs=1e-3)
    inside = bounds[0] + 0.1 < best < bounds[1] - 0.1
    most = (
        4 + weighted if noise == 1 else 8
    )  # where noise is as large as differences between classes, the start is near
    assert len(steps) <= (most if inside else 20)  # halving the bracket takes 17 to the tolerance


@pytest.mark.parametrize("size", [1.0, 1e3, 1e6])
def test_likelihoods_of_enormous_decisions_do_not_overflow(size):
    y, decisions = np.arange(6) % 3, size * np.random.default_rng(0).standard_normal((6, 3))
    shifted = decisions - 7 * size  # the same for all classes of a sample
    one, other = _log_losses(np.stack([decisions, shifted]), Targets(np.eye(3)[y], y))
    assert np.isfinite(one).all()
    assert other == pytest.approx(one, rel=1e-9)


@either
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "minres"])
def test_the_best_of_several_C_is_the_fit_at_that_C(estimator, solver):
    grid, y = [0.01, 0.3, 2.0, 17.0], targets_of(estimator)
    model = estimator(grid, solver=solver, tol=1e-13, kernel="sne").fit(X, y)
    alone = [estimator([C], solver=solver, tol=1e-13, kernel="sne").fit(X, y) for C in grid]
    np.testing.assert_allclose(model.path_["score"], [one.held_out_score_ for one in alone], rtol=1e-9)
    Y = signs(y) if estimator is AsymmetricLSSVC else y
    errors = [np.square(one.held_out_predictions_ - Y).mean() for one in alone]
    np.testing.assert_allclose(model.path_["error"], errors, rtol=1e-9)
    np.testing.assert_array_equal(model.path_["C"], grid)
    best = int(np.argmin(errors))
    assert model.C_ == alone[best].C_
    assert model.held_out_score_ == model.path_["score"][best]
    np.testing.assert_allclose(model.held_out_predictions_, alone[best].held_out_predictions_, rtol=1e-8)
    one_C = estimator(model.C_, solver="dense", kernel="sne").fit(X, y)
    np.testing.assert_allclose(model.left_duals_, one_C.left_duals_, rtol=0, atol=1e-9 * model.C_)


@either
@pytest.mark.parametrize("merge", ["mean", "source", "target"])
def test_held_out_predictions_are_those_of_refits_on_the_same_kernel_matrix(estimator, merge):
    y, K = targets_of(estimator), SNE()(X, X)
    model = estimator([0.7], merge=merge, kernel="precomputed").fit(K, y)
    for i in range(len(K)):
        rest = np.delete(np.arange(len(K)), i)
        Y = signs(y) if estimator is AsymmetricLSSVC else y[:, None]
        a, c, b1, b2 = solve_bordered(K[np.ix_(rest, rest)], 0.7, Y[rest])
        source, target = K[i, rest] @ c + b1, K[rest, i] @ a + b2
        expected = {"source": source, "target": target, "mean": (source + target) / 2}[merge]
        np.testing.assert_allclose(np.ravel(model.held_out_predictions_[i]), expected, rtol=1e-9)
    points = estimator([0.7], merge=merge, kernel="sne").fit(X, y)
    np.testing.assert_allclose(points.held_out_predictions_, model.held_out_predictions_, rtol=1e-9)


def test_folds_with_one_sample_each_are_leave_one_out():
    for solver in ("spectral", "minres"):
        exact = AsymmetricLSSVC([0.7], solver="spectral", kernel="sne").fit(X, THREE)
        folds = AsymmetricLSSVC([0.7], solver=solver, cv=KFold(len(X)), tol=1e-13, kernel="sne").fit(X, THREE)
        np.testing.assert_allclose(folds.held_out_predictions_, exact.held_out_predictions_, rtol=1e-8)


def test_minres_and_damping_hold_out_ten_folds():
    drawn = StratifiedKFold(10, shuffle=True, random_state=seed_of(3))
    for parameters in ({"solver": "minres"}, {"damping": 1.0}):
        model = AsymmetricLSSVC([0.3, 0.7], random_state=3, **parameters, kernel="sne").fit(X, TWO)
        folds = AsymmetricLSSVC([0.3, 0.7], cv=drawn, **parameters, kernel="sne").fit(X, TWO)
        np.testing.assert_array_equal(model.held_out_predictions_, folds.held_out_predictions_)


def with_a_singular_refit(rng):
    """A matrix that without its first row and column, centred, has the singular value 1."""
    U, s, Vt = np.linalg.svd(centred(rng.standard_normal((29, 29))))
    K = rng.standard_normal((30, 30))
    K[1:, 1:] = (U * np.where(np.arange(29) == 3, 1.0, s)) @ Vt
    return K


def test_a_C_at_which_a_refit_is_singular_is_passed_over(rng):
    """At 1/C = 1 the first sample's held-out value means nothing."""
    model = AsymmetricLSSVC([1.0, 0.01], kernel="precomputed").fit(with_a_singular_refit(rng), TWO)
    assert model.path_["error"][0] > 1e10
    assert model.C_ == 0.01


@either
@pytest.mark.parametrize("kernel", ["sne", "rbf", Polynomial(2), LinearPolynomial(3.0)], ids=repr)
def test_automatic_candidates_are_compared_by_predictions_in_range_unless_targets_get_enormous_ones(estimator, kernel):
    y, of_classes = targets_of(estimator), estimator is AsymmetricLSSVC
    model = estimator(kernel=kernel).fit(X, y)
    Y = signs(y) if of_classes else y
    K = centred(np.asarray(model.kernel_(X, X)))
    definite = np.allclose(K, K.T) and np.linalg.eigvalsh((K + K.T) / 2)[0] > -1e-9 * np.linalg.norm(K)
    for C, error in zip(model.path_["C"], model.path_["error"], strict=True):
        alone = estimator([C], kernel=kernel).fit(X, y).held_out_predictions_
        judged = np.clip(alone, Y.min(), Y.max()) if of_classes or definite else alone
        assert error == pytest.approx(np.square(judged - Y).mean(), rel=1e-6)
    assert model.path_["C"][model.path_["error"].argmin()] == model.C_


@pytest.mark.parametrize("kernel", [Katz, NodeKernel])
def test_an_automatic_C_predicts_targets_of_new_nodes_in_range(kernel):
    """Clipped, the held-out predictions of a C at which new nodes get enormous values look better than all others."""
    A, labels = make_citation_graph(300, random_state=3)
    nodes, y = np.arange(300)[:, None], (labels == 1).astype(float)
    model = AsymmetricLSSVR(kernel=kernel(A)).fit(nodes, y)
    assert model.held_out_score_ == pytest.approx(np.nanmax(model.path_["score"]))
    folds = KFold(5, shuffle=True, random_state=0)
    assert cross_val_score(AsymmetricLSSVR(kernel=kernel(A)), nodes, y, cv=folds).mean() > 0.2  # -13 and -17 if clipped


def test_a_C_with_held_out_values_that_are_not_finite_is_passed_over(monkeypatch):
    exact = Spectral.leave_one_out
    spoiled = {1.0}

    def leave_one_out(self, grid, Y):
        found = exact(self, grid, Y)
        return ((np.nan * s, t) if C in spoiled else (s, t) for C, (s, t) in zip(grid, found, strict=True))

    monkeypatch.setattr(Spectral, "leave_one_out", leave_one_out)
    model = AsymmetricLSSVC([1.0, 0.3], kernel="sne").fit(X, TWO)
    assert (model.C_, model.path_["error"][0]) == (0.3, np.inf)
    spoiled.add(0.3)
    with pytest.raises(ValueError, match=r"singular, up to rounding, at C=\[1.0, 0.3\]; add other values"):
        AsymmetricLSSVC([1.0, 0.3], kernel="sne").fit(X, TWO)


def test_nothing_is_held_out_unless_it_is_needed():
    model = AsymmetricLSSVC(0.7, kernel="sne").fit(X, TWO)
    assert not {"held_out_predictions_", "held_out_score_", "path_", "merger_"} & vars(model).keys()
    assert model.solver_.name == "dense"
    assert AsymmetricLSSVC([0.7], kernel="sne").fit(X, TWO).solver_.name == "spectral"


def test_stacking_is_logistic_regression_on_held_out_values():
    model = AsymmetricLSSVC(0.7, merge="stack", cv=5, kernel="sne").fit(X, THREE)
    held_out = [
        AsymmetricLSSVC([0.7], merge=side, cv=5, kernel="sne").fit(X, THREE).held_out_predictions_
        for side in ("source", "target")
    ]
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(np.hstack(held_out), THREE)
    features = np.hstack([model.source_decision_function(NEW), model.target_decision_function(NEW)])
    np.testing.assert_allclose(model.decision_function(NEW), logistic.decision_function(features), rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(NEW), logistic.predict_proba(features), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(NEW), logistic.predict(features))


@pytest.mark.filterwarnings("ignore:C=.* is far outside")
def test_stacking_learns_nothing_from_random_labels(rng):
    """Leaving out one sample at a time would: the mean of the other labels tells which label is missing."""
    y = rng.permutation(np.repeat([0, 1], 100))
    points = rng.standard_normal((200, 4))
    for C in (0.001, 1.0):
        assert AsymmetricLSSVC(C, merge="stack", kernel="sne").fit(points, y).held_out_score_ < 0.65


def test_stacked_regression_weighs_the_functions():
    model = AsymmetricLSSVR(1.0, merge="stack", kernel="sne").fit(X, REAL)
    features = np.column_stack([model.source_decision_function(NEW), model.target_decision_function(NEW)])
    np.testing.assert_allclose(model.predict(NEW), model.merger_.predict(features).ravel(), rtol=1e-12)
    assert model.held_out_score_ > AsymmetricLSSVR([1.0], kernel="sne").fit(X, REAL).held_out_score_


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_stack_needs_two_samples_of_some_class():
    with pytest.raises(ValueError, match="none of the 30 classes has two samples"):
        AsymmetricLSSVC(merge="stack", kernel="sne").fit(X, np.arange(30))


@pytest.mark.parametrize("merge", ["mean", "source", "target", "stack"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_probabilities_sum_to_one_and_rank_as_the_decisions_do(merge, y):
    model = AsymmetricLSSVC([0.7], merge=merge, kernel="sne").fit(X, y)
    p = model.predict_proba(NEW)
    assert p.shape == (len(NEW), len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(NEW))


def test_probabilities_are_calibrated_on_held_out_predictions():
    """No other slope makes the held-out labels likelier, if one in n + 2 is wrong and belongs to any other class."""
    model = AsymmetricLSSVC([0.7], kernel="sne").fit(X, THREE)

    def loss(slope):
        p, wrong = np.exp(slope * model.held_out_predictions_), 1 / (len(X) + 2)
        own, *others = (log_loss((THREE + k) % 3, p / p.sum(axis=1, keepdims=True)) for k in range(3))
        return (1 - wrong) * own + wrong * np.mean(others)

    best = loss(model.merger_)
    assert all(best <= loss(model.merger_ * factor) for factor in (0.5, 0.9, 1.1, 2.0))


def test_probabilities_without_held_out_predictions_name_the_way_out():
    model = AsymmetricLSSVC(0.7, kernel="sne").fit(X, TWO)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(NEW)
    assert "C='auto', or C as a list" in str(caught.value.__cause__)


@pytest.mark.parametrize("solver", ["dense", "spectral", "symmetric", "minres", Nystrom(15)])
@either
def test_an_automatic_C_scales_with_the_kernel(estimator, solver):
    kernel = RBF(2.0) if solver == "symmetric" else SNE(2.0)
    fitted = [estimator(kernel=scale * kernel, solver=solver).fit(X, BITS) for scale in (1e-6, 1.0, 1e6)]
    small, one, large = (model.C_ for model in fitted)
    np.testing.assert_allclose([small, large], [1e6 * one, 1e-6 * one], rtol=1e-6)
    for model in fitted:
        np.testing.assert_allclose(model.held_out_predictions_, fitted[1].held_out_predictions_, rtol=1e-4, atol=1e-6)


def test_a_subset_selects_C_if_each_C_costs_a_factorisation(monkeypatch):
    points, labels = load_iris(return_X_y=True)
    whole = AsymmetricLSSVC(kernel="sne").fit(points, labels)
    monkeypatch.setattr("lopsided.least_squares.build.DECOMPOSED_SIZE", 100)
    monkeypatch.setattr("lopsided.least_squares.select_C.SUBSET_SIZE", 75)
    part = AsymmetricLSSVC(kernel="sne").fit(points, labels)
    assert whole.held_out_score_ > 0.95 and part.held_out_score_ > 0.95
    assert (whole.solver_.name, part.solver_.name) == ("spectral", "dense")
    assert len(part.path_["C"]) < len(whole.path_["C"])
    symmetric = AsymmetricLSSVC(kernel="rbf").fit(points, labels)
    assert len(symmetric.path_["C"]) == len(whole.path_["C"])


def test_a_subset_holds_every_class_in_proportion(rng):
    y = rng.permutation(np.repeat([0, 1, 2], [600, 398, 2]))
    some = stratified_subset(y, 100, 0, of_classes=True)
    assert np.abs(np.bincount(y[some]) - [60, 40, 1]).max() <= 1
    assert np.all(np.diff(some) > 0)
    assert len(stratified_subset(rng.random((1000, 2)), 100, 0, of_classes=False)) == 100


def test_a_class_of_one_sample_is_held_out_with_the_others():
    y = np.append("rare", np.where(X[1:, 0] > 0, "b", "c"))
    model = AsymmetricLSSVC(merge="stack", kernel="sne").fit(X, y)
    assert np.isfinite(model.held_out_predictions_).all() and model.held_out_predictions_.shape == (30, 3)


@pytest.mark.parametrize("K", [np.ones((30, 30)), X[:, :1] - X[:, 0]], ids=["constant", "differences"])
def test_an_automatic_C_does_not_take_rounding_for_a_scale(K):
    with pytest.warns(LopsidedWarning, match="predictions are constant"):
        assert AsymmetricLSSVC(kernel="precomputed", merge="source").fit(K, TWO).C_ < 1e6


@pytest.mark.parametrize("seed", range(5))
def test_a_ridge_moves_midway_between_two_singular_values_if_it_is_near_one_of_them(seed):
    rng = np.random.default_rng(seed)
    s = 10 ** rng.uniform(-3, 0, 12)
    family = Spectral(Stored(np.eye(12)), Factors(np.eye(12), s, np.eye(12)))
    ridges = np.concatenate([10 ** rng.uniform(-3.5, 0.5, 300), s * (1 + 1e-12), s * (1 - 1e-12)])
    for ridge, moved in zip(ridges, 1 / family.clear_of_singular(1 / ridges), strict=True):
        below, above = s[s <= ridge].max(initial=-np.inf), s[s >= ridge].min(initial=np.inf)
        near = min(ridge - below, above - ridge) < CLEARANCE * ridge and np.isfinite(above - below)
        assert moved == pytest.approx((below + above) / 2 if near else ridge, rel=1e-9)


def test_held_out_selection_gives_accurate_classifiers():
    moons, sides = make_moons(200, noise=0.2, random_state=0)
    search = GridSearchCV(AsymmetricLSSVC(np.logspace(-2, 3, 11), kernel=SNE()), {"kernel__bandwidth": [0.3, 0.6, 1.2]})
    assert search.fit(moons[:120], sides[:120]).score(moons[120:], sides[120:]) > 0.92
    iris, kinds = load_iris(return_X_y=True)
    model = AsymmetricLSSVC(np.logspace(-2, 3, 11), kernel=SNE()).fit(iris[::2], kinds[::2])
    assert model.score(iris[1::2], kinds[1::2]) > 0.9


@pytest.mark.parametrize("seed", range(3))
def test_a_stack_of_noise_does_not_look_better_than_it_is(seed):
    rng = np.random.default_rng(seed)
    points, new = rng.standard_normal((60, 5)), rng.standard_normal((500, 5))
    noise = AsymmetricLSSVC([0.1, 1.0, 10.0], kernel=SNE(1.0), merge="stack").fit(points, rng.integers(0, 6, 60))
    assert noise.held_out_score_ < 0.35  # chance is 1/6, with a deviation of 0.05
    numbers = AsymmetricLSSVR([0.1, 1.0, 10.0], kernel=SNE(1.0), merge="stack").fit(
        points, rng.standard_normal((60, 5))
    )
    assert numbers.score(new, rng.standard_normal((500, 5))) > -0.5
    assert (numbers.merger_[-1].coef_ >= 0).all()


def test_a_stack_is_not_judged_by_what_it_was_trained_on_where_folds_lack_a_class():
    """Labels at random, of which twenty occur once, so that no fold is left by samples of all classes."""
    rng = np.random.default_rng(0)
    y, points = np.append(np.arange(20), rng.integers(20, 30, 60)), rng.standard_normal((80, 5))
    folds = KFold(8, shuffle=True, random_state=0)
    model = AsymmetricLSSVC([1.0], kernel=SNE(1.0), merge="stack", cv=folds).fit(points, y)
    assert model.held_out_score_ < 0.2  # chance is 0.08
    assert not (model.held_out_predictions_[:20].argmax(axis=1) == y[:20]).any()


@pytest.mark.parametrize("settings", [{"merge": "stack"}, {"solver": "minres"}, {"damping": 0.1}], ids=str)
@either
def test_samples_in_order_are_held_out_as_in_disorder(estimator, settings, rng):
    points = np.sort(rng.uniform(0, 10, 150))
    y = np.sin(2 * points) + 0.1 * rng.standard_normal(150)
    y = y > 0 if estimator is AsymmetricLSSVC else y
    mixed = rng.permutation(150)
    model = estimator([3.0], kernel=SNE(0.5), **settings)
    one, other = (clone(model).fit(points[some, None], y[some]) for some in (np.arange(150), mixed))
    assert one.held_out_score_ == pytest.approx(other.held_out_score_, abs=0.05)


def test_a_stack_of_two_classes_is_held_out_without_one_of_them():
    """What nine samples of one class teach: the other has odds of one in ten."""
    y = np.append("rare", np.repeat("usual", 9))
    model = AsymmetricLSSVC([1.0], kernel="sne", merge="stack", cv=KFold(10)).fit(X[:10], y)
    assert model.held_out_predictions_[0] == pytest.approx(np.log(10))
    assert model.held_out_score_ == pytest.approx(0.9)


@either
@pytest.mark.parametrize("C", [2.0, [0.5, 2.0, 30.0]], ids=["one", "several"])
@pytest.mark.parametrize("solver", ["auto", "minres", "nystrom"])
def test_C_in_units_of_the_matrix_does_not_depend_on_the_size_of_kernel_values(C, solver, estimator):
    y = targets_of(estimator)
    values = []
    for factor in (1.0, 1e3, 1e-6):
        model = estimator(C, kernel=factor * RBF(2.0), scale_C=True, solver=solver, tol=1e-12).fit(X, y)
        values.append(model.source_decision_function(NEW))
    np.testing.assert_allclose(values[1:], [values[0]] * 2, rtol=1e-5)


@pytest.mark.parametrize("factor", [2.0**-12, 2.0**12])
@pytest.mark.parametrize("solver", [*SADDLE_SOLVERS, "damped"])
def test_automatic_candidates_are_in_inverse_proportion_to_the_kernel(solver, factor):
    K = SNE(1.0)(X, X)
    K = {"symmetric": K + K.T, "sparse_lu": sparse.csr_array(np.triu(K))}.get(solver, K)
    model = AsymmetricLSSVR(kernel="precomputed", **({"damping": 1.0} if solver == "damped" else {"solver": solver}))
    candidates, others = (model.fit(size * K, REAL).path_["C"] for size in (1.0, factor))
    np.testing.assert_allclose(factor * others, candidates, rtol=1e-9)


def test_the_unit_of_C_is_the_largest_singular_value():
    model = AsymmetricLSSVC(2.0, kernel=RBF(2.0), scale_C=True).fit(X, TWO)
    assert pytest.approx(2 / np.linalg.norm(centred(RBF(2.0)(X, X)), 2)) == model.C_


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.NearSingularWarning")  # it may be that too, by rounding
@pytest.mark.parametrize("C", [1e-7, 1e12])
def test_a_C_far_outside_the_useful_range_warns_with_the_range(C):
    with pytest.warns(LopsidedWarning, match="C=1e.* is far outside the useful range of this .* to .*scale_C"):
        AsymmetricLSSVC(C, kernel=RBF(2.0)).fit(X, TWO)
    with pytest.warns(LopsidedWarning, match="useful range.*use C='auto'$"):
        AsymmetricLSSVC(C, kernel=RBF(2.0), scale_C=True).fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AsymmetricLSSVC(1.0, kernel=RBF(2.0)).fit(X, TWO)


@pytest.mark.parametrize("merge", ["stack", "mean"])
def test_a_system_that_is_singular_without_some_samples_is_named(merge, rng):
    X = 1e8 * rng.random((13, 3))
    with pytest.raises(ValueError, match=r"the system is singular, up to rounding, at C=\[1e-08\]"):
        AsymmetricLSSVC([1e-8], kernel="polynomial", merge=merge).fit(X, np.arange(13) % 2)
