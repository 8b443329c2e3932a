"""Clusters of one side of a table, from the features of its decomposition."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..exceptions import LopsidedWarning, warn
from ..linalg import Discriminant, directions, nearest_mean, refine

WIDEST = 8  # features for each cluster
ENOUGH = 48  # features, unless two for each cluster are more


class Rule(NamedTuple):
    """Which cluster a point belongs to, by the first of its features, or by their direction alone."""

    discriminant: Discriminant
    spherical: bool

    def labels(self, F: np.ndarray) -> np.ndarray:
        """The clusters of points with features F, shape (n, at least those the rule looks at)."""
        F = F[:, : len(self.discriminant.weights)]
        return self.discriminant.labels(directions(F) if self.spherical else F)


class Clustering(NamedTuple):
    """How clusters are found: by k-means on as many features as clusters, then by discriminants of more and more.

    Attributes
    ----------
    spherical : bool
        Whether features are compared by their direction.
    refined : bool
        Whether discriminants follow.
    n_components : int or None
        Features they look at in the end; None is a few for each cluster.
    n_init : int
        Starts of k-means.
    seed : int
        Of k-means.
    """

    spherical: bool
    refined: bool
    n_components: int | None
    n_init: int
    seed: int

    def rule(self, F: np.ndarray, count: int, name: str) -> Rule:
        """The rule that tells ``count`` clusters of points with features F (n, k) apart; name says what they are."""
        start = self._compared(F[:, :count])
        live = np.abs(start).sum(axis=1) > 0
        distinct = _distinct(start[live], count)
        if distinct < count:
            warn(
                f"n_clusters={count}, but the {name} have only {distinct} different features; the other clusters are "
                "empty. Lower n_clusters",
                LopsidedWarning,
            )
        if distinct < 2:
            return Rule(nearest_mean(start, np.zeros(len(start), dtype=np.intp), 1), self.spherical)
        from sklearn.cluster import KMeans  # late, as importing it takes long

        labels = KMeans(distinct, n_init=self.n_init, random_state=self.seed).fit_predict(start[live])
        rule = Rule(nearest_mean(start[live], labels, distinct), self.spherical)
        most = F.shape[1] if self.n_components else min(F.shape[1], widest(count))
        for width in _widths(count, most) if self.refined else ():
            rule = Rule(refine(self._compared(F[:, :width]), rule.labels(F), distinct), self.spherical)
        return rule

    def _compared(self, F: np.ndarray) -> np.ndarray:
        return directions(F) if self.spherical else F


def widest(count: int) -> int:
    """How many features a discriminant of so many clusters looks at."""
    return max(2 * count, min(WIDEST * count, ENOUGH))


def _widths(count: int, most: int) -> list[int]:
    """Twice as many features as clusters, doubled up to the most."""
    widths = [2 * count]
    while 2 * widths[-1] <= most:
        widths.append(2 * widths[-1])
    return [width for width in widths if width < most] + [most]


def _distinct(D: np.ndarray, enough: int) -> int:
    """How many different rows there are to half the digits, counted up to enough."""
    unit = np.sqrt(np.finfo(D.dtype).eps) * np.abs(D).max(initial=0.0)
    grid = np.rint(D / unit) if unit > 0 else np.zeros_like(D)
    return min(enough, len(np.unique(grid, axis=0)))
