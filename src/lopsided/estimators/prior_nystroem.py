"""Low-rank kernels learned from the few labels, or pairs, that one has: the Nystrom method with a prior."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parallel import jobs
from .._rows import gathered
from .._seeds import seed_of
from ..exceptions import LopsidedWarning, warn
from ..kernels import Kernel, as_kernel
from ..kernels.points import FLOATS, Array, canonical, check_points
from ..linalg import PLACES, Labels, Landscape, LearnedKernel, Pairs, check_finite, learn_kernel
from ..operators import operator_of_new
from .placing import check_names, column_names
from .refit import all_or_nothing
from .supervision import checked_pairs, labelled


class PriorNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Kernel features that use the labels one has: the Nystrom method with a learned dictionary.

    The Nystrom method approximates a kernel matrix by E W^+ E^T from the values E between samples and landmarks and W
    among landmarks. Here W^+ gives way to the positive semidefinite S of least

        weight |S - W^+|^2 + |E_l S E_l^T - K*|^2,

    where E_l are the rows of labelled samples and K* is 1 for two of one class and 0 for two of different ones: near
    the kernel one began with, and near what one knows. New samples get features E R, R R^T = S, like any others. S has
    at most the rank of W: with a Z, the side with fewer landmarks bounds it.

    Before that W may give way to W + smoothness E^T L E / n, L being the Laplacian of the graph of nearest samples,
    labelled or not: features that differ between samples near each other shrink, and what labels say spreads along
    clusters and manifolds.

    Parameters
    ----------
    n_components : int, default=100
        Landmarks, and features. Ignored where landmarks are given.
    kernel : str, Kernel, callable or list of them, default="rbf"
        Symmetric positive semidefinite unless there is a Z. "rbf" is the Gaussian kernel whose squared bandwidth is the
        mean squared distance between samples, the 2012 paper's; with labels and prior_weight="auto" one of 0.71 times
        the bandwidth is tried, too. Give the one you trust first in a list: others replace it only if they are
        significantly better.
    prior_weight : {"auto", "alignment"} or float, default="auto"
        What the prior weighs, in units of the largest curvature of the other term; infinity is the Nystrom method.
        "auto" chooses among powers of a hundred by the error of least-squares classifiers on labelled samples that are
        held out in turn (with pairs, or a Z: by the alignment of held-out entries), and takes infinity unless another
        is significantly better, one-sided at 5 %. "alignment" is the paper's criterion (12), which looks at nothing
        held out.
    smoothness : "auto" or float, default="auto"
        What the differences between near samples weigh, in units of 1 / (mean k(z, z) of the landmarks z). "auto"
        chooses among 0, 1e3, 1e4 and 1e5 together with the weight; it is 0 with a Z, where nothing is known and where
        prior_weight is not "auto". A number is taken with labels or without. Above 0 the result is scaled, so that
        features vary as much as those of the Nystrom method, and their mean is no longer beside that.
    landmarks : {"kmeans", "uniform"}, array, or pair of arrays with Z, default="kmeans"
        Centres of clusters; samples at random; row numbers (m,) or points (m, width).
    metric : {"samples", "landmarks"}, default="samples"
        In which metric S is near W^+. "landmarks" is the paper's, |S - W^+|. "samples" weighs a change in directions
        in which samples differ, labelled or not, less than one in others; with Z the two are the same.
    class_weight : {None, "balanced"}, default=None
        "balanced" divides the ones of a class by its share among the labels, so that large classes do not prevail.
    solver : {"accelerated", "gradient", "closed"}, default="accelerated"
        Projected gradient with or without Nesterov's extrapolation, or the closed-form start alone.
    tol : float, default=1e-3
        Iterations stop when one lowers the objective by less than this share of it.
    max_iter : int, default=100
        Iterations at most.
    random_state : int, RandomState instance or None, default=None
        Seeds landmarks and folds; None is a fixed seed.
    n_jobs : int or None, default=None
        Threads for kernel blocks; None is one for each core.

    Attributes
    ----------
    components_ : array or sparse matrix of shape (m, width)
        The landmarks; with Z the right ones, with which left points are compared.
    component_indices_ : array of shape (m,) or None
        Row numbers of ``components_``, where they are rows of X, or of Z.
    normalization_ : array of shape (n_features_out, m)
        ``transform`` is k(X, components_) normalization_.T.
    components_left_ : array or sparse matrix of shape (left landmarks, width) or None
        With Z: the left landmarks, with which right points are compared.
    normalization_right_ : array of shape (n_features_out, left landmarks)
        ``transform_right`` is k(components_left_, Z)^T normalization_right_.T.
    dictionary_ : array of shape (m, m)
        S; with Z of shape (right landmarks, left landmarks).
    kernel_ : Kernel
        The fitted kernel.
    prior_weight_ : float
        The weight that was taken; infinity where nothing was known.
    smoothness_ : float
        The smoothness that was taken.
    objective_ : array
        The objective at the start and after every step; it never rises. Empty where nothing was learned.
    n_iter_ : int
        Evaluations of the objective, the closed-form start counted; 1 where nothing was learned.
    alignment_ : float
        Normalised alignment of the learned kernel with what was known (equation 11); nan where nothing was.
    candidates_ : list of (Kernel, float)
        The kernels and values of smoothness that were tried.
    path_ : list of Path
        For each of them the weights that were tried, and the losses on held-out samples; with more than 200 labels only
        one of them is tried at other weights than infinity. Empty where nothing was to be chosen.
    classes_ : array
        Of the labels; empty without.
    n_features_in_ : int
        Width of the samples.
    n_features_right_ : int
        Width of the samples of Z; without Z that of X.

    See Also
    --------
    sklearn.kernel_approximation.Nystroem : The same with an infinite prior weight.
    KernelSVD : For kernels that are not symmetric, without labels.

    Notes
    -----
    Only rows of known samples enter, and all else is m x m: the cost of fit is that of the landmarks, O(l m^2) for l
    known samples, O(m^3) for each iteration, and moments and nearest neighbours of at most 5,000 samples.

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
        self.landmarks = landmarks
        self.metric = metric
        self.class_weight = class_weight
        self.solver = solver
        self.tol = tol
        self.max_iter = max_iter
        self.random_state = random_state
        self.n_jobs = n_jobs

    @all_or_nothing
    def fit(self, X: Array, y: Any = None, *, Z: Array = None, y_right: Any = None, pairs: Any = None) -> Self:
        """Place landmarks and learn the dictionary.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            Samples, labelled or not.
        y : array of shape (n,), default=None
            Labels, numbers or text, with -1 for none. None leaves all to ``pairs``, or to the Nystrom method.
        Z : array or sparse matrix of shape (m, width), default=None
            Things of another kind that samples are compared with: the learned kernel is then E_x S E_z^T with landmarks
            on both sides, a rectangular S and any kernel, symmetric or not.
        y_right : array of shape (m,), default=None
            Labels of Z, which mean the same as in y.
        pairs : (must_link, cannot_link), default=None
            In place of labels: sample numbers, each of shape (p, 2); with Z a row of X and a row of Z that are linked,
            or are not.
        """
        self._validate_params()
        X = canonical(validate_data(self, gathered(X, "X"), accept_sparse="csr", dtype=FLOATS))
        self._right_names = column_names(Z)
        if self._compares_columns:
            check_names(self._right_names, getattr(self, "feature_names_in_", None), "X")
        Z = None if Z is None else check_points(gathered(Z, "Z"), "Z").astype(X.dtype, copy=False)
        known = self._known(X, y, Z, y_right, pairs)
        with jobs(self.n_jobs):
            place = Landscape(X, Z, self.landmarks, self.n_components, seed_of(self.random_state))
            learned = learn_kernel(
                place,
                self.kernel,
                known,
                weight=self.prior_weight,
                smoothness=self.smoothness,
                of_samples=self.metric == "samples",
                solver=self.solver,
                tol=float(self.tol),
                max_iter=int(self.max_iter),
            )
        self._keep(place, learned)
        return self

    def transform(self, X: Array) -> np.ndarray:
        """Features E R with R R^T = S, shape (n, n_features_out): their inner products are the learned kernel."""
        return self._features(X)

    def transform_right(self, Z: Array) -> np.ndarray:
        """Features of right samples; those of left and right have the learned kernel for inner product."""
        check_is_fitted(self)
        if self.components_left_ is None:
            return self._features(Z)
        return self._mapped(self._right(Z), self.components_left_, self.normalization_right_, of_right=True)

    def learned_kernel(self, X: Array, Y: Array) -> np.ndarray:
        """The learned kernel between any samples, E_x S E_y^T, shape (n, m); with Z between left and right ones."""
        return self._features(X) @ self.transform_right(Y).T

    @property
    def _compares_columns(self) -> bool:
        """Whether a kernel compares the columns of X with those of Z, one by one."""
        kernels = self.kernel if isinstance(self.kernel, list) else [self.kernel]
        return any(as_kernel(kernel).same_width for kernel in kernels)

    def _known(self, X: Array, y: Any, Z: Array, y_right: Any, pairs: Any) -> Labels | Pairs | None:
        """Labels or pairs, checked; None, with a warning if some were given, where they say nothing."""
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
        """Store what was learned, in the type of the data."""
        dtype = place.X.dtype
        self.kernel_, self.dictionary_, self.smoothness_ = learned.kernel, learned.S, learned.smoothness
        self.components_, self.component_indices_ = place.right.points, place.right.indices
        self.normalization_ = learned.left_map.T.astype(dtype)
        self.components_left_ = None if place.Z is None else place.left.points
        self.normalization_right_ = learned.right_map.T.astype(dtype)
        self.prior_weight_, self.objective_, self.alignment_ = learned.weight, learned.objectives, learned.alignment
        self.candidates_, self.path_ = learned.candidates, learned.paths
        self.n_iter_ = max(1, len(learned.objectives))
        self._n_features_out = len(self.normalization_)
        self.n_features_right_ = self.components_.shape[1]

    def _features(self, X: Array) -> np.ndarray:
        """``transform`` as an array, whatever ``set_output`` makes of it."""
        check_is_fitted(self)
        X = canonical(validate_data(self, gathered(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        return self._mapped(X, self.components_, self.normalization_, of_right=False)

    def _right(self, Z: Array) -> Array:
        check_names(column_names(Z), self._right_names, "the Z of fit")
        Z = check_points(gathered(Z, "Z"), "Z")
        if Z.shape[1] != self.n_features_right_:
            raise ValueError(f"Z has {Z.shape[1]} columns, but right samples have {self.n_features_right_}")
        return Z

    def _mapped(self, points: Array, landmarks: Array, normalization: np.ndarray, *, of_right: bool) -> np.ndarray:
        """Kernel values against landmarks, times the map, in blocks of which none is kept."""
        with jobs(self.n_jobs):
            X, Z = (landmarks, points) if of_right else (points, landmarks)
            features = operator_of_new(self.kernel_, X, Z, of_right=of_right) @ normalization.T
        check_finite(features)
        return features

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
