"""Laws of the saddle system of AsK-LS, over every solver."""

import warnings

import numpy as np
import pytest
from scipy import sparse

from cases import ASYMMETRIC, INVERTING, PLENTY, SADDLES, assert_close, bordered, centred, solve_bordered, with_spectrum
from lopsided.exceptions import ConvergenceWarning, NearSingularWarning
from lopsided.least_squares.saddle import minres
from lopsided.least_squares.saddle.block_lu import BlockLU
from lopsided.least_squares.saddle.minres import Minres
from lopsided.least_squares.saddle.policy import (
    SADDLE_SOLVERS,
    build_saddle,
    check_solution,
    choose_saddle,
    warn_if_near_singular,
)
from lopsided.least_squares.saddle.reduced import Reduced
from lopsided.least_squares.saddle.spectral import Spectral
from lopsided.least_squares.saddle.symmetric import Symmetric
from lopsided.operators import Stored
from lopsided.svd.dense import lapack

N, TARGETS = 24, 3
every_saddle = pytest.mark.parametrize("name", SADDLES)
every_C = pytest.mark.parametrize("C", [0.05, 0.7, 40.0])


def matrix(name, seed=0):
    """A square matrix without symmetry, or with it if the solver asks for it."""
    K = np.random.default_rng(seed).standard_normal((N, N)) / np.sqrt(N)
    return K + K.T if name.startswith("symmetric") else K


def targets(seed=1):
    return np.sign(np.random.default_rng(seed).standard_normal((N, TARGETS)))


def at(name, K, C):
    return SADDLES[name](K).at(C)


@every_C
@every_saddle
def test_every_solver_satisfies_the_four_equations(name, C):
    K, Y = matrix(name), targets()
    a, c, b1, b2 = at(name, K, C).solve(Y)
    scale = C * np.abs(Y).max()
    np.testing.assert_allclose(a.sum(axis=0), 0, atol=1e-11 * scale)
    np.testing.assert_allclose(c.sum(axis=0), 0, atol=1e-11 * scale)
    np.testing.assert_allclose(a / C + K @ c + b1, Y, atol=1e-10)
    np.testing.assert_allclose(c / C + K.T @ a + b2, Y, atol=1e-10)


@every_C
@every_saddle
def test_every_solver_agrees_with_the_bordered_matrix(name, C):
    K, Y = matrix(name), targets()
    for found, expected in zip(at(name, K, C).solve(Y), solve_bordered(K, C, Y), strict=True):
        assert_close(found, expected, ulps=1e5)


@every_C
@pytest.mark.parametrize("name", INVERTING)
def test_leaving_one_out_is_refitting_without_it(name, C):
    K, Y = matrix(name), targets()
    system = at(name, K, C)
    source, target = system.leave_one_out(Y, system.solve(Y))
    for i in range(N):
        rest = np.delete(np.arange(N), i)
        a, c, b1, b2 = solve_bordered(K[np.ix_(rest, rest)], C, Y[rest])
        assert_close(source[i], K[i, rest] @ c + b1, ulps=1e6)
        assert_close(target[i], K[rest, i] @ a + b2, ulps=1e6)


@pytest.mark.parametrize(
    "name", [name for name in INVERTING if name not in ("spectral_gram", "woodbury")]
)  # for small C
def test_leaving_one_out_keeps_its_digits_where_kernel_values_are_large(name):
    K, Y, C = 1e6 * matrix(name), targets(), 40.0
    system = at(name, K, C)
    source, target = system.leave_one_out(Y, system.solve(Y))
    folds = [(np.delete(np.arange(N), i), np.array([i])) for i in range(N)]
    ((by_folds, _),) = SADDLES[name](K).leave_folds_out(np.array([C]), Y, folds)
    for rest, (i,) in folds:
        a, c, b1, b2 = solve_bordered(K[np.ix_(rest, rest)], C, Y[rest])
        assert_close(source[i], K[i, rest] @ c + b1, ulps=1e9)
        assert_close(target[i], K[rest, i] @ a + b2, ulps=1e9)
        assert_close(by_folds[i], source[i], ulps=1e9)


@pytest.mark.parametrize("name", INVERTING)
def test_samples_left_out_are_unknown_where_rounding_drowns_the_ridge(name):
    K, Y, grid = 1e12 * matrix(name), targets(), np.array([1e-12, 1e3])
    folds = [(np.arange(12, N), np.arange(12)), (np.arange(12), np.arange(12, N))]
    for path in (SADDLES[name](K).leave_one_out(grid, Y), SADDLES[name](K).leave_folds_out(grid, Y, folds)):
        known, unknown = path
        assert np.isfinite(known).all()
        assert np.isnan(unknown).all()


@pytest.mark.parametrize("name", INVERTING)
def test_a_path_of_C_is_the_answers_at_each_C(name):
    K, Y, grid = matrix(name), targets(), np.array([0.05, 0.3, 2.0, 50.0])
    path = list(SADDLES[name](K).leave_one_out(grid, Y))
    for C, found in zip(grid, path, strict=True):
        system = at(name, K, C)
        for one, other in zip(found, system.leave_one_out(Y, system.solve(Y)), strict=True):
            assert_close(one, other, ulps=1e4)


def test_a_solver_says_whether_it_leaves_one_out():
    assert {name for name, build in SADDLES.items() if build(matrix(name)).leaves_one_out} == set(INVERTING)
    assert not BlockLU(Stored(matrix("any")), damping=1.0).leaves_one_out


def test_a_long_path_is_worked_through_in_batches(monkeypatch):
    K, Y, grid, sizes = matrix("any"), targets(), np.geomspace(0.05, 50, 7), []
    saddle = SADDLES["spectral_svd"](K)
    expected = list(saddle.leave_one_out(grid, Y))
    inverse = saddle.inverse
    monkeypatch.setattr(saddle, "inverse", lambda some, *R: sizes.append(len(some)) or inverse(some, *R))
    monkeypatch.setattr("lopsided.least_squares.saddle.spectral.BATCH_ENTRIES", 3 * N * TARGETS)
    for one, other in zip(saddle.leave_one_out(grid, Y), expected, strict=True):
        assert_close(one, other, ulps=1e4)
    assert sum(sizes) == 7 and max(sizes) <= 3


@every_saddle
def test_leaving_folds_out_is_refitting_without_them(name):
    K, Y, C = matrix(name), targets(), 0.7
    order = np.random.default_rng(3).permutation(N)
    folds = [(np.sort(np.setdiff1d(order, fold)), np.sort(fold)) for fold in np.array_split(order, 5)]
    ((source, target),) = SADDLES[name](K).leave_folds_out(np.array([C]), Y, folds)
    for kept, left_out in folds:
        a, c, b1, b2 = solve_bordered(K[np.ix_(kept, kept)], C, Y[kept])
        assert_close(source[left_out], K[np.ix_(left_out, kept)] @ c + b1, ulps=1e5)
        assert_close(target[left_out], K[np.ix_(kept, left_out)].T @ a + b2, ulps=1e5)


@every_C
@pytest.mark.parametrize("rank", [1, 4])
def test_factors_of_low_rank_give_the_solution_of_their_matrix(rank, C, rng):
    factors = lapack(Stored(rng.standard_normal((N, N))), rank)
    Y, system = targets(), Spectral.of_factors(factors).at(C)
    duals = system.solve(Y)
    for found, expected in zip(duals, solve_bordered(factors.matrix(), C, Y), strict=True):
        assert_close(found, expected, ulps=1e5)
    exact = BlockLU(Stored(factors.matrix())).at(C)
    for one, other in zip(system.leave_one_out(Y, duals), exact.leave_one_out(Y, exact.solve(Y)), strict=True):
        assert_close(one, other, ulps=1e5)


@pytest.mark.parametrize("damping", [1e-3, 1.0])
@pytest.mark.parametrize("make", [np.asarray, sparse.csr_array], ids=["dense", "sparse"])
def test_damping_is_the_regularised_least_squares_solution(make, damping):
    K, Y = matrix("any"), targets()
    duals = BlockLU(Stored(make(K)), damping).at(0.7).solve(Y)
    for found, expected in zip(duals, solve_bordered(K, 0.7, Y, damping), strict=True):
        assert_close(found, expected, ulps=1e5)


@every_C
@pytest.mark.parametrize("name", [*ASYMMETRIC, "symmetric", "symmetric_many"])
def test_a_symmetric_matrix_gives_the_classical_machine(name, C):
    K, Y = matrix("symmetric"), targets()
    a, c, b1, b2 = at(name, K, C).solve(Y)
    assert_close(a, c, ulps=1e5)
    assert_close(b1, b2, ulps=1e5)
    classical = np.block([[np.zeros((1, 1)), np.ones((1, N))], [np.ones((N, 1)), K + np.eye(N) / C]])
    expected = np.linalg.solve(classical, np.concatenate([np.zeros((1, TARGETS)), Y]))
    assert_close(a, expected[1:], ulps=1e5)
    assert_close(b1, expected[0], ulps=1e5)


@pytest.mark.parametrize("name", ["symmetric", "symmetric_many"])
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
    a, _, b1, _ = system.solve(Y)
    np.testing.assert_allclose(a / 0.5 + K @ a + b1, Y, atol=1e-12)


@pytest.mark.parametrize("name", ASYMMETRIC)
def test_exchanging_the_matrix_exchanges_the_functions(name):
    K, Y = matrix(name), targets()
    a, c, b1, b2 = at(name, K, 0.7).solve(Y)
    for found, expected in zip(at(name, K.T.copy(), 0.7).solve(Y), (c, a, b2, b1), strict=True):
        assert_close(found, expected, ulps=1e5)


def test_what_squaring_loses_is_refined_or_solved_as_a_whole(rng):
    """1/C far below the largest singular value makes I/C^2 - B B' lose all digits."""
    K, Y = centred(with_spectrum(np.logspace(4, -1, N), N, N, rng)), targets()
    for C in (1.0, 1e4, 1e6):
        for found, expected in zip(Reduced(Stored(K)).at(C).solve(Y)[:2], solve_bordered(K, C, Y)[:2], strict=True):
            np.testing.assert_allclose(found, expected, rtol=0, atol=1e-6 * np.abs(expected).max())


def singular_at(C, rng):
    """A matrix whose centred form has the singular value 1/C."""
    K = centred(rng.standard_normal((N, N)))
    U, s, Vt = np.linalg.svd(K)
    s[3] = 1 / C
    return (U * s) @ Vt, s


@pytest.mark.parametrize("offset", [0.0, 1e-11])
@pytest.mark.parametrize("name", [name for name in ASYMMETRIC if not name.startswith("minres")])
def test_a_singular_value_at_the_ridge_is_named_with_a_safe_C(name, offset, rng):
    K, s = singular_at(0.5, rng)
    system = at(name, K, 0.5 * (1 + offset))
    with pytest.warns(NearSingularWarning, match=rf"singular value 2 .*below {1 / s.max():.4g}.*damping=1.0"):
        warn_if_near_singular(system)
    assert all(np.isfinite(part).all() for part in system.solve(targets()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warn_if_near_singular(at(name, K, 0.999 / s.max()))
        warn_if_near_singular(at(name, K, 0.5 * 1.01))


@pytest.mark.parametrize("K", [-2.0 * np.eye(N), 2.0 * np.eye(N)[np.arange(N) ^ 1]], ids=["diagonal", "matching"])
def test_pivots_that_vanish_exactly_still_give_a_finite_answer(K):
    Y = targets()
    saddles = (
        BlockLU(Stored(sparse.csr_array(K))),
        BlockLU(Stored(K)),
        Reduced(Stored(K)),
        Symmetric(Stored(K), many=False),
        Symmetric(Stored(K), many=True),
    )
    for saddle in saddles:
        system = saddle.at(0.5)
        duals = system.solve(Y)
        check_solution(system, duals)
        assert np.abs(duals.a).max() < 1e17
        with pytest.warns(NearSingularWarning):
            warn_if_near_singular(system)


def test_a_system_without_a_finite_solution_names_a_safe_C():
    K = matrix("any")
    system = at("dense", K, 0.7)
    duals = system.solve(targets())
    safe = 1 / np.linalg.norm(centred(K), 2)
    with pytest.raises(ValueError, match=f"C=0.7 has no finite solution.*any C below {safe:.4g}"):
        check_solution(system, duals._replace(c=np.inf * duals.c))


def test_minres_says_when_it_does_not_get_there(monkeypatch):
    monkeypatch.setattr(minres, "STEPS", 5)
    K = matrix("any")
    largest = np.linalg.norm(centred(K), 2)
    with pytest.warns(ConvergenceWarning, match=r"after 5 steps.*residual.*C=100.*below 0\.\d+") as caught:
        Minres(Stored(K)).at(100.0).solve(targets())
    said = float(str(caught[0].message).split("below ")[1])
    assert said == pytest.approx(1 / largest, rel=0.1)


def test_minres_solves_a_right_hand_side_of_zeros():
    Y = np.column_stack([targets()[:, 0], np.ones(N)])
    a, _, b1, _ = Minres(Stored(matrix("any"))).at(0.1).solve(Y)
    assert np.abs(a[:, 1]).max() == 0
    assert b1[1] == 1


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
    ],
)
def test_the_choice_of_a_solver_is_a_pure_function_of_numbers(numbers, name):
    choice = choose_saddle(numbers.pop("n"), budget=PLENTY, **numbers)
    assert choice.name == name
    assert len(choice.reason) > 10
    assert choose_saddle(10_000, entries=10**8, budget=1000).name == "minres"


def build(K, solver, damping=0.0):
    return build_saddle(Stored(K), solver=solver, largest_C=1.0, many=False, damping=damping, tol=0.0, budget=PLENTY)


def test_solvers_refuse_what_they_cannot_do():
    K = matrix("any")
    with pytest.raises(ValueError, match="sparse_lu.*sparse kernel matrix.*'dense'"):
        build(K, "sparse_lu")
    with pytest.raises(ValueError, match=r"K = K'.*differ by up to \d.*'auto'"):
        build(K, "symmetric")
    for solver in ("spectral", "minres"):
        with pytest.raises(ValueError, match=f"damping=1.0 takes.*'{solver}'"):
            build(K, solver, damping=1.0)
    with pytest.raises(NotImplementedError, match="folds"):
        system = Minres(Stored(K)).at(0.1)
        system.leave_one_out(targets(), system.solve(targets()))


@pytest.mark.parametrize("solver", SADDLE_SOLVERS)
def test_a_solver_that_is_asked_for_is_taken(solver):
    K = sparse.csr_array(matrix("any")) if solver == "sparse_lu" else matrix(solver)
    assert build(K, solver)[1][:2] == (solver, "asked for")


def test_a_solver_that_suits_is_taken():
    assert build(sparse.csr_array(matrix("any")), "auto", damping=1.0)[1].name == "sparse_lu"
    assert build(matrix("any"), "auto", damping=1.0)[1].name == "dense"
    assert build(matrix("symmetric"), "auto")[1].name == "symmetric"


@every_saddle
def test_the_matrix_is_not_modified(name):
    K = matrix(name)
    before = K.copy()
    saddle = SADDLES[name](K)
    saddle.at(0.7).solve(targets())
    list(saddle.leave_folds_out(np.array([0.7]), targets(), [(np.arange(12), np.arange(12, N))]))
    np.testing.assert_array_equal(K, before)
