"""Nonlinear singular value decomposition of images (section 5 of the 2016 paper)."""

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._core import checked, gate, reject_masked
from ..exceptions import LopsidedWarning, warn
from ..kernel_svd import KernelSVD
from ..kernels import Exponential, InnerProductKernel, Precomputed, as_kernel
from .quality import as_pixels

TABLE_POINTS = (1 << 16) + 1  # of the table that inverts a profile; its error is about 1e-10 where it is not flat
POINTS_PER_TONE = 1 << 8  # of the table; 256 tones are those of an 8-bit image
PROFILE_ULPS = 4  # rounding error of a profile, in units of eps times its largest value


@dataclass(frozen=True)
class ImageSVD:
    """Kernel SVD of one image, channel by channel.

    ``values`` holds B, the matrix of kernel values between rows and columns, itself an image: for inner-product kernels
    each entry is the kernel's profile at that pixel, such as exp(eta a_ij). ``models`` embed further rows and columns
    with ``transform`` and ``transform_right``.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import image_svd
    >>> found = image_svd(np.random.default_rng(0).random((6, 8)))
    >>> found.values.shape, found.reconstruct(2).shape
    ((6, 8), (6, 8))
    """

    image: np.ndarray  # (height, width) or (height, width, channels), in floating point
    models: tuple[KernelSVD, ...]  # one per channel
    values: np.ndarray  # B, in the image's shape

    @gate
    def reconstruct(self, n_components: int | None = None) -> np.ndarray:
        """Low-rank approximation of B, in the image's shape, from its leading components; None uses all."""
        most = min(model.n_components_ for model in self.models)
        k = most if n_components is None else n_components
        if not (isinstance(k, Integral) and 1 <= k <= most):
            raise ValueError(f"n_components={k} must be an integer from 1 to {most}, the number that the model holds")
        parts = [(m.left_vectors_[:, :k] * m.singular_values_[:k]) @ m.right_vectors_[:, :k].T for m in self.models]
        return _from_channels(parts, self.image.ndim)

    def display(self, values: np.ndarray) -> np.ndarray:
        """Divide values by the largest entry of B and clip to [0, 1], as in the paper; black if none is positive."""
        white = self.values.max()
        return np.clip(values / white, 0, 1) if white > 0 else np.zeros_like(values)

    @gate
    def restore(self, values: np.ndarray) -> np.ndarray:
        """Invert the kernel's profile to recover pixels from values of B, for inner-product kernels.

        The profile must be monotone between the darkest and the brightest pixel; values outside its range there are
        clipped. If it spans more digits than the image's dtype has, tones where it is flat are lost, with a
        :class:`~lopsided.exceptions.LopsidedWarning`.
        """
        darkest, brightest = float(self.image.min()), float(self.image.max())  # as float32, points would repeat
        grid = np.linspace(darkest, brightest, TABLE_POINTS)
        kernel = self.models[0].kernel_
        if not isinstance(kernel, InnerProductKernel | Exponential):
            invertible = "those of Linear, LinearPolynomial, Polynomial, Exponential and Tanh can"
            raise ValueError(f"values of {kernel!r} cannot be converted back to pixels; {invertible}")
        profile = kernel.pairs(kernel.left(grid[:, None]), kernel.right(np.ones((1, 1))))[:, 0]
        steps, rounding = np.diff(profile), PROFILE_ULPS * np.finfo(float).eps * np.abs(profile).max()
        if steps.min() < -rounding and steps.max() > rounding:
            pixels = f"pixels from {darkest:.3g} to {brightest:.3g}"
            raise ValueError(f"{kernel!r} is not monotone for {pixels}; scale the image or use another kernel")
        _warn_of_lost_tones(grid[::POINTS_PER_TONE], profile[::POINTS_PER_TONE], kernel, np.finfo(self.image.dtype).eps)
        order = np.argsort(profile, kind="stable")
        return np.interp(reject_masked(values, "values"), profile[order], grid[order]).astype(self.image.dtype)


@checked(n_components=[Integral, None])
@gate
def image_svd(image: np.ndarray, kernel: Any = "linear", n_components: int | None = None) -> ImageSVD:
    """Nonlinear SVD of an image: kernel SVD between its rows and its columns.

    For each channel A with rows x_i and columns z_j, the matrix B_ij = k(C^T x_i, z_j) is decomposed, where C is the
    pseudo-inverse, A C A = A (compatibility a0). The linear kernel gives the SVD of the image.
    Cost: two thin SVDs and one product per channel.

    Parameters
    ----------
    image : array of shape (height, width) or (height, width, channels)
        Integers of 8 or 16 bits are divided by the largest value of their type, so that pixels are at most 1. Floats
        are not scaled. Wider integers raise an error, because their white level is unknown.
    kernel : str, Kernel or callable, default="linear"
        The paper uses "linear", ``LinearPolynomial(weight, degree)`` and ``Exponential(eta)``.
    n_components : int or None, default=None
        Number of components, at most the shorter side of the image, which is the default.

    Returns
    -------
    ImageSVD
        The image in floating point, a fitted ``KernelSVD`` for each channel, and B.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import image_svd
    >>> from lopsided.kernels import Exponential
    >>> image = np.outer(np.arange(4), np.arange(5)).astype(np.uint8)
    >>> found = image_svd(image, Exponential(1.0))
    >>> bool(np.allclose(found.restore(found.reconstruct()), image / 255))
    True
    """
    pixels = as_pixels(image)
    channels = [np.ascontiguousarray(channel) for channel in np.moveaxis(np.atleast_3d(pixels), 2, 0)]
    shortest = min(pixels.shape[:2])
    k = shortest if n_components is None else n_components
    if not 1 <= k <= shortest:
        raise ValueError(f"n_components={k!r} must be from 1 to {shortest} for an image of shape {pixels.shape[:2]}")
    if isinstance(as_kernel(kernel), Precomputed):
        raise ValueError(f"kernel={kernel!r} does not compare rows with columns; use 'linear' for the SVD of the image")
    models = tuple(KernelSVD(k, kernel=kernel, compatibility="pinv").fit(channel) for channel in channels)
    values = [model.kernel_(model.X_fit_, model.Z_fit_) for model in models]
    return ImageSVD(pixels, models, _from_channels(values, pixels.ndim))


def _from_channels(channels: list[np.ndarray], ndim: int) -> np.ndarray:
    return channels[0] if ndim == 2 else np.stack(channels, axis=2)


def _warn_of_lost_tones(tones: np.ndarray, values: np.ndarray, kernel: Any, eps: float) -> None:
    """Warn if values of neighbouring tones are equal to rounding, relative to the largest, and the tones are not."""
    lost = np.abs(np.diff(values)) < eps * np.abs(values).max()
    if lost.any() and np.ptp(tones[:2]) > eps * np.abs(tones).max():
        of_tones = f"{lost.mean():.0%} of the tones from {tones[0]:.3g} to {tones[-1]:.3g}"
        reached = f"{kernel!r} reaches {np.abs(values).max():.3g}"
        warn(f"{of_tones} are lost to rounding, as {reached}; scale the image or use a flatter kernel", LopsidedWarning)
