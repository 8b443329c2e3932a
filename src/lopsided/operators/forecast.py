"""The size of a sparse product X Z^T, estimated before it is formed."""

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..kernels import product_counts

SAMPLE_ENTRIES = 1 << 12  # multiplications of X Z^T that are sampled to forecast it
CROWDED = 0.5  # share of nonzero entries of X Z^T above which the data are treated as dense


class Forecast(NamedTuple):
    """Properties of the product P = X Z^T, estimated from a sample of its rows."""

    entries: int
    """Number of stored entries of P."""
    unit: float
    """The most frequent value among the entries."""
    share: float
    """Share of the entries that have this value, from 0 to 1."""
    crowded: bool
    """Whether P is so full that sparse storage gains nothing and the background accounts for few entries."""


def forecast(X: sparse.csr_array, Z: sparse.csr_array) -> Forecast:
    """Estimate the number of entries of X Z^T before it is formed.

    The number of multiplications per row follows exactly from the column counts of X and Z; a sample of rows shows how
    many multiplications share an entry. Cost O(nnz(X) + nnz(Z)) and a few thousand sampled multiplications.
    """
    counts = product_counts(X, Z)
    order = np.random.default_rng(0).permutation(X.shape[0])
    rows = order[: max(1, np.searchsorted(np.cumsum(counts[order]), SAMPLE_ENTRIES))]
    sample = (X[rows] @ Z.T).data
    if not len(sample):
        return Forecast(int(counts.sum()), 1.0, 0.0, False)
    values, frequency = np.unique(sample, return_counts=True)
    collapsed = len(sample) / counts[rows].sum()
    commonest = frequency.argmax()
    entries = int(np.ceil(counts.sum() * collapsed))
    return Forecast(
        entries=entries,
        unit=float(values[commonest]),
        share=float(frequency[commonest] / len(sample)),
        crowded=entries > CROWDED * X.shape[0] * Z.shape[0],
    )


def meeting_entries(X: sparse.csr_array, Z: sparse.csr_array) -> int:
    """Count the entries of both sides in columns that are nonempty in both; others do not contribute to X Z^T."""
    counts = [np.bincount(side.indices, minlength=side.shape[1]) for side in (X, Z)]
    return int(sum(count[counts[0] * counts[1] > 0].sum() for count in counts))
