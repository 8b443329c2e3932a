"""Least-squares machines on kernels that are constant, or nearly: every solver, one C, several, and C="auto"."""

import time
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from cases import centred, solve_bordered
from lopsided import AsymmetricLSSVC, AsymmetricLSSVR
from lopsided.exceptions import ConvergenceWarning, LopsidedWarning, NearSingularWarning
from lopsided.kernels import RBF

SOLVERS = ["auto", "dense", "spectral", "symmetric", "minres", "sparse_lu", "nystrom"]
GIVEN = {"one": 1.0, "several": [0.1, 1.0, 10.0], "auto": "auto"}
every_solver = pytest.mark.parametrize("solver", SOLVERS)
every_C = pytest.mark.parametrize("C", GIVEN.values(), ids=GIVEN)
RNG = np.random.default_rng(0)


def fitted(machine, X, y):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsidedWarning)
        return machine.fit(X, y)


def residual(model, K, y):
    """Of the saddle system at the model's C, relative to the targets."""
    a, c, C = model.left_duals_.ravel(), model.right_duals_.ravel(), model.C_
    parts = [
        a / C + K @ c + model.source_intercept_ - y,
        c / C + K.T @ a + model.target_intercept_ - y,
        [a.sum() / C, c.sum() / C],
    ]
    return max(np.abs(part).max() for part in parts) / np.abs(y).max()


def as_values(K, solver):
    return sparse.csr_array(K) if solver == "sparse_lu" else K


@every_solver
@every_C
@pytest.mark.parametrize("value", [1.0, 1 / 37, 1e6])
def test_a_constant_matrix_predicts_the_mean(value, C, solver):
    if solver == "nystrom":
        pytest.skip("landmarks take points")
    for n in (3, 37, 64, 101):
        K, y = np.full((n, n), value), np.arange(n) % 3 - 1.0
        model = fitted(AsymmetricLSSVR(C, kernel="precomputed", solver=solver), as_values(K, solver), y)
        assert 0 < model.C_ <= 1e6 * max(1, 1 / value)
        rounding = 100 * np.finfo(float).eps * n * max(1, model.C_ * value)
        assert residual(model, K, y) < rounding
        np.testing.assert_allclose(model.predict(as_values(K[:2], solver)), y.mean(), atol=rounding)


@pytest.mark.parametrize("kernel", ["rbf", "sne", RBF(1.0), "linear", "student_t", "polynomial"], ids=repr)
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "minres", "nystrom"])
@every_C
def test_identical_samples_predict_the_mean(kernel, C, solver):
    for n in (5, 37, 90):
        X, y = np.ones((n, 2)), np.arange(n) % 3 - 1.0
        try:
            model = fitted(AsymmetricLSSVR(C, kernel=kernel, solver=solver), X, y)
        except ValueError as error:
            assert solver == "nystrom" and "vanishes between" in str(error)
            continue
        assert 0 < model.C_ <= 1e6
        np.testing.assert_allclose(model.predict(X[:1]), y.mean(), atol=1e-8)


def test_identical_samples_predict_the_mean_at_odd_and_even_sizes():
    for n in (*range(3, 12), *range(13, 120, 9)):
        X, y = np.ones((n, 2)), np.arange(n) % 3 - 1.0
        model = fitted(AsymmetricLSSVR(), X, y)
        np.testing.assert_allclose(model.predict(X[:1]), y.mean(), atol=1e-8, err_msg=f"n = {n}")
        assert 0 < model.C_ <= 1e6


@every_C
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "minres"])
def test_identical_samples_of_two_classes_are_one_class(C, solver):
    for n in (12, 37, 90):
        X, y = np.ones((n, 2)), (np.arange(n) % 3 > 0).astype(int)
        model = fitted(AsymmetricLSSVC(C, solver=solver), X, y)
        assert 0 < model.C_ <= 1e6
        assert (model.predict(X) == 1).all()
        np.testing.assert_allclose(model.decision_function(X[:1]), (2 * y - 1).mean(), atol=1e-8)


@pytest.mark.parametrize("solver", ["auto", "minres"])
@pytest.mark.parametrize("of", [np.asarray, sparse.csr_array])
def test_a_silly_budget_does_not_slow_a_small_machine_down(solver, of):
    X, y = of(np.outer(RNG.standard_normal(34), RNG.standard_normal(5)) * 1e150), np.arange(34) % 2
    settings = {"kernel": "sne", "solver": solver, "tol": 1e-3}
    start = time.process_time()
    model = fitted(AsymmetricLSSVC([1e-30, 1e30], memory_budget=1, **settings), X, y)
    assert time.process_time() - start < 4  # of one thread; blocks took twenty
    ample = fitted(AsymmetricLSSVC([1e-30, 1e30], **settings), X, y)
    assert model.solver_.name == ample.solver_.name
    np.testing.assert_array_equal(model.left_duals_, ample.left_duals_)


@pytest.mark.parametrize("solver", ["auto", "minres"])
def test_no_budget_makes_a_moderate_machine_evaluate_its_kernel_at_every_step(solver):
    X, y, evaluated = RNG.standard_normal((330, 3)), np.arange(330) % 2, []

    def counted(X, Z):
        evaluated.append(len(X) * len(Z))
        return np.tanh(X @ Z.T + X[:, :1])

    fitted(AsymmetricLSSVC(10.0, kernel=counted, solver=solver, memory_budget=1), X, y)
    assert sum(evaluated) < 3 * 330**2  # values, training scores, and a look at the function


@pytest.mark.parametrize("bandwidth", [1e3, 1e5, 1e7, 1e8, 1e9])
@pytest.mark.parametrize("solver", ["auto", "dense", "spectral", "symmetric", "minres", "sparse_lu"])
@every_C
def test_the_system_of_a_nearly_constant_matrix_is_solved(bandwidth, C, solver):
    X = RNG.standard_normal((60, 3))
    K, y = np.exp(-cdist(X, X, "sqeuclidean") / bandwidth**2), np.sin(X[:, 0])
    K = (K + K.T) / 2
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = AsymmetricLSSVR(C, kernel="precomputed", solver=solver).fit(as_values(K, solver), y)
    told = any(issubclass(one.category, (ConvergenceWarning, NearSingularWarning)) for one in caught)
    rounding = 10 * np.finfo(float).eps * model.C_ * np.linalg.norm(K, 2)  # K c is only known to that
    assert told or residual(model, K, y) < max(1e-8, rounding)
    assert rounding < 1e-3
    assert np.abs(model.predict(as_values(K, solver))).max() < 10 * np.abs(y).max()


@pytest.mark.parametrize("distance", [1e-2, 1e-4, 1e-6, 1e-8, 1e-10, 1e-12])
@pytest.mark.parametrize("solver", ["dense", "spectral", "minres"])
def test_a_solution_near_a_singular_system_is_accurate_or_there_is_a_warning(distance, solver):
    for seed in range(3):
        rng = np.random.default_rng(seed)
        K, y = rng.standard_normal((50, 50)), rng.standard_normal(50)
        C = (1 + distance) / np.linalg.svd(centred(K), compute_uv=False)[7]
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model = AsymmetricLSSVR(C, kernel="precomputed", solver=solver).fit(K, y)
        told = any(issubclass(one.category, (ConvergenceWarning, NearSingularWarning)) for one in caught)
        a, c, *_ = solve_bordered(K, C, y[:, None])
        error = max(
            np.abs(found.ravel() - expected.ravel()).max()
            for found, expected in ((model.left_duals_, a), (model.right_duals_, c))
        )
        assert told or error < 1e-6 * np.abs(a).max()
