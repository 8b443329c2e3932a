"""Learned compatibility on sparse tables, in a budget and on threads: the way may differ, and not the answer."""

import threading
from functools import reduce

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from lopsided import LearnedKernelSVDClassifier, LearnedKernelSVDRegressor
from lopsided.kernel_svd.compatibility.axes import row_space
from lopsided.kernel_svd.compatibility.descent import Parameters, Problem, choose_optimizer
from lopsided.kernel_svd.compatibility.losses import CrossEntropy, Squared
from lopsided.kernel_svd.compatibility.samples import Samples
from lopsided.kernels import RBF, SNE, Attention, Exponential, Linear, Polynomial, Standardised

KERNELS = [
    Linear(),
    Polynomial(2),
    Exponential(0.5),
    RBF(),
    RBF(2.0),
    SNE(),
    Attention(),
    SNE() + 0.5 * RBF() * Linear(),
    Standardised(RBF()),
]
every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=repr)
every_estimator = pytest.mark.parametrize(
    "model",
    [
        LearnedKernelSVDClassifier(max_iter=2),
        LearnedKernelSVDClassifier(max_iter=2, optimizer="adam", batch_size=16),
        LearnedKernelSVDRegressor(max_iter=2),
    ],
    ids=repr,
)


def table(rng, n=90, p=12, density=0.3):
    X = sparse.random_array((n, p), density=density, rng=rng, format="csr")
    return X, (np.asarray(X.sum(axis=1)).ravel() > density * p / 2).astype(int)


@every_kernel
@every_estimator
def test_sparse_tables_have_the_answers_of_dense_ones(model, kernel, rng):
    X, y = table(rng)
    model = clone(model).set_params(kernel=kernel)
    of_sparse, of_dense = clone(model).fit(X, y), clone(model).fit(X.toarray(), y)
    np.testing.assert_allclose(of_sparse.points_, of_dense.points_, atol=1e-6 * np.abs(of_dense.points_).max())
    np.testing.assert_allclose(of_sparse.predict(X), of_dense.predict(X.toarray()), atol=1e-6)
    for container in (sparse.csc_matrix, sparse.coo_array):
        np.testing.assert_allclose(of_sparse.predict(container(X)), of_sparse.predict(X.toarray()), rtol=1e-9)


@every_estimator
@pytest.mark.parametrize("dtype", [float, np.float32])
def test_the_compatibility_of_a_sparse_table_gives_its_points(model, dtype, rng):
    X, y = table(rng)
    model = clone(model).fit(X.astype(dtype), y)
    atol = np.finfo(dtype).eps ** 0.5 * np.abs(model.points_).max()
    np.testing.assert_allclose(model.compatibility_.right(X.T.toarray()), model.points_, atol=atol)


def test_a_change_of_the_table_after_the_fit_changes_no_answer(rng):
    X, y = table(rng)
    model = LearnedKernelSVDRegressor(max_iter=2).fit(X, y)
    columns = X.T.toarray()
    expected = model.compatibility_.right(columns)
    X.data[:] = 7
    np.testing.assert_array_equal(model.compatibility_.right(columns), expected)


@every_kernel
@every_estimator
def test_a_small_budget_changes_the_way_and_not_the_answer(model, kernel, rng):
    X = rng.standard_normal((3000, 6))
    y = X[:, 0] * X[:, 1] > 0
    model = clone(model).set_params(kernel=kernel, batch_size=900)
    free, bound = clone(model).fit(X, y), clone(model).set_params(memory_budget=1000).fit(X, y)
    assert free.optimizer_ == bound.optimizer_
    np.testing.assert_allclose(bound.points_, free.points_, atol=1e-4 * np.abs(free.points_).max())
    np.testing.assert_allclose(bound.transform(X), free.transform(X), atol=1e-4 * np.abs(free.transform(X)).max())


@every_estimator
def test_threads_do_not_change_a_bit(model, rng):
    X = rng.standard_normal((40_000, 4))
    y = X[:, 0] * X[:, 1] > 0
    model = clone(model).set_params(batch_size=30_000)
    one, several = clone(model).set_params(n_jobs=1).fit(X, y), clone(model).set_params(n_jobs=3).fit(X, y)
    for name in ("points_", "right_vectors_", "singular_values_", "coef_"):
        np.testing.assert_array_equal(getattr(one, name), getattr(several, name))


class Watched(RBF):
    """Notes who asks for slopes, and of how many points at once."""

    def __init__(self, bandwidth=2.0):
        super().__init__(bandwidth)
        self.seen = []

    def __sklearn_clone__(self):
        return self

    def differentiate(self, X, Z):
        self.seen.append((threading.get_ident(), len(X)))
        return super().differentiate(X, Z)


@every_estimator
def test_one_job_works_on_the_thread_of_the_caller_and_a_small_budget_on_fewer_rows(model, rng):
    X = rng.standard_normal((40_000, 6))
    kernels = []
    for resources in ({"n_jobs": 1}, {"n_jobs": 4}, {"n_jobs": 4, "memory_budget": 1000}):
        kernels.append(Watched())
        clone(model).set_params(kernel=kernels[-1], batch_size=30_000, **resources).fit(X, X[:, 0] > 0)
    alone, together, bound = ({thread for thread, _ in kernel.seen} for kernel in kernels)
    assert alone == {threading.get_ident()}
    assert len(together) > 1 and len(bound) > 1
    most = [max(rows for _, rows in kernel.seen) for kernel in kernels]
    assert most[0] == most[1] > 4 * most[2]


@pytest.mark.parametrize("kernel", [RBF(2.0), SNE(2.0), Polynomial(3)], ids=repr)
@pytest.mark.parametrize("unit", [1e-60, 1.0, 1e60])
def test_right_vectors_from_blocks_are_those_of_the_whole_kernel_matrix(kernel, unit, rng):
    X, Q, k = rng.standard_normal((20_000, 8)), rng.standard_normal((8, 8)), 3
    if isinstance(kernel, Polynomial):
        X[:10_000] *= unit  # so that blocks of kernel values differ in size
    problem, data = Problem(kernel.fit(X, Q), np.eye(8), Squared(), k, 0.1), Samples.every(X, X[:, :1])
    assert len(data.blocks) > 1
    G = kernel(X, Q)
    scale = np.abs(G).max()
    s, Vt = np.linalg.svd(G / scale, full_matrices=False)[1:]
    projection = problem.projection(data, Q) * scale * s[:k] / np.sqrt(len(X))
    np.testing.assert_allclose(np.abs(Vt[:k] @ projection), np.eye(k), atol=1e-6)


@pytest.mark.parametrize("loss", [Squared(), CrossEntropy()], ids=lambda loss: type(loss).__name__)
@pytest.mark.parametrize("kernel", [RBF(2.0), SNE(2.0), Polynomial(3)], ids=repr)
def test_slopes_from_blocks_are_those_over_all_rows(kernel, loss, rng):
    X, Q, k = rng.standard_normal((20_000, 8)), rng.standard_normal((8, 8)), 3
    Y = rng.standard_normal((20_000, 2)) if isinstance(loss, Squared) else np.eye(2)[rng.integers(0, 2, 20_000)]
    problem, data = Problem(kernel.fit(X, Q), np.eye(8), loss, k, 0.1), Samples.every(X, Y)
    assert len(data.blocks) > 1
    projection = problem.projection(data, Q)
    now = Parameters(Q, rng.standard_normal((k, 2)), rng.standard_normal(2))
    value, slopes = problem.slope(now, projection, data)
    G, pull_back = kernel.differentiate(X, Q)
    S = G @ projection @ now.weights + now.bias
    of_scores = loss.gradient(S, Y)
    of_points = pull_back(of_scores @ (projection @ now.weights).T)
    assert value == pytest.approx(loss.value(S, Y) + 0.05 * np.sum(now.weights**2))
    np.testing.assert_allclose(slopes.Q, of_points, atol=1e-9 * np.abs(of_points).max())
    np.testing.assert_allclose(slopes.weights, (G @ projection).T @ of_scores + 0.1 * now.weights, atol=1e-9)
    np.testing.assert_allclose(slopes.bias, of_scores.sum(axis=0), atol=1e-12)


@pytest.mark.parametrize("budget", [0, 10**9])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("unit", [1e-160, 1.0, 1e150])
@pytest.mark.parametrize(("n", "p", "rank"), [(60, 7, 7), (60, 7, 3), (9, 20, 9), (9, 20, 4)])
def test_the_row_space_and_the_map_of_least_norm_that_gives_it(n, p, rank, unit, kind, budget, rng):
    X = rng.standard_normal((n, rank)) @ rng.standard_normal((rank, p))
    B, factors = row_space(kind(unit * X), budget)
    assert B.shape == (p, rank)
    np.testing.assert_allclose(B.T @ B, np.eye(rank), atol=1e-12)
    np.testing.assert_allclose(X @ B @ B.T, X, atol=1e-9)
    F = reduce(lambda left, right: left @ right, factors)
    np.testing.assert_allclose(unit * np.asarray(F), np.linalg.pinv(X.T) @ B, atol=1e-9)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_a_table_of_zeros_has_a_map_of_zeros(kind):
    B, factors = row_space(kind(np.zeros((5, 3))), 0)
    assert B.shape == (3, 1) and not np.any(reduce(np.matmul, factors))
    model = LearnedKernelSVDRegressor().fit(kind(np.zeros((50, 3))), np.arange(50.0))
    np.testing.assert_allclose(model.predict(kind(np.ones((2, 3)))), 24.5)


@pytest.mark.parametrize("optimizer", ["lbfgs", "adam", "auto"])
def test_points_that_exceed_the_budget_are_refused_with_what_they_need(optimizer, rng):
    X, y = rng.standard_normal((150, 120)), np.arange(150) % 2
    model = LearnedKernelSVDClassifier(2, optimizer=optimizer, max_iter=1, memory_budget="1MB")
    with pytest.raises(
        ValueError, match=r"needs [0-9]+ bytes for 120 right points of 120 .*budget of 1000000;"
    ) as found:
        model.fit(X, y)
    needed = int(str(found.value).split(" bytes")[0].split()[-1])
    model.set_params(memory_budget=needed).fit(X, y)
    with pytest.raises(ValueError, match=f"needs {needed} bytes"):
        model.set_params(memory_budget=needed - 1).fit(X, y)


def test_a_budget_too_small_for_all_rows_at_once_takes_batches():
    assert choose_optimizer("auto", 500, 500, 10**9) == "lbfgs"
    assert choose_optimizer("auto", 500, 500, 10**8) == "adam"
    assert choose_optimizer("auto", 10**6, 500, 10**9) == "adam"


@every_estimator
def test_a_model_that_was_saved_without_these_parameters_predicts_the_same(model, rng):
    X, y = table(rng)
    model = clone(model).fit(X, y)
    expected = model.predict(X)
    del model.n_jobs, model.memory_budget
    np.testing.assert_array_equal(model.predict(X), expected)
    assert "memory_budget=None" not in repr(model)
