"""Kernels between the nodes of a graph, and the kernel given by its adjacency matrix."""

from __future__ import annotations

from abc import abstractmethod
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import Array, canonical, check_points, check_sides, dense, slices_of
from ...exceptions import LopsidedWarning, warn
from ..base import Kernel

BLOCK_ENTRIES = 1 << 24  # values of new nodes held in memory at once
NORMALISED_LEFT = ("left", "both")
NORMALISED_RIGHT = ("right", "both")


class GraphKernel(Kernel):
    """Base class of kernels k(i, j) between the nodes i and j of a directed graph, given by their numbers.

    Samples are node numbers, an array of shape (n, 1). The kernel holds the whole graph, so that cross-validation can
    evaluate both k(test, training) and k(training, test); only labels are held out. Nodes that are not in the graph
    are described by their edges to and from its nodes, see ``left_values`` and ``right_values``.

    Subclasses implement ``learn``, ``values``, ``left_values`` and ``right_values``.

    Attributes
    ----------
    n_nodes_ : int
        Number of nodes of the graph.
    """

    adjacency: Any

    def fit(self, X: Array, Z: Array) -> Self:
        """Validate the samples and the adjacency, and learn from the graph."""
        super().fit(*check_sides(X, Z))
        if self.widths_ != (1, 1):
            raise ValueError(
                f"{type(self).__name__} takes node numbers in one column, but X and Z have {self.widths_} columns"
            )
        if self.adjacency is None:
            raise ValueError(
                f"{type(self).__name__} compares the nodes of a graph: give {type(self).__name__}(adjacency), or give "
                "the graph to DirectedGraphEmbedding, which passes it on"
            )
        A = check_adjacency(self.adjacency)
        self.n_nodes_ = A.shape[0]
        self.learn(A)
        return self

    @abstractmethod
    def learn(self, A: Array) -> None:
        """Learn from the adjacency, a canonical CSR array or a dense array."""

    @abstractmethod
    def values(self, rows: np.ndarray, columns: np.ndarray) -> Array:
        """Return the kernel values between nodes of the graph, dense or sparse."""

    @abstractmethod
    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> Array:
        """Return k(new, known), shape (b, n_nodes), for new nodes with these edges to and from the known ones.

        Row i of ``out_edges`` holds the weights of edges from new node i, and row i of ``in_edges`` those of edges to
        it. New nodes do not change the similarities between known nodes.
        """

    @abstractmethod
    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> Array:
        """Return k(known, new) transposed, shape (b, n_nodes)."""

    def left_products(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array, V: np.ndarray) -> np.ndarray:
        """Return k(new, known) V, computed in blocks of new nodes."""
        parts = slices_of(out_edges.shape[0], self.block_rows)
        return np.concatenate([self.left_values(out_edges[rows], in_edges[rows]) @ V for rows in parts])

    def right_products(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array, U: np.ndarray) -> np.ndarray:
        """Return k(known, new)' U, computed in blocks of new nodes."""
        parts = slices_of(out_edges.shape[0], self.block_rows)
        return np.concatenate([self.right_values(out_edges[rows], in_edges[rows]) @ U for rows in parts])

    @property
    def block_rows(self) -> int:
        """Number of new nodes per block; blocks are large because each may cost a pass over the graph."""
        return BLOCK_ENTRIES // self.n_nodes_

    def left(self, X: Array) -> np.ndarray:
        """Return the validated node numbers, as floats like the points of other kernels."""
        return self.numbers(X)[:, None].astype(float)

    def right(self, Z: Array) -> np.ndarray:
        """Return the validated node numbers, as floats."""
        return self.numbers(Z)[:, None].astype(float)

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Look up the values of all pairs of nodes."""
        return dense(self.values(L[:, 0].astype(np.intp), R[:, 0].astype(np.intp)))

    def block(self, X: Array, Z: Array) -> Array:
        """Return the values between nodes, sparse if the kernel matrix is."""
        return self.values(self.numbers(X), self.numbers(Z))

    def numbers(self, X: Array) -> np.ndarray:
        """Validate node numbers and return them as integers."""
        given = dense(X)[:, 0]
        with np.errstate(invalid="ignore"):
            numbers = given.astype(np.intp)
        wrong = (numbers != given) | (numbers < 0) | (numbers >= self.n_nodes_)
        if wrong.any():
            raise ValueError(
                f"{given[wrong][0]} is not a node: {type(self).__name__} takes node numbers, integers from 0 to "
                f"{self.n_nodes_ - 1}"
            )
        return numbers


class MatrixKernel(GraphKernel):
    """Base class of graph kernels that store their whole matrix as ``matrix_``."""

    matrix_: Array

    @property
    def block_rows(self) -> int:
        """Number of new nodes per block, assuming rows as full as those of the matrix."""
        entries = self.matrix_.nnz if sparse.issparse(self.matrix_) else self.matrix_.size
        return BLOCK_ENTRIES * self.n_nodes_ // max(1, entries)

    def values(self, rows: np.ndarray, columns: np.ndarray) -> Array:
        """Slice the matrix; the whole matrix is returned without a copy."""
        every = np.arange(self.n_nodes_)
        K = self.matrix_ if np.array_equal(rows, every) else self.matrix_[rows]
        return K if np.array_equal(columns, every) else K[:, columns]


class NodeKernel(MatrixKernel):
    """k(i, j) = G[i, j] for nodes i and j of a directed graph, given by their numbers.

    G is the adjacency matrix with optional self-loops and degree normalisation. Samples are node numbers, an array of
    shape (n, 1). The kernel holds the whole graph, so that cross-validation can evaluate both k(test, training) and
    k(training, test); only labels are held out.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        A[i, j] is the weight of the edge from i to j. It is not modified. None is for use within
        DirectedGraphEmbedding, which supplies its graph.
    normalize : {"left", "right", "both"} or None, default=None
        "left" divides each row by its sum, "right" each column by its sum, and "both" each entry by the square roots
        of both sums. With "both" no singular value of G exceeds one, so that any C < 1 is safe for least-squares SVMs.
    self_loops : float, default=0.0
        Weight of a self-loop at every node, added to existing self-loops.

    Attributes
    ----------
    matrix_ : scipy.sparse.csr_array or array of shape (n_nodes, n_nodes)
        The matrix G.
    balance_ : Balance
        The self-loops and divisors of edges, also applied to the edges of new nodes.

    Notes
    -----
    Cost: O(edges) once, in ``fit``; values are looked up.

    Examples
    --------
    >>> from lopsided.kernels import NodeKernel
    >>> NodeKernel([[0, 1, 1], [0, 0, 1], [0, 0, 0]], self_loops=1.0, normalize="left")([[0], [2]], [[1], [2]]).round(2)
    array([[0.33, 0.33],
           [0.  , 1.  ]])
    """

    _parameter_constraints: dict[str, Any] = {
        "adjacency": ["array-like", "sparse matrix", None],
        "normalize": [StrOptions({"left", "right", "both"}), None],
        "self_loops": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, adjacency: Any = None, normalize: str | None = None, self_loops: float = 0.0) -> None:
        self.adjacency = adjacency
        self.normalize = normalize
        self.self_loops = self_loops

    def learn(self, A: Array) -> None:
        """Normalise the adjacency. Cost O(edges)."""
        self.balance_ = Balance(A, self.normalize, self.self_loops)
        self.matrix_ = self.balance_.matrix(A)

    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the edges from new nodes, normalised like rows of the matrix."""
        return self.balance_.rows(out_edges)

    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the edges to new nodes, normalised like columns of the matrix."""
        return self.balance_.columns(in_edges)


class Balance:
    """Self-loops and degree normalisation of an adjacency matrix and of the edges of new nodes."""

    def __init__(self, A: Array, normalize: str | None, self_loops: float, isolated: np.ndarray | None = None) -> None:
        """Compute the weights; nodes marked as isolated get no self-loop and cause no warning."""
        self.normalize, self.self_loops = normalize, self_loops
        self.isolated = np.zeros(A.shape[0], dtype=bool) if isolated is None else isolated
        self.loops = np.where(self.isolated, 0, self_loops).astype(A.dtype)
        self.left = self._of_known(A, 1, "row") if normalize in NORMALISED_LEFT else None
        self.right = self._of_known(A, 0, "column") if normalize in NORMALISED_RIGHT else None

    def matrix(self, A: Array) -> Array:
        """Return the normalised adjacency matrix."""
        if self.self_loops:
            A = A + (sparse.diags_array(self.loops) if sparse.issparse(A) else np.diag(self.loops))
        return _scaled(A, self.left, self.right)

    def rows(self, out_edges: Array) -> Array:
        """Return the normalised rows of new nodes."""
        own = self._weights(self._sums(out_edges, 1, self.self_loops), "row") if self.left is not None else None
        return _scaled(out_edges, own, self.right)

    def columns(self, in_edges: Array) -> Array:
        """Return the normalised columns of new nodes, as rows."""
        own = self._weights(self._sums(in_edges, 1, self.self_loops), "column") if self.right is not None else None
        return _scaled(in_edges, own, self.left)

    def _of_known(self, A: Array, axis: int, name: str) -> np.ndarray:
        """Return the weights of the known nodes; warn if any of their sums is zero."""
        sums = self._sums(A, axis, self.loops)
        empty = (sums == 0) & ~self.isolated
        if empty.any():
            why = "negative weights cancel others" if self.self_loops else "self_loops=1.0 gives each of them an edge"
            warn(
                f"{np.count_nonzero(empty)} nodes have a {name} that sums to zero and is left as it is; {why}",
                LopsidedWarning,
            )
        return self._weights(sums, name)

    def _sums(self, A: Array, axis: int, loops: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(A.sum(axis=axis)).ravel() + np.asarray(loops, dtype=A.dtype)

    def _weights(self, sums: np.ndarray, name: str) -> np.ndarray:
        """Return 1 / sums, or 1 / sqrt(sums) if both sides are normalised; one where the sum is zero."""
        if sums.min() < 0:
            raise ValueError(
                f"normalize={self.normalize!r} divides by the sums of weights, but {name} {int(sums.argmin())} sums to "
                f"{sums.min():g}; take weights >= 0 or normalize=None"
            )
        with np.errstate(over="ignore"):
            weights = 1 / (sums + (sums == 0))
        wrong = np.flatnonzero(~np.isfinite(sums) | ~np.isfinite(weights))
        if len(wrong):
            raise ValueError(
                f"normalize={self.normalize!r} divides by the sums of weights, but {name} {wrong[0]} sums to "
                f"{sums[wrong[0]]:g}, and {sums.dtype} holds that sum or its reciprocal no more; bring the weights "
                "nearer to one, or take normalize=None"
            )
        return np.sqrt(weights) if self.normalize == "both" else weights


def check_adjacency(adjacency: Array) -> Array:
    """Validate an adjacency: square, finite, float32 or float64; sparse input becomes canonical CSR."""
    if hasattr(adjacency, "is_directed") and hasattr(adjacency, "edges"):
        raise TypeError(
            f"the adjacency is a matrix, and {type(adjacency).__name__} a graph: give read_graph(graph).adjacency of "
            "lopsided.graphs, or the graph to DirectedGraphEmbedding"
        )
    A = check_points(adjacency, "adjacency")
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"adjacency has shape {A.shape}, but rows and columns must be the same nodes; give a square one. An array "
            "of edges is given as a table, pandas.DataFrame(edges, columns=['source', 'target']), to read_graph, and a "
            "matrix of two kinds of things to KernelSVD"
        )
    return A


def _scaled(A: Array, left: np.ndarray | None, right: np.ndarray | None) -> Array:
    """Return diag(left) A diag(right); None means the identity."""
    if sparse.issparse(A):
        if left is not None:
            A = sparse.diags_array(left) @ A
        return canonical(A if right is None else A @ sparse.diags_array(right))
    A = A if left is None else left[:, None] * A
    return A if right is None else A * right
