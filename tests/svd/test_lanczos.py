"""What the block Krylov solver spends: steps, looks and orthogonalisations, against dense algebra."""

import numpy as np
import pytest

from cases import with_spectrum
from lopsided.operators import Stored
from lopsided.svd import krylov as room
from lopsided.svd.krylov import LARGEST_DRIFT, PROBE_COLUMNS, SVD_COST, _Bidiagonal, krylov

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
    grow, orthonormalise = _Bidiagonal.grow, room.orthonormalise

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

    monkeypatch.setattr(_Bidiagonal, "grow", watched)
    monkeypatch.setattr(room, "orthonormalise", again)
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
@pytest.mark.parametrize("scale", [1.0, 1e200])
@pytest.mark.parametrize("size", [0.0, 1e-3])
def test_a_matrix_far_below_its_noise_has_zeros_and_orthonormal_vectors(size, scale, block, rng):
    K = scale * size * rng.standard_normal((60, 50)) / 60
    found = krylov(Stored(K), 3, rng=rng, block=block, rounding=scale)
    np.testing.assert_array_equal(found.s, 0)
    for vectors in (found.U, found.V):
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(3), atol=1e-12)
