"""Read directed graphs from matrices, networkx graphs, tables of edges and files."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import canonical
from ..kernels import check_adjacency
from .edge_tables import Edges, as_whole_numbers, checked_weights, is_path_or_table, is_text, read_edges
from .ids import as_ids, is_missing

LIST_OF_EDGES = "a list of edges is given as a table: pandas.DataFrame(edges, columns=['source', 'target'])"


class Graph(NamedTuple):
    """A directed graph: A[i, j] is the weight of the edge from nodes[i] to nodes[j].

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        Edge weights; ``read_graph`` returns a CSR array.
    nodes : sequence of n_nodes ids
        Distinct hashable ids, such as numbers or strings.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.graphs import Graph
    >>> graph = Graph(np.array([[0, 1, 1], [0, 0, 1], [1, 0, 0]]), ["ann", "bob", "eve"])
    >>> DirectedGraphEmbedding(n_components=2).fit(graph).nodes_.tolist()
    ['ann', 'bob', 'eve']
    """

    adjacency: sparse.csr_array
    nodes: np.ndarray


def read_graph(
    graph: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    header: bool | None = None,
) -> Graph:
    """Read a directed graph from a matrix, a networkx graph, a table of edges or a file.

    Parameters
    ----------
    graph : sparse matrix, array, networkx graph, table or path
        One of: a square adjacency matrix, with nodes numbered from 0; a ``Graph``, an adjacency matrix with node ids; a
        networkx graph (undirected edges count in both directions); a pandas, polars or pyarrow table of edges; a path
        to such a table, as CSV or TSV (.csv, .tsv), Parquet (.parquet, requires the extra ``lopsided[graph]``) or
        whitespace-separated edge list (.edgelist, .edges, .txt). Text files may be compressed (.gz).
    source, target, weight : str or None, default=None
        Column names of a table. None looks for columns named source (src, from), target (dst, to) and weight (w,
        value); failing that, it uses the first two columns other than the weight and, if there are three, the third as
        weight. Unnamed columns, such as an index written by pandas, are skipped. Without a weight column all weights
        are 1. For networkx graphs ``weight`` is the edge attribute, "weight" by default.
    header : bool or None, default=None
        Whether the first line of a text file holds the column names. None detects this, see Notes.

    Returns
    -------
    Graph
        ``adjacency``, a CSR array, and ``nodes``, the ids in the order of the matrix, of ``graph.nodes``, or of first
        appearance in the edges.

    Notes
    -----
    Weights of repeated edges are added. Self-loops are kept. Edges of weight zero are dropped, but their nodes stay.

    In text files, ids are read as integers if all of them are integers, and as strings otherwise. Lines that begin with
    # are comments. The first line is a header if it contains the usual or the given column names, if it has no number
    although some column is otherwise numeric, or if it has no digit although all ids have one; but if one of its ids
    occurs in another line, only names and numbers beyond the first two columns make it a header. A first line that
    meets none of these conditions, but whose ids occur in no other line, is read as an edge with a
    :class:`~lopsided.exceptions.LopsidedWarning`.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.graphs import read_graph
    >>> read_graph(np.array([[0.0, 2.0], [0.0, 0.0]])).adjacency.toarray()
    array([[0., 2.],
           [0., 0.]])
    """
    if header is not None and not is_text(graph):
        raise ValueError(f"header={header} is for text files, whose first line may be one; leave it out")
    if is_path_or_table(graph):
        edges = read_edges(graph, source=source, target=target, weight=weight, header=header)
        if not len(edges.source):
            raise ValueError("the graph has no edges, and so no nodes; a table of edges needs at least one row")
        u, v = as_whole_numbers(edges.source, edges.target) if is_text(graph) else edges[:2]
        return graph_of(Edges(u, v, edges.weight))
    for role, name in (("source", source), ("target", target)):
        if name is not None:
            raise ValueError(f"{role}={name!r} names a column of a table, not of {type(graph).__name__}")
    if is_networkx(graph):
        return _from_networkx(graph, weight)
    if weight is not None:
        raise ValueError(f"weight={weight!r} names a column or an attribute, which {type(graph).__name__} has not")
    if _is_list_of_edges(graph):
        raise ValueError(LIST_OF_EDGES)
    adjacency, ids = graph if isinstance(graph, Graph) else (graph, None)
    if not is_array_like(adjacency):
        raise TypeError(
            f"{type(adjacency).__name__} is no graph; give a square array or sparse matrix, Graph(adjacency, nodes), "
            "a networkx graph, a table of edges (pandas, polars, pyarrow) or a path to it; of hide_edges its .adjacency"
        )
    A = _without_zeros(canonical(sparse.csr_array(check_adjacency(adjacency))))
    return Graph(A, np.arange(A.shape[0]) if ids is None else _an_id_each(ids, A.shape[0]))


def is_networkx(graph: Any) -> bool:
    """Whether graph follows the networkx interface."""
    return hasattr(graph, "is_directed") and hasattr(graph, "edges")


def is_array_like(adjacency: Any) -> bool:
    """Whether adjacency is a matrix, or a sequence that may hold the rows of one."""
    if sparse.issparse(adjacency) or hasattr(adjacency, "__array__"):
        return True
    return isinstance(adjacency, Sequence) and all(getattr(row, "ndim", 1) < 2 for row in adjacency)


def graph_of(edges: Edges) -> Graph:
    """The graph with the given edges, nodes in order of first appearance."""
    nodes, (rows, columns) = number_nodes(edges.source, edges.target)
    return Graph(assembled(rows, columns, edges.weight, (len(nodes), len(nodes))), nodes)


def number_nodes(*sides: np.ndarray) -> tuple[np.ndarray, list[np.ndarray]]:
    """Distinct ids in order of first appearance, row by row, and each side encoded as positions in them."""
    kinds = {side.dtype.kind for side in sides}
    ids = np.stack([side.astype(object) if len(kinds) > 1 else side for side in sides], axis=1).ravel()
    if ids.dtype == object:
        known: dict[Any, int] = {}
        try:
            codes = np.fromiter((known.setdefault(node, len(known)) for node in ids.tolist()), np.intp, len(ids))
        except TypeError as error:
            raise TypeError(f"ids of nodes must be hashable, like numbers, texts and tuples: {error}") from error
        nodes = np.fromiter(known, dtype=object, count=len(known))
    else:
        nodes, first, codes = np.unique(ids, return_index=True, return_inverse=True)
        order = np.argsort(first)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        nodes, codes = nodes[order], rank[codes]
    return nodes, list(codes.reshape(-1, len(sides)).T)


def assembled(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """CSR array of the given edges; repeated edges are added, entries of zero dropped."""
    return _without_zeros(canonical(sparse.csr_array(sparse.coo_array((weights, (rows, columns)), shape=shape))))


def _without_zeros(A: sparse.csr_array) -> sparse.csr_array:
    if not A.data.all():
        A = A.copy()
        A.eliminate_zeros()
    return A


def _is_list_of_edges(graph: Any) -> bool:
    """Whether graph is a collection of edges (pairs or triples) rather than a list of matrix rows.

    Where the lengths also fit a square matrix, tuples and rows that begin with a string are taken for edges.
    """
    if not isinstance(graph, (list, tuple, set, frozenset)) or isinstance(graph, Graph) or not graph:
        return False
    if not all(isinstance(edge, (list, tuple)) and len(edge) in (2, 3) for edge in graph):
        return False
    square = isinstance(graph, (list, tuple)) and all(len(edge) == len(graph) for edge in graph)
    return not square or any(isinstance(edge, tuple) or isinstance(edge[0], str) for edge in graph)


def _an_id_each(nodes: Any, n: int) -> np.ndarray:
    """Check that there are n distinct ids, none of them missing."""
    ids = as_ids(nodes)
    different = len(number_nodes(ids)[0])
    if len(ids) != n or different != n or any(map(is_missing, ids.tolist())):
        raise ValueError(
            f"the adjacency has {n} nodes, and each needs an id of its own; {len(ids)} are given, {different} of them "
            "different, and None or nan is none"
        )
    return ids


def _from_networkx(graph: Any, weight: str | None) -> Graph:
    nodes = list(graph.nodes)
    if not nodes:
        raise ValueError("the graph has no nodes")
    missing = next(filter(is_missing, nodes), None)
    if missing is not None:
        raise ValueError(
            f"node {missing} is no id but a missing one, as from_pandas_edgelist makes of cells without any, and its "
            f"{graph.degree(missing)} edges may be of different nodes; drop them, or name the nodes"
        )
    if weight is not None and graph.edges and not any(weight in data for *_, data in graph.edges(data=True)):
        names = sorted({str(name) for *_, data in graph.edges(data=True) for name in data})
        raise ValueError(f"no edge has the attribute weight={weight!r}; edges have {names or 'none'}")
    number = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=weight or "weight", default=1))
    rows = np.fromiter((number[u] for u, _, _ in edges), np.intp, len(edges))
    columns = np.fromiter((number[v] for _, v, _ in edges), np.intp, len(edges))
    weights = checked_weights([w for *_, w in edges])
    if not graph.is_directed():
        other = rows != columns
        rows, columns = np.concatenate([rows, columns[other]]), np.concatenate([columns, rows[other]])
        weights = np.concatenate([weights, weights[other]])
    return Graph(assembled(rows, columns, weights, (len(nodes), len(nodes))), as_ids(nodes))
