"""Partitions made better by their own linear discriminants, from few features to many."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve

from .blocks import class_means


class Discriminant(NamedTuple):
    """A class has score f . weights_c + offsets_c, f the leading features brought to length one; the largest wins."""

    weights: np.ndarray
    """Shape (q, classes)."""
    offsets: np.ndarray
    """Shape (classes,)."""

    def labels(self, F: np.ndarray) -> np.ndarray:
        """The class of every row of F, of which the first q features are looked at."""
        return np.argmax(directions(F[:, : len(self.weights)]) @ self.weights + self.offsets, axis=1)


def directions(F: np.ndarray) -> np.ndarray:
    """Rows brought to length one; rows of zeros stay."""
    lengths = np.linalg.norm(F, axis=1, keepdims=True)
    return F / np.where(lengths > 0, lengths, 1)


def nearest_mean(D: np.ndarray, labels: np.ndarray, n_classes: int) -> Discriminant:
    """Score d . m_c - |m_c|^2 / 2, which is largest where the class's mean m_c is nearest. Cost O(n q)."""
    means = class_means(D, labels, n_classes)
    return Discriminant(means.T, -np.einsum("cq,cq->c", means, means) / 2)


def fisher(D: np.ndarray, labels: np.ndarray, n_classes: int, shrinkage: float) -> Discriminant:
    """Fisher's discriminant: classes with shares p_c, means m_c and one covariance W about them.

    The score is d . w_c - w_c . m_c / 2 + log p_c with W w_c = m_c, where W is shrunk toward (tr W / q) I. Classes
    without members have no score. Cost O(n q^2).
    """
    n, q = D.shape
    means, counts = class_means(D, labels, n_classes), np.bincount(labels, minlength=n_classes)
    deviations = D - means[labels]
    W = deviations.T @ deviations / n
    spread = np.trace(W) / q
    if spread <= np.finfo(D.dtype).eps:  # lengths are one: no point differs from the mean of its class
        return nearest_mean(D, labels, n_classes)
    W = (1 - shrinkage) * W + shrinkage * spread * np.eye(q, dtype=D.dtype)
    weights = solve(W, means.T, assume_a="pos")
    with np.errstate(divide="ignore"):
        shares = np.log(counts / n).astype(D.dtype)
    return Discriminant(weights, shares - np.einsum("cq,qc->c", means, weights) / 2)


def refine(
    F: np.ndarray, start: Discriminant, widths: Sequence[int], *, sweeps: int = 3, shrinkage: float = 0.03
) -> Discriminant:
    """Let a partition be told apart by its own discriminant, again and again, in ever more features.

    In few features the large structure is found, and features that would hide it in noise are left out; a discriminant
    weighs features by what they tell, so each widening may add them. A sweep that would empty a class is not made.
    Cost O(sweeps n q^2) for the largest width q.

    Parameters
    ----------
    F : array of shape (n, q)
        Features, most important first.
    start : Discriminant
        The partition to begin with.
    widths : sequence of int
        Numbers of features, ascending.
    sweeps : int, default=3
        Rounds at each width. Few: rounds until nothing changes drift to what is noise for all but a few points.
    shrinkage : float, default=0.03
        Of the common covariance, from 0 to 1.
    """
    labels, n_classes = start.labels(F), len(start.offsets)
    for width in widths:
        D = directions(F[:, :width])
        for _ in range(sweeps):
            found = fisher(D, labels, n_classes, shrinkage)
            proposed = np.argmax(D @ found.weights + found.offsets, axis=1)
            if len(np.unique(proposed)) < len(np.unique(labels)):
                break
            start, labels = found, proposed
    return start

