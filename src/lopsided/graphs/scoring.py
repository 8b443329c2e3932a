"""Edges and nodes by id, from a fitted embedding: scores of pairs, nearest targets, similar nodes, edge vectors."""

from abc import ABC, abstractmethod
from numbers import Integral
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.utils._param_validation import StrOptions
from sklearn.utils.validation import check_is_fitted

from .._core import best_columns, checked, gate, jobs, unit_rows, usual_length, with_entries
from .decoder import EdgeDecoder
from .new_edges import NewEdges, edges_of_new
from .node_index import NodeIndex
from .nodes import Nodes, joined, some_nodes


class ScoresEdges(ABC):
    """Mixin that scores edges between nodes, given by their ids, from a fitted embedding."""

    nodes_: np.ndarray
    memory_budget: float | str | None
    adjacency_: sparse.csr_array
    source_embedding_: np.ndarray
    target_embedding_: np.ndarray
    _nodes: NodeIndex
    _decoder: EdgeDecoder

    @gate
    def score_edges(
        self, u: Any, v: Any, *, out_edges: Any = None, in_edges: Any = None, unknown: str = "error"
    ) -> Any:
        """Score edges from nodes u to nodes v with the decoder.

        Parameters
        ----------
        u, v : ids or sequences of n ids
            Nodes of the graph, or new ones; a single id is paired with every id of the other side.
        out_edges, in_edges : tables of edges, default=None
            Edges from and to new nodes, as in ``transform``; their ids can then be scored too.
        unknown : {"error", "ignore"}, default="error"
            What to do with edges of new nodes that lead to unknown ids, as in ``transform``.

        Returns
        -------
        float, or array of shape (n,)
            Scores; larger means more likely. The learned decoder gives log-odds, up to a constant.
        """
        check_is_fitted(self)
        new = None
        if out_edges is not None or in_edges is not None:
            new = edges_of_new(self._nodes, out_edges, in_edges, self.adjacency_.dtype, unknown)
        index = self._nodes if new is None else self._nodes.extended(new.names())
        rows, columns = index.numbers(u), index.numbers(v)
        if len(rows) != len(columns) and 1 not in (len(rows), len(columns)):
            raise ValueError(f"u holds {len(rows)} nodes and v {len(columns)}; pass equal numbers, or a single one")
        rows, columns = (side.copy() for side in np.broadcast_arrays(rows, columns))
        nodes = self._decoder.known
        if new is not None:
            used, places = np.unique(np.concatenate([rows, columns]), return_inverse=True)
            n = len(self._nodes)
            known, later = used[used < n], used[used >= n] - n
            among = new.among[later][:, later]
            nodes = joined(nodes, some_nodes(self._new_nodes(new), later), known, among)
            rows, columns = np.split(places, 2)
        with jobs(None, self.memory_budget):
            scores = self._decoder.of_pairs(nodes, rows, columns)
        return scores[0] if index.is_id(u) and index.is_id(v) else scores

    @gate
    @checked(new_only=["boolean"], return_scores=["boolean"])
    def nearest_targets(
        self,
        u: Any = None,
        k: int | None = None,
        *,
        new_only: bool = False,
        return_scores: bool = False,
        out_edges: Any = None,
        in_edges: Any = None,
        unknown: str = "error",
    ) -> Any:
        """Find the k nodes of the graph to which edges from u are most likely, best first, excluding u itself.

        They are ranked by ``ranking_``: by the scores of ``score_edges``, which compare edges between any nodes, or, if
        decoder="auto" found more hidden targets that way, by "factors" alone, except for nodes without edges.

        Parameters
        ----------
        u : id or sequence of ids, default=None
            Nodes of the graph, or None for the new nodes that ``out_edges`` and ``in_edges`` describe.
        k : int, default=None
            Number of targets per node; None means 10, or all that every node leaves if they are fewer.
        new_only : bool, default=False
            Whether to leave out the nodes to which u has an edge already, as a recommendation does.
        return_scores : bool, default=False
            Whether to return what ranks them too.
        out_edges, in_edges : default=None
            Edges from and to new nodes, as in ``transform``.
        unknown : {"error", "ignore"}, default="error"
            What to do with edges of new nodes that lead to unknown ids, as in ``transform``.

        Returns
        -------
        array of shape (k,), or (n, k) for several or new nodes
            Node ids; with ``return_scores`` a pair of these and of the scores by ``ranking_``, of the same shape.
        """
        check_is_fitted(self)
        n = len(self._nodes)
        if (u is None) == (out_edges is None and in_edges is None):
            raise ValueError("pass either nodes of the graph, u, or edges of new nodes, but not both")
        if u is None:
            new = edges_of_new(self._nodes, out_edges, in_edges, self.adjacency_.dtype, unknown)
            chosen, linked, names = self._new_nodes(new), new.outward, new.names()
            itself = sparse.csr_array(linked.shape)
        else:
            rows = self._nodes.numbers(u)
            chosen, linked, names = some_nodes(self._decoder.known, rows), self.adjacency_[rows], self.nodes_[rows]
            itself = _themselves(rows, n)
        leave_out = sparse.csr_array(abs(linked) + itself) if new_only else itself
        k = _list_length(k, leave_out, names)
        with jobs(None, self.memory_budget):
            best, scores = self._decoder.best_targets(chosen, k, leave_out)
        found = self.nodes_[best]
        if u is not None and self._nodes.is_id(u):
            found, scores = found[0], scores[0]
        return (found, scores) if return_scores else found

    @gate
    @checked(as_=[StrOptions({"source", "target", "both"})], return_scores=["boolean"])
    def most_similar(self, u: Any, k: int | None = None, *, as_: str = "both", return_scores: bool = False) -> Any:
        """Find the k nodes most like u in a role, by the cosine of their vectors, best first, excluding u itself.

        Parameters
        ----------
        u : id or sequence of ids
            Nodes of the graph.
        k : int, default=None
            Number of similar nodes per node; None means 10, or all others if they are fewer.
        as_ : {"source", "target", "both"}, default="both"
            Role in which nodes are compared: what they link to, what links to them, or both.
        return_scores : bool, default=False
            Whether to return the cosines too.

        Returns
        -------
        array of shape (k,), or (n, k) for n nodes
            Node ids; with ``return_scores`` a pair of these and of the cosines.
        """
        check_is_fitted(self)
        rows = self._nodes.numbers(u)
        sides = {"source": self.source_embedding_, "target": self.target_embedding_}
        vectors = unit_rows(np.hstack([vectors for role, vectors in sides.items() if as_ in (role, "both")]))
        itself = _themselves(rows, len(self._nodes))
        k = _list_length(k, itself, self.nodes_[rows])
        with jobs(None, self.memory_budget):
            best, cosines = best_columns(lambda block: vectors[rows[block]] @ vectors.T, itself, k)
        found = self.nodes_[best]
        if self._nodes.is_id(u):
            found, cosines = found[0], cosines[0]
        return (found, cosines) if return_scores else found

    @gate
    def edge_vectors(self, X: Any = None, in_edges: Any = None, *, unknown: str = "error") -> Any:
        """Return vectors whose inner products are the edge scores, for the nodes of the graph or for new ones.

        Parameters
        ----------
        X, in_edges : default=None
            Edges from and to new nodes, as in ``transform``; both None means the nodes of the graph.
        unknown : {"error", "ignore"}, default="error"
            What to do with edges of new nodes that lead to unknown ids, as in ``transform``.

        Returns
        -------
        source, target : arrays of shape (n_nodes, width), or (b, width) for b new nodes
            An edge from i to j, each of which may be known or new, scores source[i] @ target[j], plus
            ``reverse_score_`` if there is an edge from j to i.

        Examples
        --------
        >>> import numpy as np
        >>> from lopsided import DirectedGraphEmbedding
        >>> A = np.array([[0, 1, 1, 0], [0, 0, 1, 1], [0, 0, 0, 1], [1, 0, 0, 0]])
        >>> model = DirectedGraphEmbedding(n_components=2).fit(A)
        >>> source, target = model.edge_vectors()
        >>> bool(np.isclose(source[0] @ target[1], model.score_edges(0, 1)))
        True
        """
        check_is_fitted(self)
        nodes = self._decoder.known
        if X is not None or in_edges is not None:
            nodes = self._new_nodes(edges_of_new(self._nodes, X, in_edges, self.adjacency_.dtype, unknown))
        return self._decoder.sources(nodes), self._decoder.targets(nodes)

    @property
    def reverse_score_(self) -> float:
        """What the decoder adds to the score of an edge whose reverse is in the graph."""
        check_is_fitted(self)
        return self._decoder.formula.reverse

    @property
    def ranking_(self) -> str:
        """What ranks the best targets of a node, "learned" or "factors"."""
        check_is_fitted(self)
        return self._decoder.formula.ranking

    @abstractmethod
    def _new_nodes(self, new: NewEdges) -> Nodes:
        """Place new nodes with the given edges."""


def _themselves(rows: np.ndarray, n: int) -> sparse.csr_array:
    """The rows of the n x n identity with these numbers, in O(rows)."""
    return sparse.csr_array((np.ones(len(rows)), rows, np.arange(len(rows) + 1)), shape=(len(rows), n))


def _list_length(k: Any, leave_out: sparse.csr_array, names: np.ndarray) -> int:
    """The given number of nodes, or the usual one; ValueError if some node leaves fewer. Cost: O(its edges)."""
    n = leave_out.shape[1]
    left = np.minimum(n - 1, n - leave_out.count_nonzero(axis=1))
    k = usual_length(left) if k is None else k
    if not (isinstance(k, Integral) and 1 <= int(k) < n):
        raise ValueError(f"k={k} must be a whole number from 1 to the number of other nodes, {n - 1}")
    if (left < k).any():
        least = int(left.argmin())
        raise ValueError(
            f"k={k} exceeds the {left[least]} nodes to which {names[least]!s} has no edge; lower k, or leave out "
            "new_only"
        )
    return int(k)


def reverse_scores(model: ScoresEdges) -> sparse.csr_array:
    """What inner products of ``edge_vectors`` lack of the scores: ``reverse_score_`` where the reverse is an edge."""
    backward = sparse.csr_array(model.adjacency_.T)
    return with_entries(backward, np.full(backward.nnz, model.reverse_score_))
