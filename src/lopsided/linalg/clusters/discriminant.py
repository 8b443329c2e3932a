"""Linear rules that tell the classes of a partition apart, and partitions made better by rules of their own."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.linalg import solve

from .blocks import class_means


class Discriminant(NamedTuple):
    """A class has score f . weights_c + offsets_c, and the largest wins."""

    weights: np.ndarray
    """Shape (q, classes)."""
    offsets: np.ndarray
    """Shape (classes,)."""

    def labels(self, F: np.ndarray) -> np.ndarray:
        """The class of every row of F."""
        return np.argmax(F @ self.weights + self.offsets, axis=1)


def directions(F: np.ndarray) -> np.ndarray:
    """Rows brought to length one; rows of zeros stay."""
    lengths = np.linalg.norm(F, axis=1, keepdims=True)
    return F / np.where(lengths > 0, lengths, 1)


def nearest_mean(F: np.ndarray, labels: np.ndarray, n_classes: int) -> Discriminant:
    """Score f . m_c - |m_c|^2 / 2, which is largest where the class's mean m_c is nearest. Cost O(n q)."""
    means = class_means(F, labels, n_classes)
    return Discriminant(means.T, -np.einsum("cq,cq->c", means, means) / 2)


def fisher(F: np.ndarray, labels: np.ndarray, n_classes: int, shrinkage: float) -> Discriminant:
    """Fisher's discriminant: classes with shares p_c, means m_c and one covariance W about them.

    The score is f . w_c - w_c . m_c / 2 + log p_c with W w_c = m_c, where W is shrunk toward (tr W / q) I. Classes
    without members have no score. Cost O(n q^2).
    """
    n, q = F.shape
    means, counts = class_means(F, labels, n_classes), np.bincount(labels, minlength=n_classes)
    deviations = F - means[labels]
    W = deviations.T @ deviations / n
    spread = np.trace(W) / q
    if spread <= np.finfo(F.dtype).eps * np.square(F).mean():  # no point differs from the mean of its class
        return nearest_mean(F, labels, n_classes)
    W = (1 - shrinkage) * W + shrinkage * spread * np.eye(q, dtype=F.dtype)
    weights = solve(W, means.T, assume_a="pos")
    with np.errstate(divide="ignore"):
        shares = np.log(counts / n).astype(F.dtype)
    return Discriminant(weights, shares - np.einsum("cq,qc->c", means, weights) / 2)


def refine(
    F: np.ndarray, labels: np.ndarray, n_classes: int, *, sweeps: int = 3, shrinkage: float = 0.03
) -> Discriminant:
    """Let a partition be told apart by its own discriminant a few times.

    k-means weighs all features alike; a discriminant weighs them by what they tell of the partition, and may so use
    features in which noise would hide it. A sweep that would empty a class is not made. Cost O(sweeps n q^2).

    Parameters
    ----------
    F : array of shape (n, q)
        Features.
    labels : array of shape (n,)
        The partition to begin with, classes 0, 1, ...
    n_classes : int
        How many classes there are.
    sweeps : int, default=3
        Few: sweeps until nothing changes drift toward small classes of unusual points.
    shrinkage : float, default=0.03
        Of the common covariance, from 0 to 1.
    """
    last = nearest_mean(F, labels, n_classes)
    for _ in range(sweeps):
        found = fisher(F, labels, n_classes, shrinkage)
        proposed = found.labels(F)
        if len(np.unique(proposed)) < len(np.unique(labels)):
            break
        last, labels = found, proposed
    return last


class BlockRules(NamedTuple):
    """Rules for both sides of a matrix K of blocks, each of which looks at sums over the classes of the other side."""

    rows: Discriminant
    """For rows of K C, where C is ``columns_of``."""
    columns: Discriminant
    """For rows of K^T R, where R is ``rows_of``."""
    rows_of: np.ndarray
    """R, shape (n, classes): a column for each class, of length one and constant on its members."""
    columns_of: np.ndarray
    """C, shape (m, classes)."""


def block_sweeps(
    times: Callable[[np.ndarray], np.ndarray],
    adjoint_times: Callable[[np.ndarray], np.ndarray],
    rows: np.ndarray,
    columns: np.ndarray,
    *,
    sweeps: int = 20,
) -> tuple[BlockRules | None, np.ndarray, np.ndarray]:
    """Bring both partitions in turn nearer to blocks on which K is constant, from two that are nearly right.

    What is lowered is the sum of squared differences between the entries of K and the means of their blocks. C has a
    column for each class of columns, constant on its members. A row of K goes to the class of rows whose mean is
    nearest in K C, which averages the noise over all columns of a class; singular vectors average it too, but carry
    noise of their own. Then columns are treated alike. Ends where no label changes, or a class would be emptied. Cost:
    a product with K and one with its transpose a sweep.

    Parameters
    ----------
    times, adjoint_times : callables
        V -> K V and U -> K^T U.
    rows, columns : arrays of shapes (n,) and (m,)
        Labels to begin with, classes 0, 1, ..., none of them empty.
    sweeps : int, default=20
        At most so many.

    Returns
    -------
    rules : BlockRules or None
        What gives the labels; None if the first sweep would have emptied a class, and the labels are those given.
    rows, columns : arrays of shapes (n,) and (m,)
        The labels.
    """
    k_rows, k_columns = int(rows.max()) + 1, int(columns.max()) + 1
    found = None
    for _ in range(sweeps):
        C = _indicators(columns, k_columns)
        sums = times(C)
        rule = nearest_mean(sums, rows, k_rows)
        new_rows = rule.labels(sums)
        R = _indicators(new_rows, k_rows)
        of_columns = adjoint_times(R)
        column_rule = nearest_mean(of_columns, columns, k_columns)
        new_columns = column_rule.labels(of_columns)
        if len(np.unique(new_rows)) < k_rows or len(np.unique(new_columns)) < k_columns:
            break
        found = BlockRules(rule, column_rule, R, C)
        settled = np.array_equal(rows, new_rows) and np.array_equal(columns, new_columns)
        rows, columns = new_rows, new_columns
        if settled:
            break
    return found, rows, columns


def _indicators(labels: np.ndarray, n_classes: int) -> np.ndarray:
    """A column of length one for every class; zeros for those without members."""
    members = labels[:, None] == np.arange(n_classes)
    return members / np.sqrt(np.maximum(members.sum(axis=0), 1))
