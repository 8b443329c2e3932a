"""Products of a tall matrix with a small one, in strips of rows."""

from __future__ import annotations

import numpy as np

from .threads import n_threads

SMALL = 1_000_000  # multiplications below which OpenBLAS, on AVX-512, skips copying the operands to packed buffers
SHORTEST, LONGEST = 64, 256  # rows of a strip: shorter ones lose time where operands are copied, longer ones gain none


def in_strips(Y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Compute Y @ W for a tall dense Y and a small dense W, one strip of rows at a time.

    BLAS packs the operands of a large product into buffers, which a thin product does not earn back. Strips are
    small enough to avoid this: with 20 columns they take about a third less time. Strips are only used
    within tasks that run in parallel; elsewhere Y @ W is left to the threads of BLAS.
    """
    height = min(LONGEST, SMALL // max(1, W.size))
    if height < SHORTEST or len(Y) < 2 * height or min(W.shape) < 2 or n_threads() > 1:
        return Y @ W
    out = np.empty((len(Y), W.shape[1]), dtype=np.result_type(Y, W))
    W, rest = np.ascontiguousarray(W), len(Y) % height
    whole = slice(len(Y) - rest)
    strips, results = (array[whole].reshape(-1, height, array.shape[1]) for array in (Y, out))
    np.matmul(strips, W, out=results)
    if rest:
        np.matmul(Y[-rest:], W, out=out[-rest:])
    return out
