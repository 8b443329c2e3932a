"""Clustering of the rows or of the columns of a table from their singular-vector features."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from sklearn.cluster import KMeans

from .counts import default_width
from .discriminant import Discriminant, nearest_mean, refine_partition, unit_rows

Pair = tuple[np.ndarray, np.ndarray]  # of the rows and of the columns


class Rule(NamedTuple):
    """Assignment of points to clusters by a discriminant on their leading features, or on the direction of these."""

    discriminant: Discriminant
    spherical: bool

    @property
    def n_clusters(self) -> int:
        """Number of clusters that the rule tells apart."""
        return len(self.discriminant.offsets)

    def labels(self, F: np.ndarray) -> np.ndarray:
        """Cluster labels of points with features F, shape (n, at least as many as the rule uses)."""
        F = F[:, : len(self.discriminant.weights)]
        return self.discriminant.labels(unit_rows(F) if self.spherical else F)


def fit_rule(
    F: np.ndarray, count: int, *, spherical: bool, refine: bool, n_components: int | None, n_init: int, seed: int
) -> Rule:
    """Cluster points by k-means on as many features as clusters, then by discriminants on more and more features.

    Parameters
    ----------
    F : array of shape (n, k)
        Features of the points.
    count : int
        Number of clusters; the rule has fewer if the points have fewer distinct features.
    spherical : bool
        Whether to compare feature vectors by their direction only.
    refine : bool
        Whether to refine the k-means clusters with discriminants.
    n_components : int or None
        If given, the last discriminant uses all k features; None uses a few per cluster.
    n_init, seed : int
        Number of k-means initialisations, and their seed.
    """
    start = unit_rows(F[:, :count]) if spherical else F[:, :count]
    live = np.abs(start).sum(axis=1) > 0
    distinct = _count_distinct(start[live], count)
    if distinct < 2:
        return Rule(nearest_mean(start, np.zeros(len(start), dtype=np.intp), 1), spherical)
    labels = KMeans(distinct, n_init=n_init, random_state=seed).fit_predict(start[live])
    rule = Rule(nearest_mean(start[live], labels, distinct), spherical)
    widest = F.shape[1] if n_components else min(F.shape[1], default_width(count))
    for width in _widths(count, widest) if refine else ():
        features = unit_rows(F[:, :width]) if spherical else F[:, :width]
        rule = Rule(refine_partition(features, rule.labels(F), distinct), spherical)
    return rule


def finer_labels(features: Pair, labels: Pair, **settings: Any) -> np.ndarray | None:
    """Labels of the side with fewer clusters in as many clusters as the other side; None if there are no more.

    The ``settings`` are those of ``fit_rule``.
    """
    counts = [int(of_side.max()) + 1 for of_side in labels]
    fewer = int(np.argmin(counts))
    F = features[fewer]
    most = min(max(counts), len(F))
    if most == counts[fewer]:
        return None
    finer = fit_rule(F, most, **settings).labels(F)
    sizes = np.bincount(finer)
    return finer if len(sizes) > counts[fewer] and sizes.min() > 0 else None


def _widths(count: int, widest: int) -> list[int]:
    """Numbers of features of the successive discriminants: twice the clusters, doubled until ``widest`` is reached."""
    widths = [2 * count]
    while 2 * widths[-1] <= widest:
        widths.append(2 * widths[-1])
    return [width for width in widths if width < widest] + [widest]


def _count_distinct(D: np.ndarray, enough: int) -> int:
    """Number of distinct rows, compared to half the digits of the dtype, but at most ``enough``."""
    unit = np.sqrt(np.finfo(D.dtype).eps) * np.abs(D).max(initial=0.0)
    grid = np.rint(D / unit) if unit > 0 else np.zeros_like(D)
    return min(enough, len(np.unique(grid, axis=0)))
