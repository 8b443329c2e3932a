"""Least-squares support vector classification with an asymmetric kernel."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.metrics import accuracy_score
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.metaestimators import available_if
from sklearn.utils.multiclass import check_classification_targets

from .._core import ArrayLike, argmax_class, by_blocks, encoded, gate, per_class_scores
from .base import AsymmetricLeastSquares
from .targets import Targets, with_class_weights


def _has_probabilities(estimator: AsymmetricLSSVC) -> bool:
    if not estimator._holds_out:
        raise AttributeError(
            f"predict_proba is calibrated on held-out predictions, and C={estimator.C} with merge={estimator.merge!r} "
            "makes none; give C='auto', or C as a list (one value will do), or merge='stack'"
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
        Inverse regularisation strength (gamma in the papers). Of several values, the one with the least squared error
        of held-out predictions is used (with "auto", of predictions clipped to the range of the targets; with
        merge="stack", or if a kernel is chosen, the least log-loss). Let s be the largest singular value of the centred
        kernel matrix: the system is positive definite for C < 1 / s, and a 1/C very close to a singular value issues a
        :class:`~lopsided.exceptions.NearSingularWarning`. "auto" compares thirteen values from 0.2 / s to 2e5 / s, on a
        subset of 1,500 samples if each needs its own factorisation (an asymmetric matrix of over 16,384 samples) or
        iteration (MINRES, up to 20 / s). With damping, or a sparse kernel matrix that is not decomposed, it compares
        0.2 / s and 0.6 / s.
    scale_C : bool, default=False
        Whether numbers given as C are in units of 1 / s, so that one grid serves every kernel and every n; plain
        numbers do not, as values of SNE shrink with n. A plain C far outside the useful range warns with the range.
    kernel : "auto", list, str, Kernel or callable, default="auto"
        "auto" compares Linear, RBF, Laplacian, StudentT and SNE, the last four at bandwidths of 0.18, 1.4 and 11 times
        the usual distance of two samples and the best two also at half and twice theirs. Columns count in units of
        their standard deviations (:class:`~lopsided.kernels.Standardised`) or, if that is better by a standard error,
        as they are or, unless samples are sparse, by ranks (:class:`~lopsided.kernels.Ranked`); sparse ones are first
        tried as they are. A list stands for the kernels in it, such as a graph kernel at several parameters. The best
        by exact leave-one-out is used, each at its best C; all are compared on at most 200 samples, and the best three
        on at most 500. "auto" then compares narrower bandwidths on up to 10,000 samples, which 500 landmarks stand
        for, if there are three times as many; of more than 4,000 samples it compares symmetric kernels alone. Classes
        are judged by the log-loss of calibrated probabilities.
        Otherwise a kernel of :mod:`lopsided.kernels`, its name, a vectorised f(X, Z), or "precomputed": X is then the
        square K.
    merge : {"auto", "mean", "source", "target", "stack"}, default="auto"
        How f_s and f_t make one decision: their mean, one of them alone, or a logistic regression on standardised
        held-out values of both ("stack"). "auto" is the mean, but of three or more classes and with a chosen kernel
        "stack" if its held-out log-loss is lower: a machine per class sees little of a class that lies between others.
    cv : int, splitter or None, default=None
        How samples are held out; the kernel stays fitted on all. None means exact leave-one-out from one factorisation,
        or up to 10 random folds if merge="stack" or the solver gives no entries of the inverse (MINRES, damping).
    solver : {"auto", "dense", "spectral", "symmetric", "sparse_lu", "minres", "nystrom"} or Nystrom, default="auto"
        A :class:`~lopsided.Nystrom` object, or "nystrom" for Nystrom(1000), replaces the kernel matrix by a low-rank
        approximation from landmarks, for many samples; the others are exact. "auto" decides by size, sparsity, symmetry
        and memory budget, see ``solver_``; with kernel="auto" and n > 4,000 samples it takes n / 12 landmarks, but at
        least 2,000 and at most 5,000, or fewer in a small budget.
    class_weight : dict, "balanced" or None, default=None
        Weights of the classes, which multiply those of their samples; "balanced" gives every class the same sum of
        weights. Probabilities are then those of a population in which the classes have these weights.
    damping : float, default=0.0
        If positive, the solution is (M'M + damping I)^-1 M'r with M the matrix of the whole system. The authors of the
        method use 1.0 if M is singular.
    tol : float, default=0.0
        Relative residual that MINRES may leave; 0 means 1e-10. The other solvers are exact to rounding.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks, of the subset that selects C and of the folds; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads for kernel blocks and sparse products; None means one per core.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix and its factors, in bytes or as "2GB"; None means a quarter of the free memory.
        Up to 300 samples, which take 8 MB, do not count.
    verbose : int, default=0
        1 reports on standard error how much work a fit is, and then its progress.

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
    held_out_predictions_ : array of shape (n,) or (n, k)
        Decision values of the training samples at ``C_``, each from a model trained without it (see ``cv``). This and
        the next two are available if C is "auto" or a list, a kernel is chosen, or merge="stack".
    held_out_score_ : float
        Accuracy of ``held_out_predictions_``.
    path_ : dict
        What was compared when C was chosen: arrays "C", "error" (the criterion) and "score".
    merge_ : str
        How the functions are merged.
    kernel_path_ : tuple of (kernel, C, error, score, n_samples)
        What was compared when a kernel was chosen, the best first; prints as a table.
    X_fit_, Z_fit_ : arrays or sparse matrices
        The training samples as sources and as targets, or the left and right landmarks; indices if precomputed.
    n_features_in_, feature_names_in_, kernel_, merger_
        Width and column names of X, the fitted kernel, and the stacking model or the calibration slope.

    Notes
    -----
    With a kernel other than "auto", columns of X in different units should be standardised first.

    Dense: O(n^3) time and O(n^2) memory once, for all classes; for many C, one decomposition and O(n^2) per C. Sparse
    kernel matrices: a sparse LU, or MINRES. Landmarks: O(n p^2) for p landmarks, without any n x n array.

    References
    ----------
    He, He, Shi, Huang and Suykens, "Learning with asymmetric kernels: least squares and feature interpretation", 2023.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import AsymmetricLSSVC
    >>> X = np.array([[0.0], [0.2], [1.0], [1.3]])
    >>> model = AsymmetricLSSVC().fit(X, ["a", "a", "b", "b"])
    >>> model.predict([[0.1], [1.1]])
    array(['a', 'b'], dtype='<U1')
    """

    _parameter_constraints = {
        **AsymmetricLeastSquares._parameter_constraints,
        "class_weight": [dict, StrOptions({"balanced"}), None],
    }

    def __init__(
        self,
        C: Any = "auto",
        *,
        kernel: Any = "auto",
        scale_C: bool = False,
        merge: str = "auto",
        cv: Any = None,
        solver: Any = "auto",
        class_weight: Any = None,
        damping: float = 0.0,
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            C,
            kernel=kernel,
            scale_C=scale_C,
            merge=merge,
            cv=cv,
            solver=solver,
            damping=damping,
            tol=tol,
            random_state=random_state,
            n_jobs=n_jobs,
            memory_budget=memory_budget,
            verbose=verbose,
        )
        self.class_weight = class_weight

    @by_blocks
    @gate
    def decision_function(self, X: ArrayLike, *, Z: ArrayLike = None) -> np.ndarray:
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

    @by_blocks
    @gate
    def predict(self, X: ArrayLike, *, Z: ArrayLike = None) -> np.ndarray:
        """Predict the class with the largest decision value; X and Z as in ``decision_function``."""
        decisions = self._decide(X, Z)
        return self.classes_[argmax_class(decisions)]

    def score(self, X: ArrayLike, y: Any, sample_weight: Any = None, *, Z: ArrayLike = None) -> float:
        """Accuracy of ``predict``; X and Z as in ``decision_function``."""
        return float(accuracy_score(y, self.predict(X, Z=Z), sample_weight=sample_weight))

    @available_if(_has_probabilities)  # type: ignore[untyped-decorator]
    @by_blocks
    @gate
    def predict_proba(self, X: ArrayLike, *, Z: ArrayLike = None) -> np.ndarray:
        """Class probabilities of shape (n, n_classes): the softmax of the decision values times a calibration slope.

        The slope maximises the likelihood of the held-out predictions; with merge="stack", the logistic regression
        itself gives the probabilities.
        """
        decisions = per_class_scores(self._decide(X, Z))
        return softmax(decisions if self.merge_ == "stack" else self.merger_ * decisions, axis=1)

    def _encode_targets(self, y: np.ndarray, weights: np.ndarray | None) -> Targets:
        check_classification_targets(y)
        self.classes_, y = encoded(y)
        n_classes = len(self.classes_)
        self._flat = n_classes == 2
        Y = np.where(y[:, None] == (np.arange(n_classes) if n_classes > 2 else [1]), 1.0, -1.0)
        return Targets(Y, y, with_class_weights(self.class_weight, self.classes_, y, weights))
