"""Laws of AsymmetricLSSVC and AsymmetricLSSVR: the functions, their merging, the choice of C, and bad input."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import NotFittedError
from sklearn.kernel_ridge import KernelRidge
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import log_loss
from sklearn.model_selection import GridSearchCV, KFold, ShuffleSplit, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import KERNELS, assert_close, centred, reference, solve_bordered
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided.exceptions import NearSingularWarning
from lopsided.kernels import RBF, SNE, Association, Linear, StudentT, as_kernel
from lopsided.kernels.base import Kernel
from lopsided.least_squares.saddle.spectral import Spectral
from lopsided.operators import Stored

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((30, 4)), RNG.standard_normal((7, 4))
TWO = np.where(X[:, 0] + 0.3 * RNG.standard_normal(30) > 0, "yes", "no")
BITS = np.unique(TWO, return_inverse=True)[1]
THREE = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7])
REAL = np.sin(X[:, 0]) + X[:, 1]
SAFE = 0.05
every_kernel = pytest.mark.parametrize("name", KERNELS)
either = pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])
quietly = pytest.mark.filterwarnings("ignore::lopsided.exceptions.NearSingularWarning")


def targets_of(estimator):
    return THREE if estimator is AsymmetricLSSVC else REAL


def signs(y):
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)


@quietly
@every_kernel
def test_the_functions_are_those_of_the_kernel_matrix_and_its_transpose(name):
    model = AsymmetricLSSVC(SAFE, kernel=KERNELS[name][0]).fit(X, THREE)
    a, c, b1, b2 = solve_bordered(reference(name, X, X), SAFE, signs(THREE))
    source, target = reference(name, NEW, X, X, X) @ c + b1, reference(name, X, NEW, X, X).T @ a + b2
    np.testing.assert_allclose(model.source_decision_function(NEW), source, rtol=0, atol=1e-8 * np.abs(source).max())
    np.testing.assert_allclose(model.target_decision_function(NEW), target, rtol=0, atol=1e-8 * np.abs(target).max())
    assert_close(model.decision_function(NEW), (source + target) / 2, ulps=1e8)


@quietly
@every_kernel
def test_exchanging_the_kernel_exchanges_source_and_target(name):
    kernel: Kernel = KERNELS[name][0]
    model = AsymmetricLSSVR(SAFE, kernel=kernel).fit(X, REAL)
    swapped = AsymmetricLSSVR(SAFE, kernel=kernel.T).fit(X, REAL)
    scale = np.abs(model.source_decision_function(NEW)).max()
    np.testing.assert_allclose(
        swapped.source_decision_function(NEW), model.target_decision_function(NEW), rtol=0, atol=1e-8 * scale
    )


@pytest.mark.parametrize("C", [0.1, 1.0, 30.0])
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "minres"])
def test_a_symmetric_kernel_gives_the_classical_machine(solver, C):
    """Kernel ridge regression of the centred targets on the centred kernel matrix, with an intercept."""
    model = AsymmetricLSSVR(C, kernel=RBF(2.0), solver=solver, tol=1e-13).fit(X, REAL)
    K, K_new = RBF(2.0)(X, X), RBF(2.0)(NEW, X)
    H = np.eye(30) - 1 / 30
    ridge = KernelRidge(alpha=1 / C, kernel="precomputed").fit(H @ K @ H, REAL - REAL.mean())
    expected = (K_new - K.mean(axis=0)) @ H @ ridge.dual_coef_ + REAL.mean()
    np.testing.assert_allclose(model.predict(NEW), expected, rtol=1e-9)
    np.testing.assert_allclose(model.source_decision_function(NEW), model.target_decision_function(NEW), rtol=1e-9)


@pytest.mark.parametrize("C", [1.0, [1.0, 3.0]], ids=["one_C", "two_C"])
@pytest.mark.parametrize(
    ("kernel", "make"),
    [(RBF(0.1), np.asarray), (RBF(0.1) + 0 * RBF(2.0), np.asarray), ("precomputed", sparse.csr_array)],
    ids=["rbf", "sum", "sparse_values"],
)
def test_a_symmetric_kernel_is_never_near_to_singular(kernel, make, C, rng):
    """K is nearly the identity and C = 1: the half of the system that K = K' leaves idle is singular, and idle."""
    far = 30 * rng.standard_normal((60, 4))
    points = make(np.eye(60) if kernel == "precomputed" else far)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model = AsymmetricLSSVC(C, kernel=kernel).fit(points, np.arange(60) % 2)
    source, target = model.source_decision_function(points), model.target_decision_function(points)
    np.testing.assert_array_equal(source, target)
    expected = (2 * (np.arange(60) % 2) - 1) * model.C_ / (1 + model.C_)  # of K = 1 and as many of either class
    np.testing.assert_allclose(source, expected, rtol=1e-9)


@pytest.mark.parametrize("kernel", ["linear", RBF(1.0), 2 * RBF(1.0) + Linear()], ids=repr)
def test_a_symmetric_kernel_of_sparse_points_gives_the_classical_machine(kernel, rng):
    """Also at a C that is 1 over a singular value, where the half of the system that K = K' leaves idle is singular."""
    points = rng.standard_normal((80, 60)) * (rng.random((80, 60)) < 0.02)
    y = np.arange(80) % 2
    K = as_kernel(kernel).fit(points, points)(points, points)
    s = np.linalg.svd(K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean(), compute_uv=False)
    for C in ("auto", 1 / s[3]):
        dense, given = (AsymmetricLSSVC(C, kernel=kernel).fit(X, y) for X in (points, sparse.csr_array(points)))
        assert dense.solver_.name == given.solver_.name == "symmetric"
        np.testing.assert_allclose(given.C_, dense.C_)
        np.testing.assert_allclose(given.decision_function(points), dense.decision_function(points), atol=1e-9)


@pytest.mark.parametrize("kernel", [SNE(), StudentT(), RBF(1.0)], ids=repr)
def test_every_solver_gives_the_same_decisions(kernel):
    expected = AsymmetricLSSVC(0.7, kernel=kernel).fit(X, THREE).decision_function(NEW)
    for solver in ("dense", "spectral", "minres"):
        model = AsymmetricLSSVC(0.7, kernel=kernel, solver=solver, tol=1e-13).fit(X, THREE)
        assert model.solver_[:2] == (solver, "asked for")
        np.testing.assert_allclose(model.decision_function(NEW), expected, rtol=0, atol=1e-10)


@either
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "minres"])
def test_the_best_of_several_C_is_the_fit_at_that_C(estimator, solver):
    grid, y = [0.01, 0.3, 2.0, 17.0], targets_of(estimator)
    model = estimator(grid, solver=solver, tol=1e-13).fit(X, y)
    alone = [estimator([C], solver=solver, tol=1e-13).fit(X, y) for C in grid]
    np.testing.assert_allclose(model.path_["score"], [one.loo_score_ for one in alone], rtol=1e-9)
    Y = signs(y) if estimator is AsymmetricLSSVC else y
    errors = [np.square(one.loo_predictions_ - Y).mean() for one in alone]
    np.testing.assert_allclose(model.path_["error"], errors, rtol=1e-9)
    np.testing.assert_array_equal(model.path_["C"], grid)
    best = int(np.argmin(errors))
    assert model.C_ == alone[best].C_
    assert model.loo_score_ == model.path_["score"][best]
    np.testing.assert_allclose(model.loo_predictions_, alone[best].loo_predictions_, rtol=1e-8)
    one_C = estimator(model.C_, solver="dense").fit(X, y)
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
        np.testing.assert_allclose(np.ravel(model.loo_predictions_[i]), expected, rtol=1e-9)
    points = estimator([0.7], merge=merge).fit(X, y)
    np.testing.assert_allclose(points.loo_predictions_, model.loo_predictions_, rtol=1e-9)


def test_folds_with_one_sample_each_are_leave_one_out():
    for solver in ("spectral", "minres"):
        exact = AsymmetricLSSVC([0.7], solver="spectral").fit(X, THREE)
        folds = AsymmetricLSSVC([0.7], solver=solver, cv=KFold(len(X)), tol=1e-13).fit(X, THREE)
        np.testing.assert_allclose(folds.loo_predictions_, exact.loo_predictions_, rtol=1e-8)


def test_minres_and_damping_hold_out_ten_folds():
    for parameters in ({"solver": "minres"}, {"damping": 1.0}):
        model = AsymmetricLSSVC([0.3, 0.7], **parameters).fit(X, TWO)
        folds = AsymmetricLSSVC([0.3, 0.7], cv=10, **parameters).fit(X, TWO)
        np.testing.assert_array_equal(model.loo_predictions_, folds.loo_predictions_)


def test_a_C_at_which_a_refit_is_singular_is_passed_over(rng):
    """Without the first sample the centred matrix has the singular value 1 = 1/C: held-out values mean nothing."""
    rest = centred(rng.standard_normal((29, 29)))
    U, s, Vt = np.linalg.svd(rest)
    K = rng.standard_normal((30, 30))
    K[1:, 1:] = (U * np.where(np.arange(29) == 3, 1.0, s)) @ Vt
    model = AsymmetricLSSVC([1.0, 0.01], kernel="precomputed").fit(K, TWO)
    assert model.path_["error"][0] > 1e10
    assert model.C_ == 0.01


def test_held_out_values_that_are_not_finite_are_passed_over(monkeypatch):
    exact = Spectral.leave_one_out
    spoiled = {1.0}

    def leave_one_out(self, grid, Y):
        found = exact(self, grid, Y)
        return ((np.nan * s, t) if C in spoiled else (s, t) for C, (s, t) in zip(grid, found, strict=True))

    monkeypatch.setattr(Spectral, "leave_one_out", leave_one_out)
    model = AsymmetricLSSVC([1.0, 0.3]).fit(X, TWO)
    assert (model.C_, model.path_["error"][0]) == (0.3, np.inf)
    spoiled.add(0.3)
    with pytest.raises(ValueError, match=r"singular, to rounding, at C=\[1.0, 0.3\]; add other values"):
        AsymmetricLSSVC([1.0, 0.3]).fit(X, TWO)


def test_nothing_is_held_out_unless_it_is_needed():
    model = AsymmetricLSSVC(0.7).fit(X, TWO)
    assert not hasattr(model, "loo_predictions_")
    assert not hasattr(model, "path_")
    several = AsymmetricLSSVC([0.7]).fit(X, TWO)
    assert several.solver_.name == "spectral"
    assert not hasattr(several.set_params(C=0.7).fit(X, TWO), "path_")
    assert model.solver_.name == "dense"
    assert "fits" in model.solver_.reason


def test_stacking_is_logistic_regression_on_held_out_values():
    model = AsymmetricLSSVC(0.7, merge="stack", cv=5).fit(X, THREE)
    held_out = [
        AsymmetricLSSVC([0.7], merge=side, cv=5).fit(X, THREE).loo_predictions_ for side in ("source", "target")
    ]
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000)).fit(np.hstack(held_out), THREE)
    features = np.hstack([model.source_decision_function(NEW), model.target_decision_function(NEW)])
    np.testing.assert_allclose(model.decision_function(NEW), logistic.decision_function(features), rtol=1e-6)
    np.testing.assert_allclose(model.predict_proba(NEW), logistic.predict_proba(features), rtol=1e-6)
    np.testing.assert_array_equal(model.predict(NEW), logistic.predict(features))


def test_stacking_learns_nothing_from_labels_that_mean_nothing(rng):
    """Leaving out one sample at a time would: the mean of the other labels tells which label is missing."""
    y = rng.permutation(np.repeat([0, 1], 100))
    points = rng.standard_normal((200, 4))
    for C in (0.001, 1.0):
        assert AsymmetricLSSVC(C, merge="stack").fit(points, y).loo_score_ < 0.65


def test_stacked_regression_weighs_the_functions():
    model = AsymmetricLSSVR(20.0, merge="stack").fit(X, REAL)
    features = np.column_stack([model.source_decision_function(NEW), model.target_decision_function(NEW)])
    np.testing.assert_allclose(model.predict(NEW), model.merger_.predict(features).ravel(), rtol=1e-12)
    assert model.loo_score_ > AsymmetricLSSVR([20.0]).fit(X, REAL).loo_score_


@pytest.mark.parametrize("merge", ["mean", "source", "target", "stack"])
@pytest.mark.parametrize("y", [TWO, THREE], ids=["two", "three"])
def test_probabilities_sum_to_one_and_rank_as_the_decisions_do(merge, y):
    model = AsymmetricLSSVC([0.7], merge=merge).fit(X, y)
    p = model.predict_proba(NEW)
    assert p.shape == (len(NEW), len(model.classes_))
    np.testing.assert_allclose(p.sum(axis=1), 1)
    np.testing.assert_array_equal(model.classes_[p.argmax(axis=1)], model.predict(NEW))


def test_probabilities_are_calibrated_on_held_out_predictions():
    """No other slope makes the held-out labels likelier."""
    model = AsymmetricLSSVC([0.7]).fit(X, THREE)

    def loss(slope):
        p = np.exp(slope * model.loo_predictions_)
        return log_loss(THREE, p / p.sum(axis=1, keepdims=True))

    best = loss(model.merger_)
    assert all(best <= loss(model.merger_ * factor) for factor in (0.5, 0.9, 1.1, 2.0))


def test_probabilities_without_held_out_predictions_say_what_to_do():
    model = AsymmetricLSSVC(0.7).fit(X, TWO)
    assert not hasattr(model, "predict_proba")
    with pytest.raises(AttributeError) as caught:
        model.predict_proba(NEW)
    assert "C='auto', or as a list" in str(caught.value.__cause__)


def associated(K, left, right):
    """What Association() makes of a table of weights, of new rows and of new columns."""
    K, left, right = (block**0.75 for block in (K, left, right))
    rows, columns = K.sum(axis=1), K.sum(axis=0)
    of_rows, of_columns = ((rows + rows.mean()) ** -0.5, (columns + columns.mean()) ** -0.25)
    of_left = (left.sum(axis=1) + rows.mean()) ** -0.5
    of_right = (right.sum(axis=1) + columns.mean()) ** -0.25
    return of_rows[:, None] * K * of_columns, of_left[:, None] * left * of_columns, of_right[:, None] * right * of_rows


def of_numbers(K, left, right):
    """The kernel function of samples that are known by number, new ones after those of fit."""
    whole = np.block([[K, right.T], [left, np.zeros((len(left), len(right)))]])
    return lambda i, j: whole[np.ix_(i[:, 0].astype(int), j[:, 0].astype(int))]


@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
@pytest.mark.parametrize("merge", ["mean", "source", "target", "stack"])
@pytest.mark.parametrize("kernel", ["precomputed", "association", Association()], ids=str)
def test_a_precomputed_kernel_takes_both_blocks(kernel, merge, make):
    sne = SNE().fit(X, X)
    values = tables = sne(X, X), sne(NEW, X), sne(X, NEW).T
    if kernel != "precomputed":
        values = associated(*tables)
    exact = AsymmetricLSSVC(0.7, kernel=of_numbers(*values), merge=merge).fit(np.arange(30.0)[:, None], THREE)
    expected = exact.decision_function(np.arange(30.0, 37.0)[:, None])
    K, left, right = map(make, tables)
    model = AsymmetricLSSVC(0.7, kernel=kernel, merge=merge).fit(K, THREE)
    assert model.__sklearn_tags__().input_tags.pairwise
    np.testing.assert_allclose(model.decision_function(left, Z=right), expected, rtol=1e-8)
    np.testing.assert_array_equal(model.predict(left, Z=right), THREE[:0].dtype.type(expected.argmax(axis=1)))
    if merge == "source":
        np.testing.assert_allclose(model.decision_function(left), expected, rtol=1e-8)
        assert cross_val_score(AsymmetricLSSVC(kernel=kernel, merge=merge), K, THREE, cv=3).mean() > 0.4
    else:
        with pytest.raises(ValueError, match=r"needs k\(training, new\) transposed, shape \(n_new, 30\), as Z"):
            model.predict(left)
    labels = model.predict(left, Z=right)
    assert model.score(left, labels, Z=right) == 1 > model.score(left, (labels + 1) % 3, Z=right)


@pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_one_block_of_a_symmetric_matrix_serves_as_both(estimator, kind):
    K, left = kind(RBF(2.0)(X, X)), kind(RBF(2.0)(NEW, X))
    model = estimator(kernel="precomputed").fit(K, BITS)
    np.testing.assert_array_equal(model.predict(left), model.predict(left, Z=left))
    assert model.score(left, model.predict(left)) == 1


@pytest.mark.parametrize(
    ("merge", "left", "right", "message"),
    [
        ("mean", np.ones((5, 30)), np.ones((30, 5)), r"Z has shape \(30, 5\), but it is k\(training, new\) transposed"),
        ("mean", np.ones((5, 30)), np.full((5, 30), np.nan), "Input Z contains NaN"),
        ("target", np.ones((2, 30)), np.ones((7, 30)), "X holds 2 new samples and Z 7"),
        ("target", np.ones((2, 29)), np.ones((2, 30)), "X has 29 features"),
        ("source", np.ones((2, 30)), np.ones((3, 1)), r"Z has shape \(3, 1\)"),
    ],
)
def test_both_blocks_are_checked_whichever_is_looked_at(merge, left, right, message):
    model = AsymmetricLSSVC(kernel="precomputed", merge=merge).fit(RBF(2.0)(X, X), TWO)
    with pytest.raises(ValueError, match=message):
        model.predict(left, Z=right)


def test_a_kernel_that_centring_removes_leaves_the_mean():
    K = np.outer(np.arange(30.0), np.ones(30))
    model = AsymmetricLSSVR(kernel="precomputed").fit(K, REAL)
    np.testing.assert_allclose(model.predict(K, Z=K.T), np.full(30, REAL.mean()))


@pytest.mark.parametrize("solver", ["auto", "dense", "minres"])
@pytest.mark.parametrize(
    ("unit", "message"),
    [(1e170, r"sum to .*e\+17.*scale the data down"), (1e-170, r"reach .*e-1\d\d only.*exceed 1e\+150; multiply")],
    ids=["large", "small"],
)
def test_kernel_values_whose_squares_are_no_numbers_are_to_be_scaled(unit, message, solver):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVC(kernel="precomputed", solver=solver).fit(unit * SNE()(X, X), TWO)


def test_sparse_points_give_the_decisions_of_dense_ones():
    S = np.where(np.abs(X) > 0.8, X, 0.0)
    for kernel in ("sne", "rbf", "student_t", "linear"):
        dense = AsymmetricLSSVC(0.05, kernel=kernel).fit(S, THREE).decision_function(NEW)
        given = AsymmetricLSSVC(0.05, kernel=kernel).fit(sparse.csr_array(S), THREE)
        np.testing.assert_allclose(given.decision_function(sparse.csr_array(NEW)), dense, rtol=1e-8)


def test_a_budget_too_small_for_the_matrix_is_kept():
    model = AsymmetricLSSVC([0.3, 0.7], memory_budget=1000, tol=1e-13).fit(X, THREE)
    assert model.solver_.name == "minres"
    assert "1000 bytes" in model.solver_.reason
    exact = AsymmetricLSSVC(model.C_).fit(X, THREE)
    np.testing.assert_allclose(model.decision_function(NEW), exact.decision_function(NEW), rtol=1e-8)


def test_several_targets_are_regressed_at_once():
    Y = np.column_stack([REAL, X[:, 2] ** 2])
    model = AsymmetricLSSVR(5.0).fit(X, Y)
    assert model.predict(NEW).shape == (7, 2)
    for j in range(2):
        np.testing.assert_allclose(model.predict(NEW)[:, j], AsymmetricLSSVR(5.0).fit(X, Y[:, j]).predict(NEW))
    assert AsymmetricLSSVR(5.0).fit(X, Y[:, :1]).predict(NEW).shape == (7, 1)


@pytest.mark.parametrize("merge", ["mean", "stack"])
def test_one_target_is_answered_in_the_shape_it_was_given_in(merge):
    model = AsymmetricLSSVR(C=[SAFE, 1.0], merge=merge)
    flat, column = [], []
    for y, found in ((REAL, flat), (REAL[:, None], column)):
        model.fit(X, y)
        found += [model.loo_predictions_, model.predict(NEW)]
        found += [model.source_decision_function(NEW), model.target_decision_function(NEW)]
    for one, other in zip(flat, column, strict=True):
        assert one.ndim == 1
        np.testing.assert_allclose(other, one[:, None])


def test_it_learns():
    moons, sides = make_moons(200, noise=0.2, random_state=0)
    search = GridSearchCV(AsymmetricLSSVC(np.logspace(-2, 3, 11), kernel=SNE()), {"kernel__bandwidth": [0.3, 0.6, 1.2]})
    assert search.fit(moons[:120], sides[:120]).score(moons[120:], sides[120:]) > 0.92
    iris, kinds = load_iris(return_X_y=True)
    model = AsymmetricLSSVC(np.logspace(-2, 3, 11), kernel=SNE()).fit(iris[::2], kinds[::2])
    assert model.score(iris[1::2], kinds[1::2]) > 0.9


@either
def test_a_fitted_machine_survives_pickling_and_leaves_its_input_alone(estimator):
    points, y = X.copy(), targets_of(estimator).copy()
    model = estimator([0.3, 0.7], merge="stack").fit(points, y)
    expected = model.predict(NEW)
    np.testing.assert_array_equal(pickle.loads(pickle.dumps(model)).predict(NEW), expected)
    np.testing.assert_array_equal(clone(model).fit(points, y).predict(NEW), expected)
    np.testing.assert_array_equal(points, X)
    np.testing.assert_array_equal(y, targets_of(estimator))


def test_threads_do_not_change_the_answer():
    one, two = (AsymmetricLSSVC(0.7, n_jobs=n_jobs).fit(X, THREE).decision_function(NEW) for n_jobs in (1, 2))
    np.testing.assert_allclose(one, two, rtol=1e-12)


@pytest.mark.parametrize("solver", ["dense", "spectral", "symmetric", "minres", Nystrom(15)])
@pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])
def test_the_C_that_is_found_takes_the_scale_of_the_kernel(estimator, solver):
    kernel = RBF(2.0) if solver == "symmetric" else SNE(2.0)
    fitted = [estimator(kernel=scale * kernel, solver=solver).fit(X, BITS) for scale in (1e-6, 1.0, 1e6)]
    small, one, large = (model.C_ for model in fitted)
    np.testing.assert_allclose([small, large], [1e6 * one, 1e-6 * one], rtol=1e-6)
    for model in fitted:
        np.testing.assert_allclose(model.loo_predictions_, fitted[1].loo_predictions_, rtol=1e-4, atol=1e-6)


@pytest.mark.parametrize("kernel", ["sne", "rbf"])
def test_of_many_samples_a_part_decides_on_C(kernel, monkeypatch):
    points, labels = load_iris(return_X_y=True)
    whole = AsymmetricLSSVC(kernel=kernel).fit(points, labels)
    monkeypatch.setattr("lopsided.least_squares.base.MODERATE", 100)
    monkeypatch.setattr("lopsided.least_squares.select_C.PART", 75)
    part = AsymmetricLSSVC(kernel=kernel).fit(points, labels)
    assert whole.loo_score_ > 0.95 and part.loo_score_ > 0.95
    assert (len(whole.path_["C"]), len(part.path_["C"])) == (13, 3)
    assert part.solver_.name == {"sne": "dense", "rbf": "symmetric"}[kernel]


def test_a_part_holds_every_class(monkeypatch):
    monkeypatch.setattr("lopsided.least_squares.base.MODERATE", 10)
    monkeypatch.setattr("lopsided.least_squares.select_C.PART", 15)
    rare = np.where(np.arange(30) < 2, "a", np.where(X[:, 0] > 0, "b", "c"))
    for merge in ("mean", "stack"):
        assert AsymmetricLSSVC(merge=merge, cv=KFold(5)).fit(X, rare).predict(NEW).shape == (7,)


@pytest.mark.parametrize("K", [np.ones((30, 30)), X[:, :1] - X[:, 0]], ids=["constant", "differences"])
def test_an_open_C_does_not_take_rounding_for_a_scale(K):
    assert AsymmetricLSSVC(kernel="precomputed", merge="source").fit(K, TWO).C_ < 1e6


def test_an_open_C_keeps_clear_of_singular_values():
    found = Spectral.of_matrix(Stored(SNE(2.0)(X, X)), np.inf)
    wanted = 1 / found.factors.s[3:9] * (1 + 1e-12)
    given = found.clear_of_singular(wanted)
    s = np.sort(found.factors.s)[::-1]
    np.testing.assert_allclose(1 / given, (s[3:9] + s[4:10]) / 2)
    np.testing.assert_allclose(found.clear_of_singular([0.1 / s[0]]), 0.1 / s[0])


@pytest.mark.parametrize("solver", ["auto", "dense", "spectral"])
def test_a_system_that_is_singular_many_times_over_is_blamed_on_C(solver):
    K = np.eye(40)[np.arange(40) ^ 1]
    with pytest.warns(NearSingularWarning, match="C=1 makes.*Any C below 1 "):
        model = AsymmetricLSSVC(1.0, kernel="precomputed", solver=solver).fit(K, np.arange(40) % 4 < 3)
    assert np.isfinite(model.left_duals_).all()


def test_a_C_that_makes_the_system_singular_is_named_and_a_safe_one_is_quiet():
    K = SNE(1.0)(X, X)
    H = np.eye(30) - 1 / 30
    s = np.linalg.svd(H @ K @ H, compute_uv=False)
    with pytest.warns(NearSingularWarning, match=f"singular value {s[4]:.6g} .*below {1 / s[0]:.6g} "):
        AsymmetricLSSVC(1 / s[4], kernel=SNE(1.0)).fit(X, TWO)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        AsymmetricLSSVC(0.99 / s[0], kernel=SNE(1.0)).fit(X, TWO)
        AsymmetricLSSVC([0.5, 1 / s[4]], kernel=SNE(1.0)).fit(X, TWO)


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"C": 0.0}, "C.*Got 0.0"),
        ({"C": -1.0}, "C.*Got -1.0"),
        ({"C": [1.0, -2.0]}, r"C=\[1.0, -2.0\] must be finite and above 0"),
        ({"C": [1.0, 0.0]}, "above 0"),
        ({"C": [np.inf]}, "finite"),
        ({"C": []}, r"C has shape \(0,\); give a number, or a list"),
        ({"C": [[1.0]]}, r"C has shape \(1, 1\)"),
        ({"C": None}, "C.*Got None"),
        ({"kernel": "gauss"}, "unknown kernel 'gauss'; did you mean 'gaussian'. The names are .*sne"),
        ({"kernel": "precomputed"}, r"square matrix at fit.*X has shape \(30, 4\)"),
        ({"merge": "vote"}, "merge.*Got 'vote'"),
        ({"solver": "magic"}, "solver.*Got 'magic'"),
        ({"solver": "sparse_lu"}, "sparse kernel matrix"),
        ({"solver": "symmetric"}, "differ by up to"),
        ({"damping": -1.0}, "damping.*Got -1.0"),
        ({"damping": 1.0, "solver": "spectral"}, "damping=1.0 takes"),
        ({"tol": -1.0}, "tol.*Got -1.0"),
        ({"cv": ShuffleSplit(3), "C": [1.0]}, "leave every sample out once"),
        (
            {"cv": [(np.arange(15), np.arange(15, 30)), (np.arange(15), np.arange(15))], "C": [1.0]},
            "leave every sample",
        ),
        ({"cv": 1, "C": [1.0]}, "cv.*Got 1"),
        ({"C": 1e-160}, r"C=1e-160 must lie between 1e-150 and 1e\+150"),
        ({"n_jobs": 0}, "n_jobs=0"),
        ({"memory_budget": "lots"}, "memory_budget='lots'"),
        ({"kernel": lambda X, Z: np.full((len(X), len(Z)), np.nan)}, "not finite"),
    ],
    ids=lambda value: None if isinstance(value, dict) else value[:12],
)
def test_parameters_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVC(**parameters).fit(X, TWO)


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(30, "yes"), "one class only, yes; .*at least two"),
        (np.where(np.arange(30) == 3, np.nan, 1.0), "y contains NaN"),
        (REAL, "Unknown label type"),
        (TWO[:29], "inconsistent numbers of samples"),
        (np.column_stack([TWO, TWO]), "1d array"),
    ],
    ids=["one_class", "nan", "real", "short", "two_columns"],
)
def test_labels_that_make_no_sense_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVC().fit(X, y)


@pytest.mark.filterwarnings("ignore:The number of unique classes")
def test_a_stack_needs_two_samples_of_some_class():
    with pytest.raises(ValueError, match="none of the 30 classes has two samples"):
        AsymmetricLSSVC(merge="stack").fit(X, np.arange(30))


@pytest.mark.parametrize(
    ("y", "message"),
    [
        (np.full(30, 2.5), "target 0 is 2.5 for all n_samples=30.*leave it out"),
        (np.column_stack([REAL, np.ones(30)]), "target 1 is 1 for all"),
        (np.where(np.arange(30) == 3, np.nan, REAL), "y contains NaN"),
        (np.where(np.arange(30) == 3, np.inf, REAL), "y contains infinity"),
        (1e160 * REAL, r"targets reach .*e\+160.*divide y by"),
        (1e-160 * REAL, "targets reach .*e-160.*divide y by"),
    ],
    ids=["constant", "one_constant", "nan", "infinity", "large", "small"],
)
def test_targets_that_make_no_sense_are_refused(y, message):
    with pytest.raises(ValueError, match=message):
        AsymmetricLSSVR().fit(X, y)


@either
def test_bad_points_are_refused_at_fit_and_at_prediction(estimator):
    spoiled = X.copy()
    spoiled[2, 1] = np.nan
    y = targets_of(estimator)
    with pytest.raises(ValueError, match="contains NaN"):
        estimator().fit(spoiled, y)
    with pytest.raises(NotFittedError):
        estimator().predict(X)
    model = estimator().fit(X, y)
    with pytest.raises(ValueError, match="contains NaN"):
        model.predict(spoiled)
    with pytest.raises(ValueError, match="X has 3 features.*expecting 4"):
        model.predict(X[:, :3])
    with pytest.raises(ValueError, match="Z is for kernel='precomputed'"):
        model.predict(X, Z=X)
    values = estimator(kernel="precomputed").fit(X @ X.T + X.sum(axis=1), y)
    with pytest.raises(ValueError, match="X holds 7 new samples and Z 6"):
        values.predict(NEW @ X.T, Z=NEW[1:] @ X.T)
    with pytest.raises(ValueError, match=r"Z has shape \(7, 4\), but it is .* \(n_new, 30\)"):
        values.predict(NEW @ X.T, Z=NEW)


@either
@pytest.mark.parametrize("strategy", ["uniform", "kmeans", "leverage", "pivoted"])
@pytest.mark.parametrize("C", [SAFE, [0.01, SAFE]])
def test_landmarks_of_a_kernel_of_low_rank_give_the_exact_machine(C, strategy, estimator):
    y = targets_of(estimator)
    exact = estimator(C, kernel="linear").fit(X, y)
    model = estimator(C, kernel="linear", solver=Nystrom(12, landmarks=strategy)).fit(X, y)
    assert model.solver_.name == "nystrom" and model.X_fit_.shape[0] <= 12
    assert model.C_ == exact.C_
    assert_close(model.source_decision_function(NEW), exact.source_decision_function(NEW), ulps=1e6)
    assert_close(model.target_decision_function(NEW), exact.target_decision_function(NEW), ulps=1e6)
    if np.ndim(C):
        assert_close(model.loo_predictions_, exact.loo_predictions_, ulps=1e6)


def test_landmarks_keep_source_and_target_apart_where_the_kernel_does():
    """Every sample a landmark on both sides, and the small half of the spectrum is rounding."""
    wide = RNG.standard_normal((60, 3))
    y = wide[:, 0] - wide[:, 1] ** 2
    exact = AsymmetricLSSVR(1.0, kernel=SNE(8.0)).fit(wide, y)
    model = AsymmetricLSSVR(1.0, kernel=SNE(8.0), solver=Nystrom(60)).fit(wide, y)
    assert np.abs(exact.source_decision_function(NEW[:, :3]) - exact.target_decision_function(NEW[:, :3])).max() > 1e-4
    assert_close(model.source_decision_function(NEW[:, :3]), exact.source_decision_function(NEW[:, :3]), ulps=1e7)
    assert_close(model.target_decision_function(NEW[:, :3]), exact.target_decision_function(NEW[:, :3]), ulps=1e7)


@pytest.mark.parametrize("solver", [Nystrom(landmarks=(range(9), range(9))), Nystrom(9, extension="plain")])
def test_landmarks_that_a_machine_cannot_use_are_refused(solver):
    with pytest.raises(ValueError, match="an LS-SVM needs a named strategy and extension='orthonormal'"):
        AsymmetricLSSVC(SAFE, solver=solver).fit(X, TWO)


def test_large_dense_data_take_landmarks_and_say_why(monkeypatch):
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", 100)
    monkeypatch.setattr("lopsided.least_squares.saddle.build.N_LANDMARKS", 20)
    model = AsymmetricLSSVC(SAFE, kernel="rbf", memory_budget="8.5MB").fit(np.repeat(X, 40, axis=0), np.repeat(TWO, 40))
    assert model.solver_.name == "nystrom" and "exceeds the budget" in model.solver_.reason


@pytest.mark.parametrize(("parameters", "data"), [({"damping": 1.0}, X), ({"kernel": "precomputed"}, X @ X.T)])
def test_landmarks_need_points_and_no_damping(parameters, data):
    with pytest.raises(ValueError, match="solver='nystrom' takes points and no damping"):
        AsymmetricLSSVC(SAFE, solver="nystrom", **parameters).fit(data, TWO)


@pytest.mark.parametrize("strategy", ["uniform", "kmeans", "leverage"])
def test_landmarks_leave_a_symmetric_kernel_symmetric(strategy):
    many = np.random.default_rng(1).standard_normal((200, 4))
    y = np.sin(many[:, 0]) + many[:, 1]
    model = AsymmetricLSSVR(100.0, kernel=RBF(3.0), solver=Nystrom(40, landmarks=strategy)).fit(many, y)
    assert_close(model.source_decision_function(NEW), model.target_decision_function(NEW), ulps=1e8)


@pytest.mark.parametrize("seed", range(3))
def test_stacks_promise_no_more_than_they_keep(seed):
    rng = np.random.default_rng(seed)
    points, new = rng.standard_normal((60, 5)), rng.standard_normal((500, 5))
    noise = AsymmetricLSSVC([0.1, 1.0, 10.0], kernel=SNE(1.0), merge="stack").fit(points, rng.integers(0, 6, 60))
    assert noise.loo_score_ < 0.35  # chance is 1/6, with a deviation of 0.05
    numbers = AsymmetricLSSVR([0.1, 1.0, 10.0], kernel=SNE(1.0), merge="stack").fit(
        points, rng.standard_normal((60, 5))
    )
    assert numbers.score(new, rng.standard_normal((500, 5))) > -1


@pytest.mark.parametrize("C", [1.0, 1e2, 1e4])
def test_landmarks_of_a_kernel_of_low_rank_keep_their_digits_at_large_C(C, rng):
    points = 1000 * rng.standard_normal((500, 3))
    y = points @ [1.0, 2.0, 3.0] + rng.standard_normal(500)
    model = AsymmetricLSSVR(C, kernel="linear", solver=Nystrom(50)).fit(points, y)
    assert np.abs(model.predict(points) - y).max() < 5
