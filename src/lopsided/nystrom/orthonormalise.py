"""Linear maps ("turns") that orthonormalise the columns of tall arrays, from means and Gram matrices alone."""

from collections.abc import Sequence
from functools import partial, reduce
from typing import NamedTuple

import numpy as np

from .._core import RowBlocks, check_finite, eigh, in_slabs, run, slices_of, svd
from ..svd import Side

SLAB_ROWS = 1 << 14  # rows per task of a thread
SLAB_WIDTHS = 4  # such rows, at least, in units of the columns: Gram matrices of slabs stay smaller than slabs
PART_ENTRIES = 1 << 23  # of a slab, that are copied at once


class Moments(NamedTuple):
    """Mean and Gram matrix of the columns of an array, in float64; the mean is zero if columns are not centred."""

    mean: np.ndarray
    gram: np.ndarray


def moments(vectors: np.ndarray, center: bool) -> Moments:
    """Moments of the columns."""
    width = vectors.shape[1]
    mean, height = np.zeros(width), max(SLAB_ROWS, SLAB_WIDTHS * width)
    if center:
        mean = np.sum(in_slabs(_sums, vectors, height), axis=0) / len(vectors)
    gram = reduce(np.add, in_slabs(partial(_gram, mean=mean if center else None), vectors, height))
    check_finite(gram)
    return Moments(mean, gram)


def _sums(slab: np.ndarray) -> np.ndarray:
    return slab.sum(axis=0, dtype=float)


def _gram(slab: np.ndarray, *, mean: np.ndarray | None) -> np.ndarray:
    gram = np.zeros((slab.shape[1],) * 2)
    for rows in slices_of(len(slab), PART_ENTRIES // slab.shape[1]):
        part = slab[rows].astype(float) if mean is None else slab[rows] - mean
        gram += part.T @ part
    return gram


def orthonormal_turns(sides: Sequence[Moments], d: np.ndarray, k: int) -> tuple[list[np.ndarray], np.ndarray]:
    """Matrices S, T and values s with L S and R T orthonormal and L diag(d) R^T = L S diag(s) (R T)^T.

    Only the moments of L and R are needed; of one side alone, R = L, S = T and values have signs. Only the k values of
    largest magnitude are kept.
    """
    if len(sides) == 1 and (d == 1).all():  # L L^T has the eigenvalues of L^T L
        s, E = eigh(sides[0].gram)
        live = np.arange(len(s))[s > len(s) * np.finfo(float).eps * s[-1]][: -k - 1 : -1]
        return [E[:, live] / np.sqrt(s[live])], s[live]
    roots = [_square_root(side.gram) for side in sides]
    if len(roots) == 1:
        ((A, inverse),) = roots
        s, E = eigh(A * d @ A.T)
        leading = np.argsort(-np.abs(s), kind="stable")[:k]
        return [inverse @ E[:, leading]], s[leading]
    (A, A_inverse), (B, B_inverse) = roots
    a, s, bt = svd(A * d @ B.T)
    k = min(k, len(s))
    return [A_inverse @ a[:, :k], B_inverse @ bt[:k].T], s[:k]


def unit_turns(sides: Sequence[Moments], s: np.ndarray) -> tuple[list[np.ndarray], np.ndarray]:
    """Diagonal matrices that scale every column to unit norm; the singular values are unchanged."""
    lengths = (np.sqrt(np.maximum(np.diag(side.gram), np.finfo(float).tiny)) for side in sides)
    return [np.diag(1 / length) for length in lengths], s


def _square_root(gram: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Matrix R with R^T R = gram, without numerically null directions, and the pseudo-inverse of R.

    The eigenvalues are those of the correlation matrix, as column norms may differ by orders of magnitude: a vector
    that is small on the landmarks has a large extension.
    """
    lengths = np.sqrt(np.maximum(np.diag(gram), np.finfo(float).tiny))
    squares, E = eigh(gram / lengths / lengths[:, None])
    live = squares > len(squares) * np.finfo(float).eps * squares[-1]
    roots, E = np.sqrt(squares[live]), E[:, live]
    return roots[:, None] * E.T * lengths, E / roots / lengths[:, None]


def turned(vectors: np.ndarray, map: np.ndarray, moments: Moments, turn: np.ndarray) -> tuple[np.ndarray, Side]:
    """(vectors - mean) @ turn, in place unless most columns go, and the Side that maps kernel values to them."""
    offset, centred, dtype = moments.mean @ turn, moments.mean.any(), vectors.dtype
    side = Side((map @ turn).astype(dtype), offset.astype(dtype))
    if isinstance(vectors, RowBlocks):
        return vectors.affine(turn if centred else turn.astype(dtype), offset if centred else None), side
    factor, (width, k) = turn.astype(dtype), turn.shape
    out = vectors[:, :k] if 2 * k > width else np.empty((len(vectors), k), dtype)

    def turn_part(rows: slice) -> None:
        part = vectors[rows]
        if centred:  # differences are taken in double precision, and rounded
            part = np.subtract(part, moments.mean, out=np.empty_like(part), casting="same_kind")
        out[rows] = part @ factor

    run(turn_part, slices_of(len(vectors), min(SLAB_ROWS, PART_ENTRIES // width)))
    return out, side
