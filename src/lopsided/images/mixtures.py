"""Gaussian mixture descriptors of images over the cosine coefficients of their patches."""

from math import isqrt, prod
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import dctn
from scipy.special import softmax
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import FLOATS, ArrayLike, Estimator, atomic_fit, counted, gate, reject_masked, run, slices_of
from ..kernels import log_densities, monomials

# A guard against variances of zero, relative to the mean variance of a coefficient: from 1e-10 to 1e-3 results are the
# same on textures and digits (`python benchmarks/kl_images.py ablation`).
VARIANCE_FLOOR = 1e-4
SQUARE_MARGIN = 1e-4  # of pixels to the root of the largest or smallest float, so that sums of squares are safe
BACKGROUND_PATCHES = 1 << 15  # patches, approximately, that the background is fitted to
MOST_COMPONENTS = 1 << 10  # each patch has a probability of each component: 270 MB
BATCH_ENTRIES = 1 << 20  # coefficients in a batch of images: 8 MB


class ImageMixtures(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Transformer that describes each image by a Gaussian mixture over the cosine coefficients of its patches.

    Each image is cut into patches, and each patch is represented by the patch x patch coefficients of its
    two-dimensional discrete cosine transform. Expectation-maximisation fits a mixture of diagonal Gaussians to the
    patches of an image. The output is one row per image, [weights, means, variances], the format that
    ``KullbackLeibler(distribution="mixture", n_components=...)`` reads.

    ``fit`` learns a background mixture from the patches of all images. The fit of each image starts from the
    background, and ``prior`` patches of every background component are added to the image's own, so that a few dozen
    patches suffice to estimate 64 variances. The row of an image depends only on that image and the background. Cost:
    O(n_iter n_components d) time per patch, in matrix products over batches of images.

    Parameters
    ----------
    n_components : int, default=4
        Number of Gaussians per image.
    shape : (int, int) or None, default=None
        Height and width of the images, whose pixels are the columns of X in row-major order. None means square images;
        if the number of columns is not a perfect square, X holds signals, that is, images of height one.
    patch : int, default=8
        Height and width of a patch, reduced to those of the image if it is smaller.
    step : int, default=4
        Stride between patches in pixels, vertically and horizontally.
    prior : float, default=8.0
        Weight of the background in each component, in patches; near zero the fit is maximum likelihood.
    n_iter : int, default=20
        Number of expectation-maximisation iterations for the background, and for every image.
    n_adapt : int or None, default=None
        Number of iterations for an image, if other than ``n_iter``. One is the adaptation of speaker recognition
        (Reynolds et al., 2000): components stay near those of the background, so that hundreds of them can be compared
        one by one, by ``KullbackLeibler(distribution="adapted")``.
    verbose : int, default=0
        1 reports the progress of a fit on standard error.

    Attributes
    ----------
    shape_ : (int, int)
        Height and width of the images.
    background_ : Mixtures
        Weights (1, k), means (1, k, d) and variances (1, k, d) over the patches of all images.
    floor_ : float
        Lower bound of the variances: 1e-4 of the mean variance of a coefficient.
    n_features_in_, feature_names_in_ : int and array
        Number of pixels, and their names, if X has any.

    References
    ----------
    He et al., IEEE TPAMI 45, 2023, section IV-A, as for :class:`~lopsided.kernels.KullbackLeibler`.
    Reynolds, Quatieri, Dunn, "Speaker verification using adapted Gaussian mixture models", Digital Signal Processing
    10, 2000.

    Examples
    --------
    >>> from lopsided import ImageMixtures
    >>> from lopsided.datasets import make_textures
    >>> X, y = make_textures(20, random_state=0)
    >>> ImageMixtures(n_components=2).fit_transform(X).shape
    (20, 258)
    """

    _parameter_constraints: dict[str, Any] = {
        **{name: [Interval(Integral, 1, None, closed="left")] for name in ("patch", "step", "n_iter")},
        "n_components": [Interval(Integral, 1, MOST_COMPONENTS, closed="both")],
        "verbose": ["verbose"],
        "shape": [tuple, list, None],
        "prior": [Interval(Real, 0, None, closed="neither")],
        "n_adapt": [Interval(Integral, 1, None, closed="left"), None],
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
        n_adapt: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components, self.shape, self.patch, self.verbose = n_components, shape, patch, verbose
        self.step, self.prior, self.n_iter, self.n_adapt = step, prior, n_iter, n_adapt

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn the background from images X (n, height * width), or from evenly spaced ones with 30,000 patches."""
        self._validate_params()
        X = self._check_images(X, reset=True)
        self.shape_ = self._check_shape(X.shape[1])
        per_image = self._coefficients(X[:1]).shape[1]
        Y = np.concatenate(self._coefficients(X[:: -(-len(X) * per_image // BACKGROUND_PATCHES)]))
        self.floor_ = VARIANCE_FLOOR * float(Y.var(axis=0).mean()) or 1.0
        self._middle = Y.mean(axis=0)  # centring avoids cancellation in variances
        F = monomials(Y - self._middle)[None]
        k = int(self.n_components)  # which may be a bool
        whole = np.repeat(F.mean(axis=1, keepdims=True), k, axis=1)
        found = fit_mixtures(F, _initial_responsibilities(Y, k), whole, self.n_iter, self.floor_)
        self.background_ = found.moved(self._middle)
        self._n_features_out = sum(part.size for part in self.background_)
        return self

    @gate
    def transform(self, X: ArrayLike) -> np.ndarray:
        """Return one mixture per image as a row of n_components (1 + 2 d) numbers, for d coefficients per patch."""
        check_is_fitted(self)
        X = self._check_images(X, reset=False)
        entries = self._coefficients(X[:1]).size
        return np.vstack(run(lambda rows: self._descriptors(X[rows]), slices_of(len(X), BATCH_ENTRIES // entries)))

    def _check_images(self, X: Any, *, reset: bool) -> np.ndarray:
        """Validate images; those of ``fit`` must not be so small that the variances of patches vanish."""
        sides = (np.shape(X) if isinstance(X, (list, tuple)) else getattr(X, "shape", ()))[1:]
        if len(sides) > 1:  # scikit-learn would refuse a stack without saying how to flatten it
            first = "take the mean of the channels, then " if len(sides) > 2 else ""
            raise ValueError(
                f"images of shape {sides} must be passed as rows of pixels: {first}give X.reshape(len(X), -1), and "
                f"shape={sides[:2]} to ImageMixtures"
            )
        X = validate_data(self, reject_masked(X, "X"), dtype=FLOATS, reset=reset)
        largest, limits = float(np.abs(X).max()), np.finfo(X.dtype)
        if largest > SQUARE_MARGIN * float(np.sqrt(limits.max)):
            trouble = f"reach {largest:.3g}, whose squares may overflow"
        elif reset and 0 < largest < float(np.sqrt(limits.tiny)) / SQUARE_MARGIN:
            trouble = f"reach only {largest:.3g}, whose squares vanish"
        else:
            return X
        raise ValueError(f"pixels {trouble} in {X.dtype}; scale the images: X / {largest:.3g}")

    def _descriptors(self, X: np.ndarray) -> np.ndarray:
        F, background = monomials(self._coefficients(X) - self._middle), self.background_.moved(-self._middle)
        start = background.responsibilities(F)
        steps = self.n_iter if self.n_adapt is None else self.n_adapt
        mixtures = fit_mixtures(F, start, float(self.prior) * background.moments(), steps, self.floor_)
        return np.hstack([part.reshape(len(X), -1) for part in mixtures.moved(self._middle)]).astype(X.dtype)

    def _coefficients(self, X: np.ndarray) -> np.ndarray:
        """Cosine transforms of all patches of each image, shape (n, patches, d), in double precision."""
        sides = tuple(min(int(self.patch), side) for side in self.shape_)
        windows = sliding_window_view(X.reshape(-1, *self.shape_), sides, axis=(1, 2))
        transforms = dctn(windows[:, :: self.step, :: self.step].astype(float), axes=(3, 4), norm="ortho")
        return transforms.reshape(len(X), -1, prod(sides))

    def _check_shape(self, pixels: int) -> tuple[int, int]:
        if self.shape is None:
            side = isqrt(pixels)
            return (side, side) if side**2 == pixels else (1, pixels)
        whole = len(self.shape) == 2 and all(isinstance(side, Integral) and side > 0 for side in self.shape)
        if not whole or prod(self.shape) != pixels:
            raise ValueError(f"shape={self.shape} must be two integers, height and width, with product {pixels}")
        return self.shape[0], self.shape[1]

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


class Mixtures(NamedTuple):
    """Stack of n mixtures of diagonal Gaussians: weights (n, k), means (n, k, d) and variances (n, k, d)."""

    w: np.ndarray
    m: np.ndarray
    v: np.ndarray

    def moved(self, by: np.ndarray) -> Self:
        """The mixtures translated by a vector."""
        return self._replace(m=self.m + by)

    def moments(self) -> np.ndarray:
        """Expectations of [x^2, x, 1] in every component, shape (n, k, 2 d + 1)."""
        return np.concatenate([self.v + self.m**2, self.m, np.ones_like(self.m[..., :1])], axis=-1)

    def responsibilities(self, F: np.ndarray) -> np.ndarray:
        """Posterior probability of each component for each point, shape (n, points, k), from the points' monomials."""
        return softmax(F @ log_densities(*self).swapaxes(1, 2), axis=2)

    @classmethod
    def with_sums(cls, S: np.ndarray, floor: float) -> Self:
        """Maximum-likelihood mixtures for given sums of [x^2, x, 1] per component, shape (n, k, 2 d + 1)."""
        counts, d = S[..., -1], S.shape[-1] // 2
        E = S[..., :-1] / counts[..., None]
        m = E[..., d:]
        return cls(counts / counts.sum(axis=1, keepdims=True), m, np.maximum(E[..., :d] - m**2, floor))


def fit_mixtures(F: np.ndarray, R: np.ndarray, prior: np.ndarray, n_iter: int, floor: float) -> Mixtures:
    """Fit one mixture to each of n sets of points by ``n_iter`` steps of expectation-maximisation.

    F (n, points, 2 d + 1) holds the monomials [x^2, x, 1] of the points, and R (n, points, k) initial responsibilities.
    The sums ``prior`` (1, k, 2 d + 1) of the monomials over prior points are added to those of each component's share.
    """
    mixtures = Mixtures.with_sums(R.swapaxes(1, 2) @ F + prior, floor)
    for _ in counted(range(n_iter - 1), "steps of expectation-maximisation", n_iter - 1):
        R = mixtures.responsibilities(F)
        mixtures = Mixtures.with_sums(R.swapaxes(1, 2) @ F + prior, floor)
    return mixtures


def _initial_responsibilities(Y: np.ndarray, k: int) -> np.ndarray:
    """Initial responsibilities (1, n, k): equal groups by energy without the mean, or by the mean of single pixels."""
    energies = np.square(Y[:, 1:]).sum(axis=1) if Y.shape[1] > 1 else Y[:, 0]
    ranks = np.argsort(np.argsort(energies, kind="stable"))
    return np.eye(k)[None, ranks * k // len(Y)]
