"""Nystrom features with a dictionary learned from a few labels or pairs."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._core import (
    Array,
    ArrayLike,
    Estimator,
    RowBlocks,
    as_configured,
    as_indexable,
    atomic_fit,
    budget_bytes,
    check_finite,
    check_names,
    check_points,
    check_right,
    check_samples,
    column_names,
    gate,
    jobs,
    seed_of,
)
from ..kernels import Kernel, as_kernel
from ..nystrom import ONE_SIDED
from ..operators import out_of_sample_operator
from .candidates import Candidate, Selection, list_candidates, select
from .dictionary import Iteration
from .learning import LearnedKernel, learn_kernel
from .samples import place_landmarks
from .supervision import Labels, Pairs, read_supervision

# Chosen on the data of `python benchmarks/prior_table1.py table`, whose part "ablation" prints others.
MANY_LABELS_WEIGHT = 1e-8  # prior weight for labels that are in part predicted, in units of the loss's curvature


class PriorNystroem(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Nystrom kernel features with a dictionary learned from partial labels or pairs.

    The Nystrom method approximates a kernel matrix by E W^+ E^T, where E holds kernel values between samples and
    landmarks, and W those between landmarks. Here W^+ is replaced by the positive semidefinite S that minimises

        weight |S - W^+|^2 + |E_l S E_l^T - K*|^2,

    where E_l are the rows of the labelled samples, and K* is 1 for two samples of the same class and 0 otherwise, in
    units of the mean k(z, z) of the landmarks z (1 for RBF and Laplacian, and with Z). The first term keeps S near the
    original kernel, the second fits the labels. Training and new samples get features E R with R R^T = S.

    Optionally, W is first replaced by W + smoothness E^T L E / n, with L the normalised Laplacian of the
    nearest-neighbour graph of the samples, labelled or not. Features that differ between neighbouring samples shrink,
    and label information spreads along clusters and manifolds.

    Parameters
    ----------
    n_components : int, default=100
        Number of features; given ``landmarks`` without ``n_landmarks`` set it to their own number. With Z, the rank of
        W bounds it.
    kernel : str, Kernel, callable or list of them, default="rbf"
        Symmetric positive semidefinite kernel; with Z any kernel. "rbf" is the Gaussian kernel of the 2012 paper, whose
        squared bandwidth is the mean squared distance between samples; if prior_weight="auto" and there are labels or
        pairs, 0.71 times that bandwidth is also considered. Of a list, the kernel of least held-out error is taken.
    prior_weight : {"auto", "alignment"} or float, default="auto"
        Weight of the prior, in units of the largest curvature of the other term; infinity is the Nystrom method.
        "auto" selects from powers of a hundred by the cross-validated error of least-squares classifiers (with pairs or
        Z: by the alignment of held-out entries). If kernel and smoothness alone explain half of the held-out labels'
        variance, and with pairs or Z, infinity is kept unless another weight is significantly better, one-sided at 5 %.
        "alignment" is the paper's criterion (12) at the optimum for each weight, which holds out no data; the paper's
        lambda is ``prior_weight_`` times the fourth power of the largest singular value of E_l.
    smoothness : "auto" or float, default="auto"
        Weight of differences between neighbouring samples, in units of 1 / (mean k(z, z) of the landmarks z). "auto"
        selects from 0 and those of 1e3, 1e4 and 1e5 that are better than 0 without a learned dictionary, together with
        the weight; it is 0 with Z, without labels and pairs, and if prior_weight is not "auto". A number is used with
        and without labels. If positive, features are rescaled to the variance of Nystrom features and, if a dictionary
        is learned, to no larger a mean relative to it.
    n_landmarks : int or None, default=None
        Number of landmarks on each side; None means ``n_components``. If there are more, the features are the leading
        ones of the learned kernel: those of most second moment over 2,000 samples. Only without Z.
    landmarks : {"kmeans", "uniform"}, array, or pair of arrays with Z, default="kmeans"
        k-means centres; uniformly random samples; or row indices (m,) or points (m, width).
    prior_metric : {"samples", "landmarks"}, default="samples"
        Metric in which S is near W^+. "landmarks" is the paper's |S - W^+|. "samples" penalises changes less in
        directions in which the samples, labelled or not, vary more. With Z both are the same.
    class_weight : {None, "balanced"}, default=None
        "balanced" divides the ones of a class in K* by n_classes times its share of the labels, so that large classes
        do not dominate.
    solver : {"accelerated", "gradient"}, default="accelerated"
        Projected gradient with or without Nesterov extrapolation, unless a closed form is the solution.
    tol, max_iter : float and int, default=1e-3 and 100
        Relative decrease of the objective in the last iteration, and most iterations; max_iter=0 takes the closed-form
        start. Near the optimum S moves far more than the objective does: with the default it may still be a few per
        cent away, on some problems more. tol=0 adds Newton steps, which find the optimum to rounding, in up to minutes
        for 500 landmarks.
    random_state : int, RandomState instance or None, default=None
        Seed of the landmarks, subsamples and folds; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads for kernel blocks; None means one per core.
    memory_budget : float, str or None, default=None
        Memory for kernel values of samples, in bytes or as "2GB", which bounds the number of samples that give second
        moments and neighbours; None means a quarter of the free memory.
    verbose : int, default=0
        1 reports the progress of a fit on standard error.

    Attributes
    ----------
    components_, component_indices_ : array or sparse matrix of shape (m, width), and array of shape (m,) or None
        The landmarks, and their row numbers if they are samples; with Z, those of the right side.
    components_left_ : array or sparse matrix of shape (left landmarks, width) or None
        The left landmarks; None without Z.
    normalization_, normalization_right_ : arrays of shape (n_features_out, landmarks)
        Features are k(X, components_) normalization_.T and k(components_left_, Z)^T normalization_right_.T.
    dictionary_ : array of shape (m, m)
        S; with Z, of shape (right landmarks, left landmarks).
    kernel_, prior_weight_, smoothness_ : Kernel, float, float
        Those that were used; the weight is infinite without labels or pairs.
    objective_, n_iter_ : array and int
        The objective at the closed-form start and after every step, with tol=0 the last after all Newton steps, in the
        units above; it never increases, and is empty if no dictionary was learned. Its length, at least 1.
    alignment_ : float
        Normalised alignment of the learned kernel with the labels or pairs (equation 11); nan without any.
    path_ : list of (kernel, smoothness, weights, errors)
        What was compared, each with prior weights and their errors, of shape (weights, labels), or 1 - alignments; with
        more than 200 labels, only the selected one has finite weights. Empty if nothing was selected.
    solver_ : Choice
        How the dictionary was found, "accelerated", "gradient", "closed" or "none", and the reason.
    classes_ : array
        The classes; empty without labels.
    n_features_in_, n_features_right_, feature_names_in_ : int, int and array
        Widths of X and of Z; without Z, both are that of X. Column names of X, if it has any.

    See Also
    --------
    sklearn.kernel_approximation.Nystroem : The special case of an infinite prior weight.
    SelfTrainedFeatures : Learns such features again, from labels that they predict.
    KernelSVD : Unsupervised, for kernels that need not be symmetric.

    Notes
    -----
    The cost of ``fit`` is that of the landmarks, O(l m^2) for l labelled samples, O(m^3) per iteration, and second
    moments and nearest neighbours of at most 5,000 samples.

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
        "n_landmarks": [Interval(Integral, 1, None, closed="left"), None],
        "landmarks": [StrOptions(set(ONE_SIDED)), "array-like", "sparse matrix"],
        "prior_metric": [StrOptions({"samples", "landmarks"})],
        "class_weight": [StrOptions({"balanced"}), None],
        "solver": [StrOptions({"accelerated", "gradient"})],
        "tol": [Interval(Real, 0, None, closed="left")],
        "max_iter": [Interval(Integral, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int = 100,
        *,
        kernel: Any = "rbf",
        prior_weight: Any = "auto",
        smoothness: Any = "auto",
        n_landmarks: int | None = None,
        landmarks: Any = "kmeans",
        prior_metric: str = "samples",
        class_weight: str | None = None,
        solver: str = "accelerated",
        tol: float = 1e-3,
        max_iter: int = 100,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components, self.kernel, self.prior_weight = n_components, kernel, prior_weight
        self.smoothness, self.n_landmarks, self.landmarks = smoothness, n_landmarks, landmarks
        self.prior_metric, self.class_weight, self.solver = prior_metric, class_weight, solver
        self.tol, self.max_iter, self.random_state = tol, max_iter, random_state
        self.n_jobs, self.memory_budget, self.verbose = n_jobs, memory_budget, verbose

    @classmethod
    def as_published(cls, n_components: int = 100, **parameters: Any) -> Self:
        """The method of the 2012 paper: |S - W^+| as it is, projected gradients, and the weight by criterion (12).

        ``parameters`` are further ones of the constructor. The paper takes a tenth of the samples as k-means landmarks,
        and does not say when its steps end; with tol=0 they reach the optimum, for every weight that is compared.
        """
        published = {"prior_weight": "alignment", "prior_metric": "landmarks", "smoothness": 0.0, "solver": "gradient"}
        return cls(n_components, **{**published, **parameters})

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None, *, Z: ArrayLike = None, y_right: Any = None, pairs: Any = None) -> Self:
        """Place landmarks and learn the dictionary.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width), or dask collection
            Samples, labelled or not. Of a dask collection only the rows that are used are fetched.
        y : array of shape (n,), default=None
            Numeric or string labels; -1, None or nan for none. Without labels and pairs, the features are plain
            Nystrom features.
        Z : array or sparse matrix of shape (m, width), default=None
            Right samples, possibly of another kind than X. The learned kernel is then E_x S E_z^T with landmarks on
            both sides, a rectangular S and any kernel, symmetric or not.
        y_right : array of shape (m,), default=None
            Labels of Z, from the same classes as y.
        pairs : (must_link, cannot_link), default=None
            Alternative to labels: two arrays of sample indices of shape (p, 2); with Z, a row of X and a row of Z.
        """
        self._validate_params()
        X = check_samples(self, X, reset=True)
        self._right_names = column_names(Z)
        kernels = self.kernel if isinstance(self.kernel, list) else [self.kernel]
        if any(as_kernel(kernel).same_width for kernel in kernels):  # these compare columns of X with those of Z
            check_names(self._right_names, getattr(self, "feature_names_in_", None), "X")
        Z = None if Z is None else check_points(as_indexable(Z, "Z"), "Z").astype(X.dtype, copy=False)
        known, self.classes_ = read_supervision(X, y, Z, y_right, pairs, balanced=self.class_weight == "balanced")
        self._check_settings(known, Z)
        seed, iteration = seed_of(self.random_state), Iteration(self.solver, float(self.tol), int(self.max_iter))
        by_errors = known is not None and self.prior_weight == "auto"
        with jobs(self.n_jobs, self.memory_budget):
            count, budget = self.n_landmarks or self.n_components, budget_bytes(self.memory_budget)
            data = place_landmarks(X, Z, self.landmarks, count, seed, budget=budget)
            of_samples = self.prior_metric == "samples"
            candidates = list_candidates(data, self.kernel, self.smoothness, of_samples=of_samples, by_errors=by_errors)
            selection = select(candidates, known, self.prior_weight, seed, iteration)
            fixed = not isinstance(self.landmarks, str) and self.n_landmarks is None
            wanted = data.right.points.shape[0] if fixed else self.n_components
            learned = learn_kernel(candidates[selection.number], selection, known, iteration, wanted)
        self._store(candidates, selection, learned)
        return self

    @gate
    def transform(self, X: ArrayLike) -> np.ndarray:
        """Features E R with R R^T = S, of shape (n, n_features_out); their inner products are the learned kernel."""
        return self._features(X)

    @gate
    def transform_right(self, Z: ArrayLike) -> Any:
        """Features of right samples, whose inner products with features of left samples are the learned kernel."""
        return as_configured(self, self._right_features(Z), Z)

    @gate
    def learned_kernel(self, X: ArrayLike, Y: Array) -> np.ndarray:
        """Learned kernel E_x S E_y^T, shape (n, m), between any samples; if fitted with Z, X is left and Y is right."""
        return self._features(X) @ self._right_features(Y).T

    def for_more_labels(self) -> Self:
        """An unfitted copy with kernel, smoothness and landmarks of this fit, for labels that are in part predicted.

        Its prior weight is 1e-8, at which many labels decide; see :class:`SelfTrainedFeatures`.
        """
        check_is_fitted(self)
        settled = {"kernel": clone(self.kernel_), "smoothness": self.smoothness_, "landmarks": self.components_}
        return clone(self).set_params(prior_weight=MANY_LABELS_WEIGHT, **settled)

    def _check_settings(self, known: Labels | Pairs | None, Z: Array | None) -> None:
        """Raise an error if settings do not go together with each other, with Z or with what is known of samples."""
        if isinstance(self.kernel, list):
            selected = known is not None and isinstance(self.prior_weight, str)
            if not self.kernel or (len(self.kernel) > 1 and not selected):
                raise ValueError(
                    f"kernel lists {len(self.kernel)} kernels; to have one selected from several, give labels or pairs "
                    "and set prior_weight to 'auto' or 'alignment'; otherwise give one kernel"
                )
        if Z is not None and self.n_landmarks not in (None, self.n_components):
            raise ValueError(
                f"n_landmarks={self.n_landmarks} differs from n_components={self.n_components}, but with Z there are "
                "as many features as landmarks; leave n_landmarks at None"
            )
        if Z is not None and self.smoothness not in ("auto", 0):
            raise ValueError(f"smoothness={self.smoothness} compares samples of one set; with Z leave it at 'auto'")

    def _store(self, candidates: list[Candidate], selection: Selection, learned: LearnedKernel) -> None:
        """Store the fitted attributes; the feature maps have the dtype of the data."""
        chosen = candidates[selection.number]
        data = chosen.values.data
        self.kernel_, self.smoothness_ = chosen.values.kernel, chosen.smoothness
        self.path_ = selection.compared(candidates)
        self.components_, self.component_indices_ = data.right.points, data.right.indices
        self.components_left_ = None if data.Z is None else data.left.points
        self.dictionary_ = learned.left_map @ learned.right_map.T
        self.normalization_, self.normalization_right_ = (side.T.astype(data.X.dtype) for side in learned[:2])
        self.prior_weight_, self.alignment_ = learned.weight, learned.alignment
        _, self.objective_, self.solver_ = learned.dictionary
        self.n_iter_ = max(1, len(self.objective_))
        self._n_features_out, self.n_features_right_ = len(self.normalization_), self.components_.shape[1]

    def _features(self, X: Array) -> np.ndarray:
        """``transform`` as an array, independent of ``set_output``."""
        check_is_fitted(self)
        X = check_samples(self, X, reset=False)
        return self._mapped(X, self.components_, self.normalization_, of_right=False)

    def _right_features(self, Z: Array) -> np.ndarray:
        """``transform_right`` as an array; without Z in ``fit`` both sides are one."""
        check_is_fitted(self)
        if self.components_left_ is None:
            return self._features(Z)
        Z = check_right(Z, self.n_features_right_, self._right_names)
        return self._mapped(self.components_left_, Z, self.normalization_right_, of_right=True)

    def _mapped(self, X: Array, Z: Array, normalization: np.ndarray, *, of_right: bool) -> Any:
        """Features of X, or of Z if ``of_right``; the others are landmarks. Kernel blocks are not stored."""
        with jobs(self.n_jobs):
            features = out_of_sample_operator(self.kernel_, X, Z, of_right=of_right) @ normalization.T
        if isinstance(features, RowBlocks):
            return features.finite().native()
        check_finite(features)
        return features

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
