"""Features learned twice: from the given labels, and from these and the labels that the features predict."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import TransformerMixin, clone
from sklearn.svm import LinearSVC
from sklearn.utils import Tags, get_tags
from sklearn.utils._param_validation import HasMethods, Interval
from sklearn.utils.validation import check_is_fitted

from .._core import Array, ArrayLike, Estimator, atomic_fit, check_points, check_samples, gate, row_lengths, seed_of
from .estimator import PriorNystroem
from .supervision import Labels, as_labels, read_supervision


class SelfTrainedFeatures(TransformerMixin, Estimator):
    """Features learned again, from labels that a linear SVM on the features gives to samples without one.

    This helps where few labels leave the boundary between clusters uncertain, and hurts where classes meet without a
    gap: a boundary that is slightly wrong is then learned as if it were right. No rule tells the two apart from a few
    labels, so it is a choice of yours.

    Parameters
    ----------
    features : transformer or None, default=None
        Its ``fit`` takes labels in which -1, None or nan means none; None means :class:`PriorNystroem`. If it has a
        method ``for_more_labels``, the second fit is that of what this returns.
    max_labelled : int, default=2000
        Most samples without a label that get one; they are drawn at random.
    C : float, default=3.0
        C of the linear SVM, on features whose squared norms have mean one.
    random_state : int, RandomState instance or None, default=None
        Seed of the draw; None means a fixed seed.

    Attributes
    ----------
    features_ : transformer
        The features of the second fit, or of the first if there are no labels of two classes.
    labels_ : array of shape (n,)
        The labels of that fit: those given, and those predicted.
    n_self_labelled_, n_features_in_, feature_names_in_ : int, int and array
        Number of samples that got a label, width of X, and its column names, if it has any.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from lopsided import PriorNystroem, SelfTrainedFeatures
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> known = np.where(np.arange(300) < 40, y, -1)  # -1: no label
    >>> model = SelfTrainedFeatures(PriorNystroem(30)).fit(X, known)
    >>> model.n_self_labelled_, model.transform(X).shape
    (260, (300, 30))
    """

    _parameter_constraints: dict[str, Any] = {
        "features": [HasMethods(["fit", "transform"]), None],
        "max_labelled": [Interval(Integral, 0, None, closed="left")],
        "C": [Interval(Real, 0, None, closed="neither")],
        "random_state": ["random_state"],
    }

    def __init__(
        self, features: Any = None, *, max_labelled: int = 2000, C: float = 3.0, random_state: Any = None
    ) -> None:
        self.features, self.max_labelled, self.C, self.random_state = features, max_labelled, C, random_state

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Learn features of samples X (n, width) from labels y (n,), complete the labels, and learn again."""
        self._validate_params()
        X, y = check_samples(self, X, reset=True), None if y is None else as_labels(y, "y").copy()
        features = PriorNystroem() if self.features is None else clone(self.features)
        known, classes = read_supervision(X, y, None, None, None, balanced=False)
        self.features_ = features.fit(X, y)
        self.labels_, self.n_self_labelled_ = y, 0
        if isinstance(known, Labels):
            rows, numbers = known.left
            others = np.setdiff1d(np.arange(X.shape[0]), rows)
            others = np.sort(np.random.default_rng(seed_of(self.random_state)).permutation(others)[: self.max_labelled])
            if len(others):
                y[others] = classes[self._predicted(X, rows, numbers, others)]
                more = getattr(self.features_, "for_more_labels", lambda: clone(features))()
                self.features_, self.n_self_labelled_ = more.fit(X, y), len(others)
        return self

    @gate
    def transform(self, X: ArrayLike) -> np.ndarray:
        """Features of the second fit."""
        check_is_fitted(self)
        return self.features_.transform(check_samples(self, X, reset=False))

    def get_feature_names_out(self, input_features: Any = None) -> np.ndarray:
        """Names of the features."""
        check_is_fitted(self)
        return self.features_.get_feature_names_out(input_features)

    def _predicted(self, X: Array, rows: np.ndarray, numbers: np.ndarray, others: np.ndarray) -> np.ndarray:
        """Class numbers that a linear SVM, trained on labelled rows, gives to the others."""
        F, G = (check_points(self.features_.transform(X[part]), "the features") for part in (rows, others))
        unit = np.sqrt(np.square(row_lengths(F)).mean()) or 1.0  # LinearSVC shrinks its intercept, too
        return LinearSVC(C=self.C, dual=False).fit(F / unit, numbers).predict(G / unit)  # draws nothing

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        inner = get_tags(PriorNystroem() if self.features is None else self.features)
        tags.input_tags, tags.transformer_tags = inner.input_tags, inner.transformer_tags
        return tags
