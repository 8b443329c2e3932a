"""Mixtures of image patches: what they are fitted to, and that they are mixtures whatever the image."""

import numpy as np
import pytest
from scipy.fft import dctn
from sklearn.mixture import GaussianMixture
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from cases import assert_close, log_density, parts_of
from lopsided import AsymmetricLSSVC, ImageMixtures
from lopsided.datasets import make_textures
from lopsided.kernels import KullbackLeibler


@pytest.fixture(scope="module")
def images():
    return make_textures(24, size=32, random_state=0)[0]


def patches_of(image, step, patch=8):
    """Cosine coefficients of the patches of one image, one after the other."""
    corners = [range(0, side - patch + 1, step) for side in image.shape]
    windows = [image[i : i + patch, j : j + patch] for i in corners[0] for j in corners[1]]
    return np.array([dctn(window, norm="ortho").ravel() for window in windows])


@pytest.mark.parametrize("shape", [(32, 32), (16, 64), (64, 16)])
@pytest.mark.parametrize("step", [1, 4, 5])
def test_one_component_without_prior_is_mean_and_variance_of_the_patches(images, shape, step):
    rows = ImageMixtures(1, shape=shape, step=step, prior=1e-12).fit_transform(images)
    Y = patches_of(images[3].reshape(shape), step)
    assert_close(rows[3], np.hstack([1.0, Y.mean(axis=0), Y.var(axis=0)]), ulps=1e5)


def test_the_prior_adds_patches_of_the_background(images):
    model = ImageMixtures(1, prior=7.0).fit(images)
    Y = patches_of(images[3].reshape(32, 32), 4)
    _, m, v = (part[0, 0] for part in model.background_)
    total = len(Y) + 7.0
    mean = (Y.sum(axis=0) + 7.0 * m) / total
    variance = ((Y**2).sum(axis=0) + 7.0 * (v + m**2)) / total - mean**2
    assert_close(model.transform(images)[3], np.hstack([1.0, mean, variance]), ulps=1e5)


def test_every_step_makes_the_patches_likelier(images):
    Y, background = patches_of(images[5].reshape(32, 32), 2), ImageMixtures(3).fit(images).background_

    def likelihood(n_iter):
        model = ImageMixtures(3, step=2, prior=1e-9, n_iter=n_iter)
        model.fit(images).background_ = background
        return log_density(Y, *(part[0] for part in parts_of(model.transform(images[5:6]), 3))).mean()

    path = [likelihood(n_iter) for n_iter in (1, 2, 3, 5, 10, 40)]
    assert (np.diff(path) > -1e-9).all() and path[-1] > path[0] + 0.1


def test_a_long_fit_is_a_fixed_point_of_scikit_learn(images):
    row = ImageMixtures(2, step=2, prior=1e-9, n_iter=200).fit(images[:6]).transform(images[:1])
    w, m, v = (part[0] for part in parts_of(row, 2))
    start = {"weights_init": w, "means_init": m, "precisions_init": 1 / v}
    Y = patches_of(images[0].reshape(32, 32), 2)
    other = GaussianMixture(2, covariance_type="diag", reg_covar=0.0, tol=1e-3, **start).fit(Y)
    assert other.n_iter_ <= 3
    np.testing.assert_allclose(other.means_, m, atol=1e-2 * np.abs(m).max())
    np.testing.assert_allclose(other.covariances_, v, atol=1e-2 * v.max())


def test_one_step_of_adaptation_is_that_of_reynolds(images):
    """Counts n_c and sums of the posteriors of the background, and a background worth ``prior`` patches."""
    model = ImageMixtures(3, step=2, prior=16.0, n_adapt=1).fit(images)
    Y = model._coefficients(images[:1])[0]
    w, m, v = (part[0] for part in model.background_)
    logs = np.log(w) - (((Y[:, None] - m) ** 2 / v + np.log(v)).sum(axis=2)) / 2
    R = np.exp(logs - logs.max(axis=1, keepdims=True))
    R /= R.sum(axis=1, keepdims=True)
    n = R.sum(axis=0)
    a = (n / (n + 16.0))[:, None]
    means = a * (R.T @ Y / n[:, None]) + (1 - a) * m
    variances = a * (R.T @ Y**2 / n[:, None]) + (1 - a) * (v + m**2) - means**2
    row = np.hstack([(n + 16.0) / (n + 16.0).sum(), means.ravel(), variances.ravel()])
    np.testing.assert_allclose(model.transform(images[:1])[0], row, rtol=1e-8, atol=1e-10)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [1, 5, 9, 49, 64, 100])
def test_rows_are_mixtures_whatever_the_image(width, dtype, rng):
    X = rng.standard_normal((6, width)).astype(dtype)
    X[2], X[3] = 0.0, 1e6
    P = ImageMixtures(3).fit_transform(X)
    assert P.dtype == dtype and np.isfinite(P).all()
    K = KullbackLeibler(distribution="mixture", n_components=3)(P, P)
    assert ((K >= 0) & (K <= 1)).all()


def test_constant_images_have_a_finite_mixture():
    X = np.full((4, 64), 3.0)
    model = ImageMixtures(2).fit(X)
    _, m, v = parts_of(model.transform(X), 2)
    assert model.floor_ == 1.0 and (v >= 1.0).all()
    assert_close(m[:, :, 0], np.full((4, 2), 24.0))


def test_a_row_depends_on_its_image_alone(images):
    model = ImageMixtures().fit(images)
    P = model.transform(images)
    assert_close(model.transform(images[[7]]), P[[7]], ulps=1e5)
    many = model.transform(np.tile(images, (20, 1)))
    assert_close(many, np.tile(P, (20, 1)), ulps=1e5)


@pytest.mark.filterwarnings("ignore:C=.* is far outside the useful range")
def test_a_pipeline_from_images_to_their_classes_can_be_searched():
    X, y = make_textures(192, size=24, cover=1.0, random_state=0)
    X, y = X[y >= 4], y[y >= 4]
    kernel = KullbackLeibler(distribution="mixture")
    pipeline = make_pipeline(ImageMixtures(1), AsymmetricLSSVC(C=[1.0, 10.0, 100.0], kernel=kernel))
    search = GridSearchCV(pipeline, {"asymmetriclssvc__kernel__rate": [None, 1e-9]}, cv=3).fit(X[:72], y[:72])
    assert search.best_params_["asymmetriclssvc__kernel__rate"] is None
    assert search.score(X[72:], y[72:]) > 0.4  # by chance 1 in 4


def test_rows_that_are_not_square_images_are_signals(rng):
    X = rng.standard_normal((5, 40))
    assert ImageMixtures().fit(X).shape_ == (1, 40)
    assert ImageMixtures(2, patch=6).fit_transform(X).shape == (5, 2 * (1 + 2 * 6))


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"shape": (30, 30)}, r"shape=\(30, 30\) must be two integers, .* with product 1024"),
        ({"shape": (-32, -32)}, r"shape=\(-32, -32\).*1024"),
        ({"shape": (4, 16, 16)}, "must be two integers, .* with product 1024"),
        ({"shape": (32.0, 32.0)}, r"shape=\(32.0, 32.0\).*two integers"),
        ({"shape": 32}, "'shape'.*Got 32"),
    ],
)
def test_errors_give_the_value_and_the_bound(images, parameters, message):
    with pytest.raises(ValueError, match=message):
        ImageMixtures(**parameters).fit(images)


@pytest.mark.parametrize("light", [1e3, 1e7])
def test_variances_do_not_depend_on_brightness(light):
    X = np.random.default_rng(0).random((6, 256))
    dark, bright = (ImageMixtures(n_components=2).fit_transform(images) for images in (X, X + light))
    d = 64
    np.testing.assert_allclose(bright[:, -2 * d :], dark[:, -2 * d :], rtol=1e-12 * light + 1e-9)


@pytest.mark.parametrize(
    ("shape", "message"),
    [
        ((5, 8, 9), r"images of shape \(8, 9\) .*: give X.reshape\(len\(X\), -1\), and shape=\(8, 9\)"),
        ((5, 8, 9, 3), r"shape \(8, 9, 3\) .*mean of the channels.*shape=\(8, 9\) to ImageMixtures"),
    ],
    ids=["grey", "colour"],
)
def test_a_stack_of_images_is_refused_with_the_way_to_flatten_it(shape, message, rng):
    stack = rng.random(shape)
    model = ImageMixtures(2, shape=(8, 9)).fit(rng.random((5, 72)))
    for take, images in ((model.transform, stack), (ImageMixtures(2).fit, list(stack))):
        with pytest.raises(ValueError, match=message):
            take(images)


@pytest.mark.parametrize(("scale", "dtype"), [(1e160, np.float64), (1e25, np.float32)])
def test_images_whose_squares_overflow_are_refused(scale, dtype):
    X = np.random.default_rng(0).random((6, 64)).astype(dtype)
    model = ImageMixtures(n_components=2).fit(X)
    for call in (model.transform, ImageMixtures(2).fit):
        with pytest.raises(ValueError, match=f"pixels reach .*may overflow in {np.dtype(dtype)}; scale the images"):
            call(X * dtype(scale))
    assert np.isfinite(ImageMixtures(2).fit_transform(X * dtype(1e14))).all()


@pytest.mark.parametrize(("scale", "dtype"), [(1e-160, np.float64), (1e-20, np.float32)])
def test_images_whose_squares_vanish_are_refused(scale, dtype):
    X = np.random.default_rng(0).random((6, 64)).astype(dtype)
    with pytest.raises(ValueError, match=f"pixels reach only .*squares vanish in {np.dtype(dtype)}; scale the images"):
        ImageMixtures(2).fit(X * dtype(scale))
    model = ImageMixtures(2).fit(X)
    assert np.isfinite(model.transform(X * dtype(scale))).all()
    small = dtype(2.0**-40)
    weights = model.transform(X)[:, :2]
    assert_close(ImageMixtures(2).fit(small * X).transform(small * X)[:, :2], weights)


def test_patches_of_one_pixel_find_the_modes_of_the_tones(rng):
    bright = rng.random((20, 100)) < 0.4
    w, m, _ = ImageMixtures(2, patch=1, step=1).fit(bright + 0.05 * rng.standard_normal(bright.shape)).background_
    np.testing.assert_allclose(np.sort(m.ravel()), [0, 1], atol=0.01)
    np.testing.assert_allclose(w.ravel()[np.argsort(m.ravel())], [1 - bright.mean(), bright.mean()], atol=0.01)
