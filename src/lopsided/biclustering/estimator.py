"""Biclustering by kernel SVD: row clusters and column clusters from one decomposition."""

from numbers import Integral
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils import Tags
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_is_fitted, validate_data

from .._core import (
    FLOATS,
    Array,
    ArrayLike,
    Estimator,
    atomic_fit,
    by_blocks,
    by_rows,
    canonical,
    check_points,
    gate,
    in_unit,
    reject_masked,
    safe_unit,
    seed_of,
)
from ..kernel_svd import KernelSVD, kernel_times
from ..kernels import Precomputed
from ..svd import Factors
from .blocks import BlockRules, block_means, block_rules, matched_left_classes
from .clustering import Clustering, Pair, check_counts, is_mostly_zero
from .decompose import LEAST_SIDE, Counts, Decomposition
from .missing import Filling, filled
from .names import NamesBiclusters
from .readings import READINGS, has_counts_of_sizes
from .stability import Stability, cluster_stability, most_stable_count, sampled_rows
from .weighting import WEIGHTINGS

TABLE: dict[str, Any] = {"accept_sparse": "csr", "dtype": FLOATS, "ensure_all_finite": "allow-nan"}
OF_KERNEL_SVD = ("compatibility", "center", "tol", "random_state", "n_jobs", "memory_budget")  # of the decomposition


class KernelBiclustering(NamesBiclusters, Estimator):
    """Biclustering of the rows and columns of a table by kernel SVD.

    A table is read in one of three ways: as "counts", whose entries compare as they are (counts, tf-idf, ratings), as
    "attributes", whose columns are of different kinds and units, or as "profiles", whose rows are to be compared
    whatever their level and scale. The kernel matrix of the table is decomposed as K = U diag(s) V^T. Rows are
    clustered by their features U s and columns by V s: by k-means on as many features as clusters, or one less if the
    reading centres columns, then by Fisher's discriminant on two, four and eight times as many. If entries are compared
    as they are, and ``spherical_`` and ``joint`` are False, rows are then reassigned by their sums over the column
    clusters and columns by their sums over the row clusters, until no label changes; if the side with fewer clusters
    describes the table in fewer bits when divided into as many as the other, its sums over these are used. Entries may
    be negative, and rows or columns may be empty.

    Parameters
    ----------
    n_clusters : int, (int, int) or "auto", default=3
        Number of row clusters and of column clusters. An integer k gives k biclusters: each row cluster is paired with
        the column cluster it is most associated with, under the same label. A pair (rows, columns) gives a
        checkerboard of rows x columns biclusters. "auto" finds the number of row clusters on which two random halves
        of the columns agree best (see ``path_``), at most half of ``n_components``.
    kernel : "auto", str, Kernel or callable, default="auto"
        Kernel between rows and columns. "auto" uses the entry at row i and column j: "association", corrected for the
        sums of that row and column, in the reading "counts", and the prepared entry in others. Most other kernels
        compare vectors, brought to a common length as in ``KernelSVD``.
    reading : {"auto", "counts", "attributes", "profiles"}, default="auto"
        "counts" takes entries as they are; "attributes" standardises columns, scales rows to unit length and centres
        columns; "profiles" takes logarithms if no entry is negative, standardises rows and centres columns. "auto" is
        "counts" for sparse tables, tables that are mostly zero, whole numbers of which zero is most common, tables that
        standardising hardly changes, checkerboards, and with any ``kernel`` or ``weighting``; otherwise "attributes",
        unless row clusters from random halves of the columns agree clearly better as "profiles".
    weighting : {"tfidf", "length"} or None, default=None
        "length" scales rows to unit length; "tfidf" first reduces the weight of frequent columns, as scikit-learn's
        TfidfTransformer does.
    compatibility, center : default="auto" and False
        As in ``KernelSVD``, for kernels that compare vectors.
    joint : bool, default=False
        Whether to cluster rows and columns as one set of points, in the same number of clusters.
    n_components : int or None, default=None
        Number of singular triplets, at most min(n, m). None uses 8 per cluster of the side with more clusters, at most
        48 but at least two per cluster; 48 for n_clusters="auto".
    spherical : bool or "auto", default="auto"
        Whether to compare feature vectors by direction only. "auto" is True where the length of a row reflects how much
        of it was observed: for tables that are mostly zero, and for whole numbers, most often zero, whose rows or
        columns differ in size (standardising them changes the table: correlation at most 0.955), unless a
        checkerboard, a ``kernel`` or a ``weighting`` is asked for.
    refine : bool, default=True
        Whether to refine the k-means clusters with discriminants and with sums over clusters. If False, each point is
        assigned to the nearest cluster mean.
    n_init : int, default=10
        Number of k-means initialisations.
    tol : float, default=1e-3
        Error of the singular vectors, as in ``KernelSVD``; k-means needs no higher accuracy.
    random_state : int, RandomState instance or None, default=None
        Seed of k-means and of the decomposition; None means a fixed seed.
    n_jobs, memory_budget, verbose : int or None, float, str or None, and int, default=0
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
    reading_ : Reading
        ``name`` of the reading, and the ``reason`` for it.
    stability_ : array of shape (n_row_clusters,) or None
        For each row cluster, its Jaccard index with the cluster that half of the columns gives, averaged over random
        halves: near one if it is stable, below one half if it dissolves. None for "counts", where it would take longer
        than the fit, unless n_clusters="auto"; ``assess_stability`` computes it.
    path_ : tuple of Stability
        With n_clusters="auto": numbers of clusters and how well two halves of the columns agree on them, the choice
        last.
    svd_, solver_ : KernelSVD and Choice
        The fitted decomposition, its solver and the reason for it.
    n_features_in_, feature_names_in_ : int and array
        Number of columns of the table, and their names, if they have any.

    See Also
    --------
    sklearn.cluster.SpectralCoclustering : The linear case, joint and without regularisation.
    sklearn.cluster.SpectralBiclustering : Checkerboards of dense tables.

    Notes
    -----
    Missing values (NaN in dense tables) are filled in with the mean of their column plus its spread times the mean
    standardised entry of their row, with a warning.

    Cost: that of ``KernelSVD``, for the default kernel O(nnz q) per product with q triplets, plus O((n + m) q^2). To
    choose the reading or the number of clusters takes ten more such fits on half of the columns and 1,000 rows.

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

    path_: tuple[Stability, ...]

    _parameter_constraints: dict[str, Any] = {
        "n_clusters": [Interval(Integral, 1, None, closed="left"), tuple, StrOptions({"auto"})],
        "kernel": KernelSVD._parameter_constraints["kernel"],
        "reading": [StrOptions({"auto", *READINGS})],
        "weighting": [StrOptions(set(WEIGHTINGS)), None],
        **{name: ["boolean"] for name in ("joint", "refine")},
        "n_components": [Interval(Integral, 1, None, closed="left"), None],
        "spherical": ["boolean", StrOptions({"auto"})],
        "n_init": [Interval(Integral, 1, None, closed="left")],
        **{name: KernelSVD._parameter_constraints[name] for name in (*OF_KERNEL_SVD, "verbose")},
    }

    def __init__(
        self,
        n_clusters: int | tuple[int, int] | str = 3,
        *,
        kernel: Any = "auto",
        reading: str = "auto",
        weighting: str | None = None,
        compatibility: Any = "auto",
        center: bool = False,
        joint: bool = False,
        n_components: int | None = None,
        spherical: bool | str = "auto",
        refine: bool = True,
        n_init: int = 10,
        tol: float = 1e-3,
        random_state: Any = None,
        n_jobs: int | None = None,
        memory_budget: float | str | None = None,
        verbose: int = 0,
    ) -> None:
        self.n_clusters, self.kernel, self.reading, self.weighting = n_clusters, kernel, reading, weighting
        self.compatibility, self.center, self.joint = compatibility, center, joint
        self.n_components, self.spherical, self.refine, self.n_init = n_components, spherical, refine, n_init
        self.tol, self.random_state, self.n_jobs = tol, random_state, n_jobs
        self.memory_budget, self.verbose = memory_budget, verbose

    @atomic_fit
    def fit(self, X: ArrayLike, y: Any = None) -> Self:
        """Find biclusters of X, an array or sparse matrix of shape (n, m)."""
        self._validate_params()
        X = canonical(validate_data(self, reject_masked(X, "X"), ensure_min_samples=2, **TABLE))
        self._filling: Filling | None
        X, self._filling = (check_points(X, "X"), None) if sparse.issparse(X) else filled(X)
        asked = check_counts(self.n_clusters, X.shape, joint=self.joint)
        seed = seed_of(self.random_state)
        self.spherical_ = bool(self._lengths_are_sizes(X) if self.spherical == "auto" else self.spherical)
        clustering, decomposition = self._clustering(seed), self._decomposition(seed)
        halves = self._choose(X, asked, clustering, decomposition)
        clustering = clustering.of_reading(self.reading_.name)
        self._preparation: Any = decomposition.prepare(X, self.reading_.name)
        table = self._preparation.rows(X)
        self.svd_ = decomposition.svd(table, self.n_clusters_, self.reading_.name)
        self.solver_ = self.svd_.solver_
        self._store_labels(*self._cluster(table, clustering))
        self.stability_ = self._stability(halves, clustering) if halves else None
        return self

    @gate
    def assess_stability(self, X: ArrayLike) -> np.ndarray:
        """Compute ``stability_`` from the table of ``fit``, at the cost of ten fits on half of the columns."""
        check_is_fitted(self)
        X = self._validated(X)
        if X.shape[0] != len(self.row_labels_):
            raise ValueError(
                f"X has {X.shape[0]} rows, but the table of fit had {len(self.row_labels_)}; pass that table"
            )
        seed = seed_of(self.random_state)
        halves = self._decomposition(seed).half_features(X, self.reading_.name, self.n_clusters_, seed)
        return self._stability(halves, self._clustering(seed).of_reading(self.reading_.name))

    @by_blocks
    @gate
    def predict(self, X: ArrayLike) -> np.ndarray:
        """Assign new rows, an array, sparse matrix or dask collection of shape (n_new, m), to the row clusters."""
        check_is_fitted(self)
        return self._label_rows(self._preparation.rows(self._validated(X)))

    @gate
    def predict_columns(self, Z: ArrayLike) -> np.ndarray:
        """Assign new columns, passed as the rows of an array of shape (n_new, n), to the fitted column clusters."""
        check_is_fitted(self)
        Z = check_points(Z, "Z")
        n = len(self.row_labels_)
        if Z.shape[1] != n:
            raise ValueError(f"Z has {Z.shape[1]} columns, but new columns have {n} entries and are passed as rows")
        return self._label_of_column_cluster[self._label_columns(self._preparation.columns(Z))]

    def _choose(self, X: Array, asked: Counts, clustering: Clustering, decomposition: Decomposition) -> list[Pair]:
        """Choose the reading and the numbers of clusters; return the row features of halves, if any were compared."""
        decomposition.check_width(X.shape)
        board, self.path_ = isinstance(self.n_clusters, tuple), ()
        self.reading_, halves = decomposition.choose_reading(self.reading, X, asked, clustering, checkerboard=board)
        if asked is None and min(X.shape) >= LEAST_SIDE:
            halves = halves or decomposition.half_features(X, self.reading_.name, None, clustering.seed)
            of_reading = clustering.of_reading(self.reading_.name)
            self.path_ = most_stable_count(halves, decomposition.most_clusters(halves), of_reading)
        self.n_clusters_ = asked or (self.path_[-1].n_clusters if self.path_ else min(2, *X.shape),) * 2
        return halves

    def _lengths_are_sizes(self, X: Array) -> bool:
        """Whether the length of a row's features tells only how much of it was observed, and so for columns."""
        if is_mostly_zero(X):
            return True
        levels = isinstance(self.n_clusters, tuple)  # a checkerboard, which may have nothing but levels
        given = not isinstance(self.kernel, str) or self.kernel != "auto" or self.weighting is not None
        return not levels and not given and self.reading in ("auto", "counts") and has_counts_of_sizes(X)

    def _cluster(self, table: Array, clustering: Clustering) -> Pair:
        """Fit the rules of clusters to the decomposed table; return the clusters of its rows and columns."""
        columns_of_table = by_rows(table.T)
        left, right = self.svd_.transform(table), self.svd_.transform_right(columns_of_table)
        self._unit = safe_unit(left, right)
        left, right = in_unit(left, self._unit), in_unit(right, self._unit)
        rules = clustering.rules((left, right), self.n_clusters_, joint=self.joint)
        self._row_rule, self._column_rule = rules
        rows, columns = self._row_rule.labels(left), self._column_rule.labels(right)
        self._blocks = self._fit_blocks(table, (left, right), (rows, columns), clustering)
        if self._blocks is None:
            return rows, columns
        return self._label_rows(table), self._label_columns(columns_of_table)  # also where rounding decides

    def _store_labels(self, rows: np.ndarray, columns: np.ndarray) -> None:
        """Match the clusters of rows and columns, and store labels and biclusters."""
        self._label_of_column_cluster = self._match_clusters(rows, columns)
        self.row_labels_, self.column_labels_ = rows, self._label_of_column_cluster[columns]
        checkerboard, diagonal = np.indices(self.n_clusters_).reshape(2, -1), np.arange(self.n_clusters_[0])
        row_clusters, column_clusters = checkerboard if isinstance(self.n_clusters, tuple) else (diagonal, diagonal)
        self.rows_ = self.row_labels_ == row_clusters[:, None]
        self.columns_ = self.column_labels_ == column_clusters[:, None]

    def _decomposition(self, seed: int) -> Decomposition:
        settings = {name: getattr(self, name) for name in OF_KERNEL_SVD} | {"random_state": seed}
        return Decomposition(self.kernel, self.weighting, self.n_components, settings)

    def _clustering(self, seed: int) -> Clustering:
        return Clustering(self.spherical_, self.refine, self.n_components, self.n_init, seed)

    def _stability(self, halves: list[Pair], clustering: Clustering) -> np.ndarray:
        labels = self.row_labels_[sampled_rows(len(self.row_labels_), clustering.seed)]
        return cluster_stability(labels, halves, self.n_clusters_[0], clustering)

    def _fit_blocks(self, table: Array, features: Pair, labels: Pair, clustering: Clustering) -> BlockRules | None:
        """Rules by sums over the clusters of the other side, where the kernel compares entries and lengths matter."""
        of_entries = isinstance(self.svd_.kernel_, Precomputed) and self.reading_.name == "counts"
        of_entries = of_entries and self.svd_.landmarks_ is None
        if not self.refine or self.spherical_ or self.joint or not of_entries:
            return None
        if any(np.bincount(of_side).min() == 0 for of_side in labels):
            return None
        K = in_unit(self.svd_.kernel_.left(table), self._unit)
        return block_rules(K, labels, clustering.finer_labels(features, labels))

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

    def _validated(self, X: ArrayLike) -> Array:
        X = canonical(validate_data(self, reject_masked(X, "X"), reset=False, **TABLE))
        return check_points(X, "X") if sparse.issparse(X) or self._filling is None else self._filling.rows(X)

    @property
    def _example(self) -> np.ndarray:
        return np.ones((1, self.n_features_in_))

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = tags.input_tags.allow_nan = True
        return tags
