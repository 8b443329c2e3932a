"""Blocks of a table under a row and a column partition: their means, the matching of classes, and refinement."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy.optimize import linear_sum_assignment

from .._core import row_lengths
from ..svd import Factors
from .discriminant import Discriminant, class_means, nearest_mean

MAX_SWEEPS = 20  # of rows and columns; clear blocks settle in two or three


class BlockRules(NamedTuple):
    """Classifiers of the rows and columns of a block matrix K, from sums over the classes of the other side."""

    rows: Discriminant  # of rows of K C, where C is ``columns_of``
    columns: Discriminant  # of rows of K^T R, where R is ``rows_of``
    rows_of: np.ndarray  # R (n, classes): for each row class, the indicator of its members scaled to unit norm
    columns_of: np.ndarray  # C (m, classes): the same for column classes

    @property
    def T(self) -> Self:
        """The rules of the transposed matrix."""
        return self._replace(rows=self.columns, columns=self.rows, rows_of=self.columns_of, columns_of=self.rows_of)


def block_means(factors: Factors, left: np.ndarray, right: np.ndarray, counts: tuple[int, int]) -> np.ndarray:
    """Mean of U diag(s) V^T over each pair of a left and a right class, shape ``counts``. Cost: O((n + m) k)."""
    return (class_means(factors.U, left, counts[0]) * factors.s) @ class_means(factors.V, right, counts[1]).T


def matched_left_classes(means: np.ndarray) -> np.ndarray:
    """Left class matched to each right class, one to one, such that the sum of the matched block means is largest.

    There must be at least as many left classes as right classes.
    """
    left, right = linear_sum_assignment(-means)
    return left[np.argsort(right)]


def block_rules(K: Any, labels: tuple[np.ndarray, np.ndarray], finer: np.ndarray | None) -> BlockRules | None:
    """Classifiers after block sweeps from labels of both sides, and from ``finer`` ones of the side with fewer."""
    if finer is None:
        return block_sweeps(K, *labels)[0]
    energy = float(np.square(row_lengths(K), dtype=float).sum())
    return unequal_sweeps(K, *labels, finer, energy)[0]


def block_sweeps(
    K: Any, rows: np.ndarray, columns: np.ndarray, *, sweeps: int = MAX_SWEEPS
) -> tuple[BlockRules | None, np.ndarray, np.ndarray]:
    """Refine row and column partitions alternately towards blocks on which K is constant.

    The sweeps lower the sum of squared differences between the entries of K (n, m) and the means of their blocks, from
    a good initial guess without empty classes. Each row of K moves to the row class with the nearest mean in K C, which
    averages noise over all columns of a class; singular vectors average it too, but are noisy themselves. Columns are
    then updated likewise. Sweeps stop when no label changes or a class would become empty; if the first would empty
    one, there are no classifiers. Cost per sweep: one product with K and one with its transpose.
    """
    k_rows, k_columns = int(rows.max()) + 1, int(columns.max()) + 1
    found = None
    for _ in range(sweeps):
        C = _indicators(columns, k_columns, K.dtype)
        row_sums = K @ C
        row_rule = nearest_mean(row_sums, rows, k_rows)
        new_rows = row_rule.labels(row_sums)
        R = _indicators(new_rows, k_rows, K.dtype)
        column_sums = K.T @ R
        column_rule = nearest_mean(column_sums, columns, k_columns)
        new_columns = column_rule.labels(column_sums)
        if len(np.unique(new_rows)) < k_rows or len(np.unique(new_columns)) < k_columns:
            break
        found = BlockRules(row_rule, column_rule, R, C)
        settled = np.array_equal(rows, new_rows) and np.array_equal(columns, new_columns)
        rows, columns = new_rows, new_columns
        if settled:
            break
    return found, rows, columns


def unequal_sweeps(
    K: Any, rows: np.ndarray, columns: np.ndarray, finer: np.ndarray, energy: float
) -> tuple[BlockRules | None, np.ndarray, np.ndarray]:
    """Block sweeps for unequal numbers of classes, where sums over the fewer classes may not separate the others.

    Of three diagonal blocks, two have equal sums if their columns form one class, and sweeps would divide their rows by
    noise. If there are fewer column classes than row classes, sweeps are therefore made with ``columns`` and with
    ``finer``, labels of the columns in more classes, and the result of smaller ``description_length`` is kept. If that
    is the finer one, its rows are final and the columns move, until none does, to the class in ``columns`` with the
    nearest mean of K^T R. If there are fewer row classes, ``finer`` labels the rows, and the same is done to K^T.
    ``energy`` is the sum of the squared entries of K. Results as in ``block_sweeps``, at twice the cost.
    """
    if rows.max() < columns.max():
        turned, columns, rows = unequal_sweeps(K.T, columns, rows, finer, energy)
        return None if turned is None else turned.T, rows, columns
    coarse = block_sweeps(K, rows, columns)
    rules, rows, finer = block_sweeps(K, rows, finer)
    if rules is None or description_length(K, *coarse[1:], energy) <= description_length(K, rows, finer, energy):
        return coarse
    column_rule, columns = _move_until_settled(K.T @ rules.rows_of, columns)
    if column_rule is None:
        return coarse
    return rules._replace(columns=column_rule), rows, columns


def description_length(K: Any, rows: np.ndarray, columns: np.ndarray, energy: float) -> float:
    """Nats that describe K by the means of its k x l blocks and normal noise of one variance, up to a constant.

    It is (n m / 2) log |K - M|^2 + n H(rows) + m H(columns) + (k l / 2) log(n m) + ((k - 1) / 2) log n
    + ((l - 1) / 2) log m, where M has the block means and H is the entropy of the class shares: the integrated
    completed likelihood of the latent block model (Keribin, Brault, Celeux, Govaert, Statistics and Computing 25, 2015,
    for categories) with its sign changed. It is smallest for the numbers of classes that K supports. ``energy`` is the
    sum of the squared entries of K, and no class is empty. Cost: one product with K.
    """
    k_rows, k_columns = int(rows.max()) + 1, int(columns.max()) + 1
    explained = float(np.square(_indicators(rows, k_rows).T @ (K @ _indicators(columns, k_columns))).sum())
    rounding = max(K.shape) * float(np.finfo(K.dtype).eps)
    error = max(energy - explained, rounding * energy)  # |K - M|^2, since M is a projection of K
    n, m = K.shape
    means_and_shares = k_rows * k_columns * np.log(n * m) + (k_rows - 1) * np.log(n) + (k_columns - 1) * np.log(m)
    sizes = [np.bincount(labels) for labels in (rows, columns)]
    entropies = sum(float(counts @ np.log(counts.sum() / counts)) for counts in sizes)
    return float(n * m / 2 * np.log(error) + entropies + means_and_shares / 2)


def _move_until_settled(F: np.ndarray, labels: np.ndarray) -> tuple[Discriminant | None, np.ndarray]:
    """Move points to the nearest class mean until none moves or a class would become empty; the last rule, if any."""
    n_classes = int(labels.max()) + 1
    found = None
    for _ in range(MAX_SWEEPS):
        rule = nearest_mean(F, labels, n_classes)
        moved = rule.labels(F)
        if len(np.unique(moved)) < n_classes:
            break
        settled = np.array_equal(labels, moved)
        found, labels = rule, moved
        if settled:
            break
    return found, labels


def _indicators(labels: np.ndarray, n_classes: int, dtype: Any = float) -> np.ndarray:
    """Class indicators in columns, scaled to unit norm; zero for an empty class."""
    members = labels[:, None] == np.arange(n_classes)
    return (members / np.sqrt(np.maximum(members.sum(axis=0), 1))).astype(dtype, copy=False)
