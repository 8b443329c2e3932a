"""The two functions of a fitted LS-SVM at new samples, and what they are merged to."""

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    by_blocks,
    canonical,
    check_finite,
    check_points,
    gate,
    jobs,
    reject_masked,
)
from ..kernels import Kernel, Precomputed
from ..operators import out_of_sample_operator
from .merging import Merging


class TwoFunctions(ABC):
    """Mixin of the machines that evaluates f_s(x) = k(x, X) c + b1 and f_t(x) = k(X, x)'a + b2, in blocks."""

    kernel_: Kernel
    X_fit_: Array
    Z_fit_: Array
    left_duals_: np.ndarray  # a
    right_duals_: np.ndarray  # c
    source_intercept_: np.ndarray  # b1
    target_intercept_: np.ndarray  # b2
    merge_: str
    n_features_in_: int
    n_jobs: int | None
    memory_budget: float | str | None
    random_state: Any
    _flat: bool  # whether predictions have shape (n,) rather than (n, k)
    _of_symmetric: bool  # whether a precomputed kernel matrix was symmetric

    @by_blocks
    @gate
    def source_decision_function(self, X: ArrayLike) -> np.ndarray:
        """Source function f_s(x) = k(x, X) c + b1, (n,) or (n, k); if precomputed, rows of X hold k(x, x_i)."""
        return self._squeeze(self._values(self._check_new(X), of_right=False))

    @by_blocks
    @gate
    def target_decision_function(self, X: ArrayLike) -> np.ndarray:
        """Target function f_t(x) = k(X, x)'a + b2, (n,) or (n, k); if precomputed, rows of X hold k(x_i, x)."""
        return self._squeeze(self._values(self._check_new(X), of_right=True))

    @property
    @abstractmethod
    def _merging(self) -> Merging:
        """How the values of both functions become one."""

    def _decide(self, X: Array, Z: Array) -> np.ndarray:
        """Values of the merged functions at new samples, shape (n, k)."""
        X, Z = self._check_new(X), self._check_new_right(Z)
        if Z is not None and X.shape[0] != Z.shape[0]:
            raise ValueError(f"X holds {X.shape[0]} new samples and Z {Z.shape[0]}; they must be the same samples")
        return self._merged(X, X if Z is None else Z)

    def _merged(self, X: Array, right: Array) -> np.ndarray:
        """Merged values at samples X as sources and ``right`` as targets."""
        source = self._values(X, of_right=False) if self.merge_ != "target" else None
        target = self._values(right, of_right=True) if self.merge_ != "source" else None
        return self._merging.merge(source, target, getattr(self, "merger_", None))

    def _check_new(self, X: Array) -> Array:
        check_is_fitted(self)
        return canonical(validate_data(self, reject_masked(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))

    def _check_new_right(self, Z: Array) -> Array:
        """Validate the second block of a precomputed kernel; None for other kernels, and if it is not needed."""
        if not isinstance(self.kernel_, Precomputed):
            if Z is not None:
                raise ValueError("Z is for kernel='precomputed'; other kernels compute both blocks from X")
            return None
        wanted = f"k(training, new) transposed, shape (n_new, {self.n_features_in_})"
        if Z is None:
            if self.merge_ == "source" or self._of_symmetric:
                return None
            raise ValueError(
                f"merge={self.merge_!r} needs {wanted}, as Z, beside X = k(new, training); or use merge='source'"
            )
        Z = check_points(Z, "Z")
        if Z.shape[1] != self.n_features_in_:
            raise ValueError(f"Z has shape {Z.shape}, but it must be {wanted}")
        return Z

    def _values(self, X: Array, *, of_right: bool) -> np.ndarray:
        """Values of the source function, or of the target function if ``of_right``, without storing kernel blocks."""
        if of_right:
            left, right, weights, offset = self.X_fit_, X, self.left_duals_, self.target_intercept_
        else:
            left, right, weights, offset = X, self.Z_fit_, self.right_duals_, self.source_intercept_
        with jobs(self.n_jobs, self.memory_budget):
            values = out_of_sample_operator(self.kernel_, left, right, of_right=of_right) @ weights
        check_finite(values)
        return values + offset

    @property
    def _example(self) -> Array:
        return self.X_fit_[:1]

    def _portable(self) -> Self:
        """The model as it travels to blocks of samples, without what it has learned of every sample of ``fit``."""
        twin = copy(self)
        for name in ("held_out_predictions_", "_held_out_errors", "_held_out_weights"):
            twin.__dict__.pop(name, None)
        twin.n_jobs, twin.random_state = 1, None
        return twin

    def _squeeze(self, values: np.ndarray) -> np.ndarray:
        """Reshape values (n, k) to the shape of the targets."""
        return values[:, 0] if self._flat else values
