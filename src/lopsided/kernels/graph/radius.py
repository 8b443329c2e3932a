"""Bounds of the spectral radius of nonnegative matrices."""

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components

from ..._core import AdjacencyBlocks, by_rows, per_entry, some_entries
from ...exceptions import ConvergenceWarning, warn

RADIUS_PRECISION = 1e-3  # relative gap between the bounds of the spectral radius at which the power iteration stops
WARNED_RADIUS_GAP = 1e-2  # relative gap between the bounds above which a warning is issued
MAX_POWER_STEPS = 1000  # of the power iteration


def spectral_radius(A: sparse.csr_array | AdjacencyBlocks) -> tuple[float, float]:
    """Return lower and upper bounds of the spectral radius of a nonnegative matrix; warn if they are far apart."""
    low, high = _by_products(A) if isinstance(A, AdjacencyBlocks) else _by_components(A)
    if high - low > WARNED_RADIUS_GAP * high:
        warn(
            f"the spectral radius is between {low:.4g} and {high:.4g}, and {MAX_POWER_STEPS} steps did not narrow the "
            "gap; the larger one is used, so the default beta may be smaller than it needs to be",
            ConvergenceWarning,
        )
    return low, high


def _by_components(A: sparse.csr_array) -> tuple[float, float]:
    """Bounds for a matrix in memory.

    The radius is the maximum over the strongly connected components. In each, min and max of (A x)_i / x_i are bounds
    for any positive x (Collatz-Wielandt), which a power iteration narrows: with A + c I, since powers of A need not
    converge on a periodic graph. With c the geometric mean of the bounds, no unit of weights nor scaling D^-1 A D slows
    it down.
    """
    A, part = _cyclic(A)
    if not A.nnz:
        return 0.0, 0.0
    x = np.ones(A.shape[0])
    for _ in range(MAX_POWER_STEPS):
        image = A @ x
        ratio = image / x
        highest, lowest = _largest_of_parts(ratio, part), 1 / _largest_of_parts(1 / ratio, part)
        low, high = float(lowest.max()), float(highest.max())
        if high - low <= RADIUS_PRECISION * high:
            break
        x = image + (np.sqrt(lowest) * np.sqrt(highest))[part] * x
        x = np.maximum(x / _largest_of_parts(x, part)[part], np.finfo(float).tiny)
    return low, high


def _by_products(A: AdjacencyBlocks) -> tuple[float, float]:
    """Bounds for a matrix in blocks, whose components are not in memory; each step reads all blocks once or twice.

    The maximum of (A x)_i / x_i is an upper bound for any positive x, and the minimum over a set of nodes is a lower
    one if x is zero elsewhere. Where ratios are largest lie the component of the largest radius and the nodes from
    which it is reached.
    """
    x = _between_cycles(A).astype(float)
    if not x.any():
        return 0.0, 0.0
    low, high = 0.0, np.inf
    for _ in range(MAX_POWER_STEPS):
        inside = x > 0
        image = np.where(inside, A @ x, 0)
        ratio = image / np.where(inside, x, 1)
        before, high = high, min(high, float(ratio.max()))
        if before - high <= RADIUS_PRECISION * high:  # the upper bound has settled
            leading = ratio >= (1 - RADIUS_PRECISION) * high
            low = max(low, float(((A @ (x * leading))[leading] / x[leading]).min(initial=high)))
            if high - low <= RADIUS_PRECISION * high:
                break
        x = image + high * x
        x = np.where(inside, np.maximum(x / x.max(), np.finfo(float).tiny), 0)
    return low, high


def _between_cycles(A: AdjacencyBlocks) -> np.ndarray:
    """Mask of the nodes on cycles and on paths between them: others lose all their edges, one after the other."""
    left = np.ones(A.shape[0], dtype=bool)
    for _ in range(MAX_POWER_STEPS):
        linked = left & (A @ left.astype(A.dtype) > 0) & (A.T @ left.astype(A.dtype) > 0)
        if linked.sum() == left.sum():
            break
        left = linked
    return left


def _cyclic(A: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
    """Return the edges that lie in cycles, restricted to their nodes, and the strong component of each such node."""
    _, part = connected_components(A, connection="strong")
    inside = (per_entry(part, A) == part[A.indices]) & (A.data > 0)
    A = some_entries(A, inside).astype(float)
    nodes = np.flatnonzero(np.diff(A.indptr))
    return by_rows(A[nodes][:, nodes]), np.unique(part[nodes], return_inverse=True)[1]


def _largest_of_parts(values: np.ndarray, part: np.ndarray) -> np.ndarray:
    """Return the maximum of the positive values in each part."""
    largest = np.zeros(part.max() + 1)
    np.maximum.at(largest, part, values)
    return largest
