"""Least-squares support vector regression with an asymmetric kernel."""

from numbers import Real
from typing import Any

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.metrics import r2_score
from sklearn.utils import Tags

from .._core import ArrayLike, by_blocks, count_of, gate, real_targets
from ..exceptions import LopsidedWarning, warn
from .base import AsymmetricLeastSquares
from .targets import Targets, quantile


class AsymmetricLSSVR(RegressorMixin, AsymmetricLeastSquares):
    """Least-squares support vector regression with an asymmetric kernel.

    Solves the system of :class:`AsymmetricLSSVC` for real y: two functions, f_s(x) = k(x, X) c + b1 and
    f_t(x) = k(X, x)'a + b2, each of which fits y. If the kernel is symmetric, they are equal, and the model is
    KernelRidge with an intercept.

    Parameters
    ----------
    C : float, array-like or "auto", default="auto"
        Inverse regularisation strength, the inverse of KernelRidge's alpha. Of several values, the one with the least
        squared error of held-out predictions is used, each of several targets in units of its standard deviation;
        "auto" as in :class:`AsymmetricLSSVC`, but if systems may be indefinite, as those of asymmetric kernels are for
        large C, predictions count as they are, since ``predict`` does not clip them.
    merge : {"auto", "mean", "source", "target", "stack"}, default="auto"
        How f_s and f_t are combined: their mean ("auto" or "mean"), one of them alone, or a least-squares fit
        with coefficients >= 0 on standardised held-out values of both ("stack").
    kernel, scale_C, cv, solver, damping, tol, random_state, n_jobs, memory_budget, verbose : various
        These parameters, and the default of each, are those of :class:`AsymmetricLSSVC`.

    Attributes
    ----------
    C_, path_, kernel_path_, left_duals_, right_duals_, source_intercept_, target_intercept_
        As in :class:`AsymmetricLSSVC`; k is the number of targets.
    held_out_predictions_, held_out_score_
        As in :class:`AsymmetricLSSVC`; the score is R^2.
    solver_, kernel_, merge_, X_fit_, Z_fit_, merger_, n_features_in_, feature_names_in_
        As in :class:`AsymmetricLSSVC`; ``merger_`` is None unless merge="stack".

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsymmetricLSSVR
    >>> X = np.linspace(0, 3, 30)[:, None]
    >>> model = AsymmetricLSSVR(kernel="rbf").fit(X, np.sin(X[:, 0]))
    >>> bool(model.held_out_score_ > 0.99)
    True
    """

    _target_checks = {"multi_output": True, "y_numeric": True}
    _target_range = np.array([[-np.inf], [np.inf]])  # of the least and the largest; unknown to models of version 0.2.0

    @by_blocks
    @gate
    def predict(self, X: ArrayLike, *, Z: ArrayLike = None) -> np.ndarray:
        """Predict targets by the merged functions; shape (n,) or (n, k) like y.

        X holds new samples, or k(new, training) if kernel="precomputed". Only then Z is given: k(training, new),
        transposed; it may be omitted if merge="source", or if the matrix of ``fit`` was symmetric.

        A smooth function that fits the samples of ``fit`` may take any value far from them: there is a warning if
        predictions leave the range of the targets by more than its width.
        """
        values = self._decide(X, Z)
        _warn_if_far_beyond(values, *self._target_range)
        return self._squeeze(values)

    @gate
    def predict_interval(self, X: ArrayLike, *, coverage: float = 0.9, Z: ArrayLike = None) -> np.ndarray:
        """Lower and upper ends, shape (2, n) or (2, n, k), between which new targets lie with about this probability.

        The ends are the prediction plus a lower and an upper quantile of the held-out errors y - f(x) (the jackknife),
        so that all intervals are equally wide; n held-out errors say nothing about probabilities above n / (n + 2).
        Weights of the samples count as numbers of errors. X and Z as in ``predict``. Available if C or the kernel was
        chosen, or merge="stack".
        """
        if not (isinstance(coverage, Real) and 0 < coverage < 1):
            raise ValueError(f"coverage={coverage!r} must lie between 0 and 1, both excluded")
        predicted = self.predict(X, Z=Z)
        if not self._holds_out:
            raise ValueError(
                f"intervals come from held-out predictions, and C={self.C} with merge={self.merge!r} makes none; give "
                "C='auto', or C as a list (one value will do), or merge='stack'"
            )
        errors, weights = self._held_out_errors, self._held_out_weights
        low, high = -quantile(-errors, (1 + coverage) / 2, weights), quantile(errors, (1 + coverage) / 2, weights)
        return np.stack([predicted + low, predicted + high])

    def score(self, X: ArrayLike, y: Any, sample_weight: Any = None, *, Z: ArrayLike = None) -> float:
        """Coefficient of determination R^2 of ``predict``; X and Z as in ``predict``."""
        return float(r2_score(y, self.predict(X, Z=Z), sample_weight=sample_weight))

    def _encode_targets(self, y: np.ndarray, weights: np.ndarray | None) -> Targets:
        Y = real_targets(y)
        self._flat, self._target_range = np.ndim(y) == 1, np.stack([Y.min(axis=0), Y.max(axis=0)])
        return Targets(Y, Y, weights)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _warn_if_far_beyond(values: np.ndarray, lowest: np.ndarray, highest: np.ndarray) -> None:
    """Warn if predictions (n, k) leave the range of the targets, two arrays (k,), by more than its width."""
    width = highest - lowest
    far = (np.maximum(values - highest, lowest - values) > width) & (width > 0)
    if far.any():
        row, column = np.argwhere(far)[0]
        warn(
            f"predictions for {far.any(axis=1).sum()} of {count_of(len(values), 'sample')} leave the range of the "
            f"targets of fit, {lowest[column]:.3g} to {highest[column]:.3g}, by more than its width, as "
            f"{values[row, column]:.3g} for sample {row}; if samples are unlike those of fit, look for outliers in "
            "their columns, or take ranks of these, as in kernel=Ranked(RBF()); otherwise use a smaller C",
            LopsidedWarning,
        )
