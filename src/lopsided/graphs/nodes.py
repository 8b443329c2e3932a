"""Ids of the nodes of a graph, and the edges that others have with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.points import check_points
from .ids import forms
from .reading import Graph, assembled, is_array_like, number_nodes
from .tables import Edges, is_path_or_table, is_text, is_whole, read_edges

SHOWN = 5


class Nodes:
    """The nodes of a graph in their order, found by their ids."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids
        self._number = {node: i for i, node in enumerate(ids.tolist())}

    def __len__(self) -> int:
        return len(self.ids)

    def is_id(self, node: Any) -> bool:
        """Whether it is one id and not a sequence of ids: what cannot be iterated, texts, sets, or a node's tuple."""
        one = not isinstance(node, Iterable) or isinstance(node, (str, bytes, frozenset))
        return one or getattr(node, "ndim", None) == 0 or self._holds(node)

    def _holds(self, node: Any) -> bool:
        try:
            return node in self._number
        except TypeError:  # not hashable
            return False

    def numbers(self, ids: Any) -> np.ndarray:
        """Rows of one node or of several, given by their ids."""
        if self.is_id(ids):
            ids = [ids]
        elif not (isinstance(ids, np.ndarray) and ids.dtype.kind in "mM"):  # nanoseconds would become whole numbers
            ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        numbers = [self._find(node) for node in ids]
        unknown = [node for node, number in zip(ids, numbers, strict=True) if number is None]
        if unknown:
            shown = ", ".join(map(repr, unknown[:SHOWN])) + (", ..." if len(unknown) > SHOWN else "")
            raise ValueError(f"{len(unknown)} ids are not nodes of the graph: {shown}; nodes_ holds those that are")
        return np.array(numbers, dtype=np.intp)

    def _find(self, node: Any) -> int | None:
        if self._holds(node):
            return self._number[node]
        return next((self._number[form] for form in forms(node) if self._holds(form)), None)

    def edges_of_others(
        self, out_edges: Any, in_edges: Any, dtype: np.dtype
    ) -> tuple[np.ndarray | None, sparse.csr_array, sparse.csr_array]:
        """Ids of new nodes, if they have any, edges from them and edges to them, each as sparse rows over the nodes."""
        given = [edges for edges in (out_edges, in_edges) if edges is not None]
        tables = [is_path_or_table(edges) for edges in given]
        rows = all(is_array_like(edges) and not isinstance(edges, Graph) for edges in given) and not any(tables)
        if not given or not (rows or all(tables)):
            kinds = " and ".join(type(edges).__name__ for edges in given) or "none"
            raise ValueError(
                f"edges of new nodes come as tables of edges or as rows over nodes_, not as {kinds}; this is "
                "not the graph of fit, which stands for itself"
            )
        if tables[0]:
            new, *sides = self._rows_of_tables(out_edges, in_edges)
        else:
            new, *sides = None, self._checked(out_edges, "X"), self._checked(in_edges, "in_edges")
        shape = next(side.shape for side in sides if side is not None)
        outward, inward = (sparse.csr_array(shape) if side is None else side for side in sides)
        if outward.shape != inward.shape:
            raise ValueError(
                f"X holds {outward.shape[0]} new nodes and in_edges {inward.shape[0]}; they must be the same ones"
            )
        return new, outward.astype(dtype, copy=False), inward.astype(dtype, copy=False)

    def _rows_of_tables(self, out_edges: Any, in_edges: Any) -> tuple[np.ndarray, sparse.csr_array, sparse.csr_array]:
        nothing = Edges(np.empty(0, dtype=object), np.empty(0, dtype=object), np.empty(0))
        outward, inward = (nothing if table is None else self._read(table) for table in (out_edges, in_edges))
        new, (numbers,) = number_nodes(np.concatenate([outward.source.astype(object), inward.target.astype(object)]))
        if not len(new):
            raise ValueError("the tables hold no edges, and so no new nodes")
        shape, first = (len(new), len(self)), len(outward.source)
        return (
            new,
            assembled(numbers[:first], self.numbers(outward.target), outward.weight, shape),
            assembled(numbers[first:], self.numbers(inward.source), inward.weight, shape),
        )

    def _read(self, table: Any) -> Edges:
        """Edges of a table; whole numbers in text are numbers if the nodes are."""
        edges = read_edges(table, known=self._number)
        if not is_text(table) or self.ids.dtype == object:
            return edges
        u, v = (np.array([int(id) if is_whole(id) else id for id in side], dtype=object) for side in edges[:2])
        return Edges(u, v, edges.weight)

    def _checked(self, edges: Any, name: str) -> sparse.csr_array | None:
        if edges is None:
            return None
        edges = sparse.csr_array(check_points(edges, name))
        if edges.shape[1] != len(self):
            raise ValueError(
                f"{name} has {edges.shape[1]} features, but DirectedGraphEmbedding is expecting {len(self)} features "
                "as input: a weight for every node of the graph, in the order of nodes_"
            )
        return edges
