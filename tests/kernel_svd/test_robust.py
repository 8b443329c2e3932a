"""Robustly weighted kernel SVD: clean rows give the plain answer, gross outliers hardly move it."""

import numpy as np
import pytest
from scipy.linalg import subspace_angles

from cases import centred
from lopsided import KernelSVD
from lopsided.exceptions import ConvergenceWarning
from lopsided.kernel_svd import fit_robust
from lopsided.kernels import RBF

K = 3


def low_rank(rng, n=120, m=40):
    return rng.standard_normal((n, K)) @ np.diag([3.0, 2.0, 1.0]) @ rng.standard_normal((K, m))


def outliers_in(A, rng, size=100.0):
    """A copy of which every tenth row is large and random."""
    spoilt = A.copy()
    spoilt[::10] = size * rng.standard_normal(spoilt[::10].shape)
    return spoilt


def sine(one, other):
    return float(np.sin(subspace_angles(one, other)[0]))


@pytest.mark.parametrize("center", [False, True])
def test_without_outliers_it_is_the_plain_answer(center, rng):
    A = low_rank(rng)
    plain, robust = (
        KernelSVD(K, kernel="precomputed", center=center).fit(A),
        fit_robust(KernelSVD(K, kernel="precomputed", center=center), A),
    )
    np.testing.assert_array_equal(robust.weights_.left, 1)
    np.testing.assert_allclose(robust.left_vectors_, plain.left_vectors_, atol=1e-10)
    np.testing.assert_allclose(robust.singular_values_, plain.singular_values_, rtol=1e-10)


@pytest.mark.parametrize("size", [3.0, 100.0, 1e8])
@pytest.mark.parametrize("center", [False, True])
def test_a_tenth_of_gross_outliers_leaves_the_subspace_within_one_per_cent(center, size, rng):
    clean = low_rank(rng) + 0.01 * rng.standard_normal((120, 40))
    spoilt = outliers_in(clean, rng, size)
    truth = np.linalg.svd((centred if center else np.asarray)(np.delete(clean, np.s_[::10], axis=0)))[2][:K].T
    model = KernelSVD(K, kernel="precomputed", center=center)
    robust, plain = fit_robust(model, spoilt), model.fit(spoilt)
    assert sine(robust.right_vectors_, truth) < 0.01
    assert sine(plain.right_vectors_, truth) > 0.03
    assert not robust.weights_.left[::10].any()
    assert np.delete(robust.weights_.left, np.s_[::10]).mean() > 0.9


def test_points_far_from_the_others_lose_their_weight(rng):
    X, Z = rng.standard_normal((60, 2)), rng.standard_normal((20, 2))
    X[:4] += rng.choice([-4.0, 4.0], (4, 2))
    robust = fit_robust(KernelSVD(15, kernel=RBF(3.0)), X, Z=Z)
    assert robust.weights_.left[:4].mean() < robust.weights_.left[4:].mean()
    np.testing.assert_allclose(robust.transform(X), robust.errors_left_, atol=1e-8)


def test_rows_of_zeros_have_weight_and_the_model_is_not_modified(rng):
    A = low_rank(rng)
    A[:5] = 0
    model = KernelSVD(K, kernel="precomputed")
    assert fit_robust(model, A).weights_.left[:5].min() == 1
    assert not hasattr(model, "weights_")


def test_weights_that_do_not_settle_are_reported(rng):
    spoilt = outliers_in(low_rank(rng) + 0.01 * rng.standard_normal((120, 40)), rng)
    with pytest.warns(ConvergenceWarning, match="still change after 1 fits"):
        fit_robust(KernelSVD(K, kernel="precomputed"), spoilt, max_iter=1)
