"""Laws of operators: products are those of a matrix, from both sides, and nothing is ever made dense."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from cases import (
    KERNELS,
    NOTHING,
    OPERATORS,
    PLENTY,
    SPARSE,
    STRUCTURED,
    assert_close,
    blocked,
    centred,
    reference,
    sparse_pair,
    structured,
)
from lopsided import kernels
from lopsided._core import jobs
from lopsided.operators import (
    Blocked,
    Centered,
    LowRank,
    SparseLowRank,
    Stored,
    Streamed,
    Sum,
    as_operator,
    forecast,
    sparse_plus_low_rank,
)
from lopsided.testing import check_operator

every_operator = pytest.mark.parametrize("build", OPERATORS.values(), ids=OPERATORS)


@every_operator
def test_operator_obeys_the_laws_of_its_matrix(build):
    check_operator(*build())


@pytest.mark.parametrize("budget", [PLENTY, NOTHING], ids=["kept", "streamed"])
@pytest.mark.parametrize("data", SPARSE)
@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_matrix_is_the_dense_one_whatever_the_data(name, data, budget):
    A, K = structured(name, data, budget)
    assert_close(A @ np.eye(K.shape[1]), K)
    assert_close(A.T @ np.eye(K.shape[0]), K.T)


@pytest.mark.parametrize("bandwidth", [0.3, 0.05, 1e-3])
@pytest.mark.parametrize("data", [name for name in SPARSE if name != "all_zero"])
@pytest.mark.parametrize("name", ["rbf", "sne", "student_t"])
def test_small_bandwidths_lose_no_more_than_their_exponents_carry(name, data, bandwidth):
    X, Z = sparse_pair(data)
    largest = max(abs(S).power(2).sum(axis=1).max() for S in (X, Z)) / bandwidth**2
    A = sparse_plus_low_rank(clone(KERNELS[name][0]).set_params(bandwidth=bandwidth).fit(X, Z), X, Z, PLENTY)
    expected = reference(name, X, Z, bandwidth=bandwidth)
    error = np.abs(A @ np.eye(len(expected.T)) - expected).max()
    assert error <= 1e3 * np.finfo(float).eps * max(1.0, largest)


@pytest.mark.parametrize("name", STRUCTURED)
def test_structured_matrix_keeps_single_precision(name):
    X, Z = sparse_pair("binary", dtype=np.float32)
    A = sparse_plus_low_rank(clone(KERNELS[name][0]).fit(X, Z), X, Z, PLENTY)
    product = A @ np.eye(Z.shape[0], dtype=np.float32)
    assert A.dtype == product.dtype == np.float32
    assert_close(product, reference(name, X, Z))


@pytest.mark.parametrize("data", ["weighted", "binary", "hubs"])
@pytest.mark.parametrize("density", [0.002, 0.02, 0.1])
def test_forecast_is_near_the_true_size(data, density, rng):
    S = sparse.random_array((3000, 800), density=density, rng=rng, format="csr")
    if data != "weighted":
        S.data[:] = 1
    if data == "hubs":
        S = sparse.csr_array(sparse.vstack([np.ones((2, 800)), S]))
    expected, P = forecast(S, S), S @ S.T
    assert P.nnz / 2 <= expected.entries <= 2 * P.nnz
    values, counts = np.unique(P.data, return_counts=True)
    share = counts.max() / P.nnz
    assert abs(expected.share - share) < 0.1
    if share > 0.5:
        assert expected.unit == values[counts.argmax()]


@pytest.mark.parametrize("budget", [PLENTY, NOTHING], ids=["kept", "streamed"])
@pytest.mark.parametrize("name", ["sne", "student_t", "polynomial"])
def test_threads_and_slices_change_nothing_beyond_rounding(name, budget, rng, monkeypatch):
    monkeypatch.setattr("lopsided.operators.sparse_slices.SLICE_ENTRIES", 50)
    for n_jobs in (1, 2):
        with jobs(n_jobs):
            A, K = structured(name, "binary", budget)
            V, U = rng.standard_normal((K.shape[1], 4)), rng.standard_normal((K.shape[0], 4))
            assert_close(A @ V, K @ V)
            assert_close(A.T @ U, K.T @ U)


@pytest.mark.parametrize(
    "kernel", [2 * kernels.SNE(2.0).T, kernels.SNE(2.0).T + kernels.RBF(2.0), (2 * kernels.SNE(2.0)).T], ids=repr
)
def test_sums_over_a_set_are_taken_once_whatever_is_made_of_the_kernel(kernel, rng, monkeypatch):
    X, Z = rng.random((30, 3)), rng.random((40, 3))
    A = as_operator(clone(kernel).fit(X, Z), X, Z, budget=0)
    monkeypatch.setattr(kernels.SNE, "left_exponents", lambda *_: pytest.fail("sums are taken again"))
    A @ np.ones((40, 2))
    A.T @ np.ones((30, 2))


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_large_sparse_products_are_shared_among_threads_without_a_trace(n_jobs, rng):
    S = sparse.random_array((2000, 1500), density=0.05, rng=rng, format="csr")
    S = sparse.csr_array(sparse.vstack([sparse.csr_array((1000, 1500)), S]))  # an uneven load
    V, U = rng.standard_normal((1500, 8)), rng.standard_normal((3000, 8))
    A = Stored(S)
    with jobs(n_jobs):
        assert_close(A @ V, S @ V)
        assert_close(A.T @ U, S.T @ U)


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_blocked_products_do_not_depend_on_tiles_or_threads(n_jobs, rng, monkeypatch):
    monkeypatch.setattr("lopsided.operators.blocked.TILE_COLUMNS", 7)
    monkeypatch.setattr("lopsided.operators.blocked.TILE_BYTES", 400)
    monkeypatch.setattr("lopsided.operators.blocked.FILL_BYTES", 400)
    monkeypatch.setattr("lopsided.operators.base.BATCH_BYTES", 800)
    A, K = blocked("sne")
    V, U = rng.standard_normal((K.shape[1], 3)), rng.standard_normal((K.shape[0], 3))
    with jobs(n_jobs):
        assert_close(A @ V, K @ V)
        assert_close(A.T @ U, K.T @ U)
        assert_close(A.stored(), K)
    assert_close(np.concatenate(list(A.batches())), K)


@pytest.mark.parametrize("name", ["sne", "student_t", "rbf", "polynomial"])
@pytest.mark.parametrize("budget", [PLENTY, NOTHING], ids=["kept", "streamed"])
def test_products_on_a_sparse_graph_never_form_the_matrix(name, budget, rng, monkeypatch):
    n = 20_000
    graph = sparse.random_array((n, n), density=5 / n, rng=rng, format="csr")
    graph.data[:] = 1
    graph, columns = sparse.csr_array(graph), sparse.csr_array(graph.T)
    kernel = clone(KERNELS[name][0]).fit(graph, columns)
    monkeypatch.setattr(sparse.csr_array, "toarray", lambda *_: pytest.fail("made dense"))
    tracemalloc.start()
    try:
        A = Centered(sparse_plus_low_rank(kernel, graph, columns, budget))
        A @ np.ones((n, 2)), A.T @ np.ones((n, 2))
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < n * n  # an eighth of the dense matrix


@pytest.mark.parametrize("kind", ["dense", "sparse", "mixed"])
@pytest.mark.parametrize("name", KERNELS)
def test_every_kernel_has_an_operator_within_any_budget(name, kind, rng):
    X, Z = sparse_pair("binary")
    X, Z = {"dense": (X.toarray(), Z.toarray()), "sparse": (X, Z), "mixed": (X, Z.toarray())}[kind]
    K, kernel = reference(name, X, Z), clone(KERNELS[name][0]).fit(X, Z)
    V = rng.standard_normal((K.shape[1], 2))
    for budget in (PLENTY, NOTHING):
        A = as_operator(kernel, X, Z, budget=budget)
        assert_close(A @ V, K @ V)
        assert_close(A.T @ K[:, :2], K.T @ K[:, :2])


def test_the_operator_suits_the_kernel_its_data_and_the_budget():
    X, Z = sparse_pair("weighted")
    dense = X.toarray(), Z.toarray()

    def kind(kernel, X, Z, budget):
        return type(as_operator(kernel.fit(X, Z), X, Z, budget=budget))

    assert kind(kernels.RBF(1.0), *dense, PLENTY) is Stored
    assert kind(kernels.RBF(1.0), *dense, NOTHING) is Blocked
    assert kind(kernels.Linear(), X, Z, PLENTY) is LowRank
    assert kind(kernels.SNE(1.0), X, Z, PLENTY) is SparseLowRank
    assert kind(kernels.SNE(1.0), X, Z, NOTHING) is Streamed
    assert kind(kernels.SNE(1.0).T, X, Z, NOTHING) is Streamed
    assert kind(kernels.SNE(1.0) + kernels.Linear(), X, Z, NOTHING) is Sum
    assert kind(kernels.Laplacian(1.0), X, Z, NOTHING) is Blocked
    full = sparse.csr_array(np.ones((40, 25))), sparse.csr_array(np.ones((30, 25)))
    assert kind(kernels.RBF(1.0), *full, PLENTY) is Stored
    assert kind(kernels.Linear(), *full, PLENTY) is LowRank
    assert kind(kernels.Linear(), np.ones((40, 25)), np.ones((30, 25)), PLENTY) is Stored
    assert kind(kernels.Linear(), np.ones((40, 2)), np.ones((30, 2)), PLENTY) is LowRank
    columns = np.arange(X.shape[1])[:, None]
    assert kind(kernels.Precomputed(), X, columns, NOTHING) is Stored


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("data", ["empty_rows", "all_zero"])
@pytest.mark.parametrize("kernel", [name for name in STRUCTURED if name != "linear"])
def test_a_condensed_operator_decomposes_the_large_one(kernel, data, center):
    """K = E_left K' E_right^T with orthonormal columns in both E, so that K and K' share their singular values."""
    A, K = structured(kernel, data, PLENTY)
    rounding = 1e4 * np.finfo(float).eps * np.abs(K).max()
    A, K = (Centered(A), centred(K)) if center else (A, K)
    condensed = A.condensed()
    small = condensed.operator.take()
    assert sum(small.shape) < sum(K.shape)
    left, right = (spread(np.eye(size)) for spread, size in zip(condensed[1:], small.shape, strict=True))
    for E in (left, right):
        assert_close(E.T @ E, np.eye(E.shape[1]))
    np.testing.assert_allclose(left @ small @ right.T, K, rtol=0, atol=rounding)


def test_a_matrix_without_empty_rows_is_not_condensed():
    assert structured("sne", "hubs", PLENTY)[0].condensed() is None


def test_centring_needs_no_room_for_the_matrix(rng):
    L, R = rng.standard_normal((20_000, 2)), rng.standard_normal((20_000, 2))
    sums = Centered(LowRank(L, R)).T @ np.ones((20_000, 1))
    assert np.abs(sums).max() < 1e-6


class RowsAlone(kernels.Kernel):
    """Returns one row where all pairs are wanted."""

    def pairs(self, L, R):
        return (L @ R.T)[0]


class Number(kernels.Kernel):
    """Returns one number."""

    def pairs(self, L, R):
        return 1.0


@pytest.mark.parametrize("budget", [PLENTY, NOTHING], ids=["stored", "blocked"])
@pytest.mark.parametrize(("kernel", "found"), [(RowsAlone(), r"shape \(5,\)"), (Number(), "a float")])
def test_values_that_are_not_those_of_all_pairs_are_refused_not_broadcast(kernel, found, budget, rng):
    X, Z = rng.standard_normal((6, 3)), rng.standard_normal((5, 3))
    with pytest.raises(ValueError, match=rf"returned {found} for [0-9] left and 5 right points"):
        as_operator(kernel.fit(X, Z), X, Z, budget=budget) @ np.ones((5, 1))
