"""Dense matrix products on the library's own threads."""

from functools import reduce

import numpy as np

from .threads import n_threads, run, slices_of

WORTH_THREADS = 1 << 20  # multiplications from which a product is divided among threads; fewer take under 0.3 ms
SLAB_COST = 1 << 19  # multiplications of a slab, at least
SLAB_ROWS = 512  # rows of a slab, at least, to earn back the packing of the other factor
UNPACKED = 1_000_000  # multiplications below which OpenBLAS, on AVX-512, skips copying the operands to packed buffers
SHORTEST_STRIP = 64  # rows; shorter ones lose time where operands are copied
LONGEST_STRIP = 256  # rows; longer ones gain nothing


def product(Y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Return Y @ W for dense matrices, a slab of rows of Y, or of columns if Y is wide, at a time on each thread.

    The threads of BLAS wait for each other in a busy loop. If another process takes the core of one of them, even a
    small product lasts a time slice of the scheduler, which makes a fit ten times slower on a busy machine. Threads of
    ``run`` sleep while they wait, and whichever has a core does the work. The slabs depend only on the shapes, so the
    number of threads does not change a bit of the result. An outer product is broadcast, ten times faster than BLAS.
    If one factor is in single precision, slabs bound the copy of it in double precision that BLAS needs.
    """
    (n, inner), columns, mixed = Y.shape, W.shape[1], Y.dtype != W.dtype
    if inner == 1:
        return Y * W
    if n * inner * columns < WORTH_THREADS or (n_threads() < 2 and not mixed):
        return Y @ W
    if n >= inner:
        out = np.empty((n, columns), dtype=np.result_type(Y, W))
        run(lambda rows: np.matmul(Y[rows], W, out=out[rows]), _slabs(n, inner * columns, SLAB_ROWS))
        return out
    least = 4 * columns if mixed else max(4 * n, 4 * columns)  # partial sums: a quarter of the operands
    slabs = _slabs(inner, n * columns, max(SLAB_ROWS, least))
    return reduce(np.add, run(lambda part: Y[:, part] @ W[part], slabs))


def _slabs(length: int, cost: int, least: int) -> list[slice]:
    """Cut range(length) into slices of at least ``least``, each of which costs at least SLAB_COST."""
    return slices_of(length, max(least, SLAB_COST // cost))


def in_strips(Y: np.ndarray, W: np.ndarray) -> np.ndarray:
    """Compute Y @ W for a tall dense Y and a small dense W, one strip of rows at a time.

    BLAS packs the operands of a large product into buffers, which a thin product does not earn back. Strips are
    small enough to avoid this: with 20 columns they take about a third less time. Strips are only used
    within tasks that run in parallel; elsewhere Y @ W is left to BLAS.
    """
    height = min(LONGEST_STRIP, UNPACKED // max(1, W.size))
    if height < SHORTEST_STRIP or len(Y) < 2 * height or min(W.shape) < 2 or n_threads() > 1:
        return Y @ W
    out = np.empty((len(Y), W.shape[1]), dtype=np.result_type(Y, W))
    W, rest = np.ascontiguousarray(W), len(Y) % height
    whole = slice(len(Y) - rest)
    strips, results = (array[whole].reshape(-1, height, array.shape[1]) for array in (Y, out))
    np.matmul(strips, W, out=results)
    if rest:
        np.matmul(Y[-rest:], W, out=out[-rest:])
    return out
