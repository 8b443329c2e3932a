"""Block Lanczos bidiagonalisation with thick restarts, the default solver for large operators."""

import math

import numpy as np

from .._core import counted, with_one_blas_thread
from ..exceptions import ConvergenceWarning, warn
from ..operators import KernelOperator
from .accuracy import estimated_eta
from .bidiagonal import PROBE_COLUMNS, Bidiagonal
from .factors import Factors, canonical_signs

SVD_COPIES = 9  # arrays of the size of B that its SVD takes: B, factors, workspace
SVD_COST = 40  # multiplications in the SVD of B, in units of the cube of its size
EXTRA_COLUMNS = 10  # columns beyond k in a block whose width is free
BASIS_TRIPLETS, LEAST_TRIPLETS = 4, 1.5  # vectors in a basis, in units of k, and where memory is short
BASIS_BLOCKS, LEAST_BLOCKS = 6, 2  # or if more, blocks in a basis beyond k and the spare triplets
SPARE_TRIPLETS = 20  # triplets kept beyond k at a restart, so that the k-th converges too
WIDEST_SEARCH = 8  # columns, at most, of a block that searches for further copies of a repeated singular value
MAX_STEPS = 1000  # block steps before a ConvergenceWarning


@with_one_blas_thread
def krylov(
    A: KernelOperator,
    k: int,
    *,
    rng: np.random.Generator,
    tol: float = 0.0,
    block: int = 8,
    max_steps: int = MAX_STEPS,
    budget: int | None = None,
    rounding: float = 0.0,
) -> Factors:
    """Compute the k leading singular triplets by block Lanczos bidiagonalisation, by default to rounding.

    Bases V of the Krylov space and U of its image satisfy A V = U B with a small matrix B. The triplets of B give
    approximate triplets of A for which A v = s u holds exactly; the iteration ends when the other residual,
    |A^T u - s v|, is below eps^0.8 times the largest singular value. With ``tol`` it ends when that is below ``tol`` /
    10 and an estimate of eta, the error of the vectors (see :func:`estimated_eta`), is below ``tol``. When the bases
    are full, a thick restart keeps the leading triplets and drops the rest. A Krylov space contains at most ``block``
    copies of a repeated singular value, so after convergence a few steps from random directions search for further
    copies.

    V lies on the shorter side and is fully orthogonalised. U follows from a one-sided recurrence (Simon and Zha, 2000)
    and is reorthogonalised when an estimate of its loss of orthogonality becomes too large. What is left of the loss
    is taken into account before restarts and before convergence is accepted.

    Cost per step: two products with ``block`` columns and O(min(n, m) k block); memory O((n + m)(4 k + 6 block)). If
    the bases would exceed ``budget`` bytes, they are shortened, down to 1.5 k vectors, and restarted more often.
    """
    wide, At = A.shape[0] < A.shape[1], A.T
    block = min(block, *A.shape)
    capacity = _capacity(A, k, block, budget)
    space = Bidiagonal(At if wide else A, A if wide else At, capacity, rng, rounding)
    step_cost = block * (2 * A.cost + 4 * capacity * min(A.shape))
    pace = _Pace(patience=SVD_COST * capacity**3 // step_cost)
    fresh, settled, next_look = space.random(block), None, -(-k // block)
    for step in counted(range(1, 1 + max(max_steps, next_look)), "Krylov steps"):
        fresh = space.grow(fresh)
        full = space.size + block > capacity
        if step < next_look and not full:
            continue
        residual, excess = space.look(k, tol, careful=full)
        next_look = pace.next_look(step, excess)
        if excess <= 1:  # converged; random directions search for copies of singular values, until they find none
            slack = residual * space.s[0] + space.info.tiny**0.5
            found_again = settled is not None and np.allclose(settled, space.s[:k], rtol=residual**0.5, atol=slack)
            if found_again and (space.is_leading(k, residual) or (full and capacity - block <= k)):
                break  # second case: a restart could keep no triplet beyond k, so the search would never end
            next_look = step + 2 + PROBE_COLUMNS // block
            if not found_again:
                if settled is not None:  # the last search found copies, and there may be more
                    block = min(2 * block, WIDEST_SEARCH, capacity - k)
                space.shrink(k)
                fresh, settled = space.random(block), space.s[:k]
                continue
        if full:
            space.shrink(min(k + SPARE_TRIPLETS, capacity - block))
    else:
        space.solve()
        warn(
            f"the {k} leading singular triplets reached a residual of {space.residuals[:k].max() / space.s[0]:.1e} of "
            f"the largest singular value in {step} steps, not {residual:.1e}, and an estimated eta of "
            f"{estimated_eta(space.s, space.residuals, k):.1e}; raise tol or use fewer components",
            ConvergenceWarning,
        )
    U, s, V = space.triplets(k)
    U, V = (V, U) if wide else (U, V)
    signs = canonical_signs(U)
    U *= signs  # in place: on large graphs the page faults of a new array cost as much as the product
    V *= signs
    return Factors(U, s, V)


def _capacity(A: KernelOperator, k: int, block: int, budget: int | None) -> int:
    """Vectors that the bases may hold before a restart."""
    capacity = max(BASIS_TRIPLETS * k, k + SPARE_TRIPLETS + BASIS_BLOCKS * block)
    if budget is not None:
        sides, entries = sum(A.shape), budget // A.dtype.itemsize  # capacity (sides + SVD_COPIES capacity) <= entries
        affordable = int((math.sqrt(sides**2 + 4 * SVD_COPIES * entries) - sides) / (2 * SVD_COPIES))
        least = max(int(LEAST_TRIPLETS * k), k + SPARE_TRIPLETS + LEAST_BLOCKS * block)
        capacity = max(least, min(capacity, affordable))
    capacity = min(capacity, min(A.shape) - block)
    if capacity < k + block:
        raise ValueError(
            f"k={k} with blocks of {block} leaves no room for a Krylov space in min(n, m)={min(A.shape)}; use lapack"
        )
    return capacity


class _Pace:
    """Schedule of convergence checks from the decay of the residual; ``patience`` is the cost of a check in steps."""

    def __init__(self, patience: int) -> None:
        self.patience, self.step, self.height = max(1, patience), 0, np.inf

    def next_look(self, step: int, excess: float) -> int:
        """Step at which, by extrapolation, log(excess) will have halved; at most ``patience`` steps ahead."""
        height = float(np.log(max(excess, 1.0)))
        fall = (self.height - height) / (step - self.step)
        self.step, self.height = step, height
        ahead = int(height / (2 * fall)) if 0 < fall < np.inf else 1
        return step + min(max(1, ahead), self.patience)
