"""Clustering of the rows or of the columns of a table from their singular-vector features, and how many of each."""

from collections.abc import Iterator
from numbers import Integral
from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.cluster import KMeans

from .._core import Array, on_one_thread, unit_rows
from ..exceptions import LopsidedWarning, warn
from .discriminant import Discriminant, nearest_mean, refine_partition

# Both chosen once on the six sets of benchmarks/biclustering_table2.py, whose part "ablation" changes them
FEATURES_PER_CLUSTER = 8
MAX_FEATURES = 48  # in total, unless two per cluster are more
Pair = tuple[np.ndarray, np.ndarray]  # of the rows and of the columns


class Clustering(NamedTuple):
    """How points are clustered; see ``KernelBiclustering`` for the settings."""

    spherical: bool
    refine: bool
    n_components: int | None
    n_init: int
    seed: int
    centred: bool = False  # whether features are those of a table with centred columns

    def of_reading(self, name: str) -> Self:
        """The same for tables in one reading: all but "counts" centre columns."""
        return self._replace(centred=name != "counts")

    def rule(self, F: np.ndarray, count: int) -> Discriminant:
        """Cluster points F (n, k) by k-means on ``count`` features, then by discriminants on more and more features.

        If the table is centred, the means of ``count`` clusters span a dimension less, and k-means uses a feature less.
        The discriminant has fewer than ``count`` clusters if the points have fewer distinct features. The last one uses
        all features if ``n_components`` was given, and a few per cluster if it is None.
        """
        start = self._leading(F, max(1, count - self.centred))
        live = start.any(axis=1)
        unit = np.sqrt(np.finfo(start.dtype).eps) * np.abs(start).max(initial=0.0)  # half the digits count
        distinct = min(count, len(np.unique(np.rint(start[live] / unit), axis=0)))
        if distinct < 2:
            return nearest_mean(start, np.zeros(len(F), dtype=np.intp), 1)._replace(spherical=self.spherical)
        model = KMeans(distinct, n_init=self.n_init, random_state=self.seed)
        labels = on_one_thread(model.fit, start[live]).labels_
        rule = nearest_mean(start[live], labels, distinct)._replace(spherical=self.spherical)
        widest = F.shape[1] if self.n_components else min(F.shape[1], default_width(count))
        for width in _widths(count, widest) if self.refine else ():
            rule = refine_partition(self._leading(F, width), rule.labels(F), distinct)
            rule = rule._replace(spherical=self.spherical)
        return rule

    def rules(self, features: Pair, counts: tuple[int, int], *, joint: bool) -> tuple[Discriminant, Discriminant]:
        """Rules of the row clusters and of the column clusters, one for both if they are clustered jointly.

        Fewer distinct features than clusters give fewer clusters, with a warning.
        """
        if joint:
            return (self._checked_rule("points", np.concatenate(features), counts[0]),) * 2
        rows, columns = map(self._checked_rule, ("rows", "columns"), features, counts)
        return rows, columns

    def finer_labels(self, features: Pair, labels: Pair) -> np.ndarray | None:
        """Labels of the side with fewer clusters in as many clusters as the other side has; None if it has no more."""
        counts = [int(of_side.max()) + 1 for of_side in labels]
        fewer = int(np.argmin(counts))
        F = features[fewer]
        most = min(max(counts), len(F))
        if most == counts[fewer]:
            return None
        finer = self.rule(F, most).labels(F)
        sizes = np.bincount(finer)
        return finer if len(sizes) > counts[fewer] and sizes.min() > 0 else None

    def _checked_rule(self, name: str, F: np.ndarray, count: int) -> Discriminant:
        rule = self.rule(F, count)
        if len(rule.offsets) < count:
            found = f"the {name} have only {len(rule.offsets)} distinct feature vectors"
            warn(f"n_clusters={count}, but {found}: other clusters are empty; lower n_clusters", LopsidedWarning)
        return rule

    def _leading(self, F: np.ndarray, width: int) -> np.ndarray:
        """Leading features, or their directions."""
        return unit_rows(F[:, :width]) if self.spherical else F[:, :width]


def check_counts(
    n_clusters: int | tuple[int, int] | str, shape: tuple[int, int], *, joint: bool
) -> tuple[int, int] | None:
    """Validated numbers of row and column clusters of a table, or None for "auto"."""
    if n_clusters == "auto":
        return None
    pair = n_clusters if isinstance(n_clusters, tuple) else (n_clusters, n_clusters)
    if len(pair) != 2 or not all(isinstance(count, Integral) and count >= 1 for count in pair):
        raise ValueError(f"n_clusters={n_clusters} must be a positive integer, a pair (rows, columns) or 'auto'")
    (n, m), (rows, columns) = shape, map(int, pair)
    if joint and rows != columns:
        raise ValueError(f"joint=True takes one number of clusters, not n_clusters={n_clusters}")
    if rows > n:
        raise ValueError(f"n_clusters={rows} of rows exceeds n_samples={n}; lower it or give more rows")
    if columns > m and isinstance(n_clusters, tuple):
        raise ValueError(f"n_clusters={columns} of columns exceeds n_features={m}; lower it or give more columns")
    if columns > m and not joint:
        warn(f"n_clusters={columns} exceeds n_features={m}: every column is a cluster of its own", LopsidedWarning)
        columns = m
    return rows, columns


def is_mostly_zero(X: Array) -> bool:
    """Whether more than half of the entries of a table are zero."""
    entries = X.count_nonzero() if sparse.issparse(X) else np.count_nonzero(X)
    return bool(2 * entries < X.shape[0] * X.shape[1])


def default_width(count: int) -> int:
    """Default number of features of the last discriminant for ``count`` clusters."""
    return max(2 * count, min(FEATURES_PER_CLUSTER * count, MAX_FEATURES))


def _widths(count: int, widest: int) -> Iterator[int]:
    """Numbers of features of the successive discriminants: twice the clusters, doubled until ``widest`` is reached."""
    width = 2 * count
    while width < widest:
        yield width
        width *= 2
    yield widest
