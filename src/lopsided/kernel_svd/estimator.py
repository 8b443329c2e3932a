"""Kernel SVD: embeddings of left and right points from one asymmetric kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import validate_data

from .._core import (
    FLOATS,
    Array,
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
from ..kernels import Kernel, Precomputed, as_kernel
from ..nystrom import Attempt, Nystrom, approximate, as_nystrom, landmark_choice
from ..operators import Centered, KernelOperator, as_operator
from ..svd import SOLVERS, Choice, Factors, check_weights, decompose, exact_sides, factorise, factorise_energy
from .base import DecomposedKernel
from .compatibility.maps import PROJECTIONS
from .inputs import check_rank, choose_compatibility, mapped_landmarks, place


class KernelSVD(DecomposedKernel):
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
        With landmarks and ``tol``: the 2024 paper's eta (section 4.4, weights s / s_1), estimated from held-out rows
        and columns. Zero means exact.
    history_ : tuple of Attempt
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
        self, X: Array, y: Any = None, *, Z: Array = None, left_weights: Any = None, right_weights: Any = None
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
            Right points; None means the columns of X. If Z is X itself, both sides have the same landmarks.
        left_weights, right_weights : arrays of shapes (n,) and (m,), default=None
            Weights of the points in the covariances and means; kernel and compatibility ignore them. Weight two has the
            same effect as a row or column of K that occurs twice; a point of weight zero is embedded out-of-sample.
            Weights need an exact solver. GridSearchCV slices them, and Z, with the folds if they are as long as X.
        """
        self._validate_params()
        is_one_set, self._right_names = Z is X, column_names(Z)
        X = canonical(validate_data(self, as_indexable(X, "X"), accept_sparse="csr", dtype=FLOATS))
        _check_ignored(y, X)
        with jobs(self.n_jobs):
            self._fit(X, X if is_one_set else Z, left_weights, right_weights)
        return self

    def fit_transform(
        self, X: Array, y: Any = None, *, Z: Array = None, left_weights: Any = None, right_weights: Any = None
    ) -> np.ndarray:
        """Fit, and return the left embedding U s^scaling of the training rows."""
        self.fit(X, y, Z=Z, left_weights=left_weights, right_weights=right_weights)
        return self.left_vectors_ * self._powers(self.scaling)

    def _fit(self, X: Array, Z: Array, left_weights: Any, right_weights: Any) -> None:
        kernel, budget, of_one_matrix = as_kernel(self.kernel), budget_bytes(self.memory_budget), Z is None
        if kernel.same_width:
            check_names(self._right_names, getattr(self, "feature_names_in_", None), "X")
        X, Z = place(kernel, X, Z)
        shape = X.shape[0], Z.shape[0]
        self.weights_ = check_weights(left_weights, right_weights, shape, X.dtype)
        check_rank(self.n_components, shape, self.n_features_in_, self.weights_)
        self.n_features_right_ = X.shape[0] if isinstance(kernel, Precomputed) else Z.shape[1]
        self.compatibility_ = choose_compatibility(
            self.compatibility,
            kernel,
            X,
            Z,
            of_one_matrix=of_one_matrix,
            seed=seed_of(self.random_state),
            budget=budget,
        )
        X, Z = self.compatibility_.left(X), self.compatibility_.right(Z)
        kernel.fit(X, Z)
        choice = self._landmark_choice(kernel, X, Z, budget)
        if choice is not None:
            self.solver_ = choice
            self._fit_landmarks(kernel, X, Z, budget)
        else:
            self._fit_exactly(kernel, X, Z, budget)
        self.n_components_ = self._n_features_out = len(self.singular_values_)

    def _fit_exactly(self, kernel: Kernel, X: Array, Z: Array, budget: int) -> None:
        A = self._centred(as_operator(kernel, X, Z, budget=budget))
        self.means_ = A.means if isinstance(A, Centered) else None
        factors, counted, self.solver_ = decompose(A, self.weights_, lambda A: self._factorise(A, budget))
        self._keep(factors, kernel, X, Z)
        self._left, self._right = exact_sides(counted, self.means_)
        self.landmarks_ = None
        self.history_: tuple[Attempt, ...] = ()
        self.eta_: float | None = None

    def _fit_landmarks(self, kernel: Kernel, X: Array, Z: Array, budget: int) -> None:
        widths = self.n_features_in_, self.n_features_right_
        method = as_nystrom(self.solver)
        landmarks = mapped_landmarks(method.landmarks, kernel, self.compatibility_, widths)
        found, self.history_ = approximate(
            kernel,
            X,
            Z,
            self.n_components,
            method=clone(method).set_params(landmarks=landmarks),
            tol=self.tol,
            budget=budget,
            seed=seed_of(self.random_state),
            center=self.center,
        )
        rows, columns = self.landmarks_ = found.landmarks
        self._keep(found.factors, found.kernel, rows.points, columns.points, rows.indices)
        self._left, self._right = found.left, found.right
        self.eta_ = self.history_[-1].eta if self.history_ else None
        self.means_ = None if found.means is None else (*found.means, found.means[0].mean())

    def _keep(self, factors: Factors, kernel: Kernel, X: Array, Z: Array, numbers: np.ndarray | None = None) -> None:
        """Store the factors, and the kernel and points needed to embed new points."""
        self.left_vectors_, self.singular_values_, self.right_vectors_ = factors.U, factors.s, factors.V
        self.kernel_, self.X_fit_, self.Z_fit_ = kernel, X, Z
        if isinstance(kernel, Precomputed):
            self.X_fit_ = (np.arange(X.shape[0]) if numbers is None else numbers)[:, None]

    def _landmark_choice(self, kernel: Kernel, X: Array, Z: Array, budget: int) -> Choice | None:
        """The choice of landmarks, or None for an exact solver; landmarks do not support weights."""
        if self.weights_ is None:
            return landmark_choice(kernel, X, Z, self.n_components, solver=self.solver, budget=budget)
        if isinstance(self.solver, Nystrom) or self.solver == "nystrom":
            raise ValueError(
                "the Nystrom solver takes no weights of rows and columns; use an exact solver, or repeat points"
            )
        return None

    def _factorise(self, A: KernelOperator, budget: int) -> tuple[Factors, Choice]:
        solve = factorise if isinstance(self.n_components, Integral) else factorise_energy
        rng = np.random.default_rng(seed_of(self.random_state))
        return solve(A, self.n_components, solver=self.solver, tol=self.tol, budget=budget, rng=rng)


def _check_ignored(y: Any, X: Array) -> None:
    """Detect right points passed by position: they would be taken for y, which is ignored."""
    if getattr(y, "ndim", 1) != 2:
        return
    if y.shape[0] != X.shape[0]:
        raise ValueError(f"y is ignored, but it has {y.shape[0]} rows and X has {X.shape[0]}; take fit(X, Z=Z)")
    if y.shape[1] == X.shape[1] > 1:
        warn(f"y is ignored, and is as wide as X: {y.shape[1]} columns; right points take fit(X, Z=Z)", LopsidedWarning)
