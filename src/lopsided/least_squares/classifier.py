"""Least-squares support vector classification with an asymmetric kernel."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax, softmax
from sklearn.base import ClassifierMixin
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import accuracy_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._core import Array, argmax_class, atomic_fit, encoded, per_class_scores
from .base import AsymmetricLeastSquares

STEEPEST = 1e4  # bound on the calibration slope, which is infinite if the held-out predictions separate the classes


def _has_probabilities(estimator: AsymmetricLSSVC) -> bool:
    if not estimator._holds_out:
        raise AttributeError(
            f"predict_proba learns from held-out predictions, which C={estimator.C} and merge={estimator.merge!r} do "
            "without; give C='auto', or as a list (one value will do), or merge='stack'"
        )
    return True


class AsymmetricLSSVC(ClassifierMixin, AsymmetricLeastSquares):
    """Least-squares support vector classifier with an asymmetric kernel (AsK-LS).

    Two functions are learned jointly. f_s(x) = k(x, X) c + b1 treats a sample as a source (first kernel argument),
    f_t(x) = k(X, x)'a + b2 as a target (second kernel argument):

        1'a = 0,   1'c = 0,   a / C + K c + b1 1 = y,   c / C + K'a + b2 1 = y.

    The matrix does not depend on y, so all classes (one-vs-rest, y = 1 or -1) share one factorisation. If the kernel is
    symmetric, f_s = f_t is the classical LS-SVM.

    Parameters
    ----------
    C : float, array-like or "auto", default="auto"
        Inverse regularisation strength, called gamma in the papers. From several values, the one with the least squared
        error of held-out predictions is used (log-loss with merge="stack"). Let s be the largest singular value of the
        centred kernel matrix: the system is positive definite for C < 1 / s, and a 1/C very close to a singular value
        issues a :class:`~lopsided.exceptions.NearSingularWarning`. "auto" compares thirteen values from 0.2 / s to
        2e5 / s (MINRES: up to 20 / s), on a subset of 1,500 samples for MINRES or more than 3,000 samples, unless
        landmarks are used. With damping, or a sparse kernel matrix that is not decomposed, only 0.2 / s and 0.6 / s.
    kernel : str, Kernel or callable, default="sne"
        A kernel of :mod:`lopsided.kernels`, its name, a vectorised f(X, Z), or "precomputed": X is then the square K.
    merge : {"mean", "source", "target", "stack"}, default="mean"
        How f_s and f_t are combined into one decision: their mean, one of them alone, or ("stack") a logistic
        regression trained on held-out values of both.
    cv : int, splitter or None, default=None
        How samples are held out. None means exact leave-one-out from one factorisation, or up to 10 folds if
        merge="stack" or the solver gives no entries of the inverse (MINRES, damping). The kernel is always the one
        fitted on all samples.
    solver : {"auto", "dense", "spectral", "symmetric", "sparse_lu", "minres", "nystrom"} or Nystrom, default="auto"
        A :class:`~lopsided.Nystrom` object, or "nystrom" for Nystrom(1000), replaces the kernel matrix by a low-rank
        approximation from landmarks, with 0.7 components per landmark, for many samples; the others are exact. "auto"
        decides by size, sparsity, symmetry and memory budget; see ``solver_``.
    damping : float, default=0.0
        If positive, the solution is (M'M + damping I)^-1 M'r with M the matrix of the whole system. The authors of the
        method use 1.0 if M is singular.
    tol : float, default=0.0
        Relative residual at which MINRES stops; 0 means 1e-10.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks and of the subset that selects C; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads for kernel blocks and sparse products; None means one per core.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix and its factors, in bytes or as a string such as "2GB". None means a quarter of the
        free memory.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The class labels.
    C_ : float
        The C that was used.
    left_duals_, right_duals_ : arrays of shape (n, k)
        a and c, the weights of ``X_fit_`` and of ``Z_fit_``, with one column per class (one column for two classes).
    source_intercept_, target_intercept_ : arrays of shape (k,)
        b1 and b2.
    solver_ : Choice
        Name of the solver and the reason for it.
    loo_predictions_ : array of shape (n,) or (n, k)
        Held-out decision values of the training samples. Only available if C is "auto" or a list, or merge="stack".
    loo_score_ : float
        Accuracy of ``loo_predictions_``.
    path_ : dict
        Arrays "C", "error" (the selection criterion) and "score", with one entry per value of C.
    X_fit_, Z_fit_ : arrays or sparse matrices
        The training samples as sources and as targets, or the left and right landmarks; indices if precomputed.
    n_features_in_, feature_names_in_, kernel_, merger_
        Width and column names of X, the fitted kernel, and the stacking model or the calibration slope.

    Notes
    -----
    Dense: O(n^3) time and O(n^2) memory once, for all classes; for many C, one decomposition and O(n^2) per C. Sparse
    kernel matrices: a sparse LU, or MINRES. Landmarks: O(n p^2) for p landmarks, without any n x n array.

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature interpretation", IEEE
    TPAMI 45(8), 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsymmetricLSSVC
    >>> X = np.array([[0.0], [0.2], [1.0], [1.3]])
    >>> model = AsymmetricLSSVC().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.1], [1.1]])
    array(['a', 'b'], dtype='<U1')
    """

    @atomic_fit
    def fit(self, X: Array, y: Any) -> Self:
        """Fit the source and the target function for every class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            Samples, or the kernel matrix itself.
        y : array of shape (n,)
            Labels of at least two classes.
        """
        self._validate_params()
        X, y = self._samples(X, y)
        check_classification_targets(y)
        self.classes_, y = encoded(y)
        n_classes = len(self.classes_)
        self._flat = n_classes == 2
        Y = np.where(y[:, None] == (np.arange(n_classes) if n_classes > 2 else [1]), 1.0, -1.0)
        self._learn(X, Y, y)
        return self

    def decision_function(self, X: Array, *, Z: Array = None) -> np.ndarray:
        """Merged decision values, of shape (n,) for two classes and (n, n_classes) otherwise.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            New samples; for kernel="precomputed" the block k(new, training).
        Z : array or sparse matrix of shape (n, n_training), default=None
            For kernel="precomputed" only: the block k(training, new), transposed. Row j holds k(x_i, new_j) for all i.
            May be omitted if merge="source", or if the matrix of ``fit`` was symmetric: X is then used.
        """
        return self._squeeze(self._decide(X, Z))

    def predict(self, X: Array, *, Z: Array = None) -> np.ndarray:
        """Predict the class with the largest decision value; X and Z as in ``decision_function``."""
        decisions = self._decide(X, Z)
        return self.classes_[argmax_class(decisions)]

    def score(self, X: Array, y: Any, sample_weight: Any = None, *, Z: Array = None) -> float:
        """Accuracy of ``predict``; X and Z as in ``decision_function``."""
        return float(accuracy_score(y, self.predict(X, Z=Z), sample_weight=sample_weight))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Array, *, Z: Array = None) -> np.ndarray:
        """Class probabilities of shape (n, n_classes): the softmax of the decision values times a calibration slope.

        The slope maximises the likelihood of the held-out predictions; with merge="stack", the logistic regression
        itself gives the probabilities.
        """
        decisions = per_class_scores(self._decide(X, Z))
        return softmax(decisions if self.merge == "stack" else self.merger_ * decisions, axis=1)

    def _fit_merger(self, source: np.ndarray, target: np.ndarray, y: np.ndarray) -> Any:
        if self.merge == "stack":
            logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            return logistic.set_output(transform="default").fit(np.hstack([source, target]), y)
        return _fit_slope(per_class_scores(self._merge(source, target, None)), y)

    def _merged_by(self, merger: Any, features: np.ndarray) -> np.ndarray:
        return merger.decision_function(features).reshape(len(features), -1)

    def _held_out_error(self, merged: np.ndarray, Y: np.ndarray, y: np.ndarray) -> float:
        return (
            _log_loss(per_class_scores(merged), y) if self.merge == "stack" else super()._held_out_error(merged, Y, y)
        )

    def _held_out_score(self, merged: np.ndarray, y: np.ndarray) -> float:
        return float((argmax_class(merged) == y).mean())


def _log_loss(decisions: np.ndarray, y: np.ndarray) -> float:
    """Mean negative log-likelihood of the labels under softmax(decisions)."""
    return -float(log_softmax(decisions, axis=1)[np.arange(len(y)), y].mean())


def _fit_slope(decisions: np.ndarray, y: np.ndarray) -> float:
    """Slope t that maximises the likelihood of the labels under softmax(t decisions)."""
    bound = np.log(STEEPEST)
    fitted = minimize_scalar(lambda t: _log_loss(np.exp(t) * decisions, y), bounds=(-bound, bound), method="bounded")
    return float(np.exp(fitted.x))
