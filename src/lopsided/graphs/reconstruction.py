"""Graph reconstruction from node embeddings, and its precision."""

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._core import FLOATS, blocks_of, budget_bytes, canonical, check_array, in_unit, row_numbers, safe_unit
from ..io import read_graph
from ..operators import Stored
from ..svd import factorise
from .decoder import BLOCK_BYTES, SCORE_BYTES

DECODERS = ("dot", "distance")


class Reconstruction(NamedTuple):
    """Largest column sum and largest singular value of the difference of two graphs, and precision of the edges."""

    norm_1: float
    norm_2: float
    precision: float


def reconstruct_graph(source: Any, target: Any, adjacency: Any, *, decoder: str = "dot") -> Reconstruction:
    """Reconstruct a graph from embeddings by linking each node to its best targets, as many as its out-degree.

    Parameters
    ----------
    source, target : arrays of shape (n_nodes, width)
        Source and target vectors. For methods with a single vector per node, pass the same array twice.
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        The graph. Weights and self-loops are ignored, and no node is linked to itself.
    decoder : {"dot", "distance"}, default="dot"
        Rank targets by the largest inner product or, as in the papers, by the smallest distance of source and target
        vector. The ``edge_vectors()`` of a DirectedGraphEmbedding with any ``decoder`` go with "dot".

    Returns
    -------
    Reconstruction
        ``norm_1`` and ``norm_2``, the largest absolute column sum and the largest singular value of the difference of
        the graphs, and ``precision``, the fraction of the reconstructed edges that are edges of the graph.

    Notes
    -----
    O(n^2 width) time, computed in blocks; no (n_nodes, n_nodes) array is formed.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.graphs import reconstruct_graph
    >>> A = np.roll(np.eye(4), 1, axis=1)
    >>> reconstruct_graph(A, np.eye(4), A)
    Reconstruction(norm_1=0.0, norm_2=0.0, precision=1.0)
    """
    source, target, A = _checked(source, target, adjacency, decoder)
    found = [
        np.argpartition(-row, k - 1)[:k]
        for rows, scores in _score_blocks(source, target, decoder)
        for row, k in zip(scores, np.diff(A.indptr)[rows], strict=True)
        if k
    ]
    indices = np.concatenate([np.empty(0, dtype=np.intp), *found])
    rebuilt: Any = sparse.csr_array((np.ones(A.nnz), indices, A.indptr), shape=A.shape)
    difference = canonical(sparse.csr_array(A - rebuilt))
    norm_1, norm_2 = abs(difference).sum(axis=0).max(), 0.0
    if norm_1 > 0:
        factors, _ = factorise(Stored(difference), 1, budget=budget_bytes(), rng=np.random.default_rng(0))
        norm_2 = factors.s[0]
    return Reconstruction(float(norm_1), float(norm_2), float(A.multiply(rebuilt).sum() / max(1, A.nnz)))


def precision_at_k(
    source: Any, target: Any, adjacency: Any, k: int | Sequence[int], *, decoder: str = "dot"
) -> np.ndarray:
    """Precision at k: fraction of edges among the k highest-scoring pairs of nodes in the whole graph, for each k.

    Parameters
    ----------
    source, target, adjacency, decoder
        As in ``reconstruct_graph``.
    k : int or sequence of int
        Numbers of pairs, between 1 and n_nodes (n_nodes - 1).

    Returns
    -------
    array of shape (number of k,)
        Precision for each k.

    Notes
    -----
    O(n^2 width) time, computed in blocks, and O(n + largest k) memory.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.graphs import precision_at_k
    >>> A = np.roll(np.eye(4), 1, axis=1)
    >>> precision_at_k(A, np.eye(4), A, k=[4, 8])
    array([1. , 0.5])
    """
    source, target, A = _checked(source, target, adjacency, decoder)
    counts, n = np.atleast_1d(k), len(source)
    if counts.dtype.kind not in "iu" or counts.min(initial=1) < 1 or counts.max(initial=0) > n * (n - 1):
        raise ValueError(f"k={k} must be whole numbers from 1 to {n * (n - 1)}, the number of pairs")
    most = counts.max(initial=1)
    best, edges = np.empty(0), np.empty(0, dtype=bool)
    for rows, scores in _score_blocks(source, target, decoder):
        flat = scores.ravel()
        top = np.argpartition(-flat, most - 1)[:most] if len(flat) > most else np.arange(len(flat))
        block = A[rows].toarray().ravel() > 0
        best, edges = np.concatenate([best, flat[top]]), np.concatenate([edges, block[top]])
        order = np.argsort(-best, kind="stable")[:most]
        best, edges = best[order], edges[order]
    return np.cumsum(edges)[counts - 1] / counts


def _checked(source: Any, target: Any, adjacency: Any, decoder: str) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
    """Validate the embeddings, and return them with the unweighted adjacency without self-loops."""
    if not (isinstance(decoder, str) and decoder in DECODERS):
        raise ValueError(f"decoder={decoder!r} is not one of {DECODERS}")
    source, target = (
        check_array(side, dtype=FLOATS, input_name=name) for side, name in ((source, "source"), (target, "target"))
    )
    A = read_graph(adjacency).adjacency
    if not len(source) == len(target) == A.shape[0] or source.shape[1] != target.shape[1]:
        raise ValueError(
            f"source {source.shape}, target {target.shape} and adjacency {A.shape} must have the same number of "
            "rows, and source and target the same number of columns"
        )
    rows = row_numbers(A)
    kept = rows != A.indices
    return source, target, sparse.csr_array((np.ones(kept.sum()), (rows[kept], A.indices[kept])), shape=A.shape)


def _score_blocks(source: np.ndarray, target: np.ndarray, decoder: str) -> Iterator[tuple[slice, np.ndarray]]:
    """Yield the scores of all targets for a block of sources, with -inf for the node itself."""
    if decoder == "distance":  # centring avoids cancellation, which loses nearly all float32 digits far from the origin
        centre = (source.mean(axis=0, dtype=float) + target.mean(axis=0, dtype=float)) / 2
        source, target = source - centre, target - centre
        units = 2 * [safe_unit(source, target)]
    else:
        units = [safe_unit(source), safe_unit(target)]
    source, target = in_unit(source, units[0]), in_unit(target, units[1])  # which changes no order of scores
    left, right = (np.einsum("ij,ij->i", side, side) / 2 for side in (source, target))
    for rows in blocks_of(len(source), SCORE_BYTES * len(source), BLOCK_BYTES):
        scores = source[rows] @ target.T
        if decoder == "distance":
            scores -= left[rows, None] + right
        scores[np.arange(len(scores)), np.arange(rows.start, rows.stop)] = -np.inf
        yield rows, scores
