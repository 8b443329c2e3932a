"""SVD solvers: the table of solvers, the automatic choice as a pure function, and the call."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from .._core import check_finite
from ..exceptions import FallbackWarning, warn
from ..operators import KernelOperator
from .dense import lapack
from .factors import Factors
from .krylov import EXTRA, krylov

LARGE = 1 << 28  # entries of a matrix that takes seconds to evaluate once
SMALL = 300  # min(n, m) up to which a full decomposition takes milliseconds
SHARE = 6  # min(n, m) / k below which a Krylov space costs as much as a full decomposition
LAPACK_COPIES = 5  # arrays of the matrix's size held at once: a copy to overwrite, both factors, workspace
MANY_TRIPLETS = 32  # triplets from which orthogonalisation costs more than sparse products, and blocks make it cheaper
CHEAP_PRODUCT = 1 << 21  # multiplications per column below which one column at a time, the fewest in all, is fastest


class Choice(NamedTuple):
    """Name of a solver and the reason for choosing it; ``over_budget`` if the matrix was too large to store."""

    name: str
    reason: str
    over_budget: bool = False

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def choose(
    shape: tuple[int, int],
    k: int,
    *,
    cost: int,
    budget: int,
    matrix_free: bool = False,
    itemsize: int = 8,
    landmarks: bool = False,
) -> Choice:
    """Choose a solver from shape, rank, cost and memory budget, without access to the data.

    Parameters
    ----------
    shape : tuple of int
        (n, m).
    k : int
        Number of triplets.
    cost : int
        Multiplications in a product with one column.
    budget : int
        Memory budget in bytes.
    matrix_free : bool, default=False
        Whether kernel values are evaluated again for each product.
    itemsize : int, default=8
        Bytes per matrix entry.
    landmarks : bool, default=False
        Whether the Nystrom approximation is allowed, for matrices that are matrix-free and large.

    Examples
    --------
    >>> print(choose((100, 80), 2, cost=8000, budget=10**9))
    lapack: min(n, m) = 80 is small
    """
    n, m = shape
    small = min(shape)
    fits = _lapack_bytes(shape, itemsize) <= budget
    if small <= SMALL and fits:
        return Choice("lapack", f"min(n, m) = {small} is small")
    if SHARE * k > small and fits:
        return Choice("lapack", f"k = {k} is a large part of min(n, m) = {small}")
    if landmarks and matrix_free and n * m > LARGE:
        why = f"the {n} x {m} matrix is dense, large and exceeds the budget of {budget} bytes"
        return Choice("nystrom", why, over_budget=True)
    if matrix_free:
        why = f"the {n} x {m} matrix exceeds the budget of {budget} bytes and is evaluated in blocks"
        return Choice("krylov", why, over_budget=True)
    if cost < n * m:
        return Choice("krylov", f"products take {cost} multiplications where a dense matrix takes {n * m}")
    return Choice("krylov", f"k = {k} is a small part of min(n, m) = {small}")


def block_size(shape: tuple[int, int], k: int, *, cost: int, matrix_free: bool = False) -> int:
    """Block width of the Krylov solver: wide where the cost of a product hardly depends on it, one if cheap or sparse.

    If many triplets are wanted, orthogonalisation costs more than products, and blocks make it cheaper.
    """
    n, m = shape
    if matrix_free:
        return k + EXTRA
    if cost < CHEAP_PRODUCT:
        return 1 if k < 2 * MANY_TRIPLETS else 8
    return 1 if cost < n * m / 10 and k < MANY_TRIPLETS else 8


def factorise(
    A: KernelOperator,
    k: int,
    *,
    solver: str = "auto",
    tol: float = 0.0,
    budget: int,
    rng: np.random.Generator,
) -> tuple[Factors, Choice]:
    """Compute the k leading singular triplets of an operator; return them and the choice of solver.

    An operator that can be condensed is replaced by the smaller one if that has at least k triplets and a margin.
    """
    condensed = A.condensed()
    if condensed is None or k + 2 * EXTRA > min(condensed.operator.shape):
        return _solve(A, k, solver=solver, tol=tol, budget=budget, rng=rng)
    factors, choice = _solve(condensed.operator, k, solver=solver, tol=tol, budget=budget, rng=rng)
    n, m = condensed.operator.shape
    choice = choice._replace(reason=f"{choice.reason}, condensed to {n} x {m}")
    return Factors(condensed.left(factors.U), factors.s, condensed.right(factors.V)).canonical(), choice


def factorise_energy(
    A: KernelOperator, share: float, *, solver: str = "auto", tol: float = 0.0, budget: int, rng: np.random.Generator
) -> tuple[Factors, Choice]:
    """Compute the fewest leading triplets that hold a share of the energy, the sum of squared singular values.

    Cost: O(n m) for the energy, and factorisations with ranks that double until the share is reached.
    """
    norm = A.norm()
    wanted = share if norm > 0 else 0.0
    limit = min(A.shape)
    at_once = limit <= SMALL and solver in ("auto", "lapack") and _lapack_bytes(A.shape, A.dtype.itemsize) <= budget
    k = limit if at_once else min(2 * EXTRA, limit)
    while True:
        factors, choice = factorise(A, k, solver=solver, tol=tol, budget=budget, rng=rng)
        held = np.cumsum(np.square(factors.s.astype(float) / (norm or 1.0)))
        if held[-1] >= wanted or k == limit:
            return factors.truncate(min(k, int(np.searchsorted(held, wanted)) + 1)), choice
        k = min(2 * k, limit)


def _solve(
    A: KernelOperator, k: int, *, solver: str, tol: float, budget: int, rng: np.random.Generator
) -> tuple[Factors, Choice]:
    choice = Choice(solver, "asked for")
    if solver == "auto":
        size = A.dtype.itemsize
        choice = choose(A.shape, k, cost=A.cost, matrix_free=A.matrix_free, budget=budget, itemsize=size)
    if choice.name != "lapack" and _room(A, k) < (1 if solver == "auto" else EXTRA):
        why = f"{k} of {min(A.shape)} triplets are too many for {choice.name}"
        warn(f"{why}; lapack gives the answer", FallbackWarning)
        choice = Choice("lapack", why)
    return SOLVERS[choice.name](A, k, rng=rng, tol=tol, budget=budget), choice


def _lapack_bytes(shape: tuple[int, int], itemsize: int) -> int:
    return LAPACK_COPIES * shape[0] * shape[1] * itemsize


def _room(A: KernelOperator, k: int) -> int:
    """Largest block width for which a Krylov space of this operator has room for k triplets."""
    return (min(A.shape) - k) // 2


def _krylov(A: KernelOperator, k: int, *, rng: np.random.Generator, tol: float, budget: int) -> Factors:
    """Block Krylov with a block width that suits the operator; half of the budget is reserved for the matrix."""
    block = min(_room(A, k), block_size(A.shape, k, cost=A.cost, matrix_free=A.matrix_free))
    return krylov(A, k, rng=rng, tol=tol, block=block, budget=budget // 2)


def _lapack(A: KernelOperator, k: int) -> Factors:
    """LAPACK, after a product that reveals entries that are not finite, which the drivers do not check."""
    check_finite(A @ np.ones((A.shape[1], 1), dtype=A.dtype))
    return lapack(A, k)


# Every solver is called as solver(A, k, rng=..., tol=..., budget=...) and ignores the arguments it does not need; of
# tol, the error that is acceptable, only krylov makes use.
SOLVERS: dict[str, Callable[..., Factors]] = {
    "lapack": lambda A, k, **_: _lapack(A, k),
    "krylov": _krylov,
}
