"""Nonlinear SVD of images: what it decomposes, and what comes back."""

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from numpy.lib.stride_tricks import sliding_window_view

from cases import assert_close
from lopsided.exceptions import LopsidedWarning
from lopsided.images import image_svd, psnr, ssim
from lopsided.kernels import RBF, Exponential, Linear, LinearPolynomial, Polynomial, Tanh

GALLERY = Path(__file__).parents[2] / "examples" / "image_gallery.py"
INVERTIBLE = [
    Linear(),
    LinearPolynomial(0.5, 2),
    LinearPolynomial(0.1, 8),
    Exponential(1.0),
    Exponential(-2.0),
    Tanh(2.0),
]


@pytest.fixture
def image(rng):
    return rng.random((24, 31))


def test_the_linear_kernel_gives_the_svd_of_the_image(image):
    found = image_svd(image, n_components=7)
    U, s, Vt = np.linalg.svd(image)
    for k in (1, 4, 7):
        assert np.linalg.norm(found.reconstruct(k) - (U[:, :k] * s[:k]) @ Vt[:k]) <= 1e-10 * s[0]
    assert_close(found.values, image, ulps=1e5)


@pytest.mark.parametrize("kernel", INVERTIBLE, ids=repr)
def test_all_components_restore_the_image(kernel, image):
    found = image_svd(image, kernel)
    np.testing.assert_allclose(found.restore(found.values), image, atol=1e-8)
    np.testing.assert_allclose(found.restore(found.reconstruct()), image, atol=1e-8)


@pytest.mark.parametrize("kernel", [Exponential(-1.0), LinearPolynomial(0.5, 4)], ids=repr)
def test_values_are_the_profile_of_every_pixel(kernel, image):
    profile = np.exp(-image) if isinstance(kernel, Exponential) else image - 0.5 * image**4
    np.testing.assert_allclose(image_svd(image, kernel, 3).values, profile, atol=1e-12)


def test_each_channel_is_an_image_of_its_own(rng):
    colour = rng.integers(0, 256, (20, 15, 3), dtype=np.uint8)
    found = image_svd(colour, Exponential(0.5), 6)
    assert found.reconstruct().shape == colour.shape
    for c in range(3):
        alone = image_svd(colour[:, :, c], Exponential(0.5), 6)
        assert_close(found.reconstruct(4)[:, :, c], alone.reconstruct(4))


@pytest.mark.parametrize("dtype", [np.uint8, np.int8, np.uint16, np.int16, bool])
def test_integers_become_shares_of_the_largest_of_their_type(dtype, rng):
    whole = rng.integers(0, 2, (9, 8)).astype(dtype)
    before = whole.copy()
    peak = 1 if dtype is bool else np.iinfo(dtype).max
    assert_close(image_svd(whole, n_components=8).image, whole.astype(float) / peak)
    np.testing.assert_array_equal(whole, before)


def test_single_precision_is_kept(image):
    found = image_svd(image.astype(np.float32), Exponential(1.0), 5)
    assert found.reconstruct().dtype == found.values.dtype == np.float32


@pytest.mark.parametrize("offset", [0, 300, 1000])
def test_single_precision_of_little_contrast_is_restored(offset, rng):
    bright = rng.random((16, 20)).astype(np.float32) + offset
    found = image_svd(bright)
    np.testing.assert_allclose(found.restore(found.values), bright, atol=1e-6 * (1 + offset))


def test_a_new_row_of_the_image_is_embedded(image):
    found = image_svd(image, Exponential(1.0), 5)
    model = found.models[0]
    assert_close(model.transform(image[:3]), (model.left_vectors_ * model.singular_values_)[:3], ulps=1e6)
    assert_close(model.transform_right(image.T[:3]), (model.right_vectors_ * model.singular_values_)[:3], ulps=1e6)


def test_displayed_values_lie_between_black_and_white(image):
    found = image_svd(image, Exponential(-2.0), 3)
    shown = found.display(found.reconstruct())
    assert shown.min() >= 0 and shown.max() <= 1
    assert found.display(found.values).max() == 1
    for dark in (0 * image, -image):
        assert not image_svd(dark, n_components=2).display(dark).any()


def test_flat_and_black_images_are_restored(rng):
    for flat in (np.zeros((6, 5)), np.full((6, 5), 0.4)):
        found = image_svd(flat, Exponential(1.0), 2)
        np.testing.assert_allclose(found.restore(found.reconstruct()), flat, atol=1e-10)


@pytest.mark.parametrize(
    ("image", "k", "error", "message"),
    [
        (np.full((5, 4), np.nan), 2, ValueError, "20 pixels are not finite"),
        (np.ones((5, 4)), 5, ValueError, r"n_components=5 must be from 1 to 4 for an image of shape \(5, 4\)"),
        (np.ones(5), 1, ValueError, r"not \(5,\)"),
        (np.ones((5, 0)), 1, ValueError, r"not \(5, 0\)"),
        (np.ones((5, 4), dtype=complex), 1, TypeError, "complex128"),
        (np.full((5, 4), 255), 1, ValueError, "int64 pixels from 255 to 255 have no known white level; .* image / 255"),
    ],
)
def test_bad_images_are_refused(image, k, error, message):
    with pytest.raises(error, match=message):
        image_svd(image, "linear", k)


@pytest.mark.parametrize("kernel", ["precomputed", "association"])
def test_kernels_of_single_entries_are_refused(kernel, image):
    with pytest.raises(ValueError, match=f"kernel='{kernel}' does not compare rows with columns; use 'linear'"):
        image_svd(image, kernel)


@pytest.mark.parametrize(
    ("dtype", "scale", "kernel"),
    [
        (float, 255, Exponential(1.0)),
        (float, 255, Exponential(-1.0)),
        (np.float32, 1, Exponential(30.0)),
        (float, 40, Tanh(2.0)),
    ],
)
def test_tones_lost_to_rounding_are_warned_of(dtype, scale, kernel, rng):
    found = image_svd((scale * rng.random((8, 9))).astype(dtype), kernel)
    with pytest.warns(LopsidedWarning, match=r"\d+% of the tones from .* are lost to rounding, .*; scale the image"):
        found.restore(found.values)


@pytest.mark.parametrize("kernel", INVERTIBLE, ids=repr)
def test_an_image_that_is_flat_but_for_rounding_is_restored(kernel):
    flat = np.full((8, 9), 0.3)
    flat[2, 3] = 0.1 + 0.2
    found = image_svd(flat, kernel)
    assert_close(found.restore(found.reconstruct()), flat)


def test_masked_values_are_not_restored(image):
    found = image_svd(image)
    with pytest.raises(ValueError, match="values has .* masked entries"):
        found.restore(np.ma.masked_array(image, image > 0.5))


def test_kernels_without_an_inverse_and_components_not_held_are_refused(image):
    for kernel, message in (
        (RBF(1.0), "cannot be converted back to pixels; those of Linear"),
        (Polynomial(2, -0.5), "not monotone"),
    ):
        found = image_svd(image, kernel, 3)
        with pytest.raises(ValueError, match=message):
            found.restore(found.values)
    for k in (4, 2.0):
        with pytest.raises(ValueError, match=f"n_components={k} must be an integer from 1 to 3, .*model holds"):
            found.reconstruct(k)


def test_quality_of_known_pairs_of_images(rng):
    image = rng.random((40, 30))
    assert psnr(image, image) == np.inf
    assert ssim(image, image) == pytest.approx(1)
    assert psnr(image, image + 0.1) == pytest.approx(20)
    assert psnr(255 * image, 255 * image + 25.5, peak=255) == pytest.approx(20)
    flat, flatter = np.full((20, 20), 0.5), np.full((20, 20), 0.25)
    assert ssim(flat, flatter) == pytest.approx((2 * 0.125 + 1e-4) / (0.3125 + 1e-4))
    assert ssim(image, 1 - image) < 0.2 < ssim(image, image + 0.02 * rng.standard_normal(image.shape)) < 1


@pytest.mark.parametrize("shape", [(20, 17), (14, 12, 3)])
def test_structural_similarity_is_its_definition_window_by_window(shape, rng):
    image, other = rng.random(shape), rng.random(shape)
    bell = np.exp(-(np.arange(-5, 6) ** 2) / (2 * 1.5**2))
    window = np.outer(bell, bell) / bell.sum() ** 2
    padding = ((5, 5), (5, 5), (0, 0))[: len(shape)]

    def local(values):
        patches = sliding_window_view(np.pad(values, padding, mode="symmetric"), (11, 11), axis=(0, 1))
        return np.einsum("...ij,ij->...", patches, window)

    x, y = local(image), local(other)
    xx, yy, xy = local(image**2) - x**2, local(other**2) - y**2, local(image * other) - x * y
    expected = (2 * x * y + 0.01**2) * (2 * xy + 0.03**2) / ((x**2 + y**2 + 0.01**2) * (xx + yy + 0.03**2))
    assert ssim(image, other) == pytest.approx(expected.mean(), rel=1e-10)


@pytest.mark.parametrize("measure", [psnr, ssim])
def test_images_of_all_types_are_compared_on_one_scale(measure, rng):
    whole = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    other = rng.integers(0, 256, (20, 30), dtype=np.uint8)
    expected = measure(whole / 255, other / 255)
    assert measure(whole, other) == pytest.approx(expected)
    assert measure(whole, other / 255) == pytest.approx(expected)
    assert measure(whole, other, peak=255) == pytest.approx(expected)
    assert measure(whole.astype(float), other.astype(float), peak=255) == pytest.approx(expected)


@pytest.mark.parametrize("measure", [psnr, ssim])
def test_images_that_cannot_be_compared_are_refused(measure, image):
    with pytest.raises(ValueError, match=r"\(24, 31\) and \(24, 30\)"):
        measure(image, image[:, 1:])
    with pytest.raises(ValueError, match="744 pixels are not finite"):
        measure(image, np.full_like(image, np.nan))
    with pytest.raises(ValueError, match="peak=0 must be positive"):
        measure(image, image, peak=0)
    with pytest.raises(ValueError, match=r"not \(31,\)"):
        measure(image[0], image[0])


def test_the_gallery_writes_its_pictures(tmp_path):
    done = subprocess.run([sys.executable, GALLERY, tmp_path, "--small"], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert sorted(path.name for path in tmp_path.iterdir()) == ["image_kernels.png", "image_parameters.png"]


@pytest.mark.parametrize("measure", [psnr, ssim])
@pytest.mark.parametrize("peak", [None, 1.0])
def test_quality_refuses_masked_and_non_numeric_pixels_with_and_without_a_peak(measure, peak, rng):
    image = rng.random((12, 12))
    with pytest.raises(ValueError, match="masked entries"):
        measure(np.ma.masked_array(image, image > 0.9), image, peak=peak)
    for other in (image + 1j, image.astype(str)):
        with pytest.raises(TypeError, match="pixels must be integers or floats"):
            measure(image, other, peak=peak)
    with pytest.raises(ValueError, match="peak=inf must be positive and finite"):
        measure(image, image, peak=np.inf)


@pytest.mark.parametrize("measure", [psnr, ssim])
@pytest.mark.parametrize("unit", [2.0**600, 2.0**-600])
def test_quality_does_not_depend_on_the_unit_of_the_peak(measure, unit, rng):
    image, other = rng.random((2, 12, 12))
    assert measure(unit * image, unit * other, peak=unit) == measure(image, other, peak=1.0)


@pytest.mark.parametrize("path", ["cat.png", Path("cat.png")])
def test_a_path_is_no_image_and_the_message_says_how_to_read_it(path):
    with pytest.raises(TypeError, match=r"not the path 'cat.png'; read the file first.*PIL.Image.open"):
        image_svd(path, n_components=2)
