"""What least-squares machines with an asymmetric kernel share: solving, choosing C on held-out samples, evaluating."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, is_classifier
from sklearn.model_selection import check_cv
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parallel import jobs
from ..exceptions import RankWarning
from ..kernels import Kernel, Precomputed, as_kernel, takes_values
from ..kernels.points import FLOATS, Array, canonical
from ..linalg import (
    SADDLE_SOLVERS,
    STRATEGIES,
    Fold,
    Nystrom,
    Saddle,
    Spectral,
    approximate,
    build_saddle,
    check_finite,
    check_solution,
    landmark_choice,
    many_sums,
    of_landmarks,
    warn_if_near_singular,
)
from ..operators import as_operator, budget_bytes, operator_of_new

FOLDS = 10
N_LANDMARKS = 1000
KEPT = 0.7  # components for each landmark; the last ones are mostly rounding


class AsymmetricLeastSquares(BaseEstimator):
    """Base of AsymmetricLSSVC and AsymmetricLSSVR; see there."""

    _parameter_constraints: dict[str, Any] = {
        "C": [Interval(Real, 0, None, closed="neither"), "array-like"],
        "kernel": [str, Kernel, callable],
        "merge": [StrOptions({"mean", "source", "target", "stack"})],
        "cv": ["cv_object", None],
        "solver": [StrOptions({"auto", "nystrom", *SADDLE_SOLVERS})],
        "n_landmarks": [Interval(Integral, 2, None, closed="left"), None],
        "landmarks": [StrOptions(set(STRATEGIES))],
        "damping": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        C: Any = 1.0,
        *,
        kernel: Any = "sne",
        merge: str = "mean",
        cv: Any = None,
        solver: str = "auto",
        n_landmarks: int | None = None,
        landmarks: str = "uniform",
        damping: float = 0.0,
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
    ) -> None:
        self.C = C
        self.kernel = kernel
        self.merge = merge
        self.cv = cv
        self.solver = solver
        self.n_landmarks = n_landmarks
        self.landmarks = landmarks
        self.damping = damping
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def source_decision_function(self, X: Array) -> np.ndarray:
        """f_s(x) = k(x, X) c + b1, shape (n,) or (n, k).

        For kernel="precomputed" a row of X holds k(x, x_i) for every training sample x_i.
        """
        return self._squeeze(self._values(X, of_right=False))

    def target_decision_function(self, X: Array) -> np.ndarray:
        """f_t(x) = k(X, x)'a + b2, shape (n,) or (n, k).

        For kernel="precomputed" a row of X holds k(x_i, x) for every training sample x_i.
        """
        return self._squeeze(self._values(X, of_right=True))

    def _learn(self, X: Array, Y: np.ndarray, y: np.ndarray) -> None:
        """Solve for the targets Y (n, k), at the best C if there are several."""
        for stale in {"merger_", "loo_predictions_", "loo_score_", "path_"} & vars(self).keys():
            delattr(self, stale)
        grid, budget = self._grid(), budget_bytes(self.memory_budget)
        with jobs(self.n_jobs):
            kernel = self._fit_kernel(X)
            found = self._approximate(kernel, X, budget) if self._takes_landmarks(kernel, X, budget) else None
            if found is None:
                A = as_operator(kernel, X, self._right(kernel, X), budget=budget)
                check_finite(A @ np.ones((A.shape[1], 1)))
                saddle, self.solver_ = build_saddle(
                    A,
                    solver=self.solver,
                    largest_C=grid.max(),
                    many=self._holds_out,
                    damping=float(self.damping),
                    tol=float(self.tol),
                    budget=budget,
                )
            else:
                saddle = Spectral.of_nystrom(found)
            best = self._hold_out(saddle, grid, X, Y, y) if self._holds_out else 0
            system = saddle.at(grid[best])
            duals = system.solve(Y)
            check_solution(system, duals)
            if not self.damping:
                warn_if_near_singular(system)
        self.C_ = float(grid[best])
        self.kernel_, self.X_fit_, self.Z_fit_ = kernel, X, self._right(kernel, X)
        if isinstance(kernel, Precomputed):
            self.X_fit_ = self.Z_fit_
        if found is not None:
            left, right = found.landmarks
            self.kernel_, self.X_fit_, self.Z_fit_ = found.kernel, left.points, right.points
            duals = of_landmarks(found, duals, Y)
        self.left_duals_, self.right_duals_ = duals.a, duals.c
        self.source_intercept_, self.target_intercept_ = duals.b1, duals.b2

    def _hold_out(self, saddle: Saddle, grid: np.ndarray, X: Array, Y: np.ndarray, y: np.ndarray) -> int:
        """Score every C on samples that were left out, keep what the best one says, and return its number."""
        folds = self._folds(saddle, X, y)
        held_out = saddle.leave_folds_out(grid, Y, folds) if folds else saddle.leave_one_out(grid, Y)
        errors, scores = np.full(len(grid), np.inf), np.full(len(grid), np.nan)
        for number, (source, target) in enumerate(held_out):
            if not (np.isfinite(source).all() and np.isfinite(target).all()):
                continue
            merger = self._fit_merger(source, target, y)
            merged = self._merge(source, target, merger)
            if folds and self.merge == "stack":
                self._merge_apart(merged, source, target, y, folds)
            errors[number], scores[number] = self._held_out_error(merged, Y, y), self._held_out_score(merged, y)
            if errors[number] < errors[:number].min(initial=np.inf):
                self.merger_, self.loo_predictions_ = merger, self._squeeze(merged)
        if np.isinf(errors).all():
            raise ValueError(
                f"without some of the samples the system is singular, to rounding, at C={self.C}; add other values of "
                "C, smaller ones if values of the kernel are large"
            )
        best = int(errors.argmin())
        self.loo_score_ = float(scores[best])
        self.path_ = {"C": grid, "error": errors, "score": scores}
        return best

    def _merge_apart(
        self, merged: np.ndarray, source: np.ndarray, target: np.ndarray, y: np.ndarray, folds: list[Fold]
    ) -> None:
        """Replace what is merged by what a merger says that has not seen the fold, nor its labels.

        But for folds without which a class would be missing.
        """
        for kept, left_out in folds:
            if is_classifier(self) and len(np.unique(y[kept])) < len(np.unique(y)):
                continue
            apart = self._fit_merger(source[kept], target[kept], y[kept])
            merged[left_out] = self._merge(source[left_out], target[left_out], apart)

    def _folds(self, saddle: Saddle, X: Array, y: np.ndarray) -> list[Fold] | None:
        """The folds to leave out in turn, or None to leave out one sample at a time.

        Never one at a time for a stack: the mean of the other labels gives that of a sample away, and what learns from
        such predictions learns nothing else.
        """
        if self.cv is None and self.merge != "stack" and saddle.leaves_one_out:
            return None
        smallest = np.unique(y, return_counts=True)[1].min() if is_classifier(self) else len(y)
        cv = max(2, min(FOLDS, int(smallest))) if self.cv is None else self.cv
        folds = list(check_cv(cv, y, classifier=is_classifier(self)).split(X, y))
        times = np.bincount(np.concatenate([left_out for _, left_out in folds]), minlength=len(y))
        if not ((times == 1).all() and all(len(kept) + len(left_out) == len(y) for kept, left_out in folds)):
            raise ValueError(
                f"cv={self.cv} must leave every sample out once and train on all the others, as KFold does"
            )
        return folds

    @property
    def _holds_out(self) -> bool:
        """Whether predictions of held-out samples are made."""
        return self.merge == "stack" or np.ndim(self.C) > 0

    @abstractmethod
    def _fit_merger(self, source: np.ndarray, target: np.ndarray, y: np.ndarray) -> Any:
        """What learns, from held-out values of both functions, to say one thing; None if nothing is to be learned."""

    @abstractmethod
    def _held_out_score(self, merged: np.ndarray, y: np.ndarray) -> float:
        """The score of held-out predictions, as ``score`` would give it."""

    def _held_out_error(self, merged: np.ndarray, Y: np.ndarray, y: np.ndarray) -> float:
        """The error of held-out predictions, by which C is chosen: their mean square, and that of all classes."""
        return float(np.square(merged - Y).mean())

    @abstractmethod
    def _say(self, merger: Any, features: np.ndarray) -> np.ndarray:
        """What the merger makes of both functions side by side, shape (n, k)."""

    def _merge(self, source: Array, target: Array, merger: Any) -> np.ndarray:
        """One (n, k) array from two; a side that the merge ignores may be None."""
        if self.merge == "stack":
            return self._say(merger, np.hstack([source, target]))
        return {"source": source, "target": target}[self.merge] if self.merge != "mean" else (source + target) / 2

    def _decide(self, X: Array, Z: Array) -> np.ndarray:
        """The merged functions at new samples, shape (n, k)."""
        check_is_fitted(self)
        if not isinstance(self.kernel_, Precomputed) and Z is not None:
            raise ValueError("Z is for kernel='precomputed'; other kernels find both blocks from X")
        if isinstance(self.kernel_, Precomputed) and Z is None and self.merge != "source":
            raise ValueError(
                f"merge={self.merge!r} needs k(training, new) too: pass its transpose as Z, shape (n_new, "
                f"{self.n_features_in_}), beside X = k(new, training); or take merge='source'"
            )
        right = X if Z is None else Z
        source = self._values(X, of_right=False) if self.merge != "target" else None
        target = self._values(right, of_right=True) if self.merge != "source" else None
        if source is not None and target is not None and len(source) != len(target):
            raise ValueError(f"X holds {len(source)} new samples and Z {len(target)}; they must be the same ones")
        return self._merge(source, target, getattr(self, "merger_", None))

    def _values(self, X: Array, *, of_right: bool) -> np.ndarray:
        """The source function, or the target function of right points, in blocks; nothing is kept."""
        check_is_fitted(self)
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False))
        weights, offset = (
            (self.left_duals_, self.target_intercept_) if of_right else (self.right_duals_, self.source_intercept_)
        )
        with jobs(self.n_jobs):
            left, right = (self.X_fit_, X) if of_right else (X, self.Z_fit_)
            values = operator_of_new(self.kernel_, left, right, of_right=of_right) @ weights
        check_finite(values)
        return values + offset

    def _fit_kernel(self, X: Array) -> Kernel:
        kernel = as_kernel(self.kernel)
        if isinstance(kernel, Precomputed) and X.shape[0] != X.shape[1]:
            raise ValueError(
                f"kernel='precomputed' takes a square matrix at fit, k(training, training), but X has shape {X.shape}"
            )
        return kernel.fit(X, self._right(kernel, X))

    def _takes_landmarks(self, kernel: Kernel, X: Array, budget: int) -> bool:
        """Whether they are asked for, or the matrix is dense and large; says so in ``solver_``."""
        if self.solver == "auto" and self.damping:
            return False
        choice = landmark_choice(kernel, X, X, 1, solver=self.solver, budget=budget)
        if choice is None:
            return False
        if self.damping or isinstance(kernel, Precomputed):
            raise ValueError(
                f"solver='nystrom' takes points and no damping; with kernel='precomputed' or damping={self.damping} "
                "use solver='dense' or 'minres'"
            )
        self.solver_ = choice
        return True

    def _approximate(self, kernel: Kernel, X: Array, budget: int) -> Nystrom:
        """The centred kernel matrix from landmarks, with seven components for every ten of them."""
        count = min(N_LANDMARKS, X.shape[0]) if self.n_landmarks is None else self.n_landmarks
        seed = 0 if self.random_state is None else int(check_random_state(self.random_state).randint(2**31))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", RankWarning)  # as many components as there are will do
            return approximate(
                kernel,
                X,
                X,
                max(1, round(KEPT * count)),
                landmarks=self.landmarks,
                n_landmarks=count,
                budget=budget,
                seed=seed,
                center=True,
                over_landmarks=many_sums(kernel, X, X),
            )[0]

    def _right(self, kernel: Kernel, X: Array) -> Array:
        """The right points: the training samples, or their column numbers if values are given."""
        return np.arange(self.n_features_in_, dtype=float)[:, None] if isinstance(kernel, Precomputed) else X

    def _grid(self) -> np.ndarray:
        grid = np.atleast_1d(np.asarray(self.C, dtype=float))
        if grid.ndim != 1 or not grid.size:
            raise ValueError(f"C has shape {grid.shape}; give a number, or a list of them from which the best is taken")
        if not (np.isfinite(grid).all() and grid.min() > 0):
            raise ValueError(f"C={self.C} must be finite and above 0")
        return grid

    @staticmethod
    def _squeeze(values: np.ndarray) -> np.ndarray:
        return values[:, 0] if values.shape[1] == 1 else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = takes_values(self.kernel)
        return tags
