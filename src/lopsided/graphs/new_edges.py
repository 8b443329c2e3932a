"""Edges of new nodes: validation, and the known nodes that new ones reach through each other."""

from __future__ import annotations

from typing import Any, NamedTuple, cast

import numpy as np
from scipy import sparse

from .._core import check_points, count_of, row_sums, scale_rows
from ..exceptions import LopsidedWarning, warn
from ..io import Edges, Graph, assembled, factorized, holds_edges, is_array_like, is_text, read_edges
from .node_index import NodeIndex, shown

NOTHING = np.empty(0, dtype=np.intp)
Rows = tuple[np.ndarray | None, sparse.csr_array, sparse.csr_array, sparse.csr_array]
NO_EDGES = Edges(NOTHING, NOTHING, np.empty(0), np.empty(0, dtype=object))


class NewEdges(NamedTuple):
    """Edges of b new nodes: from them and to them, as rows over the n known nodes, and among them."""

    ids: np.ndarray | None  # None if the edges came as rows
    outward: sparse.csr_array  # (b, n)
    inward: sparse.csr_array  # (b, n)
    among: sparse.csr_array  # (b, b), row i holds the edges from new node i to other new nodes
    given: tuple[bool, bool]  # whether the caller gave edges from new nodes, and edges to them

    def names(self) -> np.ndarray:
        """Ids of the new nodes, or their row numbers."""
        return np.arange(self.outward.shape[0]) if self.ids is None else self.ids

    def to_known(self) -> tuple[sparse.csr_array, sparse.csr_array]:
        """Edges from and to the new nodes, in which known nodes stand in for new ones.

        A new node that others link to is replaced by the known nodes that have edges with it, in proportion to their
        weights, or if there are none by those of its new neighbours, and so on. Total weights stay the same.
        """
        if not self.among.nnz:
            return self.outward, self.inward
        mutual = sparse.csr_array(abs(self.among) + abs(self.among.T))
        stand_in = _rows_that_sum_to_one(sparse.csr_array(abs(self.outward) + abs(self.inward)))
        while True:
            missing = np.diff(stand_in.indptr) == 0
            further = _rows_that_sum_to_one(
                sparse.csr_array(sparse.diags_array(missing.astype(stand_in.dtype)) @ mutual @ stand_in)
            )
            if not further.nnz:
                break
            stand_in = sparse.csr_array(cast(Any, stand_in) + further)
        known: Any = stand_in
        outward, inward = self.outward + self.among @ known, self.inward + self.among.T @ known
        return sparse.csr_array(outward), sparse.csr_array(inward)


def edges_of_new(index: NodeIndex, out_edges: Any, in_edges: Any, dtype: np.dtype, unknown: str) -> NewEdges:
    """Edges from and to new nodes, from tables of edges or from rows over known nodes.

    In tables, new nodes may have edges among themselves. Other unknown ids are refused, or with
    unknown="ignore" their edges are left out with a warning.
    """
    tables_or_rows = [edges for edges in (out_edges, in_edges) if edges is not None]
    if not (isinstance(unknown, str) and unknown in ("error", "ignore")):
        raise ValueError(f"unknown={unknown!r} is neither 'error' nor 'ignore'")
    if not tables_or_rows:
        raise ValueError("no edges of new nodes are given; pass X, in_edges or both")
    tables = [holds_edges(edges) for edges in tables_or_rows]
    if all(tables):
        found = _from_tables(index, out_edges, in_edges, ignore=unknown == "ignore")
    elif any(tables) or not all(is_array_like(edges) and not isinstance(edges, Graph) for edges in tables_or_rows):
        kinds = " and ".join(type(edges).__name__ for edges in tables_or_rows)
        raise ValueError(
            f"pass edges of new nodes as tables of edges or as rows over nodes_, not as {kinds}; the vectors of the "
            "fitted nodes are in source_embedding_ and target_embedding_"
        )
    else:
        found = _from_rows(index, out_edges, in_edges)
    ids, *edges = found
    outward, inward, among = (rows.astype(dtype, copy=False) for rows in edges)
    given = out_edges is not None or among.nnz > 0, in_edges is not None or among.nnz > 0
    return NewEdges(ids, outward, inward, among, given)


def _from_rows(index: NodeIndex, out_edges: Any, in_edges: Any) -> Rows:
    named = {"X": out_edges, "in_edges": in_edges}
    sides = [_checked(index, edges, name) for name, edges in named.items() if edges is not None]
    nothing = sparse.csr_array(sides[0].shape)
    outward, inward = (nothing if out_edges is None else sides[0]), (nothing if in_edges is None else sides[-1])
    if outward.shape != inward.shape:
        raise ValueError(
            f"X holds {outward.shape[0]} new nodes and in_edges {inward.shape[0]}; they must be the same nodes"
        )
    return None, outward, inward, sparse.csr_array((outward.shape[0],) * 2)


def _checked(index: NodeIndex, edges: Any, name: str) -> sparse.csr_array:
    edges = sparse.csr_array(check_points(edges, name))
    if edges.shape[1] != len(index):
        raise ValueError(
            f"{name} has {edges.shape[1]} features, but DirectedGraphEmbedding is expecting {len(index)} features "
            "as input: a weight for every node of the graph, in the order of nodes_"
        )
    return edges


def _from_tables(index: NodeIndex, out_edges: Any, in_edges: Any, *, ignore: bool) -> Rows:
    """Ids of new nodes, and their edges as rows; every edge of a table has a new node at one end."""
    outward, inward = (NO_EDGES if table is None else _read_table(index, table) for table in (out_edges, in_edges))
    new_ends = np.concatenate([outward.nodes[outward.source], inward.nodes[inward.target]])
    other_ends = np.concatenate([outward.nodes[outward.target], inward.nodes[inward.source]])
    weights = np.concatenate([outward.weight, inward.weight])
    is_out = np.arange(len(new_ends)) < len(outward.source)
    rows, new = factorized(new_ends)
    if not len(new):
        raise ValueError("the tables hold no edges, hence no new nodes")
    known = [node for node in new.tolist() if node in index]
    if known:
        taken = count_of(len(known), "new node has an id", "new nodes have ids")
        raise ValueError(
            f"{taken} of nodes of the graph: {shown(known)}; give new nodes other ids. The vectors of the "
            "graph's nodes are in source_embedding_ and target_embedding_"
        )
    find, n, b = index.extended(new).find, len(index), len(new)  # new nodes are numbered from n
    numbers = (find(node) for node in other_ends.tolist())
    columns = np.array([-1 if number is None else number for number in numbers], dtype=np.intp)
    if (columns < 0).any():
        _refuse_or_warn(other_ends[columns < 0].tolist(), ignore)
    is_known, is_new = (columns >= 0) & (columns < n), columns >= n

    def edges(chosen: np.ndarray, source: np.ndarray, target: np.ndarray, width: int) -> sparse.csr_array:
        return assembled(source[chosen], target[chosen], weights[chosen], (b, width))

    sources, targets = np.where(is_out, [rows, columns - n], [columns - n, rows])
    to_known, from_known = (edges(is_known & side, rows, columns, n) for side in (is_out, ~is_out))
    return new, to_known, from_known, edges(is_new, sources, targets, b)


def _refuse_or_warn(unknown: list[Any], ignore: bool) -> None:
    if not ignore:
        found = count_of(len(unknown), "id is not a node", "ids are not nodes")
        raise ValueError(
            f"{found} of the graph: {shown(unknown)}; nodes_ lists the known ids. "
            "unknown='ignore' leaves their edges out"
        )
    edges = count_of(len(unknown), "edge of an unknown id is", "edges of unknown ids are")
    warn(f"{edges} left out: {shown(unknown)}", LopsidedWarning)


def _read_table(index: NodeIndex, table: Any) -> Edges:
    """Edges of a table; integers in text files become numbers if the known ids are numbers."""
    edges = read_edges(table, known=index)
    nodes = edges.nodes.astype(object)
    if is_text(table):
        nodes[:] = [index.of_text(node) for node in nodes]
    return edges._replace(nodes=nodes)


def _rows_that_sum_to_one(edges: sparse.csr_array) -> sparse.csr_array:
    """Rows divided by their sums, without entries that are zero."""
    edges.eliminate_zeros()
    sums = row_sums(edges.data, edges)
    return scale_rows(edges, 1 / (sums + (sums == 0)))
