"""Images as mixtures of Gaussians over the cosine coefficients of their patches."""

from __future__ import annotations

from math import isqrt
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from numpy.lib.stride_tricks import sliding_window_view
from scipy.fft import dctn
from scipy.special import softmax
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval
from sklearn.utils.validation import check_is_fitted, validate_data

from ._parallel import run, slices_of
from .kernels.base import FLOATS, Array
from .kernels.distributions import log_densities, monomials

FLOOR = 1e-4  # of the mean variance of a coefficient
MANY = 1 << 15
BATCH_ENTRIES = 1 << 20


class Mixtures(NamedTuple):
    """A stack of mixtures: weights (n, k), means (n, k, d) and variances (n, k, d)."""

    w: np.ndarray
    m: np.ndarray
    v: np.ndarray


class ImageMixtures(TransformerMixin, BaseEstimator):
    def __init__(self, n_components=4, *, shape=None, patch=8, step=4, prior=16.0, n_iter=20):
        self.n_components = n_components
        self.shape = shape
        self.patch = patch
        self.step = step
        self.prior = prior
        self.n_iter = n_iter

    def fit(self, X: Array, y: Any = None) -> Self:
        X = validate_data(self, X, dtype=FLOATS)
        self.shape_ = self._check_shape(X.shape[1])
        per_image = self._patches(X[:1]).shape[1]
        X = X[:: -(-len(X) * per_image // MANY)]
        Y = self._patches(X)
        Y = Y.reshape(1, -1, Y.shape[2]).astype(float)
        whole = statistics(np.ones((*Y.shape[:2], 1)), monomials(Y))
        whole /= whole[..., -1:]
        self.floor_ = FLOOR * float(Y.var(axis=1).mean()) or 1.0
        energy = np.square(Y - Y.mean(axis=1, keepdims=True))[..., :].sum(axis=2)
        groups = np.argsort(np.argsort(energy, axis=1), axis=1) * self.n_components // Y.shape[1]
        S = np.eye(self.n_components)[groups]
        prior = np.repeat(whole, self.n_components, axis=1)
        self.background_ = em(monomials(Y), S, prior, self.n_iter, self.floor_)
        return self

    def transform(self, X):
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        out = []
        bg = self.background_
        for rows in slices_of(len(X), 64):
            F = monomials(self._patches(X[rows]).astype(float))
            prior = self.prior * bg.w[..., None] * np.concatenate([bg.v + bg.m**2, bg.m, np.ones_like(bg.m[..., :1])], axis=-1)
            S = respond(F, Mixtures(*(np.repeat(p, len(F), axis=0) for p in bg)))
            M = em(F, S, prior, self.n_iter, self.floor_)
            out.append(np.hstack([p.reshape(len(F), -1) for p in M]))
        return np.vstack(out)

    def _check_shape(self, pixels):
        if self.shape is None:
            side = isqrt(pixels)
            return (side, side) if side**2 == pixels else (1, pixels)
        return self.shape

    def _patches(self, X):
        images = X.reshape(len(X), *self.shape_)
        window = tuple(min(self.patch, s) for s in self.shape_)
        P = sliding_window_view(images, window, axis=(1, 2))[:, :: self.step, :: self.step]
        C = dctn(P, axes=(-2, -1), norm="ortho")
        return C.reshape(len(X), -1, window[0] * window[1])


def respond(F, M):
    E = F @ log_densities(*M).swapaxes(1, 2)
    return softmax(E, axis=2)


def statistics(R, F):
    return R.swapaxes(1, 2) @ F


def em(F, R, prior, n_iter, floor):
    for i in range(n_iter):
        S = statistics(R, F) + prior
        N = S[..., -1]
        d = S.shape[-1] // 2
        m = S[..., d:-1] / N[..., None]
        v = np.maximum(S[..., :d] / N[..., None] - m**2, floor)
        M = Mixtures(N / N.sum(axis=1, keepdims=True), m, v)
        if i < n_iter - 1:
            R = respond(F, M)
    return M
