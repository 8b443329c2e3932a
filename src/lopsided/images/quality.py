"""How close a picture is to another."""

from __future__ import annotations

import numpy as np
from scipy.ndimage import gaussian_filter

from .pixels import as_pixels

SIGMA, TRUNCATE = 1.5, 3.5  # a window of 11 x 11, as Wang et al. (2004) have it
K1, K2 = 0.01, 0.03


def psnr(image: np.ndarray, other: np.ndarray, peak: float | None = None) -> float:
    """Peak signal-to-noise ratio, 10 log10(peak^2 / mean squared difference) in decibels; infinite for equal ones.

    Parameters
    ----------
    image, other : arrays of shape (height, width) or (height, width, channels)
        Pictures of one shape.
    peak : float or None, default=None
        White. None is 1 for floats and the largest of their type for integers of 8 or 16 bits; then the two may be of
        different types.

    Returns
    -------
    float
        Decibels.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.images import psnr
    >>> image = np.full((8, 8), 0.5)
    >>> round(psnr(image, image + 0.1), 6)
    20.0
    """
    image, other, peak = _both(image, other, peak)
    error = float(np.mean((image - other) ** 2))
    return float(10 * np.log10(peak**2 / error)) if error > 0 else float("inf")


def ssim(image: np.ndarray, other: np.ndarray, peak: float | None = None) -> float:
    """Structural similarity (Wang, Bovik, Sheikh, Simoncelli, 2004), mean over pixels and channels; 1 for equal ones.

    Means, variances and covariance are taken in a Gaussian window of 11 x 11 pixels, mirrored at the border.

    Parameters
    ----------
    image, other, peak
        As for ``psnr``.

    Returns
    -------
    float
        At most 1.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.images import ssim
    >>> image = np.random.default_rng(0).random((16, 16))
    >>> ssim(image, image)
    1.0
    """
    image, other, peak = _both(image, other, peak)
    sigmas = (SIGMA, SIGMA, 0)[: image.ndim]

    def local(values: np.ndarray) -> np.ndarray:
        return gaussian_filter(values, sigmas, truncate=TRUNCATE)

    x, y = local(image), local(other)
    xx, yy, xy = local(image**2) - x**2, local(other**2) - y**2, local(image * other) - x * y
    c1, c2 = (K1 * peak) ** 2, (K2 * peak) ** 2
    return float(np.mean((2 * x * y + c1) * (2 * xy + c2) / ((x**2 + y**2 + c1) * (xx + yy + c2))))


def _both(image: np.ndarray, other: np.ndarray, peak: float | None) -> tuple[np.ndarray, np.ndarray, float]:
    """Both pictures in double precision, and their white."""
    if peak is not None:
        if not peak > 0:
            raise ValueError(f"peak={peak} is not above zero; it is the value of white, such as 1 or 255")
        image, other = np.asarray(image, dtype=float), np.asarray(other, dtype=float)
    image, other = as_pixels(image).astype(float), as_pixels(other).astype(float)
    if image.shape != other.shape:
        raise ValueError(f"pictures of shapes {image.shape} and {other.shape} cannot be compared; crop or scale one")
    return image, other, 1.0 if peak is None else peak
