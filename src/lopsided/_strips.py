"""Products of a tall matrix with a small one, a strip of rows at a time."""

from __future__ import annotations

import numpy as np

from ._parallel import n_threads

SMALL = 1_000_000  # multiplications up to which OpenBLAS takes the operands as they lie, if the processor has AVX-512
SHORTEST, LONGEST = 64, 256  # rows of a strip: fewer cost where BLAS copies all the same, more gain nothing


def in_strips(Y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Y @ W for a tall Y and a small W, both of them dense.

    Before a large product BLAS copies its operands into an order of its own, which a thin product does not earn back:
    with 20 columns it takes a third less time in strips. Only for tasks that run side by side; elsewhere BLAS has
    threads of its own, and large products are what they need.
    """
    height = min(LONGEST, SMALL // max(1, W.size))
    if height < SHORTEST or len(Y) < 2 * height or W.shape[1] == 1 or n_threads() > 1:
        return Y @ W
    out = np.empty((len(Y), W.shape[1]), dtype=np.result_type(Y, W))
    W, rest = np.ascontiguousarray(W), len(Y) % height
    whole = slice(len(Y) - rest)
    strips, results = (array[whole].reshape(-1, height, array.shape[1]) for array in (Y, out))
    np.matmul(strips, W, out=results)
    if rest:
        np.matmul(Y[-rest:], W, out=out[-rest:])
    return out
