"""The kernel given by the adjacency matrix of a graph, and its normalisation by degrees."""

from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from ..._core import AdjacencyBlocks, Array, Kind, canonical, count_of
from ...exceptions import LopsidedWarning, warn
from ..constraints import NON_NEGATIVE
from .base import MatrixKernel


class NodeKernel(MatrixKernel):
    """k(i, j) = G[i, j] for nodes i and j of a directed graph, given by their numbers.

    G is the adjacency matrix with optional self-loops and degree normalisation. Samples are node numbers, an array of
    shape (n, 1), see :class:`GraphKernel`. Cost: O(edges) once, in ``fit``; values are looked up.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        A[i, j] is the weight of the edge from i to j. DirectedGraphEmbedding supplies its graph in place of None.
    normalize : {"left", "right", "both"} or None, default=None
        "left" divides each row by its sum, "right" each column by its sum, and "both" each entry by the square roots
        of both sums. With "both" no singular value of G exceeds one, so that any C < 1 is safe for least-squares SVMs.
    self_loops : float, default=0.0
        Weight of a self-loop at every node, added to existing self-loops.
    binary : bool, default=False
        Whether every edge counts as one, whatever its weight.

    Attributes
    ----------
    matrix_ : scipy.sparse.csr_array or array of shape (n_nodes, n_nodes)
        The matrix G.

    Examples
    --------
    >>> from lopsided.kernels import NodeKernel
    >>> NodeKernel([[0, 1, 1], [0, 0, 1], [0, 0, 0]], self_loops=1.0, normalize="left")([[0], [2]], [[1], [2]]).round(2)
    array([[0.33, 0.33],
           [0.  , 1.  ]])
    """

    _parameter_constraints = {
        "adjacency": ["array-like", "sparse matrix", None],
        "normalize": [StrOptions({"left", "right", "both"}), None],
        "self_loops": [NON_NEGATIVE],
        "binary": ["boolean"],
    }

    def __init__(
        self, adjacency: Any = None, normalize: str | None = None, self_loops: float = 0.0, binary: bool = False
    ) -> None:
        self.adjacency, self.normalize, self.self_loops, self.binary = adjacency, normalize, self_loops, binary

    def learn(self, A: Array) -> None:
        """Normalise the adjacency. Cost O(edges)."""
        A = self._counted(A)
        self._balance = Balance(A, self.normalize, self.self_loops)
        self.matrix_ = self._balance.matrix(A)

    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the edges from new nodes, normalised like rows of the matrix."""
        return self._balance.rows(self._counted(out_edges))

    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the edges to new nodes, normalised like columns of the matrix."""
        return self._balance.columns(self._counted(in_edges))

    def _counted(self, A: Kind) -> Kind:
        """Return the weights, or ones in their place if ``binary``."""
        given: Any = A
        if not self.binary:
            return A
        return cast(Kind, given.binary() if isinstance(A, AdjacencyBlocks) else (given != 0).astype(A.dtype))


class Balance:
    """Self-loops and degree normalisation of an adjacency matrix and of the edges of new nodes."""

    def __init__(self, A: Array, normalize: str | None, self_loops: float, isolated: np.ndarray | None = None) -> None:
        """Compute the weights; nodes marked as isolated get no self-loop and cause no warning."""
        self.normalize, self.self_loops = normalize, self_loops
        self.isolated = np.zeros(A.shape[0], dtype=bool) if isolated is None else isolated
        self.loops = np.where(self.isolated, 0.0, float(self_loops)).astype(A.dtype)
        self.left = self._of_known(A, 1, "row") if normalize in ("left", "both") else None
        self.right = self._of_known(A, 0, "column") if normalize in ("right", "both") else None

    def matrix(self, A: Kind) -> Kind:
        """Return the normalised adjacency matrix."""
        if self.self_loops:
            A = _with_loops(A, self.loops)
        return _scaled(A, self.left, self.right)

    def rows(self, out_edges: Kind) -> Kind:
        """Return the normalised rows of new nodes."""
        own = self._weights(self._sums(out_edges, 1, self.self_loops), "row") if self.left is not None else None
        return _scaled(out_edges, own, self.right)

    def columns(self, in_edges: Kind) -> Kind:
        """Return the normalised columns of new nodes, as rows."""
        own = self._weights(self._sums(in_edges, 1, self.self_loops), "column") if self.right is not None else None
        return _scaled(in_edges, own, self.left)

    def _of_known(self, A: Array, axis: int, name: str) -> np.ndarray:
        """Return the weights of the known nodes; warn if any of their sums is zero."""
        sums = self._sums(A, axis, self.loops)
        empty = (sums == 0) & ~self.isolated
        if empty.any():
            why = "negative weights cancel others" if self.self_loops else "self_loops=1.0 gives each of them an edge"
            nodes = count_of(np.count_nonzero(empty), "node has", "nodes have")
            warn(f"{nodes} a {name} that sums to zero and is left as it is; {why}", LopsidedWarning)
        return self._weights(sums, name)

    def _sums(self, A: Array, axis: int, loops: Any) -> np.ndarray:
        with np.errstate(over="ignore"):
            return np.asarray(A.sum(axis=axis)).ravel() + np.asarray(loops, dtype=A.dtype)

    def _weights(self, sums: np.ndarray, name: str) -> np.ndarray:
        """Return 1 / sums, or 1 / sqrt(sums) if both sides are normalised; one where the sum is zero."""
        if sums.min() < 0:
            raise ValueError(
                f"normalize={self.normalize!r} divides by the sums of weights, but {name} {int(sums.argmin())} sums to "
                f"{sums.min():g}; use weights >= 0 or normalize=None"
            )
        with np.errstate(over="ignore"):
            weights = 1 / (sums + (sums == 0))
        wrong = np.flatnonzero(~np.isfinite(sums) | ~np.isfinite(weights))
        if len(wrong):
            raise ValueError(
                f"normalize={self.normalize!r} divides by the sums of weights, but {name} {wrong[0]} sums to "
                f"{sums[wrong[0]]:g}, and {sums.dtype} cannot represent it or its reciprocal; rescale the weights, or "
                "use normalize=None"
            )
        return np.sqrt(weights) if self.normalize == "both" else weights


def _with_loops(A: Any, loops: np.ndarray) -> Any:
    """Return A + diag(loops)."""
    if isinstance(A, AdjacencyBlocks):
        return A.with_loops(loops)
    return A + (sparse.diags_array(loops) if sparse.issparse(A) else np.diag(loops))


def _scaled(A: Any, left: np.ndarray | None, right: np.ndarray | None) -> Any:
    """Return diag(left) A diag(right); None means the identity."""
    if isinstance(A, AdjacencyBlocks):
        return A.scaled(left, right)
    A = A if left is None else sparse.diags_array(left) @ A
    return canonical(A if right is None else A @ sparse.diags_array(right))
