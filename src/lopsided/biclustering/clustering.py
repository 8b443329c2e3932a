"""Clustering of the rows or of the columns of a table from their singular-vector features."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..exceptions import LopsidedWarning, warn
from .discriminant import Discriminant, directions, nearest_mean, refine

WIDEST = 8  # features per cluster
ENOUGH = 48  # features in total, unless two per cluster are more


class Rule(NamedTuple):
    """Assignment of points to clusters by a discriminant on their leading features, or on the direction of these."""

    discriminant: Discriminant
    spherical: bool

    def labels(self, F: np.ndarray) -> np.ndarray:
        """Cluster labels of points with features F, shape (n, at least as many as the rule uses)."""
        F = F[:, : len(self.discriminant.weights)]
        return self.discriminant.labels(directions(F) if self.spherical else F)


class Clustering(NamedTuple):
    """Settings of a clustering: k-means on as many features as clusters, then discriminants on more and more features.

    Attributes
    ----------
    spherical : bool
        Whether to compare feature vectors by their direction only.
    refined : bool
        Whether to refine the k-means clusters with discriminants.
    n_components : int or None
        Number of features in the last discriminant; None uses a few per cluster.
    n_init : int
        Number of k-means initialisations.
    seed : int
        Seed of k-means.
    """

    spherical: bool
    refined: bool
    n_components: int | None
    n_init: int
    seed: int

    def rule(self, F: np.ndarray, count: int, name: str | None = None) -> Rule:
        """Fit the rule for ``count`` clusters of points with features F (n, k).

        A warning of fewer clusters calls the points ``name``; None gives no warning.
        """
        start = self._compared(F[:, :count])
        live = np.abs(start).sum(axis=1) > 0
        distinct = _distinct(start[live], count)
        if distinct < count and name:
            warn(
                f"n_clusters={count}, but the {name} have only {distinct} different features; the other clusters are "
                "empty. Lower n_clusters",
                LopsidedWarning,
            )
        if distinct < 2:
            return Rule(nearest_mean(start, np.zeros(len(start), dtype=np.intp), 1), self.spherical)
        from sklearn.cluster import KMeans  # imported late because the import is slow

        labels = KMeans(distinct, n_init=self.n_init, random_state=self.seed).fit_predict(start[live])
        rule = Rule(nearest_mean(start[live], labels, distinct), self.spherical)
        most = F.shape[1] if self.n_components else min(F.shape[1], widest(count))
        for width in _widths(count, most) if self.refined else ():
            rule = Rule(refine(self._compared(F[:, :width]), rule.labels(F), distinct), self.spherical)
        return rule

    def _compared(self, F: np.ndarray) -> np.ndarray:
        return directions(F) if self.spherical else F


def widest(count: int) -> int:
    """Default number of features of the last discriminant for ``count`` clusters."""
    return max(2 * count, min(WIDEST * count, ENOUGH))


def _widths(count: int, most: int) -> list[int]:
    """Numbers of features of the successive discriminants: twice the clusters, doubled until ``most`` is reached."""
    widths = [2 * count]
    while 2 * widths[-1] <= most:
        widths.append(2 * widths[-1])
    return [width for width in widths if width < most] + [most]


def _distinct(D: np.ndarray, enough: int) -> int:
    """Number of distinct rows, compared to half the digits of the dtype, but at most ``enough``."""
    unit = np.sqrt(np.finfo(D.dtype).eps) * np.abs(D).max(initial=0.0)
    grid = np.rint(D / unit) if unit > 0 else np.zeros_like(D)
    return min(enough, len(np.unique(grid, axis=0)))
