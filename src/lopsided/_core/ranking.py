"""The best right things for each left one, from a block of scores or from vectors whose inner products are scores."""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..exceptions import NotFiniteError
from .threads import blocks_of, run

BLOCK_BYTES = 1 << 25  # of scores that a thread holds at once, at most
SCORE_BYTES = 8  # per score, in double precision
USUAL_LENGTH = 10
GROUP = 32  # columns whose maximum is compared at once: one pass over the block finds a bound that few entries exceed
GROUPS_PER_RANK = 8  # with fewer groups per rank a partition of all scores is faster: from 2,000 to 200,000 columns


def usual_length(left: np.ndarray | int) -> int:
    """Length of rankings of which nobody asked for another: 10, or as many as all rows leave, and at least one."""
    return max(1, min(USUAL_LENGTH, int(np.min(left, initial=USUAL_LENGTH))))


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
    leave_out: sparse.csr_array,
    added: sparse.csr_array | None = None,
) -> Ranked:
    """The k right things with the largest left[rows] @ right.T + added[rows], in blocks; fewer if many are left out."""
    k = min(k, len(right))

    def score(block: slice) -> np.ndarray:
        scores = left[rows[block]] @ right.T
        if added is not None:
            extra = added[rows[block]].tocoo()
            scores[extra.coords] += extra.data
        return scores

    columns, scores = best_columns(score, leave_out[rows], k)
    kept = np.isfinite(scores)
    return Ranked(np.repeat(rows, k)[kept.ravel()], columns[kept], scores[kept])


def best_columns(
    score: Callable[[slice], np.ndarray], leave_out: sparse.csr_array, k: int
) -> tuple[np.ndarray, np.ndarray]:
    """The k columns of largest score in each row, best first, and their scores; both of shape (n, k).

    ``score(rows)`` returns a block of scores, which is overwritten; threads call it. Columns with a nonzero entry in
    ``leave_out``, of shape (n, m), score minus infinity in that row.
    """

    def rank(rows: slice) -> tuple[np.ndarray, np.ndarray]:
        scores = score(rows)
        scores[leave_out[rows].nonzero()] = -np.inf
        best = largest(scores, k)
        return best, np.take_along_axis(scores, best, axis=1)

    n, m = leave_out.shape
    columns, values = zip(*run(rank, blocks_of(n, SCORE_BYTES * m, BLOCK_BYTES)), strict=True)
    return np.concatenate(columns), np.concatenate(values)


def largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, largest first and equal ones in order; shape (n, k).

    The k-th largest of the maxima of groups of columns bounds the k-th largest score from below, and only scores that
    reach it are sorted. Where groups are too few for a tight bound, it is the k-th largest score itself. Cost: O(n m).
    """
    n, m = scores.shape
    rows, columns = _candidates(scores, k) if m >= GROUPS_PER_RANK * k * GROUP else _at_least(scores, _kth(scores, k))
    order = np.lexsort((columns, -scores[rows, columns], rows))
    starts = np.searchsorted(rows[order], np.arange(n))
    return columns[order[starts[:, None] + np.arange(k)]]


def _candidates(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Rows and columns of the scores that reach the k-th largest maximum of the groups in their row.

    Group g has the columns g, g + count, g + 2 count, ...: maxima are then taken of long stretches of memory.
    """
    m = scores.shape[1]
    count = -(-m // GROUP)
    peaks = scores[:, :count].copy()
    for start in range(count, m, count):
        part = scores[:, start : start + count]
        np.maximum(peaks[:, : part.shape[1]], part, out=peaks[:, : part.shape[1]])
    bounds = _kth(peaks, k)
    rows, groups = _at_least(peaks, bounds)
    columns = groups[:, None] + np.arange(0, m, count)
    found = scores[rows[:, None], np.minimum(columns, m - 1)] >= bounds[rows, None]
    found &= columns < m
    return np.repeat(rows, found.sum(axis=1)), columns[found]


def _kth(scores: np.ndarray, k: int) -> np.ndarray:
    """The k-th largest score of each row; NotFiniteError if any is NaN, which counts as larger than all others."""
    place = scores.shape[1] - k
    top = np.partition(scores, place, axis=1)[:, place:]
    if np.isnan(top).any():
        raise NotFiniteError("scores overflow to NaN and cannot be ranked; scale the data down")
    return top[:, 0]


def _at_least(scores: np.ndarray, bounds: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    rows, columns = np.nonzero(scores >= bounds[:, None])
    return rows, columns
