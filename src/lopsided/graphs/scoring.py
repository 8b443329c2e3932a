"""What a fitted embedding says of edges: scores of pairs, nearest targets and edge vectors, by node id."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .._core import gate
from .decoder import EdgeDecoder, NewNodes
from .node_index import NodeIndex


class ScoresEdges(ABC):
    """Mixin that scores edges between nodes, given by their ids, from a fitted embedding."""

    nodes_: np.ndarray
    adjacency_: sparse.csr_array
    _nodes: NodeIndex
    _decoder: EdgeDecoder

    @gate
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
            raise ValueError(f"u holds {len(rows)} nodes and v {len(columns)}; pass equally many, or one on a side")
        rows, columns = np.broadcast_arrays(rows, columns)
        scores = self._decoder.of_pairs(rows, columns)
        return scores[0] if self._nodes.is_id(u) and self._nodes.is_id(v) else scores

    @gate
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
        found = self.nodes_[self._decoder.best_targets(rows, k, known)]
        return found[0] if self._nodes.is_id(u) else found

    @gate
    def edge_vectors(self, X: Any = None, in_edges: Any = None) -> tuple[np.ndarray, np.ndarray]:
        """Return vectors whose inner products are the edge scores, for the nodes of the graph or for new ones.

        Parameters
        ----------
        X, in_edges : default=None
            Edges from and to new nodes, as in ``transform``; both None means the nodes of the graph.

        Returns
        -------
        source, target : arrays of shape (n_nodes, n_components), or (b, n_components) for b new nodes
            An edge from i to j, each of which may be known or new, scores source[i] @ target[j]. With decoder="edges"
            there is one more column, for the degree term.

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
            return self._decoder.sources(), self._decoder.targets()
        return self._decoder.of_new(self._embed_new(X, in_edges), self.adjacency_)

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
    def _embed_new(self, X: Any, in_edges: Any) -> NewNodes:
        """Embed new nodes with the given edges."""
