"""Readings of a table: what its columns are, and how they are brought to one scale before biclustering."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from .._core import Array, dense, unit_rows, whole

READINGS = ("counts", "attributes", "profiles")
# Between tables of real data (at most 0.95 on the choosing half of benchmarks/biclustering_dense.py) and planted noise
# around blocks (at least 0.96); the part "ablation" changes it.
COMPARABLE = 0.955  # least correlation of the entries with those standardised by column, and by row


class Reading(NamedTuple):
    """How a table was read, and why."""

    name: str
    reason: str

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


class Attributes(NamedTuple):
    """Columns of different kinds: standardise columns, scale rows to unit length, centre columns."""

    means: np.ndarray  # of the columns of the table
    spreads: np.ndarray
    lengths: np.ndarray  # of its standardised rows
    centre: np.ndarray  # means of the columns after all

    @classmethod
    def of_table(cls, X: np.ndarray) -> Self:
        """Learn the scale of each column and row. Cost: O(entries)."""
        means, spreads = X.mean(axis=0), _spreads(X, 0)
        standardised = (X - means) / spreads
        lengths = _one_for_zero(np.linalg.norm(standardised, axis=1))
        return cls(means, spreads, lengths, (standardised / lengths[:, None]).mean(axis=0))

    def rows(self, X: Array) -> np.ndarray:
        """Apply the reading to rows with as many entries as the table has columns."""
        return unit_rows((dense(X) - self.means) / self.spreads) - self.centre

    def columns(self, Z: Array) -> np.ndarray:
        """Apply the reading to new columns, passed as rows with one entry per row of the table."""
        Z = dense(Z)
        standardised = (Z - Z.mean(axis=1)[:, None]) / _spreads(Z, 1)[:, None]
        scaled = standardised / self.lengths
        return scaled - scaled.mean(axis=1)[:, None]


class Profiles(NamedTuple):
    """Columns that compare: logarithms if no entry is negative, standardise rows, centre columns."""

    unit: float | None  # of log(1 + x / unit), zero for log x; None for no logarithm
    varies: np.ndarray  # columns that are not constant; a constant would only tell the levels of rows
    means: np.ndarray  # of the rows of the table
    spreads: np.ndarray
    centre: np.ndarray  # means of the columns after all

    @classmethod
    def of_table(cls, X: np.ndarray) -> Self:
        """Learn the scale of each row, and the unit of logarithms. Cost: O(entries)."""
        unit, varies = _log_unit(X), np.ptp(X, axis=0) > 0
        varies |= not varies.any()
        Y = _logarithm(X[:, varies], unit)
        means, spreads = Y.mean(axis=1), _spreads(Y, 1)
        return cls(unit, varies, means, spreads, ((Y - means[:, None]) / spreads[:, None]).mean(axis=0))

    def rows(self, X: Array) -> np.ndarray:
        """Apply the reading to rows with as many entries as the table has columns; constant ones become zero."""
        X = dense(X)
        Y, found = _logarithm(X[:, self.varies], self.unit), np.zeros_like(X)
        found[:, self.varies] = (Y - Y.mean(axis=1)[:, None]) / _spreads(Y, 1)[:, None] - self.centre
        return found

    def columns(self, Z: Array) -> np.ndarray:
        """Apply the reading to new columns, passed as rows with one entry per row of the table."""
        Z = dense(Z)
        Y = (_logarithm(Z, self.unit) - self.means) / self.spreads
        return np.where(np.ptp(Z, axis=1)[:, None] > 0, Y - Y.mean(axis=1)[:, None], 0)


def plain_reading(X: Array) -> Reading | None:
    """The reading "counts" of tables whose entries compare as they are; None if columns or rows have scales."""
    if sparse.issparse(X):
        return Reading("counts", "the table is sparse")
    if 2 * np.count_nonzero(X) < X.size:
        return Reading("counts", "the table is mostly zero")
    if _holds_counts(X):
        return Reading("counts", "entries are whole numbers, most often zero")
    alike = _least_correlation(X)
    if alike > COMPARABLE:
        return Reading("counts", f"standardising rows or columns changes little: the correlation is {alike:.2f}")
    return None


def has_counts_of_sizes(X: Array) -> bool:
    """Whether entries are counts and rows or columns differ in size, so that standardising them changes the table."""
    X = dense(X)
    return _holds_counts(X) and _least_correlation(X) <= COMPARABLE


def _holds_counts(X: np.ndarray) -> bool:
    """Whether entries are whole numbers, not negative, of which zero is the most common."""
    if X.min() < 0 or not whole(X):
        return False
    zeros = X.size - int(np.count_nonzero(X))
    return bool(zeros >= np.unique(X[X != 0], return_counts=True)[1].max(initial=0))


def _least_correlation(X: np.ndarray) -> float:
    """Correlation of all entries with those standardised by column or by row, the less of both."""
    return min(_correlation(X, axis) for axis in (0, 1))


def _correlation(X: np.ndarray, axis: int) -> float:
    """Correlation of all entries with those standardised along an axis; one for a constant table."""
    Y = (X - X.mean(axis=axis, keepdims=True)) / _one_for_zero(X.std(axis=axis, keepdims=True))
    centred = X - X.mean()
    size = np.sqrt(np.square(centred).sum() * np.square(Y).sum())
    return float((centred * Y).sum() / size) if size > 0 else 1.0


def _spreads(X: np.ndarray, axis: int) -> np.ndarray:
    """Standard deviations along an axis, for numbers of any size; for constants their magnitude, or one for zeros."""
    deviations = X - X.mean(axis=axis, keepdims=True)
    peaks, sizes = _one_for_zero(np.abs(deviations).max(axis=axis)), _one_for_zero(np.abs(X).max(axis=axis))
    found = peaks * (deviations / np.expand_dims(peaks, axis)).std(axis=axis)
    rounding = X.shape[axis] * np.finfo(X.dtype).eps * sizes
    return np.where(found > rounding, found, sizes)


def _one_for_zero(spreads: np.ndarray) -> np.ndarray:
    """Spreads or lengths, with one for zero."""
    return np.where(spreads > 0, spreads, 1)


def _log_unit(X: np.ndarray) -> float | None:
    if X.min() < 0:
        return None
    return 0.0 if X.min() > 0 else float(np.median(X[X > 0])) if (X > 0).any() else None


def _logarithm(X: np.ndarray, unit: float | None) -> np.ndarray:
    if unit is None:
        return X
    if unit > 0:
        return np.log1p(np.maximum(X, 0) / unit)
    return np.log(np.maximum(X, np.finfo(X.dtype).tiny))
