"""Laws of the saddle system of AsK-LS, over every solver."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from cases import (
    ASYMMETRIC,
    INVERTING,
    PLENTY,
    SADDLES,
    SYMMETRIC,
    assert_close,
    bordered,
    centred,
    solve_bordered,
    spectral_of_product,
    with_spectrum,
)
from lopsided.exceptions import ConvergenceWarning, NearSingularWarning
from lopsided.least_squares.saddle import (
    BlockLU,
    Minres,
    Spectral,
    affordable_size,
    check_affordable,
    check_solution,
    choose_saddle,
    largest_singular_value,
    minres,
    warn_if_near_singular,
)
from lopsided.operators import Stored
from lopsided.svd import Choice

N, TARGETS = 24, 3
every_saddle = pytest.mark.parametrize("name", SADDLES)
every_inverse = pytest.mark.parametrize("name", INVERTING)
with_or_without_weights = pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
every_C = pytest.mark.parametrize("C", [0.05, 0.7, 40.0])


def matrix(name, seed=0):
    """A square matrix without symmetry, or with it if the solver asks for it."""
    K = np.random.default_rng(seed).standard_normal((N, N)) / np.sqrt(N)
    return K + K.T if name in SYMMETRIC else K


def targets(seed=1):
    return np.sign(np.random.default_rng(seed).standard_normal((N, TARGETS)))


def at(name, K, C):
    return SADDLES[name](K).at(C)


def weights_of(weighted, seed=2):
    """Weights of the samples from 1/4 to 4, or ones."""
    return 4 ** np.random.default_rng(seed).uniform(-1, 1, N) if weighted else np.ones(N)


def refit(K, C, Y, kept, left_out, weights):
    """Values of both functions at the samples left out, of a machine trained on the others without the library."""
    a, c, b1, b2 = solve_bordered(K[np.ix_(kept, kept)], C, Y[kept], weights=weights[kept])
    return K[np.ix_(left_out, kept)] @ c + b1, K[np.ix_(kept, left_out)].T @ a + b2


def folds_of(number, seed=3):
    order = np.random.default_rng(seed).permutation(N)
    return [(np.setdiff1d(order, fold), np.sort(fold)) for fold in np.array_split(order, number)]


@every_C
@every_saddle
@with_or_without_weights
def test_every_solver_satisfies_the_four_equations(name, C, weighted):
    K, Y, w = matrix(name), targets(), weights_of(weighted)
    a, c, b1, b2 = SADDLES[name](K, w).at(C).solve(Y)
    scale = C * np.abs(Y).max() * w.max()
    np.testing.assert_allclose(a.sum(axis=0), 0, atol=1e-11 * scale)
    np.testing.assert_allclose(c.sum(axis=0), 0, atol=1e-11 * scale)
    np.testing.assert_allclose(a / (C * w[:, None]) + K @ c + b1, Y, atol=1e-10)
    np.testing.assert_allclose(c / (C * w[:, None]) + K.T @ a + b2, Y, atol=1e-10)


@every_C
@every_saddle
@with_or_without_weights
def test_every_solver_agrees_with_the_bordered_matrix(name, C, weighted):
    K, Y, w = matrix(name), targets(), weights_of(weighted)
    duals = SADDLES[name](K, w if weighted else None).at(C).solve(Y)
    for found, expected in zip(duals, solve_bordered(K, C, Y, weights=w), strict=True):
        assert_close(found, expected, ulps=1e5)


@pytest.mark.parametrize("number", [1, 3, N])
@every_saddle
def test_rows_and_columns_without_entries_make_no_difference(name, number):
    K, Y, order = matrix(name), targets(), np.random.default_rng(4).permutation(N)
    K[order[:number]] = K[:, order[:number] if name in SYMMETRIC else order[-number:]] = 0
    for found, expected in zip(at(name, K, 0.7).solve(Y), solve_bordered(K, 0.7, Y), strict=True):
        assert_close(found, expected, ulps=1e5)


@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e5])
@with_or_without_weights
def test_a_decomposition_is_as_accurate_in_any_unit(unit, weighted):
    K, Y, w, C = unit * matrix("any"), targets(), weights_of(weighted), 1e6 / unit
    a, c, b1, b2 = Spectral.of_matrix(Stored(K), C, weights=w).at(C).solve(Y)
    expected = solve_bordered(K / unit, C * unit, Y, weights=w)
    for found, wanted in zip((unit * a, unit * c, b1, b2), expected, strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-8 * np.abs(wanted).max())


@pytest.mark.parametrize("unit", [1e-5, 1.0, 1e5])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_offsets_resolve_a_matrix_that_maps_constants_to_nearly_what_the_ridge_removes(kind, unit, rng):
    """Without its border the system has an eigenvalue of 1e-9 of the ridge, and with it none near zero."""
    K, Y, C = np.mean([np.eye(N)[rng.permutation(N)] for _ in range(4)], axis=0), targets(), 1 + 1e-9
    a, c, b1, b2 = BlockLU(Stored(kind(unit * K))).at(C / unit).solve(Y)
    for found, wanted in zip((unit * a, unit * c, b1, b2), solve_bordered(K, C, Y), strict=True):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=1e-11 * np.abs(wanted).max())


@every_inverse
@with_or_without_weights
def test_leaving_one_out_is_refitting_without_it(name, weighted):
    K, Y, grid, w = matrix(name), targets(), np.array([0.05, 0.7, 40.0]), weights_of(weighted)
    for C, (source, target) in zip(grid, SADDLES[name](K, w).leave_one_out(grid, Y), strict=True):
        for kept, left_out in folds_of(N):
            expected = refit(K, C, Y, kept, left_out, w)
            assert_close(source[left_out], expected[0], ulps=1e6)
            assert_close(target[left_out], expected[1], ulps=1e6)


@every_saddle
@with_or_without_weights
def test_leaving_folds_out_is_refitting_without_them(name, weighted):
    K, Y, grid, folds, w = matrix(name), targets(), np.array([0.05, 0.7]), folds_of(5), weights_of(weighted)
    for C, (source, target) in zip(grid, SADDLES[name](K, w).leave_folds_out(grid, Y, folds), strict=True):
        for kept, left_out in folds:
            expected = refit(K, C, Y, kept, left_out, w)
            assert_close(source[left_out], expected[0], ulps=1e5)
            assert_close(target[left_out], expected[1], ulps=1e5)


@pytest.mark.parametrize("name", sorted({*INVERTING} - {"spectral_gram", "woodbury"}))  # those two are for small C
def test_leaving_out_keeps_its_digits_for_large_kernel_values(name):
    K, Y, grid, folds = 1e6 * matrix(name), targets(), np.array([40.0]), folds_of(N)
    ((source, target),) = SADDLES[name](K).leave_one_out(grid, Y)
    ((by_folds, _),) = SADDLES[name](K).leave_folds_out(grid, Y, folds)
    for kept, left_out in folds:
        expected = refit(K, *grid, Y, kept, left_out, np.ones(N))
        assert_close(source[left_out], expected[0], ulps=1e9)
        assert_close(target[left_out], expected[1], ulps=1e9)
        assert_close(by_folds[left_out], source[left_out], ulps=1e9)


@every_inverse
def test_held_out_values_are_nan_if_rounding_hides_the_ridge(name):
    family, Y, grid = SADDLES[name](1e12 * matrix(name)), targets(), np.array([1e-12, 1e3])
    for path in (family.leave_one_out(grid, Y), family.leave_folds_out(grid, Y, folds_of(2))):
        known, unknown = path
        assert np.isfinite(known).all()
        assert np.isnan(unknown).all()


def test_a_damped_system_does_not_leave_one_out():
    assert not BlockLU(Stored(matrix("any")), damping=1.0).leaves_one_out


@pytest.mark.parametrize("name", sorted({*SADDLES} - {*INVERTING}))
def test_solvers_without_an_inverse_name_the_folds_instead(name):
    with pytest.raises(NotImplementedError, match="folds"):
        list(SADDLES[name](matrix(name)).leave_one_out(np.array([0.1]), targets()))


def test_a_long_path_is_computed_in_batches(monkeypatch):
    K, Y, grid, sizes = matrix("any"), targets(), np.geomspace(0.05, 50, 7), []
    family = SADDLES["spectral_svd"](K)
    expected = list(family.leave_one_out(grid, Y))
    at = family.at
    monkeypatch.setattr(family, "at", lambda some: sizes.append(len(some)) or at(some))
    monkeypatch.setattr("lopsided.least_squares.saddle.spectral.SOLUTION_ENTRIES", 3 * N * TARGETS)
    for one, other in zip(family.leave_one_out(grid, Y), expected, strict=True):
        assert_close(one, other, ulps=1e4)
    assert sum(sizes) == len(grid) and max(sizes) <= 3


@pytest.mark.parametrize("columns", [1, 5, 8, N])
def test_an_inverse_is_computed_by_as_many_columns_as_may_be_held(columns, monkeypatch):
    K, held = matrix("any"), []
    system, entries = BlockLU(Stored(K)).at(0.7), columns * 2 * N
    solve = system.solve_S
    monkeypatch.setattr("lopsided.least_squares.saddle.block_lu.INVERSE_ENTRIES", entries)
    monkeypatch.setattr(system, "solve_S", lambda r: held.append(r.size) or solve(r))
    found, inverse = system.inverse_diagonals(), np.linalg.inv(bordered(K, 0.7))[2:, 2:]
    assert_close(found, [inverse[:N, :N].diagonal(), inverse[N:, N:].diagonal(), inverse[:N, N:].diagonal()], ulps=1e4)
    assert max(held) <= entries and len(held) == 2 * -(-N // columns)


@every_C
@pytest.mark.parametrize("rank", [1, 4])
def test_factors_of_low_rank_give_the_solution_of_their_matrix(rank, C, rng):
    L, R, Y = rng.standard_normal((N, rank)), rng.standard_normal((N, rank)), targets()
    family = spectral_of_product(L, R)
    for found, expected in zip(family.at(C).solve(Y), solve_bordered(L @ R.T, C, Y), strict=True):
        assert_close(found, expected, ulps=1e5)
    ((source, target),) = family.leave_one_out(np.array([C]), Y)
    for kept, left_out in folds_of(N):
        expected = refit(L @ R.T, C, Y, kept, left_out, np.ones(N))
        assert_close(source[left_out], expected[0], ulps=1e6)
        assert_close(target[left_out], expected[1], ulps=1e6)


@pytest.mark.parametrize("damping", [1e-3, 1.0])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_damping_is_the_regularised_least_squares_solution(make, damping):
    K, Y = matrix("any"), targets()
    duals = BlockLU(Stored(make(K)), damping).at(0.7).solve(Y)
    for found, expected in zip(duals, solve_bordered(K, 0.7, Y, damping), strict=True):
        assert_close(found, expected, ulps=1e5)


@every_C
@every_saddle
def test_a_symmetric_matrix_gives_the_classical_machine(name, C):
    K, Y = matrix(SYMMETRIC[0]), targets()
    a, c, b1, b2 = at(name, K, C).solve(Y)
    assert_close(a, c, ulps=1e5)
    assert_close(b1, b2, ulps=1e5)
    classical = np.block([[np.zeros((1, 1)), np.ones((1, N))], [np.ones((N, 1)), K + np.eye(N) / C]])
    expected = np.linalg.solve(classical, np.concatenate([np.zeros((1, TARGETS)), Y]))
    assert_close(a, expected[1:], ulps=1e5)
    assert_close(b1, expected[0], ulps=1e5)


@pytest.mark.parametrize("name", SYMMETRIC)
def test_the_classical_machine_is_indifferent_to_a_singular_saddle(name, rng):
    """Where 1/C is an eigenvalue of a positive definite K the saddle is singular and the classical system is not."""
    Q = np.linalg.qr(centred(rng.standard_normal((N, N))))[0]
    Q[:, -1] = 1 / np.sqrt(N)
    K = (Q * np.r_[np.linspace(1, 3, N - 1), 0]) @ Q.T
    K, Y = (K + K.T) / 2, targets()
    system = at(name, K, 0.5)
    assert np.linalg.cond(bordered(K, 0.5)) > 1e3
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_near_singular(system)
    a, c, b1, b2 = system.solve(Y)
    np.testing.assert_allclose(a / 0.5 + K @ a + b1, Y, atol=1e-12)
    np.testing.assert_array_equal(a, c)
    np.testing.assert_array_equal(b1, b2)


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_exchanging_the_matrix_exchanges_the_functions(name):
    K, Y = matrix(name), targets()
    a, c, b1, b2 = at(name, K, 0.7).solve(Y)
    for found, expected in zip(at(name, K.T.copy(), 0.7).solve(Y), (c, a, b2, b1), strict=True):
        assert_close(found, expected, ulps=1e5)


def test_digits_lost_by_squaring_are_recovered(rng):
    """1/C far below the largest singular value makes I/C^2 - B B' lose all digits."""
    K, Y = centred(with_spectrum(np.logspace(4, -1, N), N, N, rng)), targets()
    for C in (1.0, 1e4, 1e6):
        for found, expected in zip(at("dense", K, C).solve(Y)[:2], solve_bordered(K, C, Y)[:2], strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


@pytest.mark.parametrize("condition", [1e2, 1e4, 1e5, 1e6, 1e7])
def test_a_refined_solution_errs_by_rounding_times_the_condition_and_not_its_square(condition, rng):
    K, Y, C = with_spectrum(np.geomspace(1, 1 / condition, N), N, N, rng), targets(), 3 * condition
    for found, expected in zip(at("dense", K, C).solve(Y), solve_bordered(K, C, Y), strict=True):
        assert_close(found, expected, ulps=10 * condition)


@pytest.mark.parametrize("budget", [1 << 28, 1 << 31, 1 << 34])
def test_the_affordable_size_is_the_largest_that_fits_the_budget(budget):
    n, spectral = affordable_size(budget), Choice("spectral", "asked for")
    check_affordable(spectral, n, budget)
    with pytest.raises(ValueError, match="above the budget"):
        check_affordable(spectral, n + 1, budget)


@pytest.mark.parametrize("offset", [0.0, 1e-11])
@pytest.mark.parametrize("name", [name for name in ASYMMETRIC if not name.startswith("minres")])
def test_a_singular_value_at_the_ridge_is_named_with_a_safe_C(name, offset, rng):
    U, s, Vt = np.linalg.svd(centred(rng.standard_normal((N, N))))
    s[3] = 2.0
    K = (U * s) @ Vt
    system = at(name, K, 0.5 * (1 + offset))
    with pytest.warns(NearSingularWarning, match=rf"singular value 2 .*below {1 / s.max():.4g}.*damping=1.0"):
        warn_if_near_singular(system)
    assert all(np.isfinite(part).all() for part in system.solve(targets()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_near_singular(at(name, K, 0.999 / s.max()))
        warn_if_near_singular(at(name, K, 0.5 * 1.01))


@pytest.mark.parametrize("name", ["dense", "block_lu_dense", "sparse_lu"])
def test_a_ridge_lost_beside_every_singular_value_leaves_the_conditioning_of_the_matrix(name, rng):
    """The system has the eigenvalues s and -s then, up to 1/C, and the smallest pair is not zero."""
    K = centred(with_spectrum(np.linspace(3.0, 1.0, N), N, N, rng))
    s = np.linalg.svd(K, compute_uv=False)[:-1]  # the last belongs to the vector of ones
    found = at(name, K, 1e12).conditioning()
    assert s[-1] * (1 - 1e-6) <= found.sigma <= 2 * s[-1]
    assert s[-1] / s[0] * (1 - 1e-6) <= found.rcond <= 2 * s[-1] / s[0]


@pytest.mark.parametrize("K", [-2.0 * np.eye(N), 2.0 * np.eye(N)[np.arange(N) ^ 1]], ids=["diagonal", "matching"])
@pytest.mark.parametrize("name", ["sparse_lu", "block_lu_dense", "dense", *SYMMETRIC])
def test_pivots_that_vanish_exactly_still_give_a_finite_answer(name, K):
    system = at(name, K, 0.5)
    duals = system.solve(targets())
    check_solution(system, duals)
    assert np.abs(duals.a).max() < 1e17
    with pytest.warns(NearSingularWarning):
        warn_if_near_singular(system)


def test_a_system_without_a_finite_solution_names_a_safe_C():
    K = matrix("any")
    system = at("dense", K, 0.7)
    duals = system.solve(targets())
    safe = 1 / np.linalg.norm(centred(K), 2)
    with pytest.raises(ValueError, match=f"C=0.7 gives no finite solution.*any C below {safe:.4g}"):
        check_solution(system, duals._replace(c=np.inf * duals.c))


def test_minres_warns_if_it_does_not_converge(monkeypatch):
    monkeypatch.setattr(minres, "MAX_STEPS", 5)
    K = matrix("any")
    largest = np.linalg.norm(centred(K), 2)
    with pytest.warns(ConvergenceWarning, match=r"residual.*above tol.*C=100.*below 0\.\d+") as caught:
        Minres(Stored(K)).at(100.0).solve(targets())
    said = float(str(caught[0].message).split("below ")[1])
    assert said == pytest.approx(1 / largest, rel=0.1)


@pytest.mark.parametrize("seed", range(4))
def test_minres_tells_the_condition_of_what_its_right_hand_sides_excite(seed):
    rng = np.random.default_rng(seed)
    eigenvalues = rng.choice([-1, 1], (2, 6, 1)) * 10 ** rng.uniform(-2, 2, (2, 6, 1))
    excited = rng.choice(12, 4, replace=False)
    r = np.eye(12)[:, excited].reshape(2, 6, 4)
    x, rcond = minres.minres(lambda v: eigenvalues * v, r, 1e-12)
    assert_close(x, r / eigenvalues)
    sizes = np.abs(eigenvalues.ravel()[excited])
    assert rcond == pytest.approx(sizes.min() / sizes.max())


def test_minres_solves_a_right_hand_side_of_zeros():
    Y = np.column_stack([targets()[:, 0], np.ones(N)])
    a, _, b1, _ = Minres(Stored(matrix("any"))).at(0.1).solve(Y)
    assert np.abs(a[:, 1]).max() == 0
    assert b1[1] == 1


@with_or_without_weights
@pytest.mark.parametrize("distance", [1e-2, -1e-3, 1e-5])
@pytest.mark.parametrize("name", [name for name in ASYMMETRIC if name in INVERTING])
def test_the_singular_value_next_to_a_ridge_and_its_distance_are_found(name, distance, weighted):
    K, w = matrix(name), weights_of(weighted)
    s = np.linalg.svd(scaled_and_centred(K, w), compute_uv=False)
    C = (1 + distance) / s[5]
    found = SADDLES[name](K, w if weighted else None).at(C).conditioning()
    assert found.sigma == pytest.approx(s[5], rel=abs(distance) / 5)
    assert found.rcond == pytest.approx(abs(1 / C - s[5]) / (1 / C + s[0]), rel=0.2)


@with_or_without_weights
def test_the_largest_singular_value_is_that_of_the_scaled_and_centred_matrix(weighted):
    K, w = matrix("dense"), weights_of(weighted)
    family = SADDLES["dense"](K, w if weighted else None)
    expected = np.linalg.norm(scaled_and_centred(K, w), 2)
    assert largest_singular_value(family.A, family.border) == pytest.approx(expected, rel=1e-9)


def scaled_and_centred(K, weights):
    """H r K r H with roots r of the weights, and H the projection on the complement of r."""
    r = np.sqrt(weights)
    H = np.eye(len(K)) - np.outer(r, r) / (r @ r)
    return H @ (r[:, None] * K * r) @ H


@pytest.mark.parametrize(
    ("numbers", "name"),
    [
        ({"n": 100, "entries": 10_000}, "dense"),
        ({"n": 100, "entries": 10_000, "many": True}, "spectral"),
        ({"n": 100, "entries": 10_000, "symmetric": True}, "symmetric"),
        ({"n": 1600, "entries": 5000, "is_sparse": True}, "sparse_lu"),
        ({"n": 12_000, "entries": 30_000, "is_sparse": True, "many": True}, "sparse_lu"),
        ({"n": 2000, "entries": 100_000, "is_sparse": True}, "dense"),
        ({"n": 4000, "entries": 100_000, "is_sparse": True}, "minres"),
        ({"n": 50_000, "entries": 50_000**2}, "minres"),
        ({"n": 50_000, "entries": 50_000**2, "symmetric": True, "many": True}, "minres"),
        ({"n": 10_000, "entries": 10_000**2, "budget": 1000}, "minres"),
        ({"n": 300, "entries": 300**2, "budget": 1}, "dense"),
        ({"n": 300, "entries": 300**2, "budget": 1, "many": True}, "spectral"),
        ({"n": 301, "entries": 301**2, "budget": 1, "many": True}, "minres"),
        ({"n": 500, "entries": 500**2, "budget": 1}, "minres"),
    ],
)
def test_the_choice_of_a_solver_is_a_pure_function_of_numbers(numbers, name):
    choice = choose_saddle(**{"budget": PLENTY, **numbers})
    assert choice.name == name
    assert len(choice.reason) > 10


@every_saddle
def test_the_matrix_is_not_modified(name):
    K = matrix(name)
    before = K.copy()
    family = SADDLES[name](K)
    family.at(0.7).solve(targets())
    list(family.leave_folds_out(np.array([0.7]), targets(), folds_of(2)))
    np.testing.assert_array_equal(K, before)
