"""Biclustering by kernel SVD: row clusters and column clusters from one decomposition."""

from numbers import Integral
from typing import Any, Self

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe
from scipy import sparse
from sklearn.base import BaseEstimator, BiclusterMixin
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    atomic_fit,
    by_rows,
    canonical,
    check_points,
    gate,
    in_unit,
    reject_masked,
    row_lengths,
    safe_unit,
    seed_of,
)
from ..exceptions import LopsidedWarning, RankWarning, warn
from ..kernel_svd import KernelSVD, kernel_times
from ..kernels import Function, Precomputed, as_kernel
from ..svd import Factors
from .blocks import BlockRules, block_means, block_sweeps, matched_left_classes, unequal_sweeps
from .clustering import MAX_FEATURES, Clustering, Pair, check_counts, count_clusters, default_width
from .discriminant import Discriminant
from .weighting import WEIGHTINGS, Weighting

TABLE: dict[str, Any] = {"accept_sparse": "csr", "dtype": FLOATS}
OF_KERNEL_SVD = ("kernel", "tol", "random_state", "n_jobs", "memory_budget")  # parameters of the decomposition


class KernelBiclustering(BiclusterMixin, BaseEstimator):
    """Biclustering of the rows and columns of a table by kernel SVD.

    The kernel matrix of the table is decomposed as K = U diag(s) V^T. Rows are clustered by their features U s and
    columns by V s: by k-means on as many features as clusters, then by Fisher's discriminant on two, four and eight
    times as many. If ``spherical_`` and ``joint`` are False and the kernel compares single entries, as the default
    does, rows are then reassigned by their sums over the column clusters and columns by their sums over the row
    clusters, until no label changes; if the side with fewer clusters describes the table in fewer bits when divided
    into as many as the other, its sums over these are used. Entries may be negative, and rows or columns may be empty.

    Parameters
    ----------
    n_clusters : int, (int, int) or "auto", default=3
        Number of row clusters and of column clusters. An integer k gives k biclusters: each row cluster is paired with
        the column cluster it is most associated with, under the same label. A pair (rows, columns) gives a
        checkerboard of rows x columns biclusters. "auto" is the number of singular values before the widest relative
        gap, from 2 to 16 and below ``n_components``.
    kernel : str, Kernel or callable, default="association"
        Kernel between rows and columns. The default uses the entry at row i and column j, corrected for the sums of
        that row and column. Any other kernel compares vectors, brought to a common length as in ``KernelSVD``.
    weighting : {"tfidf", "length"} or None, default=None
        "length" scales rows to unit length; "tfidf" first reduces the weight of frequent columns, as scikit-learn's
        TfidfTransformer does.
    joint : bool, default=False
        Whether to cluster rows and columns as one set of points, in the same number of clusters.
    n_components : int or None, default=None
        Number of singular triplets, at most min(n, m). None uses 8 per cluster of the side with more clusters, at most
        48 but at least two per cluster; 48 for n_clusters="auto".
    spherical : bool or "auto", default="auto"
        Whether to compare feature vectors by direction only. "auto" is True for tables that are mostly zero, where the
        length of a row reflects how much of it was observed.
    refine : bool, default=True
        Whether to refine the k-means clusters with discriminants and with sums over clusters. If False, each point is
        assigned to the nearest cluster mean.
    n_init : int, default=10
        Number of k-means initialisations.
    tol : float, default=1e-3
        Error of the singular vectors, as in ``KernelSVD``; k-means needs no higher accuracy.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means and of the decomposition; None means a fixed seed.
    n_jobs, memory_budget : int or None, and float, str or None
        As in ``KernelSVD``.

    Attributes
    ----------
    row_labels_, column_labels_ : arrays of shapes (n,) and (m,)
        Cluster label of each row and of each column; ``get_labels`` gives them the names of a dataframe.
    rows_, columns_ : boolean arrays of shapes (n_biclusters, n) and (n_biclusters, m)
        Membership of rows and columns in each bicluster; ``biclusters_`` is the pair of both.
    n_clusters_ : (int, int)
        Number of row clusters and of column clusters that were fitted.
    spherical_ : bool
        Whether feature vectors were compared by direction only.
    svd_, solver_ : KernelSVD and Choice
        The fitted decomposition, its solver and the reason for it.
    n_features_in_ : int
        Number of columns of the table.

    See Also
    --------
    sklearn.cluster.SpectralCoclustering : The linear case, joint and without regularisation.
    sklearn.cluster.SpectralBiclustering : Checkerboards of dense tables.

    Notes
    -----
    Cost: that of ``KernelSVD``, for the default kernel O(nnz q) per product with q triplets, plus O((n + m) q^2).

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
        "weighting": [StrOptions(set(WEIGHTINGS)), None],
        **{name: ["boolean"] for name in ("joint", "refine")},
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "spherical": ["boolean", StrOptions({"auto"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        **{name: KernelSVD._parameter_constraints[name] for name in OF_KERNEL_SVD},
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
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
    ) -> None:
        self.n_clusters, self.kernel, self.weighting, self.joint = n_clusters, kernel, weighting, joint
        self.n_components, self.spherical, self.refine, self.n_init = n_components, spherical, refine, n_init
        self.tol, self.random_state, self.n_jobs, self.memory_budget = tol, random_state, n_jobs, memory_budget

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find biclusters of X, an array or sparse matrix of shape (n, m)."""
        self._validate_params()
        X = canonical(validate_data(self, reject_masked(X, "X"), ensure_min_samples=2, **TABLE))
        asked = check_counts(self.n_clusters, X.shape, joint=self.joint)
        seed = seed_of(self.random_state)
        filled = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
        mostly_zero = 2 * filled < X.shape[0] * X.shape[1]
        self.spherical_ = bool(mostly_zero if self.spherical == "auto" else self.spherical)
        self._weighting = Weighting.of_table(self.weighting, X)
        table = self._weighting.rows(X)
        columns_of_table = by_rows(table.T)
        self.svd_ = self._decompose(table, asked, seed)
        self.solver_ = self.svd_.solver_
        self.n_clusters_ = (count_clusters(self.svd_.singular_values_),) * 2 if asked is None else asked
        left, right = self.svd_.transform(table), self.svd_.transform_right(columns_of_table)
        self._unit = safe_unit(left, right)
        left, right = in_unit(left, self._unit), in_unit(right, self._unit)
        clustering = Clustering(self.spherical_, self.refine, self.n_components, self.n_init, seed)
        rules = self._fit_rules(left, right, clustering)
        self._row_rule, self._column_rule = rules[0], rules[-1]
        rows, columns = self._row_rule.labels(left), self._column_rule.labels(right)
        self._blocks = self._fit_blocks(table, (left, right), (rows, columns), clustering)
        if self._blocks is not None:  # as new points would be labelled, also where rounding decides
            rows, columns = self._label_rows(table), self._label_columns(columns_of_table)
        self._label_of_column_cluster = self._match_clusters(rows, columns)
        self.row_labels_, self.column_labels_ = rows, self._label_of_column_cluster[columns]
        checkerboard, diagonal = np.indices(self.n_clusters_).reshape(2, -1), np.arange(self.n_clusters_[0])
        blocks = checkerboard if isinstance(self.n_clusters, tuple) else (diagonal, diagonal)
        row_clusters, column_clusters = blocks
        self.rows_ = self.row_labels_ == row_clusters[:, None]
        self.columns_ = self.column_labels_ == column_clusters[:, None]
        return self

    @gate
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Assign new rows, an array or sparse matrix of shape (n_new, m), to the fitted row clusters."""
        check_is_fitted(self)
        X = canonical(validate_data(self, reject_masked(X, "X"), reset=False, **TABLE))
        return self._label_rows(self._weighting.rows(X))

    @gate
    def predict_columns(self, Z: ArrayLike) -> np.ndarray:
        """Assign new columns, passed as the rows of an array of shape (n_new, n), to the fitted column clusters."""
        check_is_fitted(self)
        Z = check_points(Z, "Z")
        n = len(self.row_labels_)
        if Z.shape[1] != n:
            raise ValueError(f"Z has {Z.shape[1]} columns, but new columns have {n} entries and are passed as rows")
        return self._label_of_column_cluster[self._label_columns(self._weighting.columns(Z))]

    def get_submatrix(self, i: int, data: Any) -> Any:
        """Rows and columns of ``data`` in bicluster i; a dataframe keeps its index and column names."""
        if is_into_dataframe(data):
            return nw.from_native(data, eager_only=True)[self.get_indices(i)].to_native()
        return super().get_submatrix(i, data)

    def get_labels(self, data: Any) -> tuple[Any, Any]:
        """Row and column labels as series, whose index is that of a pandas dataframe, and its columns.

        Other libraries that narwhals supports have no index: row labels are in the order of the rows, and column labels
        are a dataframe with the columns "column" and "cluster".

        Examples
        --------
        >>> import pandas as pd
        >>> from lopsided import KernelBiclustering
        >>> table = pd.DataFrame({"red": [9, 8, 0], "blue": [0, 1, 7]}, index=["rose", "tulip", "violet"])
        >>> rows, columns = KernelBiclustering(2).fit(table).get_labels(table)
        >>> rows.index.tolist(), bool(rows["violet"] == columns["blue"])
        (['rose', 'tulip', 'violet'], True)
        """
        check_is_fitted(self)
        if not is_into_dataframe(data):
            kind = type(data).__name__
            raise TypeError(f"data must be a dataframe, not {kind}; row_labels_ and column_labels_ are without names")
        expected = len(self.row_labels_), len(self.column_labels_)
        if data.shape != expected:
            raise ValueError(f"data has shape {data.shape}, but the model was fitted to a table of shape {expected}")
        frame = nw.from_native(data, eager_only=True)
        library = nw.get_native_namespace(frame)
        both = (self.row_labels_, self.column_labels_)
        rows, columns = (nw.new_series("cluster", labels, backend=library) for labels in both)
        if hasattr(data, "index"):
            rows, columns = nw.maybe_set_index(rows, index=data.index), nw.maybe_set_index(columns, index=data.columns)
            return rows.to_native(), columns.to_native()
        named = nw.from_dict({"column": frame.columns, "cluster": columns}, backend=library)
        return rows.to_native(), named.to_native()

    def _decompose(self, X: Array, asked: tuple[int, int] | None, seed: int) -> KernelSVD:
        most = min(X.shape)
        wanted = self.n_components or (MAX_FEATURES if asked is None else max(map(default_width, asked)))
        if self.n_components and wanted > most:
            warn(f"n_components={wanted} exceeds min(n_samples, n_features)={most}; {most} are kept", RankWarning)
        meets_widths = isinstance(as_kernel(self.kernel), Function) and X.shape[0] != X.shape[1]
        settings = {name: getattr(self, name) for name in OF_KERNEL_SVD} | {"random_state": seed}
        svd = KernelSVD(min(wanted, most), compatibility="pca" if meets_widths else "auto", **settings)
        return svd.set_output(transform="default").fit(X)

    def _fit_rules(self, left: np.ndarray, right: np.ndarray, clustering: Clustering) -> list[Discriminant]:
        """Rules of the row clusters and of the column clusters; one rule for both if they are clustered jointly."""
        sides = list(zip(("rows", "columns"), (left, right), self.n_clusters_, strict=True))
        if self.joint:
            sides = [("points", np.concatenate([left, right]), self.n_clusters_[0])]
        rules = [clustering.rule(F, count) for _, F, count in sides]
        for (name, _, count), rule in zip(sides, rules, strict=True):
            if len(rule.offsets) < count:
                found = f"the {name} have only {len(rule.offsets)} distinct feature vectors"
                warn(f"n_clusters={count}, but {found}: other clusters are empty; lower n_clusters", LopsidedWarning)
        return rules

    def _fit_blocks(self, table: Array, features: Pair, labels: Pair, clustering: Clustering) -> BlockRules | None:
        """Rules by sums over the clusters of the other side, where the kernel compares entries and lengths matter."""
        of_entries = isinstance(self.svd_.kernel_, Precomputed) and self.svd_.landmarks_ is None
        if not self.refine or self.spherical_ or self.joint or not of_entries:
            return None
        if any(np.bincount(of_side).min() == 0 for of_side in labels):
            return None
        K = in_unit(self.svd_.kernel_.left(table), self._unit)
        finer = clustering.finer_labels(features, labels)
        if finer is None:
            return block_sweeps(K, *labels)[0]
        energy = float(np.square(row_lengths(K), dtype=float).sum())
        return unequal_sweeps(K, *labels, finer, energy)[0]

    def _match_clusters(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Label of each column cluster: of the row cluster it is most associated with, unless labels are final."""
        if self.joint or isinstance(self.n_clusters, tuple):
            return np.arange(self.n_clusters_[1])
        factors = Factors(self.svd_.left_vectors_, self.svd_.singular_values_, self.svd_.right_vectors_)
        return matched_left_classes(block_means(factors, rows, columns, self.n_clusters_))

    def _label_rows(self, table: Array) -> np.ndarray:
        """Clusters of the rows of a weighted table."""
        if self._blocks is None:
            return self._row_rule.labels(in_unit(self.svd_.transform(table), self._unit))
        sums = kernel_times(self.svd_, table, self._blocks.columns_of)
        return self._blocks.rows.labels(in_unit(sums, self._unit))

    def _label_columns(self, columns: Array) -> np.ndarray:
        """Clusters of weighted columns, passed as rows, before they are matched with row clusters."""
        if self._blocks is None:
            return self._column_rule.labels(in_unit(self.svd_.transform_right(columns), self._unit))
        sums = kernel_times(self.svd_, columns, self._blocks.rows_of, of_right=True)
        return self._blocks.columns.labels(in_unit(sums, self._unit))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        return tags
