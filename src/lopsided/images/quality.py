"""Image quality metrics: PSNR and SSIM."""

import numpy as np
from scipy.ndimage import gaussian_filter

from .pixels import as_pixels

SIGMA, TRUNCATE = 1.5, 3.5  # in pixels and in SIGMA: a window of 11 x 11, as in Wang et al. (2004)
K1, K2 = 0.01, 0.03  # stabilising constants relative to the peak, as in Wang et al. (2004)


def psnr(image: np.ndarray, other: np.ndarray, peak: float | None = None) -> float:
    """Peak signal-to-noise ratio, 10 log10(peak^2 / mean squared difference), in decibels.

    Parameters
    ----------
    image, other : arrays of shape (height, width) or (height, width, channels)
        Images of the same shape.
    peak : float or None, default=None
        Pixel value of white. None is 1 for floats and the largest value of the type for integers of 8 or 16 bits; the
        two images may then have different types.

    Returns
    -------
    float
        Decibels; infinite for equal images.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.images import psnr
    >>> image = np.full((8, 8), 0.5)
    >>> round(psnr(image, image + 0.1), 6)
    20.0
    """
    image, other = _comparable(image, other, peak)
    error = float(np.mean((image - other) ** 2))
    return float(-10 * np.log10(error)) if error > 0 else float("inf")


def ssim(image: np.ndarray, other: np.ndarray, peak: float | None = None) -> float:
    """Structural similarity (Wang, Bovik, Sheikh, Simoncelli, 2004), averaged over pixels and channels.

    Local means, variances and covariances use a Gaussian window of 11 x 11 pixels, mirrored at the border.

    Parameters
    ----------
    image, other, peak
        As in ``psnr``.

    Returns
    -------
    float
        At most 1, which equal images reach.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.images import ssim
    >>> image = np.random.default_rng(0).random((16, 16))
    >>> ssim(image, image)
    1.0
    """
    image, other = _comparable(image, other, peak)
    sigmas = (SIGMA, SIGMA, 0)[: image.ndim]

    def local(values: np.ndarray) -> np.ndarray:
        return gaussian_filter(values, sigmas, truncate=TRUNCATE)

    x, y = local(image), local(other)
    xx, yy, xy = local(image**2) - x**2, local(other**2) - y**2, local(image * other) - x * y
    c1, c2 = K1**2, K2**2
    return float(np.mean((2 * x * y + c1) * (2 * xy + c2) / ((x**2 + y**2 + c1) * (xx + yy + c2))))


def _comparable(image: np.ndarray, other: np.ndarray, peak: float | None) -> tuple[np.ndarray, np.ndarray]:
    """Both images in double precision, divided by the pixel value of white."""
    if peak is not None and not 0 < peak < np.inf:
        raise ValueError(f"peak={peak} must be positive and finite: it is the value of white, such as 1 or 255")
    image, other = _relative_to_white(image, peak), _relative_to_white(other, peak)
    if image.shape != other.shape:
        raise ValueError(f"images of shapes {image.shape} and {other.shape} cannot be compared; crop or scale one")
    return image, other


def _relative_to_white(image: np.ndarray, peak: float | None) -> np.ndarray:
    image = np.asanyarray(image)  # keeps a mask, which as_pixels refuses
    if peak is not None and image.dtype.kind in "biu":
        image = image.astype(float)
    return as_pixels(image).astype(float) / (1 if peak is None else peak)
