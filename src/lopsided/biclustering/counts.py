"""Numbers of clusters, asked for or found from singular values, and the number of features that tell them apart."""

from __future__ import annotations

from numbers import Integral

import numpy as np

from ..exceptions import LopsidedWarning, warn

MAX_AUTO_CLUSTERS = 16  # upper limit on the number of clusters found from singular values
# Both chosen once on the six documents x terms sets of benchmarks/biclustering_table2.py
FEATURES_PER_CLUSTER = 8
MAX_FEATURES = 48  # in total, unless two per cluster are more


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


def count_clusters(s: np.ndarray) -> int:
    """Number of singular values, from 2 to 16, before the largest gap relative to the value above the gap."""
    s = np.where(s > len(s) * np.finfo(s.dtype).eps * s[:1], s, 0)[: MAX_AUTO_CLUSTERS + 1]
    if len(s) < 3 or not s[1] > 0:
        return min(len(s), 2)
    gaps = 1 - s[2:] / np.where(s[1:-1] > 0, s[1:-1], np.inf)
    return int(np.argmax(gaps)) + 2


def default_width(count: int) -> int:
    """Default number of features of the last discriminant for ``count`` clusters."""
    return max(2 * count, min(FEATURES_PER_CLUSTER * count, MAX_FEATURES))
