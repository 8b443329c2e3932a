"""Classification and regression by kernel SVD with a compatibility learned from labels or targets."""

from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin, RegressorMixin
from sklearn.utils import Tags
from sklearn.utils.multiclass import check_classification_targets

from .._core import argmax_class, atomic_fit, encoded, gate, jobs, per_class_scores, real_targets
from .compatibility.losses import CrossEntropy, Squared
from .learned_base import LearnedKernelSVD


class LearnedKernelSVDClassifier(ClassifierMixin, LearnedKernelSVD):
    """Classifier on kernel SVD features with a learned compatibility (alternative a3 of the 2024 paper).

    The compatibility C maps the p columns of X to p right points Z = X^T C of the width of a row, with kernel matrix
    G = k(X, Z). A linear head is trained on the features G V, where V holds the leading right singular vectors of G.
    C and the head are learned jointly by minimising the cross-entropy, with V fixed; V is recomputed from the SVD of G
    in every round.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of right singular vectors, at most p. None means four, as in the paper, or the number of classes minus
        one if that is larger; never more than p.
    kernel : str or Kernel, default="rbf"
        A kernel with a gradient (pull-back): Linear, Polynomial, LinearPolynomial, Exponential, RBF, SNE, Attention,
        Tanh, and sums, products and multiples of them.
    alpha : float, default=1e-3
        L2 penalty on the weights of the head, for features scaled to mean square one.
    optimizer : {"auto", "lbfgs", "adam"}, default="auto"
        L-BFGS on all rows with ten steps per round, or Adam on mini-batches with one pass per round. "auto" is "lbfgs"
        up to four million kernel values.
    max_iter : int, default=100
        Maximum number of rounds.
    batch_size, learning_rate : int and float, default=500 and 0.01
        Mini-batch size and learning rate of Adam. A round that diverges is undone and the rate halved, with a warning.
    validation_fraction : float, default=0.2
        Fraction of the samples held out to select the best round; V and the head are then refitted on all samples. If
        0, the training loss selects the best round.
    n_iter_no_change, min_improvement : int and float, default=10 and 1e-4
        Number of rounds after which to stop if none lowered the loss by more than this share of it.
    random_state : int, RandomState instance or None, default=None
        Seed of the initial points, the held-out samples and the batches; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads that share blocks of rows; None means one per core.
    memory_budget : float, str or None, default=None
        Memory for blocks of kernel values, points and slopes, in bytes or as "2GB"; None means a quarter of the free
        memory. A table of a third of it or more, like a sparse one, is decomposed by way of X^T X. The p points of p
        coordinates and what L-BFGS keeps of them must fit, beyond 100 columns; "auto" takes Adam if they do not.
    verbose : int, default=0
        1 reports the losses of every round on standard error.

    Attributes
    ----------
    points_, compatibility_ : array of shape (p, p) and Compatibility
        The right points Z = X^T C, and the map C, the matrix of least norm that gives them.
    right_vectors_, singular_values_ : arrays of shapes (p, k) and (k,)
        Right singular vectors and singular values of k(X, Z).
    coef_, intercept_ : arrays of shapes (n_classes, k) and (n_classes,)
        The linear head on ``transform``; for two classes one row, which gives the log-odds of the second.
    n_iter_, curve_ : int and tuple of Round
        Number of rounds, and ``loss``, ``held_out`` and ``rate`` at the start and after each.
    kernel_, optimizer_ : Kernel and str
        The fitted kernel and the optimizer that was used.
    classes_, n_features_in_, feature_names_in_ : array, int and array
        The class labels, the number of columns p, and their names, if they have any.

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

    @atomic_fit
    def fit(self, X: Any, y: Any) -> Self:
        """Learn C and the head from samples X (n, p), dense or sparse, and labels y (n,)."""
        self._validate_params()
        X, y = self._check_samples(X, y)
        check_classification_targets(y)
        self.classes_, codes = encoded(y)
        Y = np.eye(len(self.classes_), dtype=X.dtype)[codes]
        with jobs(self.n_jobs, self.memory_budget):
            weights, self.intercept_ = self._learn(X, Y, CrossEntropy(), stratify=codes)
        self.coef_ = weights.T
        if len(self.classes_) == 2:
            self.coef_, self.intercept_ = np.diff(self.coef_, axis=0), np.diff(self.intercept_)
        return self

    @gate
    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds of shape (n,) for two classes, otherwise class scores of shape (n, n_classes)."""
        scores = self._scores(X)
        return scores[:, 0] if len(self.classes_) == 2 else scores

    @gate
    def predict(self, X: Any) -> np.ndarray:
        """Predict the class with the largest score."""
        scores = self._scores(X)
        return self.classes_[argmax_class(scores)]

    @gate
    def predict_proba(self, X: Any) -> np.ndarray:
        """Class probabilities of shape (n, n_classes), the softmax of the scores."""
        return softmax(per_class_scores(self._scores(X)), axis=1)


class LearnedKernelSVDRegressor(RegressorMixin, LearnedKernelSVD):
    """Regressor on kernel SVD features with a learned compatibility.

    This is :class:`LearnedKernelSVDClassifier` with squared loss. Targets are standardised internally.

    Parameters
    ----------
    n_components : int or None, default=None
        Number of right singular vectors, at most p. None means four, or the number of targets if that is larger.
    kernel, alpha, optimizer, max_iter, batch_size, learning_rate : as in the classifier
    validation_fraction, n_iter_no_change, min_improvement, random_state : as in the classifier
    n_jobs, memory_budget, verbose : as in the classifier

    Attributes
    ----------
    coef_, intercept_ : arrays of shapes (n_outputs, k) and (n_outputs,)
        The linear head on ``transform``; for y of shape (n,), an array of shape (k,) and a float.
    points_, compatibility_, right_vectors_, singular_values_, kernel_ : as in the classifier
    curve_, n_iter_, optimizer_, n_features_in_, feature_names_in_ : as in the classifier

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
        """Learn C and the head from samples X (n, p), dense or sparse, and real targets y (n,) or (n, outputs)."""
        self._validate_params()
        X, y = self._check_samples(X, y, multi_output=True, y_numeric=True)
        Y = real_targets(y)
        middle, spread = Y.mean(axis=0), Y.std(axis=0)
        spread = np.where(spread > 0, spread, 1)
        with jobs(self.n_jobs, self.memory_budget):
            weights, intercept = self._learn(X, ((Y - middle) / spread).astype(X.dtype), Squared())
        self.coef_, self.intercept_ = (weights * spread).T, intercept * spread + middle
        if y.ndim == 1:
            self.coef_, self.intercept_ = self.coef_[0], float(self.intercept_[0])
        return self

    @gate
    def predict(self, X: Any) -> np.ndarray:
        """Predict targets, in the shape of the y of ``fit``."""
        return self._scores(X)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags
