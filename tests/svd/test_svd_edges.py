"""Edges: on either side of every bound of the policy, of what counts as zero, and of what is told."""

import inspect
import re
from dataclasses import astuple
from itertools import permutations
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse

from cases import NOTHING, PLENTY, with_spectrum
from lopsided import select_solver
from lopsided.kernels import RBF, Linear
from lopsided.operators import Stored, as_operator
from lopsided.svd import Diagnostics, Factors, diagnose, factorise, solvers
from lopsided.svd.accuracy import estimated_eta
from lopsided.svd.bidiagonal import RESIDUAL_MARGIN, Bidiagonal
from lopsided.svd.factors import NULL_VALUE, canonical_signs, exact_sides, powers
from lopsided.svd.krylov import EXTRA_COLUMNS, SVD_COPIES, _Pace, krylov
from lopsided.svd.policy import (
    CHEAP_PRODUCT,
    LAPACK_SHARE,
    LAPACK_WORKSPACE,
    MANY_TRIPLETS,
    SMALL_SIDE,
    WIDE_FROM,
    WIDTH_FOR_TOL,
    block_width,
    choose_for_operator,
    choose_solver,
    krylov_room,
    lapack_bytes,
    nystrom_if_large,
    work,
)
from lopsided.svd.weights import check_weights

every_shape = pytest.mark.parametrize("shape", [(700, 600), (600, 700)])


# The policy.


@every_shape
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_lapack_takes_the_bytes_of_its_arrays(shape, dtype):
    """The matrix, a copy to centre and one to overwrite; both factors; workspace."""
    k = min(shape)
    arrays = [*[shape] * 3, *((side, k) for side in shape), *[(k, k)] * LAPACK_WORKSPACE]
    assert lapack_bytes(shape, np.dtype(dtype).itemsize) == sum(np.empty(each, dtype).nbytes for each in arrays)


@every_shape
def test_lapack_is_for_budgets_that_hold_its_arrays_and_for_many_triplets(shape):
    k, needed = min(shape) // LAPACK_SHARE, lapack_bytes(shape, 8)
    numbers = {"cost": shape[0] * shape[1]}
    assert choose_solver(shape, k, budget=needed, **numbers).name == "krylov"
    assert choose_solver(shape, k + 1, budget=needed, **numbers).name == "lapack"
    assert choose_solver(shape, k + 1, budget=needed - 1, **numbers).name == "krylov"
    tall, few = (SMALL_SIDE, 10**6), lapack_bytes((SMALL_SIDE, 10**6), 8)
    assert [choose_solver(tall, 1, cost=1, budget=few - less).name for less in (0, 1)] == ["lapack", "krylov"]


@every_shape
def test_a_reason_tells_whether_products_are_cheaper_than_dense_ones(shape):
    for cost, cheap in ((420_000, False), (419_999, True)):
        assert ("419999 multiplications" in choose_solver(shape, 5, cost=cost, budget=PLENTY).reason) == cheap


def test_the_budget_that_is_asked_for_is_enough_and_a_byte_less_is_not():
    A = Stored(np.zeros((SMALL_SIDE + 10, SMALL_SIDE + 5)))
    with pytest.raises(ValueError, match=r"needs \d+ bytes") as caught:
        choose_for_operator(A, 5, 0, "lapack")
    needed = int(re.search(r"needs (\d+) bytes", str(caught.value))[1])
    assert choose_for_operator(A, 5, needed, "lapack")[0].name == "lapack"
    with pytest.raises(ValueError, match=f"above the budget of {needed - 1}"):
        choose_for_operator(A, 5, needed - 1, "lapack")
    small = Stored(np.zeros((SMALL_SIDE, SMALL_SIDE)))
    assert choose_for_operator(small, 5, 0, "lapack")[0].name == "lapack"  # no budget is too small for it


def of_cost(cost, shape=(9000, 8000), matrix_free=False):
    return SimpleNamespace(shape=shape, matrix_free=matrix_free, cost=cost)


def test_widths_of_blocks_change_at_their_bounds():
    n, m = 9000, 8000
    cheap, dear = of_cost(CHEAP_PRODUCT - 1), of_cost(CHEAP_PRODUCT)
    assert [block_width(cheap, k) for k in (1, 2 * MANY_TRIPLETS - 1, 2 * MANY_TRIPLETS)] == [1, 1, 8]
    assert [block_width(dear, k) for k in (1, MANY_TRIPLETS - 1, MANY_TRIPLETS)] == [1, 1, 8]
    for A in (cheap, dear, of_cost(n * m)):
        assert [block_width(A, k) for k in (WIDE_FROM - 1, WIDE_FROM)] == [8, 16]
    assert [block_width(of_cost(cost), 1) for cost in (n * m // 10 - 1, n * m // 10)] == [1, 8]
    assert [block_width(cheap, 1, tol=tol) for tol in (0.0, 1e-3)] == [1, WIDTH_FOR_TOL]
    assert block_width(of_cost(n * m), 1, tol=1e-3) == 8
    assert [block_width(of_cost(1, matrix_free=True), k) for k in (1, 30)] == [1 + EXTRA_COLUMNS, 30 + EXTRA_COLUMNS]
    assert block_width(of_cost(10**9, shape=(50, 40)), 30) == 5 == krylov_room((50, 40), 30)


@pytest.mark.parametrize("k", [1, 10, 36])
def test_the_room_is_the_widest_block_that_a_space_can_hold(k, rng):
    for shape in ((60, 40), (40, 60)):
        K, widest = with_spectrum(0.5 ** np.arange(40), *shape, rng), krylov_room(shape, k)
        assert len(krylov(Stored(K), k, rng=rng, block=widest).s) == k
        with pytest.raises(ValueError, match="leaves no room"):
            krylov(Stored(K), k, rng=rng, block=widest + 1)


class Condensable(Stored):
    """A matrix that says that it is as good as a smaller one."""

    def condensed(self):
        rows, columns = map(slice, self.of_size)
        return SimpleNamespace(operator=Stored(self.K[rows, columns]))


@pytest.mark.parametrize("sides", [(30, 50), (31, 50), (50, 30), (50, 31)])
def test_a_smaller_matrix_takes_the_place_of_one_that_it_can_if_it_has_a_margin(sides, rng):
    A = Condensable(rng.standard_normal((80, 70)))
    A.of_size = sides
    choice, condensed = choose_for_operator(A, 11, PLENTY)
    assert (condensed is not None) == (min(sides) == 31) == (f"condensed to {sides[0]} x {sides[1]}" in choice.reason)


@pytest.mark.parametrize(("solver", "room_left"), [("krylov", EXTRA_COLUMNS), ("auto", 1)])
def test_a_solver_falls_back_to_lapack_where_blocks_have_no_room(solver, room_left):
    A = SimpleNamespace(shape=(1000, 900), condensed=lambda: None, cost=1, matrix_free=False, dtype=np.dtype(float))
    budget = NOTHING if solver == "auto" else PLENTY  # lapack is not chosen
    for k, falls in ((900 - 2 * room_left, False), (900 - 2 * room_left + 1, True)):
        if falls and solver == "auto":
            with pytest.raises(ValueError, match="use fewer components"):
                choose_for_operator(A, k, budget, solver)
        else:
            choice, _ = choose_for_operator(A, k, budget, solver)
            assert (choice.name, choice.is_fallback) == (("lapack", True) if falls else ("krylov", False))


@pytest.mark.parametrize("entries", [100 * 90, 100 * 90 - 1])
def test_landmarks_are_for_matrices_beyond_a_size(entries, monkeypatch):
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", entries)
    found = nystrom_if_large(RBF(1.0), np.zeros((100, 2)), np.zeros((90, 2)), budget=10)
    assert found is None if entries == 9000 else found.over_budget


@pytest.mark.parametrize("left", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("right", [np.asarray, sparse.csr_array])
def test_landmarks_are_for_all_matrices_but_those_of_two_sparse_sides(left, right, monkeypatch):
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", 100)
    found = nystrom_if_large(RBF(1.0), left(np.zeros((100, 2))), right(np.zeros((90, 2))), budget=10)
    assert (found is None) == (left == right == sparse.csr_array)


@pytest.mark.parametrize(("solver", "k"), [("lapack", 3), ("krylov", 3), ("krylov", 150)])
@every_shape
def test_what_is_told_of_the_work_counts_the_multiplications_of_a_solver(shape, solver, k):
    A = Stored(np.zeros(shape))
    choice, _ = choose_for_operator(A, k, PLENTY, solver)
    told = float(re.search(r"; (\S+) multiplications", work(A, k, choice))[1])
    products = np.prod(shape) * (min(shape) if solver == "lapack" else 2 * block_width(A, k))
    assert told == pytest.approx(products, abs=0.5 * 10 ** np.floor(np.log10(products)))  # to one digit


def test_the_number_of_components_is_by_default_that_of_the_documentation():
    documented = re.search(r"n_components : int, default=(\d+)", select_solver.__doc__)[1]
    assert inspect.signature(select_solver).parameters["n_components"].default == int(documented)


def test_a_solver_is_selected_for_one_component_and_not_for_none():
    A = Stored(np.ones((90, 70)))
    assert str(select_solver(A, n_components=1)) == "lapack: min(n, m) = 70 is small"
    for bad in (0, 0.5, 2.0):
        with pytest.raises(ValueError, match="must be an integer from 1"):
            select_solver(A, n_components=bad)
    with pytest.raises(ValueError, match="needs the left points X"):
        select_solver("rbf")
    X = np.zeros((90, 70))
    assert str(select_solver(lambda L, R: L @ R.T, X)).endswith(
        "min(n, m) = 70 is small"
    )  # its columns are right points


# What is done.


@pytest.mark.parametrize("budget", [4 * 10**6, 8 * 10**6])
def test_bases_take_half_of_the_budget(budget, monkeypatch, rng):
    made, begin = [], Bidiagonal.__init__
    monkeypatch.setattr(
        Bidiagonal, "__init__", lambda space, A, At, size, *r: made.append(size) or begin(space, A, At, size, *r)
    )
    K = with_spectrum(0.5 ** np.arange(40), 600, 500, rng)
    factorise(Stored(K), 60, solver="krylov", budget=budget, rng=rng)
    taken = [8 * size * (sum(K.shape) + SVD_COPIES * size) for size in (made[0], made[0] + 1)]
    assert taken[0] <= budget / 2 < taken[1]


class Rounded(Stored):
    """A matrix whose values are known up to an error."""

    rounding = 0.5


def test_singular_values_up_to_rounding_are_zero(rng):
    K = with_spectrum([4.0, 2.0, 0.51, 0.49, 0.1], 60, 50, rng)
    s = factorise(Rounded(K), 4, solver="lapack", budget=PLENTY, rng=rng)[0].s
    np.testing.assert_allclose(s, [4, 2, 0.51, 0])
    assert factorise(Rounded(K / 10), 0.9, budget=PLENTY, rng=rng)[0].s.tolist() == [0.0]


def test_a_share_is_sought_with_ranks_that_double(monkeypatch, rng):
    asked, solve = [], solvers.SOLVERS["krylov"]
    monkeypatch.setitem(solvers.SOLVERS, "krylov", lambda A, k, **rest: asked.append(k) or solve(A, k, **rest))
    values = 0.97 ** np.arange(300)
    K = with_spectrum(values, 420, 400, rng)
    for fewest, ranks in ((70, [20, 40, 80]), (40, [20, 40])):
        share = np.cumsum(values**2)[fewest - 1] / (values**2).sum()
        asked.clear()
        found, _ = factorise(Stored(K), 0.999999 * share, solver="krylov", budget=PLENTY, rng=rng)
        assert (len(found.s), asked) == (fewest, ranks)


@pytest.mark.parametrize(
    ("side", "less", "at_once"), [(SMALL_SIDE, 0, True), (SMALL_SIDE + 1, 0, False), (SMALL_SIDE, 1, False)]
)
def test_a_share_of_a_small_matrix_is_sought_at_once_if_that_fits(side, less, at_once, monkeypatch, rng):
    asked = []
    for name, solve in solvers.SOLVERS.items():
        monkeypatch.setitem(solvers.SOLVERS, name, lambda A, k, s=solve, **rest: asked.append(k) or s(A, k, **rest))
    K = with_spectrum(0.5 ** np.arange(30), side + 10, side, rng)
    found, _ = factorise(Stored(K), 0.99, budget=lapack_bytes(K.shape, 8) - less, rng=rng)
    assert asked == [side if at_once else 20] and len(found.s) == 4


@pytest.mark.parametrize("tol", [1.9, 0.3, 0.1, 1e-2, 1e-4])
@pytest.mark.parametrize("k", [1, 3])
@pytest.mark.parametrize("block", [2, 4])
def test_residuals_are_a_tenth_of_the_tolerance_or_less(block, k, tol, rng):
    """Also where eta, which goes with the square of residuals, is small long before."""
    for values in (
        0.9 ** np.arange(100),
        np.r_[2.0 ** -np.arange(3), 0.1 * np.linspace(1, 0.1, 97)],
        np.linspace(1, 0.5, 100),
        np.arange(1, 101) ** -0.3,
    ):
        K = with_spectrum(values, 300, 250, rng)
        found = krylov(Stored(K), k, rng=rng, tol=tol, block=block)
        residual = np.linalg.norm(K.T @ found.U - found.V * found.s, axis=0).max() / found.s[0]
        assert residual <= min(tol, 1) / RESIDUAL_MARGIN


@pytest.mark.parametrize("tol", [0.0, 0.1])
def test_lost_orthogonality_is_mended_before_restarts_and_at_the_end_if_it_counts(tol, monkeypatch, rng):
    happened = []
    for name in ("mend", "shrink"):
        method = getattr(Bidiagonal, name)
        monkeypatch.setattr(Bidiagonal, name, lambda *given, n=name, m=method: happened.append(n) or m(*given))
    krylov(Stored(with_spectrum(np.linspace(1, 0.5, 200), 300, 250, rng)), 6, rng=rng, tol=tol, block=1)
    after = [*happened[1:], "end"]
    mended = [later for one, later in zip(happened, after, strict=True) if one == "mend"]
    assert (len(mended) > 0) == (tol == 0) and set(mended) <= {"shrink", "mend", "end"}
    assert mended.count("mend") <= 1


def test_a_pace_without_patience_looks_after_every_step():
    pace = _Pace(patience=0)
    assert [pace.next_look(step, np.exp(90 - step)) for step in (1, 2, 3, 4)] == [2, 3, 4, 5]


@pytest.mark.parametrize("unit", [1e-150, 1e-3, 1.0, 1e3, 1e150])
def test_an_estimate_of_eta_has_no_unit(unit, rng):
    for k in (1, 2, 3):
        s, residuals = np.sort(rng.uniform(0, 1, 5))[::-1], 0.01 * rng.uniform(0, 1, 5)
        assert estimated_eta(unit * s, unit * residuals, k) == pytest.approx(estimated_eta(s, residuals, k), rel=1e-9)


# What counts as zero, and what is refused.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("points", [4, 10_000])
def test_a_value_counts_as_zero_up_to_some_roundings_for_so_many_points(points, dtype):
    least = NULL_VALUE * np.sqrt(points) * np.finfo(dtype).eps
    s = np.array([3.0, 3 * 1.1 * least, 3 * 0.9 * least], dtype=dtype)
    found = powers(s, -1, points)
    assert found.dtype == dtype and (found > 0).tolist() == [True, True, False]
    np.testing.assert_allclose(found[:2] * s[:2], 1, rtol=1e-6)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_power_that_overflows_is_refused_with_the_value_that_does(dtype):
    s = np.array([1e-2, 1e-3, 1e-4], dtype=dtype)
    exponent = -np.log10(np.finfo(dtype).max) / 3.5
    np.testing.assert_allclose(powers(s[:2], exponent, 10), s[:2].astype(float) ** exponent, rtol=1e-4)
    with pytest.raises(ValueError, match="the singular value 0.0001 to the power .* overflows"):
        powers(s, exponent, 10)


@pytest.mark.parametrize("sides", [(10_000, 4), (4, 10_000)])
def test_the_longer_side_says_what_counts_as_zero(sides):
    """Between the bounds of both sides, a value has no inverse: new points get no coordinate by it."""
    small = NULL_VALUE * np.finfo(float).eps * np.sqrt(4 * 10_000) ** 0.5
    s = np.array([1.0, small])
    factors = Factors(np.eye(sides[0], 2), s, np.eye(sides[1], 2))
    for side in exact_sides(factors, None):
        assert side.map[:, 1].any() == 0 < side.map[:, 0].any()
    X, Z = np.eye(sides[0], 2) * s, np.eye(sides[1], 2)
    A = as_operator(Linear().fit(X, Z), X, Z, budget=PLENTY)
    apart = diagnose(A, Factors(factors.U, s, np.roll(factors.V, 2, axis=0))).objective
    assert apart[1] == 0 != apart[0]  # which has no gamma there
    weights = check_weights(np.r_[1.0, np.zeros(sides[0] - 1)], None, sides, np.dtype(float))
    assert not weights.taken_out(A, factors).U[1:, 1].any()


@pytest.mark.parametrize("k", [1, 4])
def test_what_is_added_to_all_kernel_values_of_a_new_point_does_not_move_it(k, rng):
    """Also where the columns of the vectors sum to zero only roughly."""
    U, s, V = rng.standard_normal((9, k)), np.arange(k, 0, -1.0), rng.standard_normal((7, k))
    means = rng.standard_normal(9), rng.standard_normal(7), 0.0
    for side, count in zip(exact_sides(Factors(U, s, V), means), (7, 9), strict=True):
        values = rng.standard_normal((5, count))
        there = values @ side.map - side.offset
        np.testing.assert_allclose((values + 1e3) @ side.map - side.offset, there, atol=1e-11)
        assert np.abs(there).max() > 0.1


def test_factors_in_any_order_and_with_any_signs_become_the_same_and_stay_so(rng):
    """Also where the largest entries of a vector, of both signs, are equally large."""
    U, s, V = rng.standard_normal((6, 4)), np.array([4.0, 3.0, 2.0, 1.0]), rng.standard_normal((5, 4))
    U[:2, 0] = [-9, 9]
    expected = Factors(U, s, V).canonical()
    for again in (
        expected.canonical(),
        *(Factors(*(part[..., order] for part in (U, s, V))).canonical() for order in permutations(range(4))),
    ):
        for found, part in zip(astuple(again), astuple(expected), strict=True):
            np.testing.assert_array_equal(found, part)
    flipped = Factors(U * [1, -1, 1, -1], s, V * [1, -1, 1, -1]).canonical()
    np.testing.assert_array_equal(flipped.V, expected.V)


@pytest.mark.parametrize("slab", [7, 40, 64])
@pytest.mark.parametrize("height", [5, 31, 32, 33, 64, 100, 131])
@pytest.mark.parametrize("order", ["C", "F"])
def test_signs_are_those_of_the_largest_entries_however_rows_are_cut(order, height, slab, monkeypatch, rng):
    monkeypatch.setattr("lopsided.svd.factors.SLAB_ROWS", slab)
    for _ in range(5):
        U = np.array(rng.standard_normal((height, 4)), order=order)
        np.testing.assert_array_equal(canonical_signs(U), np.sign(U[np.abs(U).argmax(axis=0), range(4)]))


@pytest.mark.parametrize("scale", [1.0, 1e-200, 1e200])
@pytest.mark.parametrize("exchanged", [False, True])
def test_residuals_of_a_matrix_that_counts_as_zero_are_in_units_of_the_largest_product(exchanged, scale, rng):
    K = rng.standard_normal((12, 9))
    K = K.T if exchanged else K
    U, V = np.eye(len(K), 3), np.eye(K.shape[1], 3)
    found = diagnose(Stored(scale * K), Factors(U, np.zeros(3), V))
    e, r = K @ V, K.T @ U
    unit = max(np.abs(e).max(), np.abs(r).max())
    np.testing.assert_allclose(found.left, np.linalg.norm(e, axis=0) / unit)
    np.testing.assert_allclose(found.right, np.linalg.norm(r, axis=0) / unit)
    np.testing.assert_allclose(found.coupled_left, np.linalg.norm(K @ r, axis=0) / unit**2)
    np.testing.assert_array_equal(found.objective, 0)
    assert diagnose(Stored(0 * K), Factors(U, np.zeros(3), V)).worst == 0


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_weights_are_taken_if_their_squares_are_numbers(dtype):
    limits = np.finfo(dtype)
    least, most = float(limits.tiny) ** 0.5, float(limits.max) ** 0.5
    for heaviest in (1.1 * least, 0.9 * most):
        given = np.array([0.0, heaviest, heaviest / 2])
        found = check_weights(given, None, (3, 2), np.dtype(dtype))
        np.testing.assert_array_equal(found.left, given)
        np.testing.assert_array_equal(found.right, [1, 1])
        assert not np.shares_memory(found.left, given)
    for heaviest in (0.9 * least, 1.1 * most):
        with pytest.raises(ValueError, match="divide the weights by it"):
            check_weights(None, np.array([0.0, heaviest]), (3, 2), np.dtype(dtype))
    for bad in (-1e-300, np.nan, np.inf):
        with pytest.raises(ValueError, match="finite and not negative"):
            check_weights([1.0, bad, 1.0], None, (3, 2), np.dtype(dtype))
    for side, given, shape in (("left", [0.0, 0.0, 0.0], (3, 2)), ("right", [0.0, 0.0], (3, 2))):
        with pytest.raises(ValueError, match=f"all . {side}_weights are zero"):
            check_weights(*((given, None) if side == "left" else (None, given)), shape, np.dtype(dtype))
    assert check_weights(None, None, (3, 2), np.dtype(dtype)) is None


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("unit", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("light", [0, 12])
def test_vectors_of_points_of_any_weight_are_where_kernel_values_put_them(light, unit, dtype, rng):
    """Light points too: their entries of the weighted vectors hold few digits, or none."""
    K = rng.standard_normal((30, 20))
    weights = [unit * np.r_[np.geomspace(1e-16, 0.1, light), rng.uniform(0.5, 1, count - light)] for count in K.shape]
    given = check_weights(*weights, K.shape, np.dtype(dtype))
    A = Stored(K.astype(dtype))
    found = given.taken_out(A, factorise(given.on(A), 4, solver="lapack", budget=PLENTY, rng=rng)[0])
    counted = given.times(found)
    eps = np.finfo(dtype).eps
    for there, vectors in ((K @ counted.V / found.s, found.U), (K.T @ counted.U / found.s, found.V)):
        np.testing.assert_allclose(vectors, there, atol=20 * eps**0.75 * np.abs(there).max())


@pytest.mark.parametrize("worst", ["objective", "left", "right", "coupled_left", "coupled_right"])
def test_the_worst_of_residuals_is_the_largest_of_all_of_them(worst):
    names = ("singular_values", "objective", "left", "right", "coupled_left", "coupled_right")
    values = {name: np.array([0.1, -7.0 if name == worst else 0.2]) for name in names}
    values["singular_values"] += 100
    found = Diagnostics(**values)
    assert found.worst == 7
    rows = str(found).splitlines()
    assert len(rows) == 3 and rows[0].split()[0] == "component" and [row.split()[0] for row in rows[1:]] == ["0", "1"]
    assert rows[2].split()[1] == "100.2" or worst == "singular_values"
