"""Base class of classification and regression by kernel SVD with a learned compatibility."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin, is_classifier
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import FLOATS, reject_masked, seed_of
from ..kernels import Kernel, as_kernel
from .compatibility.alternate import Round
from .compatibility.fit import Batches, LearnedCompatibility, Split, choose_optimizer, learn_compatibility
from .compatibility.losses import Loss
from .compatibility.maps import LearnedProjection

COMPONENTS = 4  # default number of right singular vectors, as in the 2024 paper
FEWEST = 40  # smallest number of samples of which some are held out


class LearnedKernelSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Base class of the classifier and the regressor; see :class:`LearnedKernelSVDClassifier` for the parameters."""

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [str, Kernel],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "optimizer": [StrOptions({"auto", "lbfgs", "adam"})],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "batch_size": [Interval(Integral, 1, None, closed="left")],
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "n_iter_no_change": [Interval(Integral, 1, None, closed="left")],
        "tol": [Interval(Real, 0, None, closed="left")],
        "verbose": ["verbose"],
        "random_state": ["random_state"],
    }

    def __init__(
        self,
        n_components: int | None = None,
        *,
        kernel: Any = "rbf",
        alpha: float = 1e-3,
        optimizer: str = "auto",
        max_iter: int = 100,
        batch_size: int = 500,
        learning_rate: float = 0.01,
        validation_fraction: float = 0.2,
        n_iter_no_change: int = 10,
        tol: float = 1e-4,
        verbose: bool = False,
        random_state: Any = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.alpha = alpha
        self.optimizer = optimizer
        self.max_iter = max_iter
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change = n_iter_no_change
        self.tol = tol
        self.verbose = verbose
        self.random_state = random_state

    def transform(self, X: Any) -> np.ndarray:
        """Learned features k(x, Z) V, of shape (n, n_components)."""
        return self._features(X)

    def _features(self, X: Any) -> np.ndarray:
        """``transform`` as an array, independent of ``set_output``."""
        check_is_fitted(self)
        X = validate_data(self, reject_masked(X, "X"), dtype=FLOATS, reset=False)
        return self.kernel_(X, self.points_) @ self.right_vectors_

    def _fit(self, X: np.ndarray, Y: np.ndarray, loss: Loss, stratify: np.ndarray | None) -> LearnedCompatibility:
        n, width = X.shape
        needed = Y.shape[1] - is_classifier(self)  # scores of classes need one dimension less
        k = min(max(COMPONENTS, needed), width) if self.n_components is None else self.n_components
        if k > width:
            raise ValueError(f"n_components={k} exceeds the {width} columns of X, each of which gives a right point")
        random = check_random_state(seed_of(self.random_state))
        start = self._start(X, random)
        choice = choose_optimizer(n, width) if self.optimizer == "auto" else self.optimizer
        rng = np.random.default_rng(random.randint(2**31)) if choice == "adam" else None
        found = learn_compatibility(
            X,
            Y,
            as_kernel(self.kernel),
            loss,
            start,
            components=k,
            alpha=self.alpha,
            batches=None if rng is None else Batches(self.batch_size, self.learning_rate, rng),
            split=self._split(n, stratify, random),
            rounds=self.max_iter,
            patience=self.n_iter_no_change,
            tol=self.tol,
            say=self._say,
        )
        self.optimizer_, self.kernel_, self.points_ = choice, found.kernel, found.points
        self.compatibility_ = LearnedProjection(right_factors=(found.C,))
        self.right_vectors_, self.singular_values_ = found.right_vectors, found.singular_values
        self.curve_, self.n_iter_ = found.curve, max(1, len(found.curve) - 1)
        self._n_features_out = k
        return found

    def _start(self, X: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """Initial points: ``width`` rows of X chosen by k-means++, repeated if X has fewer rows."""
        n, width = X.shape
        from sklearn.cluster import kmeans_plusplus  # imported here because the import is slow

        chosen = kmeans_plusplus(X, min(n, width), random_state=random)[1]
        return X[np.resize(chosen, width)]

    def _split(self, n: int, stratify: np.ndarray | None, random: Any) -> Split | None:
        """Indices of training rows and of rows held out for early stopping, or None if no rows are held out."""
        if self.validation_fraction == 0 or n < FEWEST:
            return None
        if stratify is not None:
            sizes = np.unique(stratify, return_counts=True)[1]
            held = self.validation_fraction * n
            if sizes.min() < 2 or min(held, n - held) < len(sizes):
                stratify = None
        rows, held_out = train_test_split(
            np.arange(n), test_size=self.validation_fraction, stratify=stratify, random_state=random
        )
        return rows, held_out

    def _say(self, number: int, judged: Round) -> None:
        if self.verbose:
            sys.stderr.write(f"round {number}: loss {judged.loss:.6g}, held out {judged.held_out:.6g}\n")

    def _scores(self, X: Any) -> np.ndarray:
        return self._features(X) @ self.coef_.T + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
