"""Laws of operators: products are those of a matrix, from both sides, and nothing is ever made dense."""

import os
import subprocess
import sys
import time
import tracemalloc
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone
from threadpoolctl import threadpool_info, threadpool_limits

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
from lopsided._core import budget_bytes
from lopsided._core.strips import in_strips
from lopsided._core.threads import jobs, n_threads, run
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

every_operator = pytest.mark.parametrize("build", OPERATORS.values(), ids=OPERATORS)


@every_operator
def test_operator_agrees_with_its_matrix_on_both_sides(build, rng):
    A, K = build()
    V, U = rng.standard_normal((K.shape[1], 3)), rng.standard_normal((K.shape[0], 3))
    assert A.shape == K.shape
    assert_close(A @ V, K @ V)
    assert_close(A.T @ U, K.T @ U)
    assert_close(A.rmatmat(U), K.T @ U)
    assert_close(A @ V[:, 0], K @ V[:, 0])
    assert_close(A.rmatvec(U[:, 0]), K.T @ U[:, 0])
    assert_close(A @ V[:, :1], K @ V[:, :1])


@every_operator
def test_operator_passes_the_adjoint_test(build, rng):
    A, K = build()
    v, u = rng.standard_normal(K.shape[1]), rng.standard_normal(K.shape[0])
    scale = np.linalg.norm(K) * np.linalg.norm(v) * np.linalg.norm(u)
    assert abs((A @ v) @ u - v @ (A.T @ u)) <= 100 * np.finfo(float).eps * scale


@every_operator
def test_taking_entries_is_slicing_the_matrix(build):
    A, K = build()
    n, m = K.shape
    some = (np.array([3, 0, n - 1, 3]), np.array([m - 1, 2, 2]))
    assert_close(A.take(), K)
    assert_close(A.take(slice(2, 9)), K[2:9])
    assert_close(A.take(cols=slice(None, None, 3)), K[:, ::3])
    assert_close(A.take(*some), K[some[0]][:, some[1]])
    assert_close(A.take(some[0], slice(1, 4)), K[some[0], 1:4])


@every_operator
def test_transposing_twice_gives_the_matrix_back(build, rng):
    A, K = build()
    V = rng.standard_normal((K.shape[1], 2))
    assert A.T.shape == K.T.shape
    assert_close(A.T.T @ V, K @ V)
    assert_close(A.T.take(), K.T)


@every_operator
def test_the_norm_is_that_of_the_matrix(build):
    A, K = build()
    np.testing.assert_allclose(A.norm(), np.linalg.norm(K), rtol=1e-12)
    assert A.cost > 0


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
    monkeypatch.setattr("lopsided.operators.sparse.SLICE_ENTRIES", 50)
    for n_jobs in (1, 2):
        with jobs(n_jobs):
            A, K = structured(name, "binary", budget)
            V, U = rng.standard_normal((K.shape[1], 4)), rng.standard_normal((K.shape[0], 4))
            assert_close(A @ V, K @ V)
            assert_close(A.T @ U, K.T @ U)


def test_threads_are_counted_where_they_are_asked_for():
    every = n_threads()
    assert 1 <= every <= n_threads(-1)
    with jobs(3):
        assert n_threads() == 3
        assert run(lambda _: n_threads(), range(3)) == [1, 1, 1]  # a task has its own thread and no other
        with jobs(None):
            assert n_threads() == 3
        with jobs(1):
            assert n_threads() == 1
        assert n_threads() == 3
    assert n_threads() == every
    with pytest.raises(ValueError, match="n_jobs=0"), jobs(0):
        pass


@pytest.mark.parametrize(("given", "number"), [("1", 1), ("1,2", 1), ("0", 1), ("many", None), ("1000", None)])
def test_threads_heed_what_openmp_may_take(given, number, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert n_threads() == (number or n_threads(-1))
    with jobs(3):
        assert n_threads() == 3


def test_fits_at_the_same_time_leave_the_threads_of_blas_alone():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        before = threads()
        with ThreadPoolExecutor(3) as callers, jobs(2):
            list(callers.map(lambda t: run(lambda _: time.sleep(t), range(4)), (0.03, 0.01, 0.02)))
        assert threads() == before


@pytest.mark.parametrize(
    "kernel", [2 * kernels.SNE(2.0).T, kernels.SNE(2.0).T + kernels.RBF(2.0), (2 * kernels.SNE(2.0)).T], ids=repr
)
def test_sums_over_a_set_are_taken_once_whatever_is_made_of_the_kernel(kernel, rng, monkeypatch):
    X, Z = rng.random((30, 3)), rng.random((40, 3))
    A = as_operator(clone(kernel).fit(X, Z), X, Z, budget=0)
    monkeypatch.setattr(kernels.SNE, "left_exponents", lambda *_: pytest.fail("sums are taken again"))
    A @ np.ones((40, 2))
    A.T @ np.ones((30, 2))


LIMIT_OF_TWO_THREADS = """
import threading
from threadpoolctl import threadpool_info
from lopsided._core.threads import one_blas_thread

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

first_in, second_in, first_out, done = (threading.Event() for _ in range(4))

def first():
    with one_blas_thread():
        first_in.set()
        second_in.wait()
    first_out.set()
    done.wait()

def second():
    first_in.wait()
    with one_blas_thread():
        second_in.set()
        first_out.wait()
        within.extend(threads())

before, within = threads(), []
alive, last = (threading.Thread(target=each) for each in (first, second))
alive.start(), last.start(), last.join()
print(before == threads(), set(within) == {1})
done.set()
"""


def test_a_limit_that_another_thread_set_is_lifted():
    code = [sys.executable, "-c", LIMIT_OF_TWO_THREADS]
    done = subprocess.run(code, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "2"}, timeout=60)
    assert done.stdout == "True True\n", done.stderr


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_large_sparse_products_are_shared_among_threads_without_a_trace(n_jobs, rng):
    S = sparse.random_array((2000, 1500), density=0.05, rng=rng, format="csr")
    S = sparse.csr_array(sparse.vstack([sparse.csr_array((1000, 1500)), S]))  # an uneven load
    V, U = rng.standard_normal((1500, 8)), rng.standard_normal((3000, 8))
    A = Stored(S)
    with jobs(n_jobs):
        assert_close(A @ V, S @ V)
        assert_close(A.T @ U, S.T @ U)


@pytest.mark.parametrize("n_jobs", [1, 2])
@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize(
    ("rows", "inner", "columns"), [(1000, 30, 20), (1024, 128, 5), (640, 3, 1), (600, 3, 0), (900, 200, 300), (3, 4, 5)]
)
def test_products_in_strips_are_products(rows, inner, columns, order, n_jobs, rng):
    for dtype in (np.float32, np.float64):
        Y = np.asarray(rng.standard_normal((rows, inner)), dtype, order=order)
        W = np.asarray(rng.standard_normal((inner, columns)), dtype, order=order)
        with jobs(n_jobs):
            found = in_strips(Y, W)
        assert found.dtype == dtype
        assert_close(found, Y.astype(float) @ W)


def test_a_task_that_fails_stops_the_others():
    begun = []

    def task(number):
        begun.append(number)
        time.sleep(0.001)
        return 1 // (number - 3)

    with jobs(2), pytest.raises(ZeroDivisionError):
        run(task, range(1000))
    assert len(begun) < 20


def test_an_interrupt_stops_the_threads():
    """Ctrl-C reaches the thread that waits for the others."""
    code = """
import os, signal, threading, time
from lopsided._core.threads import jobs, run
begun = []
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with jobs(2):
        run(lambda number: (begun.append(number), time.sleep(0.05)), range(200))
except KeyboardInterrupt:
    before = len(begun)
    time.sleep(0.5)
    assert before < 100 and len(begun) <= before + 2, (before, len(begun))
    print("stopped")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "stopped", done.stderr


@pytest.mark.parametrize("n_jobs", [1, 2, -1, None])
def test_blocked_products_do_not_depend_on_tiles_or_threads(n_jobs, rng, monkeypatch):
    monkeypatch.setattr("lopsided.operators.blocked.TILE_COLUMNS", 7)
    monkeypatch.setattr("lopsided.operators.blocked.TILE_BYTES", 400)
    monkeypatch.setattr("lopsided.operators.blocked.FILL_BYTES", 400)
    monkeypatch.setattr("lopsided.operators.base.BATCH_ENTRIES", 100)
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


@pytest.mark.parametrize(
    ("text", "number"),
    [("1.5GB", 1.5e9), ("500 mb", 5e8), ("12kB", 12e3), ("7", 7), (" 2TB ", 2e12), (1024, 1024), (3.7, 3), ("64B", 64)],
)
def test_budgets_are_read(text, number):
    assert budget_bytes(text) == number


def test_no_budget_is_a_share_of_what_is_free():
    assert 0 < budget_bytes(None) < 1e15


def test_the_limit_of_a_container_bounds_the_budget(tmp_path, monkeypatch):
    for name, said in (("max", "4000"), ("current", "3000"), ("stat", "anon 2000\ninactive_file 600")):
        (tmp_path / name).write_text(said)
    files = (str(tmp_path / "max"), str(tmp_path / "current"), str(tmp_path / "stat"), "inactive_file")
    monkeypatch.setattr("lopsided._core.memory.GROUPS", (files,))
    assert budget_bytes(None) == 400
    (tmp_path / "max").write_text("max")
    assert budget_bytes(None) > 1e6


@pytest.mark.parametrize("text", ["lots", "5XB", "", "-3GB", "1e9GB", 0, -5, float("nan"), "1.2.3GB"])
def test_budgets_that_are_not_sizes_are_refused(text):
    with pytest.raises(ValueError, match="memory_budget"):
        budget_bytes(text)
