"""Biclustering by kernel SVD: clusters of rows and clusters of columns from one decomposition."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._seeds import seed_of
from ..estimators import KernelSVD
from ..estimators.decomposed import times_kernel
from ..estimators.refit import all_or_nothing
from ..exceptions import LopsidedWarning, RankWarning, warn
from ..kernels import Function, Kernel, Precomputed, as_kernel
from ..kernels.points import FLOATS, Array, by_rows, canonical, check_points
from ..linalg import (
    BlockRules,
    Factors,
    block_means,
    block_sweeps,
    count_classes,
    partners,
)
from .clustering import ENOUGH, Clustering, widest
from .weighting import WEIGHTINGS, Weighting

TOLERANCE = 1e-4  # of the SVD, relative to its largest value; k-means asks for no more


class KernelBiclustering(BiclusterMixin, BaseEstimator):
    """Clusters of rows and clusters of columns of a table, from its kernel SVD.

    The table's kernel matrix is decomposed, K = U diag(s) V^T. Rows are clustered by U s, columns by V s: by k-means in
    as many features as there are clusters, then by a few sweeps of Fisher's discriminant in twice, four and eight times
    as many. In full tables, unless the kernel compares whole vectors, rows and columns then take turns: rows go by
    their sums over the clusters of columns, columns by theirs over those of rows, until no label changes. Entries may
    be negative, rows and columns empty.

    Parameters
    ----------
    n_clusters : int, (int, int) or "auto", default=3
        Clusters of rows and of columns. One number k makes k biclusters: every cluster of rows with the cluster of
        columns it is most associated with, and both have one label. A pair (rows, columns) makes a checkerboard, all
        rows x columns of them. "auto" is the number of singular values before their widest gap, from 2 to 16.
    kernel : str, Kernel or callable, default="association"
        How a row and a column are compared. The default looks at the entry in which they meet, corrected for how full
        both are; any other kernel compares vectors brought to one width as in ``KernelSVD``.
    weighting : {"tfidf", "length"} or None, default=None
        What is done to the table first: "length" brings rows to length one, "tfidf" makes frequent columns small before
        that, as scikit-learn's TfidfTransformer does.
    joint : bool, default=False
        Cluster rows and columns as one set of points. They must have as many clusters.
    n_components : int or None, default=None
        Singular triplets. None is 8 for each cluster of the side with more clusters, at most 48 but at least two for
        each; 48 for n_clusters="auto". No table has more than its shorter side: a larger number is cut to that, with a
        :class:`~lopsided.exceptions.RankWarning`.
    spherical : bool or "auto", default="auto"
        Whether only the direction of a row of features counts, not its length. "auto" is True for tables that are
        zero for the most part: there the length says how much of a row was seen, in a full table how large it is.
    refine : bool, default=True
        Whether discriminants, and in full tables sums over clusters, follow k-means. Without, a cluster holds what is
        nearest its mean.
    n_init : int, default=10
        Starts of k-means.
    random_state : int, RandomState instance or None, default=None
        Seeds k-means; None is a fixed seed.
    n_jobs : int or None, default=None
        Threads; None is one for each core.
    memory_budget : float, str or None, default=None
        Bytes the kernel matrix may take, as in ``KernelSVD``.

    Attributes
    ----------
    row_labels_ : array of shape (n,)
        Cluster of every row. A row without entries has no direction and goes where the discriminant puts the origin.
    column_labels_ : array of shape (m,)
        Cluster of every column.
    rows_, columns_ : boolean arrays of shapes (n_biclusters, n) and (n_biclusters, m)
        Members of every bicluster; ``biclusters_`` is both.
    n_clusters_ : (int, int)
        Clusters of rows and of columns that were looked for.
    spherical_ : bool
        Whether directions alone were looked at.
    svd_ : KernelSVD
        The decomposition.
    n_features_in_ : int
        Columns of the table.

    See Also
    --------
    sklearn.cluster.SpectralCoclustering : The linear case, joint and without regularisation.
    sklearn.cluster.SpectralBiclustering : Checkerboards of dense tables.

    Notes
    -----
    Cost: that of ``KernelSVD``, for the default O(nnz q) a product with q triplets, and O((n + m) q^2). Sparse tables
    stay sparse.

    References
    ----------
    Tao, Tonin, Lambert, Chen, Patrinos, Suykens, "Learning in feature spaces via coupled covariances", ICML 2024,
    section 4.2.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelBiclustering
    >>> X = np.array([[5, 4, 0, 0, 1], [4, 5, 1, 0, 0], [0, 1, 6, 5, 4], [1, 0, 5, 6, 5]])
    >>> model = KernelBiclustering(2, random_state=0).fit(X)
    >>> model.row_labels_.tolist() == model.column_labels_[[0, 1, 2, 3]].tolist()
    True
    >>> model.get_shape(model.row_labels_[0])
    (2, 2)
    """

    _parameter_constraints: dict[str, Any] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), tuple, StrOptions({"auto"})],
        "kernel": [str, Kernel, callable],
        "weighting": [StrOptions(set(WEIGHTINGS)), None],
        "joint": ["boolean"],
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "spherical": ["boolean", StrOptions({"auto"})],
        "refine": ["boolean"],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        "random_state": ["random_state"],
        "n_jobs": [Integral, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        n_clusters: int | tuple[int, int] | str = 3,
        *,
        kernel: Any = "association",
        weighting: str | None = None,
        joint: bool = False,
        n_components: int | None = None,
        spherical: bool | str = "auto",
        refine: bool = True,
        n_init: int = 10,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.kernel = kernel
        self.weighting = weighting
        self.joint = joint
        self.n_components = n_components
        self.spherical = spherical
        self.refine = refine
        self.n_init = n_init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.memory_budget = memory_budget

    @all_or_nothing
    def fit(self, X: Array, y: Any = None) -> Self:
        """Cluster the rows and the columns of X, an array or sparse matrix of shape (n, m)."""
        self._validate_params()
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2))
        asked = self._asked(X.shape)
        self.spherical_ = _mostly_zero(X) if self.spherical == "auto" else bool(self.spherical)
        self._weighting = Weighting(self.weighting).fit(X)
        table = self._weighting.rows(X)
        self.svd_ = self._decompose(table, asked)
        counts = (count_classes(self.svd_.singular_values_),) * 2 if asked is None else asked
        self.n_clusters_ = counts
        columns_of_table = by_rows(table.T)
        left, right = self.svd_.transform(table), self.svd_.transform_right(columns_of_table)
        find = Clustering(self.spherical_, self.refine, self.n_components, self.n_init, seed_of(self.random_state))
        if self.joint:
            self._row_rule = self._column_rule = find.rule(np.concatenate([left, right]), counts[0], "points")
        else:
            self._row_rule = find.rule(left, counts[0], "rows")
            self._column_rule = find.rule(right, counts[1], "columns")
        rows, columns = self._row_rule.labels(left), self._column_rule.labels(right)
        self._blocks: BlockRules | None = None
        if self._has_blocks(rows, columns):
            self._blocks, rows, columns = block_sweeps(
                lambda C: times_kernel(self.svd_, table, C),
                lambda R: times_kernel(self.svd_, columns_of_table, R, of_right=True),
                rows,
                columns,
            )
        self._list(rows, columns)
        return self

    def predict(self, X: Array) -> np.ndarray:
        """Cluster new rows, an array or sparse matrix of shape (n_new, m), by the rule found at fit."""
        check_is_fitted(self)
        X = canonical(validate_data(self, X, accept_sparse="csr", dtype=FLOATS, reset=False))
        X = self._weighting.rows(X)
        if self._blocks is None:
            return self._row_rule.labels(self.svd_.transform(X))
        return self._blocks.rows.labels(times_kernel(self.svd_, X, self._blocks.columns_of))

    def predict_columns(self, Z: Array) -> np.ndarray:
        """Cluster new columns, given as rows that hold an entry for each of the n fitted rows."""
        check_is_fitted(self)
        Z = check_points(Z, "Z")
        n = len(self.row_labels_)
        if Z.shape[1] != n:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but new columns have {n} entries each and are passed as rows"
            )
        Z = self._weighting.columns(Z)
        if self._blocks is None:
            return self._partner[self._column_rule.labels(self.svd_.transform_right(Z))]
        sums = times_kernel(self.svd_, Z, self._blocks.rows_of, of_right=True)
        return self._partner[self._blocks.columns.labels(sums)]

    def _asked(self, shape: tuple[int, int]) -> tuple[int, int] | None:
        """The numbers of clusters of rows and columns, or None if they are to be found."""
        if self.n_clusters == "auto":
            return None
        n, m = shape
        pair = self.n_clusters if isinstance(self.n_clusters, tuple) else (self.n_clusters, self.n_clusters)
        if len(pair) != 2 or not all(isinstance(count, Integral) and count >= 1 for count in pair):
            raise ValueError(
                f"n_clusters={self.n_clusters} must be a number from 1, a pair (rows, columns) of them or 'auto'"
            )
        rows, columns = map(int, pair)
        if self.joint and rows != columns:
            raise ValueError(f"joint=True takes one number of clusters, not n_clusters={self.n_clusters}")
        if rows > n:
            raise ValueError(f"n_clusters={rows} of rows exceeds n_samples={n}; lower it or give more rows")
        if columns > m and isinstance(self.n_clusters, tuple):
            raise ValueError(f"n_clusters={columns} of columns exceeds n_features={m}; lower it")
        if columns > m and not self.joint:
            warn(f"n_clusters={columns} exceeds n_features={m}: every column is a cluster of its own", LopsidedWarning)
            columns = m
        return rows, columns

    def _decompose(self, X: Array, asked: tuple[int, int] | None) -> KernelSVD:
        wanted, most = self.n_components or (ENOUGH if asked is None else max(map(widest, asked))), min(X.shape)
        if self.n_components and self.n_components > most:
            warn(
                f"n_components={self.n_components} exceeds min(n_samples, n_features)={most}; {most} are kept",
                RankWarning,
            )
        meets_widths = isinstance(as_kernel(self.kernel), Function) and X.shape[0] != X.shape[1]
        svd = KernelSVD(
            min(wanted, most),
            kernel=self.kernel,
            compatibility="pca" if meets_widths else "auto",
            tol=TOLERANCE,
            random_state=0,
            n_jobs=self.n_jobs,
            memory_budget=self.memory_budget,
        )
        return svd.set_output(transform="default").fit(X)

    def _has_blocks(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        """Whether sums over clusters refine the clusters: where entries are compared, and not directions alone."""
        if not self.refine or self.spherical_ or self.joint or self.svd_.landmarks_ is not None:
            return False
        nothing_empty = all(np.bincount(labels).min() > 0 for labels in (rows, columns))
        return isinstance(self.svd_.kernel_, Precomputed) and nothing_empty

    def _list(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Keep the labels of both sides, partners alike, and list the biclusters."""
        self.row_labels_ = rows
        k_rows, k_columns = self.n_clusters_
        self._partner = np.arange(k_columns)
        if isinstance(self.n_clusters, tuple):
            pairs = [(i, j) for i in range(k_rows) for j in range(k_columns)]
        else:
            if not self.joint:
                factors = Factors(self.svd_.left_vectors_, self.svd_.singular_values_, self.svd_.right_vectors_)
                self._partner = partners(block_means(factors, self.row_labels_, columns, self.n_clusters_))
            pairs = [(i, i) for i in range(k_rows)]
        self.column_labels_ = self._partner[columns]
        self.rows_ = np.array([self.row_labels_ == i for i, _ in pairs])
        self.columns_ = np.array([self.column_labels_ == j for _, j in pairs])

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags


def _mostly_zero(X: Array) -> bool:
    """Whether fewer than half of the entries differ from zero."""
    filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return bool(2 * filled < X.shape[0] * X.shape[1])
