"""Kernel SVD: embeddings of rows and of columns from one asymmetric kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from ..kernels import Kernel, Precomputed, as_kernel
from ..kernels.base import FLOATS, Array, by_rows, canonical, check_points, check_sides
from ..linalg import SOLVERS, Compatibility, Factors, factorise, factorise_energy, make_compatible
from ..linalg.compatibility import PROJECTIONS, given
from ..operators import Centered, KernelOperator, as_operator, budget_bytes


class KernelSVD(ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator):
    """Singular value decomposition of an asymmetric kernel matrix.

    (Not the K-SVD of dictionary learning.) The matrix K = [k(x_i, z_j)], whose left points x need not be of the kind of
    the right points z, is decomposed as K = U diag(s) V^T, so that left and right points get embeddings of their own.
    Without Z the left points are the rows and the right points the columns of one matrix: a nonlinear SVD of it.

    Parameters
    ----------
    n_components : int or float, default=2
        Triplets to keep. A float between 0 and 1 keeps as many as hold that share of the energy |K|_F^2.
    kernel : str, Kernel or callable, default="rbf"
        A kernel of :mod:`lopsided.kernels`, its name, a vectorised f(X, Z), or "precomputed": X is then K itself.
    compatibility : {"auto", "identity", "pca", "random", "pinv"} or array, default="auto"
        How vectors of two widths are brought together: by nothing, by the papers' a1, a2 or a0, or by a matrix. "auto"
        is "identity" for equal widths, and "pca" for the rows and columns of a matrix that is not square.
    center : bool, default=False
        Centre the two feature maps, that is the rows and the columns of K.
    scaling : float, default=1.0
        ``transform`` returns U s^scaling: 1 for scores, 0 for singular vectors, 0.5 for an even split.
    solver : {"auto", "lapack", "krylov", "propack", "arpack"}, default="auto"
        "auto" looks at shape, sparsity and budget; ``solver_`` says what it took and why.
    tol : float, default=0.0
        Residual at which the iterative solvers stop, relative to the largest singular value; 0 is near rounding.
    random_state : int, RandomState instance or None, default=None
        Seeds compatibility="random". Start vectors have a fixed seed unless one is given.
    n_jobs : int or None, default=None
        Threads for kernel blocks and sparse products; None is one for each core, as BLAS does.
    memory_budget : float, str or None, default=None
        Bytes, or a text like "2GB", that the kernel matrix may take; above it blocks are evaluated and dropped. None is
        a quarter of the memory that is free.

    Attributes
    ----------
    left_vectors_ : array of shape (n, k)
        U, orthonormal columns.
    singular_values_ : array of shape (k,)
        s, descending: those of K itself (of the centred K with ``center``). The papers' factors 1 / sqrt(n m) and the
        like are not applied.
    right_vectors_ : array of shape (m, k)
        V, orthonormal columns.
    kernel_ : Kernel
        The fitted kernel.
    compatibility_ : Compatibility
        The fitted maps.
    solver_ : Choice
        Name and reason.
    n_components_ : int
        k.
    n_features_in_ : int
        Width of the left points.
    n_features_right_ : int
        Width of the right points.

    See Also
    --------
    sklearn.decomposition.KernelPCA : The symmetric case, X = Z and a Mercer kernel.
    sklearn.decomposition.TruncatedSVD : The linear case.

    Notes
    -----
    Signs are fixed by the left entry of largest magnitude, which is positive. On sparse data with a kernel of |x|^2,
    |z|^2 and x.z the matrix is sparse plus low rank and is never formed: the cost is that of X Z^T.

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
        "compatibility": [StrOptions({"auto", "identity", *PROJECTIONS}), "array-like", "sparse matrix"],
        "center": ["boolean"],
        "scaling": [Interval(Real, None, None, closed="neither")],
        "solver": [StrOptions({"auto", *SOLVERS})],
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
        solver: str = "auto",
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

    def fit(self, X: Array, y: Any = None, *, Z: Array = None) -> Self:
        """Decompose the kernel matrix between the rows of X and the rows of Z.

        Parameters
        ----------
        X : array or sparse matrix of shape (n, width)
            Left points, or the kernel matrix itself.
        y : ignored
            For the convention of scikit-learn.
        Z : array or sparse matrix of shape (m, width of the right), default=None
            Right points; None takes the columns of X.
        """
        self._validate_params()
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=FLOATS))
        self.kernel_ = as_kernel(self.kernel)
        if isinstance(self.kernel_, Precomputed):
            self._place_values(X, Z)
        else:
            self._place_points(X, Z)
        self._check_rank()
        self.kernel_.fit(self.X_fit_, self.Z_fit_)
        self._decompose()
        return self

    def fit_transform(self, X: Array, y: Any = None, *, Z: Array = None) -> np.ndarray:
        """Fit, and return the left embedding U s^scaling of the training rows."""
        self.fit(X, Z=Z)
        return self.left_vectors_ * self._powers(self.scaling)

    def transform(self, X: Array) -> np.ndarray:
        """Embed left points: k(x, Z) V s^(scaling - 1), in blocks.

        For kernel="precomputed" a row of X holds the values of a new left point against the m right points.
        """
        check_is_fitted(self)
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False))
        A = self._streamed(self.compatibility_.left(X), self.Z_fit_)
        return self._embed(A @ self.right_vectors_, self._left_offset)

    def transform_right(self, Z: Array) -> np.ndarray:
        """Embed right points: k(X, z)^T U s^(scaling - 1), in blocks.

        A right point has the width of Z in ``fit``; without Z it is a column of the matrix, with n entries. For
        kernel="precomputed" a row holds the values of a new right point against the n left points.
        """
        check_is_fitted(self)
        Z = check_points(Z, "Z")
        if Z.shape[1] != self.n_features_right_:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but right points have {self.n_features_right_} entries each; new columns "
                "of a matrix are passed as rows"
            )
        if isinstance(self.kernel_, Precomputed):
            At = self._streamed(Z, self.Z_fit_)
        else:
            At = self._streamed(self.X_fit_, self.compatibility_.right(Z)).T
        return self._embed(At @ self.left_vectors_, self._right_offset)

    def reconstruct(self) -> np.ndarray:
        """The dense (n, m) approximation of K of rank k; what ``center`` removed is added back."""
        check_is_fitted(self)
        K = Factors(self.left_vectors_, self.singular_values_, self.right_vectors_).matrix()
        if self.center:
            rows, columns, grand = self.means_
            K += rows[:, None] + columns - grand
        return K

    def _place_values(self, K: Array, Z: Array) -> None:
        if Z is not None:
            raise ValueError("kernel='precomputed' takes the kernel matrix as X; leave Z out")
        self.compatibility_ = Compatibility("identity")
        self.X_fit_, self.Z_fit_ = K, np.arange(K.shape[1])[:, None]
        self.n_features_right_ = K.shape[0]

    def _place_points(self, X: Array, Z: Array) -> None:
        X, right = check_sides(X, by_rows(X.T) if Z is None else Z)
        self.n_features_right_ = right.shape[1]
        self.compatibility_ = self._choose_compatibility(X, right, of_one_matrix=Z is None)
        self.X_fit_, self.Z_fit_ = self.compatibility_.left(X), self.compatibility_.right(right)

    def _choose_compatibility(self, X: Array, Z: Array, of_one_matrix: bool) -> Compatibility:
        p, q = X.shape[1], Z.shape[1]
        if not isinstance(self.compatibility, str):
            return given(check_points(self.compatibility, "compatibility"), p, q)
        name = self.compatibility
        if name == "auto":
            name = "pca" if of_one_matrix and p != q and self.kernel_.same_width else "identity"
        if name == "identity" and not self.kernel_.same_width:
            return Compatibility("identity")
        seed = check_random_state(self.random_state).randint(2**31)
        return make_compatible(name, X, Z, np.random.default_rng(seed))

    def _check_rank(self) -> None:
        n, m = self.X_fit_.shape[0], self.Z_fit_.shape[0]
        if self.n_components > min(n, m):
            raise ValueError(
                f"n_components={self.n_components} exceeds min(n_rows, n_columns)={min(n, m)} of the kernel matrix "
                f"(n_samples={n}, n_features={self.n_features_in_}); lower it or give more points through Z"
            )

    def _decompose(self) -> None:
        budget = budget_bytes(self.memory_budget)
        A = as_operator(self.kernel_, self.X_fit_, self.Z_fit_, budget=budget, n_jobs=self.n_jobs)
        if self.center:
            A = Centered(A)
            self.means_ = A.means
        seed = 0 if self.random_state is None else check_random_state(self.random_state).randint(2**31)
        solve = factorise if isinstance(self.n_components, Integral) else factorise_energy
        factors, self.solver_ = solve(
            A,
            self.n_components,
            solver=self.solver,
            tol=self.tol,
            budget=budget,
            rng=np.random.default_rng(seed),
        )
        self.left_vectors_, self.singular_values_, self.right_vectors_ = factors.U, factors.s, factors.V
        self.n_components_ = self._n_features_out = len(factors.s)
        self._left_offset = self.means_[1] @ factors.V if self.center else 0
        self._right_offset = self.means_[0] @ factors.U if self.center else 0

    def _streamed(self, X: Array, Z: Array) -> KernelOperator:
        """The matrix k(X, Z) for a single product: nothing is kept."""
        return as_operator(self.kernel_, X, Z, budget=0, n_jobs=self.n_jobs)

    def _embed(self, scores: np.ndarray, offset: Any) -> np.ndarray:
        return (scores - offset) * self._powers(self.scaling - 1)

    def _powers(self, exponent: float) -> np.ndarray:
        """s^exponent, and zero for triplets that are null to rounding."""
        s = self.singular_values_
        info = np.finfo(s.dtype)
        shape = (len(self.left_vectors_), len(self.right_vectors_))
        live = s > max(max(shape) * info.eps * s[0], info.tiny**0.5)
        return np.where(live, np.where(live, s, 1) ** exponent, 0).astype(s.dtype)

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags
