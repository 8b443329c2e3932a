"""Personalised PageRank as a kernel between the nodes of a directed graph."""

from bisect import bisect_left
from functools import cache
from numbers import Real
from typing import Any, cast

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions

from ..._core import Array, Kind, budget_bytes, by_rows, canonical, count_of, with_entries
from ...exceptions import FallbackWarning, LopsidedWarning, warn
from ..constraints import BETWEEN_0_AND_1
from .base import MatrixKernel
from .walks import Walk, dense_visits, is_long, last_step, solved_visits, visits

MATRIX_COPIES = 5  # in memory at once while the matrix is assembled, transposed and decomposed
THRESHOLD_FACTOR = 2.0  # by which a threshold too fine for the budget is raised: a few trials reach one that fits
ALWAYS_DENSE_NODES = 1 << 12  # number of nodes up to which "last" solves densely: a few seconds of work
MAX_DENSE_NODES = 1 << 14  # number of nodes above which "last" never solves densely: a minute, and gigabytes
WELL_FILLED = 1 / 8  # share of pairs above the threshold beyond which a dense solve is less work than following walks
CUTOFF_AFTER_SOLVE = 1e-9  # threshold for new nodes after a dense solve, negligible beside the solved values
WORK_PER_MINUTE = 4e10  # multiplications of walks on one core, measured on random graphs of 300 and 3,000 nodes
COSTLY_WORK = 5 * WORK_PER_MINUTE  # from which a warning says how long walks will take
FAINT_SHARE = 0.1  # fraction of the threshold that a step of "last" must bring to some node, else it is skipped
SAMPLE_ROWS = 256  # start nodes sampled to estimate the number of entries
COARSEST_THRESHOLD = 0.05  # a probability; above it little more than single edges is left
# For threshold=None; `python benchmarks/graphs_nodes.py ablation` changes them.
ENTRIES_PER_NODE = 64  # wanted on large graphs: products then cost a few times those with the graph itself
ENTRIES_AT_LEAST = 1 << 20  # wanted on small graphs, where more cost little
FIRST_THRESHOLD = 1e-2  # halved until so many entries are there
FINEST_THRESHOLD = 1e-4  # below which walks cost more than their values are worth


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
        A[i, j] >= 0 is the weight of the edge from i to j. DirectedGraphEmbedding supplies its graph in place of None.
    restart : float, default=0.15
        Probability that a walk ends after a step; larger values keep walks shorter.
    direction : {"out", "in", "both", "undirected", "last"}, default="both"
        Direction of the walks.

        - "out": from i along the edges, with P from the rows of A.
        - "in": from j to i against the edges, with P from the columns of A.
        - "both": the mean of "out" and "in".
        - "undirected": along the edges of A + A'.
        - "last": along the edges of A + A', for zero or more steps; then the walk stays, or takes one last step along
          an edge of A, with probability one half each: K = restart sum over t >= 0 of (1 - restart)^t Q^t (I + P) / 2,
          where Q is a step along A + A' and P one along A (P_ii = 1 for nodes that have only incoming edges). Links of
          either direction count, and the last step still distinguishes sources from targets.
    transform : {"log", "root"} or None, default="log"
        The logarithm of values divided by the threshold, the square root, or the values themselves. Zeros stay zero.
    threshold : float or None, default=1e-3
        Probabilities below it are set to zero and are not followed further, see Notes. The values of "both", means of
        two walks, go down to half of it; a dense matrix of "last" keeps all values, except for the logarithm's cut.
        None derives it from the graph, so that about 64 values per node remain, or a million if that is more, but none
        below 1e-4.
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

    Notes
    -----
    Computed values of K are never too large, and too small by at most T threshold (restart + sum of K[:, j]), where
    T <= log(threshold) / log(1 - restart) is the number of steps. "last" skips steps from hubs that bring less than a
    tenth of the threshold to every node, which may lose another T threshold / 10 times the number of j's edges.

    Cost: at most O(1 / (restart threshold)) steps and 1 / threshold entries per row, on graphs of any size. Where a
    dense solution, O(n^3), is far less work than following long walks, and fits the budget, it is taken: its values are
    exact before those below the threshold are set to zero.

    References
    ----------
    Andersen, Chung, Lang, "Local graph partitioning using PageRank vectors", FOCS 2006.

    Examples
    --------
    >>> from lopsided.kernels import Diffusion
    >>> A = [[0, 1, 0], [0, 0, 1], [0, 0, 0]]
    >>> Diffusion(A, restart=0.5, direction="out", transform=None)([[0], [1], [2]], [[1], [2]])
    array([[0.25 , 0.125],
           [0.   , 0.25 ],
           [0.   , 0.   ]])
    """

    _parameter_constraints = {
        "adjacency": ["array-like", "sparse matrix", None],
        "restart": [BETWEEN_0_AND_1],
        "direction": [StrOptions({"out", "in", "both", "undirected", "last"})],
        "transform": [StrOptions({"log", "root"}), None],
        "threshold": [BETWEEN_0_AND_1, None],
        "memory_budget": [Real, str, None],
    }

    def __init__(
        self,
        adjacency: Any = None,
        *,
        restart: float = 0.15,
        direction: str = "both",
        transform: str | None = "log",
        threshold: float | None = 1e-3,
        memory_budget: float | str | None = None,
    ) -> None:
        self.adjacency, self.restart, self.direction = adjacency, restart, direction
        self.transform, self.threshold, self.memory_budget = transform, threshold, memory_budget

    def learn(self, A: Array) -> None:
        """Compute the kernel matrix from the walks of every node."""
        A = canonical(sparse.csr_array(A))
        _check_positive(A)
        if self.direction == "last":
            self._learn_last(A)
        else:
            self._learn_walks(A)
        if A.data.any() and not (self.matrix_.nnz if sparse.issparse(self.matrix_) else self.matrix_.any()):
            way_out = "lower it" if self.threshold_ == self.threshold else "raise memory_budget, or give a lower one"
            raise ValueError(
                f"no walk is as likely as threshold={self.threshold_:g}, so all values are zero; {way_out}, or raise "
                f"restart={self.restart:g}, the probability that a walk ends at each step"
            )

    def _learn_walks(self, A: sparse.csr_array) -> None:
        """Follow walks along the edges, against them, or both."""
        forward = _undirected(A, A.T) if self.direction == "undirected" else A
        self._outward = None if self.direction == "in" else Walk.on(forward)
        self._backward = Walk.on(by_rows(A.T)) if self.direction in ("in", "both") else None
        walks = [walk for walk in (self._outward, self._backward) if walk is not None]
        self.threshold_ = self._cutoff = self._affordable_threshold(walks)
        found = [] if self._outward is None else [self._visits(self._outward.P, self._outward.P)]
        if self._backward is not None:
            found.append(by_rows(self._visits(self._backward.P, self._backward.P).T))
        self.matrix_ = self._mean(found)

    def _learn_last(self, A: sparse.csr_array) -> None:
        """Follow walks on A + A' whose last step alone respects the direction of edges."""
        self._near, self._following, self._last = Walk.on(_undirected(A, A.T)), Walk.on(A), last_step(A)
        if self._is_dense(A):
            self.threshold_, self._cutoff = float(self.threshold or FINEST_THRESHOLD), CUTOFF_AFTER_SOLVE
            K = dense_visits(self._near.P, self._last, self.restart)
            if self.threshold is None:
                K[K < FINEST_THRESHOLD] = 0
            self.matrix_ = self._transformed(K)
            return
        self.threshold_ = self._cutoff = self._affordable_threshold([self._near])
        self.matrix_ = self._transformed(canonical(self._visits(self._near.P, self._near.P, self._last)))

    def _is_dense(self, A: sparse.csr_array) -> bool:
        """Whether a dense solve fits the budget and is cheaper than following walks."""
        n = A.shape[0]
        if n > MAX_DENSE_NODES or MATRIX_COPIES * n**2 * A.dtype.itemsize > budget_bytes(self.memory_budget):
            return False
        if n <= ALWAYS_DENSE_NODES:
            return True
        return self._expected_entries(self._near.P, float(self.threshold or FINEST_THRESHOLD)) > WELL_FILLED * n**2

    def left_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the values of walks from the new nodes to the known ones."""
        if self.direction != "last":
            return self._new(out_edges, in_edges, self._outward, self._backward)
        start = self._visits(self._near.P, Walk.on(_undirected(out_edges, in_edges)).P)
        return self._transformed(canonical(start @ self._last + self.restart / 2 * Walk.on(out_edges).P))

    def right_values(self, out_edges: sparse.csr_array, in_edges: sparse.csr_array) -> sparse.csr_array:
        """Return the values of walks from the known nodes to the new ones."""
        if self.direction != "last":
            return self._new(in_edges, out_edges, self._backward, self._outward)
        back = by_rows(self._near.P.T)
        reached = self._visits(back, self._near.ends(_undirected(out_edges, in_edges)))
        followed = self._visits(back, self._following.ends(in_edges))
        stay = np.where(np.diff(out_edges.indptr) > 0, 0.5, 1.0).astype(reached.dtype)[:, None]
        return self._transformed(canonical(reached * stay + followed * (0.5 / (1 - self.restart))))

    def _new(
        self, edges: sparse.csr_array, others: sparse.csr_array, ahead: Walk | None, behind: Walk | None
    ) -> sparse.csr_array:
        """Average the walks ``ahead`` that start in the new nodes and the walks ``behind`` that end there."""
        _check_positive(edges, others)
        if self.direction == "undirected":
            edges = _undirected(edges, others)
        found = [] if ahead is None else [self._visits(ahead.P, Walk.on(edges).P)]
        if behind is not None:
            found.append(self._visits(by_rows(behind.P.T), behind.ends(edges)))
        return self._mean(found)

    def _visits(
        self, P: sparse.csr_array, starts: sparse.csr_array, last: Any = None, threshold: float | None = None
    ) -> sparse.csr_array:
        threshold = threshold or self._cutoff
        if last is None and self._is_solved(P, starts.shape[0], threshold):
            return solved_visits(P, starts, restart=self.restart, threshold=threshold)
        faint = FAINT_SHARE * threshold if self.direction == "last" else 0.0
        return visits(P, starts, restart=self.restart, threshold=threshold, faint=faint, last=last)

    def _is_solved(self, P: sparse.csr_array, rows: int, threshold: float) -> bool:
        """Whether walks are so long that a dense solution is less work, and it fits the budget."""
        if not is_long(P, rows, restart=self.restart, threshold=threshold):
            return False
        n, size = P.shape[0], np.dtype(float).itemsize
        return n <= MAX_DENSE_NODES and MATRIX_COPIES * size * n * max(n, rows) <= budget_bytes(self.memory_budget)

    def _expected_entries(self, P: sparse.csr_array, threshold: float) -> float:
        """Estimate from a sample of start nodes how many entries their walks have for all nodes."""
        n = P.shape[0]
        rows = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE_ROWS), replace=False))
        return n * self._visits(P, P[rows], threshold=threshold).nnz / len(rows)

    def _mean(self, found: list[sparse.csr_array]) -> sparse.csr_array:
        """Average one or two matrices, and transform."""
        K = canonical(sum(found[1:], found[0]))
        K.data /= len(found)
        return self._transformed(K)

    def _transformed(self, K: Kind) -> Kind:
        values = np.maximum(K.data if sparse.issparse(K) else K, 0)  # rounding errors of zeros may be negative
        if self.transform == "log":
            values = np.log(np.maximum(values / K.dtype.type(self.threshold_), 1))
        elif self.transform == "root":
            values = np.sqrt(values)
        if not sparse.issparse(K):
            return cast(Kind, values)
        kept = with_entries(K, values)
        kept.eliminate_zeros()
        return cast(Kind, kept)

    def _wanted_threshold(self, walks: list[Walk]) -> float:
        """The given threshold or, for None, the finest power of 1/2 times the first that leaves few enough entries."""
        if self.threshold is not None:
            return float(self.threshold)
        threshold, most = FIRST_THRESHOLD, max(ENTRIES_AT_LEAST, ENTRIES_PER_NODE * walks[0].P.shape[0])
        while threshold > FINEST_THRESHOLD and self._all_entries(walks, threshold / THRESHOLD_FACTOR) <= most:
            threshold /= THRESHOLD_FACTOR
        return threshold

    def _all_entries(self, walks: list[Walk], threshold: float) -> float:
        return sum(self._expected_entries(walk.P, threshold) for walk in walks)

    def _affordable_threshold(self, walks: list[Walk]) -> float:
        """Raise the threshold until the matrix fits the budget, with a warning if it had to be raised.

        Entries only become fewer with it, so that bisection finds the finest one that fits.
        """
        budget, wanted = budget_bytes(self.memory_budget), self._wanted_threshold(walks)
        size = MATRIX_COPIES * (walks[0].P.dtype.itemsize + np.dtype(np.int32).itemsize)
        steps = range(1 + max(0, int(np.log(COARSEST_THRESHOLD / wanted) / np.log(THRESHOLD_FACTOR))))

        @cache
        def entries_after(step: int) -> float:
            return self._all_entries(walks, wanted * THRESHOLD_FACTOR**step)

        def fits(step: int) -> bool:
            return size * entries_after(step) <= budget

        step = 0 if fits(0) else bisect_left(steps, True, key=fits)
        if step == len(steps):
            raise ValueError(
                f"memory_budget={self.memory_budget} ({count_of(budget, 'byte')}) is too small for the graph: a "
                f"threshold of {COARSEST_THRESHOLD:g} leaves some {entries_after(steps[-1]):.3g} entries of {size} "
                "bytes; raise it"
            )
        threshold, entries = wanted * THRESHOLD_FACTOR**step, entries_after(step)
        if threshold > wanted:
            warn(
                f"threshold={wanted:g} would exceed the budget of {budget} bytes; {threshold:g} is taken, for "
                f"about {entries:.3g} entries: raise memory_budget, threshold or restart",
                FallbackWarning,
            )
        self._warn_if_costly(walks, threshold, entries)
        return threshold

    def _warn_if_costly(self, walks: list[Walk], threshold: float, entries: float) -> None:
        """Warn, with an estimate of the time, if walks over this many entries take more than a few minutes."""
        n, nnz = walks[0].P.shape[0], walks[0].P.nnz
        steps = np.log(threshold) / np.log1p(-self.restart)
        work = steps * entries * nnz / n
        if work > COSTLY_WORK and not all(self._is_solved(walk.P, n, threshold) for walk in walks):
            warn(
                f"walks with restart={self.restart:g} and threshold={threshold:g} take up to {steps:.0f} steps over "
                f"some {entries:.2g} entries, perhaps {work / WORK_PER_MINUTE:.0f} minutes on one core; raise either",
                LopsidedWarning,
            )


def _undirected(A: sparse.csr_array, others: sparse.csr_array) -> sparse.csr_array:
    """Average the edges of both directions: walks on it are those on the sum, and it does not overflow."""
    _check_positive(A, others)
    return canonical(sparse.csr_array(0.5 * A + 0.5 * others))


def _check_positive(*edges: sparse.csr_array) -> None:
    least = min(weights.data.min(initial=0) for weights in edges)
    if least < 0:
        raise ValueError(
            f"Negative values in data passed to Diffusion: weights are chances of a walk and must be >= 0, but the "
            f"least is {least:g}; give abs(adjacency), or use Katz or NodeKernel, which allow signs"
        )
