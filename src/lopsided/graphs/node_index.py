"""Lookup of nodes by id, and validation of the edges of new nodes."""

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from .._core import check_points
from ..io import Edges, Graph, assembled, factorized, forms, holds_edges, is_array_like, is_text, is_whole, read_edges

MOST_IDS_SHOWN = 5  # in an error message
BOOLEANS = (bool, np.bool_)
NOTHING = np.empty(0, dtype=np.intp)
NO_EDGES = Edges(NOTHING, NOTHING, np.empty(0), np.empty(0, dtype=object))


class NodeIndex:
    """Node ids in row order, with lookup from id to row number."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids
        self._number = {node: i for i, node in enumerate(ids.tolist())}
        self._has_booleans = any(isinstance(node, BOOLEANS) for node in self._number)

    def __len__(self) -> int:
        return len(self.ids)

    def is_id(self, node: Any) -> bool:
        """Whether node is one id: not iterable, a string, bytes, a frozenset, zero-dimensional or a known tuple."""
        one = not isinstance(node, Iterable) or isinstance(node, (str, bytes, frozenset))
        return one or getattr(node, "ndim", None) == 0 or self._holds(node)

    def _holds(self, node: Any) -> bool:
        try:
            return node in self._number
        except TypeError:  # not hashable
            return False

    def numbers(self, ids: Any) -> np.ndarray:
        """Row numbers of one id or of a sequence of ids."""
        given = ids
        if self.is_id(ids):
            ids = [ids]
        elif not (isinstance(ids, np.ndarray) and ids.dtype.kind in "mM"):  # tolist turns nanoseconds into integers
            ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        numbers = [self._find(node) for node in ids]
        unknown = [node for node, number in zip(ids, numbers, strict=True) if number is None]
        if unknown:
            if isinstance(given, tuple) and any(isinstance(node, tuple) for node in self._number):
                unknown = [given]
            raise ValueError(
                f"{len(unknown)} ids are not nodes of the graph: {_shown(unknown)}; nodes_ holds those that are"
            )
        return np.array(numbers, dtype=np.intp)

    def _find(self, node: Any) -> int | None:
        if isinstance(node, BOOLEANS) and not self._has_booleans:  # a mask; to a dict True is 1
            return None
        if self._holds(node):
            return self._number[node]
        return next((self._number[form] for form in forms(node) if self._holds(form)), None)

    def edges_of_new(
        self, out_edges: Any, in_edges: Any, dtype: np.dtype
    ) -> tuple[np.ndarray | None, sparse.csr_array, sparse.csr_array]:
        """Ids of new nodes (only for tables), and edges from and to them, as sparse rows over known nodes."""
        given = [edges for edges in (out_edges, in_edges) if edges is not None]
        if not given:
            raise ValueError("new nodes are known by their edges, and none are given; pass X, in_edges or both")
        tables = [holds_edges(edges) for edges in given]
        new = None
        if all(tables):
            new, outward, inward = self._rows_of_tables(out_edges, in_edges)
        elif any(tables) or not all(is_array_like(edges) and not isinstance(edges, Graph) for edges in given):
            kinds = " and ".join(type(edges).__name__ for edges in given)
            raise ValueError(
                f"edges of new nodes come as tables of edges or as rows over nodes_, not as {kinds}; the nodes of the "
                "fitted graph have their vectors in source_embedding_ and target_embedding_"
            )
        else:
            named = {"X": out_edges, "in_edges": in_edges}
            sides = [self._checked(edges, name) for name, edges in named.items() if edges is not None]
            nothing = sparse.csr_array(sides[0].shape)
            outward, inward = (nothing if out_edges is None else sides[0]), (nothing if in_edges is None else sides[-1])
        if outward.shape != inward.shape:
            raise ValueError(
                f"X holds {outward.shape[0]} new nodes and in_edges {inward.shape[0]}; they must be the same ones"
            )
        return new, outward.astype(dtype, copy=False), inward.astype(dtype, copy=False)

    def _rows_of_tables(self, out_edges: Any, in_edges: Any) -> tuple[np.ndarray, sparse.csr_array, sparse.csr_array]:
        outward, inward = (NO_EDGES if table is None else self._read(table) for table in (out_edges, in_edges))
        numbers, new = factorized(np.concatenate([outward.nodes[outward.source], inward.nodes[inward.target]]))
        if not len(new):
            raise ValueError("the tables hold no edges, and so no new nodes")
        known = [node for node in new.tolist() if self._find(node) is not None]
        if known:
            raise ValueError(
                f"{len(known)} new nodes have ids of nodes of the graph: {_shown(known)}; give them others. Nodes of "
                "the fitted graph have their vectors in source_embedding_ and target_embedding_"
            )
        out, into = np.split(numbers, [len(outward.source)])
        to, origin = self.numbers(outward.nodes[outward.target]), self.numbers(inward.nodes[inward.source])
        shape = len(new), len(self)
        return new, assembled(out, to, outward.weight, shape), assembled(into, origin, inward.weight, shape)

    def _read(self, table: Any) -> Edges:
        """Edges of a table; integers in text files become numbers if the known ids are numbers."""
        edges = read_edges(table, known=self._number)
        nodes = edges.nodes.astype(object)
        if is_text(table):
            nodes[:] = [self._of_text(node) for node in nodes]
        return edges._replace(nodes=nodes)

    def _of_text(self, id: str) -> Any:
        """Convert an id read from text to the type of the known ids; a new id becomes an integer if all of them are."""
        if id in self._number or not is_whole(id):
            return id
        return int(id) if self.ids.dtype != object or int(id) in self._number else id

    def _checked(self, edges: Any, name: str) -> sparse.csr_array:
        edges = sparse.csr_array(check_points(edges, name))
        if edges.shape[1] != len(self):
            raise ValueError(
                f"{name} has {edges.shape[1]} features, but DirectedGraphEmbedding is expecting {len(self)} features "
                "as input: a weight for every node of the graph, in the order of nodes_"
            )
        return edges


def _shown(ids: list[Any]) -> str:
    """The first few ids, as text for an error message."""
    return ", ".join(map(repr, ids[:MOST_IDS_SHOWN])) + (", ..." if len(ids) > MOST_IDS_SHOWN else "")
