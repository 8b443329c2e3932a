"""Estimates by which solvers are chosen and stopped: errors of vectors, memory, and what is numerically zero."""

from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from cases import PLENTY, assert_close, with_spectrum
from lopsided import KernelSVD, select_solver
from lopsided.kernels import RBF, SNE, Linear
from lopsided.operators import Stored
from lopsided.svd import krylov as krylov_room, qr as qr_room
from lopsided.svd.accuracy import EQUAL_EPS, EQUAL_VALUES, estimated_eta
from lopsided.svd.bidiagonal import Bidiagonal
from lopsided.svd.factors import powers
from lopsided.svd.krylov import EXTRA_COLUMNS, _Pace
from lopsided.svd.policy import (
    MANY_TRIPLETS,
    SMALL_SIDE,
    block_width,
    choose_for_operator,
    choose_solver,
    lapack_bytes,
    nystrom_if_large,
)
from lopsided.svd.qr import BEST_FOR_CHOLESKY, WORST_FOR_CHOLESKY, least_pivot, orthonormalise, qr


def wrong_by(sine):
    return 2 * (1 - np.sqrt(1 - sine**2))


def test_the_estimated_eta_is_that_of_vectors_wrong_by_residual_over_gap():
    s = np.array([1.0, 0.6, 0.1])
    assert estimated_eta(s, np.array([0.1, 0.0, 0.0]), 1) == pytest.approx(wrong_by(0.1 / 0.4))
    assert estimated_eta(5 * s, 5 * np.array([0.1, 0.0, 0.0]), 1) == pytest.approx(wrong_by(0.1 / 0.4))
    both = (wrong_by(0.1 / 0.4) + 0.6 * wrong_by(0.2 / 0.4)) / 2
    assert estimated_eta(s, np.array([0.1, 0.2, 0.0]), 2) == pytest.approx(both)


def test_a_value_after_the_last_may_still_grow_by_its_residual():
    s = np.array([1.0, 0.6, 0.1])
    assert estimated_eta(s, np.array([0.1, 0.2, 0.0]), 1) == pytest.approx(wrong_by(0.1 / 0.2))


def test_equal_values_count_as_one_group():
    s = np.array([1.0, 1.0, 0.5, 0.1])
    assert estimated_eta(s, np.array([0.1, 0.1, 0.0, 0.0]), 2) == pytest.approx(wrong_by(0.1 / 0.5))


@pytest.mark.parametrize("k", [1, 2, 4])
@pytest.mark.parametrize("seed", range(5))
def test_every_vector_is_wrong_by_its_residual_over_the_distance_to_the_nearest_value(seed, k):
    rng = np.random.default_rng(seed)
    s, residuals = np.sort(rng.uniform(0, 2, 6))[::-1], rng.uniform(0, 0.05, 6)
    values = np.r_[np.inf, s[:k], s[k] + residuals[k]]
    gaps = np.maximum(np.minimum(values[:-2] - values[1:-1], values[1:-1] - values[2:]), 1e-15)
    expected = np.mean(s[:k] / s[0] * wrong_by(np.minimum(residuals[:k] / gaps, 1)))
    assert estimated_eta(s, residuals, k) == pytest.approx(expected)


@pytest.mark.parametrize(("dtype", "close"), [(np.float64, EQUAL_VALUES), (np.float32, EQUAL_EPS * 2.0**-23)])
def test_values_count_as_one_up_to_a_distance(dtype, close):
    """Vectors of two values nearer than that may be mixed; of others they must not."""
    for place in (0, 1):
        for ratio in (0.3, 3.0):
            s = np.array([1, 1, 0.5, 0.2] if place == 0 else [1, 0.5, 0.5, 0.2], dtype=dtype)
            s[place + 1] -= dtype(ratio * close)
            found = estimated_eta(s, np.full(4, 1e-3, dtype=dtype), 3)
            assert (found < 1e-4) == (ratio < 1)


@pytest.mark.parametrize("k", [1, 2])
def test_a_vector_is_unknown_if_the_value_after_it_may_still_overtake_it(k):
    s, residuals = np.array([2.0, 1.0, 1.0, 0.5])[2 - k :], np.array([0.0, 0.1, 0.2, 0.0])[2 - k :]
    assert estimated_eta(s, residuals, k) == pytest.approx(2 * s[k - 1] / s[0] / k)


def test_powers_of_values_that_are_numerically_zero_are_zero():
    np.testing.assert_array_equal(powers(np.array([2.0, 1e-20, 0.0]), -1, 10), [0.5, 0.0, 0.0])
    np.testing.assert_array_equal(powers(np.array([2.0, 1e-20, 0.0]), 0.0, 10), [1.0, 0.0, 0.0])


def test_a_given_matrix_has_a_solver_too():
    assert str(select_solver("precomputed", np.ones((90, 70)))) == "lapack: min(n, m) = 70 is small"


def test_the_choice_looks_at_the_numbers_of_points_and_not_at_their_width():
    X, Z = np.zeros((100, 3)), np.zeros((80, 3))
    assert str(select_solver("rbf", X, Z)) == "lapack: min(n, m) = 80 is small"
    many, few = np.zeros((60_000, 2)), np.zeros((50_000, 2))
    assert "60000 x 50000 matrix is dense" in nystrom_if_large(RBF(1.0), many, few, budget=10**6).reason
    assert nystrom_if_large(RBF(1.0), X, few, budget=10**6) is None


def test_lapack_is_for_sides_up_to_the_bound():
    chosen = [choose_solver((n, n), 1, cost=n * n, budget=10**9).name for n in (SMALL_SIDE, SMALL_SIDE + 1)]
    assert chosen == ["lapack", "krylov"]


@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
def test_the_memory_of_lapack_counts_three_matrices_and_both_factors(shape):
    n, m = shape
    assert lapack_bytes(shape, 8) >= 8 * (3 * n * m + (n + m) * min(shape))
    assert lapack_bytes(shape, 4) == lapack_bytes(shape, 8) / 2


def test_the_pace_extrapolates_to_half_the_logarithm_within_its_patience():
    pace = _Pace(patience=10)
    assert pace.next_look(1, np.exp(8)) == 2  # nothing is known of the decay yet
    assert pace.next_look(2, np.exp(6)) == 3
    assert pace.next_look(4, np.exp(5)) == 9  # falls by half a unit a step, and five steps are half of five units
    assert pace.next_look(9, np.exp(4.99)) == 19


def test_blocks_are_wide_where_a_product_costs_as_much_as_a_dense_one():
    sparse_one = SimpleNamespace(shape=(9000, 8000), matrix_free=False, cost=9000 * 8000 // 20)
    dense_one = SimpleNamespace(shape=(9000, 8000), matrix_free=False, cost=9000 * 8000)
    free = SimpleNamespace(shape=(9000, 8000), matrix_free=True, cost=9000 * 8000)
    cheap = SimpleNamespace(shape=(900, 800), matrix_free=False, cost=100)
    assert [block_width(A, 2) for A in (sparse_one, dense_one, cheap)] == [1, 8, 1]
    assert block_width(free, 2) == 2 + EXTRA_COLUMNS
    assert [block_width(cheap, k) for k in (2 * MANY_TRIPLETS - 1, 2 * MANY_TRIPLETS)] == [1, 8]


@pytest.mark.parametrize(("k", "budget"), [(20, 10**3), (60, 10**3), (60, 2 * 10**6)])
def test_bases_are_as_long_as_the_budget_allows_and_not_shorter_than_they_must_be(k, budget, monkeypatch, rng):
    made, init = [], Bidiagonal.__init__

    def watched(self, A, At, capacity, *rest):
        made.append(capacity)
        init(self, A, At, capacity, *rest)

    monkeypatch.setattr(Bidiagonal, "__init__", watched)
    K = with_spectrum(0.7 ** np.arange(90), 500, 400, rng)
    krylov_room.krylov(Stored(K), k, rng=rng, block=2, budget=budget)
    entries = [8 * c * (sum(K.shape) + krylov_room.SVD_COPIES * c) for c in (made[0], made[0] + 1)]
    least = max(k + k // 2, k + krylov_room.SPARE_TRIPLETS + 4)
    assert made[0] == least if budget < 10**4 else entries[0] <= budget < entries[1]


@pytest.mark.parametrize("power", range(16))
def test_bases_are_orthonormal_at_any_condition(power, rng):
    Y = np.linalg.qr(rng.standard_normal((60, 5)))[0] @ np.diag(np.logspace(0, -power, 5)) @ rng.standard_normal((5, 5))
    Q, R = qr(Y)
    np.testing.assert_allclose(Q.T @ Q, np.eye(5), atol=1e-14)
    np.testing.assert_allclose(Q @ R, Y, atol=1e-14 * np.abs(Y).max())


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [2, 5])
def test_an_array_takes_householder_only_where_its_gram_matrix_has_lost_it(width, dtype, monkeypatch, rng):
    taken, careful = [], qr_room._tall_qr
    monkeypatch.setattr(qr_room, "_tall_qr", lambda Y: taken.append(len(Y)) or careful(Y))
    eps = float(np.finfo(dtype).eps)
    easy = np.sqrt(BEST_FOR_CHOLESKY * WORST_FOR_CHOLESKY * eps**-0.5)
    for condition, is_careful in ((1, False), (easy, False), (0.1 / eps**0.5, True), (0.1 / eps, True)):
        taken.clear()
        qr(with_spectrum(np.geomspace(1, 1 / condition, width), 60, width, rng, dtype))
        assert bool(taken) == is_careful, condition


@pytest.mark.parametrize("height", [12, 23, 24, 90])
def test_tall_arrays_are_cut_into_chunks_that_fit_the_cache(height, monkeypatch, rng):
    heights, once = [], np.linalg.qr
    monkeypatch.setattr(qr_room, "CHUNK_ROWS", 12)
    monkeypatch.setattr(np.linalg, "qr", lambda Y: heights.append(len(Y)) or once(Y))
    qr_room._tall_qr(rng.standard_normal((height, 2)))
    assert heights == [height] if height < 24 else max(heights) < 24 and len(heights) > 2


@pytest.mark.parametrize("length", [1e-300, 1e-170, 1e-155, 1e-3, 1.0, 1e100])
def test_a_vector_of_any_length_has_a_unit_vector(length, rng):
    y = rng.standard_normal((40, 1))
    Q, R = qr(length * y)
    np.testing.assert_allclose(np.abs(Q), np.abs(y) / np.linalg.norm(y), rtol=1e-12)
    np.testing.assert_allclose(Q * R[0, 0], length * y, rtol=1e-12)


@pytest.mark.parametrize("width", [1, 2, 3])
def test_the_least_pivot_is_the_smallest_of_the_diagonal(width, rng):
    for R in (rng.standard_normal((width, width)) for _ in range(5)):
        assert least_pivot(np.triu(R)) == np.abs(np.diag(R)).min()


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("others", [5, 37])
@pytest.mark.parametrize("beyond", [1.0, 1e-4, 1e-7, 1e-9, 1e-12, 1e-15, 0.0])
@pytest.mark.parametrize("unit", [1.0, 1e-15, 0.0])
@pytest.mark.parametrize("basis", ["axes", "any"])
def test_blocks_are_made_orthogonal_to_a_basis_however_little_of_them_is_beyond_it(
    basis, unit, beyond, others, dtype, rng
):
    """Of 40 dimensions, the basis may hold all but those of the block."""
    eps = float(np.finfo(dtype).eps)
    Q = np.linalg.qr(rng.standard_normal((40, others)))[0].astype(dtype)
    Q = np.eye(40, others, dtype=dtype) if basis == "axes" else Q
    H, Y = rng.standard_normal((others, 3)), rng.standard_normal((40, 3))
    Y = (unit * (Q @ H + beyond * Y)).astype(dtype)
    W, H, R = orthonormalise(Y.copy(), Q, 0.0, rng)
    assert np.abs(W.T @ W - np.eye(3)).max() < BEST_FOR_CHOLESKY**2 * eps
    assert np.abs(Q.T @ W).max() < 100 * eps**0.5
    assert np.abs(Q @ H + W @ R - Y).max() <= 100 * eps * np.abs(Y).max() + np.finfo(dtype).tiny ** 0.5


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 3, 6])
@pytest.mark.parametrize("height", [13, 24, 25, 60])
@pytest.mark.parametrize("power", [0, 3, 9, 20])
def test_a_basis_spans_the_array_however_many_chunks_it_has(height, width, power, dtype, monkeypatch):
    monkeypatch.setattr("lopsided.svd.qr.CHUNK_ROWS", 12)
    rng = np.random.default_rng(power)
    Y = (rng.standard_normal((height, width)) * np.logspace(0, -power, width)) @ rng.standard_normal((width, width))
    Y = Y.astype(dtype)
    Q, R = qr(Y)
    assert_close(Q.T @ Q, np.eye(width))
    assert_close(Q @ R, Y)


@pytest.mark.parametrize(("k", "solver", "way_out"), [(5, "lapack", "krylov"), (2000, "krylov", "fewer components")])
def test_who_asks_for_a_decomposition_beyond_the_budget_is_told_what_fits(k, solver, way_out):
    A = Stored(np.zeros((2500, 2004)))
    with pytest.raises(ValueError, match=f"above the budget of 1000; raise memory_budget to that, or use .*{way_out}"):
        choose_for_operator(A, k, 1000, solver)
    assert choose_for_operator(A, 5, 1000, "krylov")[0].name == "krylov"


@pytest.mark.parametrize("kernel", ["rbf", "linear", SNE(1.0), RBF(1.0) + Linear()], ids=repr)
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("shape", [(40, 30), (450, 320), (320, 450)])
@pytest.mark.parametrize("budget", [PLENTY, 400_000])
def test_the_choice_in_advance_is_that_of_fit(budget, shape, kind, kernel, rng):
    X, Z = (kind(np.where((side := rng.standard_normal((count, 8))) > 0.5, side, 0)) for count in shape)
    model = KernelSVD(3, kernel=kernel, memory_budget=budget).fit(X, Z=Z)
    told = select_solver(kernel, X, Z, n_components=3, memory_budget=budget)
    assert (told.name, told.over_budget, told.reason) == (
        model.solver_.name,
        model.solver_.over_budget,
        model.solver_.reason,
    )
