"""Laws of the generated textures."""

import numpy as np
import pytest
from sklearn.neighbors import KNeighborsClassifier

from lopsided.datasets import TEXTURES, make_textures


@pytest.mark.parametrize(("n_samples", "size"), [(1, 8), (7, 9), (40, 32)])
def test_images_are_dealt_evenly_to_the_classes(n_samples, size):
    X, y = make_textures(n_samples, size=size, random_state=0)
    assert X.shape == (n_samples, size**2) and X.dtype == np.float64 and np.isfinite(X).all()
    assert y.shape == (n_samples,)
    counts = np.bincount(y, minlength=len(TEXTURES))
    assert len(counts) == len(TEXTURES) >= 6 and np.ptp(counts) <= 1


def test_the_same_seed_gives_the_same_bits_and_another_seed_other_images():
    (X, y), (Y, z), (W, _) = (make_textures(20, random_state=seed) for seed in (3, 3, 4))
    assert np.array_equal(X, Y) and np.array_equal(y, z)
    assert not np.array_equal(X, W)


def test_noise_is_what_was_asked_for_beside_the_texture():
    """A grating fills few frequencies; the others show the noise alone, whatever the contrast."""
    X, y = make_textures(800, size=32, cover=1.0, noise=1.0, random_state=0)
    images = X[y == TEXTURES.index("grating")].reshape(-1, 32, 32)
    images = (images - images.mean(axis=(1, 2), keepdims=True)) / images.std(axis=(1, 2), keepdims=True)
    level = np.median(np.abs(np.fft.fft2(images, norm="ortho")) ** 2) / np.log(2)
    assert level == pytest.approx(0.5, rel=0.1)  # half the variance of the image


def test_gratings_have_one_frequency_and_clouds_are_smoother_than_grain():
    X, y = make_textures(400, size=32, cover=1.0, noise=0.0, random_state=1)
    power = np.abs(np.fft.fft2(X.reshape(-1, 32, 32) - X.mean(axis=1)[:, None, None])) ** 2
    power = power.reshape(len(X), -1) / power.sum(axis=(1, 2))[:, None]
    share = {name: np.sort(power[y == c], axis=1)[:, -8:].sum(axis=1).mean() for c, name in enumerate(TEXTURES)}
    assert share["grating"] > 0.75 and share["grain"] < 0.3
    rough = np.square(np.diff(X.reshape(-1, 32, 32), axis=2)).mean(axis=(1, 2)) / X.var(axis=1)
    means = {name: rough[y == c].mean() for c, name in enumerate(TEXTURES)}
    assert means["clouds"] < 0.3 * means["grain"]


def test_textures_cover_the_share_that_was_asked_for():
    """Beside the rough texture the ground is smooth."""
    X, y = make_textures(400, cover=0.4, noise=0.0, random_state=3)
    images = X[y == TEXTURES.index("grain")].reshape(-1, 48, 48)
    steps = np.abs(np.diff(images, axis=2)) / images.std(axis=(1, 2), keepdims=True)
    assert (steps > 0.1).mean() == pytest.approx(0.7, abs=0.08)


def test_pixels_do_not_tell_the_classes_apart():
    X, y = make_textures(600, random_state=2)
    assert KNeighborsClassifier(5).fit(X[:400], y[:400]).score(X[400:], y[400:]) < 0.4


@pytest.mark.parametrize("parameters", [{"n_samples": 0}, {"size": 7}, {"cover": 0.0}, {"noise": -0.1}])
def test_parameters_out_of_range_are_refused(parameters):
    ((name, value),) = parameters.items()
    with pytest.raises(ValueError, match=f"'{name}'.*Got {value}"):
        make_textures(**parameters)
