"""Leading singular triplets of an operator by the solver that was asked for or chosen."""

from collections.abc import Callable
from dataclasses import replace
from numbers import Integral, Real

import numpy as np
from sklearn.utils._param_validation import Interval, RealNotInt

from .._core import announce, check_finite, checked, svd
from ..exceptions import FallbackWarning, warn
from ..operators import KernelOperator
from .factors import Factors
from .krylov import EXTRA_COLUMNS, krylov
from .policy import SMALL_SIDE, Choice, block_width, choose_for_operator, lapack_bytes, work


@checked(
    A=[KernelOperator],
    k=[Interval(Integral, 1, None, closed="left"), Interval(RealNotInt, 0, 1, closed="right")],
    solver=[str],
    tol=[Interval(Real, 0, None, closed="left")],
    budget=[Interval(Real, 0, None, closed="left")],
    rng=[np.random.Generator],
)
def factorise(
    A: KernelOperator, k: int | float, *, solver: str = "auto", tol: float = 0.0, budget: int, rng: np.random.Generator
) -> tuple[Factors, Choice]:
    """Compute the leading singular triplets of an operator; return them and the choice of solver.

    Parameters
    ----------
    A : KernelOperator
        The matrix. One that can be condensed is replaced by the smaller one if that has enough triplets.
    k : int or float
        Number of triplets; or the share of the energy, the sum of squared singular values, that they must hold. A
        share costs O(n m) for the energy, and factorisations with ranks that double until it is reached.
    solver, tol : as in KernelSVD
        "auto", "lapack" or "krylov", and the relative eta at which "krylov" stops; zero means rounding.
    budget, rng : int and Generator
        Memory in bytes, and the source of the start vectors.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF
    >>> from lopsided.operators import as_operator
    >>> from lopsided.svd import factorise
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> A = as_operator(RBF(1.0).fit(X, X[:10]), X, X[:10], budget=10**6)
    >>> factors, choice = factorise(A, 2, budget=10**6, rng=np.random.default_rng(0))
    >>> factors.s.shape, choice.name
    ((2,), 'lapack')
    """
    if solver not in ("auto", *SOLVERS):
        raise ValueError(f"solver={solver!r} is not one of 'auto', {', '.join(map(repr, SOLVERS))}")
    if not isinstance(k, Integral):
        return _factorise_share(A, k, solver=solver, tol=tol, budget=budget, rng=rng)
    choice, condensed = choose_for_operator(A, k, budget, solver)
    if choice.is_fallback:
        warn(f"{choice.reason}; lapack gives the answer", FallbackWarning)
    announce(lambda: work(A, k, choice))
    rounding = A.rounding
    solved = A if condensed is None else condensed.operator
    factors = SOLVERS[choice.name](solved, k, tol=tol, budget=budget, rng=rng, rounding=rounding)
    factors = replace(factors, s=np.where(factors.s > rounding, factors.s, 0))
    if condensed is None:
        return factors, choice
    return Factors(condensed.left(factors.U), factors.s, condensed.right(factors.V)).canonical(), choice


def _factorise_share(
    A: KernelOperator, share: float, *, solver: str, tol: float, budget: int, rng: np.random.Generator
) -> tuple[Factors, Choice]:
    """Compute the fewest leading triplets that hold a share of the energy."""
    norm = A.norm()
    wanted = share if norm > A.rounding else 0.0
    limit = min(A.shape)
    fits = lapack_bytes(A.shape, A.dtype.itemsize) <= budget
    at_once = limit <= SMALL_SIDE and solver in ("auto", "lapack") and fits
    k = limit if at_once else min(2 * EXTRA_COLUMNS, limit)
    while True:
        factors, choice = factorise(A, k, solver=solver, tol=tol, budget=budget, rng=rng)
        held = np.cumsum(np.square(factors.s.astype(float) / max(norm, np.finfo(float).tiny)))
        if held[-1] >= wanted or k == limit:
            return factors.truncate(min(k, int(np.searchsorted(held, wanted)) + 1)), choice
        k = min(2 * k, limit)


def lapack(A: KernelOperator, k: int, **_: object) -> Factors:
    """Full dense SVD, truncated to k triplets. Cost: O(n m min(n, m)) time, memory for about four n x m matrices."""
    K = A.take()
    check_finite(K)  # LAPACK would not tell
    U, s, Vt = svd(K)
    return Factors(U[:, :k], s[:k], Vt[:k].T).canonical()


def _krylov(
    A: KernelOperator, k: int, *, tol: float, budget: int, rng: np.random.Generator, rounding: float
) -> Factors:
    """Block Krylov with a block width that suits the operator; half of the budget is reserved for the matrix."""
    return krylov(A, k, rng=rng, tol=tol, block=block_width(A, k, tol), budget=budget // 2, rounding=rounding)


SOLVERS: dict[str, Callable[..., Factors]] = {"lapack": lapack, "krylov": _krylov}
