"""Ids of the nodes of a graph, and the edges that others have with them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from scipy import sparse

from ..kernels.points import check_points
from .reading import Edges, assembled, is_networkx, is_path_or_table, number_nodes, read_edges

SHOWN = 5


class Nodes:
    """The nodes of a graph in their order, found by their ids."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids
        self._number = {node: i for i, node in enumerate(ids.tolist())}

    def __len__(self) -> int:
        return len(self.ids)

    def is_id(self, node: Any) -> bool:
        """Whether it is one id, a tuple that names a node among them, and not a sequence of ids."""
        return (
            isinstance(node, str)
            or not isinstance(node, Iterable)
            or (isinstance(node, tuple) and node in self._number)
        )

    def numbers(self, ids: Any) -> np.ndarray:
        """Rows of one node or of several, given by their ids."""
        ids = [ids] if self.is_id(ids) else list(ids)
        ids = [node.item() if isinstance(node, np.generic) else node for node in ids]
        unknown = [node for node in ids if node not in self._number]
        if unknown:
            shown = ", ".join(map(repr, unknown[:SHOWN])) + (", ..." if len(unknown) > SHOWN else "")
            raise ValueError(f"{len(unknown)} ids are not nodes of the graph: {shown}; nodes_ holds those that are")
        return np.array([self._number[node] for node in ids], dtype=np.intp)

    def edges_of_others(
        self, out_edges: Any, in_edges: Any, dtype: np.dtype
    ) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Edges from new nodes and edges to them, each as sparse rows over the nodes; None is no edges."""
        if is_networkx(out_edges) or is_networkx(in_edges):
            raise ValueError("edges of new nodes come as tables of edges or as rows; this is not the graph of fit")
        if is_path_or_table(out_edges) or is_path_or_table(in_edges):
            rows = self._rows_of_tables(out_edges, in_edges)
        else:
            rows = self._checked(out_edges, "X"), self._checked(in_edges, "in_edges")
        given = next(side for side in rows if side is not None)
        outward, inward = (sparse.csr_array(given.shape) if side is None else side for side in rows)
        if outward.shape != inward.shape:
            raise ValueError(
                f"X holds {outward.shape[0]} new nodes and in_edges {inward.shape[0]}; they must be the same ones"
            )
        return outward.astype(dtype, copy=False), inward.astype(dtype, copy=False)

    def _rows_of_tables(self, out_edges: Any, in_edges: Any) -> tuple[sparse.csr_array, sparse.csr_array]:
        nothing = Edges(np.empty(0, dtype=object), np.empty(0, dtype=object), np.empty(0))
        outward, inward = (nothing if table is None else read_edges(table) for table in (out_edges, in_edges))
        new, (numbers,) = number_nodes(np.concatenate([outward.source.astype(object), inward.target.astype(object)]))
        if not len(new):
            raise ValueError("the tables hold no edges, and so no new nodes")
        shape, first = (len(new), len(self)), len(outward.source)
        return (
            assembled(numbers[:first], self.numbers(outward.target), outward.weight, shape),
            assembled(numbers[first:], self.numbers(inward.source), inward.weight, shape),
        )

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
