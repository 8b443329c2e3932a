"""Which solver decomposes a kernel matrix, and why: pure functions of sizes and memory, which compute nothing."""

from numbers import Integral
from typing import Any, NamedTuple

from scipy import sparse

from .._core import Array, ArrayLike, budget_bytes, by_rows, check_points, check_sides
from ..kernels import Kernel, Precomputed, as_kernel
from ..operators import Blocked, Condensed, KernelOperator, Stored, as_operator, is_factored, is_indexed, is_matrix_free
from .krylov import EXTRA_COLUMNS

LARGE_MATRIX = 1 << 28  # entries of a dense matrix that takes seconds to evaluate once
# Timed on RBF kernel matrices of 150 to 1,200 normal points in five dimensions, on one core: 300 points take 8 ms to
# decompose in full, and a Krylov space overtakes LAPACK at min(n, m) / k between 6 and 12.
SMALL_SIDE = 300  # min(n, m) up to which a full decomposition takes milliseconds
LAPACK_SHARE = 6  # min(n, m) / k below which a Krylov space costs more than a full decomposition
LAPACK_WORKSPACE = 4  # square arrays of the shorter side that divide and conquer works with
MANY_TRIPLETS = 32  # triplets from which orthogonalisation costs more than sparse products, and blocks make it cheaper
# Kernels of graphs with 20,000 and 100,000 nodes, 128 and 256 triplets: blocks of 16 columns take 10 to 20 % less CPU
# time than blocks of 8, which fill half a cache line in single precision; blocks of 32 need too many columns.
WIDE_FROM = 128  # triplets
# Least width of a block if iteration ends early. A single vector mixes close singular vectors long before it shows that
# there are several: of 1,500 spectra with clusters, eta exceeds tol in 87 with one column, 1 in two, none in four.
WIDTH_FOR_TOL = 4
CHEAP_PRODUCT = 1 << 21  # multiplications per column below which one column at a time, the fewest in all, is fastest


class Choice(NamedTuple):
    """Name of a solver and the reason for choosing it."""

    name: str
    reason: str
    over_budget: bool = False  # the matrix is too large to store
    is_fallback: bool = False  # another solver was wanted

    def __str__(self) -> str:
        return f"{self.name}: {self.reason}"


def select_solver(
    kernel: Any,
    X: ArrayLike = None,
    Z: ArrayLike = None,
    *,
    n_components: int = 2,
    memory_budget: float | str | None = None,
) -> Choice:
    """Return the solver that :class:`~lopsided.KernelSVD` would choose, and why, without decomposing anything.

    Dense data are looked at only for their sizes. Of sparse data and graphs the sparse part of the matrix is formed,
    since its number of entries decides. The result is that of ``KernelSVD.solver_``: a ``name`` and a ``reason``.

    Parameters
    ----------
    kernel : str, Kernel, callable or KernelOperator
        A kernel as in KernelSVD, or the matrix itself as an operator, which takes no X and Z.
    X, Z : arrays or sparse matrices of shapes (n, width) and (m, width)
        Left and right points, as in ``KernelSVD.fit``; without Z the columns of X, or X is the "precomputed" matrix.
    n_components : int, default=2
        Number of singular triplets; a share of the energy, which KernelSVD takes too, has no answer in advance.
    memory_budget : float, str or None, default=None
        Memory for the kernel matrix, as in KernelSVD.

    Examples
    --------
    >>> import numpy as np
    >>> import lopsided
    >>> print(lopsided.select_solver("rbf", np.zeros((100, 3)), np.zeros((80, 3))))
    lapack: min(n, m) = 80 is small
    """
    budget = budget_bytes(memory_budget)
    if not isinstance(n_components, Integral) or n_components < 1:
        raise ValueError(f"n_components={n_components!r} must be an integer from 1; a share is resolved by fit alone")
    if isinstance(kernel, KernelOperator):
        return choose_for_operator(kernel, n_components, budget)[0]
    if X is None:
        raise ValueError("select_solver(kernel, X, Z) needs the left points X; only an operator comes without points")
    kernel, X = as_kernel(kernel), check_points(X, "X")
    if isinstance(kernel, Precomputed):
        return choose_for_operator(Stored(X), n_components, budget)[0]
    X, Z = check_sides(X, by_rows(X.T) if Z is None else Z)
    if (choice := nystrom_if_large(kernel, X, Z, budget)) is not None:
        return choice
    structured = is_indexed(kernel) or is_factored(kernel, X, Z) or (sparse.issparse(X) and sparse.issparse(Z))
    if not structured or isinstance(as_operator(kernel.fit(X, Z), X, Z), Blocked):
        matrix_free, (n, m) = is_matrix_free(kernel, X, Z, budget), (X.shape[0], Z.shape[0])
        size = X.dtype.itemsize
        return choose_solver((n, m), n_components, cost=n * m, budget=budget, matrix_free=matrix_free, itemsize=size)
    return choose_for_operator(as_operator(kernel, X, Z, budget=budget), n_components, budget)[0]


def nystrom_if_large(kernel: Kernel, X: Array, Z: Array, budget: int) -> Choice | None:
    """The choice of the Nystrom method if the matrix is dense, large and beyond the budget; otherwise None."""
    if sparse.issparse(X) and sparse.issparse(Z):
        return None
    n, m = X.shape[0], Z.shape[0]
    if n * m <= LARGE_MATRIX or not is_matrix_free(kernel, X, Z, budget):
        return None
    why = f"the {n} x {m} matrix is dense, large and exceeds the budget of {budget} bytes"
    return Choice("nystrom", why, over_budget=True)


def choose_for_operator(
    A: KernelOperator, k: int, budget: int, solver: str = "auto"
) -> tuple[Choice, Condensed | None]:
    """The exact solver for k triplets of an operator, asked for or chosen, and the smaller operator to apply it to.

    An operator that can be condensed is replaced by the smaller one if that has at least k triplets and a margin.
    """
    condensed = A.condensed()
    if condensed is not None and k + 2 * EXTRA_COLUMNS > min(condensed.operator.shape):
        condensed = None
    A = A if condensed is None else condensed.operator
    choice, least_width = Choice(solver, "asked for"), EXTRA_COLUMNS
    if solver == "auto":
        size = A.dtype.itemsize
        choice = choose_solver(A.shape, k, cost=A.cost, matrix_free=A.matrix_free, budget=budget, itemsize=size)
        least_width = 1
    if choice.name != "lapack" and krylov_room(A.shape, k) < least_width:
        why = f"{k} of {min(A.shape)} triplets are too many for {choice.name}"
        choice = Choice("lapack", why, is_fallback=True)
    if choice.name == "lapack":
        _check_lapack(A, choice, budget)
    if condensed is not None:
        choice = choice._replace(reason=f"{choice.reason}, condensed to {A.shape[0]} x {A.shape[1]}")
    return choice, condensed


def _check_lapack(A: KernelOperator, choice: Choice, budget: int) -> None:
    """Raise ValueError if a full decomposition that was asked for, or has no alternative, exceeds the budget."""
    (n, m), size = A.shape, A.dtype.itemsize
    needed = lapack_bytes(A.shape, size)
    if needed > max(budget, lapack_bytes((SMALL_SIDE, SMALL_SIDE), size)):
        way_out = "use fewer components" if choice.is_fallback else "use solver='krylov'"
        raise ValueError(
            f"solver='lapack' needs {needed} bytes for a {n} x {m} matrix, above the budget of {budget}; raise "
            f"memory_budget to that, or {way_out}"
        )


def choose_solver(
    shape: tuple[int, int], k: int, *, cost: int, budget: int, matrix_free: bool = False, itemsize: int = 8
) -> Choice:
    """Choose an exact solver for k triplets of a matrix from its shape and memory, without access to the data.

    ``cost`` is the number of multiplications in a product with one column; ``matrix_free`` tells that kernel values are
    evaluated again for each product.
    """
    n, m = shape
    small = min(shape)
    fits = lapack_bytes(shape, itemsize) <= budget
    if small <= SMALL_SIDE and fits:
        return Choice("lapack", f"min(n, m) = {small} is small")
    if LAPACK_SHARE * k > small and fits:
        return Choice("lapack", f"k = {k} is a large part of min(n, m) = {small}")
    if matrix_free:
        why = f"the {n} x {m} matrix exceeds the budget of {budget} bytes and is evaluated in blocks"
        return Choice("krylov", why, over_budget=True)
    if cost < n * m:
        return Choice("krylov", f"products take {cost} multiplications where a dense matrix takes {n * m}")
    return Choice("krylov", f"k = {k} is a small part of min(n, m) = {small}")


def work(A: KernelOperator, k: int, choice: Choice) -> str:
    """How much the chosen solver has to do, in words."""
    n, m = A.shape
    task = f"{k:,} singular triplets of a {n:,} x {m:,} matrix by {choice}"
    if choice.name == "lapack":
        return f"{task}; {n * m * min(n, m):.0e} multiplications, a few times"
    return f"{task}; {2 * block_width(A, k) * A.cost:.0e} multiplications a step"


def lapack_bytes(shape: tuple[int, int], itemsize: int) -> int:
    """Memory that a full decomposition takes: the matrix, a copy to centre and one to overwrite, factors, workspace."""
    short, long = sorted(shape)
    return (3 * short * long + (short + long) * short + LAPACK_WORKSPACE * short**2) * itemsize


def krylov_room(shape: tuple[int, int], k: int) -> int:
    """Largest block width for which a Krylov space has room for k triplets of a matrix of this shape."""
    return (min(shape) - k) // 2


def block_width(A: KernelOperator, k: int, tol: float = 0.0) -> int:
    """Block width of the Krylov solver: wide where the cost of a product hardly depends on it, one if cheap or sparse.

    If many triplets are wanted, orthogonalisation costs more than products, and blocks make it cheaper. With ``tol``
    there are always several columns, as clusters of singular values would go unnoticed.
    """
    n, m = A.shape
    many = 8 if k < WIDE_FROM else 16
    if A.matrix_free:
        width = k + EXTRA_COLUMNS
    elif A.cost < CHEAP_PRODUCT:
        width = 1 if k < 2 * MANY_TRIPLETS else many
    else:
        width = 1 if A.cost < n * m / 10 and k < MANY_TRIPLETS else many
    return min(max(width, WIDTH_FOR_TOL if tol else 1), krylov_room(A.shape, k))
