"""Personalised PageRank as a kernel between the nodes of a directed graph."""

from __future__ import annotations

from numbers import Real
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from ..._core import Array, Kind, budget_bytes, by_rows, canonical
from ...exceptions import FallbackWarning, warn
from .base import MatrixKernel
from .walks import Walk, dense_visits, expected_entries, last_step, visits

MATRIX_COPIES = 5  # in memory at once while the matrix is assembled, transposed and decomposed
THRESHOLD_FACTOR = 2.0  # by which a threshold too fine for the budget is raised: a few trials reach one that fits
ALWAYS_DENSE_NODES = 1 << 12  # number of nodes up to which "last" solves densely: a few seconds of work
MAX_DENSE_NODES = 1 << 14  # number of nodes above which "last" never solves densely: a minute, and gigabytes
WELL_FILLED = 1 / 8  # share of pairs above the threshold beyond which a dense solve is less work than following walks
CUTOFF_AFTER_SOLVE = 1e-9  # threshold for new nodes after a dense solve, negligible beside the solved values
FAINT_SHARE = 0.1  # fraction of the threshold that a step of "last" must bring to some node, else it is skipped
COARSEST_THRESHOLD = 0.05  # a probability; above it little more than single edges is left


class Diffusion(MatrixKernel):
    """Personalised PageRank between the nodes of a directed graph, transformed elementwise.

    A random walk takes steps with probabilities proportional to edge weights, P = D^-1 A, and ends with probability
    ``restart`` after each step. K = restart sum over t >= 1 of (1 - restart)^t P^t holds the probabilities that the
    walk from node i ends in node j after one step or more, and

        k(i, j) = log(max(K[i, j] / threshold, 1)),    sqrt(K[i, j])    or    K[i, j].

    Nodes without edges have similarity zero with every node, including themselves.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        A[i, j] >= 0 is the weight of the edge from i to j. It is not modified. None is for use within
        DirectedGraphEmbedding, which supplies its graph.
    restart : float, default=0.15
        Probability that a walk ends after a step; larger values keep walks shorter.
    direction : {"out", "in", "both", "undirected", "last"}, default="both"
        Direction of the walks.

        - "out": from i along the edges, with P from the rows of A.
        - "in": from j to i against the edges, with P from the columns of A.
        - "both": the mean of "out" and "in".
        - "undirected": along the edges of A + A'.
        - "last": along the edges of A + A', for zero or more steps; then the walk stays, or takes one last step along
          an edge of A, with probability one half each. Similarity depends on links of either direction, and the last
          step still distinguishes sources from targets. K = M (I + P) / 2 with M = restart sum over t >= 0 of
          (1 - restart)^t Q^t, where Q is a step along A + A' and P one along A; P_ii = 1 for nodes that have incoming
          but no outgoing edges.
    transform : {"log", "root"} or None, default="log"
        The logarithm of values divided by the threshold, the square root, or the values themselves. Zeros stay zero.
    threshold : float, default=1e-3
        Probabilities below it are set to zero and are not followed further, see Notes. "both" averages two walks, so
        its values go down to half the threshold. Where "last" solves for a dense matrix (see ``matrix_``), it keeps all
        values, however small, and only the logarithm cuts off those below the threshold.
    memory_budget : float, str or None, default=None
        Memory for the matrix, in bytes or as a string like "2GB"; None means a quarter of the free memory. If the
        matrix would exceed it, the threshold is raised, with a :class:`~lopsided.exceptions.FallbackWarning`.

    Attributes
    ----------
    matrix_ : scipy.sparse.csr_array or array of shape (n_nodes, n_nodes)
        The kernel values. "last" solves for a dense matrix, if it fits the budget, where that is little work or the
        matrix is well filled: up to 4,096 nodes, or up to 16,384 if over one eighth of the values exceed the threshold.
    threshold_ : float
        The threshold in use: ``threshold``, or a larger one that fits the budget.
    cutoff_ : float
        The threshold for new nodes: ``threshold_``, or a finer one after a dense solve.
    outward_, backward_ : Walk or None
        Steps along the edges ("undirected": in either direction) and against them; None if ``direction`` needs none.
    near_, following_, last_ : Walk, Walk and sparse matrix
        For "last" only: steps in either direction, steps along the edges, and (I + P) / 2.

    Notes
    -----
    Computed values of K are never too large, and too small by at most T threshold (restart + sum of K[:, j]), where
    T <= log(threshold) / log(1 - restart) is the number of steps. "last" skips steps from hubs that bring less than a
    tenth of the threshold to every node, which may lose another T threshold / 10 times the number of j's edges.

    Cost: at most O(1 / (restart threshold)) steps per row, and at most 1 / threshold entries per row, independent of
    the size of the graph.

    References
    ----------
    Andersen, Chung, Lang, "Local graph partitioning using PageRank vectors", FOCS 2006.

    Examples
    --------
    >>> from lopsided.kernels import Diffusion
    >>> A = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> Diffusion(A, restart=0.5, direction="out", transform=None)([[0], [1], [2]], [[0], [1], [2]])
    array([[0.   , 0.25 , 0.125],
           [0.   , 0.   , 0.25 ],
           [0.   , 0.   , 0.   ]])
    """

    _parameter_constraints: dict[str, Any] = {
        "adjacency": ["array-like", "sparse matrix", None],
        "restart": [Interval(Real, 0, 1, closed="neither")],
        "direction": [StrOptions({"out", "in", "both", "undirected", "last"})],
        "transform": [StrOptions({"log", "root"}), None],
        "threshold": [Interval(Real, 0, 1, closed="neither")],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        adjacency: Any = None,
        *,
        restart: float = 0.15,
        direction: str = "both",
        transform: str | None = "log",
        threshold: float = 1e-3,
        memory_budget: float | str | None = None,
    ) -> None:
        self.adjacency = adjacency
        self.restart = restart
        self.direction = direction
        self.transform = transform
        self.threshold = threshold
        self.memory_budget = memory_budget

    def learn(self, A: Array) -> None:
        """Compute the kernel matrix from the walks of every node."""
        A = canonical(sparse.csr_array(A))
        _check_positive(A)
        if self.direction == "last":
            self._learn_last(A)
        else:
            self._learn_walks(A)
        if A.data.any() and not (self.matrix_.nnz if sparse.issparse(self.matrix_) else self.matrix_.any()):
            way_out = "lower it" if self.threshold_ == self.threshold else "raise memory_budget, which asked for it"
            raise ValueError(
                f"no walk is as likely as threshold={self.threshold_:g}: all values are zero; {way_out}, or raise "
                f"restart={self.restart:g}, the chance with which walks end at each step"
            )

    def _learn_walks(self, A: sparse.csr_array) -> None:
        """Follow walks along the edges, against them, or both."""
        forward = _undirected(A, A.T) if self.direction == "undirected" else A
        self.outward_ = None if self.direction == "in" else Walk.on(forward)
        self.backward_ = Walk.on(by_rows(A.T)) if self.direction in ("in", "both") else None
        walks = [walk for walk in (self.outward_, self.backward_) if walk is not None]
        self.threshold_ = self.cutoff_ = self._affordable_threshold(walks)
        left, right = (None if w is None else self._visits(w.P, w.P) for w in (self.outward_, self.backward_))
        self.matrix_ = self._merged(left, None if right is None else by_rows(right.T))

    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the values of walks from the new nodes to the known ones."""
        if self.direction == "last":
            start = self._visits(self.near_.P, self.near_.starts(_undirected(out_edges, in_edges)))
            return self._transformed(canonical(start @ self.last_ + self.restart / 2 * Walk.on(out_edges).P))
        return self._new(out_edges, in_edges, self.outward_, self.backward_)

    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the values of walks from the known nodes to the new ones."""
        if self.direction == "last":
            back = by_rows(self.near_.P.T)
            reached = self._visits(back, self.near_.ends(_undirected(out_edges, in_edges)))
            followed = self._visits(back, self.following_.ends(in_edges))
            stay = np.where(np.diff(out_edges.indptr) > 0, 0.5, 1.0).astype(reached.dtype)[:, None]
            return self._transformed(canonical(reached * stay + followed * (0.5 / (1 - self.restart))))
        return self._new(in_edges, out_edges, self.backward_, self.outward_)

    def _learn_last(self, A: sparse.csr_array) -> None:
        """Follow walks on A + A' whose last step alone respects the direction of edges."""
        self.near_, self.following_, self.last_ = Walk.on(_undirected(A, A.T)), Walk.on(A), last_step(A)
        if self._is_dense(A):
            self.threshold_, self.cutoff_ = float(self.threshold), CUTOFF_AFTER_SOLVE
            self.matrix_ = self._transformed(dense_visits(self.near_.P, self.last_, self.restart))
            return
        self.threshold_ = self.cutoff_ = self._affordable_threshold([self.near_])
        self.matrix_ = self._transformed(canonical(self._visits(self.near_.P, self.near_.P, self.last_)))

    def _is_dense(self, A: sparse.csr_array) -> bool:
        """Whether a dense solve fits the budget and is cheaper than following walks."""
        n = A.shape[0]
        if n > MAX_DENSE_NODES or MATRIX_COPIES * n**2 * A.dtype.itemsize > budget_bytes(self.memory_budget):
            return False
        if n <= ALWAYS_DENSE_NODES:
            return True
        return self._expected_entries(self.near_, float(self.threshold)) > WELL_FILLED * n**2

    def _new(
        self, edges: sparse.csr_array, others: sparse.csr_array, ahead: Walk | None, behind: Walk | None
    ) -> sparse.csr_array:
        """Merge the walks ``ahead`` that start in the new nodes and the walks ``behind`` that end there."""
        _check_positive(edges)
        _check_positive(others)
        if self.direction == "undirected":
            edges = _undirected(edges, others)
        first = None if ahead is None else self._visits(ahead.P, ahead.starts(edges))
        last = None if behind is None else self._visits(by_rows(behind.P.T), behind.ends(edges))
        return self._merged(first, last)

    def _visits(self, P: sparse.csr_array, starts: sparse.csr_array, last: Any = None) -> sparse.csr_array:
        faint = self._faint(self.cutoff_)
        return visits(P, starts, restart=self.restart, threshold=self.cutoff_, faint=faint, last=last)

    def _expected_entries(self, walk: Walk, threshold: float) -> float:
        return expected_entries(walk.P, restart=self.restart, threshold=threshold, faint=self._faint(threshold))

    def _faint(self, threshold: float) -> float:
        """Probability that a step must bring to at least one node, else it is skipped; zero skips none."""
        return FAINT_SHARE * threshold if self.direction == "last" else 0.0

    def _merged(self, first: sparse.csr_array | None, last: sparse.csr_array | None) -> sparse.csr_array:
        """Average the matrices that are not None, and transform."""
        there = [K for K in (first, last) if K is not None]
        K = canonical(sum(there[1:], there[0]))
        K.data /= len(there)
        return self._transformed(K)

    def _transformed(self, K: Kind) -> Kind:
        values = np.maximum(K.data if sparse.issparse(K) else K, 0)  # rounding errors of zeros may be negative
        if self.transform == "log":
            values = np.log(np.maximum(values / K.dtype.type(self.threshold_), 1))
        elif self.transform == "root":
            values = np.sqrt(values)
        if not sparse.issparse(K):
            return cast(Kind, values)
        kept = sparse.csr_array((values, K.indices, K.indptr), shape=K.shape)
        kept.eliminate_zeros()
        return cast(Kind, kept)

    def _affordable_threshold(self, walks: list[Walk]) -> float:
        """Raise the threshold until the matrix fits the budget, with a warning if it had to be raised."""
        budget, threshold = budget_bytes(self.memory_budget), float(self.threshold)
        size = MATRIX_COPIES * (walks[0].P.dtype.itemsize + np.dtype(np.int32).itemsize)
        while True:
            entries = sum(self._expected_entries(walk, threshold) for walk in walks)
            if size * entries <= budget:
                break
            threshold *= THRESHOLD_FACTOR
            if threshold > COARSEST_THRESHOLD:
                raise ValueError(
                    f"memory_budget={self.memory_budget}, {budget} bytes is too small for the graph: a threshold of "
                    f"{COARSEST_THRESHOLD:g} leaves some {entries:.3g} entries of {size} bytes; raise it"
                )
        if threshold > self.threshold:
            warn(
                f"threshold={self.threshold:g} would exceed the budget of {budget} bytes; {threshold:g} is taken, for "
                f"about {entries:.3g} entries: raise memory_budget, threshold or restart",
                FallbackWarning,
            )
        return threshold


def _undirected(A: sparse.csr_array, others: sparse.csr_array) -> sparse.csr_array:
    """Average the edges of both directions: walks on it are those on the sum, and it does not overflow."""
    _check_positive(A)
    _check_positive(others)
    return canonical(sparse.csr_array(0.5 * A + 0.5 * others))


def _check_positive(weights: sparse.csr_array) -> None:
    if weights.nnz and weights.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to Diffusion: weights are chances of a walk and must be >= 0, but the "
            f"least is {weights.data.min():g}; give abs(adjacency), or take Katz or NodeKernel, which know signs"
        )
