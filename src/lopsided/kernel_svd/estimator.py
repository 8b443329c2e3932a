"""Kernel SVD: embeddings of left and right points from one asymmetric kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    as_indexable,
    atomic_fit,
    budget_bytes,
    canonical,
    check_names,
    column_names,
    jobs,
    seed_of,
)
from ..exceptions import LopsidedWarning, warn
from ..kernels import Kernel, as_kernel
from ..nystrom import Attempt, Nystrom, select_nystrom
from ..svd import SOLVERS, Choice
from .base import BaseKernelSVD
from .compatibility.maps import PROJECTIONS
from .inputs import Inputs, prepare
from .solve import Solution, solve_exactly, solve_from_landmarks


class KernelSVD(BaseKernelSVD):
    """Singular value decomposition of an asymmetric kernel matrix.

    K = [k(x_i, z_j)] is the matrix of kernel values between left points x and right points z, which need not be of the
    same kind. Its SVD K = U diag(s) V^T gives left and right points an embedding each. Without Z, the left points are
    the rows and the right points the columns of one matrix X, of which the result is a nonlinear SVD. This method is
    unrelated to the K-SVD of dictionary learning.

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
        "identity" for equal widths, and "pca" for the rows and columns of a non-square matrix, which costs a thin SVD,
        or for sparse data a Gram matrix of the smaller side. Any other name maps the right side if widths are equal.
    center : bool, default=False
        Whether to centre both feature maps, that is the rows and the columns of K.
    scaling : float, default=1.0
        ``transform`` returns U s^scaling: 1 gives scores, 0 singular vectors, 0.5 splits s evenly between both sides.
    solver : {"auto", "lapack", "krylov", "nystrom"} or Nystrom, default="auto"
        A :class:`~lopsided.Nystrom` object, such as Nystrom(1000), approximates K from landmarks, and "nystrom" is
        short for Nystrom(); the others are exact. "auto" decides by shape, sparsity and memory budget, and uses
        Nystrom() for large dense matrices; see ``solver_``.
    tol : float, default=0.0
        Acceptable eta, the 2024 paper's error of the singular vectors (section 4.4, weights s / s_1), as it is
        estimated: "krylov" stops there, and goes on to machine precision with 0; the number of landmarks is doubled
        until it is reached, and stays as it is with 0. The other solvers ignore it.
    random_state : int, RandomState instance or None, default=None
        Seed of compatibility="random", landmarks and start vectors; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads for kernel blocks and sparse products; None means one per core, as for BLAS.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix, in bytes or as a string such as "2GB"; a larger matrix is evaluated in blocks that
        are not stored. None means a quarter of the free memory.

    Attributes
    ----------
    left_vectors_ : array of shape (n, k)
        Left singular vectors U, with orthonormal columns.
    singular_values_ : array of shape (k,)
        Singular values s of K (of the centred K with ``center``), descending. The papers' factors such as 1 / sqrt(n m)
        are not applied.
    right_vectors_ : array of shape (m, k)
        Right singular vectors V, with orthonormal columns.
    kernel_ : Kernel
        The fitted kernel.
    compatibility_ : Compatibility
        The fitted maps of both sides.
    X_fit_, Z_fit_ : arrays or sparse matrices
        The points with which new points are compared, after ``compatibility_``: the landmarks, or all points (not
        copied if the map leaves them unchanged). For kernel="precomputed", their indices.
    means_ : tuple or None
        Row means, column means and grand mean of K, with ``center``.
    weights_ : Weights or None
        Weights of the ``left`` and ``right`` points, if given. Then U^T diag(left) U = I = V^T diag(right) V.
    landmarks_ : tuple of Landmarks or None
        Left and right landmarks: ``points``, ``weights`` and, if they are rows of the data, ``indices``.
    eta_ : float or None
        With landmarks and ``tol``: the error that ``tol`` bounds, estimated from held-out rows and columns.
    path_ : tuple of Attempt
        The numbers of landmarks that were used in turn, with the eta of each.
    solver_ : Choice
        Name of the solver and the reason for it.
    n_components_ : int
        Number of components k.
    n_features_in_ : int
        Width of the left points.
    n_features_right_ : int
        Width of the right points.

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
    }

    solver_: Choice
    path_: tuple[Attempt, ...]
    eta_: float | None

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
    ) -> None:
        self.n_components = n_components
        self.kernel = kernel
        self.compatibility = compatibility
        self.center = center
        self.scaling = scaling
        self.solver = solver
        self.tol = tol
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    @atomic_fit
    def fit(
        self, X: ArrayLike, y: Any = None, *, Z: ArrayLike = None, left_weights: Any = None, right_weights: Any = None
    ) -> Self:
        """Decompose the kernel matrix between the rows of X and the rows of Z.

        Parameters
        ----------
        X : array, sparse matrix, sliceable object of shape (n, width), or iterator of row blocks
            Left points, or the kernel matrix itself. A memory map is read in place; row blocks, and objects with row
            slices such as h5py and zarr arrays, are copied once to a temporary file.
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
        self._check_solver(weighted=left_weights is not None or right_weights is not None)
        kernel, budget, seed = as_kernel(self.kernel), budget_bytes(self.memory_budget), seed_of(self.random_state)
        is_one_object, right_names = Z is X, column_names(Z)
        X = canonical(validate_data(self, as_indexable(X, "X"), accept_sparse="csr", dtype=FLOATS))
        _check_ignored(y, X)
        if kernel.same_width:
            check_names(right_names, getattr(self, "feature_names_in_", None), "X")
        with jobs(self.n_jobs):
            inputs = prepare(
                kernel,
                X,
                X if is_one_object else Z,  # an iterator of rows could not be read twice
                weights=(left_weights, right_weights),
                k=self.n_components,
                compatibility=self.compatibility,
                seed=seed,
                budget=budget,
            )
            solution = self._solve(inputs, budget, seed)
        self._store(inputs, solution, right_names)
        return self

    def fit_transform(
        self, X: ArrayLike, y: Any = None, *, Z: ArrayLike = None, left_weights: Any = None, right_weights: Any = None
    ) -> np.ndarray:
        """Fit, and return the left embedding U s^scaling of the training rows."""
        self.fit(X, y, Z=Z, left_weights=left_weights, right_weights=right_weights)
        return self.left_vectors_ * self._powers(self.scaling)

    def _check_solver(self, *, weighted: bool) -> None:
        if isinstance(self.solver, Nystrom):
            self.solver._validate_params()
        if weighted and (isinstance(self.solver, Nystrom) or self.solver == "nystrom"):
            raise ValueError("the Nystrom solver takes no weights of points; use an exact solver, or repeat points")

    def _solve(self, inputs: Inputs, budget: int, seed: int) -> Solution:
        """Decompose the kernel matrix by the solver asked for, or by the one that its size and the budget suggest."""
        solver, k = self.solver, self.n_components
        settings: dict[str, Any] = {"center": self.center, "tol": self.tol, "budget": budget, "seed": seed}
        chosen = None
        if inputs.weights is None:  # landmarks take none
            chosen = select_nystrom(solver, inputs.kernel, inputs.X, inputs.Z, k, budget=budget)
        if chosen is None:
            return solve_exactly(inputs, k, solver=solver, **settings)
        method, choice = chosen
        return solve_from_landmarks(inputs, k, method=method, choice=choice, **settings)

    def _store(self, inputs: Inputs, solution: Solution, right_names: np.ndarray | None) -> None:
        factors = solution.factors
        self.left_vectors_, self.singular_values_, self.right_vectors_ = factors.U, factors.s, factors.V
        self.n_components_ = self._n_features_out = len(factors.s)
        self.kernel_, self.compatibility_ = solution.kernel, inputs.compatibility
        self.X_fit_, self.Z_fit_, self.weights_ = solution.X, solution.Z, inputs.weights
        self.n_features_right_, self._right_names = inputs.widths[1], right_names
        self._left, self._right, self.means_ = solution.left, solution.right, solution.means
        self.solver_, self.landmarks_, self.path_ = solution.choice, solution.landmarks, solution.path
        self.eta_ = solution.path[-1].eta if solution.path else None


def _check_ignored(y: Any, X: Array) -> None:
    """Detect right points passed by position: they would be taken for y, which is ignored."""
    if getattr(y, "ndim", 1) != 2:
        return
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"y is ignored, but it has {y.shape[0]} rows and X has {X.shape[0]}; take fit(X, Z=Z)")
    if y.shape[1] == X.shape[1] > 1:
        warn(f"y is ignored, and is as wide as X: {y.shape[1]} columns; right points take fit(X, Z=Z)", LopsidedWarning)
