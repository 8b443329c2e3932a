"""The columns of a large matrix as right points: a few of them, sketched to the width of its rows."""

from functools import partial
from typing import Any

import numpy as np
from scipy import sparse

from .._core import as_row_blocks, mixed, scale_rows, seed_of
from .rows import DaskRows


def sketch_columns(X: Any, columns: Any, *, random_state: Any = None, unit_length: bool = True) -> sparse.csr_array:
    """Columns of X as right points of the width of its rows, by a seeded sparse projection that is never stored.

    A column has n entries, a row has ``width``. The projection C (alternative a2 of the 2024 paper, as a count sketch)
    adds entry i of a column, with a random sign, to one of the ``width`` coordinates, both from a hash of i: inner
    products and lengths of columns are kept up to random errors, and a sparse column stays sparse.

    Parameters
    ----------
    X : dask array of shape (n, width), or what estimators take as one
        Rows in blocks, dense or sparse.
    columns : sequence of p integers
        The columns to take.
    random_state : int, RandomState instance or None, default=None
        Seed of the projection; None means a fixed seed.
    unit_length : bool, default=True
        Whether columns are divided by their lengths and multiplied by the root mean squared length of the rows, as
        otherwise frequent columns would be far from every row.

    Returns
    -------
    sparse array of shape (p, width)
        Points to pass as ``Z``. Cost: one pass over X.
    """
    rows = as_row_blocks(X, "X")
    if rows is None:
        raise TypeError(f"X is a {type(X).__name__}; sketch_columns reads dask collections, others fit in memory")
    assert isinstance(rows, DaskRows)
    numbers = np.asarray(columns)
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ValueError(f"columns must be a sequence of column numbers, not {numbers.dtype} of shape {numbers.shape}")
    if numbers.min() < 0 or numbers.max() >= rows.shape[1]:
        raise ValueError(
            f"columns reach from {numbers.min()} to {numbers.max()}; they are numbered 0 to {rows.shape[1] - 1}"
        )
    task = partial(_sketched, columns=numbers, seed=seed_of(random_state))
    parts = rows.reduce(task, alongside=np.arange(rows.shape[0]))
    Z = sparse.csr_array(sum(part for part, _ in parts))
    if not unit_length:
        return Z
    typical = np.sqrt(sum(float(energy[0]) for _, energy in parts) / rows.shape[0])
    lengths = np.sqrt(np.asarray(Z.multiply(Z).sum(axis=1)).ravel())
    return scale_rows(Z, (typical / np.where(lengths > 0, lengths, 1)).astype(Z.dtype))


def _sketched(block: Any, numbers: np.ndarray, *, columns: np.ndarray, seed: int) -> tuple[Any, np.ndarray]:
    """The part of the sketch that a block adds, (p, width), and the sum of its squares."""
    block = sparse.csr_array(block)
    hashed = mixed(numbers, seed)
    width = block.shape[1]
    places, signs = (hashed >> np.uint64(1)) % np.uint64(width), 1.0 - 2.0 * (hashed & np.uint64(1)).astype(float)
    chosen = sparse.csc_array(block)[:, columns]
    S = sparse.csr_array(
        (signs.astype(block.dtype), (np.arange(len(numbers)), places.astype(np.int64))), (len(numbers), width)
    )
    return sparse.csr_array(chosen.T @ S), np.array([float(np.square(block.data, dtype=float).sum())])
