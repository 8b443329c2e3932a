"""Clustering of the rows or of the columns of a table from their singular-vector features."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.cluster import KMeans

from .counts import default_width
from .discriminant import Discriminant, nearest_mean, refine_partition, unit_rows

Pair = tuple[np.ndarray, np.ndarray]  # of the rows and of the columns


def fit_rule(
    F: np.ndarray, count: int, *, spherical: bool, refine: bool, n_components: int | None, n_init: int, seed: int
) -> Discriminant:
    """Cluster points by k-means on as many features as clusters, then by discriminants on more and more features.

    The discriminant has fewer than ``count`` clusters if the points have fewer distinct features. The last one uses all
    features F (n, k) if ``n_components`` was given, and a few per cluster if it is None; the other settings are those
    of ``KernelBiclustering``.
    """
    start = unit_rows(F[:, :count]) if spherical else F[:, :count]
    live = np.abs(start).sum(axis=1) > 0
    distinct = _count_distinct(start[live], count)
    if distinct < 2:
        return nearest_mean(start, np.zeros(len(start), dtype=np.intp), 1)._replace(spherical=spherical)
    labels = KMeans(distinct, n_init=n_init, random_state=seed).fit_predict(start[live])
    rule = nearest_mean(start[live], labels, distinct)._replace(spherical=spherical)
    widest = F.shape[1] if n_components else min(F.shape[1], default_width(count))
    for width in _widths(count, widest) if refine else ():
        features = unit_rows(F[:, :width]) if spherical else F[:, :width]
        rule = refine_partition(features, rule.labels(F), distinct)._replace(spherical=spherical)
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
