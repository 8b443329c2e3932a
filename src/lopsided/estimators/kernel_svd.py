"""Kernel SVD: embeddings of rows and of columns from one asymmetric kernel."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags, check_random_state
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._parallel import jobs, n_threads
from ..kernels import Kernel, Precomputed, as_kernel
from ..kernels.base import FLOATS, Array, by_rows, canonical, check_points, check_sides
from ..linalg import SOLVERS, Choice, Compatibility, Factors, check_finite, factorise, factorise_energy, make_compatible
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
        Triplets to keep. A float between 0 and 1 keeps as many as hold that share of the energy |K|_F^2, for which
        every entry of K is looked at once, O(n m), sparse or not.
    kernel : str, Kernel or callable, default="rbf"
        A kernel of :mod:`lopsided.kernels`, its name, a vectorised f(X, Z), or "precomputed": X is then K itself.
    compatibility : {"auto", "identity", "pca", "random", "pinv"} or array, default="auto"
        How vectors of two widths are brought together: by nothing, by the papers' a1, a2 or a0, or by a matrix. "auto"
        is "identity" for equal widths, and "pca" for the rows and columns of a matrix that is not square; that costs a
        thin SVD, and for sparse data a Gram matrix of the smaller side. Any other name maps the right side if widths
        are equal.
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
    X_fit_, Z_fit_ : arrays or sparse matrices
        The points that are compared, after those maps. Not copied where no map changed them.
    means_ : tuple or None
        Row means, column means and grand mean of K, with ``center``.
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
        with jobs(self.n_jobs):
            self._fit(X, Z)
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
        scores = self._multiply(self.compatibility_.left(X), self.Z_fit_, self.right_vectors_)
        return self._embed(scores, self.means_ and self.means_[1] @ self.right_vectors_)

    def transform_right(self, Z: Array) -> np.ndarray:
        """Embed right points: k(X, z)^T U s^(scaling - 1), in blocks.

        A right point has the width of Z in ``fit``; without Z it is a column of the matrix, with n entries. For
        kernel="precomputed" a row holds the values of a new right point against the n left points. Kernels normalised
        over the right set (SNE, StudentT) sum over it again, which costs as much as fitting them did.
        """
        check_is_fitted(self)
        Z = check_points(Z, "Z")
        if Z.shape[1] != self.n_features_right_:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but right points have {self.n_features_right_} entries each; new columns "
                "of a matrix are passed as rows"
            )
        if isinstance(self.kernel_, Precomputed):
            scores = self._multiply(Z, self.Z_fit_, self.left_vectors_)
        else:
            scores = self._multiply(self.X_fit_, self.compatibility_.right(Z), self.left_vectors_, transposed=True)
        return self._embed(scores, self.means_ and self.means_[0] @ self.left_vectors_)

    def reconstruct(self) -> np.ndarray:
        """The dense (n, m) approximation of K of rank k; what ``center`` removed is added back."""
        check_is_fitted(self)
        K = Factors(self.left_vectors_, self.singular_values_, self.right_vectors_).matrix()
        if self.means_ is not None:
            rows, columns, grand = self.means_
            K += rows[:, None] + columns - grand
        return K

    def _fit(self, X: Array, Z: Array) -> None:
        n_threads(self.n_jobs)
        kernel, budget = as_kernel(self.kernel), budget_bytes(self.memory_budget)
        place = self._place_values if isinstance(kernel, Precomputed) else self._place_points
        X, Z, widths, maps = place(kernel, X, Z, budget)
        A = as_operator(kernel.fit(X, Z), X, Z, budget=budget)
        means = None
        if self.center:
            A = Centered(A)
            means = A.means
        factors, self.solver_ = self._factorise(A, budget)
        self.kernel_, self.compatibility_, self.means_ = kernel, maps, means
        self.X_fit_, self.Z_fit_ = (None if isinstance(kernel, Precomputed) else X), Z
        self.n_features_right_ = widths
        self.left_vectors_, self.singular_values_, self.right_vectors_ = factors.U, factors.s, factors.V
        self.n_components_ = self._n_features_out = len(factors.s)

    def _place_values(self, kernel: Kernel, K: Array, Z: Array, budget: int) -> tuple[Array, Array, int, Compatibility]:
        """Kernel values as left points and column numbers as right points."""
        if Z is not None:
            raise ValueError("kernel='precomputed' takes the kernel matrix as X; leave Z out")
        self._check_rank(*K.shape)
        return K, np.arange(K.shape[1])[:, None], K.shape[0], Compatibility("identity")

    def _place_points(self, kernel: Kernel, X: Array, Z: Array, budget: int) -> tuple[Array, Array, int, Compatibility]:
        """Left and right points in coordinates in which the kernel can compare them."""
        X, right = check_sides(X, by_rows(X.T) if Z is None else Z)
        self._check_rank(X.shape[0], right.shape[0])
        maps = self._choose_compatibility(kernel, X, right, of_one_matrix=Z is None, budget=budget)
        return maps.left(X), maps.right(right), right.shape[1], maps

    def _choose_compatibility(
        self, kernel: Kernel, X: Array, Z: Array, of_one_matrix: bool, budget: int
    ) -> Compatibility:
        p, q = X.shape[1], Z.shape[1]
        if not isinstance(self.compatibility, str):
            return given(check_points(self.compatibility, "compatibility").astype(X.dtype, copy=False), p, q)
        name = self.compatibility
        if name == "auto":
            name = "pca" if of_one_matrix and p != q and kernel.same_width else "identity"
        if name == "identity" and not kernel.same_width:
            return Compatibility("identity")
        seed = check_random_state(self.random_state).randint(2**31) if name == "random" else 0
        return make_compatible(name, X, Z, np.random.default_rng(seed), budget)

    def _check_rank(self, n: int, m: int) -> None:
        if self.n_components > min(n, m):
            raise ValueError(
                f"n_components={self.n_components} exceeds min(n_rows, n_columns)={min(n, m)} of the kernel matrix "
                f"(n_samples={n}, n_features={self.n_features_in_}); lower it or give more points through Z"
            )

    def _factorise(self, A: KernelOperator, budget: int) -> tuple[Factors, Choice]:
        seed = 0 if self.random_state is None else check_random_state(self.random_state).randint(2**31)
        solve = factorise if isinstance(self.n_components, Integral) else factorise_energy
        rng = np.random.default_rng(seed)
        return solve(A, self.n_components, solver=self.solver, tol=self.tol, budget=budget, rng=rng)

    def _multiply(self, X: Array, Z: Array, V: np.ndarray, transposed: bool = False) -> np.ndarray:
        """k(X, Z) V or k(X, Z)^T V in blocks; nothing is kept."""
        with jobs(self.n_jobs):
            A = as_operator(self.kernel_, X, Z, budget=0)
            return (A.T if transposed else A) @ V

    def _embed(self, scores: np.ndarray, offset: np.ndarray | None) -> np.ndarray:
        check_finite(scores)
        return (scores if offset is None else scores - offset) * self._powers(self.scaling - 1)

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
