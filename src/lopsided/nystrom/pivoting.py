"""Pivots of a cross approximation, which serve as landmarks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from .._core import Array, check_finite
from ..kernels import Kernel
from ..operators import as_operator

CANDIDATES_PER_PIVOT = 20  # candidate points per pivot, at most, on each side
WATCHED_COLUMNS = 64  # equally spaced columns in which the row of the next pivot is searched


def pivots(
    kernel: Kernel, X: Array, Z: Array, counts: tuple[int, int], rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    """Row numbers, of both sides, of the pivots of an adaptive cross approximation on random samples of candidates.

    If the approximation becomes exact with fewer pivots, further candidates complete the set. Cost: O(c p) kernel
    values and O(c p^2) operations for c candidates and p pivots.
    """
    sides = [rng.permutation(side.shape[0])[: CANDIDATES_PER_PIVOT * max(counts)] for side in (X, Z)]
    A = as_operator(kernel, X[sides[0]], Z[sides[1]], budget=0)
    found = []
    for side, chosen, count in zip(sides, cross_pivots(A.take, A.shape, max(counts), A.dtype), counts, strict=True):
        rest = np.setdiff1d(np.arange(len(side)), chosen)
        found.append(side[np.concatenate([chosen, rest])[:count]])
    return found[0], found[1]


def pivoting_bytes(counts: tuple[int, int], shape: tuple[int, int]) -> int:
    """Bytes of the two float64 factors of a cross approximation between the candidates."""
    return sum(8 * max(counts) * min(CANDIDATES_PER_PIVOT * max(counts), n) for n in shape)


def cross_pivots(
    take: Callable[[Any, Any], np.ndarray], shape: tuple[int, int], steps: int, dtype: Any
) -> tuple[np.ndarray, np.ndarray]:
    """Pivot rows and columns of a cross approximation with partial pivoting; fewer than ``steps`` if it becomes exact.

    After j steps the matrix is approximated by L R with L (n, j) and R (j, m), and the residual is zero on the pivot
    rows and columns. Each step takes the row with the largest residual in a few watched columns, so that no part of
    the matrix is missed, and in that row the column with the largest residual.
    """
    n, m = shape
    steps = min(steps, n, m)
    L, R = np.zeros((n, steps), dtype=dtype), np.zeros((steps, m), dtype=dtype)
    watched = np.unique(np.linspace(0, m - 1, WATCHED_COLUMNS).astype(np.intp))
    seen = take(slice(None), watched)
    check_finite(seen)
    free = np.ones(n, dtype=bool), np.ones(m, dtype=bool)
    rows: list[int] = []
    columns: list[int] = []
    largest = np.abs(seen).max()
    while len(rows) < steps and free[0].any():
        j = len(rows)
        i = int(np.where(free[0], np.abs(seen).max(axis=1), -1).argmax())
        free[0][i] = False
        residual = take([i], slice(None))[0] - L[i, :j] @ R[:j]
        check_finite(residual)
        residual[~free[1]] = 0
        column = int(np.abs(residual).argmax())
        pivot = residual[column]
        largest = max(largest, abs(pivot))
        if abs(pivot) <= np.finfo(dtype).eps * largest:  # the approximation is already exact on this row
            continue
        R[j] = residual / pivot
        L[:, j] = take(slice(None), [column])[:, 0] - L[:, :j] @ R[:j, column]
        check_finite(L[:, j])
        seen -= np.outer(L[:, j], R[j, watched])
        free[1][column] = False
        rows.append(i)
        columns.append(column)
    return np.array(rows, dtype=np.intp), np.array(columns, dtype=np.intp)
