"""Classification by least squares with an asymmetric kernel."""

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
from sklearn.utils.validation import validate_data

from ..kernels.points import FLOATS, Array, canonical
from .decisions import both_sides, winners
from .least_squares import AsymmetricLeastSquares
from .refit import all_or_nothing
from .supervision import encoded

STEEPEST = 1e4


def _has_probabilities(estimator: AsymmetricLSSVC) -> bool:
    if not estimator._holds_out:
        raise AttributeError(
            f"predict_proba learns from held-out predictions, which C={estimator.C} and merge={estimator.merge!r} do "
            "without; give C='auto', or as a list (one value will do), or merge='stack'"
        )
    return True


class AsymmetricLSSVC(ClassifierMixin, AsymmetricLeastSquares):
    """Least-squares support vector classifier with an asymmetric kernel (AsK-LS).

    Two functions are learned at once, one that reads a sample as a source, f_s(x) = k(x, X) c + b1, and one that reads
    it as a target, f_t(x) = k(X, x)'a + b2:

        1'a = 0,   1'c = 0,   a / C + K c + b1 1 = y,   c / C + K'a + b2 1 = y.

    The matrix does not depend on y, so all classes (one against the rest, y = 1 or -1) share one factorisation. If the
    kernel is symmetric, f_s = f_t is the classical LS-SVM.

    Parameters
    ----------
    C : float, array-like or "auto", default="auto"
        The papers' gamma. From several the best is taken, by the squared error of held-out predictions (their log-loss
        with merge="stack"). Its scale is that of 1 / s, s being the largest singular value of the centred kernel
        matrix: below it the system is positive definite, and where 1/C is nearly a singular value
        :class:`~lopsided.exceptions.NearSingularWarning` says so. "auto" takes the best of thirteen from 0.2 / s to 2e5
        / s; of more than 3,000 samples, and for MINRES, 1,500 decide, unless there are landmarks. For sparse kernel
        matrices that are not decomposed it is the better one of 0.2 / s and 0.6 / s.
    kernel : str, Kernel or callable, default="sne"
        A kernel of :mod:`lopsided.kernels`, its name, a vectorised f(X, Z), or "precomputed": X is then the square K.
    merge : {"mean", "source", "target", "stack"}, default="mean"
        How the functions become one decision. "stack" learns it, by logistic regression on held-out values of both.
    cv : int, splitter or None, default=None
        How samples are held out. None is exact leave-one-out, from one factorisation, or 10 folds for merge="stack" and
        where there is no inverse to look into (MINRES, damping). The kernel stays the one fitted on all samples.
    solver : {"auto", "dense", "spectral", "symmetric", "sparse_lu", "minres", "nystrom"}, default="auto"
        "auto" looks at size, sparsity, symmetry and budget; ``solver_`` says what it took and why. "nystrom" takes a
        kernel matrix of low rank from landmarks, for many samples; the others are exact.
    n_landmarks : int or None, default=None
        For solver="nystrom": how many, on either side; None is 1,000. Seven components for ten are kept.
    landmarks : {"uniform", "kmeans", "leverage", "pivoted"}, default="uniform"
        How they are placed; see :class:`KernelSVD`.
    damping : float, default=0.0
        Above 0 the solution is (M'M + damping I)^-1 M'r for the matrix M of the whole system; 1.0 is what the authors
        of the method fall back to where M is singular.
    tol : float, default=0.0
        Relative residual at which MINRES stops; 0 is 1e-10.
    random_state : int, RandomState instance or None, default=None
        Seeds landmarks; None is a fixed seed.
    n_jobs : int or None, default=None
        Threads for kernel blocks and sparse products; None is one for each core.
    memory_budget : float, str or None, default=None
        Bytes, or a text like "2GB", that kernel matrix and factors may take. None is a quarter of what is free.

    Attributes
    ----------
    classes_ : array of shape (n_classes,)
        The labels.
    C_ : float
        The C that was taken.
    left_duals_, right_duals_ : arrays of shape (n, k)
        a and c, a column for each class (one column for two classes): the weights of ``X_fit_`` and of ``Z_fit_``.
    source_intercept_, target_intercept_ : arrays of shape (k,)
        b1 and b2.
    solver_ : Choice
        Name and reason.
    loo_predictions_ : array of shape (n,) or (n, k)
        The decisions on every sample by the machine that was trained without it; not there if C is a number, unless
        merge is "stack".
    loo_score_ : float
        Their accuracy.
    path_ : dict
        "C", "error" (by which it is chosen) and "score", arrays of one length.
    X_fit_, Z_fit_ : arrays or sparse matrices
        The training samples as sources and as targets, or the landmarks of both.
    n_features_in_, feature_names_in_, kernel_, merger_
        Width and column names of X, the fitted kernel, and what merges or calibrates.

    Notes
    -----
    Dense: O(n^3) time and O(n^2) memory once, for all classes; for many C one decomposition and O(n^2) for each. Sparse
    kernel matrices: a sparse LU, or MINRES. Landmarks: O(n p^2) for p of them, and nothing is n x n.

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

    @all_or_nothing
    def fit(self, X: Array, y: Any) -> Self:
        """Learn both functions for every class.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            Samples, or the kernel matrix itself.
        y : array of shape (n,)
            Labels of at least two classes.
        """
        self._validate_params()
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS)
        check_classification_targets(y)
        self.classes_, y = encoded(y)
        n_classes = len(self.classes_)
        self._flat = n_classes == 2
        Y = np.where(y[:, None] == (np.arange(n_classes) if n_classes > 2 else [1]), 1.0, -1.0)
        self._learn(canonical(X), Y, y)
        return self

    def decision_function(self, X: Array, *, Z: Array = None) -> np.ndarray:
        """The merged functions, shape (n,) for two classes, else (n, n_classes).

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            New samples; for kernel="precomputed" the block k(new, training).
        Z : array or sparse matrix of shape (n, n_training), default=None
            For kernel="precomputed" only: the block k(training, new), transposed. Row j holds k(x_i, new_j) for all i.
            None is X if the matrix of ``fit`` was symmetric.
        """
        return self._squeeze(self._decide(X, Z))

    def predict(self, X: Array, *, Z: Array = None) -> np.ndarray:
        """The label of the largest decision; X and Z as in ``decision_function``."""
        decisions = self._decide(X, Z)
        return self.classes_[winners(decisions)]

    def score(self, X: Array, y: Any, sample_weight: Any = None, *, Z: Array = None) -> float:
        """The share of samples whose label is found; X and Z as in ``decision_function``."""
        return float(accuracy_score(y, self.predict(X, Z=Z), sample_weight=sample_weight))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Array, *, Z: Array = None) -> np.ndarray:
        """Probabilities of the classes, shape (n, n_classes): the softmax of the decisions times one learned number.

        The number makes the held-out predictions most likely; with merge="stack" it is part of the logistic regression.
        """
        decisions = both_sides(self._decide(X, Z))
        return softmax(decisions if self.merge == "stack" else self.merger_ * decisions, axis=1)

    def _fit_merger(self, source: np.ndarray, target: np.ndarray, y: np.ndarray) -> Any:
        if self.merge == "stack":
            logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
            return logistic.set_output(transform="default").fit(np.hstack([source, target]), y)
        return _fit_slope(both_sides(self._merge(source, target, None)), y)

    def _merged_by(self, merger: Any, features: np.ndarray) -> np.ndarray:
        return merger.decision_function(features).reshape(len(features), -1)

    def _held_out_error(self, merged: np.ndarray, Y: np.ndarray, y: np.ndarray) -> float:
        return _log_loss(both_sides(merged), y) if self.merge == "stack" else super()._held_out_error(merged, Y, y)

    def _held_out_score(self, merged: np.ndarray, y: np.ndarray) -> float:
        return float((winners(merged) == y).mean())


def _log_loss(decisions: np.ndarray, y: np.ndarray) -> float:
    """Mean negative log-likelihood of the labels under softmax(decisions)."""
    return -float(log_softmax(decisions, axis=1)[np.arange(len(y)), y].mean())


def _fit_slope(decisions: np.ndarray, y: np.ndarray) -> float:
    """The number t that makes the labels most likely under softmax(t decisions)."""
    bound = np.log(STEEPEST)
    fitted = minimize_scalar(lambda t: _log_loss(np.exp(t) * decisions, y), bounds=(-bound, bound), method="bounded")
    return float(np.exp(fitted.x))
