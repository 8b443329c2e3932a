"""Katz similarity: walks from one node to another, weighted by a factor beta per step."""

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from ..._core import AdjacencyBlocks, Array, by_rows, canonical
from ...exceptions import ConvergenceWarning, warn
from ..constraints import POSITIVE
from .base import GraphKernel
from .radius import spectral_radius

# `python benchmarks/graphs_nodes.py ablation` changes it: less is a little better for classes; more counts long walks.
BETA_SHARE = 0.5  # default beta as a share of the largest admissible one
MAX_WALK_STEPS = 10_000  # length, in steps, of the longest walk that is counted


class Katz(GraphKernel):
    """The Katz kernel, k(i, j) = sum over t >= 1 of beta^t (A^t)[i, j], or K = (I - beta A)^-1 beta A.

    It counts the walks from node i to node j, with weight beta^t for walks of t steps. The SVD of K is the graph
    embedding known as HOPE. K is dense and is never formed; solvers only use its products.

    Cost: a product with one vector takes log(eps) / log(beta radius) products with A, 52 for the default beta.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        A[i, j] is the weight of the edge from i to j. DirectedGraphEmbedding supplies its graph in place of None.
    beta : float or None, default=None
        Weight of a step, below 1 / (spectral radius of |A|). None means half of that bound or, on a graph without
        cycles, whose spectral radius is zero, 0.5 / sqrt(largest out-degree times largest in-degree).

    Attributes
    ----------
    beta_ : float
        The weight of a step, given or derived from the graph.
    radius_ : (float, float)
        Lower and upper bounds of the spectral radius of |A|.
    step_ : scipy.sparse.csr_array of shape (n_nodes, n_nodes)
        The matrix beta A.

    References
    ----------
    Katz, "A new status index derived from sociometric analysis", Psychometrika 18, 1953.
    Ou, Cui, Pei, Zhang, Zhu, "Asymmetric transitivity preserving graph embedding", KDD 2016.

    Examples
    --------
    >>> from lopsided.kernels import Katz
    >>> Katz([[0, 1, 0], [0, 0, 1], [0, 0, 0]], beta=0.5)([[0], [1]], [[1], [2]])
    array([[0.5 , 0.25],
           [0.  , 0.5 ]])
    """

    _parameter_constraints = {"adjacency": ["array-like", "sparse matrix", None], "beta": [POSITIVE, None]}

    def __init__(self, adjacency: Any = None, *, beta: float | None = None) -> None:
        self.adjacency, self.beta = adjacency, beta

    def learn(self, A: Array) -> None:
        """Bound the spectral radius and check beta. Cost O(edges) for each step of a power iteration."""
        A = A if isinstance(A, AdjacencyBlocks) else canonical(sparse.csr_array(A))
        sizes = abs(A)
        _, high = self.radius_ = spectral_radius(sizes)
        degrees = [np.sqrt(sizes.sum(axis=axis).max(initial=0)) for axis in (1, 0)]
        self.beta_ = float(self.beta or BETA_SHARE / (high or degrees[0] * degrees[1] or 1.0))
        if self.beta_ * high >= 1:
            raise ValueError(
                f"beta={self.beta_:g} must be below 1 / (spectral radius) = {1 / high:g}, or the sum over walks does "
                f"not converge; lower it, or use beta=None, which is {BETA_SHARE / high:g}"
            )
        self.step_ = by_rows(A.dtype.type(self.beta_) * A)

    def values(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Sum the walks from the row nodes or to the column nodes, whichever are fewer."""
        nodes = sparse.eye_array(self.n_nodes_, dtype=self.step_.dtype, format="csc")
        if len(rows) < len(columns):
            return self.walks(nodes[:, rows].toarray(), transposed=True)[columns].T
        return self.walks(nodes[:, columns].toarray())[rows]

    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> np.ndarray:
        """Return the values of walks that begin with an edge of a new node."""
        return self._after(out_edges, transposed=True)

    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> np.ndarray:
        """Return the values of walks that end with an edge of a new node."""
        return self._after(in_edges, transposed=False)

    def left_products(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array, V: np.ndarray) -> np.ndarray:
        """Return beta out_edges (V + K V); walks are summed per column of V, whatever the number of new nodes."""
        return self.beta_ * (out_edges @ (V + self.walks(V)))

    def right_products(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array, U: np.ndarray) -> np.ndarray:
        """Return beta in_edges (U + K'U)."""
        return self.beta_ * (in_edges @ (U + self.walks(U, transposed=True)))

    def walks(self, V: np.ndarray, transposed: bool = False) -> np.ndarray:
        """Return K V, or K'V if ``transposed``."""
        M = by_rows(self.step_.T) if transposed else self.step_
        return geometric_sum(lambda block: M @ block, V)

    def _after(self, edges: sparse.csr_array, transposed: bool) -> np.ndarray:
        """Sum the walks that consist of one of these edges, alone or joined with any walk between known nodes."""
        first = self.beta_ * edges.toarray().T
        return (first + self.walks(first, transposed)).T


def geometric_sum(multiply: Callable[[np.ndarray], np.ndarray], V: np.ndarray) -> np.ndarray:
    """Return the sum over t >= 1 of M^t V for M of spectral radius below one, where multiply(V) = M V."""
    with np.errstate(over="ignore", invalid="ignore"):
        term = multiply(V)
        total = term.copy()
        eps = np.finfo(total.dtype).eps
        for _ in range(MAX_WALK_STEPS):
            term = multiply(term)
            total += term
            largest = np.abs(total).max(initial=0)
            if not np.abs(term).max(initial=0) > eps * largest:  # also stops on nan
                break
    if not np.isfinite(largest):
        raise ValueError(
            f"the sum over walks overflows {total.dtype}; lower beta or divide the edge weights by their maximum "
            "(longer walks may weigh more and more, even on a graph without cycles)"
        )
    if np.abs(term).max(initial=0) > eps * largest:
        warn(
            f"walks of {MAX_WALK_STEPS} steps still contribute; lower beta, which is very near 1 / (spectral radius)",
            ConvergenceWarning,
        )
    return total
