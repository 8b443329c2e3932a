"""The best right things for each left one, from vectors whose inner products are the scores."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .threads import slices_of

BLOCK_ENTRIES = 1 << 24  # scores in memory at once: 128 MB in float64
FEW = 16  # up to which passes over the scores, one for each place, are faster than a partial sort


class Ranked(NamedTuple):
    """Pairs with their scores, by left thing and best first."""

    left: np.ndarray
    right: np.ndarray
    scores: np.ndarray


def best_first(
    left: np.ndarray, right: np.ndarray, rows: np.ndarray, k: int, leave_out: sparse.csr_array | None
) -> Ranked:
    """The k right things with the largest left[rows] @ right.T, in blocks; fewer, where too many are left out."""
    k = min(k, len(right))
    parts = []
    for part in slices_of(len(rows), BLOCK_ENTRIES // len(right)):
        some = rows[part]
        scores = left[some] @ right.T
        if leave_out is not None:
            scores[leave_out[some].nonzero()] = -np.inf
        best, values = _largest(scores, k)
        kept = np.isfinite(values)
        parts.append(Ranked(np.repeat(some, k)[kept.ravel()], best[kept], values[kept]))
    return Ranked(*(np.concatenate(each) for each in zip(*parts, strict=True)))


def _largest(scores: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Columns and values of the k largest entries in each row, largest first; the scores may be changed."""
    if k > FEW:
        best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
        order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
        best = np.take_along_axis(best, order, axis=1)
        return best, np.take_along_axis(scores, best, axis=1)
    best, rows = np.empty((len(scores), k), dtype=np.intp), np.arange(len(scores))
    values = np.empty((len(scores), k), dtype=scores.dtype)
    for place in range(k):
        best[:, place] = scores.argmax(axis=1)
        values[:, place] = scores[rows, best[:, place]]
        scores[rows, best[:, place]] = -np.inf
    return best, values
