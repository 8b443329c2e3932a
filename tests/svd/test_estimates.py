"""Estimates by which solvers are chosen and stopped: errors of vectors, memory, and what is numerically zero."""

from types import SimpleNamespace

import numpy as np
import pytest

from cases import assert_close
from lopsided import select_solver
from lopsided.kernels import RBF
from lopsided.operators import Stored
from lopsided.svd import krylov as krylov_room
from lopsided.svd.factors import powers
from lopsided.svd.krylov import EXTRA_COLUMNS, _Pace, estimated_eta
from lopsided.svd.policy import (
    MANY_TRIPLETS,
    SMALL_SIDE,
    block_width,
    choose_for_operator,
    choose_solver,
    lapack_bytes,
    nystrom_if_large,
)
from lopsided.svd.qr import qr


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


@pytest.mark.parametrize("budget", [10**3, 2 * 10**6])
def test_bases_are_as_long_as_the_budget_allows_and_not_shorter_than_they_must_be(budget, monkeypatch, rng):
    made, init = [], krylov_room._Bidiagonal.__init__

    def watched(self, A, At, capacity, *rest):
        made.append(capacity)
        init(self, A, At, capacity, *rest)

    monkeypatch.setattr(krylov_room._Bidiagonal, "__init__", watched)
    k, K = 60, rng.standard_normal((500, 400))
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
