"""How easily walks along the edges lead from one node to another."""

from __future__ import annotations

from numbers import Real
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import Interval, StrOptions

from .._budget import budget_bytes
from ..exceptions import FallbackWarning, warn
from .node import MatrixKernel
from .points import Array, by_rows, canonical
from .walks import Walk, dense_visits, expected_entries, last_step, visits

COPIES = 5  # arrays of the matrix's size that there are at once while it is put together, transposed and decomposed
COARSER = 2.0  # times the threshold that was too fine for the budget is tried next: a few trials reach one that fits
FEW, MOST_DENSE = 1 << 12, 1 << 14  # nodes: up to FEW "last" always solves for all values, above MOST_DENSE never
FULL = 1 / 8  # share of all pairs above the threshold, from which solving for all of them is less work than walking
EXACT = 1e-9  # threshold for new nodes where values were solved for: what it drops is not seen beside them
FAINT = 0.1  # share of the threshold that a step must bring somewhere to be taken, where walks have no direction
COARSEST = 0.05  # threshold, a chance, above which little more than single edges is left


class Diffusion(MatrixKernel):
    """Personalised PageRank between the nodes of a directed graph, elementwise transformed.

    A walk takes steps with chances proportional to the weights of edges, P = D^-1 A, and ends with probability
    ``restart`` after each. K = restart sum over t >= 1 of (1 - restart)^t P^t holds the chances that the walk from
    node i ends in node j after one step or more, and

        k(i, j) = log(max(K[i, j] / threshold, 1)),    sqrt(K[i, j])    or    K[i, j].

    Nodes without edges are similar to none, not even to themselves.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        A[i, j] >= 0 is the weight of the edge from i to j. It is not modified. None is for DirectedGraphEmbedding,
        which gives its graph.
    restart : float, default=0.15
        Probability that a walk ends after a step; large ones stay near.
    direction : {"out", "in", "both", "undirected", "last"}, default="both"
        Which way walks go.

        - "out": from i along the edges, with P from the rows of A.
        - "in": from j against the edges, with P from the columns of A; they lead from i to j, too.
        - "both": the mean of "out" and "in".
        - "undirected": along the edges of A + A'.
        - "last": along the edges of A + A', for any number of steps or none; then the walk stays, or takes one last
          step along an edge of A, with chance one half each. Nodes are near each other however they are linked, and yet
          sources are told from targets. K = M (I + P) / 2 with M = restart sum over t >= 0 of (1 - restart)^t Q^t,
          where Q is a step along A + A' and P one along A; P_ii = 1 for nodes with edges to them and none from them.
    transform : {"log", "root"} or None, default="log"
        The logarithm of values in units of the threshold, the square root, or the values. Zeros stay zeros.
    threshold : float, default=1e-3
        Chances of a walk below it are zero, and are not followed further: see Notes. "both" is the mean of two walks,
        and has values down to half of it. Where "last" solves for all values in a dense array (see ``matrix_``) it
        keeps them, however small; there only the logarithm cuts off what is below.
    memory_budget : float, str or None, default=None
        Bytes, or a text like "2GB", that the matrix may take; None is a quarter of the memory that is free. If it would
        take more the threshold is raised, with a :class:`~lopsided.exceptions.FallbackWarning`.

    Attributes
    ----------
    matrix_ : scipy.sparse.csr_array or array of shape (n_nodes, n_nodes)
        The values. "last" solves for all of them, in a dense array, where that is little work or most are not zero: up
        to 4,096 nodes, or up to 16,384 if the threshold leaves one of eight, within the budget.
    threshold_ : float
        The threshold that was taken.
    cutoff_ : float
        The threshold for new nodes: a finer one where all values were solved for.
    outward_, backward_ : Walk or None
        Steps along the edges ("undirected": along either way) and against them, where the direction takes them.
    near_, following_, last_ : Walk, Walk and sparse matrix
        For "last": steps either way, steps along the edges, and (I + P) / 2.

    Notes
    -----
    Values of K are never found too large. They are too small by no more than T threshold (restart + sum of K[:, j]),
    where T <= log(threshold) / log(1 - restart) is the number of steps. "last" takes no steps from hubs that reach no
    node with a tenth of the threshold, and may lose another T threshold / 10 times the number of j's edges.

    Cost: O(1 / (restart threshold)) steps at most for a row, which has no more than 1 / threshold entries, whatever the
    size of the graph.

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
        """Follow the walks from every node."""
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
        """Walk along the edges, against them, or both."""
        forward = _undirected(A, A.T) if self.direction == "undirected" else A
        self.outward_ = None if self.direction == "in" else Walk.on(forward)
        self.backward_ = Walk.on(by_rows(A.T)) if self.direction in ("in", "both") else None
        walks = [walk for walk in (self.outward_, self.backward_) if walk is not None]
        self.threshold_ = self.cutoff_ = self._affordable_threshold(walks)
        left, right = (None if w is None else self._visits(w.P, w.P) for w in (self.outward_, self.backward_))
        self.matrix_ = self._merged(left, None if right is None else by_rows(right.T))

    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Walks from the new nodes to the known ones."""
        if self.direction == "last":
            start = self._visits(self.near_.P, self.near_.starts(_undirected(out_edges, in_edges)))
            return self._transformed(canonical(start @ self.last_ + self.restart / 2 * Walk.on(out_edges).P))
        return self._new(out_edges, in_edges, self.outward_, self.backward_)

    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Walks from the known nodes to the new ones."""
        if self.direction == "last":
            back = by_rows(self.near_.P.T)
            reached = self._visits(back, self.near_.ends(_undirected(out_edges, in_edges)))
            followed = self._visits(back, self.following_.ends(in_edges))
            stay = np.where(np.diff(out_edges.indptr) > 0, 0.5, 1.0).astype(reached.dtype)[:, None]
            return self._transformed(canonical(reached * stay + followed * (0.5 / (1 - self.restart))))
        return self._new(in_edges, out_edges, self.backward_, self.outward_)

    def _learn_last(self, A: sparse.csr_array) -> None:
        """Walk on A + A', and let the last step alone go along the edges."""
        self.near_, self.following_, self.last_ = Walk.on(_undirected(A, A.T)), Walk.on(A), last_step(A)
        if self._is_dense(A):
            self.threshold_, self.cutoff_ = float(self.threshold), EXACT
            self.matrix_ = self._transformed(dense_visits(self.near_.P, self.last_, self.restart))
            return
        self.threshold_ = self.cutoff_ = self._affordable_threshold([self.near_])
        self.matrix_ = self._transformed(canonical(self._visits(self.near_.P, self.near_.P, self.last_)))

    def _is_dense(self, A: sparse.csr_array) -> bool:
        """Whether solving for all values is the cheaper way."""
        n = A.shape[0]
        if n > MOST_DENSE or COPIES * n**2 * A.dtype.itemsize > budget_bytes(self.memory_budget):
            return False
        if n <= FEW:
            return True
        return self._expected_entries(self.near_, float(self.threshold)) > FULL * n**2

    def _new(self, edges: sparse.csr_array, others: sparse.csr_array, ahead: Walk | None, behind: Walk | None) -> Array:
        """Walks ``ahead`` that start in the new nodes, and walks ``behind`` that end there."""
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
        """The chance that a step must reach somewhere to be taken; zero takes every step."""
        return FAINT * threshold if self.direction == "last" else 0.0

    def _merged(self, first: sparse.csr_array | None, last: sparse.csr_array | None) -> sparse.csr_array:
        """The mean of what is there, transformed."""
        there = [K for K in (first, last) if K is not None]
        K = canonical(sum(there[1:], there[0]))
        K.data /= len(there)
        return self._transformed(K)

    def _transformed(self, K: Array) -> Array:
        values = np.maximum(K.data if sparse.issparse(K) else K, 0)  # rounding of what vanishes
        if self.transform == "log":
            values = np.log(np.maximum(values / K.dtype.type(self.threshold_), 1))
        elif self.transform == "root":
            values = np.sqrt(values)
        if not sparse.issparse(K):
            return values
        K = sparse.csr_array((values, K.indices, K.indptr), shape=K.shape)
        K.eliminate_zeros()
        return K

    def _affordable_threshold(self, walks: list[Walk]) -> float:
        """The threshold, raised until the matrix fits the budget."""
        budget, threshold = budget_bytes(self.memory_budget), float(self.threshold)
        size = COPIES * (walks[0].P.dtype.itemsize + np.dtype(np.int32).itemsize)
        while True:
            entries = sum(self._expected_entries(walk, threshold) for walk in walks)
            if size * entries <= budget:
                break
            threshold *= COARSER
            if threshold > COARSEST:
                raise ValueError(
                    f"memory_budget={self.memory_budget}, {budget} bytes is too small for the graph: a threshold of "
                    f"{COARSEST:g} leaves some {entries:.3g} entries of {size} bytes; raise it"
                )
        if threshold > self.threshold:
            warn(
                f"threshold={self.threshold:g} would exceed the budget of {budget} bytes; {threshold:g} is taken, for "
                f"about {entries:.3g} entries: raise memory_budget, threshold or restart",
                FallbackWarning,
            )
        return threshold


def _undirected(A: sparse.csr_array, others: sparse.csr_array) -> sparse.csr_array:
    """The mean of edges of both directions, which walks cannot tell from their sum, and which does not overflow."""
    _check_positive(A)
    _check_positive(others)
    return canonical(sparse.csr_array(0.5 * A + 0.5 * others))


def _check_positive(weights: sparse.csr_array) -> None:
    if weights.nnz and weights.data.min() < 0:
        raise ValueError(
            f"Negative values in data passed to Diffusion: weights are chances of a walk and must be >= 0, but the "
            f"least is {weights.data.min():g}; give abs(adjacency), or take Katz or NodeKernel, which know signs"
        )
