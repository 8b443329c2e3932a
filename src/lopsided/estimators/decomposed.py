"""A decomposed kernel matrix in use: embeddings of new points, the approximation, its diagnosis."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parallel import jobs, slices_of
from .._rows import check_out, gathered
from ..kernels import Kernel, Precomputed
from ..kernels.points import FLOATS, Array, canonical, check_points
from ..linalg import Compatibility, Diagnostics, Factors, Landmarks, Weights, check_finite, diagnose, powers
from ..linalg.factors import Side
from ..operators import Centered, KernelOperator, as_operator, budget_bytes, operator_of_new
from .placing import check_names, column_names, place

SLAB_ROWS = 1 << 18


class DecomposedKernel(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """What a fitted :class:`KernelSVD` does with the factors that ``fit`` stored in it."""

    center: bool
    scaling: float
    n_jobs: int | None
    memory_budget: float | str | None

    left_vectors_: np.ndarray
    singular_values_: np.ndarray
    right_vectors_: np.ndarray
    kernel_: Kernel
    compatibility_: Compatibility
    X_fit_: Array
    Z_fit_: Array
    means_: tuple[Any, Any, Any] | None
    weights_: Weights | None
    landmarks_: tuple[Landmarks, Landmarks] | None
    n_components_: int
    n_features_in_: int
    n_features_right_: int
    _right_names: np.ndarray | None
    _left: Side
    _right: Side

    @abstractmethod
    def fit(self, X: Array, y: Any = None) -> Self:
        """Decompose, and store the attributes above."""

    def transform(self, X: Array, *, out: np.ndarray | None = None) -> np.ndarray:
        """Embed left points: k(x, Z) V s^(scaling - 1), or the map from the landmarks, in blocks.

        For kernel="precomputed" a row of X holds the values of a new left point against the m right points. The result
        may be written to an array, such as a memory map.
        """
        check_is_fitted(self)
        X = canonical(validate_data(self, gathered(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        return self._embed(X, out, of_right=False)

    def transform_right(self, Z: Array, *, out: np.ndarray | None = None) -> np.ndarray:
        """Embed right points: k(X, z)^T U s^(scaling - 1), or the map from the landmarks, in blocks.

        A right point has the width of Z in ``fit``; without Z it is a column of the matrix, with n entries. For
        kernel="precomputed" a row holds the values of a new right point against the n left points. Kernels normalised
        over the right set (SNE, StudentT) sum over it again, which costs as much as fitting them did.
        """
        check_is_fitted(self)
        check_names(column_names(Z), self._right_names, "the Z of fit")
        Z = check_points(gathered(Z, "Z"), "Z")
        if Z.shape[1] != self.n_features_right_:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but right points have {self.n_features_right_} entries each; new columns "
                "of a matrix are passed as rows"
            )
        return self._embed(Z, out, of_right=True)

    def reconstruct(self) -> np.ndarray:
        """The dense (n, m) approximation of K of rank k; what ``center`` removed is added back."""
        check_is_fitted(self)
        K = self._factors().matrix()
        if self.means_ is not None:
            rows, columns, grand = self.means_
            K += rows[:, None] + columns - grand
        return K

    @property
    def errors_left_(self) -> np.ndarray:
        """e_i of the 2016 paper's primal problem, (n, k): the left points along each direction, U s."""
        check_is_fitted(self)
        return self.left_vectors_ * self.singular_values_

    @property
    def errors_right_(self) -> np.ndarray:
        """r_j of the 2016 paper's primal problem, (m, k): the right points along each direction, V s."""
        check_is_fitted(self)
        return self.right_vectors_ * self.singular_values_

    def diagnostics(self, X: Array = None, *, Z: Array = None) -> Diagnostics:
        """How well the factors meet the equations of the papers: stationarity, objective, coupled covariances.

        Printed, the result is a table; :func:`lopsided.plotting.plot_diagnostics` draws it. Cost: four products with
        the kernel matrix and k columns.

        Parameters
        ----------
        X, Z : as in ``fit``, default=None
            The data of ``fit``. May be left out where the model keeps all points: not with kernel="precomputed", nor
            with landmarks, whose approximation is then held against the kernel matrix itself.
        """
        check_is_fitted(self)
        if X is not None:
            X = canonical(validate_data(self, gathered(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        X, Z = self._points_of_fit(X, Z)
        with jobs(self.n_jobs):
            A = as_operator(self.kernel_, X, Z, budget=budget_bytes(self.memory_budget))
            return diagnose(self._centred(A), self._factors(), self.weights_)

    def _points_of_fit(self, X: Array, Z: Array) -> tuple[Array, Array]:
        """The points that were decomposed, mapped: those it keeps, or its data given again."""
        if X is None:
            if Z is not None:
                raise ValueError("diagnostics(Z=Z) leaves out X; pass both as in fit, or neither")
            if self.landmarks_ is not None or isinstance(self.kernel_, Precomputed):
                raise ValueError(
                    "with landmarks or kernel='precomputed' the model does not keep the data of fit; pass them: "
                    "diagnostics(X) or diagnostics(X, Z=Z)"
                )
            return self.X_fit_, self.Z_fit_
        X, Z = place(self.kernel_, X, Z)
        of_fit = (len(self.left_vectors_), self.n_features_in_), (len(self.right_vectors_), self.n_features_right_)
        width = self.n_features_right_ if isinstance(self.kernel_, Precomputed) else Z.shape[1]
        if (X.shape, (Z.shape[0], width)) != of_fit:
            raise ValueError(
                f"diagnostics takes the left and right points of fit, of shapes {of_fit[0]} and {of_fit[1]}, not "
                f"{X.shape} and {Z.shape}; pass X and Z as in fit"
            )
        return self.compatibility_.left(X), self.compatibility_.right(Z)

    def _centred(self, A: KernelOperator) -> KernelOperator:
        """A, or A without its weighted means."""
        weights = self.weights_
        if not self.center:
            return A
        return Centered(A) if weights is None else Centered(A, weights.left, weights.right)

    def _factors(self) -> Factors:
        return Factors(self.left_vectors_, self.singular_values_, self.right_vectors_)

    def _embed(self, points: Array, out: np.ndarray | None, *, of_right: bool) -> np.ndarray:
        """Map points of one side, at once or, into a given array, slab by slab."""
        if out is None:
            return self._embedded(points, of_right)
        check_out(out, (points.shape[0], self.n_components_), self.left_vectors_.dtype)
        for rows in slices_of(points.shape[0], SLAB_ROWS):
            out[rows] = self._embedded(points[rows], of_right)
        return out

    def _embedded(self, points: Array, of_right: bool) -> np.ndarray:
        """(k(points, those at fit) map - offset) s^scaling in blocks; nothing is kept."""
        side = self._right if of_right else self._left
        scores = times_kernel(self, points, side.map, of_right=of_right)
        check_finite(scores)
        return (scores - side.offset) * self._powers(self.scaling)

    def _powers(self, exponent: float) -> np.ndarray:
        """s^exponent, and zero for triplets that are null to rounding."""
        return powers(self.singular_values_, exponent, max(self.X_fit_.shape[0], self.Z_fit_.shape[0]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def times_kernel(model: DecomposedKernel, points: Array, weights: np.ndarray, *, of_right: bool = False) -> np.ndarray:
    """k(points, Z) W for left points and k(X, points)^T W for right ones, in blocks; nothing is kept.

    X and Z are the points, or the landmarks, that the model compares new ones with.
    """
    with jobs(model.n_jobs):
        maps = model.compatibility_
        points = points.astype(np.result_type(points.dtype, model.left_vectors_.dtype), copy=False)
        X, Z = (model.X_fit_, maps.right(points)) if of_right else (maps.left(points), model.Z_fit_)
        A = operator_of_new(model.kernel_, X, Z, of_right=of_right)
        return np.asarray(A @ weights.astype(A.dtype, copy=False))
