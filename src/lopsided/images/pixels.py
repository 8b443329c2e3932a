"""Validation of images and conversion to floating point."""

import numpy as np

from .._core import reject_masked

MAX_BITS = 16  # wider integers have no conventional white level


def as_pixels(image: np.ndarray) -> np.ndarray:
    """Validate an image, (height, width) or (height, width, channels), and convert it to finite floats.

    float32 and float64 are not changed. Integers of 8 and 16 bits are divided by the largest value of their type: 255,
    65535, 127 or 32767.
    """
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
        raise ValueError(f"{np.count_nonzero(~np.isfinite(image))} pixels are not finite; fill them in first")
    return image if image.dtype in (np.float32, np.float64) else image.astype(float)
