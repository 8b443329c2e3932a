"""Base classes of the kernels between the nodes of a graph."""

from abc import abstractmethod
from copy import copy
from typing import Any, Self, cast

import numpy as np
from scipy import sparse

from ..._core import AdjacencyBlocks, Array, check_points, check_sides, dense, slices_of
from ..base import Kernel

NEW_NODE_ENTRIES = 1 << 24  # values of new nodes held in memory at once


class GraphKernel(Kernel):
    """Base class of kernels k(i, j) between the nodes i and j of a directed graph, given by their numbers.

    Samples are node numbers, an array of shape (n, 1). The kernel holds the whole graph, and cross-validation holds out
    labels only. New nodes are described by their edges to and from nodes of the graph.

    Subclasses implement ``learn``, ``values``, ``left_values`` and ``right_values``.

    Attributes
    ----------
    n_nodes_ : int
        Number of nodes of the graph.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import GraphKernel, NodeKernel
    >>> A = np.array([[0.0, 1.0], [0.0, 0.0]])
    >>> kernel = NodeKernel(A)
    >>> isinstance(kernel, GraphKernel), kernel(np.array([[0]]), np.array([[1]])).item()
    (True, 1.0)
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
        """Return k(new, known), shape (b, n_nodes); rows hold the weights of edges from, and to, each new node."""

    @abstractmethod
    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> Array:
        """Return k(known, new) transposed, shape (b, n_nodes)."""

    def left_products(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array, V: np.ndarray) -> np.ndarray:
        """Return k(new, known) V, computed in blocks of new nodes."""
        blocks = slices_of(out_edges.shape[0], self.block_rows)
        return np.concatenate([self.left_values(out_edges[rows], in_edges[rows]) @ V for rows in blocks])

    def right_products(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array, U: np.ndarray) -> np.ndarray:
        """Return k(known, new)' U, computed in blocks of new nodes."""
        blocks = slices_of(out_edges.shape[0], self.block_rows)
        return np.concatenate([self.right_values(out_edges[rows], in_edges[rows]) @ U for rows in blocks])

    @property
    def block_rows(self) -> int:
        """Number of new nodes per block; blocks are large because each may cost a pass over the graph."""
        return NEW_NODE_ENTRIES // self.n_nodes_

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
                f"{given[wrong][0]:.15g} is not a node: {type(self).__name__} takes node numbers, integers from 0 to "
                f"{self.n_nodes_ - 1}"
            )
        return numbers


class MatrixKernel(GraphKernel):
    """Base class of graph kernels that store their whole matrix as ``matrix_``."""

    matrix_: Array
    _block_rows: int

    @property
    def block_rows(self) -> int:
        """Number of new nodes per block, assuming rows as full as those of the matrix."""
        if not hasattr(self, "matrix_"):
            return self._block_rows
        return NEW_NODE_ENTRIES * self.n_nodes_ // max(1, int(self.matrix_.size))

    def without_matrix(self) -> Self:
        """Return a copy that can still compare new nodes with known ones, but has forgotten ``matrix_``."""
        kept = copy(self)
        kept._block_rows = self.block_rows
        del kept.matrix_
        return kept

    def values(self, rows: np.ndarray, columns: np.ndarray) -> Array:
        """Slice the matrix; the whole matrix is returned without a copy."""
        every = np.arange(self.n_nodes_)
        K = self.matrix_ if np.array_equal(rows, every) else self.matrix_[rows]
        return K if np.array_equal(columns, every) else K[:, columns]


def check_adjacency(adjacency: Array) -> Array:
    """Validate an adjacency: square, finite, float32 or float64; sparse input becomes canonical CSR.

    One in blocks was validated when it was stored.
    """
    if isinstance(adjacency, AdjacencyBlocks):
        return cast(Array, adjacency)
    if hasattr(adjacency, "is_directed") and hasattr(adjacency, "edges"):
        raise TypeError(
            f"the adjacency must be a matrix, not a {type(adjacency).__name__}; pass read_graph(graph).adjacency of "
            "lopsided.graphs, or pass the graph to DirectedGraphEmbedding"
        )
    A = check_points(adjacency, "adjacency")
    if A.shape[0] != A.shape[1]:
        raise ValueError(
            f"adjacency has shape {A.shape}, but rows and columns must be the same nodes; give a square one. Pass an "
            "array of edges to read_graph as a table, pandas.DataFrame(edges, columns=['source', 'target']), and a "
            "matrix of two kinds of things to KernelSVD"
        )
    return A
