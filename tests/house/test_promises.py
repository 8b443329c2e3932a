"""Promises that hold across the library: memory, threads, types, randomness, and models that fail half-way."""

import tracemalloc

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone

from cases import ESTIMATORS, data_for, fitted
from lopsided import KernelSVD, Nystrom, PriorNystroem
from lopsided._core import threads as _parallel
from lopsided.kernels import (
    RBF,
    SNE,
    Exponential,
    Function,
    KullbackLeibler,
    Linear,
    LinearPolynomial,
    Precomputed,
    StudentT,
)


@pytest.mark.parametrize("kernel", [SNE(0.5), RBF(0.5), SNE(1.0) + Linear()], ids=repr)
@pytest.mark.parametrize("stretch", [1.0, 3.0, 6.0])
def test_sparse_points_that_all_oppose_each_other_keep_their_digits(kernel, stretch, rng):
    X, Z = np.abs(rng.standard_normal((100, 4))), -stretch * np.abs(rng.standard_normal((80, 4)))
    dense = KernelSVD(2, kernel=kernel).fit(X, Z=Z)
    thin = KernelSVD(2, kernel=kernel).fit(sparse.csr_array(X), Z=sparse.csr_array(Z))
    np.testing.assert_allclose(thin.singular_values_, dense.singular_values_, rtol=1e-9)


def test_rows_whose_sum_cancels_are_summed_again():
    X, Z = np.array([[20.0, 0.0]]), np.array([[-1.0, 0.0], [0.0, 6.2]])
    np.testing.assert_allclose(SNE(1.0)(sparse.csr_array(X), sparse.csr_array(Z)), SNE(1.0)(X, Z), rtol=1e-9)


def test_a_budget_below_the_matrix_binds_even_when_one_side_is_small(rng):
    X, Z = rng.random((50_000, 3)), rng.random((200, 3))
    tracemalloc.start()
    model = KernelSVD(2, memory_budget="1MB").fit(X, Z=Z)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert model.solver_.name == "krylov" and model.solver_.over_budget
    assert peak < 0.8 * X.shape[0] * Z.shape[0] * 8


@pytest.mark.parametrize("name", ["pca", "pinv"])
def test_a_compatibility_above_the_budget_is_refused_before_it_is_made(name):
    A = sparse.random_array((900, 1200), density=0.001, rng=1)
    with pytest.raises(ValueError, match=f"compatibility='{name}'.*bytes, above the budget of 1e[+]05; raise"):
        KernelSVD(compatibility=name, memory_budget=1e5).fit(A)


def test_one_job_opens_no_thread(monkeypatch, rng):
    def refuse(threads):
        raise AssertionError(f"opened {threads} threads")

    monkeypatch.setattr(_parallel, "_pool", refuse)
    X, Z = rng.random((3000, 60)), rng.random((1000, 60))
    KernelSVD(kernel="sne", n_jobs=1, memory_budget="1MB").fit(X, Z=Z).transform(X)


@pytest.mark.parametrize(
    "kernel", [StudentT(np.float64(0.5)), LinearPolynomial(np.float64(0.5)), np.float64(2.0) * RBF()], ids=repr
)
def test_parameters_from_a_grid_keep_float32(kernel, rng):
    X = rng.random((30, 3), dtype=np.float32)
    for points in (X, sparse.csr_array(X)):
        assert clone(kernel)(points, points).dtype == np.float32
        assert KernelSVD(kernel=kernel, compatibility=np.eye(3)).fit(points, Z=points).left_vectors_.dtype == np.float32


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if "random_state" in e.get_params()], ids=repr)
def test_without_a_random_state_answers_repeat_and_the_global_generator_is_left_alone(estimator):
    def arrays(model):
        return {name: value for name, value in vars(model).items() if isinstance(value, np.ndarray)}

    np.random.seed(0)
    expected = np.random.rand()
    np.random.seed(0)
    first = arrays(fitted(estimator))
    assert np.random.rand() == expected
    second = arrays(fitted(estimator))
    assert first.keys() == second.keys()
    for name, values in first.items():
        np.testing.assert_array_equal(values, second[name], err_msg=name)


def test_without_a_random_state_mixtures_are_compared_at_fixed_draws():
    kernel = KullbackLeibler(rate=1.0, distribution="mixture", random_state=None)
    one, other = [[1.0, 0.0, 1.0]], [[1.0, 1.0, 2.0]]
    np.testing.assert_array_equal(kernel(one, other), kernel(one, other))


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e.__sklearn_tags__().target_tags.required], ids=repr)
def test_sparse_targets_are_told_to_be_dense(estimator):
    X, y = data_for(estimator)
    with pytest.raises(TypeError, match=r"(?i)sparse.*\.toarray\(\)"):
        clone(estimator).fit(X, sparse.csr_array(y[:, None]))


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e.__sklearn_tags__().target_tags.required], ids=repr)
@pytest.mark.parametrize("container", [np.copy, pd.DataFrame, sparse.csr_array])
def test_predictions_do_not_change_with_the_arrays_of_fit(container, estimator):
    X, y = data_for(estimator)
    if container is sparse.csr_array and not estimator.__sklearn_tags__().input_tags.sparse:
        pytest.skip("takes dense arrays only")
    given, targets = container(X.copy()), y.copy()
    model = clone(estimator).fit(given, targets)
    before = model.predict(container(X))
    entries = given.iloc if container is pd.DataFrame else given.data if container is sparse.csr_array else given
    entries[:], targets[:] = 7.0, 0
    np.testing.assert_array_equal(model.predict(container(X)), before)


@pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
def test_masked_entries_are_not_read_as_data(estimator):
    X, y = data_for(estimator)
    masked = np.ma.masked_array(X, np.quantile(X, 0.99) <= X)
    with pytest.raises(ValueError, match="has [0-9]+ masked entr(y|ies); fill them"):
        clone(estimator).fit(masked, y)
    model = clone(estimator).fit(np.ma.masked_array(X), y)
    with pytest.raises(ValueError, match="has [0-9]+ masked entr(y|ies); fill them"):
        next(getattr(model, ask) for ask in ("predict", "transform", "recommend") if hasattr(model, ask))(masked)


@pytest.mark.parametrize("estimator", [e for e in ESTIMATORS if e.__sklearn_tags__().target_tags.required], ids=repr)
def test_masked_targets_are_not_read_as_data(estimator):
    X, y = data_for(estimator)
    with pytest.raises(ValueError, match="y has 1 masked entry; fill"):
        clone(estimator).fit(X, np.ma.masked_array(y, np.arange(len(y)) == 3))


@pytest.mark.parametrize(
    ("former", "latter"),
    [(one, other) for one in ESTIMATORS for other in ESTIMATORS if type(one) is type(other) and one is not other],
    ids=repr,
)
def test_a_refit_with_other_settings_leaves_no_attribute_of_the_former_fit(former, latter):
    def learned(model):
        return {name for name in vars(model) if name.endswith("_")}

    X, y = data_for(former)
    refitted = clone(former).fit(X, y).set_params(**clone(latter).get_params(deep=False)).fit(X, y)
    assert learned(refitted) == learned(fitted(latter))


def test_a_refit_that_fails_leaves_the_model_as_it_was(rng):
    model = KernelSVD().fit(rng.random((5, 5)))
    before = model.transform(np.eye(5))
    with pytest.raises(ValueError, match="bandwidth"):
        model.set_params(kernel=RBF(-1.0)).fit(rng.random((5, 5)))
    np.testing.assert_array_equal(model.transform(np.eye(5)), before)


@pytest.mark.parametrize("estimator", [each for each in ESTIMATORS if "kernel" in each.get_params()], ids=repr)
def test_a_fit_that_fails_stores_nothing(estimator, rng):
    model = fitted(estimator).set_params(kernel=RBF(-1.0))
    before = vars(model).copy()
    square = rng.random((40, 40))
    with pytest.raises(ValueError, match="bandwidth"):
        model.fit(square if model.__sklearn_tags__().input_tags.two_d_array else square > 0.5, np.arange(40) % 3)
    assert vars(model).keys() == before.keys()
    assert all(vars(model)[name] is value for name, value in before.items())


def test_a_solve_that_fails_leaves_the_model_as_it_was(rng):
    X, Z = pd.DataFrame(rng.random((6, 3)), columns=list("abc")), rng.random((5, 3))
    model = KernelSVD(center=True).fit(X, Z=Z)
    before = model.transform(X), model.transform_right(Z)
    with pytest.raises(ValueError, match="landmarks"):
        model.set_params(solver=Nystrom(9)).fit(X.to_numpy()[:, :2], Z=Z[:, :2])
    np.testing.assert_array_equal(model.transform(X), before[0])
    np.testing.assert_array_equal(model.transform_right(Z), before[1])
    assert list(model.feature_names_in_) == list("abc")


@pytest.mark.parametrize("kernel", [RBF(), SNE(), StudentT()], ids=repr)
@pytest.mark.parametrize("solver", ["lapack", Nystrom(30)])
def test_single_precision_points_are_embedded_in_the_precision_of_the_model(solver, kernel, rng):
    X, Z = rng.standard_normal((40, 3)).astype(np.float32), rng.standard_normal((30, 3))
    model = KernelSVD(kernel=kernel, solver=solver).fit(X, Z=Z)
    np.testing.assert_allclose(model.transform(X), model.left_vectors_ * model.singular_values_, atol=1e-12)
    turned = KernelSVD(kernel=kernel, solver=solver).fit(Z, Z=X)
    np.testing.assert_allclose(turned.transform_right(X), turned.right_vectors_ * turned.singular_values_, atol=1e-12)


def test_centring_is_remembered_from_fit(rng):
    A = rng.random((6, 6))
    model = KernelSVD(6, center=True).fit(A)
    model.set_params(center=False).fit(A)
    np.testing.assert_allclose(model.set_params(center=True).reconstruct(), RBF()(A, A.T), atol=1e-12)


def test_a_model_of_given_values_does_not_keep_them(rng):
    assert KernelSVD(kernel="precomputed").fit(rng.random((20, 20))).X_fit_.shape == (20, 1)


@pytest.mark.parametrize("combine", [lambda k: 2 * k, lambda k: k + Linear(), lambda k: RBF() * k])
def test_given_values_do_not_combine(combine):
    with pytest.raises(TypeError, match="combine or transpose the matrices instead"):
        combine(Precomputed())


@pytest.mark.filterwarnings("ignore:overflow:RuntimeWarning")
@pytest.mark.filterwarnings("ignore:invalid value:RuntimeWarning")
def test_new_points_that_overflow_are_refused():
    with pytest.raises(ValueError, match="not finite"):
        KernelSVD(kernel=Exponential()).fit(np.eye(5)).transform(1e3 * np.eye(5))
    with pytest.raises(ValueError, match="not finite.*callable, check what it returns"):
        KernelSVD(kernel=Function(lambda X, Z: np.full((len(X), len(Z)), np.nan))).fit(np.eye(5))


@pytest.mark.parametrize("A", [np.zeros((3, 5)), sparse.csr_array((30, 50))], ids=["dense", "sparse"])
@pytest.mark.parametrize("name", ["pca", "pinv"])
def test_a_matrix_of_zeros_is_compatible_with_itself(A, name):
    found = KernelSVD(compatibility=name).fit(A).transform(A)  # of a kernel matrix of ones
    np.testing.assert_allclose(found, np.tile([np.sqrt(A.shape[1]), 0], (A.shape[0], 1)), atol=1e-12)


@pytest.mark.parametrize("container", [np.copy, pd.DataFrame, sparse.csr_array])
@pytest.mark.parametrize(
    "estimator",
    [KernelSVD(), KernelSVD(solver=Nystrom(10)), PriorNystroem(10), PriorNystroem(10, kernel="sne")],
    ids=repr,
)
def test_answers_depend_on_values_and_not_on_which_object_holds_them(estimator, container, rng):
    points = rng.standard_normal((40, 3))
    X = container(points)
    one, other = clone(estimator).fit(X, Z=X), clone(estimator).fit(X, Z=container(points))
    for method in ("transform", "transform_right"):
        assert np.array_equal(getattr(one, method)(X), getattr(other, method)(X)), method
