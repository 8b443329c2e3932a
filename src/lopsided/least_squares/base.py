"""Base class of the LS-SVMs with an asymmetric kernel: fitting, and the values of both functions at new samples."""

from abc import abstractmethod
from copy import copy
from dataclasses import replace
from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import is_classifier
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_X_y, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    Estimator,
    RowBlocks,
    announce,
    as_row_blocks,
    at_hand,
    atomic_fit,
    budget_bytes,
    canonical,
    check_array,
    check_samples,
    count_of,
    gate,
    jobs,
    reject_masked,
    seed_of,
)
from ..kernels import Kernel, Precomputed, as_kernel, takes_values
from ..nystrom import Nystrom, select_nystrom
from .build import KernelSaddle, Settings, are_many, many_landmarks, saddle_of_landmarks, saddle_of_samples
from .diagnostics import PrimalDiagnostics, diagnose_primal
from .functions import TwoFunctions
from .merging import HeldOutResult, Merging
from .refine_kernel import refine_path
from .saddle import SADDLE_SOLVERS, Duals, check_solution, warn_if_near_singular
from .select_C import (
    C_grid,
    Grid,
    select_C,
    stack_if_better,
    stratified_subset,
    warn_if_constant,
    warn_if_diagonal,
    warn_if_useless,
)
from .select_kernel import is_choice, rank_kernels
from .targets import Targets, check_weights

SAMPLED_ROWS = 2000  # of rows in blocks, from which a kernel is chosen
SYMMETRIC_ULPS = 100  # tolerance on K - K', in units of eps times the largest entry, for a precomputed K


class AsymmetricLeastSquares(TwoFunctions, Estimator):
    """Base class of :class:`AsymmetricLSSVC` and :class:`AsymmetricLSSVR`, which document the parameters."""

    _target_checks: dict[str, bool] = {}  # arguments of ``validate_data`` about y

    _parameter_constraints: dict[str, Any] = {
        "C": [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"auto"})],
        "kernel": [str, Kernel, callable, list],
        "scale_C": ["boolean"],
        "merge": [StrOptions({"auto", "mean", "source", "target", "stack"})],
        "cv": ["cv_object", None],
        "solver": [StrOptions({"auto", "nystrom", *SADDLE_SOLVERS}), Nystrom],
        "damping": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
        "verbose": ["verbose"],
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
        damping: float = 0.0,
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.C, self.kernel, self.scale_C, self.merge, self.cv, self.solver = C, kernel, scale_C, merge, cv, solver
        self.damping, self.tol, self.random_state = damping, tol, random_state
        self.n_jobs, self.memory_budget, self.verbose = n_jobs, memory_budget, verbose

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any, sample_weight: ArrayLike = None) -> Self:
        """Fit the source and the target function for every class or target.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            Samples, or the square kernel matrix itself if kernel="precomputed".
        y : array of shape (n,) or (n, k)
            Labels of at least two classes, or real targets, of which there may be several columns.
        sample_weight : array of shape (n,), default=None
            Weights w_i that are not negative: the system has 1 / (C w_i) in place of 1 / C, so that a sample of weight
            two counts as two equal samples, and one of weight zero is not used. Errors and scores of held-out
            predictions are weighted means; a kernel fits its own parameters without weights.
        """
        self._check_parameters()
        self.merge_ = "mean" if self.merge == "auto" else self.merge
        grid = None if isinstance(self.C, str) else C_grid(self.C, in_units=self.scale_C)
        seed = seed_of(self.random_state)
        given, y = self._check_samples(X, y)
        known = self._encode_targets(y, check_weights(sample_weight, given))
        used = np.arange(len(known.Y)) if known.weights is None else np.flatnonzero(known.weights)
        X, targets = (given, known) if len(used) == len(known.Y) else (given[used], known.take(used))
        with jobs(self.n_jobs, self.memory_budget):
            kernel = self._choose_kernel(X, targets, grid, seed)
            sides = count_of(targets.Y.shape[1], "right-hand side")
            announce(lambda: f"systems of {2 * len(used):,} equations with {sides}")
            right = self._right(kernel, given)[used] if isinstance(kernel, Precomputed) else X
            saddle = self._build(kernel.fit(X, right), X, right, targets, grid, seed)
            best = self._select(saddle, X, targets, grid, seed)
            system = saddle.family.at(self.C_)
            warn_if_constant(saddle.family, system)
            if not is_choice(self.kernel):
                warn_if_diagonal(saddle.compared)
            if grid is not None:
                warn_if_useless(system, in_units=grid.in_units)
            duals = saddle.duals(system, targets.Y)
            check_solution(system, duals)
            if not self.damping:
                warn_if_near_singular(system)
        self._store(saddle, duals, len(used))
        if best is not None:
            self._store_held_out(best, given, used, targets)
        return self

    @gate
    def diagnostics(self, X: ArrayLike, y: Any, sample_weight: ArrayLike = None) -> PrimalDiagnostics:
        """Residuals of the 2023 paper's primal problem: constraints, stationarity, and primal against dual objective.

        X, y and weights are those of ``fit``. The result prints as a table. Damping solves another problem, as the
        residuals then tell; with landmarks there are no duals of the samples. Cost: two products with the matrix.
        """
        X = self._check_new(X)
        y = check_array(y, ensure_2d=False, dtype=None, input_name="y")
        known = copy(self)._encode_targets(y, check_weights(sample_weight, X))  # on a copy: it stores the classes
        used = np.arange(len(known.Y)) if known.weights is None else np.flatnonzero(known.weights)
        if X.shape[0] != len(known.Y) or len(used) != len(self.left_duals_):
            raise ValueError(
                f"X holds {X.shape[0]} samples, but the model has duals of {len(self.left_duals_)}; give samples and "
                "weights of fit, whose solver must not be 'nystrom'"
            )
        right, Y = X.T if isinstance(self.kernel_, Precomputed) else X, known.Y[used]
        source, target = self._values(X, of_right=False)[used], self._values(right, of_right=True)[used]
        strength = self.C_ * (np.ones((len(used), 1)) if known.weights is None else known.weights[used, None])
        a, c, Kc = self.left_duals_, self.right_duals_, source - self.source_intercept_
        return diagnose_primal(a, c, Kc, Y - source, Y - target, Y, strength)

    @abstractmethod
    def _encode_targets(self, y: np.ndarray, weights: np.ndarray | None) -> Targets:
        """Validate the targets; columns to be fitted, class numbers or targets, and weights of the samples."""

    @property
    def _merging(self) -> Merging:
        return Merging(self.merge_, of_classes=is_classifier(self), by_likelihood=is_choice(self.kernel))

    @property
    def _holds_out(self) -> bool:
        """Whether ``fit`` computes held-out predictions."""
        return self.merge == "stack" or isinstance(self.C, str) or np.ndim(self.C) > 0 or is_choice(self.kernel)

    def _check_parameters(self) -> None:
        self._validate_params()
        method = Nystrom() if isinstance(self.solver, str) and self.solver == "nystrom" else self.solver
        if isinstance(method, Nystrom):
            if takes_values(self.kernel):
                raise ValueError(
                    "solver='nystrom' compares points, and kernel='precomputed' has none; use 'dense' or 'minres'"
                )
            if not isinstance(method.landmarks, str) or method.extension == "plain":
                raise ValueError(f"solver={method!r}: an LS-SVM needs a named strategy and extension='orthonormal'")
        if self.damping and method not in ("auto", "dense", "sparse_lu"):
            raise ValueError(f"damping={self.damping} needs solver='dense' or 'sparse_lu', not {self.solver!r}")

    def _check_samples(self, X: Array, y: Any) -> tuple[Array, np.ndarray]:
        """Validate samples and targets. Samples in memory are copied, since predictions compare new ones with them."""
        y = reject_masked(at_hand(y), "y", text=True)
        if not takes_values(self.kernel) and (rows := as_row_blocks(X, "X")) is not None:
            _, y = check_X_y(np.zeros((rows.shape[0], 1)), y, **self._target_checks)
            return check_samples(self, rows, reset=True), y
        copy = not (takes_values(self.kernel) or isinstance(X, np.memmap))
        checks = {"accept_sparse": "csr", "dtype": FLOATS, "copy": copy, "ensure_min_samples": 2, **self._target_checks}
        X, y = validate_data(self, reject_masked(X, "X"), y, **checks)
        return canonical(X), y

    def _choose_kernel(self, X: Array, targets: Targets, grid: Grid | None, seed: int) -> Kernel:
        """The kernel that was given, or the best of those to be compared; stacking compares the mean of both sides."""
        if not is_choice(self.kernel):
            return as_kernel(self.kernel)
        merging = self._merging if self.merge != "stack" else replace(self._merging, how="mean")
        budget = budget_bytes(self.memory_budget)
        many = self.kernel == "auto" and are_many(X)
        if isinstance(X, RowBlocks):
            rows = stratified_subset(targets.y, SAMPLED_ROWS, seed, of_classes=merging.of_classes)
            X, targets = X[rows], targets.take(rows)
        shared: dict[str, Any] = {"merging": merging, "seed": seed, "budget": budget}
        self.kernel_path_ = rank_kernels(self.kernel, X, targets, grid, many=many, **shared)
        if isinstance(self.kernel, str):
            self.kernel_path_ = refine_path(self.kernel_path_, X, targets, grid, **shared)
        return self.kernel_path_[0].kernel

    def _build(
        self, kernel: Kernel, X: Array, right: Array, targets: Targets, grid: Grid | None, seed: int
    ) -> KernelSaddle:
        """Build the saddle systems, from the full kernel matrix or from landmarks."""
        damping, budget, weights = float(self.damping), budget_bytes(self.memory_budget), targets.weights
        if damping and isinstance(X, RowBlocks):
            raise ValueError(f"damping={damping} needs all rows in memory, and these are in blocks; leave it at 0")
        if not (damping or isinstance(kernel, Precomputed)):
            chosen = select_nystrom(self.solver, kernel, X, X, budget=budget)
            if self.solver == self.kernel == "auto":
                chosen = many_landmarks(kernel, X, budget) or chosen or many_landmarks(kernel, X, budget, few=True)
            if chosen is not None:
                return saddle_of_landmarks(kernel, X, *chosen, budget=budget, seed=seed, weights=weights)
        largest_C = np.inf if grid is None or self.scale_C else float(grid.values.max())
        settings = Settings(self.solver, damping, float(self.tol), budget, largest_C, self._holds_out, weights)
        return saddle_of_samples(kernel, X, right, settings)

    def _right(self, kernel: Kernel, X: Array) -> Array:
        """Right points: the training samples, or their column indices for a precomputed kernel, which is square."""
        if not isinstance(kernel, Precomputed):
            return X
        if X.shape[0] != X.shape[1]:
            raise ValueError(f"kernel='precomputed' needs a square matrix at fit, but X has shape {X.shape}")
        self._of_symmetric = bool(abs(X - X.T).max() <= SYMMETRIC_ULPS * np.finfo(X.dtype).eps * abs(X).max())
        return np.arange(X.shape[1], dtype=float)[:, None]

    def _select(
        self, saddle: KernelSaddle, X: Array, targets: Targets, grid: Grid | None, seed: int
    ) -> HeldOutResult | None:
        """Select C, and return the held-out results at this C; None for a single C alone, with nothing held out."""
        if not self._holds_out:
            assert grid is not None
            self.C_ = float(grid.of(saddle.family)[0])
            return None
        merging, budget = self._merging, budget_bytes(self.memory_budget)
        self.C_, best, self.path_ = select_C(
            grid, saddle.family, X, targets, merging=merging, cv=self.cv, seed=seed, budget=budget
        )
        if self.merge == "auto" and (stacked := stack_if_better(saddle.family, self.C_, best, targets, merging)):
            self.merge_, best = "stack", stacked
        return best

    def _store(self, saddle: KernelSaddle, duals: Duals, n_samples: int) -> None:
        """Store both functions, and the solver with what the kernel was chosen on."""
        self.kernel_, self.X_fit_, self.Z_fit_ = saddle.kernel, saddle.X, saddle.Z
        self.left_duals_, self.right_duals_ = duals.a, duals.c
        self.source_intercept_, self.target_intercept_ = duals.b1, duals.b2
        self.solver_ = saddle.choice
        if is_choice(self.kernel) and (compared := self.kernel_path_[0].n_samples) < n_samples:
            why = f"{saddle.choice.reason}; the kernel was chosen on {compared} of {n_samples} samples"
            self.solver_ = saddle.choice._replace(reason=why)

    def _store_held_out(self, best: HeldOutResult, X: Array, used: np.ndarray, targets: Targets) -> None:
        """Store held-out results; for samples of weight zero, which no model has seen, those of the fitted one."""
        self.merger_, self.held_out_score_ = best.merger, best.score
        self._held_out_errors, self._held_out_weights = self._squeeze(targets.Y - best.predictions), targets.weights
        if len(used) < X.shape[0]:
            unused = np.setdiff1d(np.arange(X.shape[0]), used)
            right = canonical(X.T[unused]) if isinstance(self.kernel_, Precomputed) else X[unused]
            values = np.empty((X.shape[0], targets.Y.shape[1]))
            values[used], values[unused] = best.predictions, self._merged(X[unused], right)
            best = best._replace(predictions=values)
        self.held_out_predictions_ = self._squeeze(best.predictions)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = takes_values(self.kernel)
        return tags
