"""Base class of classification and regression by kernel SVD with a learned compatibility."""

from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin, clone, is_classifier
from sklearn.cluster import kmeans_plusplus
from sklearn.model_selection import train_test_split
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    Estimator,
    budget_bytes,
    canonical,
    check_finite,
    dense,
    gate,
    jobs,
    reject_masked,
    row_lengths,
    seed_of,
    with_one_blas_thread,
)
from ..kernels import Kernel, as_kernel
from ..operators import as_operator
from .compatibility.alternate import Stopping, alternate, refit
from .compatibility.axes import row_space
from .compatibility.descent import LBFGS, Adam, Problem, choose_optimizer
from .compatibility.losses import Loss
from .compatibility.maps import LearnedProjection
from .compatibility.samples import Samples

# As in C.3 of the 2024 paper. `python benchmarks/general_table3.py ablation` changes it, and the defaults of alpha,
# optimizer and validation_fraction, on four of the paper's tables: Diabetes, Ionosphere, Cholesterol and Yacht.
DEFAULT_COMPONENTS = 4
COUNTS = ("max_iter", "batch_size", "n_iter_no_change")  # parameters that are positive integers


class LearnedKernelSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Base class of the classifier and the regressor; see :class:`LearnedKernelSVDClassifier` for the parameters."""

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "kernel": [str, Kernel],
        "alpha": [Interval(Real, 0, None, closed="neither")],
        "optimizer": [StrOptions({"auto", "lbfgs", "adam"})],
        **{name: [Interval(Integral, 1, None, closed="left")] for name in COUNTS},
        "learning_rate": [Interval(Real, 0, None, closed="neither")],
        "validation_fraction": [Interval(Real, 0, 1, closed="left")],
        "min_improvement": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
        "verbose": ["verbose"],
    }

    _reports_itself = True
    n_jobs, memory_budget = None, None  # of models that were saved before they were parameters

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
        min_improvement: float = 1e-4,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components, self.kernel, self.alpha, self.optimizer = n_components, kernel, alpha, optimizer
        self.max_iter, self.batch_size, self.learning_rate = max_iter, batch_size, learning_rate
        self.validation_fraction = validation_fraction
        self.n_iter_no_change, self.min_improvement = n_iter_no_change, min_improvement
        self.random_state, self.n_jobs, self.memory_budget = random_state, n_jobs, memory_budget
        self.verbose = verbose

    @gate
    def transform(self, X: Any) -> np.ndarray:
        """Learned features k(x, Z) V, of shape (n, n_components)."""
        return self._features(X)

    def _features(self, X: Any) -> np.ndarray:
        """``transform`` as an array, independent of ``set_output``."""
        check_is_fitted(self)
        X = canonical(validate_data(self, reject_masked(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        with jobs(self.n_jobs, self.memory_budget):
            features = as_operator(self.kernel_, X, self.points_) @ self.right_vectors_
        check_finite(features)
        return features

    def _check_samples(self, X: Any, y: Any, **of_y: bool) -> tuple[Array, np.ndarray]:
        """Validate samples and targets."""
        X, y = reject_masked(X, "X"), reject_masked(y, "y", text=True)
        X, y = validate_data(self, X, y, accept_sparse="csr", dtype=FLOATS, **of_y)
        return canonical(X), y

    @with_one_blas_thread  # blocks of rows are shared among the library's own threads
    def _learn(
        self, X: Array, Y: np.ndarray, loss: Loss, stratify: np.ndarray | None = None
    ) -> tuple[np.ndarray, np.ndarray]:
        """Learn C on a training split, then V and the head on all rows; return weights and intercept on ``transform``.

        Rows are held out in proportion to the classes ``stratify``, if given.
        """
        (n, width), k, budget = X.shape, self._rank(X.shape[1], Y.shape[1]), budget_bytes(self.memory_budget)
        self.optimizer_ = choose_optimizer(self.optimizer, n, width, budget)
        random = check_random_state(seed_of(self.random_state))
        start = dense(X[np.resize(kmeans_plusplus(X, min(n, width), random_state=random)[1], width)])
        rng = np.random.default_rng(random.randint(2**31) if self.optimizer_ == "adam" else 0)
        data = Samples.every(X, Y)
        learning, held_out = self._split(data, stratify, random)

        basis, factors = row_space(X, budget)
        kernel = clone(as_kernel(self.kernel)).fit(X, start)
        problem = Problem(kernel, basis, loss, k, self.alpha)
        Q = basis.T @ start
        unit = float(np.sqrt(np.square(Q).mean())) or 1.0  # makes steps independent of the scale of the data
        optimizer: LBFGS | Adam = LBFGS(problem, unit)
        if self.optimizer_ == "adam":
            optimizer = Adam(problem, self.batch_size, self.learning_rate, rng, unit)
        stopping = Stopping(self.max_iter, self.n_iter_no_change, self.min_improvement, bool(self.verbose))
        found, self.curve_ = alternate(problem, optimizer, Q, learning, held_out, stopping)
        (Q, weights, bias), projection, _ = refit(problem, found, data)

        lengths = row_lengths(projection.T)  # sqrt(n) / s: columns of the projection are V sqrt(n) / s
        self.points_ = (basis @ Q).astype(X.dtype, copy=False)
        self.compatibility_ = LearnedProjection(right_factors=(*factors, Q))
        self.right_vectors_ = (projection / np.where(lengths > 0, lengths, 1)).astype(X.dtype, copy=False)
        self.singular_values_ = np.sqrt(n) / np.where(lengths > 0, lengths, np.inf)
        self.kernel_ = _with_learned_parameters(kernel).fit(X, self.points_)
        self.n_iter_, self._n_features_out = max(1, len(self.curve_) - 1), k
        return weights * lengths[:, None], bias

    def _rank(self, width: int, outputs: int) -> int:
        """Number of components, at most the number of columns."""
        needed = outputs - is_classifier(self)  # scores of classes need one dimension less
        k = min(max(DEFAULT_COMPONENTS, needed), width) if self.n_components is None else self.n_components
        if k > width:
            raise ValueError(f"n_components={k} exceeds the {width} columns of X, each of which gives a right point")
        return k

    def _split(self, data: Samples, stratify: np.ndarray | None, random: Any) -> tuple[Samples, Samples | None]:
        """Training data, and data held out for early stopping or None; stratified where classes are large enough."""
        n, share = len(data), self.validation_fraction
        if share == 0 or (1 - share) * n < 1:
            return data, None
        if stratify is not None:
            sizes = np.unique(stratify, return_counts=True)[1]
            if sizes.min() < 2 or min(share * n, n - share * n) < len(sizes):
                stratify = None
        learning, held_out = train_test_split(data.rows, test_size=share, stratify=stratify, random_state=random)
        return data.take(learning), data.take(held_out)

    def _scores(self, X: Any) -> np.ndarray:
        return self._features(X) @ self.coef_.T + self.intercept_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def _with_learned_parameters(kernel: Kernel) -> Kernel:
    """Unfitted copy whose parameters are the values inferred at fit, such as a bandwidth."""
    taken = {name: getattr(kernel, f"{name}_") for name in kernel.get_params(deep=False) if hasattr(kernel, f"{name}_")}
    parts = {name: _with_learned_parameters(part) for name, part in taken.items() if isinstance(part, Kernel)}
    return clone(kernel).set_params(**taken | parts)
