"""Kernel SVD whose compatibility is learned from labels."""

from __future__ import annotations

import sys
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy.special import softmax
from sklearn.base import (
    BaseEstimator,
    ClassifierMixin,
    ClassNamePrefixFeaturesOutMixin,
    RegressorMixin,
    TransformerMixin,
)
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, validate_data

from ..kernels import Kernel, as_kernel
from ..kernels.points import FLOATS
from ..linalg.compatibility import LearnedProjection, thin_svd
from ..linalg.learned import Learned, Problem, Round, batch_steps, learn, refitted, unit_of, whole_steps
from ..linalg.losses import CrossEntropy, Loss, Squared
from .supervision import check_magnitude, encoded

WHOLE = 1 << 22  # kernel values up to which every step looks at all rows
COMPONENTS = 4
FEWEST = 40  # samples with which some are held out


class LearnedKernelSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """What the classifier and the regressor share; see :class:`LearnedKernelSVDClassifier`."""

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
        """The learned features k(x, Z) V, shape (n, n_components)."""
        check_is_fitted(self)
        X = validate_data(self, X, dtype=FLOATS, reset=False)
        return self.kernel_(X, self.points_) @ self.right_vectors_

    def _fit(self, X: np.ndarray, Y: np.ndarray, loss: Loss, stratify: np.ndarray | None) -> None:
        n, width = X.shape
        k = min(COMPONENTS, width) if self.n_components is None else self.n_components
        if k > width:
            raise ValueError(f"n_components={k} exceeds the {width} columns of X, each of which gives a right point")
        random = check_random_state(self.random_state if self.random_state is not None else 0)
        U, s, (basis,) = thin_svd(X)
        if not len(s):
            basis = np.eye(width, 1, dtype=X.dtype)
        start = self._start(X, random)
        kernel = as_kernel(self.kernel).fit(X, start)
        problem = Problem(kernel, basis, loss, k, self.alpha)
        self.optimizer_ = self.optimizer
        if self.optimizer == "auto":
            self.optimizer_ = "lbfgs" if n * width <= WHOLE else "adam"
        Q = basis.T @ start
        unit = unit_of(Q)
        step = whole_steps(problem, unit)
        if self.optimizer_ == "adam":
            rng = np.random.default_rng(random.randint(2**31))
            step = batch_steps(problem, self.batch_size, self.learning_rate, rng, unit)
        data, held_out = self._parts(X, Y, stratify, random)
        found = learn(
            problem,
            step,
            Q,
            data,
            held_out,
            rounds=self.max_iter,
            patience=self.n_iter_no_change,
            tol=self.tol,
            say=self._say,
        )
        self.points_ = found.points
        self.curve_, self.n_iter_ = found.curve, max(1, len(found.curve) - 1)
        self.kernel_ = as_kernel(self.kernel).set_params(**_learned_parameters(kernel)).fit(X, found.points)
        C = (U / s) @ found.coordinates if len(s) else np.zeros((n, width), dtype=X.dtype)
        self.compatibility_ = LearnedProjection(right_factors=(C,))
        self._keep(refitted(problem, found, X, Y), len(X))
        self._n_features_out = k

    def _keep(self, found: Learned, n: int) -> None:
        """Right vectors and head, in the scale of ``transform``."""
        lengths = np.linalg.norm(found.projection, axis=0)
        self.right_vectors_ = found.projection / np.where(lengths > 0, lengths, 1)
        self.singular_values_ = np.sqrt(n) / np.where(lengths > 0, lengths, np.inf)
        self.coef_, self.intercept_ = found.weights * lengths[:, None], found.bias

    def _start(self, X: np.ndarray, random: np.random.RandomState) -> np.ndarray:
        """As many rows as there are columns, far from each other; repeated where there are fewer."""
        n, width = X.shape
        from sklearn.cluster import kmeans_plusplus  # late, as importing it takes long

        chosen = kmeans_plusplus(X, min(n, width), random_state=random)[1]
        return X[np.resize(chosen, width)]

    def _parts(self, X: np.ndarray, Y: np.ndarray, stratify: np.ndarray | None, random: Any) -> tuple[Any, Any]:
        """What is learned from, and what is held out to know when to stop."""
        if self.validation_fraction == 0 or len(X) < FEWEST:
            return (X, Y), None
        if stratify is not None:
            sizes = np.unique(stratify, return_counts=True)[1]
            held = self.validation_fraction * len(X)
            if sizes.min() < 2 or min(held, len(X) - held) < len(sizes):
                stratify = None
        X, X_held, Y, Y_held = train_test_split(
            X, Y, test_size=self.validation_fraction, stratify=stratify, random_state=random
        )
        return (X, Y), (X_held, Y_held)

    def _say(self, number: int, judged: Round) -> None:
        if self.verbose:
            sys.stderr.write(f"round {number}: loss {judged.loss:.6g}, held out {judged.held_out:.6g}\n")

    def _scores(self, X: Any) -> np.ndarray:
        return self.transform(X) @ self.coef_ + self.intercept_


class LearnedKernelSVDClassifier(ClassifierMixin, LearnedKernelSVD):
    """Classify by kernel SVD with a learned compatibility (alternative a3 of the 2024 paper).

    The rows of X meet its p columns as p points Z = X^T C of the width of a row, in G = k(X, Z). A linear head reads
    the features G V, with V the leading right singular vectors of G, and C and the head are learned together by
    minimising the cross-entropy; V is held fixed in between and found anew from the SVD of G in every round.

    Parameters
    ----------
    n_components : int or None, default=None
        Right vectors, at most the columns of X. None is four, as in the paper, or the columns if there are fewer.
    kernel : str or Kernel, default="rbf"
        One with a pull-back: Linear, Polynomial, LinearPolynomial, Tanh, Exponential, RBF, SNE.
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
    coef_, intercept_ : arrays of shapes (k, outputs) and (outputs,)
        The head on ``transform``.
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

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from samples X (n, p) with labels y (n,)."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS)
        check_classification_targets(y)
        self.classes_, codes = encoded(y)
        Y = np.eye(len(self.classes_), dtype=X.dtype)[codes]
        self._fit(X, Y, CrossEntropy(), codes)
        return self

    def decision_function(self, X: Any) -> np.ndarray:
        """Log-odds, shape (n,), for two classes; for more the scores of each, shape (n, n_classes)."""
        scores = self._scores(X)
        return scores[:, 1] - scores[:, 0] if len(self.classes_) == 2 else scores

    def predict(self, X: Any) -> np.ndarray:
        """The label of the largest score."""
        winners = self._scores(X).argmax(axis=1)
        return self.classes_[winners]

    def predict_proba(self, X: Any) -> np.ndarray:
        """Probabilities of the classes, shape (n, n_classes)."""
        return softmax(self._scores(X), axis=1)


class LearnedKernelSVDRegressor(RegressorMixin, LearnedKernelSVD):
    """Regress by kernel SVD with a learned compatibility: :class:`LearnedKernelSVDClassifier` with squared loss.

    Targets are brought to mean zero and deviation one inside.

    Parameters
    ----------
    n_components : int or None, default=None
        As in :class:`LearnedKernelSVDClassifier`.
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
    points_, compatibility_, right_vectors_, singular_values_, coef_, intercept_, curve_, n_iter_, kernel_, optimizer_,
    n_features_in_
        As in :class:`LearnedKernelSVDClassifier`.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import LearnedKernelSVDRegressor
    >>> X = np.random.default_rng(0).standard_normal((200, 3))
    >>> bool(LearnedKernelSVDRegressor(3).fit(X, np.sin(X[:, 0])).score(X, np.sin(X[:, 0])) > 0.8)
    True
    """

    def fit(self, X: Any, y: Any) -> Self:
        """Learn from samples X (n, p) with numbers y (n,) or (n, outputs)."""
        self._validate_params()
        X, y = validate_data(self, X, y, dtype=FLOATS, multi_output=True, y_numeric=True)
        self._flat = y.ndim == 1
        Y = y.reshape(len(y), -1).astype(float)
        check_magnitude(Y)
        middle, spread = Y.mean(axis=0), Y.std(axis=0)
        spread = np.where(spread > 0, spread, 1)
        self._fit(X, ((Y - middle) / spread).astype(X.dtype), Squared(), None)
        self.coef_, self.intercept_ = self.coef_ * spread, self.intercept_ * spread + middle
        return self

    def predict(self, X: Any) -> np.ndarray:
        """The targets, in the shape of y."""
        scores = self._scores(X)
        return scores[:, 0] if self._flat else scores

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _learned_parameters(kernel: Kernel) -> dict[str, Any]:
    """Parameters that were left open and learned at fit, such as a bandwidth."""
    return {name: getattr(kernel, f"{name}_") for name in kernel.get_params(deep=False) if hasattr(kernel, f"{name}_")}
