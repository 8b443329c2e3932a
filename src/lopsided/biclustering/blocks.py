"""Block means of a low-rank matrix under a row and a column partition, and the matching of their classes."""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.optimize import linear_sum_assignment

from ..svd import Factors


def class_means(points: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Mean of the rows of each class, shape (classes, width); zero for an empty class. Cost: O(n width)."""
    n = len(labels)
    counts = np.bincount(labels, minlength=n_classes)
    members = sparse.csr_array((np.ones(n, dtype=points.dtype), (labels, np.arange(n))), shape=(n_classes, n))
    return (members @ points) / np.maximum(counts, 1)[:, None].astype(points.dtype)


def block_means(factors: Factors, left: np.ndarray, right: np.ndarray, counts: tuple[int, int]) -> np.ndarray:
    """Mean of U diag(s) V^T over each pair of a left and a right class, shape ``counts``. Cost: O((n + m) k)."""
    left_means = class_means(factors.U, left, counts[0])
    right_means = class_means(factors.V, right, counts[1])
    return (left_means * factors.s) @ right_means.T


def matched_left_classes(means: np.ndarray) -> np.ndarray:
    """Left class matched to each right class, one to one, such that the sum of the matched block means is largest.

    There must be at least as many left classes as right classes.
    """
    left, right = linear_sum_assignment(-means)
    return left[np.argsort(right)]
