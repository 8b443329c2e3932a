"""The columns of a large matrix as right points: some of them, mapped to the width of its rows."""

from functools import partial
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import RowBlocks, as_row_blocks, mixed, scale_rows, seed_of

MAPS = ("rows", "random")


def sketch_columns(
    X: Any, columns: Any, *, compatibility: str = "rows", random_state: Any = None, unit_length: bool = True
) -> sparse.csr_array:
    """Map columns of X to right points as wide as its rows, without ever holding a column or the map.

    A column z has n entries, and a row has ``width``. With "rows", C = X^T maps it to the sum of the rows times their
    entries in z, along the chosen columns: x.Cz = (X X^T X)_ij has the singular vectors of X, so that rows and columns
    are aligned as by ``compatibility="pca"``. With "random" (alternative a2 of the 2024 paper, as a count sketch), C
    adds entry i of z, with a random sign, to one coordinate, both from a hash of i: lengths and products of columns are
    kept up to random errors, and columns have nothing to do with the coordinates of rows.

    Parameters
    ----------
    X : dask array of shape (n, width), or what estimators take as one
        Rows in blocks, dense or sparse.
    columns : int or sequence of p integers
        The columns to take; a number means as many of those with the most entries, which costs a further pass.
    compatibility : {"rows", "random"}, default="rows"
        The map C.
    random_state : int, RandomState instance or None, default=None
        Seed of the random map; None means a fixed seed.
    unit_length : bool, default=True
        Whether the points are brought to the root mean squared length of the rows, as otherwise frequent columns would
        be far from every row.

    Returns
    -------
    sparse array of shape (p, width)
        Points to pass as ``Z``. Cost: one pass over X.

    Examples
    --------
    >>> import dask.array as da
    >>> from lopsided.distributed import sketch_columns
    >>> X = da.random.default_rng(0).random((300, 5), chunks=(100, 5))
    >>> sketch_columns(X, [0, 3]).shape
    (2, 5)
    """
    rows = as_row_blocks(X, "X")
    if rows is None:
        raise TypeError(
            f"X is a {type(X).__name__}; sketch_columns takes dask collections; for arrays use KernelSVD.fit(X)"
        )
    if compatibility not in MAPS:
        raise ValueError(f"compatibility={compatibility!r} must be one of {', '.join(map(repr, MAPS))}")
    numbers = (
        _most_frequent(rows, columns) if np.ndim(columns) == 0 else _checked_columns(np.asarray(columns), rows.shape[1])
    )
    if compatibility == "rows":
        found = rows.fold(partial(_sum_rows_of_block, columns=numbers), _add_parts)
    else:
        task = partial(_sketch_block, columns=numbers, seed=seed_of(random_state))
        found = _add_parts(rows.reduce(task, alongside=np.arange(rows.shape[0])))
    Z = sparse.csr_array(found.points)
    if not unit_length:
        return Z
    typical = np.sqrt(found.energy / rows.shape[0])
    lengths = np.sqrt(np.asarray(Z.multiply(Z).sum(axis=1), dtype=float).ravel())
    return scale_rows(Z, (typical / np.where(lengths > 0, lengths, 1)).astype(Z.dtype))


class _Part(NamedTuple):
    """What some blocks add to the points (p, width), and the sum of their squared entries."""

    points: Any
    energy: float


def _add_parts(parts: list[_Part]) -> _Part:
    return _Part(sum(part.points for part in parts), sum(part.energy for part in parts))


def _checked_columns(numbers: np.ndarray, width: int) -> np.ndarray:
    if numbers.ndim != 1 or numbers.dtype.kind not in "iu" or not len(numbers):
        raise ValueError(f"columns must be a number or column numbers, not {numbers.dtype} of shape {numbers.shape}")
    if numbers.min() < 0 or numbers.max() >= width:
        raise ValueError(f"columns reach from {numbers.min()} to {numbers.max()}; they are numbered 0 to {width - 1}")
    return numbers


def _most_frequent(rows: RowBlocks, count: int) -> np.ndarray:
    """Numbers of the columns with the most entries, in order."""
    if not 1 <= count <= rows.shape[1]:
        raise ValueError(f"columns={count} must be from 1 to the {rows.shape[1]} columns of X")
    counts = rows.fold(_entries_per_column, partial(np.sum, axis=0))
    return np.sort(np.argsort(-counts, kind="stable")[:count])


def _entries_per_column(block: Any) -> np.ndarray:
    block = sparse.csr_array(block)
    return np.bincount(block.indices, minlength=block.shape[1])


def _energy(block: Any) -> float:
    return float(np.square(block.data, dtype=float).sum())


def _sum_rows_of_block(block: Any, *, columns: np.ndarray) -> _Part:
    """Sums of the rows of a block times their entries in each of the columns, along these columns."""
    block = sparse.csr_array(block)
    chosen = sparse.csc_array(block)[:, columns]
    found = sparse.coo_array(chosen.T @ chosen)
    entries = found.data, (found.coords[0], columns[found.coords[1]])
    return _Part(sparse.csr_array(entries, shape=(len(columns), block.shape[1])), _energy(block))


def _sketch_block(block: Any, numbers: np.ndarray, *, columns: np.ndarray, seed: int) -> _Part:
    """The part of the count sketch that a block of rows with these numbers adds."""
    block = sparse.csr_array(block)
    hashed, (height, width) = mixed(numbers, seed), block.shape
    places, signs = (hashed >> np.uint64(1)) % np.uint64(width), 1.0 - 2.0 * (hashed & np.uint64(1)).astype(float)
    entries = signs.astype(block.dtype), (np.arange(height), places.astype(np.int64))
    sketch = sparse.csr_array(entries, shape=(height, width))
    return _Part(sparse.csr_array(sparse.csc_array(block)[:, columns].T @ sketch), _energy(block))
