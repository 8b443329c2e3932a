"""Link prediction: hide edges of a graph and evaluate how well a model predicts them."""

from collections.abc import Callable
from numbers import Integral, Real
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.metrics import average_precision_score, roc_auc_score
from sklearn.utils import check_random_state
from sklearn.utils._param_validation import Interval

from .._core import checked, count_of, row_numbers
from ..exceptions import LopsidedWarning, warn
from ..io import read_graph


class HiddenEdges(NamedTuple):
    """The remaining graph, the hidden edges and as many non-edges, both as arrays of sources and of targets."""

    adjacency: sparse.csr_array
    positive: tuple[np.ndarray, np.ndarray]
    negative: tuple[np.ndarray, np.ndarray]


@checked(share=[Interval(Real, 0, 1, closed="neither")], reversed_share=[Interval(Real, 0, 1, closed="both")])
def hide_edges(
    adjacency: Any, *, share: float = 0.1, reversed_share: float = 0.5, random_state: Any = 0
) -> HiddenEdges:
    """Split a graph for link prediction: hide a random sample of its edges and draw as many non-edges.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        The graph. Self-loops are neither hidden nor drawn as non-edges. If every edge has its reverse, those of hidden
        edges stay, with a :class:`~lopsided.exceptions.LopsidedWarning`.
    share : float, default=0.1
        Fraction of the edges to hide.
    reversed_share : float, default=0.5
        Fraction of the negative pairs that are reversed hidden edges (where the reverse is not an edge); only a
        method that models direction can tell them from the positive pairs. The others are drawn uniformly from all
        non-edges.
    random_state : int, RandomState instance or None, default=0
        Seed for the hidden edges and the negative pairs.

    Returns
    -------
    HiddenEdges
        ``adjacency`` of the remaining graph, and pairs (u, v) of row numbers: ``positive``, the hidden edges, and
        ``negative``, as many non-edges.

    Examples
    --------
    >>> from lopsided.datasets import make_citation_graph
    >>> from lopsided.graphs import hide_edges
    >>> graph, _ = make_citation_graph(300, random_state=0)
    >>> hidden = hide_edges(graph, share=0.1)
    >>> graph.nnz - hidden.adjacency.nnz == len(hidden.positive[0]) == len(hidden.negative[0])
    True
    """
    A = read_graph(adjacency).adjacency
    n, rng = A.shape[0], check_random_state(random_state)
    u, v = row_numbers(A), A.indices.astype(np.int64)
    candidates = np.flatnonzero(u != v)
    hidden = np.sort(rng.permutation(candidates)[: round(share * len(candidates))])
    if not len(hidden):
        raise ValueError(f"share={share} of {count_of(len(candidates), 'edge')} hides none; raise it")
    known = np.sort(u * n + v)
    kept = np.delete(np.arange(len(u)), hidden)
    left = sparse.csr_array((A.data[kept], (u[kept], v[kept])), shape=A.shape)
    turned = v[hidden] * n + u[hidden]
    turned = rng.permutation(turned[~contains(known, turned)])[: round(reversed_share * len(hidden))]
    others = free_pairs(np.sort(np.concatenate([known, turned])), n, len(hidden) - len(turned), rng)
    pairs = np.concatenate([turned, others])
    if contains(known, v * n + u).all():
        warn(
            "every edge has its reverse, as in an undirected graph, so the reverse of a hidden edge remains and gives "
            "it away; hide edges of one triangle, scipy.sparse.triu(adjacency), and add the transpose of the remaining "
            "graph before fitting",
            LopsidedWarning,
        )
    return HiddenEdges(left, (u[hidden], v[hidden]), (pairs // n, pairs % n))


class LinkPrediction(NamedTuple):
    """How well scores separate hidden edges from non-edges; hits is the share above the k-th highest non-edge."""

    auc: float
    average_precision: float
    hits: float


@checked(hidden=[HiddenEdges])
def evaluate_links(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray], hidden: HiddenEdges, *, k: int = 100
) -> LinkPrediction:
    """Evaluate edge scores, such as ``model.score_edges`` of a model fitted on ``hidden.adjacency``.

    Parameters
    ----------
    score : callable
        score(u, v) returns one number per pair of nodes.
    hidden : HiddenEdges
        Positive and negative pairs, from ``hide_edges``.
    k : int, default=100
        k of hits@k. If it exceeds the number of negative pairs, that number is used, with a warning.

    Returns
    -------
    LinkPrediction
        Area under the ROC curve, average precision and hits@k, the fraction of the hidden edges with a score above the
        k-th highest score of the negative pairs.

    Examples
    --------
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.datasets import make_citation_graph
    >>> from lopsided.graphs import evaluate_links, hide_edges
    >>> graph, _ = make_citation_graph(300, random_state=0)
    >>> hidden = hide_edges(graph)
    >>> model = DirectedGraphEmbedding(n_components=16).fit(hidden.adjacency)
    >>> evaluate_links(model.score_edges, hidden, k=20).auc > 0.7
    True
    """
    if not callable(score):
        raise TypeError(f"score must be a function of pairs, not a {type(score).__name__}; pass model.score_edges")
    positive, negative = (np.asarray(score(*pairs), dtype=float) for pairs in (hidden.positive, hidden.negative))
    for pairs, scores in ((hidden.positive, positive), (hidden.negative, negative)):
        if scores.shape != pairs[0].shape:
            raise ValueError(f"score returned shape {scores.shape} for {len(pairs[0])} pairs, not one score each")
    if not (isinstance(k, Integral) and k >= 1):
        raise ValueError(f"k={k} must be a whole number from 1 to {len(negative)}, the number of negative pairs")
    if k > len(negative):
        warn(f"k={k} exceeds the number of negative pairs; using hits@{len(negative)}", LopsidedWarning)
        k = len(negative)
    truth, scores = np.repeat([1, 0], [len(positive), len(negative)]), np.concatenate([positive, negative])
    hits = (positive > np.partition(negative, -k)[-k]).mean()
    return LinkPrediction(
        float(roc_auc_score(truth, scores)), float(average_precision_score(truth, scores)), float(hits)
    )


def contains(known: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Which pairs occur in the sorted array of known pairs."""
    place = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
    return known[place] == pairs


def free_pairs(taken: np.ndarray, n: int, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Draw distinct pairs of different nodes that are not taken, uniformly at random."""
    free = n * (n - 1) - np.count_nonzero(taken // n != taken % n)
    if count > free:
        raise ValueError(f"{count} pairs without an edge are needed, but there are only {free}; hide fewer edges")
    if 2 * (count + len(taken)) > n * n:
        pairs = np.setdiff1d(np.arange(n * n), taken)
        return rng.permutation(pairs[pairs // n != pairs % n])[:count]
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        u, v = rng.randint(n, size=(2, 2 * count)).astype(np.int64)
        pairs = (u * n + v)[u != v]
        found = np.unique(np.concatenate([found, pairs[~contains(taken, pairs)]]))
    return rng.permutation(found)[:count]
