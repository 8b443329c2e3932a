"""Nystrom features with a dictionary learned from a few labels or pairs."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    as_indexable,
    atomic_fit,
    canonical,
    check_finite,
    check_names,
    check_points,
    column_names,
    jobs,
    seed_of,
)
from ..exceptions import LopsidedWarning, warn
from ..kernels import Kernel, as_kernel
from ..nystrom import PLACES
from ..operators import out_of_sample_operator
from .learning import LearnedKernel, learn_kernel
from .samples import Labels, Landscape, Pairs
from .supervision import checked_pairs, labelled


class PriorNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Nystrom kernel features with a dictionary learned from partial labels or pairs.

    The Nystrom method approximates a kernel matrix by E W^+ E^T, where E holds kernel values between samples and
    landmarks, and W those between landmarks. Here W^+ is replaced by the positive semidefinite S that minimises

        weight |S - W^+|^2 + |E_l S E_l^T - K*|^2,

    where E_l are the rows of the labelled samples, and K* is 1 for two samples of the same class and 0 otherwise, in
    units of the mean k(z, z) of the landmarks z (1 for RBF and Laplacian; with Z, as they come). The first term keeps S
    near the original kernel, the second fits the labels. Training and new samples get features E R with R R^T = S. The
    rank of S is at most that of W; with Z, the side with fewer landmarks bounds it.

    Optionally, W is first replaced by W + smoothness E^T L E / n, with L the normalised Laplacian of the
    nearest-neighbour graph of the samples, labelled or not. Features that differ between neighbouring samples shrink,
    and label information spreads along clusters and manifolds.

    Parameters
    ----------
    n_components : int, default=100
        Number of landmarks and of features. Ignored if ``landmarks`` are given as arrays.
    kernel : str, Kernel, callable or list of them, default="rbf"
        Symmetric positive semidefinite kernel; with Z any kernel. "rbf" is the Gaussian kernel of the 2012 paper, whose
        squared bandwidth is the mean squared distance between samples; if prior_weight="auto" and there are labels or
        pairs, 0.71 times that bandwidth is also considered. Of a list, the kernel of least held-out error is taken.
    prior_weight : {"auto", "alignment"} or float, default="auto"
        Weight of the prior, in units of the largest curvature of the other term; infinity is the Nystrom method.
        "auto" selects from powers of a hundred by the cross-validated error of least-squares classifiers (with pairs or
        Z: by the alignment of held-out entries). If kernel and smoothness alone explain half of the held-out labels'
        variance, and with pairs or Z, infinity is kept unless another weight is significantly better, one-sided at 5 %.
        "alignment" is the paper's criterion (12), which does not use held-out data.
    smoothness : "auto" or float, default="auto"
        Weight of differences between neighbouring samples, in units of 1 / (mean k(z, z) of the landmarks z). "auto"
        selects from 0, 1e3, 1e4 and 1e5 together with the weight; it is 0 with Z, without labels and pairs, and if
        prior_weight is not "auto". A number is used with and without labels. If positive, features are rescaled to the
        variance of Nystrom features and, if a dictionary is learned, to no larger a mean relative to it.
    self_training : bool, default=True
        Whether to label up to 2,000 of the samples without a label by a linear SVM on the learned features, and to
        learn the dictionary once more from all labels, at a prior weight of 1e-8. Only with prior_weight="auto", at
        most 200 labels, five or more of these samples per label and no Z, and if a tenth or more of the held-out
        labels' variance is explained.
    landmarks : {"kmeans", "uniform"}, array, or pair of arrays with Z, default="kmeans"
        k-means centres; uniformly random samples; or row indices (m,) or points (m, width).
    metric : {"samples", "landmarks"}, default="samples"
        Metric in which S is near W^+. "landmarks" is the paper's |S - W^+|. "samples" penalises changes less in
        directions in which the samples, labelled or not, vary more. With Z both are the same.
    class_weight : {None, "balanced"}, default=None
        "balanced" divides the ones of a class in K* by n_classes times its share of the labels, so that large classes
        do not dominate.
    solver : {"accelerated", "gradient", "closed"}, default="accelerated"
        Projected gradient with or without Nesterov extrapolation, or the closed-form start alone.
    tol : float, default=1e-3
        Stop when an iteration lowers the objective by less than this fraction of it.
    max_iter : int, default=100
        Maximum number of iterations.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks, subsamples and folds; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads for kernel blocks; None means one per core.

    Attributes
    ----------
    components_ : array or sparse matrix of shape (m, width)
        The landmarks; with Z, the right landmarks, with which left points are compared.
    component_indices_ : array of shape (m,) or None
        Row indices of ``components_`` in X (or Z), if they are rows of it.
    normalization_ : array of shape (n_features_out, m)
        ``transform`` is k(X, components_) normalization_.T.
    components_left_ : array or sparse matrix of shape (left landmarks, width) or None
        The left landmarks, with which right points are compared; None without Z.
    normalization_right_ : array of shape (n_features_out, left landmarks)
        ``transform_right`` is k(components_left_, Z)^T normalization_right_.T.
    dictionary_ : array of shape (m, m)
        S; with Z, of shape (right landmarks, left landmarks).
    kernel_ : Kernel
        The fitted kernel.
    prior_weight_ : float
        The prior weight that was used; infinity without labels or pairs, 1e-8 after self-training.
    n_self_labelled_ : int
        Number of samples that self-training gave a label.
    smoothness_ : float
        The smoothness that was used.
    objective_ : array
        The objective at the start and after every step, kernel values in units as above; it never increases. Empty if
        no dictionary was learned.
    n_iter_ : int
        Length of ``objective_``, the closed-form start included; 1 if no dictionary was learned.
    alignment_ : float
        Normalised alignment of the learned kernel with the labels or pairs (equation 11); nan without any.
    candidates_ : list of (Kernel, float)
        The kernels and values of smoothness that were compared.
    path_ : list of Path
        For each candidate, the weights and the losses by which they are selected; with more than 200 labels, only the
        selected candidate has finite weights. Empty if nothing was selected.
    classes_ : array
        The classes; empty without labels.
    n_features_in_ : int
        Width of the samples.
    n_features_right_ : int
        Width of the right samples Z; without Z, that of X.

    See Also
    --------
    sklearn.kernel_approximation.Nystroem : The special case of an infinite prior weight.
    KernelSVD : Unsupervised, for kernels that need not be symmetric.

    Notes
    -----
    Learning uses only the rows of labelled samples and m x m matrices. The cost of ``fit`` is that of the landmarks,
    O(l m^2) for l labelled samples, O(m^3) per iteration, and second moments and nearest neighbours of at most 5,000
    samples.

    References
    ----------
    Zhang, Lan, Liu, Rauber, Moerchen, "Inductive kernel low-rank decomposition with priors: a generalized Nystrom
    method", ICML 2012.

    Sindhwani, Niyogi, Belkin, "Beyond the point cloud: from transductive to semi-supervised learning", ICML 2005, for
    the smoothness.

    Examples
    --------
    >>> import numpy as np
    >>> from sklearn.datasets import make_moons
    >>> from lopsided import PriorNystroem
    >>> X, y = make_moons(300, noise=0.1, random_state=0)
    >>> known = np.where(np.arange(300) < 40, y, -1)  # -1: no label
    >>> model = PriorNystroem(n_components=30, random_state=0).fit(X, known)
    >>> model.transform(X).shape, model.learned_kernel(X[:2], X).shape
    ((300, 30), (2, 300))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left")],
        "kernel": [str, Kernel, callable, list],
        "prior_weight": [StrOptions({"auto", "alignment"}), Interval(Real, 0, np.inf, closed="right")],
        "smoothness": [StrOptions({"auto"}), Interval(Real, 0, None, closed="left")],
        "self_training": ["boolean"],
        "landmarks": [StrOptions(set(PLACES)), "array-like", "sparse matrix"],
        "metric": [StrOptions({"samples", "landmarks"})],
        "class_weight": [StrOptions({"balanced"}), None],
        "solver": [StrOptions({"accelerated", "gradient", "closed"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Any = "rbf",
        prior_weight: Any = "auto",
        smoothness: Any = "auto",
        self_training: bool = True,
        landmarks: Any = "kmeans",
        metric: str = "samples",
        class_weight: str | None = None,
        solver: str = "accelerated",
        tol: float = 1e-3,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.prior_weight = prior_weight
        self.smoothness = smoothness
        self.self_training = self_training
        self.landmarks = landmarks
        self.metric = metric
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @atomic_fit
    def fit(self, X: Array, y: Any = None, *, Z: Array = None, y_right: Any = None, pairs: Any = None) -> Self:
        """Place landmarks and learn the dictionary.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            Samples, labelled or not.
        y : array of shape (n,), default=None
            Numeric or string labels, with -1 for unlabelled samples. With neither ``y`` nor ``pairs``, the features are
            those of the Nystrom method.
        Z : array or sparse matrix of shape (m, width), default=None
            Right samples, possibly of another kind than X. The learned kernel is then E_x S E_z^T with landmarks on
            both sides, a rectangular S and any kernel, symmetric or not.
        y_right : array of shape (m,), default=None
            Labels of Z, from the same classes as y.
        pairs : (must_link, cannot_link), default=None
            Alternative to labels: two arrays of sample indices of shape (p, 2); with Z, a row of X and a row of Z.
        """
        self._validate_params()
        X = canonical(validate_data(self, as_indexable(X, "X"), accept_sparse="csr", dtype=FLOATS))
        self._right_names = column_names(Z)
        if self._compares_columns:
            check_names(self._right_names, getattr(self, "feature_names_in_", None), "X")
        Z = None if Z is None else check_points(as_indexable(Z, "Z"), "Z").astype(X.dtype, copy=False)
        known = self._known(X, y, Z, y_right, pairs)
        with jobs(self.n_jobs):
            place = Landscape(X, Z, self.landmarks, self.n_components, seed_of(self.random_state))
            learned = learn_kernel(
                place,
                self.kernel,
                known,
                weight=self.prior_weight,
                smoothness=self.smoothness,
                self_training=bool(self.self_training),
                of_samples=self.metric == "samples",
                solver=self.solver,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
            )
        self._keep(place, learned)
        return self

    def transform(self, X: Array) -> np.ndarray:
        """Features E R with R R^T = S, of shape (n, n_features_out); their inner products are the learned kernel."""
        return self._features(X)

    def transform_right(self, Z: Array) -> np.ndarray:
        """Features of right samples, whose inner products with features of left samples are the learned kernel."""
        check_is_fitted(self)
        if self.components_left_ is None:
            return self._features(Z)
        return self._mapped(self._right(Z), self.components_left_, self.normalization_right_, of_right=True)

    def learned_kernel(self, X: Array, Y: Array) -> np.ndarray:
        """Learned kernel E_x S E_y^T, shape (n, m), between any samples; if fitted with Z, X is left and Y is right."""
        return self._features(X) @ self.transform_right(Y).T

    @property
    def _compares_columns(self) -> bool:
        """Whether any of the kernels requires X and Z to have the same columns."""
        kernels = self.kernel if isinstance(self.kernel, list) else [self.kernel]
        return any(as_kernel(kernel).same_width for kernel in kernels)

    def _known(self, X: Array, y: Any, Z: Array, y_right: Any, pairs: Any) -> Labels | Pairs | None:
        """Validate labels or pairs; return None if there are none, or (with a warning) fewer than two classes."""
        self.classes_ = np.empty(0)
        if y_right is not None and Z is None:
            raise ValueError("y_right labels the samples of Z; give Z, or leave y_right out")
        if pairs is not None:
            if y is not None or y_right is not None:
                raise ValueError("labels and pairs were both given; give one of them")
            others = X if Z is None else Z
            return Pairs(*checked_pairs(pairs, X.shape[0], others.shape[0], symmetric=Z is None))
        if Z is not None and (y is None) != (y_right is None):
            missing = "y, the labels of X" if y is None else "y_right, the labels of Z"
            raise ValueError(f"with Z labels of one side say nothing alone; give {missing}, or pairs")
        if y is None:
            return None
        left, labels = labelled(y, X, "y")
        right, others = (left, labels) if Z is None else labelled(y_right, Z, "y_right")
        self.classes_ = np.unique(np.concatenate([labels, others])) if len(labels) and len(others) else np.empty(0)
        if len(self.classes_) < 2:
            said = f"one class, {self.classes_[0]}" if len(self.classes_) else "no label"
            warn(
                f"of {X.shape[0]} samples the labels hold {said}, which says nothing about what differs: this is the "
                "plain Nystrom method; label samples of two classes at least, and note that -1 stands for no label",
                LopsidedWarning,
            )
            return None
        balanced = self.class_weight == "balanced"
        classes = np.searchsorted(self.classes_, labels)
        if Z is None:
            return Labels(left, classes, balanced=balanced)
        return Labels(left, classes, right, np.searchsorted(self.classes_, others), balanced)

    def _keep(self, place: Landscape, learned: LearnedKernel) -> None:
        """Store the fitted attributes; the feature maps have the dtype of the data."""
        dtype = place.X.dtype
        self.kernel_, self.dictionary_, self.smoothness_ = learned.kernel, learned.S, learned.smoothness
        self.components_, self.component_indices_ = place.right.points, place.right.indices
        self.normalization_ = learned.left_map.T.astype(dtype)
        self.components_left_ = None if place.Z is None else place.left.points
        self.normalization_right_ = learned.right_map.T.astype(dtype)
        self.prior_weight_, self.objective_, self.alignment_ = learned.weight, learned.objectives, learned.alignment
        self.n_self_labelled_ = learned.self_labelled
        self.candidates_, self.path_ = learned.candidates, list(learned.paths)
        self.n_iter_ = max(1, len(learned.objectives))
        self._n_features_out = len(self.normalization_)
        self.n_features_right_ = self.components_.shape[1]

    def _features(self, X: Array) -> np.ndarray:
        """``transform`` as an array, independent of ``set_output``."""
        check_is_fitted(self)
        X = canonical(validate_data(self, as_indexable(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        return self._mapped(X, self.components_, self.normalization_, of_right=False)

    def _right(self, Z: Array) -> Array:
        check_names(column_names(Z), self._right_names, "the Z of fit")
        Z = check_points(as_indexable(Z, "Z"), "Z")
        if Z.shape[1] != self.n_features_right_:
            raise ValueError(f"Z has {Z.shape[1]} columns, but right samples have {self.n_features_right_}")
        return Z

    def _mapped(self, points: Array, landmarks: Array, normalization: np.ndarray, *, of_right: bool) -> np.ndarray:
        """Product of kernel values against the landmarks with the feature map, without storing kernel blocks."""
        with jobs(self.n_jobs):
            X, Z = (landmarks, points) if of_right else (points, landmarks)
            features = out_of_sample_operator(self.kernel_, X, Z, of_right=of_right) @ normalization.T
        check_finite(features)
        return features

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
