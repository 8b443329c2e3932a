"""Select and build the solver of a saddle system, and warn about systems that are nearly singular."""

from __future__ import annotations

import sys
from collections.abc import Callable

import numpy as np
from scipy import sparse

from ...exceptions import NearSingularWarning, warn
from ...operators import Centered, KernelOperator, Stored
from ...svd import SMALL_SIDE, Choice, factorise
from .block_lu import BlockLU
from .minres import Minres
from .reduced import Reduced
from .spectral import Spectral
from .symmetric import Symmetric
from .system import NEAR, Duals, Saddle, System

DENSE_COPIES = 6  # n x n arrays that the dense solvers hold at once: K, its centred copy, factors, workspace
FEW = 4  # stored entries per row up to which LU factors of a graph's matrix stay about as sparse as the matrix
MODERATE = 3000  # number of samples up to which a dense factorisation takes seconds


def choose_saddle(
    n: int, *, entries: int, budget: int, many: bool = False, symmetric: bool = False, is_sparse: bool = False
) -> Choice:
    """Choose a solver from the size, sparsity and symmetry of the kernel matrix; a pure function.

    Parameters
    ----------
    n : int
        Number of samples.
    entries : int
        Multiplications in a matrix-vector product; for a sparse matrix, the number of stored entries.
    budget : int
        Memory budget in bytes.
    many : bool, default=False
        Whether several values of C or held-out predictions are needed.
    symmetric : bool, default=False
        Whether the matrix equals its transpose, entry by entry.
    is_sparse : bool, default=False
        Whether the matrix is stored and sparse.

    Examples
    --------
    >>> print(choose_saddle(1600, entries=5000, is_sparse=True, budget=10**9))
    sparse_lu: 5000 entries in 1600 rows fill little
    """
    fits = 8 * DENSE_COPIES * n**2 <= budget
    if is_sparse and entries <= FEW * n and n > SMALL_SIDE:
        return Choice("sparse_lu", f"{entries} entries in {n} rows fill little")
    if not fits:
        return Choice("minres", f"{DENSE_COPIES} matrices of {n} x {n} exceed the budget of {budget} bytes")
    if is_sparse and n > MODERATE:
        return Choice("minres", f"{entries} entries in {n} rows fill up when factorised, and products are cheap")
    if symmetric:
        return Choice("symmetric", "the matrix is symmetric: the classical machine")
    if many:
        return Choice("spectral", "one decomposition serves every C and every sample left out")
    return Choice("dense", f"{n} x {n} fits and one C is asked")


def build_saddle(
    A: KernelOperator,
    *,
    solver: str,
    largest_C: float,
    many: bool,
    damping: float,
    tol: float,
    budget: int,
    symmetric: bool = False,
) -> tuple[Saddle, Choice]:
    """Build the saddle systems of a kernel matrix with the given solver, or with the one that "auto" selects.

    ``symmetric`` states that the matrix equals its transpose up to rounding; a stored one is also looked at.
    """
    choice = Choice(solver, "asked for")
    is_sparse = isinstance(A, Stored) and sparse.issparse(A.K)
    if solver == "auto" and damping:
        choice = Choice("sparse_lu" if is_sparse else "dense", "damping takes a factorisation of the whole system")
    elif solver == "auto":
        symmetric = symmetric or (isinstance(A, Stored) and (A.K != A.K.T).sum() == 0)
        choice = choose_saddle(
            A.shape[0], entries=A.cost, budget=budget, many=many, symmetric=symmetric, is_sparse=is_sparse
        )
    if damping and choice.name not in ("dense", "sparse_lu"):
        raise ValueError(f"damping={damping} takes solver='dense' or 'sparse_lu', not {choice.name!r}")
    if choice.name == "sparse_lu" and not is_sparse:
        raise ValueError("solver='sparse_lu' takes a sparse kernel matrix, but this one is dense; use solver='dense'")
    build = BUILDERS[choice.name]
    return build(A, largest_C=largest_C, many=many, damping=damping, tol=tol, symmetric=symmetric), choice


def _dense(A: KernelOperator, *, damping: float, **_: object) -> Saddle:
    return BlockLU(Stored(np.asarray(A.take(), dtype=float)), damping) if damping else Reduced(A)


def _symmetric(A: KernelOperator, *, many: bool, symmetric: bool, **_: object) -> Saddle:
    K = A.take()
    if symmetric:
        K = (K + K.T) / 2
    elif not np.array_equal(K, K.T):
        gap = np.abs(K - K.T).max()
        raise ValueError(f"solver='symmetric' takes K = K', but they differ by up to {gap:.3g}; use solver='auto'")
    return Symmetric(Stored(K), many)


BUILDERS: dict[str, Callable[..., Saddle]] = {
    "dense": _dense,
    "spectral": lambda A, *, largest_C, **_: Spectral.of_matrix(A, largest_C),
    "symmetric": _symmetric,
    "sparse_lu": lambda A, *, damping, **_: BlockLU(A, damping),
    "minres": lambda A, *, tol, **_: Minres(A, tol),
}
SADDLE_SOLVERS = tuple(BUILDERS)


def warn_if_near_singular(system: System) -> None:
    """Warn if a system is nearly singular, and name the singular value responsible and the safe values of C."""
    found = system.closeness()
    if found is None or found.rcond > NEAR:
        return
    largest = max(largest_singular_value(system.A), found.largest)
    warn(
        f"C={system.C:g} makes the system nearly singular (reciprocal condition {found.rcond:.1e}): the centred kernel "
        f"matrix has the singular value {found.sigma:.6g} and 1/C is {1 / system.C:.6g}. Any C below {1 / largest:.6g} "
        "is safe; damping=1.0 gives the damped solution at this C",
        NearSingularWarning,
    )


def check_solution(system: System, duals: Duals) -> None:
    """Raise an error if the duals have overflowed, and name the safe values of C."""
    if not all(np.isfinite(part).all() for part in duals):
        safe = 1 / largest_singular_value(system.A)
        raise ValueError(
            f"the system at C={system.C:g} has no finite solution, to rounding; any C below {safe:.6g} is safe"
        )


def largest_singular_value(A: KernelOperator) -> float:
    """Largest singular value of the centred matrix; for C below its reciprocal the system is positive definite."""
    leading, _ = factorise(Centered(A), 1, budget=sys.maxsize, rng=np.random.default_rng(0))
    return float(leading.s[0])
