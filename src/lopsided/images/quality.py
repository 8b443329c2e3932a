"""Pixels of images as floats, and the quality metrics PSNR and SSIM."""

import os
from functools import partial
from numbers import Real

import numpy as np
from scipy.ndimage import gaussian_filter

from .._core import count_of, frobenius, gate, reject_masked, safe_unit

SIGMA, TRUNCATE = 1.5, 3.5  # in pixels and in SIGMA: a window of 11 x 11, as in Wang et al. (2004)
MAX_BITS = 16  # of integers; wider ones have no conventional white level
K1, K2 = 0.01, 0.03  # stabilising constants relative to the peak, as in Wang et al. (2004)


def as_pixels(image: np.ndarray) -> np.ndarray:
    """Validate an image, (height, width) or (height, width, channels); return finite float32 or float64.

    Integers of 8 and 16 bits are divided by the largest value of their type: 255, 65535, 127 or 32767.
    """
    if isinstance(image, (str, os.PathLike)):
        raise TypeError(
            f"an image is an array of pixels, not the path {os.fspath(image)!r}; read the file first, as in "
            "numpy.asarray(PIL.Image.open(path))"
        )
    image = np.asarray(reject_masked(image, "an image"))
    if image.ndim not in (2, 3) or 0 in image.shape:
        raise ValueError(f"an image has shape (height, width) or (height, width, channels), not {image.shape}")
    if image.dtype == bool:
        return image.astype(float)
    if image.dtype.kind in "iu":
        if 8 * image.dtype.itemsize > MAX_BITS:
            raise ValueError(
                f"{image.dtype} pixels from {image.min()} to {image.max()} have no known white level; divide by it, as "
                "in image / 255, or give 8- or 16-bit integers"
            )
        return image / np.iinfo(image.dtype).max
    if image.dtype.kind != "f":
        raise TypeError(f"pixels must be integers or floats, not {image.dtype}")
    if not np.isfinite(image).all():
        wrong = count_of(np.count_nonzero(~np.isfinite(image)), "pixel is", "pixels are")
        raise ValueError(f"{wrong} not finite; fill them in first")
    return image if image.dtype in (np.float32, np.float64) else image.astype(float)


@gate
def psnr(image: np.ndarray, other: np.ndarray, peak: float | None = None) -> float:
    """Peak signal-to-noise ratio, 10 log10(peak^2 / mean squared difference), in decibels; infinite for equal images.

    Parameters
    ----------
    image, other : arrays of shape (height, width) or (height, width, channels)
        Images of the same shape.
    peak : float or None, default=None
        Pixel value of white. None is 1 for floats and the largest value of the type for integers of 8 or 16 bits; the
        two images may then have different types.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.images import psnr
    >>> image = np.full((8, 8), 0.5)
    >>> round(psnr(image, image + 0.1), 6)
    20.0
    """
    image, other = _comparable(image, other, peak)
    error = frobenius(image - other) / np.sqrt(image.size)
    return float(-20 * np.log10(error)) if error > 0 else float("inf")


@gate
def ssim(image: np.ndarray, other: np.ndarray, peak: float | None = None) -> float:
    """Structural similarity (Wang, Bovik, Sheikh, Simoncelli, 2004), averaged over pixels and channels.

    Local means, variances and covariances use a Gaussian window of 11 x 11 pixels, mirrored at the border. Parameters
    are those of ``psnr``; equal images reach 1, the largest value.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.images import ssim
    >>> image = np.random.default_rng(0).random((16, 16))
    >>> ssim(image, image)
    1.0
    """
    image, other = _comparable(image, other, peak)
    unit = max(float(safe_unit(image, other)), 1.0)  # below one, the constants alone count
    image, other = image / unit, other / unit
    local = partial(gaussian_filter, sigma=(SIGMA, SIGMA, 0)[: image.ndim], truncate=TRUNCATE)
    x, y = local(image), local(other)
    xx, yy, xy = local(image**2) - x**2, local(other**2) - y**2, local(image * other) - x * y
    c1, c2 = (K1 / unit) ** 2, (K2 / unit) ** 2
    return float(np.mean((2 * x * y + c1) * (2 * xy + c2) / ((x**2 + y**2 + c1) * (xx + yy + c2))))


def _comparable(image: np.ndarray, other: np.ndarray, peak: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Both images in double precision, divided by the pixel value of white."""
    if peak is not None and not (isinstance(peak, Real) and 0 < peak < np.inf):
        raise ValueError(f"peak={peak} must be positive and finite: it is the value of white, such as 1 or 255")
    image, other = np.asanyarray(image), np.asanyarray(other)  # which keeps masks, for as_pixels to refuse
    if peak is not None:  # it scales integers, too
        image, other = (each.astype(float) if each.dtype.kind in "biu" else each for each in (image, other))
    image, other = (as_pixels(each).astype(float) / (peak or 1) for each in (image, other))
    if image.shape != other.shape:
        raise ValueError(f"images of shapes {image.shape} and {other.shape} cannot be compared; crop or scale one")
    return image, other
