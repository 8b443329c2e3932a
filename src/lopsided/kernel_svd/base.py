"""Methods of a fitted kernel SVD: out-of-sample embeddings, reconstruction and diagnostics."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    as_configured,
    as_indexable,
    budget_bytes,
    canonical,
    check_finite,
    check_names,
    check_out,
    check_points,
    column_names,
    jobs,
    slices_of,
)
from ..kernels import Kernel, Precomputed
from ..nystrom import Landmarks
from ..operators import as_operator, out_of_sample_operator
from ..svd import Diagnostics, Factors, Side, Weights, diagnose, powers
from .compatibility.maps import Compatibility
from .inputs import both_sides
from .solve import centred

SLAB_ROWS = 1 << 18  # rows embedded at once into ``out``, so that a memory map is written piecewise


class BaseKernelSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    """Base class of :class:`KernelSVD`: everything that needs only the factors stored by ``fit``."""

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
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Decompose the kernel matrix and store the attributes above."""

    def transform(self, X: ArrayLike, *, out: np.ndarray | None = None) -> np.ndarray:
        """Embed left points by k(x, Z) V s^(scaling - 1), or by the map from the landmarks, in blocks.

        For kernel="precomputed", a row of X holds the kernel values of a new left point and the m right points. The
        result is written to ``out`` if given, for example a memory map.
        """
        check_is_fitted(self)
        X = canonical(validate_data(self, as_indexable(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        return self._embed(X, out, of_right=False)

    def transform_right(self, Z: ArrayLike, *, out: np.ndarray | None = None) -> Any:
        """Embed right points by k(X, z)^T U s^(scaling - 1), or by the map from the landmarks, in blocks.

        A right point has the width of the Z of ``fit``; if ``fit`` had no Z, it is a column of the matrix, with n
        entries, passed as a row. For kernel="precomputed", a row holds the kernel values of the n left points and a new
        right point. Kernels normalised over the right set (such as SNE) sum over it again, which costs as much as
        fitting the kernel. ``set_output`` frames the result as that of ``transform``.
        """
        check_is_fitted(self)
        check_names(column_names(Z), self._right_names, "the Z of fit")
        given, Z = Z, check_points(as_indexable(Z, "Z"), "Z")
        if Z.shape[1] != self.n_features_right_:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but right points have {self.n_features_right_} entries each; new columns "
                "of a matrix are passed as rows"
            )
        return as_configured(self, self._embed(Z, out, of_right=True), given)

    def reconstruct(self) -> np.ndarray:
        """Dense (n, m) rank-k approximation of K; the means removed by ``center`` are added back."""
        check_is_fitted(self)
        K = self._factors().matrix()
        if self.means_ is not None:
            rows, columns, grand = self.means_
            K += rows[:, None] + columns - grand
        return K

    @property
    def errors_left_(self) -> np.ndarray:
        """Error variables e_i of the 2016 paper's primal problem: left projections U s, shape (n, k)."""
        check_is_fitted(self)
        return self.left_vectors_ * self.singular_values_

    @property
    def errors_right_(self) -> np.ndarray:
        """Error variables r_j of the 2016 paper's primal problem: right projections V s, shape (m, k)."""
        check_is_fitted(self)
        return self.right_vectors_ * self.singular_values_

    def diagnostics(self, X: ArrayLike = None, *, Z: ArrayLike = None) -> Diagnostics:
        """Residuals of the equations in the papers: stationarity, objective, coupled covariances.

        The result prints as a table; :func:`lopsided.plotting.plot_diagnostics` plots it. Cost: four products of the
        kernel matrix with k columns.

        Parameters
        ----------
        X, Z : as in ``fit``, default=None
            The data of ``fit``. Required for kernel="precomputed" and with landmarks, where the model does not store
            all points; a landmark approximation is then compared with the full kernel matrix.
        """
        check_is_fitted(self)
        if X is not None:
            X = canonical(validate_data(self, as_indexable(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        X, Z = self._points_of_fit(X, Z)
        with jobs(self.n_jobs):
            A = as_operator(self.kernel_, X, Z, budget=budget_bytes(self.memory_budget))
            return diagnose(centred(A, self.center, self.weights_), self._factors(), self.weights_)

    def _points_of_fit(self, X: Array, Z: Array) -> tuple[Array, Array]:
        """Mapped left and right points of ``fit``: the stored points, or X and Z passed again."""
        if X is None:
            if Z is not None:
                raise ValueError("diagnostics(Z=Z) leaves out X; pass both as in fit, or neither")
            if self.landmarks_ is not None or isinstance(self.kernel_, Precomputed):
                raise ValueError(
                    "with landmarks or kernel='precomputed' the model does not keep the data of fit; pass them: "
                    "diagnostics(X) or diagnostics(X, Z=Z)"
                )
            return self.X_fit_, self.Z_fit_
        X, Z = both_sides(self.kernel_, X, Z)
        of_fit = (len(self.left_vectors_), self.n_features_in_), (len(self.right_vectors_), self.n_features_right_)
        width = self.n_features_right_ if isinstance(self.kernel_, Precomputed) else Z.shape[1]
        if (X.shape, (Z.shape[0], width)) != of_fit:
            raise ValueError(
                f"diagnostics takes the left and right points of fit, of shapes {of_fit[0]} and {of_fit[1]}, not "
                f"{X.shape} and {Z.shape}; pass X and Z as in fit"
            )
        return self.compatibility_.left(X), self.compatibility_.right(Z)

    def _factors(self) -> Factors:
        return Factors(self.left_vectors_, self.singular_values_, self.right_vectors_)

    def _embed(self, points: Array, out: np.ndarray | None, *, of_right: bool) -> np.ndarray:
        """Embed points of one side, all at once or, if ``out`` is given, in slabs of rows written to it."""
        if out is None:
            return self._embedded(points, of_right)
        check_out(out, (points.shape[0], self.n_components_), self.left_vectors_.dtype)
        for rows in slices_of(points.shape[0], SLAB_ROWS):
            out[rows] = self._embedded(points[rows], of_right)
        return out

    def _embedded(self, points: Array, of_right: bool) -> np.ndarray:
        """Compute (k(points, points of fit) map - offset) s^scaling in blocks, without storing the kernel matrix."""
        side = self._right if of_right else self._left
        scores = kernel_times(self, points, side.map, of_right=of_right)
        check_finite(scores)
        return (scores - side.offset) * self._powers(self.scaling)

    def _powers(self, exponent: float) -> np.ndarray:
        """s^exponent, with zero for singular values that are zero to rounding."""
        return powers(self.singular_values_, exponent, max(self.X_fit_.shape[0], self.Z_fit_.shape[0]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def kernel_times(model: BaseKernelSVD, points: Array, weights: np.ndarray, *, of_right: bool = False) -> np.ndarray:
    """Compute k(points, Z) W for left points or k(X, points)^T W for right points, without storing the kernel matrix.

    X and Z are the points, or the landmarks, of the fitted model, and W are the ``weights``.
    """
    with jobs(model.n_jobs):
        maps = model.compatibility_
        points = points.astype(np.result_type(points.dtype, model.left_vectors_.dtype), copy=False)
        X, Z = (model.X_fit_, maps.right(points)) if of_right else (maps.left(points), model.Z_fit_)
        A = out_of_sample_operator(model.kernel_, X, Z, of_right=of_right)
        return np.asarray(A @ weights.astype(A.dtype, copy=False))
