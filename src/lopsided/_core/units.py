"""Units in which squares of numbers of any size neither overflow nor vanish."""

import math
from typing import cast

import numpy as np
from scipy import sparse

from .arrays import Array, Kind, canonical
from .csr import row_sums


def safe_unit(*arrays: Array) -> np.floating:
    """Power of two that arrays of one dtype are to be divided by before their entries are squared.

    It is the one nearest below the largest magnitude. It is one, so that nothing need be divided, if that magnitude is
    between tiny^(1/4) and max^(1/4), where sums and products of squares are safe, is zero or is not finite. Division by
    a power of two changes no digit. Cost: O(entries), without temporary arrays.
    """
    dtype, peak = arrays[0].dtype, max(map(_peak, arrays))
    limits = np.finfo(dtype)
    if float(limits.tiny) ** 0.25 < peak < float(limits.max) ** 0.25 or not 0 < peak < math.inf:
        return dtype.type(1)
    return dtype.type(max(math.ldexp(1.0, math.frexp(peak)[1] - 1), float(limits.tiny)))


def in_unit(X: Kind, unit: np.floating) -> Kind:
    """Return X divided by a unit; X itself, and no copy, if the unit is one."""
    return X if unit == 1 else cast(Kind, X * (1 / unit))  # scipy would divide in double precision


def row_lengths(X: Array) -> np.ndarray:
    """Euclidean length of each row, in any unit and however much shorter than the longest row. Cost: O(entries)."""
    unit = safe_unit(X)
    Y = in_unit(X, unit)
    if sparse.issparse(Y):
        Y = canonical(Y)
        squares = row_sums(np.square(Y.data, dtype=float), Y)
    else:
        squares = np.einsum("ij,ij->i", Y, Y, dtype=float)
    return unit * np.sqrt(squares).astype(X.dtype)


def unit_rows(X: np.ndarray) -> np.ndarray:
    """Scale rows to length one; rows of zeros stay zero."""
    lengths = row_lengths(X)
    return X / np.where(lengths > 0, lengths, 1)[:, None]


def whole(values: np.ndarray) -> bool:
    """Whether values are whole numbers, as counts are; beyond 1 / eps every float is whole, which tells nothing."""
    if (np.rint(values) != values).any():
        return False
    least = np.abs(values).min(initial=np.inf, where=values != 0)
    return bool(least < 1 / np.finfo(values.dtype).eps or np.isinf(least))


def _peak(X: Array) -> float:
    """Largest magnitude of the entries; zero if there are none."""
    entries = X.data if sparse.issparse(X) else X
    return float(max(entries.max(initial=0), -entries.min(initial=0)))


def frobenius(K: np.ndarray) -> float:
    """Return the Frobenius norm, also where squares would overflow or underflow."""
    unit = safe_unit(K)
    flat = in_unit(K, unit).ravel(order="K")
    return float(unit) * math.sqrt(np.einsum("i,i->", flat, flat, dtype=float))
