"""Parts of an embedding: the kernel SVD of one kernel between the nodes, and how it places new nodes."""

from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.base import clone

from .._core import by_rows, check_finite, in_unit, row_lengths, safe_unit, with_entries
from ..exceptions import FallbackWarning, warn
from ..kernel_svd import KernelSVD
from ..kernels import GraphKernel, Kernel, MatrixKernel
from ..svd import Choice, powers
from .kernel_choice import Recipe, warn_if_no_paths

SINGLE_RANGE = 1e30  # ratio of weights up to which single precision, which suffices for an embedding, holds them
SHORT_ROW = 10  # in units of eps: length beside the longest row up to which a row may be all rounding errors
ROUNDING_LENGTH = 100  # in units of eps times the largest singular value: rows up to it may be all rounding errors


class Sides(NamedTuple):
    """Vectors of some nodes as sources and as targets."""

    source: np.ndarray
    target: np.ndarray


@dataclass(frozen=True)
class Part:
    """Leading singular triplets of a kernel between the nodes of a graph, K ~ U diag(s) V'.

    Rows of isolated nodes are zero. ``terms`` names what the decoder may use of the part.
    """

    kernel: Kernel
    U: np.ndarray
    s: np.ndarray
    V: np.ndarray
    solver: Choice
    terms: tuple[str, ...]
    svd: KernelSVD | None = None  # embeds new nodes, if the kernel compares vectors

    def power(self, exponent: float) -> np.ndarray:
        """s^exponent, with zero where s is zero to rounding."""
        return powers(self.s, exponent, len(self.U))

    def of_new(self, rows: sparse.csr_array, columns: sparse.csr_array, given: tuple[bool, bool]) -> Sides:
        """Singular vectors of new nodes, k(new, known) V / s and k(known, new)' U / s.

        Row i of ``rows`` holds the edges from new node i, of ``columns`` those to it; ``given`` says which of the two
        the caller knows: kernels of vectors leave the other side at zero.
        """
        if self.svd is not None:
            nothing = np.zeros((rows.shape[0], len(self.s)), dtype=self.U.dtype)
            source = self.svd.transform(rows) if given[0] else nothing
            target = self.svd.transform_right(columns) if given[1] else nothing
        else:
            unit = safe_unit(self.power(-1))
            weights = in_unit(self.power(-1), unit)
            edges = rows.astype(self.U.dtype, copy=False), columns.astype(self.U.dtype, copy=False)
            source = self.kernel.left_products(*edges, self.V) * weights * unit
            target = self.kernel.right_products(*edges, self.U) * weights * unit
        check_finite(source)
        check_finite(target)
        return Sides(source, target)


def fit_part(recipe: Recipe, A: sparse.csr_array, linked: np.ndarray, settings: dict[str, Any]) -> Part:
    """Decompose the kernel of a recipe on a graph; ``settings`` are those of :class:`KernelSVD`."""
    kernel, width, A = clone(recipe.kernel), min(recipe.width, A.shape[0]), by_rows(A)
    warn_if_no_paths(kernel, A)
    svd = KernelSVD(width, kernel=kernel, scaling=0.0, center=recipe.center, **settings).set_output(transform="default")
    if isinstance(kernel, GraphKernel):
        kernel.set_params(adjacency=A)
        if "memory_budget" in kernel.get_params() and kernel.memory_budget is None:
            kernel.set_params(memory_budget=settings["memory_budget"])
        nodes = np.arange(A.shape[0], dtype=float)[:, None]
        svd.fit(nodes, Z=nodes)
    else:
        svd.fit(A)
    if svd.solver_.over_budget:
        warn(f"{svd.solver_}; raise memory_budget to speed this up", FallbackWarning)
    fitted, U, V = svd.kernel_, svd.left_vectors_, svd.right_vectors_
    fitted = fitted.without_matrix() if isinstance(fitted, MatrixKernel) else fitted
    embeds_new = None if isinstance(kernel, GraphKernel) else svd
    if embeds_new is not None:  # with the vectors as they are
        U, V = U.copy(), V.copy()
    U[~linked] = V[~linked] = 0
    return Part(fitted, U, svd.singular_values_, V, svd.solver_, recipe.terms, embeds_new)


def unit_or_zero_rows(vectors: np.ndarray, largest: float) -> np.ndarray:
    """Rows of length one; those that are rounding errors beside the largest singular value become zero."""
    lengths = row_lengths(vectors)[:, None]
    has_direction = lengths > ROUNDING_LENGTH * np.finfo(vectors.dtype).eps * largest
    return np.where(has_direction, vectors / np.where(has_direction, lengths, 1), 0)


def unit_or_short_rows(vectors: np.ndarray) -> np.ndarray:
    """Scale rows to length one; rows that are rounding errors beside the longest have no direction and stay short."""
    lengths = row_lengths(vectors)
    longest = lengths.max(initial=0)
    has_direction = lengths > SHORT_ROW * np.finfo(lengths.dtype).eps * longest
    return vectors / np.where(has_direction, lengths, longest or 1)[:, None]


def in_single(A: sparse.csr_array) -> tuple[sparse.csr_array, float]:
    """The graph in single precision and the unit of its weights, or as it is if weights differ too much for that.

    The unit is a power of two, so that a change of the unit of weights changes no bit of the result.
    """
    largest = np.abs(A.data).max()
    unit = float(np.ldexp(1.0, np.frexp(largest)[1] - 1))
    if np.abs(A.data).min() < largest / SINGLE_RANGE:
        return A, 1.0
    return with_entries(A, (A.data / unit).astype(np.float32)), unit
