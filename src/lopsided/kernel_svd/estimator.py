"""Kernel SVD: embeddings of left and right points from one asymmetric kernel."""

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted

from .._core import (
    Array,
    ArrayLike,
    Estimator,
    as_configured,
    atomic_fit,
    budget_bytes,
    check_finite,
    check_names,
    check_right,
    check_samples,
    column_names,
    gate,
    jobs,
    native,
    seed_of,
)
from ..kernels import Kernel, Precomputed, as_kernel
from ..nystrom import Nystrom
from ..operators import KernelOperator, as_operator
from ..svd import SOLVERS, Diagnostics, Factors, diagnose, powers
from .compatibility.build import PROJECTIONS
from .embed import Embedding
from .inputs import Inputs, Settings, check_ignored, prepare, same_points_as_in_fit
from .pairs import ScoresPairs
from .solve import Solution, centred, solve


class KernelSVD(ScoresPairs, ClassNamePrefixFeaturesOutMixin, TransformerMixin, Estimator):
    """Singular value decomposition of an asymmetric kernel matrix.

    K = [k(x_i, z_j)] is the matrix of kernel values between left points x and right points z, which need not be of the
    same kind. Its SVD K = U diag(s) V^T embeds both left and right points. Without Z, the left points are the rows and
    the right points the columns of one matrix X, and the result is a nonlinear SVD of X. This method is unrelated to
    the K-SVD of dictionary learning.

    Parameters
    ----------
    n_components : int or float, default=2
        Number of singular triplets. A float between 0 and 1 keeps as many as account for that fraction of |K|_F^2, and
        evaluates every entry of K once, O(n m), also for sparse data.
    kernel : str, Kernel or callable, default="rbf"
        A kernel of :mod:`lopsided.kernels`, its name, a vectorised f(X, Z), or "precomputed": X is then K itself. To
        search over ``kernel__bandwidth``, pass an object such as RBF().
    compatibility : {"auto", "identity", "pca", "random", "pinv"}, array or tuple of two arrays, default="auto"
        How left and right vectors of different widths p and q are mapped to one width: "identity" (no map), "pca",
        "random" and "pinv" (a1, a2 and a0 in the papers), a matrix that maps one side, or a tuple C1 (p, width),
        C2 (width, q) for k(C1^T x, C2 z), for example from :func:`~lopsided.kernel_svd.split_condition`. "auto" is
        "identity" for equal widths, and "pca" for the rows and columns of a non-square matrix: the polar factor, which
        costs a thin SVD, for sparse data a Gram matrix of the smaller side, or above 2,500 their 256 leading axes.
        Any other name maps the right side if widths are equal.
    center : bool, default=False
        Whether to centre both feature maps, that is the rows and the columns of K.
    scaling : float, default=1.0
        ``transform`` returns U s^scaling: 1 gives scores, 0 singular vectors, 0.5 splits s evenly between both sides.
    solver : {"auto", "lapack", "krylov", "nystrom"} or Nystrom, default="auto"
        A :class:`~lopsided.Nystrom` object, such as Nystrom(1000), approximates K from landmarks, and "nystrom" is
        short for Nystrom(); the others are exact. "auto" decides by shape, sparsity and memory budget, and uses
        Nystrom() for large dense matrices; see ``solver_``.
    tol : float, default=0.0
        Acceptable relative eta (:func:`lopsided.svd.relative_eta`), the 2024 paper's error of the singular vectors over
        the largest singular value. "krylov" stops when its estimate is below it, and with 0 at machine precision;
        Nystrom() doubles the number of landmarks until it is, and with 0 keeps their number. "lapack" ignores it.
    random_state : int, RandomState instance or None, default=None
        Seed of compatibility="random", landmarks and start vectors; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads for kernel blocks and sparse products; None means one per core, as for BLAS.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix, in bytes or as a string such as "2GB"; a larger matrix is evaluated in blocks that
        are not stored. None means a quarter of the free memory.
    verbose : int, default=0
        1 reports on standard error how much work a fit is, and then its progress.

    Attributes
    ----------
    left_vectors_, right_vectors_ : arrays of shapes (n, k) and (m, k)
        Left and right singular vectors U and V, with orthonormal columns; lazy dask arrays for points in dask.
    singular_values_ : array of shape (k,)
        Singular values s of K (of the centred K with ``center``), descending. The papers' factors such as 1 / sqrt(n m)
        are not applied.
    kernel_, compatibility_ : Kernel and Compatibility
        The fitted kernel, and the fitted maps of both sides.
    X_fit_, Z_fit_ : arrays or sparse matrices
        The points with which new points are compared, after ``compatibility_``: the landmarks, or all points (not
        copied if the map leaves them unchanged). For kernel="precomputed", their indices.
    means_ : tuple or None
        Row means, column means and grand mean of K, with ``center``.
    weights_ : Weights or None
        Weights of the ``left`` and ``right`` points, if given. Then U^T diag(left) U = I = V^T diag(right) V.
    landmarks_ : tuple of Landmarks or None
        Left and right landmarks: ``points``, ``weights`` and, if they are rows of the data, ``indices``.
    relative_eta_, path_ : float or None, and tuple of Attempt
        With landmarks and ``tol``: the error that ``tol`` bounds, estimated from held-out rows and columns, and the
        numbers of landmarks that were used in turn, with the relative eta of each.
    solver_ : Choice
        Name of the solver and the reason for it.
    n_components_, n_features_in_, n_features_right_, feature_names_in_ : int, int, int and array
        Number of components k, the widths of the left and the right points, and the column names of X, if it has any.

    See Also
    --------
    sklearn.decomposition.KernelPCA : The symmetric case, X = Z and a Mercer kernel.
    sklearn.decomposition.TruncatedSVD : The linear case: kernel="linear" and compatibility="pinv".

    Notes
    -----
    Signs are fixed such that the left entry of largest magnitude is positive. For sparse data and kernels of |x|^2,
    |z|^2 and x.z, the matrix is sparse plus low rank and is never formed: the cost is that of X Z^T.

    References
    ----------
    Tao, Tonin, Lambert, Chen, Patrinos, Suykens, "Learning in feature spaces via coupled covariances", ICML 2024.
    Suykens, "SVD revisited", Applied and Computational Harmonic Analysis 40, 2016.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> A = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0]], dtype=float)
    >>> model = KernelSVD(n_components=2, kernel="sne").fit(A)
    >>> model.transform(A).shape, model.transform_right(A.T).shape
    ((4, 2), (4, 2))
    """

    _parameter_constraints: dict[str, Any] = {
        "n_components": [Interval(Integral, 1, None, closed="left"), Interval(Real, 0, 1, closed="neither")],
        "kernel": [str, Kernel, callable],
        "compatibility": [StrOptions({"auto", "identity", *PROJECTIONS}), "array-like", "sparse matrix", tuple],
        "center": ["boolean"],
        "scaling": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"auto", "nystrom", *SOLVERS}), Nystrom],
        "tol": [Interval(Real, 0, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
        "verbose": ["verbose"],
    }

    def __init__(
        self,
        n_components: int | float = 2,
        *,
        kernel: Any = "rbf",
        compatibility: Any = "auto",
        center: bool = False,
        scaling: float = 1.0,
        solver: Any = "auto",
        tol: float = 0.0,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_components, self.kernel, self.compatibility, self.center = n_components, kernel, compatibility, center
        self.scaling, self.solver, self.tol = scaling, solver, tol
        self.random_state, self.n_jobs, self.memory_budget, self.verbose = random_state, n_jobs, memory_budget, verbose

    @atomic_fit
    def fit(
        self, X: ArrayLike, y: Any = None, *, Z: ArrayLike = None, left_weights: Any = None, right_weights: Any = None
    ) -> Self:
        """Decompose the kernel matrix between the rows of X and the rows of Z.

        Parameters
        ----------
        X : array, sparse matrix, sliceable object of shape (n, width), iterator of row blocks, or dask collection
            Left points, or the kernel matrix itself. A memory map is read in place; row blocks, and objects with row
            slices such as h5py and zarr arrays, are copied once to a temporary file. Of a dask array or dataframe only
            landmarks are held: it takes landmarks and a Z (:mod:`lopsided.distributed`).
        y : ignored
            Present for API consistency with scikit-learn; pass right points as ``Z``.
        Z : like X, of shape (m, width of the right), default=None
            Right points; None means the columns of X. If they are equal to X, both sides have the same landmarks.
        left_weights, right_weights : arrays of shapes (n,) and (m,), default=None
            Weights of the points in the covariances and means; kernel and compatibility ignore them. Weight two has the
            same effect as a row or column of K that occurs twice; a point of weight zero is embedded out-of-sample.
            Weights need an exact solver. GridSearchCV slices them, and Z, with the folds if they are as long as X.
        """
        self._validate_params()
        if isinstance(self.solver, Nystrom):
            self.solver._validate_params()
        weighted = left_weights is not None or right_weights is not None
        if weighted and (isinstance(self.solver, Nystrom) or self.solver == "nystrom"):
            raise ValueError(
                "the Nystrom solver does not support weights of points; use an exact solver, or repeat points"
            )
        kernel, budget, seed = as_kernel(self.kernel), budget_bytes(self.memory_budget), seed_of(self.random_state)
        settings = Settings(self.n_components, self.solver, self.center, self.tol, budget, seed)
        is_one_object, right_names = Z is X, column_names(Z)
        X = check_samples(self, X, reset=True)
        check_ignored(y, X)
        if kernel.same_width:
            check_names(right_names, getattr(self, "feature_names_in_", None), "X")
        Z = X if is_one_object else Z  # an iterator of rows could not be read twice
        with jobs(self.n_jobs, self.memory_budget):
            inputs = prepare(kernel, X, Z, (left_weights, right_weights), self.compatibility, settings)
            solution = solve(inputs, settings)
        self._store(inputs, solution, right_names)
        return self

    def fit_transform(
        self, X: ArrayLike, y: Any = None, *, Z: ArrayLike = None, left_weights: Any = None, right_weights: Any = None
    ) -> np.ndarray:
        """Fit, and return the left embedding U s^scaling of the training rows."""
        self.fit(X, y, Z=Z, left_weights=left_weights, right_weights=right_weights)
        return self.left_vectors_ * self._powers(self.scaling)

    @gate
    def transform(self, X: ArrayLike, *, out: Any = None) -> Any:
        """Embed left points by k(x, Z) V s^(scaling - 1), or by the map from the landmarks, in blocks.

        For kernel="precomputed", a row of X holds the kernel values of a new left point and the m right points. The
        result is written to ``out`` if given, for example a memory map. Of a dask collection it is a lazy dask array,
        or with the name of a folder as ``out`` it is computed there block by block; the same call continues what was
        interrupted (:mod:`lopsided.distributed`).
        """
        check_is_fitted(self)
        return self._embed(check_samples(self, X, reset=False), out, of_right=False)

    @gate
    def transform_right(self, Z: ArrayLike, *, out: Any = None) -> Any:
        """Embed right points by k(X, z)^T U s^(scaling - 1), or by the map from the landmarks, in blocks.

        A right point has the width of the Z of ``fit``; if ``fit`` had no Z, it is a column of the matrix, with n
        entries, passed as a row. For kernel="precomputed", a row holds the kernel values of the n left points and a new
        right point. Kernels normalised over the right set (such as SNE) sum over it again, which costs as much as
        fitting the kernel. ``set_output`` frames the result as that of ``transform``.
        """
        check_is_fitted(self)
        points = check_right(Z, self.n_features_right_, self._right_names)
        return as_configured(self, self._embed(points, out, of_right=True), Z)

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

    @gate
    def diagnostics(self, X: ArrayLike = None, *, Z: ArrayLike = None) -> Diagnostics:
        """Residuals of the equations in the papers: stationarity, objective, coupled covariances.

        X and Z are the data of ``fit``, required for kernel="precomputed" and with landmarks, where the model does not
        store all points; a landmark approximation is then compared with the full kernel matrix. The result prints as a
        table, and :func:`lopsided.plotting.plot_diagnostics` plots it. Cost: four products of K with k columns.
        """
        with jobs(self.n_jobs, self.memory_budget):
            A = self._kernel_operator(X, Z=Z)
            factors = Factors(self.left_vectors_, self.singular_values_, self.right_vectors_)
            return diagnose(A, factors, self.weights_)

    def _kernel_operator(self, X: ArrayLike = None, *, Z: ArrayLike = None) -> KernelOperator:
        """The kernel matrix that was decomposed, centred with ``center``; X and Z as in ``diagnostics``."""
        check_is_fitted(self)
        if X is not None:
            of_fit = (len(self.left_vectors_), self.n_features_in_), (len(self.right_vectors_), self.n_features_right_)
            X, Z = same_points_as_in_fit(self.kernel_, check_samples(self, X, reset=False), Z, of_fit)
            X, Z = self.compatibility_.left(X), self.compatibility_.right(Z)
        elif Z is not None:
            raise ValueError("diagnostics(Z=Z) leaves out X; pass both as in fit, or neither")
        elif self.landmarks_ is not None or isinstance(self.kernel_, Precomputed):
            raise ValueError(
                "with landmarks or kernel='precomputed' the model does not keep the data of fit; pass them: "
                "diagnostics(X) or diagnostics(X, Z=Z)"
            )
        else:
            X, Z = self.X_fit_, self.Z_fit_
        A = as_operator(self.kernel_, X, Z, budget=budget_bytes(self.memory_budget))
        return centred(A, self.center, self.weights_)

    def _store(self, inputs: Inputs, solution: Solution, right_names: np.ndarray | None) -> None:
        factors = solution.factors
        check_finite(factors.s)  # single precision may be too narrow for them
        self.left_vectors_, self.singular_values_, self.right_vectors_ = native(factors.U), factors.s, native(factors.V)
        self.n_components_ = self._n_features_out = len(factors.s)
        self.kernel_, self.compatibility_ = solution.kernel, inputs.compatibility
        self.X_fit_, self.Z_fit_, self.weights_ = solution.X, solution.Z, inputs.weights
        self.n_features_right_, self._right_names = inputs.widths[1], right_names
        self._left, self._right, self.means_ = solution.left, solution.right, solution.means
        self.solver_, self.landmarks_, self.path_ = solution.choice, solution.landmarks, solution.path
        self.relative_eta_ = solution.path[-1].relative_eta if solution.path else None

    def _embedding(self, factors: np.ndarray, *, of_right: bool) -> Embedding:
        """The map of one side to singular vectors times ``factors``."""
        fitted, side = (self.X_fit_, self._right) if of_right else (self.Z_fit_, self._left)
        return Embedding(self.kernel_, fitted, self.compatibility_, side, factors, of_right)

    def _embed(self, points: Array, out: Any, *, of_right: bool) -> Any:
        with jobs(self.n_jobs, self.memory_budget):
            return self._embedding(self._powers(self.scaling), of_right=of_right).into(points, out)

    def _vectors_of_new(self, points: ArrayLike, *, of_right: bool) -> np.ndarray:
        if of_right:
            points = check_right(points, self.n_features_right_, self._right_names)
        else:
            points = check_samples(self, points, reset=False)
        with jobs(self.n_jobs, self.memory_budget):
            return self._embedding(np.ones_like(self.singular_values_), of_right=of_right)(points)

    def _powers(self, exponent: float) -> np.ndarray:
        """s^exponent, with zero for singular values that are zero to rounding."""
        return powers(self.singular_values_, exponent, max(self.X_fit_.shape[0], self.Z_fit_.shape[0]))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags


def kernel_times(model: KernelSVD, points: Array, weights: np.ndarray, *, of_right: bool = False) -> np.ndarray:
    """k(points, Z) W of left points, or k(X, points)^T W of right ones, in blocks, with X and Z of a fitted model."""
    with jobs(model.n_jobs, model.memory_budget):
        return model._embedding(np.ones_like(model.singular_values_), of_right=of_right).times(points, weights)
