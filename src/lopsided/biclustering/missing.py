"""Missing values of a table, filled in from the means of their row and column."""

from typing import NamedTuple, Self

import numpy as np

from .._core import count_of
from ..exceptions import LopsidedWarning, warn


class Filling(NamedTuple):
    """A missing entry becomes its column's mean plus its column's spread times the row's mean standardised entry.

    For columns of one unit this is the mean of the row and of the column, and columns may have different units.
    """

    means: np.ndarray  # of the observed entries of each column
    spreads: np.ndarray

    @classmethod
    def of_table(cls, X: np.ndarray) -> Self:
        """Learn means and spreads; a row or a column without any entry is an error."""
        lost = np.isnan(X)
        for axis, name in ((0, "column"), (1, "row")):
            empty = np.flatnonzero(lost.all(axis=axis))
            if len(empty):
                raise ValueError(f"{name} {empty[0]} of X holds only NaN ({len(empty)} such in all); leave them out")
        return cls(np.nanmean(X, axis=0), np.nanstd(X, axis=0))

    def rows(self, X: np.ndarray) -> np.ndarray:
        """Fill in the missing entries of rows; others are unchanged."""
        lost = np.isnan(X)
        if not lost.any():
            return X
        standardised = (X - self.means) / np.where(self.spreads > 0, self.spreads, 1)
        observed = np.maximum((~lost).sum(axis=1), 1)
        levels = np.where(lost, 0, standardised).sum(axis=1) / observed
        return np.where(lost, self.means + self.spreads * levels[:, None], X).astype(X.dtype, copy=False)


def filled(X: np.ndarray) -> tuple[np.ndarray, Filling]:
    """A table without missing values, and how new rows are filled in."""
    filling = Filling.of_table(X)
    count = int(np.isnan(X).sum())
    if count:
        values = count_of(count, "missing value is", "missing values are")
        warn(f"{values} filled in from the means of rows and columns", LopsidedWarning)
    return filling.rows(X), filling
