"""Alternating refinement of row and column partitions by sums over the classes of the other side."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .discriminant import Discriminant, nearest_mean


class BlockRules(NamedTuple):
    """Classifiers of the rows and columns of a block matrix K, from sums over the classes of the other side."""

    rows: Discriminant
    """Classifier of rows of K C, where C is ``columns_of``."""
    columns: Discriminant
    """Classifier of rows of K^T R, where R is ``rows_of``."""
    rows_of: np.ndarray
    """R, shape (n, classes): for each row class, the indicator of its members scaled to unit norm."""
    columns_of: np.ndarray
    """C, shape (m, classes): the same for column classes."""


def block_sweeps(
    K: Any, rows: np.ndarray, columns: np.ndarray, *, sweeps: int = 20
) -> tuple[BlockRules | None, np.ndarray, np.ndarray]:
    """Refine row and column partitions alternately towards blocks on which K is constant.

    The sweeps lower the sum of squared differences between the entries of K and the means of their blocks, from a good
    initial guess. C has a column for each column class, constant on its members. Each row of K moves to the row class
    with the nearest mean in K C, which averages noise over all columns of a class; singular vectors average it too, but
    are noisy themselves. Columns are then updated likewise. Sweeps stop when no label changes or a class would become
    empty. Cost per sweep: one product with K and one with its transpose.

    Parameters
    ----------
    K : array, sparse matrix or operator of shape (n, m)
        The matrix, used through ``K @ C`` and ``K.T @ R`` only.
    rows, columns : arrays of shapes (n,) and (m,)
        Initial labels, classes 0, 1, ..., none of them empty.
    sweeps : int, default=20
        Maximum number of sweeps.

    Returns
    -------
    rules : BlockRules or None
        Classifiers that produce the labels; None, with the initial labels, if the first sweep would empty a class.
    rows, columns : arrays of shapes (n,) and (m,)
        Refined labels.
    """
    k_rows, k_columns = int(rows.max()) + 1, int(columns.max()) + 1
    found = None
    for _ in range(sweeps):
        C = _indicators(columns, k_columns)
        sums = K @ C
        rule = nearest_mean(sums, rows, k_rows)
        new_rows = rule.labels(sums)
        R = _indicators(new_rows, k_rows)
        of_columns = K.T @ R
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
    """Class indicators in columns, scaled to unit norm; zero for an empty class."""
    members = labels[:, None] == np.arange(n_classes)
    return members / np.sqrt(np.maximum(members.sum(axis=0), 1))
