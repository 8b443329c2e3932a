"""Learned compatibility: gradients, losses, and the estimators that minimise them."""

from functools import reduce

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.datasets import load_iris
from sklearn.linear_model import LinearRegression, LogisticRegression, Ridge
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from lopsided import KernelSVD, LearnedKernelSVDClassifier, LearnedKernelSVDRegressor
from lopsided.exceptions import ConvergenceWarning
from lopsided.kernel_svd.compatibility.alternate import Solved, refit
from lopsided.kernel_svd.compatibility.descent import LBFGS, Adam, Parameters, Problem
from lopsided.kernel_svd.compatibility.losses import CrossEntropy, Squared
from lopsided.kernel_svd.compatibility.samples import Samples
from lopsided.kernels import RBF, SNE, TL1, Attention, Exponential, Linear, LinearPolynomial, Polynomial, Tanh

KERNELS = [
    Linear(),
    Polynomial(3),
    LinearPolynomial(0.4, 3),
    Tanh(0.7, 0.2),
    Exponential(-0.5),
    RBF(1.3),
    SNE(1.3),
    Attention(1.3),
    RBF(),
    -2.5 * RBF(1.3),
    SNE(1.3) + Polynomial(3),
    RBF() * Tanh(0.7, 0.2),
    2 * (SNE() + 0.5 * Exponential(-0.5) * Linear()),
]
LOSSES = [Squared(), CrossEntropy()]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
every_loss = pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: type(loss).__name__)
every_optimizer = pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])


def slope_by_differences(function, at, step=1e-6):
    """Central differences of a function of an array."""
    found = np.empty_like(at)
    for index in np.ndindex(*at.shape):
        ahead, behind = at.copy(), at.copy()
        ahead[index] += step
        behind[index] -= step
        found[index] = (function(ahead) - function(behind)) / (2 * step)
    return found


def targets(loss, n, rng):
    return rng.standard_normal((n, 2)) if isinstance(loss, Squared) else np.eye(3)[rng.integers(0, 3, n)]


@every_kernel
def test_pull_backs_are_derivatives(kernel, rng):
    X, Z, W = rng.standard_normal((7, 3)), rng.standard_normal((4, 3)), rng.standard_normal((7, 4))
    kernel.fit(X, Z)
    K, pull_back = kernel.differentiate(X, Z)
    np.testing.assert_allclose(K, kernel(X, Z), rtol=1e-12)
    expected = slope_by_differences(lambda moved: float(np.sum(W * kernel.differentiate(X, moved)[0])), Z)
    np.testing.assert_allclose(pull_back(W), expected, atol=1e-7 * np.abs(expected).max())


def test_kernels_without_a_derivative_say_which_have_one(rng):
    having = {type(kernel).__name__ for kernel in KERNELS} - {"Scaled", "Sum", "Product"}
    for kernel in (TL1(), TL1() + RBF(), RBF() * TL1(), 2 * TL1()):
        with pytest.raises(TypeError, match=r"^TL1\(\) has no derivative; .* do, and sums") as refusal:
            LearnedKernelSVDRegressor(kernel=kernel).fit(rng.standard_normal((20, 3)), rng.standard_normal(20))
        listed = str(refusal.value).split("; ")[1].split(" do, ")[0]
        assert set(listed.split(", ")) == having
    assert f"(pull-back): {listed}, and sums" in " ".join(LearnedKernelSVDClassifier.__doc__.split())
    with pytest.raises(ValueError, match="'kernel' parameter of LearnedKernelSVDRegressor"):
        LearnedKernelSVDRegressor(kernel=np.dot).fit(rng.standard_normal((20, 3)), rng.standard_normal(20))


@every_loss
def test_gradients_of_losses_are_derivatives(loss, rng):
    Y = targets(loss, 6, rng)
    S = rng.standard_normal(Y.shape)
    expected = slope_by_differences(lambda moved: loss.value(moved, Y), S)
    np.testing.assert_allclose(loss.gradient(S, Y), expected, atol=1e-8)


def test_heads_are_those_of_scikit_learn(rng):
    F, alpha = rng.standard_normal((50, 3)), 0.1
    y = rng.standard_normal(50)
    weights, bias = Squared().head(F, y[:, None], alpha)
    ridge = Ridge(alpha=alpha * 50).fit(F, y)
    np.testing.assert_allclose(weights[:, 0], ridge.coef_, rtol=1e-10)
    np.testing.assert_allclose(bias[0], ridge.intercept_, rtol=1e-10)
    labels = rng.integers(0, 3, 50)
    weights, bias = CrossEntropy().head(F, np.eye(3)[labels], alpha)
    logistic = LogisticRegression(C=1 / (alpha * 50), tol=1e-10, max_iter=1000).fit(F, labels)
    probabilities = np.exp(F @ weights + bias)
    probabilities /= probabilities.sum(axis=1)[:, None]
    np.testing.assert_allclose(probabilities, logistic.predict_proba(F), atol=1e-4)


@every_loss
@pytest.mark.parametrize("kernel", [RBF(1.5), SNE(1.5), Polynomial(2)], ids=repr)
def test_the_slope_of_a_problem_is_its_derivative(kernel, loss, rng):
    X = rng.standard_normal((12, 3)) @ np.diag([1, 1, 0])  # of rank two
    Y = targets(loss, 12, rng)
    basis = np.eye(3)[:, :2]
    now = Parameters(rng.standard_normal((2, 3)), rng.standard_normal((2, Y.shape[1])), rng.standard_normal(Y.shape[1]))
    problem, data = Problem(kernel.fit(X, basis @ now.Q), basis, loss, 2, 0.3), Samples.every(X, Y)
    projection = problem.projection(data, basis @ now.Q)
    gradient = problem.slope(now, projection, data)[1]
    expected = slope_by_differences(lambda flat: problem.slope(now.like(flat), projection, data)[0], now.flat())
    np.testing.assert_allclose(gradient.flat(), expected, atol=1e-6 * np.abs(expected).max())


def test_features_are_those_of_kernel_svd_at_the_learned_compatibility(rng):
    X = rng.standard_normal((60, 4))
    model = LearnedKernelSVDRegressor(3, kernel=RBF(2.0)).fit(X, np.sin(X[:, 0]))
    np.testing.assert_allclose(model.compatibility_.right(X.T), model.points_, atol=1e-8)
    C = reduce(np.matmul, model.compatibility_.right_factors)
    svd = KernelSVD(3, kernel=RBF(2.0), compatibility=C).fit(X)
    np.testing.assert_allclose(svd.singular_values_, model.singular_values_, rtol=1e-7)
    np.testing.assert_allclose(np.abs(svd.transform(X)), np.abs(model.transform(X)), atol=1e-6)


def test_bandwidths_inferred_inside_a_kernel_are_those_it_was_learned_with(rng):
    X = rng.standard_normal((60, 4))
    plain, scaled, added = (
        LearnedKernelSVDRegressor(3, kernel=kernel, max_iter=5).fit(X, np.sin(X[:, 0]))
        for kernel in (RBF(), 1 * RBF(), RBF() + 0 * Linear())
    )
    assert scaled.kernel_.kernel_.bandwidth_ == added.kernel_.first_.bandwidth_ == plain.kernel_.bandwidth_
    for model in (scaled, added):
        np.testing.assert_allclose(model.predict(X), plain.predict(X), rtol=1e-6)


@pytest.mark.parametrize("kernel", ["rbf", "sne", "linear", "polynomial"])
def test_points_of_a_low_rank_table_lie_in_its_row_space(kernel, rng):
    X = rng.standard_normal((50, 2)) @ rng.standard_normal((2, 5))
    X[:, 3] = 0.0
    model = LearnedKernelSVDRegressor(2, kernel=kernel).fit(X, X[:, 0])
    np.testing.assert_allclose(model.compatibility_.right(X.T), model.points_, atol=1e-8 * np.abs(model.points_).max())
    np.testing.assert_allclose(model.points_[3], 0, atol=1e-12)


@every_optimizer
def test_learning_makes_the_loss_smaller(optimizer, rng):
    X = rng.standard_normal((300, 5))
    model = LearnedKernelSVDRegressor(optimizer=optimizer, kernel="sne", batch_size=20, max_iter=60).fit(
        X, X[:, 0] * X[:, 1]
    )
    losses = [(step.held_out, step.loss) for step in model.curve_]
    assert model.optimizer_ == optimizer
    assert min(losses)[0] < 0.5 * losses[0][0]
    assert len(model.curve_) == model.n_iter_ + 1


@pytest.mark.parametrize("kernel", ["rbf", "polynomial"])
def test_classes_that_no_line_separates_are_learned(kernel, rng):
    X = rng.standard_normal((500, 3))
    y = np.sum(X**2, axis=1) > 2.4
    model = LearnedKernelSVDClassifier(kernel=kernel).fit(X[:350], y[:350])
    assert model.score(X[350:], y[350:]) > 0.9
    assert LogisticRegression().fit(X[:350], y[:350]).score(X[350:], y[350:]) < 0.7


def test_string_labels_and_their_probabilities_agree():
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])[y]
    model = make_pipeline(StandardScaler(), LearnedKernelSVDClassifier()).fit(X, names)
    probabilities = model.predict_proba(X)
    np.testing.assert_allclose(probabilities.sum(axis=1), 1)
    assert (model.classes_[probabilities.argmax(axis=1)] == model.predict(X)).all()
    assert model.score(X, names) > 0.95


@every_optimizer
def test_a_generator_gives_one_seed_and_a_seed_repeats_its_answer(optimizer, rng):
    X, y = rng.standard_normal((80, 3)), rng.integers(0, 2, 80)
    given, twin = np.random.RandomState(3), np.random.RandomState(3)
    model = LearnedKernelSVDClassifier(optimizer=optimizer, max_iter=5, random_state=given).fit(X, y)
    twin.randint(2**31)
    assert given.randint(2**31) == twin.randint(2**31)
    np.testing.assert_array_equal(model.points_, clone(model).set_params(random_state=3).fit(X, y).points_)


def test_rounds_that_diverge_are_undone_with_a_warning(rng):
    X, y = rng.standard_normal((100, 3)), rng.standard_normal(100)
    with pytest.warns(ConvergenceWarning, match=r"rounds diverged.*lower learning_rate"):
        model = LearnedKernelSVDRegressor(
            kernel=Polynomial(8), optimizer="adam", learning_rate=1e60, n_iter_no_change=3, max_iter=8
        ).fit(X, y)
    assert np.isfinite(model.predict(X)).all()


def test_a_mistake_in_a_round_is_not_taken_for_divergence(rng, monkeypatch):
    heads = iter([Squared().head])
    monkeypatch.setattr(Squared, "head", lambda self, *given: next(heads, mistaken)(*given))
    with pytest.raises(ValueError, match="a mistake"):
        LearnedKernelSVDRegressor(max_iter=3).fit(rng.standard_normal((50, 3)), rng.standard_normal(50))


def mistaken(*_):
    raise ValueError("a mistake")


def test_progress_is_written_when_asked(rng, capfd):
    X, y = rng.standard_normal((50, 3)), rng.standard_normal(50)
    LearnedKernelSVDRegressor(verbose=True, max_iter=3).fit(X, y)
    assert capfd.readouterr().err.count("held out") == 4
    LearnedKernelSVDRegressor(max_iter=3).fit(X, y)
    assert not capfd.readouterr().err


@pytest.mark.parametrize(("n_classes", "rows"), [(2, 1), (3, 3)])
def test_the_head_of_a_classifier_has_the_shapes_of_scikit_learn(n_classes, rows, rng):
    X, y = rng.standard_normal((60, 4)), np.arange(60) % n_classes
    model = LearnedKernelSVDClassifier(2, max_iter=3).fit(X, y)
    assert model.coef_.shape == (rows, 2) and model.intercept_.shape == (rows,)
    decisions = model.decision_function(X)
    np.testing.assert_allclose(model.transform(X) @ model.coef_.T + model.intercept_, decisions.reshape(60, -1))
    probabilities = model.predict_proba(X)
    odds = np.log(probabilities[:, 1] / probabilities[:, 0])
    np.testing.assert_allclose(odds, decisions if n_classes == 2 else decisions[:, 1] - decisions[:, 0], atol=1e-12)
    np.testing.assert_array_equal(model.predict(X), probabilities.argmax(axis=1))


@pytest.mark.parametrize("shape", [(60,), (60, 1), (60, 2)])
def test_the_head_of_a_regressor_has_the_shapes_of_scikit_learn(shape, rng):
    X, y = rng.standard_normal((60, 4)), 5 + 3 * rng.standard_normal(shape)
    model, peer = LearnedKernelSVDRegressor(2, max_iter=3).fit(X, y), LinearRegression().fit(X[:, :2], y)
    assert model.coef_.shape == peer.coef_.shape and np.shape(model.intercept_) == np.shape(peer.intercept_)
    assert model.predict(X).shape == shape
    np.testing.assert_allclose(model.predict(X), model.transform(X) @ model.coef_.T + model.intercept_)


def test_several_targets_and_a_constant_one(rng):
    X = rng.standard_normal((60, 3))
    Y = np.column_stack([X[:, 0], np.full(60, 7.0)])
    predicted = LearnedKernelSVDRegressor().fit(X, Y).predict(X)
    assert predicted.shape == Y.shape
    np.testing.assert_allclose(predicted[:, 1], 7)


def test_a_search_reaches_compatibility_and_bandwidth(rng):
    X = rng.standard_normal((40, 3))
    y = X[:, 0] > 0
    pipeline = make_pipeline(KernelSVD(2, kernel="rbf"), LogisticRegression())
    grid = {
        "kernelsvd__compatibility": ["pinv", "pca", "random"],
        "kernelsvd__kernel": [RBF(1.0), RBF(4.0), SNE(2.0)],
    }
    search = GridSearchCV(pipeline, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.5
    learned = GridSearchCV(
        LearnedKernelSVDClassifier(kernel=RBF(), max_iter=5), {"kernel__bandwidth": [1.0, 4.0]}, cv=3
    )
    best = learned.fit(X, y).best_estimator_
    assert best.kernel_.bandwidth_ == learned.best_params_["kernel__bandwidth"]
    assert len(set(learned.cv_results_["mean_test_score"])) == 2


def test_one_class_is_refused():
    with pytest.raises(ValueError, match=r"y holds one class only, 1.0; .*at least two classes"):
        LearnedKernelSVDClassifier(2).fit(np.ones((10, 3)), np.ones(10))


def test_more_components_than_columns_are_refused():
    with pytest.raises(ValueError, match="n_components=4 exceeds the 3 columns"):
        LearnedKernelSVDClassifier(4).fit(np.ones((10, 3)), np.arange(10) % 2)


def test_a_constant_table_gives_the_share_of_each_class_and_the_mean():
    y = (np.arange(50) % 3 == 0).astype(int)
    for X in (np.ones((50, 3)), np.zeros((50, 3))):
        classifier = LearnedKernelSVDClassifier().fit(X, y)
        np.testing.assert_allclose(classifier.predict_proba(X)[:, 1], y.mean(), atol=1e-4)
        assert not classifier.predict(X).any()
        np.testing.assert_allclose(LearnedKernelSVDRegressor().fit(X, y).predict(X), y.mean(), atol=1e-12)


def test_more_classes_than_samples_held_out_are_learned(rng):
    y = np.arange(60) % 20
    X = 3 * rng.standard_normal((20, 4))[y] + 0.1 * rng.standard_normal((60, 4))
    model = LearnedKernelSVDClassifier(max_iter=2).fit(X, y)
    assert model.predict_proba(X).shape == (60, 20)
    assert model.score(X, y) > 0.9


def test_vectors_that_all_rows_would_reorder_are_kept_as_learned():
    rng = np.random.default_rng(0)
    X, Y = rng.standard_normal((50, 4)), rng.standard_normal((50, 1))
    problem = Problem(Linear().fit(X, np.eye(4)), np.eye(4), Squared(), 1, 1e-3)
    Z = np.diag([1.0, 1.0, 0.1, 0.1])
    wanted = np.eye(4)[:, [2]] * 10  # a direction that is never the leading one
    Y = X[:, [2]]
    found = Solved(Parameters(Z, np.ones((1, 1)), np.zeros(1)), wanted, 0.0)
    data = Samples.every(X, Y)
    np.testing.assert_array_equal(refit(problem, found, data).projection, wanted)
    leading = problem.projection(data, Z)
    again = refit(problem, found._replace(projection=-leading), data)
    np.testing.assert_allclose(again.projection, leading)


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam"])
def test_the_unit_of_the_data_does_not_matter(optimizer):
    X, y = load_iris(return_X_y=True)
    X = (X - X.mean(axis=0)) / X.std(axis=0)
    scores = [
        LearnedKernelSVDClassifier(optimizer=optimizer).fit(unit * X, y).score(unit * X, y) for unit in (1e-3, 1, 1e5)
    ]
    assert min(scores) > 0.95


@pytest.mark.parametrize("kernel", [RBF(2.0), SNE(2.0)])
def test_pull_backs_keep_their_digits_far_from_the_origin(kernel):
    rng = np.random.default_rng(0)
    X, Z, W = rng.standard_normal((9, 3)), rng.standard_normal((5, 3)), rng.standard_normal((9, 5))
    X, Z = (np.round(side * 256) / 256 for side in (X, Z))
    expected = kernel.fit(X, Z).differentiate(X, Z)[1](W)
    far = [(side + 4096).astype(np.float32) for side in (X, Z)]
    found = kernel.fit(*far).differentiate(*far)[1](W.astype(np.float32))
    np.testing.assert_allclose(found, expected, atol=1e-5)


def test_every_target_and_all_but_one_class_have_a_component(rng):
    X = rng.standard_normal((60, 8))
    assert LearnedKernelSVDRegressor(max_iter=2).fit(X, X[:, :6]).right_vectors_.shape == (8, 6)
    assert LearnedKernelSVDClassifier(max_iter=2).fit(X, np.arange(60) % 6).right_vectors_.shape == (8, 5)


def test_a_slower_optimiser_takes_shorter_steps():
    problem = Problem(RBF(1.0), np.eye(3), Squared(), 2, 0.1)
    assert LBFGS(problem, 2.0).slower().unit == 1.0
    assert Adam(problem, 10, 0.5, np.random.default_rng(0)).slower().rate == 0.25


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("estimator", [LearnedKernelSVDRegressor, LearnedKernelSVDClassifier])
def test_precision_is_kept(estimator, dtype, rng):
    X = rng.standard_normal((60, 3)).astype(dtype)
    model = estimator(2).fit(X, X[:, 0] > 0)
    assert {array.dtype for array in (model.transform(X), model.points_, model.right_vectors_)} == {np.dtype(dtype)}


@pytest.mark.parametrize(("unit", "dtype"), [(1e-120, float), (1e-80, float), (1e80, float), (1e10, "f"), (1e-10, "f")])
def test_kernel_values_may_have_any_size(unit, dtype, rng):
    X = rng.standard_normal((60, 3))
    model = LearnedKernelSVDRegressor(3, kernel="linear").fit((unit * X).astype(dtype), X[:, 0])
    assert model.score((unit * X).astype(dtype), X[:, 0]) > 0.99
