"""Nonlinear singular value decomposition of images (section 5 of the 2016 paper)."""

from __future__ import annotations

from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np

from .._core import reject_masked
from ..exceptions import LopsidedWarning, warn
from ..kernel_svd import KernelSVD
from ..kernels import Exponential, InnerProductKernel, Precomputed, as_kernel
from .pixels import as_pixels

GRID = (1 << 16) + 1  # points of the table that inverts a profile; the error is about 1e-10 where it is not flat
ROUNDING = 4  # error of a profile, in units of eps times its largest value
TONE = 1 << 8  # steps of the table in a tone; 256 tones are those of an 8-bit image


@dataclass(frozen=True)
class ImageSVD:
    """Kernel SVD of one image, channel by channel.

    Attributes
    ----------
    image : array of shape (height, width) or (height, width, channels)
        The decomposed image, in floating point.
    models : tuple of KernelSVD
        One model per channel; ``transform`` and ``transform_right`` embed further rows and columns.
    values : array of the image's shape
        B, the matrix of kernel values between rows and columns, itself an image. For inner-product kernels each entry
        is the kernel's profile at that pixel, such as exp(eta a_ij).

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import image_svd
    >>> found = image_svd(np.random.default_rng(0).random((6, 8)))
    >>> found.values.shape, found.reconstruct(2).shape
    ((6, 8), (6, 8))
    """

    image: np.ndarray
    models: tuple[KernelSVD, ...]
    values: np.ndarray

    def reconstruct(self, n_components: int | None = None) -> np.ndarray:
        """Low-rank approximation of B from its leading components.

        Parameters
        ----------
        n_components : int or None, default=None
            Number of components; None uses all that were computed.

        Returns
        -------
        array of the image's shape
            The approximation.
        """
        most = min(model.n_components_ for model in self.models)
        k = most if n_components is None else n_components
        if not (isinstance(k, Integral) and 1 <= k <= most):
            raise ValueError(f"n_components={k}, but the model holds {most}; take a whole number from 1 to {most}")
        return self._joined(
            [(m.left_vectors_[:, :k] * m.singular_values_[:k]) @ m.right_vectors_[:, :k].T for m in self.models]
        )

    def display(self, values: np.ndarray) -> np.ndarray:
        """Divide values by the largest entry of B and clip to [0, 1], as in the figures of the paper.

        If B has no positive entry, the result is all black.
        """
        white = self.values.max()
        return np.clip(values / white, 0, 1) if white > 0 else np.zeros_like(values)

    def restore(self, values: np.ndarray) -> np.ndarray:
        """Invert the kernel's profile to recover pixels from values of B, for inner-product kernels.

        Values outside the range of the profile between the darkest and the brightest pixel are clipped to that range.
        If the profile spans more digits than the image's dtype has, tones where it is flat are lost, with a
        :class:`~lopsided.exceptions.LopsidedWarning`.

        Raises
        ------
        ValueError
            If the kernel is not an inner-product kernel, or not monotone between the darkest and the brightest pixel.
        """
        grid = np.linspace(float(self.image.min()), float(self.image.max()), GRID)  # float32 would repeat grid points
        kernel = self.models[0].kernel_
        if not isinstance(kernel, InnerProductKernel | Exponential):
            raise ValueError(
                f"the values of {kernel!r} cannot be turned back to pixels; Linear, LinearPolynomial, Polynomial, "
                "Exponential and Tanh can"
            )
        profile = kernel.pairs(kernel.left(grid[:, None]), kernel.right(np.ones((1, 1))))[:, 0]
        steps, rounding = np.diff(profile), ROUNDING * np.finfo(float).eps * np.abs(profile).max()
        if steps.min() < -rounding and steps.max() > rounding:
            raise ValueError(
                f"{kernel!r} is not monotone for pixels from {grid[0]:.3g} to {grid[-1]:.3g}, so its values have no "
                "inverse; scale the image or take another kernel"
            )
        _warn_if_lost(grid[::TONE], profile[::TONE], kernel, np.finfo(self.image.dtype).eps)
        order = np.argsort(profile, kind="stable")
        return np.interp(reject_masked(values, "values"), profile[order], grid[order]).astype(self.image.dtype)

    def _joined(self, channels: list[np.ndarray]) -> np.ndarray:
        return channels[0] if self.image.ndim == 2 else np.stack(channels, axis=2)


def image_svd(image: np.ndarray, kernel: Any = "linear", n_components: int | None = None) -> ImageSVD:
    """Nonlinear SVD of an image: kernel SVD between its rows and its columns.

    For each channel A with rows x_i and columns z_j, the matrix B_ij = k(C^T x_i, z_j) is decomposed, where C is the
    pseudo-inverse, A C A = A (compatibility a0). The linear kernel gives the SVD of the image.

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
        One model per channel and B, with methods to reconstruct B and to recover pixels.

    Notes
    -----
    Cost: two thin SVDs and one product per channel.

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
    channels = [pixels] if pixels.ndim == 2 else [np.ascontiguousarray(pixels[:, :, c]) for c in range(pixels.shape[2])]
    shortest = min(pixels.shape[:2])
    k = shortest if n_components is None else n_components
    if not 1 <= k <= shortest:
        raise ValueError(f"n_components={k}, but a picture of {pixels.shape[:2]} has from 1 to {shortest}")
    if isinstance(as_kernel(kernel), Precomputed):
        raise ValueError(f"kernel={kernel!r} compares no rows with columns; for the SVD of the image take 'linear'")
    models = tuple(KernelSVD(k, kernel=kernel, compatibility="pinv").fit(channel) for channel in channels)
    values = [model.kernel_(model.X_fit_, model.Z_fit_) for model in models]
    return ImageSVD(pixels, models, values[0] if pixels.ndim == 2 else np.stack(values, axis=2))


def _warn_if_lost(tones: np.ndarray, values: np.ndarray, kernel: Any, eps: float) -> None:
    """Warn if values of neighbouring tones are equal to rounding, relative to the largest, and the tones are not."""
    lost = np.abs(np.diff(values)) < eps * np.abs(values).max()
    if lost.any() and np.ptp(tones[:2]) > eps * np.abs(tones).max():
        warn(
            f"{lost.mean():.0%} of the tones from {tones[0]:.3g} to {tones[-1]:.3g} drown in the rounding of "
            f"{kernel!r}, whose values reach {np.abs(values).max():.3g}, and are restored as others; scale the image "
            "to at most 1, or take a kernel that grows less",
            LopsidedWarning,
        )
