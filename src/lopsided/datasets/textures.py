"""Random texture images, whose classes differ in the distribution of patches, not in individual pixels."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval, validate_parameter_constraints

Rng = np.random.Generator
SMOOTH_POWER = 3.0  # spectral exponent of smooth random fields, as in _spectrum

CONSTRAINTS: dict[str, Any] = {
    "n_samples": [Interval(Integral, 1, None, closed="left")],
    "size": [Interval(Integral, 8, None, closed="left")],
    "cover": [Interval(Real, 0, 1, closed="right")],
    "noise": [Interval(Real, 0, None, closed="left")],
    "random_state": ["random_state"],
}


def make_textures(
    n_samples: int = 400, *, size: int = 48, cover: float = 0.3, noise: float = 0.5, random_state: Any = None
) -> tuple[np.ndarray, np.ndarray]:
    """Generate square images of eight textures: grating, weave, checks, ripples, spots, scratches, clouds and grain.

    The scale, direction and phase of the texture and the part of the image that it covers are random, so images of one
    class share no pixel pattern, and the scales of the classes overlap. The rest of the image is a smooth background.
    White noise is added, and contrast and brightness are randomised, at the end. Cost: O(n_samples size^2 log(size)).

    Parameters
    ----------
    n_samples : int, default=400
        Number of images, divided evenly among the classes in random order.
    size : int, default=48
        Height and width in pixels, at least 8.
    cover : float, default=0.3
        Smallest fraction of an image that its texture covers, above 0; the fraction is uniform on [cover, 1].
    noise : float, default=0.5
        Standard deviation of the noise, relative to that of the texture.
    random_state : int, RandomState instance or None, default=None
        Seed of the generator; pass an int for reproducible images.

    Returns
    -------
    X : array of shape (n_samples, size * size)
        Images, with pixels in row-major order.
    y : array of shape (n_samples,)
        Class of each image, as an index into ``lopsided.datasets.TEXTURES``.

    Examples
    --------
    >>> from lopsided.datasets import make_textures
    >>> X, y = make_textures(80, random_state=0)
    >>> X.shape, len(set(y))
    ((80, 2304), 8)
    """
    validate_parameter_constraints(CONSTRAINTS, locals(), "make_textures")
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    y = rng.permutation(np.arange(n_samples) % len(TEXTURES))
    return np.stack([_place(_DRAW[TEXTURES[label]](size, rng), cover, noise, rng).ravel() for label in y]), y


def _place(image: np.ndarray, cover: float, noise: float, rng: Rng) -> np.ndarray:
    """Place a texture on part of a smooth background, add noise, and randomise contrast and brightness."""
    image = (image - image.mean()) / max(image.std(), np.finfo(float).tiny)
    field, ground = _spectrum(len(image), SMOOTH_POWER, rng), _spectrum(len(image), SMOOTH_POWER, rng)
    covered = field <= np.quantile(field, rng.uniform(cover, 1))
    image = np.where(covered, image, 0.5 * ground + rng.standard_normal())
    image += noise * rng.standard_normal(image.shape)
    return np.exp(0.3 * rng.standard_normal()) * image + 0.5 * rng.standard_normal()


def _waves(size: int, rng: Rng) -> tuple[np.ndarray, np.ndarray]:
    """Phases of plane waves along two perpendicular directions, with a wavelength of 4 to 10 pixels."""
    angle, (shift, other) = rng.uniform(0, np.pi), rng.uniform(0, 2 * np.pi, 2)
    rate = 2 * np.pi / rng.uniform(4, 10)
    rows, columns = np.mgrid[:size, :size]
    along, across = _rotated(rows, columns, angle)
    return rate * along + shift, rate * across + other


def _rotated(rows: np.ndarray, columns: np.ndarray, angle: float) -> tuple[np.ndarray, np.ndarray]:
    """Coordinates along a direction and across it."""
    return np.cos(angle) * rows + np.sin(angle) * columns, np.cos(angle) * columns - np.sin(angle) * rows


def _weave(size: int, rng: Rng) -> np.ndarray:
    """Two perpendicular sets of threads that pass over and under each other."""
    u, v = _waves(size, rng)
    return np.where(np.sin(u / 2) * np.sin(v / 2) > 0, np.sin(u), np.sin(v))


def _checks(size: int, rng: Rng) -> np.ndarray:
    u, v = _waves(size, rng)
    return np.tanh(3 * np.sin(u) * np.sin(v))


def _spectrum(size: int, power: float, rng: Rng) -> np.ndarray:
    """Gaussian random field with amplitude spectrum 1 / frequency^power and unit variance."""
    frequency = np.hypot(np.fft.fftfreq(size)[:, None], np.fft.rfftfreq(size))
    frequency[0, 0] = np.inf
    image = np.fft.irfft2(np.fft.rfft2(rng.standard_normal((size, size))) / frequency**power, s=(size, size))
    return image / image.std()


def _convolved(size: int, width: float, length: float, rng: Rng) -> np.ndarray:
    """Blobs or, of positive length, parallel strokes on a few per cent of the pixels, with periodic boundaries."""
    positions = np.fft.fftfreq(size, 1 / size)
    along, across = _rotated(positions[:, None], positions, rng.uniform(0, np.pi))
    mark = np.exp(-(np.maximum(np.abs(along) - length, 0) ** 2 + across**2) / (2 * width**2))
    places = rng.random((size, size)) < rng.uniform(0.01, 0.03)
    return np.fft.irfft2(np.fft.rfft2(places) * np.fft.rfft2(mark), s=(size, size))


_DRAW: dict[str, Callable[[int, Rng], np.ndarray]] = {
    "grating": lambda size, rng: np.sin(_waves(size, rng)[0]),
    "weave": _weave,
    "checks": _checks,
    "ripples": lambda size, rng: np.sin(_waves(size, rng)[0] + 4 * _spectrum(size, SMOOTH_POWER, rng)),
    "spots": lambda size, rng: _convolved(size, rng.uniform(1, 2.5), 0.0, rng),
    "scratches": lambda size, rng: _convolved(size, rng.uniform(0.7, 1.2), rng.uniform(3, 7), rng),
    "clouds": lambda size, rng: _spectrum(size, rng.uniform(1.4, 2.2), rng),
    "grain": lambda size, rng: _spectrum(size, rng.uniform(0.4, 1.2), rng),
}
TEXTURES = tuple(_DRAW)
