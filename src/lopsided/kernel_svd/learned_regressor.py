"""Regression by kernel SVD with a compatibility learned from targets."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.validation import validate_data

from .._core import FLOATS, atomic_fit, real_targets, reject_masked
from .compatibility.losses import Squared
from .learned import LearnedKernelSVD


class LearnedKernelSVDRegressor(RegressorMixin, LearnedKernelSVD):
    """Regressor on kernel SVD features with a learned compatibility.

    This is :class:`LearnedKernelSVDClassifier` with squared loss. Targets are standardised internally.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of right singular vectors, at most p. None means four, or the number of targets if that is larger; never
        more than p.
    kernel : str or Kernel, default="rbf"
        As in :class:`LearnedKernelSVDClassifier`.
    alpha : float, default=1e-3
        As in :class:`LearnedKernelSVDClassifier`.
    optimizer : {"auto", "lbfgs", "adam"}, default="auto"
        As in :class:`LearnedKernelSVDClassifier`.
    max_iter : int, default=100
        As in :class:`LearnedKernelSVDClassifier`.
    batch_size : int, default=500
        As in :class:`LearnedKernelSVDClassifier`.
    learning_rate : float, default=0.01
        As in :class:`LearnedKernelSVDClassifier`.
    validation_fraction : float, default=0.2
        As in :class:`LearnedKernelSVDClassifier`.
    n_iter_no_change : int, default=10
        As in :class:`LearnedKernelSVDClassifier`.
    tol : float, default=1e-4
        As in :class:`LearnedKernelSVDClassifier`.
    verbose : bool, default=False
        As in :class:`LearnedKernelSVDClassifier`.
    random_state : int, RandomState instance or None, default=None
        As in :class:`LearnedKernelSVDClassifier`.

    Attributes
    ----------
    coef_, intercept_ : arrays of shapes (n_outputs, k) and (n_outputs,)
        The linear head on ``transform``; for y of shape (n,), an array of shape (k,) and a float.
    points_, compatibility_, right_vectors_, singular_values_, curve_, n_iter_, kernel_, optimizer_, n_features_in_
        As in :class:`LearnedKernelSVDClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import LearnedKernelSVDRegressor
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> bool(LearnedKernelSVDRegressor(3).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.8)
    True
    """

    @atomic_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Learn C and the head from samples X (n, p) and real targets y (n,) or (n, outputs)."""
        self._validate_params()
        X, y = validate_data(self, reject_masked(X, "X"), y, dtype=FLOATS, multi_output=True, y_numeric=True)
        Y = real_targets(y)
        middle, spread = Y.mean(axis=0), Y.std(axis=0)
        spread = np.where(spread > 0, spread, 1)
        found = self._fit(X, ((Y - middle) / spread).astype(X.dtype), Squared(), None)
        self.coef_, self.intercept_ = (found.coef * spread).T, found.intercept * spread + middle
        if y.ndim == 1:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    def predict(self, X: Any) -> np.ndarray:
        """Predict targets, in the shape of the y of ``fit``."""
        return self._scores(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
