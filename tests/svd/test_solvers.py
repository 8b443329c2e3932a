"""Laws of factorisations: every solver gives the leading triplets of every operator."""

import warnings
from dataclasses import astuple

import numpy as np
import pytest
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, svds
from sklearn import exceptions as sklearn_exceptions
from threadpoolctl import threadpool_info, threadpool_limits

from cases import NOTHING, OPERATORS, PLENTY, SOLVERS, assert_close, blocked, with_spectrum
from lopsided.exceptions import ConvergenceWarning, FallbackWarning
from lopsided.kernels import NodeKernel
from lopsided.operators import Centered, Stored
from lopsided.svd import Factors, eta, factorise, lapack, relative_eta
from lopsided.svd.krylov import krylov
from lopsided.svd.policy import choose_solver
from lopsided.svd.solvers import SOLVERS as TABLE

every_solver = pytest.mark.parametrize("solve", SOLVERS.values(), ids=SOLVERS)
DECAY = 0.6 ** np.arange(60)


def assert_triplets(factors, K, k, ulps=1e4):
    """Leading, orthonormal, consistent from both sides, descending, canonical, of one type."""
    eps = np.finfo(K.dtype).eps
    expected = np.linalg.svd(K.astype(float), compute_uv=False)[:k]
    lost = ulps * eps * expected[0]
    U, s, V = factors.U, factors.s, factors.V
    assert (U.shape, s.shape, V.shape) == ((K.shape[0], k), (k,), (K.shape[1], k))
    assert U.dtype == s.dtype == V.dtype == K.dtype
    np.testing.assert_allclose(s, expected, rtol=0, atol=lost)
    for Q in (U, V):
        np.testing.assert_allclose(Q.T @ Q, np.eye(k), rtol=0, atol=ulps * eps)
    np.testing.assert_allclose(K @ V, U * s, rtol=0, atol=lost)
    np.testing.assert_allclose(K.T @ U, V * s, rtol=0, atol=lost)
    assert (np.diff(s) <= 0).all()
    assert (U[np.abs(U).argmax(axis=0), np.arange(k)] > 0).all()


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("shape", [(150, 120), (120, 150)])
@every_solver
def test_solver_finds_the_leading_triplets(solve, shape, dtype, rng):
    K = with_spectrum(DECAY, *shape, rng, dtype)
    factors = solve(Stored(K), 6, rng)
    assert_triplets(factors, K, 6)
    U, _, Vt = np.linalg.svd(K.astype(float), full_matrices=False)
    overlap = np.einsum("ij,ij->j", factors.U, U[:, :6])
    assert_close(np.abs(overlap), np.ones(6), dtype=dtype)
    assert_close(np.einsum("ij,ji->i", Vt[:6], factors.V), overlap, dtype=dtype)


@pytest.mark.parametrize("block", [1, 4, 8])
@pytest.mark.parametrize("shape", [(500, 300), (300, 500)])
@pytest.mark.parametrize("gap", [1e-2, 1e-4, 1e-6, 1e-9])
def test_krylov_keeps_its_digits_below_a_gap(gap, shape, block, rng):
    s = np.concatenate([np.linspace(1, 0.9, 5), gap * np.linspace(1, 0.1, 295)])
    K = with_spectrum(s, *shape, rng, np.float64)
    assert_triplets(krylov(Stored(K), 12, rng=rng, block=block), K, 12)


@pytest.mark.parametrize("build", OPERATORS.values(), ids=OPERATORS)
def test_solvers_agree_on_every_operator(build, rng):
    A, K = build()
    for name in ("lapack", "krylov_8"):
        assert_triplets(SOLVERS[name](A, 2, rng), K, 2, ulps=1e5)


@pytest.mark.parametrize("peer", ["arpack", "propack"])
@pytest.mark.parametrize("name", ["stored_sparse", "blocked_sne"])
def test_krylov_finds_what_the_solvers_of_scipy_find(name, peer, rng):
    A, _ = OPERATORS[name]()
    operator = LinearOperator(A.shape, matvec=A.matvec, rmatvec=A.T.matvec, dtype=A.dtype)
    U, s, Vt = svds(operator, 3, solver=peer, rng=rng)
    factors = krylov(A, 3, rng=rng, block=2)
    assert_close(factors.s, s[::-1], ulps=1e5)
    assert_close(np.abs(np.sum(factors.U * U[:, ::-1], axis=0)), np.ones(3), ulps=1e6)
    assert_close(np.abs(np.sum(factors.V * Vt[::-1].T, axis=0)), np.ones(3), ulps=1e6)


@every_solver
def test_exchanging_the_matrix_exchanges_the_factors(solve, rng):
    A = Stored(with_spectrum(DECAY, 90, 110, rng))
    left, right = solve(A, 5, rng), solve(A.T, 5, rng)
    assert_close(left.T.U, right.U, ulps=1e5)
    assert_close(left.T.V, right.V, ulps=1e5)
    assert_close(left.s, right.s)


@pytest.mark.parametrize("block", [1, 2, 8])
@pytest.mark.parametrize("copies", [3, 12])
def test_krylov_finds_every_copy_of_a_repeated_value(block, copies, rng):
    values = np.concatenate([[2.0], np.ones(copies), 0.3 * DECAY])
    K = with_spectrum(values, 300, 250, rng)
    assert_triplets(krylov(Stored(K), copies + 3, rng=rng, block=block), K, copies + 3)


@pytest.mark.parametrize("block", [1, 2, 8])
def test_krylov_finds_the_components_of_a_graph(block, rng):
    """A block-diagonal matrix of equal blocks has every singular value as often as there are blocks."""
    piece = np.abs(rng.standard_normal((12, 12)))
    S = sparse.csr_array(sparse.block_diag([piece] * 20))
    factors = krylov(Stored(S), 20, rng=rng, block=block)
    assert_close(factors.s, np.full(20, np.linalg.norm(piece, 2)), ulps=1e4)


@pytest.mark.parametrize("block", [1, 8])
@pytest.mark.parametrize("k", [5, 20, 70])
def test_krylov_finds_copies_within_a_dense_spectrum(k, block, rng):
    """A graph of many components, normalised: the largest value is there as often as there are components."""
    A = sparse.random_array((600, 600), density=1.2 / 600, rng=rng, format="csr")
    A.data[:] = 1
    nodes = np.arange(600)[:, None]
    S = NodeKernel(A, normalize="both", self_loops=1.0).fit(nodes, nodes).block(nodes, nodes)
    expected = np.linalg.svd(S.toarray(), compute_uv=False)[:k]
    assert_close(krylov(Stored(sparse.csr_array(S)), k, rng=rng, block=block).s, expected, ulps=1e4)


@pytest.mark.parametrize(("k", "gap"), [(1, 1e-6), (10, 1e-6), (10, 1e-4)])
def test_krylov_keeps_its_digits_in_a_cluster_above_nothing(k, gap, rng):
    d = np.concatenate([1 - gap * np.arange(300), np.zeros(100)])
    assert_triplets(krylov(Stored(np.diag(d)), k, rng=rng, block=1), np.diag(d), k)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize(
    ("values", "shape", "k", "block", "dtype"),
    [
        (np.linspace(1, 0.5, 232), (232, 332), 77, 8, np.float64),
        (np.repeat(np.linspace(2, 1, 20), 12), (381, 244), 11, 1, np.float32),
    ],
)
def test_krylov_has_the_residuals_it_promises_after_many_restarts(values, shape, k, block, dtype, seed):
    rng = np.random.default_rng(seed)
    A = Centered(Stored(with_spectrum(values, *shape, rng, dtype)))
    U, s, V = (array.astype(float) for array in astuple(krylov(A, k, rng=rng, block=block)))
    K = A.take().astype(float)
    promised = 4 * np.finfo(dtype).eps ** 0.8 * s[0]
    assert np.linalg.norm(K @ V - U * s, axis=0).max() < promised
    assert np.linalg.norm(K.T @ U - V * s, axis=0).max() < promised


@every_solver
def test_rank_deficient_matrices_end_in_zeros(solve, rng):
    K = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 70))
    assert_triplets(solve(Stored(K), 3, rng), K, 3)


@pytest.mark.parametrize("name", ["lapack", "krylov_1", "krylov_2", "krylov_8"])
def test_null_triplets_are_still_orthonormal(name, rng):
    K = rng.standard_normal((80, 3)) @ rng.standard_normal((3, 70))
    assert_triplets(SOLVERS[name](Stored(K), 6, rng), K, 6)


@every_solver
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_the_zero_matrix_has_zero_singular_values(solve, kind, rng):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        factors = solve(Stored(kind(np.zeros((60, 50)))), 2, rng)
    assert_triplets(factors, np.zeros((60, 50)), 2)


@pytest.mark.parametrize("solver", ["lapack", "krylov"])
@pytest.mark.parametrize(("dtype", "scale"), [(float, 1e-300), (float, 1e300), (np.float32, 1e-30), (np.float32, 1e35)])
def test_the_size_of_a_matrix_is_of_no_account(dtype, scale, solver, rng):
    K = with_spectrum(DECAY, 150, 120, rng)
    factors = factorise(Stored((scale * K).astype(dtype)), 6, solver=solver, budget=10**9, rng=rng)[0]
    np.testing.assert_allclose(factors.s / dtype(scale), DECAY[:6], rtol=1e4 * np.finfo(dtype).eps)
    assert_close(np.abs(np.einsum("ij,ij->j", K.T @ factors.U / DECAY[:6], factors.V)), np.ones(6), dtype=dtype)


@pytest.mark.parametrize("shape", [(150, 120), (400, 350)])
@pytest.mark.parametrize(("dtype", "scale"), [(float, 1e-170), (float, 1e160), (np.float32, 1e-30), (np.float32, 1e30)])
def test_energy_neither_overflows_nor_vanishes(dtype, scale, shape, rng):
    A = Stored((scale * with_spectrum(DECAY, *shape, rng)).astype(dtype))
    np.testing.assert_allclose(A.norm() / scale, np.linalg.norm(DECAY), rtol=1e3 * np.finfo(dtype).eps)
    share = 1 - (DECAY[4:] ** 2).sum() / (DECAY**2).sum()
    factors, _ = factorise(A, 0.999 * share, budget=PLENTY, rng=rng)
    assert len(factors.s) == 4


def test_the_zero_matrix_has_no_energy_to_share(rng):
    assert len(factorise(Stored(np.zeros((30, 20))), 0.9, budget=PLENTY, rng=rng)[0].s) == 1


@pytest.mark.parametrize("shape", [(1, 1), (1, 50), (50, 1), (2, 400), (400, 2)])
@pytest.mark.parametrize("solver", ["auto", "lapack", "krylov"])
def test_thin_matrices_are_decomposed_whoever_is_asked(solver, shape, rng):
    K = rng.standard_normal(shape)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", FallbackWarning)
        factors, choice = factorise(Stored(K), 1, solver=solver, budget=PLENTY, rng=rng)
    assert choice.name == "lapack" and choice.reason
    assert_triplets(factors, K, 1)


def test_a_solver_that_is_in_the_table_can_be_asked_for(monkeypatch, rng):
    answer = Factors(np.ones((60, 2)), np.array([2.0, 1.0]), np.ones((50, 2)))
    given = []
    monkeypatch.setitem(TABLE, "told", lambda A, k, **options: given.extend([k, *sorted(options)]) or answer)
    found, choice = factorise(Stored(rng.standard_normal((60, 50))), 2, solver="told", budget=PLENTY, rng=rng)
    assert given == [2, "budget", "rng", "rounding", "tol"] and choice[:2] == ("told", "asked for")
    assert all(np.array_equal(getattr(found, part), getattr(answer, part)) for part in "UsV")


@pytest.mark.parametrize("solver", ["krylov"])
def test_too_many_components_for_an_iterative_solver_fall_back(solver, rng):
    K = rng.standard_normal((40, 30))
    with pytest.warns(FallbackWarning, match=f"25 of 30 triplets are too many for {solver}; lapack"):
        factors, choice = factorise(Stored(K), 25, solver=solver, budget=PLENTY, rng=rng)
    assert choice.name == "lapack" and solver in choice.reason
    assert_triplets(factors, K, 25)


def test_krylov_says_when_it_has_not_converged(rng):
    K = with_spectrum(np.linspace(1, 0.99, 200), 200, 200, rng)
    with pytest.warns(ConvergenceWarning, match="4 steps.*raise tol or use fewer") as caught:
        factors = krylov(Stored(K), 5, rng=rng, max_steps=4)
    assert isinstance(caught[0].message, sklearn_exceptions.ConvergenceWarning), "scikit-learn's filters know it"
    np.testing.assert_allclose(factors.U.T @ factors.U, np.eye(5), atol=1e-12)


def test_krylov_refuses_what_its_space_cannot_hold(rng):
    with pytest.raises(ValueError, match=r"k=30.*min\(n, m\)=30.*lapack"):
        krylov(Stored(rng.standard_normal((40, 30))), 30, rng=rng)


@pytest.mark.parametrize("tol", [1e-2, 1e-4, 1e-8])
@pytest.mark.parametrize("solver", ["krylov"])
def test_a_looser_tolerance_is_still_kept(solver, tol, rng):
    K = with_spectrum(0.9 ** np.arange(100), 300, 250, rng)
    factors, _ = factorise(Stored(K), 8, solver=solver, tol=tol, budget=PLENTY, rng=rng)
    exact = np.linalg.svd(K, compute_uv=False)[:8]
    assert np.abs(factors.s - exact).max() <= 10 * tol
    assert np.linalg.norm(K.T @ factors.U - factors.V * factors.s, axis=0).max() <= 10 * tol


@every_solver
def test_the_same_seed_gives_the_same_bits(solve):
    K = with_spectrum(DECAY, 80, 90, np.random.default_rng(1))
    one, two = (solve(Stored(K), 4, np.random.default_rng(7)) for _ in range(2))
    assert all(np.array_equal(getattr(one, part), getattr(two, part)) for part in "UsV")


@pytest.mark.parametrize(
    ("shape", "k", "cost", "budget", "name", "reason"),
    [
        ((100, 80), 2, 8000, PLENTY, "lapack", "small"),
        ((10**6, 50), 2, 5 * 10**7, 10**10, "lapack", "small"),
        ((10**6, 50), 2, 5 * 10**7, 10**8, "krylov", "k = 2"),
        ((1000, 900), 200, 900_000, PLENTY, "lapack", "large part"),
        ((1000, 900), 20, 900_000, PLENTY, "krylov", "k = 20"),
        ((20_000, 20_000), 20, 10**6, PLENTY, "krylov", "1000000 multiplications"),
        ((20_000, 20_000), 15_000, 10**6, PLENTY, "krylov", "multiplications"),
    ],
)
def test_the_choice_is_a_pure_function_of_numbers(shape, k, cost, budget, name, reason):
    answers = {choose_solver(shape, k, cost=cost, budget=budget) for _ in range(2)}
    assert len(answers) == 1
    choice = answers.pop()
    assert choice.name == name and reason in choice.reason
    assert str(choice) == f"{choice.name}: {choice.reason}"
    assert choose_solver(shape[::-1], k, cost=cost, budget=budget).name == name


def test_the_reason_blames_the_budget_only_if_it_is_too_small():
    """A sparse part that fills the matrix takes more than n m multiplications and still fits."""
    matrix_free = choose_solver((20_000, 20_000), 20, cost=10**10, budget=PLENTY, matrix_free=True)
    assert matrix_free.name == "krylov" and matrix_free.over_budget and "budget" in matrix_free.reason
    fits = choose_solver((400, 400), 2, cost=170_000, budget=PLENTY)
    assert not fits.over_budget and "budget" not in fits.reason


@pytest.mark.parametrize("shape", [(60, 50), (700, 600)])
@pytest.mark.parametrize("share", [0.1, 0.5, 0.9, 0.99, 0.999999])
def test_energy_keeps_the_fewest_triplets_that_hold_the_share(shape, share, rng):
    K = with_spectrum(0.97 ** np.arange(50), *shape, rng)
    squares = np.linalg.svd(K, compute_uv=False) ** 2
    fewest = int(np.argmax(np.cumsum(squares) >= share * squares.sum())) + 1
    factors, _ = factorise(Stored(K), share, budget=PLENTY, rng=rng)
    assert_triplets(factors, K, fewest)


def test_energy_of_a_blocked_operator_needs_no_storage(rng):
    A, K = blocked("sne", n=500, m=400)
    factors, choice = factorise(A, 0.8, budget=NOTHING, rng=rng)
    squares = np.linalg.svd(K, compute_uv=False) ** 2
    assert choice.name == "krylov"
    assert len(factors.s) == int(np.argmax(np.cumsum(squares) >= 0.8 * squares.sum())) + 1


@pytest.mark.parametrize(("solver", "budget"), [("auto", NOTHING), ("krylov", PLENTY)])
def test_energy_of_a_small_matrix_takes_no_more_triplets_than_it_needs(solver, budget, rng):
    A = Stored(with_spectrum(DECAY, 900, 200, rng))
    factors, choice = factorise(A, 0.9, solver=solver, budget=budget, rng=rng)
    assert choice.name == ("krylov" if solver == "auto" else solver)
    assert len(factors.s) == int(np.argmax(np.cumsum(DECAY**2) >= 0.9 * (DECAY**2).sum())) + 1


@pytest.mark.parametrize("value", [np.nan, np.inf])
@pytest.mark.parametrize("solver", ["lapack", "krylov"])
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_values_that_are_not_finite_are_refused_with_a_way_out(solver, value, rng):
    K = rng.standard_normal((60, 50))
    K[3, 4] = value
    with pytest.raises(ValueError, match="not finite.*scale the data down"):
        factorise(Stored(K), 3, solver=solver, budget=PLENTY, rng=rng)


def test_factors_multiply_truncate_and_transpose(rng):
    K = rng.standard_normal((12, 9))
    factors = lapack(Stored(K), 9)
    assert_close(factors.matrix(), K)
    assert_close(factors.T.matrix(), K.T)
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    assert_close(factors.truncate(4).matrix(), (U[:, :4] * s[:4]) @ Vt[:4])
    shuffled = Factors(-U[:, ::-1], s[::-1], -Vt[::-1].T).canonical()
    assert_close(shuffled.U, factors.U)


def test_short_bases_give_the_same_triplets(rng):
    A = Stored(with_spectrum(0.9 ** np.arange(120), 300, 200, rng))
    roomy, lean = (krylov(A, 10, rng=np.random.default_rng(0), block=2, budget=budget) for budget in (None, 1))
    assert_close(lean.s, roomy.s)
    assert_close(np.abs(np.sum(lean.U * roomy.U, axis=0)), np.ones(10), ulps=1e6)


@pytest.mark.parametrize("sparsity", ["dense", "sparse"])
def test_krylov_never_starts_threads_of_blas(sparsity, rng):
    """Those wait for each other in a busy loop, which on a busy machine costs ten times the work."""
    K = rng.standard_normal((300, 200)) * 0.9 ** np.arange(200)
    seen = []

    class Watched(Stored):
        def _matmat(self, V):
            seen.extend(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")
            return super()._matmat(V)

        def _adjoint(self):
            return Watched(self.K.T)

    with threadpool_limits(2, "blas"):
        krylov(Watched(sparse.csr_array(K) if sparsity == "sparse" else K), 5, rng=rng)
    assert set(seen) == {1}


@pytest.mark.parametrize("scale", [1.0, 7.0])
def test_eta_is_the_weighted_mean_of_section_4_4(scale, rng):
    K = scale * rng.standard_normal((12, 9))
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    exact = Factors(U[:, :3], s[:3], Vt[:3].T)
    found = Factors(U[:, :3] + 0.3 * rng.standard_normal((12, 3)), s[:3], 2 * Vt[:3].T + rng.standard_normal((9, 3)))
    expected = 0.0
    for i in range(3):
        for vector, other in ((exact.U[:, i], found.U[:, i]), (exact.V[:, i], found.V[:, i])):
            expected += s[i] * (1 - abs(vector @ other / np.linalg.norm(other))) / 3
    assert eta(exact, found) == pytest.approx(expected, rel=1e-12)
    assert relative_eta(exact, found) == pytest.approx(expected / s[0], rel=1e-12)
    assert eta(exact, exact) == pytest.approx(0, abs=1e-12 * scale)
    for k in (1, 2):  # what is missing is orthogonal, and what is beyond is not compared
        assert eta(exact, found.truncate(k)) > eta(exact, found)
        assert eta(exact.truncate(k), found) == eta(exact.truncate(k), found.truncate(k))
    nothing = Factors(np.zeros((12, 3)), s[:3], np.zeros((9, 3)))
    assert eta(exact, nothing) == pytest.approx(2 * s[:3].mean())
