"""Base class of the LS-SVMs with an asymmetric kernel: solving, selecting C, merging both functions, predicting."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral, Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, is_classifier
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import FLOATS, Array, budget_bytes, canonical, check_finite, check_points, jobs, reject_masked, seed_of
from ..kernels import Kernel, Precomputed, as_kernel, takes_values
from ..nystrom import Nystrom, select_nystrom
from ..operators import Stored, out_of_sample_operator
from ..svd import Choice
from .saddle.build import KernelSaddle, saddle_of_landmarks, saddle_of_samples
from .saddle.policy import MODERATE, SADDLE_SOLVERS, check_solution, warn_if_near_singular
from .saddle.spectral import Spectral
from .saddle.system import Fold, Saddle
from .select_C import FEW_C, MANY_C, MODERATE_C, NEIGHBOURS, Judged, choose_C, folds_of, grid_of, part_of, unit_of_C

ROUNDING = 100  # tolerance on K - K', in units of eps times the largest entry, for a precomputed K to be symmetric


class AsymmetricLeastSquares(BaseEstimator, ABC):
    """Base class of :class:`AsymmetricLSSVC` and :class:`AsymmetricLSSVR`, which document the parameters."""

    _flat: bool  # whether predictions have shape (n,) rather than (n, k)

    _parameter_constraints: dict[str, Any] = {
        "C": [Interval(Real, 0, None, closed="neither"), "array-like", StrOptions({"auto"})],
        "kernel": [str, Kernel, callable],
        "merge": [StrOptions({"mean", "source", "target", "stack"})],
        "cv": ["cv_object", None],
        "solver": [StrOptions({"auto", "nystrom", *SADDLE_SOLVERS}), Nystrom],
        "damping": [Interval(Real, 0, None, closed="left")],
        "tol": [Interval(Real, 0, 1, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        C: Any = "auto",
        *,
        kernel: Any = "sne",
        merge: str = "mean",
        cv: Any = None,
        solver: Any = "auto",
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
        self.damping = damping
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    def source_decision_function(self, X: Array) -> np.ndarray:
        """Source function f_s(x) = k(x, X) c + b1, of shape (n,) or (n, k).

        For kernel="precomputed", a row of X holds k(x, x_i) for every training sample x_i.
        """
        return self._squeeze(self._values(self._checked(X), of_right=False))

    def target_decision_function(self, X: Array) -> np.ndarray:
        """Target function f_t(x) = k(X, x)'a + b2, of shape (n,) or (n, k).

        For kernel="precomputed", a row of X holds k(x_i, x) for every training sample x_i.
        """
        return self._squeeze(self._values(self._checked(X), of_right=True))

    def _samples(self, X: Array, y: Any, **of_targets: bool) -> tuple[Array, np.ndarray]:
        """Validate samples and targets. Samples in memory are copied, since predictions compare new ones with them."""
        copy = not (takes_values(self.kernel) or isinstance(X, np.memmap))
        X, y = validate_data(self, reject_masked(X, "X"), y, accept_sparse="csr", dtype=FLOATS, copy=copy, **of_targets)
        return canonical(X), y

    def _learn(self, X: Array, Y: np.ndarray, y: np.ndarray) -> None:
        """Solve for the targets Y (n, k), at the best C if there are several candidates."""
        for stale in {"merger_", "loo_predictions_", "loo_score_", "path_"} & vars(self).keys():
            delattr(self, stale)
        grid = None if self._is_open else grid_of(self.C)
        with jobs(self.n_jobs):
            machine = self._machine(self._fit_kernel(X), X, np.inf if grid is None else float(grid.max()))
            if grid is None:
                grid = self._open_grid(machine, X, Y, y)
            C = self._hold_out(machine.saddle, grid, X, Y, y, cv=self.cv) if self._holds_out else float(grid[0])
            system = machine.saddle.at(C)
            duals = system.solve(Y)
            check_solution(system, duals)
            if not self.damping:
                warn_if_near_singular(system)
        duals = machine.over_points(system, duals, Y)
        self.C_, self.solver_ = C, machine.choice
        self.kernel_, self.X_fit_, self.Z_fit_ = machine.kernel, machine.X, machine.Z
        self.left_duals_, self.right_duals_ = duals.a, duals.c
        self.source_intercept_, self.target_intercept_ = duals.b1, duals.b2

    def _machine(self, kernel: Kernel, X: Array, largest_C: float) -> KernelSaddle:
        """Build the saddle systems, from the full kernel matrix or from landmarks."""
        budget = budget_bytes(self.memory_budget)
        if (chosen := self._nystrom(kernel, X, budget)) is not None:
            method, choice = chosen
            return saddle_of_landmarks(kernel, X, choice, method=method, budget=budget, seed=seed_of(self.random_state))
        return saddle_of_samples(
            kernel,
            X,
            self._right(kernel, X),
            solver=self.solver,
            largest_C=largest_C,
            many=self._holds_out and not (self._is_open and X.shape[0] > MODERATE),
            damping=float(self.damping),
            tol=float(self.tol),
            budget=budget,
        )

    def _open_grid(self, machine: KernelSaddle, X: Array, Y: np.ndarray, y: np.ndarray) -> np.ndarray:
        """Grid for C="auto": multiples of 1 / (largest singular value of the centred matrix).

        If one decomposition serves all values, the grid is wide. If each value needs its own factorisation or
        iteration, it holds the best C of a subset of the samples and, for factorisations, two neighbours, as that C may
        be near a singular value of the full matrix. With damping, and for sparse matrices, of which a subset is not
        representative, it holds two values at which the system is positive definite.
        """
        A, name, n = machine.saddle.A, machine.choice.name, X.shape[0]
        unit, of_graph = unit_of_C(A), isinstance(A, Stored) and sparse.issparse(A.K)
        if self.damping or name == "sparse_lu" or (name == "minres" and of_graph):
            return FEW_C * unit
        if name == "nystrom" or (name in ("spectral", "symmetric") and n <= MODERATE):
            grid = MANY_C * unit
            return machine.saddle.clear_of_singular(grid) if isinstance(machine.saddle, Spectral) else grid
        some = part_of(y, seed_of(self.random_state), of_classes=is_classifier(self))
        part = Spectral.of_matrix(Stored(A.take(some, some)), np.inf)
        unit_of_part, iterated = unit_of_C(part.A), name == "minres"
        grid = part.clear_of_singular((MODERATE_C if iterated else MANY_C) * unit_of_part)
        best = self._hold_out(part, grid, X[some], Y[some], y[some], cv=None)
        return best / unit_of_part * unit * (np.ones(1) if iterated else NEIGHBOURS)

    def _hold_out(self, saddle: Saddle, grid: np.ndarray, X: Array, Y: np.ndarray, y: np.ndarray, *, cv: Any) -> float:
        """Select C by held-out predictions, store those of the best C, and return it.

        merge="stack" never uses leave-one-out: the mean of the remaining labels reveals the label left out, and a
        stacking model would learn only that.
        """
        if cv is None and self.merge != "stack" and saddle.leaves_one_out:
            folds, held_out = [], saddle.leave_one_out(grid, Y)
        else:
            folds = folds_of(cv, X, y, of_classes=is_classifier(self))
            held_out = saddle.leave_folds_out(grid, Y, folds)
        found = choose_C(grid, held_out, lambda source, target: self._judge(source, target, Y, y, folds))
        self.merger_, self.loo_predictions_ = found.best.merger, self._squeeze(found.best.merged)
        self.loo_score_, self.path_ = found.best.score, found.path
        return found.C

    def _judge(self, source: np.ndarray, target: np.ndarray, Y: np.ndarray, y: np.ndarray, folds: list[Fold]) -> Judged:
        """Merge held-out values of both functions, and compare them with the targets.

        With merge="stack", each fold is predicted by a stacking model trained on the other folds, unless these lack a
        class; then the model trained on all folds is used.
        """
        merger = self._fit_merger(source, target, y)
        merged = self._merge(source, target, merger)
        for kept, left_out in folds if self.merge == "stack" else ():
            if is_classifier(self) and len(np.unique(y[kept])) < len(np.unique(y)):
                continue
            apart = self._fit_merger(source[kept], target[kept], y[kept])
            merged[left_out] = self._merge(source[left_out], target[left_out], apart)
        return Judged(merger, merged, self._held_out_error(merged, Y, y), self._held_out_score(merged, y))

    @property
    def _holds_out(self) -> bool:
        """Whether ``fit`` computes held-out predictions."""
        return self.merge == "stack" or self._is_open or np.ndim(self.C) > 0

    @property
    def _is_open(self) -> bool:
        return isinstance(self.C, str)

    @abstractmethod
    def _fit_merger(self, source: np.ndarray, target: np.ndarray, y: np.ndarray) -> Any:
        """Fit the stacking model or the calibration slope on held-out values of both functions; None if not needed."""

    @abstractmethod
    def _held_out_score(self, merged: np.ndarray, y: np.ndarray) -> float:
        """Score of the held-out predictions, by the metric of ``score``."""

    def _held_out_error(self, merged: np.ndarray, Y: np.ndarray, y: np.ndarray) -> float:
        """Mean squared error over samples and classes."""
        return float(np.square(merged - Y).mean())

    @abstractmethod
    def _merged_by(self, merger: Any, features: np.ndarray) -> np.ndarray:
        """Output of the stacking model on the values of both functions side by side, shape (n, k)."""

    def _merge(self, source: Array, target: Array, merger: Any) -> np.ndarray:
        """Merge the values of both functions into one (n, k) array; an array that ``merge`` ignores may be None."""
        if self.merge == "stack":
            return self._merged_by(merger, np.hstack([source, target]))
        return {"source": source, "target": target}[self.merge] if self.merge != "mean" else (source + target) / 2

    def _decide(self, X: Array, Z: Array) -> np.ndarray:
        """Values of the merged functions at new samples, shape (n, k)."""
        X, Z = self._checked(X), self._checked_right(Z)
        if Z is not None and X.shape[0] != Z.shape[0]:
            raise ValueError(f"X holds {X.shape[0]} new samples and Z {Z.shape[0]}; they must be the same ones")
        source = self._values(X, of_right=False) if self.merge != "target" else None
        target = self._values(X if Z is None else Z, of_right=True) if self.merge != "source" else None
        return self._merge(source, target, getattr(self, "merger_", None))

    def _checked(self, X: Array) -> Array:
        check_is_fitted(self)
        return canonical(validate_data(self, reject_masked(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))

    def _checked_right(self, Z: Array) -> Array:
        """Validate the second block of a precomputed kernel; None for other kernels, and if it is not needed."""
        if not isinstance(self.kernel_, Precomputed):
            if Z is not None:
                raise ValueError("Z is for kernel='precomputed'; other kernels find both blocks from X")
            return None
        wanted = f"k(training, new) transposed, shape (n_new, {self.n_features_in_})"
        if Z is None:
            if self.merge == "source" or self._of_symmetric:
                return None
            raise ValueError(
                f"merge={self.merge!r} needs {wanted}, as Z, beside X = k(new, training); or take merge='source'"
            )
        Z = check_points(Z, "Z")
        if Z.shape[1] != self.n_features_in_:
            raise ValueError(f"Z has shape {Z.shape}, but it is {wanted}")
        return Z

    def _values(self, X: Array, *, of_right: bool) -> np.ndarray:
        """Values of the source function, or of the target function if ``of_right``, without storing kernel blocks."""
        weights, offset = (
            (self.left_duals_, self.target_intercept_) if of_right else (self.right_duals_, self.source_intercept_)
        )
        with jobs(self.n_jobs):
            left, right = (self.X_fit_, X) if of_right else (X, self.Z_fit_)
            values = out_of_sample_operator(self.kernel_, left, right, of_right=of_right) @ weights
        check_finite(values)
        return values + offset

    def _fit_kernel(self, X: Array) -> Kernel:
        kernel = as_kernel(self.kernel)
        if isinstance(kernel, Precomputed):
            if X.shape[0] != X.shape[1]:
                raise ValueError(
                    "kernel='precomputed' takes a square matrix at fit, k(training, training), but X has shape "
                    f"{X.shape}"
                )
            self._of_symmetric = bool(abs(X - X.T).max() <= ROUNDING * np.finfo(X.dtype).eps * abs(X).max())
        return kernel.fit(X, self._right(kernel, X))

    def _nystrom(self, kernel: Kernel, X: Array, budget: int) -> tuple[Nystrom, Choice] | None:
        """The Nystrom method if requested or if the matrix is dense and large; None for the full matrix."""
        if self.damping and isinstance(self.solver, str) and self.solver == "auto":
            return None
        chosen = select_nystrom(self.solver, kernel, X, X, 1, budget=budget)
        if chosen is None:
            return None
        method, _ = chosen
        if self.damping or isinstance(kernel, Precomputed):
            raise ValueError(
                f"solver='nystrom' takes points and no damping; with kernel='precomputed' or damping={self.damping} "
                "use solver='dense' or 'minres'"
            )
        if not isinstance(method.landmarks, str) or method.extension == "plain":
            raise ValueError(f"solver={method!r}: an LS-SVM needs a named strategy and extension='orthonormal'")
        return chosen

    def _right(self, kernel: Kernel, X: Array) -> Array:
        """Right points: the training samples, or their column indices for a precomputed kernel."""
        return np.arange(self.n_features_in_, dtype=float)[:, None] if isinstance(kernel, Precomputed) else X

    def _squeeze(self, values: np.ndarray) -> np.ndarray:
        """Reshape values (n, k) to the shape of the targets."""
        return values[:, 0] if self._flat else values

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = takes_values(self.kernel)
        return tags
