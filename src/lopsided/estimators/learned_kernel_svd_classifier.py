"""Classification by kernel SVD whose compatibility is learned from labels."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import validate_data

from ..kernels.points import FLOATS
from ..linalg.compatibility.losses import CrossEntropy
from .decisions import both_sides, winners
from .learned_kernel_svd import LearnedKernelSVD
from .refit import all_or_nothing
from .supervision import encoded


class LearnedKernelSVDClassifier(ClassifierMixin, LearnedKernelSVD):
    """Classify by kernel SVD with a learned compatibility (alternative a3 of the 2024 paper).

    The rows of X meet its p columns as p points Z = X^T C of the width of a row, in G = k(X, Z). A linear head reads
    the features G V, with V the leading right singular vectors of G, and C and the head are learned together by
    minimising the cross-entropy; V is held fixed in between and found anew from the SVD of G in every round.

    Parameters
    ----------
    n_components : int or None, default=None
        Right vectors, at most the columns of X. None is four, as in the paper, or one less than the classes if that is
        more; the columns if there are fewer.
    kernel : str or Kernel, default="rbf"
        One with a pull-back: Linear, Polynomial, LinearPolynomial, Exponential, RBF, SNE, Tanh, and sums, products and
        multiples of them.
    alpha : float, default=1e-3
        Penalty on the squares of the head's weights, for features of mean square one.
    optimizer : {"auto", "lbfgs", "adam"}, default="auto"
        L-BFGS on all rows, ten steps a round, or Adam on batches, a pass a round. "auto" is "lbfgs" up to four million
        kernel values.
    max_iter : int, default=100
        Rounds at most.
    batch_size : int, default=500
        Of Adam.
    learning_rate : float, default=0.01
        Of Adam. Rounds that diverge are taken back and it is halved, with a warning.
    validation_fraction : float, default=0.2
        Share of the samples by which the best round is known; V and the head are then found from all. 0, or fewer than
        40 samples: by the loss itself.
    n_iter_no_change : int, default=10
        Rounds without a better one after which to stop.
    tol : float, default=1e-4
        What counts as better, relative to the loss.
    verbose : bool, default=False
        Write the losses of every round to stderr.
    random_state : int, RandomState instance or None, default=None
        Of the start, the held-out samples and the batches; None is a fixed seed.

    Attributes
    ----------
    points_ : array of shape (p, p)
        Z = X^T C.
    compatibility_ : Compatibility
        C, the least of the matrices that give these points.
    right_vectors_, singular_values_ : arrays of shapes (p, k) and (k,)
        Of k(X, Z).
    coef_, intercept_ : arrays of shapes (n_classes, k) and (n_classes,)
        The head on ``transform``. For two classes the log-odds of the second, shapes (1, k) and (1,).
    curve_ : tuple of Round
        ``loss``, ``held_out`` and ``rate`` of every round; the first is the start.
    n_iter_ : int
        Rounds.
    kernel_ : Kernel
        Fitted.
    optimizer_ : str
        What was taken.
    classes_ : array
        Labels.
    n_features_in_ : int
        p.

    References
    ----------
    Tao et al., "Learning in feature spaces via coupled covariances", ICML 2024: Remark 2.3 and C.3.

    Examples
    --------
    >>> from sklearn.datasets import load_iris
    >>> from sklearn.pipeline import make_pipeline
    >>> from sklearn.preprocessing import StandardScaler
    >>> from lopsided import LearnedKernelSVDClassifier
    >>> X, y = load_iris(return_X_y=True)
    >>> bool(make_pipeline(StandardScaler(), LearnedKernelSVDClassifier()).fit(X, y).score(X, y) > 0.95)
    True
    """

    @all_or_nothing
    def fit(self, X: Any, y: Any) -> Self:
        """Learn from samples X (n, p) with labels y (n,)."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS)
        check_classification_targets(y)
        self.classes_, codes = encoded(y)
        Y = np.eye(len(self.classes_), dtype=X.dtype)[codes]
        found = self._fit(X, Y, CrossEntropy(), codes)
        self.coef_, self.intercept_ = found.coef.T, found.intercept
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds, shape (n,), for two classes; for more the scores of each, shape (n, n_classes)."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The label of the largest score."""
        scores = self._scores(X)
        return self.classes_[winners(scores)]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, shape (n, n_classes)."""
        return softmax(both_sides(self._scores(X)), axis=1)
