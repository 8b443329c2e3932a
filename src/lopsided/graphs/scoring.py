"""Edge scores from source and target vectors: scores of pairs, nearest targets and edge vectors."""

from __future__ import annotations

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._core import slices_of
from ..exceptions import LopsidedWarning, warn
from .decoder import EdgeSteps
from .node_index import Nodes

BLOCK_ENTRIES = 1 << 24  # entries in a block of scores or vectors: 128 MB in float64
BACKGROUND = 0.3  # sum of what scores owe to numbers of edges alone, in units of the sum of what they owe to nearness
FEW_VISITS = 0.1  # expected visits at which a node is half as much a target as one that is visited often
EVERY = slice(None)


class NewNodes(NamedTuple):
    """Out-of-sample nodes: optional ids, edges from and to them as rows over the known nodes, and their vectors."""

    ids: np.ndarray | None
    outward: sparse.csr_array
    inward: sparse.csr_array
    source: np.ndarray
    target: np.ndarray


class EdgeScores(NamedTuple):
    """Edge scores from source vectors S and target vectors T, by F = S diag(weights) T' or by steps along the edges.

    The second formula is a_i (g_j (P F)_ij + background (1 + v_j)), where P is a step along the edges, a the activity
    of nodes, v the expected visits to them and g = v / (v + 0.1): an edge from i to j scores high if the nodes that i
    links to are near j, if i has many edges and j has any, and, a little, if j has many.

    Attributes
    ----------
    source, target : arrays of shape (n_nodes, k)
        S and T.
    weights : array of shape (k,)
        Weights of the components.
    steps : EdgeSteps or None
        P, a and v; None selects the first formula.
    background : float
        Weight of visits as such.
    """

    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    steps: EdgeSteps | None = None
    background: float = 0.0

    def along(self, A: sparse.csr_array) -> EdgeScores:
        """Return scores by steps along the edges, with a background in proportion to their sum. Cost O(edges + n k)."""
        steps = EdgeSteps.on(A)
        source = (steps.out.T @ steps.activity + steps.stay * steps.activity) @ self.source
        total = max(0.0, float((source * self.weights) @ (_open(steps.visits) @ self.target)))
        parts = float(steps.activity.sum(dtype=float) * (1 + steps.visits).sum(dtype=float))
        return self._replace(steps=steps, background=BACKGROUND * total / parts)

    def sources(self, rows: Any = EVERY) -> np.ndarray:
        """Edge vectors of some nodes as sources; their inner products with ``targets`` are the scores."""
        if self.steps is None:
            return self.source[rows] * self.weights
        return self._led(EdgeSteps(*(part[rows] for part in self.steps)), self.source[rows])

    def targets(self, columns: Any = EVERY) -> np.ndarray:
        """Edge vectors of some nodes as targets."""
        vectors = self.target[columns]
        return vectors if self.steps is None else _reached(vectors, self.steps.visits[columns])

    def of_new(self, new: NewNodes, A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Edge vectors of out-of-sample nodes as sources and as targets; their steps follow their own edges."""
        if self.steps is None:
            return new.source * self.weights, new.target
        steps = EdgeSteps.of_new(new.outward, new.inward, A)
        return self._led(steps, new.source), _reached(new.target, steps.visits)

    def _led(self, steps: EdgeSteps, own: np.ndarray) -> np.ndarray:
        """Vectors of sources: those of the nodes to which a step leads, and a constant for the background."""
        vectors = (steps.out @ self.source + steps.stay[:, None] * own) * self.weights
        return steps.activity[:, None] * np.column_stack([vectors, np.full(len(own), self.background, own.dtype)])

    def of_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Scores of the pairs (rows[i], columns[i]), in blocks; each block computes the step of a node only once."""
        scores = np.empty(len(rows), dtype=self.target.dtype)
        for part in slices_of(len(rows), BLOCK_ENTRIES // len(self.weights)):
            (u, row), (v, column) = (np.unique(side[part], return_inverse=True) for side in (rows, columns))
            scores[part] = np.einsum("ij,ij->i", self.sources(u)[row], self.targets(v)[column])
        return scores

    def best_targets(self, rows: np.ndarray, k: int, left_out: sparse.csr_array | None = None) -> np.ndarray:
        """The k highest-scoring targets of each row, best first, in blocks of rows.

        Neither the row itself nor the nonzero entries in its row of ``left_out``, one per row, are among them.
        """
        targets = self.targets()
        found, alike = [], 0
        for part in slices_of(len(rows), BLOCK_ENTRIES // len(targets)):
            scores = self.sources(rows[part]) @ targets.T
            alike += int(np.count_nonzero(scores.max(axis=1) == scores.min(axis=1)))
            if left_out is not None:
                scores[left_out[part].nonzero()] = -np.inf
            found.append(best_targets(scores, rows[part], k))
        if alike:
            warn(
                f"{alike} of {len(rows)} nodes score every target alike, as those without edges do, and the targets "
                "found for them are any; leave them out, or give a graph in which they have edges",
                LopsidedWarning,
            )
        return np.concatenate(found)


class ScoresEdges(ABC):
    """Mixin that scores edges between nodes, given by their ids, from a fitted embedding."""

    nodes_: np.ndarray
    adjacency_: sparse.csr_array
    _nodes: Nodes
    _edges: EdgeScores

    def score_edges(self, u: Any, v: Any) -> Any:
        """Score edges from nodes u to nodes v with the decoder.

        Parameters
        ----------
        u, v : ids or sequences of n ids
            Nodes of the graph; a single id is paired with every id of the other side.

        Returns
        -------
        float, or array of shape (n,)
            Scores; larger means more likely.
        """
        check_is_fitted(self)
        rows, columns = self._nodes.numbers(u), self._nodes.numbers(v)
        if len(rows) != len(columns) and 1 not in (len(rows), len(columns)):
            raise ValueError(f"u holds {len(rows)} nodes and v {len(columns)}; give as many, or one on either side")
        rows, columns = np.broadcast_arrays(rows, columns)
        scores = self._edges.of_pairs(rows, columns)
        return scores[0] if self._nodes.is_id(u) and self._nodes.is_id(v) else scores

    def nearest_targets(self, u: Any, k: int = 10, *, new_only: bool = False) -> np.ndarray:
        """Find the k nodes to which edges from u score highest, best first, excluding u itself.

        Parameters
        ----------
        u : id or sequence of ids
            Nodes of the graph.
        k : int, default=10
            Number of targets per node.
        new_only : bool, default=False
            Whether to leave out the nodes to which u has an edge already, as a recommendation does.

        Returns
        -------
        array of shape (k,), or (n, k) for n nodes
            Node ids.
        """
        check_is_fitted(self)
        rows, n = self._nodes.numbers(u), len(self._nodes)
        if not (isinstance(k, Integral) and 1 <= k < n):
            raise ValueError(f"k={k} must be a whole number from 1 to the number of other nodes, {n - 1}")
        known = self._known_targets(rows, k) if new_only else None
        found = self.nodes_[self._edges.best_targets(rows, k, known)]
        return found[0] if self._nodes.is_id(u) else found

    def edge_vectors(self, X: Any = None, in_edges: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors whose inner products are the edge scores, for the nodes of the graph or for new ones.

        Parameters
        ----------
        X, in_edges : default=None
            Edges from and to new nodes, as in ``transform``. If both are None, return the vectors of the graph's nodes.

        Returns
        -------
        source, target : arrays of shape (n_nodes, n_components), or (b, n_components) for b new nodes
            The score of an edge from i to j is source[i] @ target[j], where i and j may each be a known or a new node.
            With decoder="edges" they have one more column, for the background.

        Examples
        --------
        Targets for a new node that links to nodes 0 and 1:

        >>> import numpy as np
        >>> from lopsided import DirectedGraphEmbedding
        >>> A = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0]])
        >>> model = DirectedGraphEmbedding(n_components=2).fit(A)
        >>> new, _ = model.edge_vectors([[1, 1, 0, 0]])
        >>> _, targets = model.edge_vectors()
        >>> model.nodes_[np.argsort(-(new @ targets.T)[0])[:2]]
        array([3, 2])
        """
        check_is_fitted(self)
        if X is None and in_edges is None:
            return self._edges.sources(), self._edges.targets()
        return self._edges.of_new(self._new(X, in_edges), self.adjacency_)

    def _known_targets(self, rows: np.ndarray, k: int) -> sparse.csr_array:
        """Edges of some nodes, each of which must leave k others. Cost: O(edges of these nodes)."""
        linked = self.adjacency_[rows]
        to_others = linked.count_nonzero(axis=1) - (self.adjacency_.diagonal()[rows] != 0)
        left = len(self._nodes) - 1 - to_others
        if (left < k).any():
            least = int(left.argmin())
            raise ValueError(
                f"k={k} exceeds the {left[least]} nodes to which {self.nodes_[rows[least]]!s} has no edge; lower k, or "
                "leave out new_only"
            )
        return linked

    @abstractmethod
    def _new(self, X: Any, in_edges: Any) -> NewNodes:
        """Embed new nodes with the given edges."""


def _reached(vectors: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """Vectors of targets, shorter where no step leads, and the column that meets the background."""
    return np.column_stack([vectors * _open(visits)[:, None], 1 + visits])


def _open(visits: np.ndarray) -> np.ndarray:
    """How far a node is a target at all: 0 without visits, near 1 with one visit or more."""
    return visits / (visits + FEW_VISITS)


def best_targets(scores: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, best first, excluding the row's own node. Modifies ``scores``."""
    scores[np.arange(len(rows)), rows] = -np.inf
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
