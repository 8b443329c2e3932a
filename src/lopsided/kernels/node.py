"""The entries of a graph's adjacency as a kernel between its nodes."""

from __future__ import annotations

import warnings
from numbers import Real
from typing import Any, Self

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions
from sklearn.utils.validation import check_array

from ..exceptions import LopsidedWarning
from .base import Kernel
from .points import Array, canonical

NORMALISED_LEFT = ("left", "both")
NORMALISED_RIGHT = ("right", "both")


class NodeKernel(Kernel):
    """k(i, j) = G[i, j] for nodes i and j of a directed graph, given by their numbers.

    G is the adjacency with self-loops added, divided by degrees if asked. Samples are node numbers, an array of shape
    (n, 1), so that cross-validation has both k(test, training) and k(training, test) at hand: the whole graph belongs
    to the kernel, and labels alone are held back.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        A[i, j] is the weight of the edge from i to j. It is not modified.
    normalize : {"left", "right", "both"} or None, default=None
        "left" divides each row by its sum, "right" each column by its sum, "both" by the square roots of both sums, by
        which no singular value of G exceeds one: any C < 1 is then safe for the least-squares machines.
    self_loops : float, default=0.0
        Weight of an edge from every node to itself, added to those that are there.

    Examples
    --------
    >>> from lopsided.kernels import NodeKernel
    >>> NodeKernel([[0, 1, 1], [0, 0, 1], [0, 0, 0]], self_loops=1.0, normalize="left")([[0], [2]], [[1], [2]]).round(2)
    array([[0.33, 0.33],
           [0.  , 1.  ]])
    """

    _parameter_constraints: dict[str, Any] = {
        "adjacency": ["array-like", "sparse matrix"],
        "normalize": [StrOptions({"left", "right", "both"}), None],
        "self_loops": [Interval(Real, 0, None, closed="left")],
    }

    def __init__(self, adjacency: Any, normalize: str | None = None, self_loops: float = 0.0) -> None:
        self.adjacency = adjacency
        self.normalize = normalize
        self.self_loops = self_loops

    def fit(self, X: Array, Z: Array) -> Self:
        """Normalise the adjacency and check the node numbers. Cost O(edges)."""
        super().fit(X, Z)
        if self.widths_ != (1, 1):
            raise ValueError(f"NodeKernel takes node numbers in one column, but X and Z have {self.widths_} columns")
        self.matrix_ = self._normalised()
        return self

    def left(self, X: Array) -> np.ndarray:
        """The node numbers, checked."""
        return self._numbers(X)[:, None]

    def right(self, Z: Array) -> np.ndarray:
        """The node numbers, checked."""
        return self._numbers(Z)[:, None]

    def pairs(self, L: Array, R: Array) -> np.ndarray:
        """Look the entries up."""
        K = self.matrix_[L[:, 0]][:, R[:, 0]]
        return K.toarray() if sparse.issparse(K) else K

    def block(self, X: Array, Z: Array) -> Array:
        """The entries between nodes, sparse if the adjacency is."""
        return self.matrix_[self._numbers(X)][:, self._numbers(Z)]

    def _numbers(self, X: Array) -> np.ndarray:
        given = (X.toarray() if sparse.issparse(X) else np.asarray(X))[:, 0]
        numbers = given.astype(np.intp)
        n = self.matrix_.shape[0]
        wrong = (numbers != given) | (numbers < 0) | (numbers >= n)
        if wrong.any():
            raise ValueError(
                f"{given[wrong][0]} is not a node: NodeKernel takes node numbers, integers from 0 to {n - 1}"
            )
        return numbers

    def _normalised(self) -> Array:
        A = canonical(check_array(self.adjacency, accept_sparse="csr", dtype=np.float64, input_name="adjacency"))
        n, m = A.shape
        if n != m:
            raise ValueError(
                f"adjacency has shape {A.shape}, but rows and columns must be the same nodes; give a square one"
            )
        if self.self_loops:
            A = A + self.self_loops * (sparse.eye_array(n) if sparse.issparse(A) else np.eye(n))
        left = self._weights(A, 1, "row") if self.normalize in NORMALISED_LEFT else np.ones(n)
        right = self._weights(A, 0, "column") if self.normalize in NORMALISED_RIGHT else np.ones(n)
        if sparse.issparse(A):
            return canonical(sparse.diags_array(left) @ A @ sparse.diags_array(right))
        return left[:, None] * A * right

    def _weights(self, A: Array, axis: int, name: str) -> np.ndarray:
        """1 / sums, or 1 / sqrt(sums) if both sides are normalised; nodes without an edge keep their zeros."""
        sums = np.asarray(A.sum(axis=axis)).ravel()
        if sums.min() < 0:
            raise ValueError(
                f"normalize={self.normalize!r} divides by the sums of weights, but {name} {int(sums.argmin())} sums to "
                f"{sums.min():g}; take weights >= 0 or normalize=None"
            )
        empty = sums == 0
        if empty.any():
            warnings.warn(
                f"{np.count_nonzero(empty)} nodes have no edge in their {name}, which stays zero; self_loops=1.0 gives "
                "every node one",
                LopsidedWarning,
                stacklevel=4,
            )
        weights = 1 / np.where(empty, 1, sums)
        return np.sqrt(weights) if self.normalize == "both" else weights
