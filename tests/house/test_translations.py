"""Laws of units and origins: answers follow the data when all of them are moved or scaled, to their rounding."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from cases import assert_close
from lopsided import AsymmetricLSSVR, KernelSVD, LearnedKernelSVDRegressor
from lopsided.kernels import RBF, SNE, Laplacian, StudentT

EXACT = 2.0**-8  # multiples of it stay what they are when moved by a power of two


def points(n, width, seed=0):
    return np.round(np.random.default_rng(seed).standard_normal((n, width)) / EXACT) * EXACT


X, NEW = points(60, 3), points(20, 3, seed=1)
Y = X @ [1.0, 2.0, -1.0] + np.round(0.1 * np.sin(9 * X[:, 0]) / EXACT) * EXACT


@pytest.mark.parametrize("solver", ["symmetric", "dense", "spectral"])
@pytest.mark.parametrize(("shift", "C"), [(0, 1e6), (128, 1e2), (128, 1e4), (1024, 1e2)])
@pytest.mark.filterwarnings("ignore:C=.* is far outside the useful range")
def test_a_linear_machine_is_ridge_regression_wherever_the_data_lie(shift, C, solver):
    for several in (C, [C]):
        model = AsymmetricLSSVR(several, kernel="linear", solver=solver).fit(X + shift, Y)
        np.testing.assert_allclose(
            model.predict(NEW + shift), Ridge(alpha=1 / C).fit(X, Y).predict(NEW), atol=1e-5, err_msg=str(several)
        )


@pytest.mark.parametrize("solver", ["auto", "dense", "spectral"])
@pytest.mark.parametrize("kernel", ["rbf", "polynomial", "laplacian"])
@pytest.mark.parametrize("C", [1.0, 1e4])
def test_targets_may_lie_anywhere(kernel, C, solver):
    here, there = (AsymmetricLSSVR(C, kernel=kernel, solver=solver).fit(X, Y + shift) for shift in (0, 2.0**30))
    np.testing.assert_allclose(there.predict(NEW) - 2.0**30, here.predict(NEW), atol=1e-5)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_targets_of_a_learned_regression_may_lie_anywhere(dtype):
    here, there = (LearnedKernelSVDRegressor(3).fit(X.astype(dtype), Y + shift) for shift in (0, 2.0**26))
    assert there.score(X.astype(dtype), Y + 2.0**26) == pytest.approx(here.score(X.astype(dtype), Y), abs=1e-3)


@pytest.mark.parametrize("weights", [None, np.linspace(0, 2, 60)])
@pytest.mark.parametrize("shift", [2.0**8, 2.0**11, 2.0**14])
def test_centred_scores_of_training_points_are_those_of_fit(shift, weights):
    model = KernelSVD(3, kernel="linear", center=True)
    scores = model.fit_transform(X + shift, Z=X + shift, left_weights=weights, right_weights=weights)
    np.testing.assert_allclose(model.transform(X + shift), scores, atol=1e-14 * shift**2)


@pytest.mark.parametrize("kernel", [RBF(4.0), SNE(4.0), StudentT(4.0)])
def test_queries_in_single_precision_are_compared_from_the_same_origin(kernel):
    far = np.random.default_rng(0).integers(0, 12, (60, 3)) + 1e7  # whole numbers that single precision has, too
    model = KernelSVD(3, kernel=kernel).fit(far, Z=far)
    assert_close(model.transform(far.astype(np.float32)), model.transform(far), ulps=100, dtype=np.float32)


@pytest.mark.parametrize("kernel", [RBF, Laplacian])
@pytest.mark.parametrize("shift", [2.0**20, 2.0**30])
def test_default_bandwidths_do_not_see_where_the_data_lie(kernel, shift):
    here, there = (kernel().fit(X + move, X + move).bandwidth_ for move in (0, shift))
    assert there == pytest.approx(here, rel=1e-6)


@pytest.mark.parametrize(("dtype", "unit"), [(np.float32, 1e-11), (np.float64, 1e-80)])
def test_small_data_have_small_scores_and_not_none(dtype, unit):
    points = (X * unit).astype(dtype)
    model = KernelSVD(2, kernel="linear").fit(points, Z=points)
    assert_close(model.transform(points), model.errors_left_, ulps=1e3)
