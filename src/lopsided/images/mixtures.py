"""Images as mixtures of Gaussians over the cosine coefficients of their patches."""

from __future__ import annotations

from math import isqrt, prod
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import dctn
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parallel import run, slices_of
from ..estimators.refit import all_or_nothing
from ..kernels.distributions import log_densities, monomials
from ..kernels.points import FLOATS, Array

FLOOR = 1e-4  # of the mean variance of a coefficient, below which no variance falls
SAFE = 1e-4  # of the root of the largest number, for sums of squares over patches
MANY = 1 << 15
BATCH_ENTRIES = 1 << 20


class ImageMixtures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Describe each image by a Gaussian mixture over the cosine transforms of its patches.

    An image becomes the set of its patches, each patch its patch x patch coefficients of the two-dimensional discrete
    cosine transform, and the set the mixture of diagonal Gaussians that expectation-maximisation fits to it: one row,
    [weights, means, variances], as ``KullbackLeibler(distribution="mixture", n_components=...)`` reads it.

    ``fit`` learns a background, the mixture of the patches of all images. From it each image starts, and ``prior``
    patches of every background component are added to its own, so that a few dozen patches suffice for 64 variances.

    Parameters
    ----------
    n_components : int, default=4
        Gaussians for each image.
    shape : (int, int) or None, default=None
        Height and width of the images, whose pixels are the columns of X, row after row. None is a square; where the
        number of columns is not one, X holds signals, images of one row.
    patch : int, default=8
        Height and width of a patch, or those of the image where that is smaller.
    step : int, default=4
        Pixels from one patch to the next, down and across.
    prior : float, default=8.0
        Weight of the background in each component, in patches; near zero the fit is maximum likelihood.
    n_iter : int, default=20
        Steps of expectation-maximisation, the same for every image.

    Attributes
    ----------
    shape_ : (int, int)
        Height and width.
    background_ : Mixtures
        Weights (1, k), means (1, k, d) and variances (1, k, d) over the patches of all images.
    floor_ : float
        The least variance: 1e-4 of the mean variance of a coefficient.
    n_features_in_ : int
        Pixels.

    Notes
    -----
    O(n_iter n_components d) for each patch, in matrix products over batches of images. The row of an image depends on
    that image and the background alone.

    References
    ----------
    He, He, Shi, Huang, Suykens, "Learning with asymmetric kernels: least squares and feature interpretation", IEEE
    Transactions on Pattern Analysis and Machine Intelligence 45, 2023, section IV-A.

    Examples
    --------
    >>> from lopsided import ImageMixtures
    >>> from lopsided.datasets import make_textures
    >>> X, y = make_textures(20, random_state=0)
    >>> ImageMixtures(n_components=2).fit_transform(X).shape
    (20, 258)
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "shape": [tuple, list, None],
        "patch": [Interval(Integral, 1, None, closed="left")],
        "step": [Interval(Integral, 1, None, closed="left")],
        "prior": [Interval(Real, 0, None, closed="neither")],
        "n_iter": [Interval(Integral, 1, None, closed="left")],
    }

    def __init__(
        self,
        n_components: int = 4,
        *,
        shape: tuple[int, int] | None = None,
        patch: int = 8,
        step: int = 4,
        prior: float = 8.0,
        n_iter: int = 20,
    ) -> None:
        self.n_components = n_components
        self.shape = shape
        self.patch = patch
        self.step = step
        self.prior = prior
        self.n_iter = n_iter

    @all_or_nothing
    def fit(self, X: Array, y: Any = None) -> Self:
        """Learn the background from the images, or from as many spread among them as give some 30,000 patches.

        Parameters
        ----------
        X : array of shape (n, height * width)
            Images.
        y : ignored
            For the convention of scikit-learn.
        """
        self._validate_params()
        X = validate_data(self, X, dtype=FLOATS)
        _check_magnitude(X)
        self.shape_ = self._check_shape(X.shape[1])
        per_image = self._coefficients(X[:1]).shape[1]
        Y = np.concatenate(self._coefficients(X[:: -(-len(X) * per_image // MANY)]))
        self.floor_ = FLOOR * float(Y.var(axis=0).mean()) or 1.0
        self._middle = Y.mean(axis=0)  # from which all are measured, for variances are differences of squares
        F = monomials(Y - self._middle)[None]
        whole = np.repeat(F.mean(axis=1, keepdims=True), self.n_components, axis=1)
        found = maximise(F, _by_energy(Y, self.n_components), whole, self.n_iter, self.floor_)
        self.background_ = found.moved(self._middle)
        self._n_features_out = sum(part.size for part in self.background_)
        return self

    def transform(self, X: Array) -> np.ndarray:
        """Return the mixtures of images as rows of n_components (1 + 2 d) numbers, d the coefficients of a patch."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        _check_magnitude(X)
        entries = self._coefficients(X[:1]).size
        return np.vstack(run(lambda rows: self._adapted(X[rows]), slices_of(len(X), BATCH_ENTRIES // entries)))

    def _adapted(self, X: np.ndarray) -> np.ndarray:
        F, background = monomials(self._coefficients(X) - self._middle), self.background_.moved(-self._middle)
        start = background.responsibilities(F)
        mixtures = maximise(F, start, self.prior * background.moments(), self.n_iter, self.floor_)
        return np.hstack([part.reshape(len(X), -1) for part in mixtures.moved(self._middle)]).astype(X.dtype)

    def _coefficients(self, X: np.ndarray) -> np.ndarray:
        """Cosine transforms of all patches of each image, shape (n, patches, d), in double precision."""
        sides = tuple(min(self.patch, side) for side in self.shape_)
        windows = sliding_window_view(X.reshape(-1, *self.shape_), sides, axis=(1, 2))
        transforms = dctn(windows[:, :: self.step, :: self.step].astype(float), axes=(3, 4), norm="ortho")
        return transforms.reshape(len(X), -1, prod(sides))

    def _check_shape(self, pixels: int) -> tuple[int, int]:
        if self.shape is None:
            side = isqrt(pixels)
            return (side, side) if side**2 == pixels else (1, pixels)
        whole = len(self.shape) == 2 and all(isinstance(side, Integral) and side > 0 for side in self.shape)
        if not whole or prod(self.shape) != pixels:
            raise ValueError(
                f"shape={self.shape} does not give the {pixels} pixels of a row of X; it is (height, width), whole "
                f"numbers with height * width = {pixels}"
            )
        height, width = self.shape
        return height, width

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Mixtures(NamedTuple):
    """A stack of mixtures of diagonal Gaussians: weights (n, k), means (n, k, d) and variances (n, k, d)."""

    w: np.ndarray
    m: np.ndarray
    v: np.ndarray

    def moved(self, by: np.ndarray) -> Mixtures:
        """The mixtures of points moved by a vector."""
        return self._replace(m=self.m + by)

    def moments(self) -> np.ndarray:
        """Expectations of [x^2, x, 1] in every component, shape (n, k, 2 d + 1)."""
        return np.concatenate([self.v + self.m**2, self.m, np.ones_like(self.m[..., :1])], axis=-1)

    def responsibilities(self, F: np.ndarray) -> np.ndarray:
        """The share of each component in each point, shape (n, points, k), from the points' monomials."""
        return softmax(F @ log_densities(*self).swapaxes(1, 2), axis=2)

    @classmethod
    def with_sums(cls, S: np.ndarray, floor: float) -> Mixtures:
        """The mixtures whose components have these sums of [x^2, x, 1], shape (n, k, 2 d + 1)."""
        counts, d = S[..., -1], S.shape[-1] // 2
        E = S[..., :-1] / counts[..., None]
        m = E[..., d:]
        return cls(counts / counts.sum(axis=1, keepdims=True), m, np.maximum(E[..., :d] - m**2, floor))


def maximise(F: np.ndarray, R: np.ndarray, prior: np.ndarray, n_iter: int, floor: float) -> Mixtures:
    """Expectation-maximisation for a stack of sets of points.

    Parameters
    ----------
    F : array of shape (n, points, 2 d + 1)
        Monomials [x^2, x, 1] of the points.
    R : array of shape (n, points, k)
        Responsibilities to start from.
    prior : array of shape (1, k, 2 d + 1)
        Sums of the monomials over points that each component has beside its share of the set.
    n_iter : int
        Maximisations.
    floor : float
        The least variance.
    """
    mixtures = Mixtures.with_sums(R.swapaxes(1, 2) @ F + prior, floor)
    for _ in range(n_iter - 1):
        R = mixtures.responsibilities(F)
        mixtures = Mixtures.with_sums(R.swapaxes(1, 2) @ F + prior, floor)
    return mixtures


def _check_magnitude(X: np.ndarray) -> None:
    """Refuse pixels so large that variances of patches overflow."""
    largest, most = float(np.abs(X).max()), SAFE * float(np.sqrt(np.finfo(X.dtype).max))
    if largest > most:
        raise ValueError(
            f"pixels reach {largest:.3g}, whose squares {X.dtype} may not hold; scale the images: X / {largest:.3g}"
        )


def _by_energy(Y: np.ndarray, k: int) -> np.ndarray:
    """Responsibilities, shape (1, n, k), of k equal groups from flat patches to busy ones."""
    ranks = np.argsort(np.argsort(np.square(Y[:, 1:]).sum(axis=1), kind="stable"))
    return np.eye(k)[None, ranks * k // len(Y)]
