"""Evaluation of recommendations against held-out interactions: recall, NDCG and coverage."""

from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval

from .._core import canonical, check_array, checked


def recall_at_k(recommended: Any, held_out: Any) -> float:
    """Share of the held-out items of a user that are recommended, averaged over the users who have any.

    Parameters
    ----------
    recommended : array of shape (n, k)
        Item numbers, best first, for each user.
    held_out : array or sparse matrix of shape (n, n_items)
        Interactions that were not shown to the model; zero means none.

    Examples
    --------
    >>> from lopsided.recommendation import recall_at_k
    >>> recall_at_k([[0, 2], [1, 2]], [[1, 1, 0], [0, 1, 0]])
    0.75
    """
    hits, counts = _hits(recommended, held_out)
    return float((hits.sum(axis=1) / counts).mean())


def ndcg_at_k(recommended: Any, held_out: Any) -> float:
    """Normalised discounted cumulative gain, averaged over the users who have held-out items.

    A hit at rank r, from 1, counts 1 / log2(1 + r), and the sum is divided by that of the best ranking of k items.
    Parameters as in :func:`recall_at_k`.

    Examples
    --------
    >>> from lopsided.recommendation import ndcg_at_k
    >>> ndcg_at_k([[0, 2], [1, 2]], [[1, 0, 0], [0, 1, 1]])
    1.0
    """
    return float(ndcg_of_users(recommended, held_out).mean())


def ndcg_of_users(recommended: Any, held_out: Any) -> np.ndarray:
    """NDCG of each user who has held-out items."""
    hits, counts = _hits(recommended, held_out)
    k = hits.shape[1]
    gains = 1 / np.log2(np.arange(2, k + 2))
    return np.asarray(hits @ gains / np.cumsum(gains)[np.minimum(counts, k) - 1])


@checked(n_items=[Interval(Integral, 1, None, closed="left")])
def coverage(recommended: Any, n_items: int) -> float:
    """Share of all items that are recommended to anyone.

    Examples
    --------
    >>> from lopsided.recommendation import coverage
    >>> coverage([[0, 2], [2, 0]], n_items=4)
    0.5
    """
    return len(np.unique(_numbers(recommended, n_items))) / n_items


def ranking_scores(recommended: Any, held_out: Any) -> dict[str, float]:
    """Recall, NDCG and coverage of recommendations, with keys recall, ndcg and coverage.

    Parameters as in :func:`recall_at_k`.

    Examples
    --------
    >>> from lopsided.recommendation import ranking_scores
    >>> ranking_scores([[0], [1]], [[1, 0, 0, 0], [0, 1, 0, 0]])
    {'recall': 1.0, 'ndcg': 1.0, 'coverage': 0.5}
    """
    return {
        "recall": recall_at_k(recommended, held_out),
        "ndcg": ndcg_at_k(recommended, held_out),
        "coverage": coverage(recommended, held_out.shape[1] if hasattr(held_out, "shape") else len(held_out[0])),
    }


def _hits(recommended: Any, held_out: Any) -> tuple[np.ndarray, np.ndarray]:
    """Whether each recommended item was held out, and the number of held-out items, of the users who have any."""
    held_out = canonical(sparse.csr_array(check_array(held_out, accept_sparse="csr", input_name="held_out")))
    found = _numbers(recommended, held_out.shape[1])
    if len(found) != held_out.shape[0]:
        raise ValueError(
            f"recommended has {len(found)} rows and held_out {held_out.shape[0]}; both need one for each user"
        )
    counts = np.asarray(held_out.count_nonzero(axis=1))
    users = np.flatnonzero(counts)
    if not len(users):
        raise ValueError("held_out has no nonzero entry; there is nothing to evaluate")
    repeated = np.diff(np.sort(found, axis=1), axis=1) == 0
    if repeated.any():
        user = int(np.flatnonzero(repeated.any(axis=1))[0])
        raise ValueError(f"recommended lists an item twice for user {user}; list each item once")
    hits = held_out[users[:, None], found[users]].toarray() != 0
    return hits, counts[users]


def _numbers(recommended: Any, n_items: int) -> np.ndarray:
    found = check_array(recommended, dtype=None, input_name="recommended")
    if found.dtype.kind not in "iu" or found.min() < 0 or found.max() >= n_items:
        raise ValueError(f"recommended must hold item numbers from 0 to {n_items - 1}; got {found.dtype} values")
    return found
