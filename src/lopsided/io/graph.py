"""Read directed graphs from matrices, networkx graphs, tables of edges and files."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import AdjacencyBlocks, is_lazy
from ..kernels import check_adjacency
from .edges import checked_weights, holds_edges, is_path, is_text, read_edges
from .ids import as_ids, factorized, is_missing, warn_of_twins, whole_numbers


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
    graph : sparse matrix, array, networkx graph, table, list or path
        One of: a square adjacency matrix, with nodes numbered from 0; a ``Graph``, or a square pandas.DataFrame with
        the same labels on rows and columns, in any order; a networkx graph (undirected edges count in both directions);
        a pandas, polars or pyarrow table of edges; a list of tuples (source, target[, weight]); the path of a table of
        edges, as CSV or TSV (.csv, .tsv), whitespace-separated edge list (.edgelist, .edges, .txt), all of which may be
        compressed (.gz), or Parquet (.parquet). Files require the extra ``lopsided[graph]``.
    source, target, weight : str or None, default=None
        Column names of a table. None means source (src, from), target (dst, to) and weight (w, value, count, amount)
        or, failing that, names that say a direction, such as sender and receiver or to_id and from_id, or else the
        order of the columns, without unnamed ones such as an index written by pandas, and without a third one that is
        named like a time. Without a weight column all weights are 1. The logger ``lopsided.io`` says at the level
        INFO what was chosen. For networkx graphs ``weight`` is the edge attribute, "weight" by default.
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
    # are comments. If the separator that the file extension promises is absent from the first line, another one is
    guessed. Weights like 4,45 have a decimal comma where commas do not separate cells. The first line is a header if it
    contains the usual or the given column names, if it has no number although some column is otherwise numeric, if it
    has no digit although all ids have one, or if its ids occur in no other line although those of 95 % of the lines do;
    but if one of its ids occurs in another line, only names and numbers beyond the first two columns make it a header.
    Otherwise it is an edge, with a :class:`~lopsided.exceptions.LopsidedWarning` if its ids occur in no other line. The
    whole file is held in memory.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.io import read_graph
    >>> read_graph(np.array([[0.0, 2.0], [0.0, 0.0]])).adjacency.toarray()
    array([[0., 2.],
           [0., 0.]])
    >>> read_graph([("ann", "bob"), ("bob", "eve")]).nodes.tolist()
    ['ann', 'bob', 'eve']
    """
    if header is not None and not is_text(graph):
        raise ValueError(f"header={header} is for text files only; leave it out")
    if isinstance(graph, Graph) and isinstance(graph.adjacency, AdjacencyBlocks):
        return graph
    if is_lazy(graph) or (is_path(graph) and Path(graph).is_dir()):
        raise TypeError(
            "edges in dask, in an Arrow dataset or in a folder of parquet files must be stored in blocks first: "
            "graph = lopsided.distributed.store_graph(edges, folder)"
        )
    if is_adjacency_table(graph):
        table = graph[list(graph.index)] if graph.columns.is_unique else graph
        graph = Graph(table.to_numpy(), graph.index)
    if holds_edges(graph):
        names = {"source": source, "target": target, "weight": weight}
        return _from_table(graph, {role: name for role, name in names.items() if name is not None}, header)
    for role, name in (("source", source), ("target", target)):
        if name is not None:
            raise ValueError(f"{role}={name!r} names a column of a table, not of {type(graph).__name__}")
    if is_networkx(graph):
        return _from_networkx(graph, weight)
    if weight is not None:
        raise ValueError(f"weight={weight!r} names a column or an attribute, but a {type(graph).__name__} has none")
    return _from_matrix(graph)


def is_adjacency_table(table: Any) -> bool:
    """Whether table is a pandas.DataFrame of numbers with the same labels on rows and columns, in any order."""
    if not hasattr(table, "iloc") or getattr(table, "ndim", 0) != 2 or len(table.columns) == 0:
        return False
    if not all(kind.kind in "biuf" for kind in table.dtypes):
        return False
    if len(table.columns) == len(table) and set(table.index) == set(table.columns):
        if len(table) in (2, 3) and list(table.columns) == list(range(len(table))):
            raise ValueError(
                f"the table has {len(table)} rows and {len(table)} unnamed columns, and may be an adjacency matrix or "
                "a list of edges; pass table.to_numpy() for a matrix, or name the columns source and target"
            )
        return True
    both = next((name for name in table.columns if isinstance(name, str) and name in table.index), None)
    if both is not None:
        raise ValueError(
            f"{both!r} labels a row and a column, as in an adjacency matrix, but those of rows and of columns "
            "differ; pass table.reindex(index=ids, columns=ids, fill_value=0), or drop the index of a table of edges"
        )
    return False


def is_networkx(graph: Any) -> bool:
    """Whether graph follows the networkx interface."""
    return hasattr(graph, "is_directed") and hasattr(graph, "edges")


def is_array_like(adjacency: Any) -> bool:
    """Whether adjacency is a matrix, or a sequence that may hold the rows of one."""
    if sparse.issparse(adjacency) or hasattr(adjacency, "__array__"):
        return True
    return isinstance(adjacency, Sequence) and all(getattr(row, "ndim", 1) < 2 for row in adjacency)


def assembled(rows: np.ndarray, columns: np.ndarray, weights: np.ndarray, shape: tuple[int, int]) -> sparse.csr_array:
    """CSR array of the given edges; repeated edges are added, entries of zero dropped."""
    A = sparse.csr_array(sparse.coo_array((weights, (rows, columns)), shape=shape))
    if not np.isfinite(A.data).all():
        raise ValueError(
            "the weights of a repeated edge overflow when they are added; divide all weights by a constant"
        )
    A.eliminate_zeros()
    return A


def _from_table(table: Any, names: dict[str, str], header: bool | None) -> Graph:
    """The graph of a table or list of edges, or of a file that holds one, with the given names of columns."""
    edges = read_edges(table, names, header)
    if not len(edges.source):
        what = repr(str(table)) if is_path(table) else "the graph"
        raise ValueError(f"{what} has no edges, hence no nodes; a table of edges needs at least one row")
    nodes = whole_numbers(edges.nodes) if is_text(table) else edges.nodes
    if is_text(table):
        warn_of_twins(nodes)
    return Graph(assembled(edges.source, edges.target, edges.weight, 2 * (len(nodes),)), nodes)


def _from_matrix(graph: Any) -> Graph:
    """The graph of an adjacency matrix, with the ids of its nodes if it is a ``Graph``."""
    adjacency, ids = graph if isinstance(graph, Graph) else (graph, None)
    if not is_array_like(adjacency):
        raise TypeError(
            f"a {type(adjacency).__name__} is not a graph; pass an edge table (a DataFrame, a list of tuples or a "
            "path), a matrix, Graph(adjacency, nodes) or a networkx graph; for the result of hide_edges, its .adjacency"
        )
    entries = sparse.coo_array(check_adjacency(adjacency))
    A = assembled(entries.row, entries.col, entries.data, entries.shape)
    return Graph(A, np.arange(A.shape[0]) if ids is None else _checked_ids(ids, A.shape[0]))


def _checked_ids(nodes: Any, n: int) -> np.ndarray:
    """Check that there are n distinct ids, none of them missing."""
    ids = as_ids(nodes)
    distinct = len(factorized(ids)[1])
    if len(ids) != n or distinct != n or any(map(is_missing, ids.tolist())):
        raise ValueError(
            f"the adjacency has {n} nodes, and each needs an id of its own; got {len(ids)} ids, {distinct} of them "
            "distinct (None and nan are not ids)"
        )
    return ids


def _from_networkx(graph: Any, weight: str | None) -> Graph:
    """The graph of networkx, with weights from an edge attribute; undirected edges count both ways."""
    nodes = list(graph.nodes)
    if not nodes:
        raise ValueError("the graph has no nodes")
    missing = next(filter(is_missing, nodes), None)
    if missing is not None:
        raise ValueError(
            f"a node id is missing ({missing}), so its {graph.degree(missing)} edges may belong to different nodes; "
            "drop them, or name the nodes"
        )
    if weight is not None and graph.edges and not any(weight in data for *_, data in graph.edges(data=True)):
        names = sorted({str(name) for *_, data in graph.edges(data=True) for name in data})
        raise ValueError(f"no edge has the attribute weight={weight!r}; edges have {names or 'none'}")
    number = {node: i for i, node in enumerate(nodes)}
    edges = list(graph.edges(data=weight or "weight", default=1))
    if not graph.is_directed():
        edges += [(v, u, w) for u, v, w in edges if u != v]
    rows, columns = np.array([(number[u], number[v]) for u, v, _ in edges], dtype=np.intp).reshape(-1, 2).T
    weights = checked_weights([w for *_, w in edges])
    return Graph(assembled(rows, columns, weights, (len(nodes), len(nodes))), as_ids(nodes))
