"""Biclustering by kernel SVD: row clusters and column clusters from one decomposition."""

from __future__ import annotations

from numbers import Integral, Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    atomic_fit,
    by_rows,
    canonical,
    check_points,
    in_unit,
    reject_masked,
    row_lengths,
    safe_unit,
    seed_of,
)
from ..exceptions import LopsidedWarning, RankWarning, warn
from ..kernel_svd import KernelSVD, times_kernel
from ..kernels import Function, Kernel, Precomputed, as_kernel
from ..svd import Factors
from .blocks import block_means, count_classes, partners
from .clustering import ENOUGH, Clustering, widest
from .sweeps import BlockRules, block_sweeps, unequal_sweeps
from .weighting import WEIGHTINGS, Weighting

TOLERANCE = 1e-3  # error of the singular vectors; k-means needs no higher accuracy


class KernelBiclustering(BiclusterMixin, BaseEstimator):
    """Biclustering of the rows and columns of a table by kernel SVD.

    The kernel matrix of the table is decomposed as K = U diag(s) V^T. Rows are clustered by their features U s and
    columns by V s: first by k-means on as many features as clusters, then by a few sweeps of Fisher's discriminant on
    two, four and eight times as many features. If ``spherical_`` and ``joint`` are False and the kernel compares single
    entries, as the default does, row and column labels are then updated alternately until no label changes: rows are
    assigned by their sums over the column clusters, columns by their sums over the row clusters. If there are fewer
    column clusters than row clusters, rows may differ within a column cluster. If the table is described in fewer bits
    by as many column clusters as row clusters, rows are therefore assigned by their sums over these; columns likewise.
    Entries may be negative, and rows or columns may be empty.

    Parameters
    ----------
    n_clusters : int, (int, int) or "auto", default=3
        Number of row clusters and of column clusters. An integer k gives k biclusters: each row cluster is paired with
        the column cluster it is most associated with, under the same label. A pair (rows, columns) gives a
        checkerboard of rows x columns biclusters. "auto" is the number of singular values before the widest relative
        gap between them, from 2 to 16 and below ``n_components``, since the gap needs the value after it.
    kernel : str, Kernel or callable, default="association"
        Kernel between rows and columns. The default uses the entry at row i and column j, corrected for the sums of
        that row and column. Any other kernel compares vectors, brought to a common length as in ``KernelSVD``.
    weighting : {"tfidf", "length"} or None, default=None
        Preprocessing of the table. "length" scales rows to unit length; "tfidf" first reduces the weight of frequent
        columns, as scikit-learn's TfidfTransformer does.
    joint : bool, default=False
        Whether to cluster rows and columns as one set of points. Both must have the same number of clusters.
    n_components : int or None, default=None
        Number of singular triplets. None uses 8 per cluster of the side with more clusters, at most 48 but at least two
        per cluster; 48 for n_clusters="auto". Numbers above min(n, m) are reduced to it, with a
        :class:`~lopsided.exceptions.RankWarning`.
    spherical : bool or "auto", default="auto"
        Whether to compare feature vectors by direction only, ignoring their length. "auto" is True for tables that are
        mostly zero: there the length reflects how much of a row was observed, while in a full table it reflects the
        size of the entries.
    refine : bool, default=True
        Whether to refine the k-means clusters with discriminants and with sums over clusters, as described above. If
        False, each point is assigned to the nearest cluster mean.
    n_init : int, default=10
        Number of k-means initialisations.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means; None means a fixed seed.
    n_jobs : int or None, default=None
        Number of threads; None uses one per core.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix in bytes, as in ``KernelSVD``.

    Attributes
    ----------
    row_labels_ : array of shape (n,)
        Cluster label of each row. An empty row has no direction; the discriminant gives it the label of the origin.
    column_labels_ : array of shape (m,)
        Cluster label of each column.
    rows_, columns_ : boolean arrays of shapes (n_biclusters, n) and (n_biclusters, m)
        Membership of rows and columns in each bicluster; ``biclusters_`` is the pair of both.
    n_clusters_ : (int, int)
        Number of row clusters and of column clusters that were fitted.
    spherical_ : bool
        Whether feature vectors were compared by direction only.
    svd_ : KernelSVD
        The fitted decomposition.
    n_features_in_ : int
        Number of columns of the table.

    See Also
    --------
    sklearn.cluster.SpectralCoclustering : The linear case, joint and without regularisation.
    sklearn.cluster.SpectralBiclustering : Checkerboards of dense tables.

    Notes
    -----
    The cost is that of ``KernelSVD``, for the default kernel O(nnz q) per product with q triplets, plus O((n + m) q^2).
    Sparse tables stay sparse.

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

    @atomic_fit
    def fit(self, X: Array, y: Any = None) -> Self:
        """Find biclusters of X, an array or sparse matrix of shape (n, m)."""
        self._validate_params()
        X = canonical(
            validate_data(self, reject_masked(X, "X"), accept_sparse="csr", dtype=FLOATS, ensure_min_samples=2)
        )
        asked = self._asked(X.shape)
        self.spherical_ = _mostly_zero(X) if self.spherical == "auto" else bool(self.spherical)
        self._weighting = Weighting(self.weighting).fit(X)
        table = self._weighting.rows(X)
        self.svd_ = self._decompose(table, asked)
        counts = (count_classes(self.svd_.singular_values_),) * 2 if asked is None else asked
        self.n_clusters_ = counts
        columns_of_table = by_rows(table.T)
        left, right = self.svd_.transform(table), self.svd_.transform_right(columns_of_table)
        self._unit = safe_unit(left, right)
        left, right = in_unit(left, self._unit), in_unit(right, self._unit)
        find = Clustering(self.spherical_, self.refine, self.n_components, self.n_init, seed_of(self.random_state))
        if self.joint:
            self._row_rule = self._column_rule = find.rule(np.concatenate([left, right]), counts[0], "points")
        else:
            self._row_rule = find.rule(left, counts[0], "rows")
            self._column_rule = find.rule(right, counts[1], "columns")
        rows, columns = self._row_rule.labels(left), self._column_rule.labels(right)
        self._blocks: BlockRules | None = None
        if self._has_blocks(rows, columns):
            K = in_unit(self.svd_.kernel_.left(table), self._unit)
            finer = self._finer(find, (left, right), (rows, columns))
            if finer is None:
                self._blocks, rows, columns = block_sweeps(K, rows, columns)
            else:
                energy = float(np.square(row_lengths(K), dtype=float).sum())
                self._blocks, rows, columns = unequal_sweeps(K, rows, columns, finer, energy)
        if self._blocks is not None:  # as new points would be labelled, also where rounding decides
            rows, columns = self._label_rows(table), self._label_columns(columns_of_table)
        self._list(rows, columns)
        return self

    def predict(self, X: Array) -> np.ndarray:
        """Assign new rows, an array or sparse matrix of shape (n_new, m), to the fitted row clusters."""
        check_is_fitted(self)
        X = canonical(validate_data(self, reject_masked(X, "X"), accept_sparse="csr", dtype=FLOATS, reset=False))
        return self._label_rows(self._weighting.rows(X))

    def predict_columns(self, Z: Array) -> np.ndarray:
        """Assign new columns, passed as the rows of an array of shape (n_new, n), to the fitted column clusters."""
        check_is_fitted(self)
        Z = check_points(Z, "Z")
        n = len(self.row_labels_)
        if Z.shape[1] != n:
            raise ValueError(
                f"Z has {Z.shape[1]} columns, but new columns have {n} entries each and are passed as rows"
            )
        return self._partner[self._label_columns(self._weighting.columns(Z))]

    def _asked(self, shape: tuple[int, int]) -> tuple[int, int] | None:
        """Validated numbers of row and column clusters, or None for "auto"."""
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

    def _finer(
        self, find: Clustering, features: tuple[np.ndarray, np.ndarray], labels: tuple[np.ndarray, np.ndarray]
    ) -> np.ndarray | None:
        """Labels of the side with fewer clusters in as many clusters as the other side; None if there are no more."""
        counts = [int(side.max()) + 1 for side in labels]
        fewer = int(np.argmin(counts))
        F = features[fewer]
        most = min(max(counts), len(F))
        if most == counts[fewer]:
            return None
        finer = find.rule(F, most).labels(F)
        sizes = np.bincount(finer)
        return finer if len(sizes) > counts[fewer] and sizes.min() > 0 else None

    def _label_rows(self, table: Array) -> np.ndarray:
        """Clusters of the rows of a weighted table."""
        if self._blocks is None:
            return self._row_rule.labels(in_unit(self.svd_.transform(table), self._unit))
        sums = times_kernel(self.svd_, table, self._blocks.columns_of)
        return self._blocks.rows.labels(in_unit(sums, self._unit))

    def _label_columns(self, columns: Array) -> np.ndarray:
        """Clusters of weighted columns, passed as rows, before they are paired with row clusters."""
        if self._blocks is None:
            return self._column_rule.labels(in_unit(self.svd_.transform_right(columns), self._unit))
        sums = times_kernel(self.svd_, columns, self._blocks.rows_of, of_right=True)
        return self._blocks.columns.labels(in_unit(sums, self._unit))

    def _has_blocks(self, rows: np.ndarray, columns: np.ndarray) -> bool:
        """Whether to refine by sums over clusters: the kernel must compare entries, and lengths must matter."""
        if not self.refine or self.spherical_ or self.joint or self.svd_.landmarks_ is not None:
            return False
        nothing_empty = all(np.bincount(labels).min() > 0 for labels in (rows, columns))
        return isinstance(self.svd_.kernel_, Precomputed) and nothing_empty

    def _list(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Store the labels of both sides, with equal labels for paired clusters, and the bicluster memberships."""
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
    """Whether fewer than half of the entries are nonzero."""
    filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return bool(2 * filled < X.shape[0] * X.shape[1])
