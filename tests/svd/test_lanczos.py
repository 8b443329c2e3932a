"""What the block Krylov solver spends: steps, looks and orthogonalisations, against dense algebra."""

from types import SimpleNamespace

import numpy as np
import pytest

from cases import with_spectrum
from lopsided.operators import Stored
from lopsided.svd import bidiagonal, krylov as room
from lopsided.svd.accuracy import estimated_eta
from lopsided.svd.bidiagonal import LARGEST_DRIFT, PROBE_COLUMNS, Bidiagonal
from lopsided.svd.krylov import SVD_COST, krylov

SHAPE = 300, 250
SPECTRA = {
    "fast": 0.6 ** np.arange(200),
    "geometric": 0.9 ** np.arange(200),
    "power": 1 / (1.0 + np.arange(200)),
    "gap": np.concatenate([np.linspace(1, 0.9, 6), 0.1 * np.linspace(1, 0.1, 194)]),
}
LONG = {
    "slow": 0.99 ** np.arange(200),
    "flat": np.linspace(1, 0.5, 200),
}
every_block = pytest.mark.parametrize("block", [1, 4, 8])
PRECISION = float(np.finfo(float).eps) ** 0.8  # residual at which the iteration ends


@pytest.fixture
def seen(monkeypatch):
    """What is held after every step, widths of blocks, losses of orthogonality, and how often it was restored."""
    found = {"spaces": [], "widths": [], "lost": [], "again": 0}
    grow, orthonormalise = Bidiagonal.grow, bidiagonal.orthonormalise

    def watched(space, fresh):
        block = grow(space, fresh)
        U = space.U[:, : space.size].astype(float)
        found["spaces"].append((space.U, space.V))
        found["widths"].append(fresh.shape[1])
        found["lost"].append(np.abs(U.T @ U - np.eye(space.size)).max())
        return block

    def again(Y, *rest):
        found["again"] += len(Y) == SHAPE[0]
        return orthonormalise(Y, *rest)

    monkeypatch.setattr(Bidiagonal, "grow", watched)
    monkeypatch.setattr(bidiagonal, "orthonormalise", again)
    return found


def fewest_steps(K, k, block, bound):
    """Steps after which the full Krylov space of a random block has residuals below a bound, relative to s_1."""
    V = last = np.linalg.qr(np.random.default_rng(9).standard_normal((K.shape[1], block)))[0]
    for step in range(1, 1000):
        U, s, Wt = np.linalg.svd(K @ V, full_matrices=False)
        if len(s) >= k and np.linalg.norm(K.T @ U[:, :k] - V @ Wt[:k].T * s[:k], axis=0).max() <= bound * s[0]:
            return step
        last = np.linalg.qr(K.T @ (K @ last))[0]
        for _ in range(2):
            last = np.linalg.qr(last - V @ (V.T @ last))[0]
        V = np.hstack([V, last])
    raise AssertionError("never")


@every_block
@pytest.mark.parametrize("noise", [0.0, 1e-4])
@pytest.mark.parametrize("k", [2, 6])
@pytest.mark.parametrize("scale", [1.0, 1e200])
def test_an_iteration_ends_a_few_steps_after_it_could(scale, k, noise, block, seen, rng):
    """It has to look first, and then searches with random columns, mostly once, for copies of what it has found."""
    bound, searched, beyond = max(PRECISION, noise), 2 + PROBE_COLUMNS // block, []
    for values in SPECTRA.values():
        K = with_spectrum(values, *SHAPE, rng)
        seen["widths"].clear()
        found = krylov(Stored(scale * K), k, rng=rng, block=block, rounding=scale * noise)
        beyond.append(len(seen["widths"]) - searched - fewest_steps(K, k, block, bound))
        np.testing.assert_allclose(found.s / scale, values[:k], rtol=0, atol=max(10 * PRECISION, noise))
    assert min(beyond) >= -2 and max(beyond) <= 5 and np.mean(beyond) <= 2


@every_block
@pytest.mark.parametrize("name", LONG)
def test_restarts_cost_at_most_three_halves_of_the_steps_again(name, block, seen, rng):
    K = with_spectrum(LONG[name], *SHAPE, rng)
    krylov(Stored(K), 6, rng=rng, block=block)
    assert len(seen["widths"]) <= 2.5 * fewest_steps(K, 6, block, PRECISION) + 5


@every_block
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("name", [*SPECTRA, *LONG])
def test_left_vectors_stay_orthogonal_and_are_seldom_made_so(name, dtype, block, seen, rng):
    """Nowhere do they lose half of the digits, and the recurrence that saves the work is seldom interrupted."""
    K, eps = with_spectrum((SPECTRA | LONG)[name], *SHAPE, rng, dtype), np.finfo(dtype).eps
    krylov(Stored(K), 6, rng=rng, block=block)
    assert max(seen["lost"]) <= 50 * min(LARGEST_DRIFT * eps, eps**0.5)
    assert seen["again"] <= len(seen["widths"]) / 5 + 4


@every_block
@pytest.mark.parametrize("k", [2, 9])
@pytest.mark.parametrize("shape", [(300, 200), (200, 300)])
def test_looking_costs_as_much_as_the_steps_in_between_at_most(shape, k, block, seen, rng, monkeypatch):
    """The basis that is orthogonalised in every step lies on the shorter side."""
    made, begin = [], room._Pace.__init__
    monkeypatch.setattr(room._Pace, "__init__", lambda pace, patience: made.append(patience) or begin(pace, patience))
    krylov(Stored(with_spectrum(SPECTRA["fast"], *shape, rng)), k, rng=rng, block=block)
    U, V = seen["spaces"][0]
    assert (len(U), len(V)) == (max(shape), min(shape))
    products, orthogonalisation = 2 * block * np.prod(shape), 4 * V.size * block
    look = SVD_COST * V.shape[1] ** 3
    assert made[0] * (products + orthogonalisation) <= look < (made[0] + 1) * (products + orthogonalisation)


@every_block
@pytest.mark.parametrize("scale", [1.0, 1e200, 1e-200])
def test_values_are_zero_if_noise_exceeds_all_of_them_and_else_they_are_found(scale, block, rng):
    """All of an orthogonal matrix are one, and so is the size of every product with a unit vector."""
    Q = np.linalg.qr(rng.standard_normal((60, 60)))[0]
    for noise, is_found in ((0.99, True), (1.01, False)):
        found = krylov(Stored(scale * Q), 5, rng=rng, block=block, rounding=scale * noise)
        np.testing.assert_array_equal(found.s > 0, is_found)
        assert (found.s < 3 * scale).all()  # to noise
        for vectors in (found.U, found.V):
            np.testing.assert_allclose(vectors.T @ vectors, np.eye(5), atol=1e-12)


@every_block
def test_null_values_are_found_in_as_few_steps_in_any_unit(block, seen):
    counts = []
    for unit in (1e-9, 1.0, 1e9):
        rng = np.random.default_rng(0)
        K = unit * with_spectrum(np.array([3.0, 2.0, 1.0]), *SHAPE, rng)
        seen["widths"].clear()
        assert (krylov(Stored(K), 6, rng=rng, block=block).s[3:] < 1e-12 * unit).all()
        counts.append(len(seen["widths"]))
    assert max(counts) <= min(counts) + 1 <= 20


@every_block
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_nothing_is_found_in_no_more_steps_than_one_triplet(dtype, block, seen):
    counts = []
    for size in (0.0, 1.0):
        K = size * with_spectrum(np.ones(1), *SHAPE, np.random.default_rng(0), dtype)
        seen["widths"].clear()
        krylov(Stored(K.astype(dtype)), 4, rng=np.random.default_rng(0), block=block)
        counts.append(len(seen["widths"]))
    assert counts[0] <= counts[1] + 1


@every_block
@pytest.mark.parametrize("scale", [1.0, 1e200])
@pytest.mark.parametrize("size", [0.0, 1e-3])
def test_a_matrix_far_below_its_noise_has_zeros_and_orthonormal_vectors(size, scale, block, rng):
    K = scale * size * rng.standard_normal((60, 50)) / 60
    found = krylov(Stored(K), 3, rng=rng, block=block, rounding=scale)
    np.testing.assert_array_equal(found.s, 0)
    for vectors in (found.U, found.V):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)


@pytest.mark.parametrize("noise", [1e-3, 1.0])
@pytest.mark.parametrize("shape", [(2000, 30), (1500, 1400)])
def test_what_takes_the_place_of_nothing_is_as_long_as_the_noise(shape, noise):
    K = np.zeros(shape)
    space = Bidiagonal(Stored(K), Stored(K.T), 4, np.random.default_rng(0), noise)
    space.grow(space.random(1))
    assert float(abs(space.B[0, 0]) * space.unit) == pytest.approx(noise, rel=0.1)


@pytest.mark.parametrize("drift", [1e-9, 1e-3, 0.1])
@pytest.mark.parametrize("drifted", [[1], [0, 1, 2, 3, 4, 5]])
def test_vectors_are_orthonormal_and_belong_together_however_the_basis_has_drifted(drifted, drift, rng):
    """Where A V = U B, the answer has A v = s u."""
    U, V = (np.linalg.qr(rng.standard_normal((size, 6)))[0] for size in (40, 30))
    U[:, drifted] += drift * U[:, [0]]
    s = np.linspace(2, 1, 6)
    K = U * s @ V.T
    space = Bidiagonal(Stored(K), Stored(K.T), 6, rng, 0.0)
    space.grow(space.random(1))  # sets the unit
    space.U, space.V, space.B, space.size = U, V, np.diag(s), 6
    space.bound, space.T = slice(0, 0), np.empty((1, 0))
    space.solve()
    U, s, V = space.triplets(6)
    for vectors in (U, V):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(6), atol=1e-13)
    np.testing.assert_allclose(K @ V, U * s, atol=1e-12)
    np.testing.assert_allclose(s, np.linalg.svd(K, compute_uv=False)[:6], atol=1e-12)


@pytest.mark.parametrize("k", [16, 20, 22])
@pytest.mark.parametrize("ratio", [0.1, 0.01])
@pytest.mark.parametrize("copies", [4, 8])
def test_copies_are_found_in_bases_that_hardly_hold_them(copies, ratio, k, rng):
    values = np.repeat(ratio ** np.arange(24 // copies), copies)
    found = krylov(Stored(with_spectrum(values, 30, 24, rng)), k, rng=rng, block=1)
    np.testing.assert_allclose(found.s, values[:k], atol=1e-13)


@pytest.mark.parametrize("block", [1, 2])
def test_searches_for_copies_take_blocks_that_double_up_to_eight(block, seen, rng):
    values = np.concatenate([np.ones(25), 0.3 * 0.6 ** np.arange(60)])
    krylov(Stored(with_spectrum(values, *SHAPE, rng)), 10, rng=rng, block=block)
    doubled = [min(2**power * block, 8) for power in range(4)]
    assert set(seen["widths"]) <= set(doubled) and sorted(seen["widths"]) == seen["widths"]
    assert doubled[1] in seen["widths"]


@every_block
@pytest.mark.parametrize("k", [2, 10, 40])
def test_bases_hold_four_times_the_triplets_or_six_blocks(k, block, seen, rng):
    krylov(Stored(with_spectrum(0.7 ** np.arange(60), *SHAPE, rng)), k, rng=rng, block=block)
    sizes = {array.shape[1] for pair in seen["spaces"] for array in pair}
    assert len(sizes) == 1 and max(4 * k, k + 6 * block) <= sizes.pop() <= max(4 * k, k + 20 + 6 * block)


def test_what_is_lost_of_orthogonality_is_estimated_without_bias(rng):
    size, found = 12, []
    for seed in range(200):
        space = Bidiagonal(Stored(np.zeros((80, 40))), Stored(np.zeros((40, 80))), 20, np.random.default_rng(seed), 0.0)
        space.size = size
        space.U[:, :size] = np.linalg.qr(rng.standard_normal((80, size)))[0] @ (np.eye(size) + 0.01 * np.eye(size, k=1))
        U = space.U[:, :size]
        found.append(space.loss() ** 2 / np.linalg.norm(U.T @ U - np.eye(size)) ** 2)
    assert np.mean(found) == pytest.approx(1, abs=0.15)


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
@pytest.mark.parametrize("seed", range(8))
def test_an_excess_is_at_most_one_if_residuals_and_eta_are_small_or_nothing_more_can_be_had(seed, unit):
    rng, k = np.random.default_rng(seed), 3
    s, info = unit * np.array([1.0, 0.8, 0.5, 0.3, 0.1]), np.finfo(float)
    for _ in range(50):
        residuals = unit * 10 ** rng.uniform(-4, -1, 5)
        space = SimpleNamespace(s=s, residuals=residuals, rounding=10 ** rng.uniform(-4, -2), info=info)
        residual, eta = 10 ** rng.uniform(-3, -1, 2)
        largest = residuals[:k].max() / s[0]
        error = estimated_eta(s, residuals, k)
        at_best = largest <= space.rounding
        assert (Bidiagonal.excess(space, k, residual, 0.0) <= 1) == at_best
        assert (Bidiagonal.excess(space, k, residual, eta) <= 1) == (at_best or (largest <= residual and error <= eta))


@pytest.mark.parametrize("unit", [1e-3, 1.0, 1e3])
def test_the_next_triplet_is_ruled_out_if_it_cannot_grow_beyond_the_last_or_has_settled(unit):
    s = unit * np.array([4.0, 2.0, 1.0, 0.9])
    for k, unsure, residual, known in (
        (2, 0.99, 1e-4, True),
        (2, 1.01, 1e-4, False),
        (2, 1.01, 0.0639, True),
        (2, 1.01, 0.0636, False),
        (3, 0.11, 1e-4, False),
        (3, 0.09, 1e-4, True),
    ):
        residuals = unit * np.where(np.arange(4) == k, unsure, 1e-9)
        space = SimpleNamespace(s=s, residuals=residuals, size=4)
        assert Bidiagonal.is_leading(space, k, residual) == known
    assert not Bidiagonal.is_leading(SimpleNamespace(s=s, residuals=s, size=4), 4, 1.0)
