"""The best right things for each left one, from a block of scores or from vectors whose inner products are scores."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .threads import blocks_of

BLOCK_BYTES = 1 << 27  # scores in memory at once, at most
GROUP = 64  # columns whose maximum is compared at once: one pass over the block finds a bound that few entries exceed
GROUPS_PER_RANK = (
    8  # with fewer groups per rank a partition of all scores is faster: measured from 40 to 100,000 columns
)


class Ranked(NamedTuple):
    """Pairs with their scores, by left thing and best first."""

    left: np.ndarray
    right: np.ndarray
    scores: np.ndarray


def best_first(
    left: np.ndarray,
    right: np.ndarray,
    rows: np.ndarray,
    k: int,
    leave_out: sparse.csr_array | None,
    added: sparse.csr_array | None = None,
) -> Ranked:
    """The k right things with the largest left[rows] @ right.T + added[rows], in blocks; fewer if many are left out."""
    k = min(k, len(right))
    parts = []
    for part in blocks_of(len(rows), right.itemsize * len(right), BLOCK_BYTES):
        some = rows[part]
        scores = left[some] @ right.T
        if added is not None:
            extra = added[some].tocoo()
            scores[extra.coords] += extra.data
        if leave_out is not None:
            scores[leave_out[some].nonzero()] = -np.inf
        best = largest(scores, k)
        values = np.take_along_axis(scores, best, axis=1)
        kept = np.isfinite(values)
        parts.append(Ranked(np.repeat(some, k)[kept.ravel()], best[kept], values[kept]))
    return Ranked(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, largest first and equal ones in order; shape (n, k).

    The k-th largest of the maxima of groups of columns bounds the k-th largest score from below, and only scores that
    reach it are sorted. Where groups are too few for a tight bound, it is the k-th largest score itself. Cost: O(n m).
    """
    n, m = scores.shape
    tight = m >= GROUPS_PER_RANK * k * GROUP
    peaks = scores[:, : m - m % GROUP].reshape(n, -1, GROUP).max(axis=2) if tight else scores
    bounds = np.partition(peaks, peaks.shape[1] - k, axis=1)[:, peaks.shape[1] - k]
    rows, columns = np.nonzero(scores >= bounds[:, None])
    order = np.lexsort((columns, -scores[rows, columns], rows))
    starts = np.searchsorted(rows, np.arange(n))
    return columns[order[starts[:, None] + np.arange(k)]]
