"""What embeddings of a directed graph are good for: classifying nodes, rebuilding the graph, predicting links."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from numbers import Integral
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.linear_model import Ridge
from sklearn.metrics import average_precision_score, f1_score, roc_auc_score
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_array

from .._parallel import slices_of
from ..estimators.supervision import encoded
from ..kernels.points import FLOATS, canonical
from ..kernels.structure import row_numbers
from ..linalg import factorise
from ..operators import Stored, budget_bytes
from .reading import read_graph
from .scoring import BLOCK_ENTRIES
from .tables import is_missing

DECODERS = ("dot", "distance")


class Classification(NamedTuple):
    """F1 scores of each split, shape (n_splits,)."""

    micro_f1: np.ndarray
    macro_f1: np.ndarray


def classify_nodes(
    embedding: Any,
    labels: Any,
    *,
    n_splits: int = 10,
    train_size: float = 0.6,
    C: float = 1.0,
    multilabel: str = "top",
    random_state: Any = 0,
) -> Classification:
    """Classify nodes from their vectors by linear least-squares machines, one class against the rest.

    Parameters
    ----------
    embedding : array of shape (n_nodes, width)
        Vectors, for instance source and target vectors side by side.
    labels : array of shape (n_nodes,), or array or sparse matrix of zeros and ones of shape (n_nodes, n_labels)
        A class for each node, or any number of labels.
    n_splits : int, default=10
        Random splits in training and test nodes.
    train_size : float, default=0.6
        Share of the nodes in training.
    C : float, default=1.0
        Weight of the squared errors against |w|^2; the papers' gamma.
    multilabel : {"top", "sign"}, default="top"
        Several labels: the usual protocol gives each test node as many labels as it has, those of largest decisions;
        "sign" gives those with positive decisions and knows nothing of the test labels.
    random_state : int, RandomState instance or None, default=0
        Draws the splits.

    Returns
    -------
    Classification
        ``micro_f1`` and ``macro_f1`` of the test nodes, for each split. With one class for each node micro F1 is
        accuracy, and a class counts in macro F1 if a test node has it or is given it, as in scikit-learn.

    Notes
    -----
    An LS-SVM with the linear kernel is ridge regression on labels 1 and -1 with penalty 1 / C and a free intercept; it
    is solved in the smaller of both dimensions.
    """
    embedding = check_array(embedding, input_name="embedding")
    several = sparse.issparse(labels) or np.ndim(labels) == 2
    Y = _indicators(labels, several)
    if len(Y) != len(embedding):
        raise ValueError(f"embedding has {len(embedding)} rows and labels {len(Y)}; each node needs both")
    if multilabel not in ("top", "sign"):
        raise ValueError(f"multilabel={multilabel!r} is neither 'top' nor 'sign'")
    if n_splits < 1 or C <= 0:
        raise ValueError(f"n_splits={n_splits} must be at least 1, and C={C} positive")
    n_train = round(train_size * len(Y))
    if not 0 < n_train < len(Y):
        raise ValueError(f"train_size={train_size} of {len(Y)} nodes leaves none in training or none to test")
    rng, scores = check_random_state(random_state), []
    for _ in range(n_splits):
        order = rng.permutation(len(Y))
        train, test = order[:n_train], order[n_train:]
        machine = Ridge(alpha=1 / C).fit(embedding[train], 2.0 * Y[train] - 1)
        decisions = machine.predict(embedding[test]).reshape(len(test), -1)
        truth, found = Y[test], decisions > 0
        if not several:
            truth, found = truth.argmax(axis=1), decisions.argmax(axis=1)
        elif multilabel == "top":
            found = _largest(decisions, truth.sum(axis=1))
        scores.append([f1_score(truth, found, average=mean, zero_division=0) for mean in ("micro", "macro")])
    return Classification(*np.transpose(scores))


class Reconstruction(NamedTuple):
    """How far a rebuilt graph is from the graph."""

    norm_1: float
    """Largest sum of a column of |difference|, the induced norm."""
    norm_2: float
    """Largest singular value of the difference."""
    precision: float
    """Share of the rebuilt edges that are edges."""


def reconstruct_graph(source: Any, target: Any, adjacency: Any, *, decoder: str = "dot") -> Reconstruction:
    """Rebuild a graph from embeddings: each node gets its out-degree many best targets.

    Parameters
    ----------
    source, target : arrays of shape (n_nodes, width)
        Vectors; the same one twice for methods that have one for each node.
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        The graph; weights and self-loops are ignored, and no node is a candidate for itself.
    decoder : {"dot", "distance"}, default="dot"
        Best targets have the largest source . target, or the smallest distance from source to target (the papers').

    Notes
    -----
    O(n^2 width) time in blocks; no array of nodes x nodes is formed.
    """
    source, target, A = _checked(source, target, adjacency, decoder)
    degrees = np.diff(A.indptr)
    parts = []
    for rows, scores in _score_blocks(source, target, decoder):
        parts.append(_largest_entries(scores, degrees[rows]))
    rebuilt = sparse.vstack(parts, format="csr")
    difference = canonical(sparse.csr_array(A - rebuilt))
    hits = A.multiply(rebuilt).sum()
    norm_2 = 0.0
    if difference.nnz and abs(difference).max() > 0:
        operator = Stored(difference)
        norm_2 = float(factorise(operator, 1, budget=budget_bytes(), rng=np.random.default_rng(0))[0].s[0])
    return Reconstruction(float(abs(difference).sum(axis=0).max()), norm_2, float(hits / max(1, rebuilt.nnz)))


def precision_at_k(
    source: Any, target: Any, adjacency: Any, k: int | Sequence[int], *, decoder: str = "dot"
) -> np.ndarray:
    """The share of edges among the k pairs of nodes that score highest in the whole graph, for each k.

    Parameters as in ``reconstruct_graph``. O(n^2 width) time in blocks, memory O(n + largest k).
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


class HiddenEdges(NamedTuple):
    """A graph without some of its edges, and pairs of nodes (u, v) to tell apart."""

    adjacency: sparse.csr_array
    """What is left."""
    positive: tuple[np.ndarray, np.ndarray]
    """The hidden edges, sources and targets."""
    negative: tuple[np.ndarray, np.ndarray]
    """As many pairs that are no edges."""


def hide_edges(
    adjacency: Any, *, share: float = 0.1, reversed_share: float = 0.5, random_state: Any = 0
) -> HiddenEdges:
    """Hide some edges of a graph, to be predicted from the others.

    Parameters
    ----------
    adjacency : array or sparse matrix of shape (n_nodes, n_nodes)
        The graph. Self-loops are neither hidden nor asked for.
    share : float, default=0.1
        Share of the edges to hide.
    reversed_share : float, default=0.5
        Share of the negative pairs that are hidden edges turned round (where the turned edge is none): only a method
        that knows directions tells them apart. The others are drawn from all pairs that are no edges.
    random_state : int, RandomState instance or None, default=0
        Draws both.
    """
    A = read_graph(adjacency).adjacency
    n, rng = A.shape[0], check_random_state(random_state)
    if not 0 < share < 1 or not 0 <= reversed_share <= 1:
        raise ValueError(f"share={share} must lie between 0 and 1, reversed_share={reversed_share} from 0 to 1")
    u, v = row_numbers(A), A.indices.astype(np.int64)
    candidates = np.flatnonzero(u != v)
    hidden = np.sort(rng.permutation(candidates)[: round(share * len(candidates))])
    if not len(hidden):
        raise ValueError(f"share={share} of {len(candidates)} edges hides none; raise it")
    known = np.sort(u * n + v)
    kept = np.ones(len(u), dtype=bool)
    kept[hidden] = False
    left = sparse.csr_array((A.data[kept], (u[kept], v[kept])), shape=A.shape)
    turned = v[hidden] * n + u[hidden]
    turned = rng.permutation(turned[~_contains(known, turned)])[: round(reversed_share * len(hidden))]
    others = _free_pairs(np.sort(np.concatenate([known, turned])), n, len(hidden) - len(turned), rng)
    pairs = np.concatenate([turned, others])
    return HiddenEdges(left, (u[hidden], v[hidden]), (pairs // n, pairs % n))


class LinkPrediction(NamedTuple):
    """How well scores tell hidden edges from pairs that are none."""

    auc: float
    average_precision: float
    hits: float
    """Share of the hidden edges that score higher than the k-th best of the other pairs."""


def evaluate_links(
    score: Callable[[np.ndarray, np.ndarray], np.ndarray], hidden: HiddenEdges, *, k: int = 100
) -> LinkPrediction:
    """Judge scores of pairs of nodes, for instance ``model.score_edges`` of a model fitted on ``hidden.adjacency``.

    Parameters
    ----------
    score : callable
        score(u, v) gives a number for each pair of nodes.
    hidden : HiddenEdges
        Pairs to tell apart, from ``hide_edges``.
    k : int, default=100
        For hits@k.
    """
    positive, negative = (np.asarray(score(*pairs), dtype=float) for pairs in (hidden.positive, hidden.negative))
    for pairs, scores in ((hidden.positive, positive), (hidden.negative, negative)):
        if scores.shape != pairs[0].shape:
            raise ValueError(f"score gave an array of shape {scores.shape} for {len(pairs[0])} pairs, not one each")
    if not (isinstance(k, Integral) and 1 <= k <= len(negative)):
        raise ValueError(f"k={k} must be a whole number from 1 to {len(negative)}, the number of negative pairs")
    truth = np.repeat([1, 0], [len(positive), len(negative)])
    scores = np.concatenate([positive, negative])
    bar = np.partition(negative, -k)[-k]
    return LinkPrediction(
        float(roc_auc_score(truth, scores)),
        float(average_precision_score(truth, scores)),
        float((positive > bar).mean()),
    )


def _indicators(labels: Any, several: bool) -> np.ndarray:
    """Zeros and ones, shape (n, classes)."""
    if several:
        Y = labels.toarray() if sparse.issparse(labels) else np.asarray(labels)
        if not np.isin(Y, (0, 1)).all() or Y.shape[1] < 2:
            raise ValueError(
                "several labels are given as zeros and ones, a column for each label; one class for each node as an "
                "array of shape (n_nodes,)"
            )
        return Y.astype(int)
    missing = [node for node, label in enumerate(labels) if is_missing(label)]
    if missing:
        raise ValueError(f"{len(missing)} nodes have no label, the first of them node {missing[0]}; leave them out")
    classes, numbers = encoded(labels, "labels")
    return (numbers[:, None] == np.arange(len(classes))).astype(int)


def _largest(decisions: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Zeros and ones: ones at the largest decisions of each row, as many as are asked for."""
    rank = np.argsort(np.argsort(-decisions, axis=1, kind="stable"), axis=1)
    return (rank < counts[:, None]).astype(int)


def _checked(source: Any, target: Any, adjacency: Any, decoder: str) -> tuple[np.ndarray, np.ndarray, sparse.csr_array]:
    """Both embeddings, and the graph as ones without self-loops."""
    if decoder not in DECODERS:
        raise ValueError(f"decoder={decoder!r} is not one of {DECODERS}")
    source, target = (
        check_array(side, dtype=FLOATS, input_name=name) for side, name in ((source, "source"), (target, "target"))
    )
    A = read_graph(adjacency).adjacency
    if not len(source) == len(target) == A.shape[0] or source.shape[1] != target.shape[1]:
        raise ValueError(
            f"source {source.shape}, target {target.shape} and adjacency {A.shape} must have as many rows, and the "
            "first two as many columns"
        )
    rows = row_numbers(A)
    kept = rows != A.indices
    return source, target, sparse.csr_array((np.ones(kept.sum()), (rows[kept], A.indices[kept])), shape=A.shape)


def _score_blocks(source: np.ndarray, target: np.ndarray, decoder: str) -> Iterator[tuple[slice, np.ndarray]]:
    """Scores of all targets for a few sources at a time, a node's own set to the least."""
    left, right = (np.einsum("ij,ij->i", side, side) / 2 for side in (source, target))
    for rows in slices_of(len(source), BLOCK_ENTRIES // len(source)):
        scores = source[rows] @ target.T
        if decoder == "distance":
            scores -= left[rows, None] + right
        scores[np.arange(len(scores)), np.arange(rows.start, rows.stop)] = -np.inf
        yield rows, scores


def _largest_entries(scores: np.ndarray, counts: np.ndarray) -> sparse.csr_array:
    """Ones at the largest scores of each row, as many as are asked for."""
    columns = [
        np.argpartition(-row, k - 1)[:k] if k else np.empty(0, np.intp) for row, k in zip(scores, counts, strict=True)
    ]
    indptr = np.concatenate([[0], np.cumsum(counts)])
    return sparse.csr_array((np.ones(indptr[-1]), np.concatenate(columns), indptr), shape=scores.shape)


def _contains(known: np.ndarray, pairs: np.ndarray) -> np.ndarray:
    """Which pairs are among the known ones, which are sorted."""
    place = np.minimum(np.searchsorted(known, pairs), len(known) - 1)
    return known[place] == pairs


def _free_pairs(taken: np.ndarray, n: int, count: int, rng: np.random.RandomState) -> np.ndarray:
    """Pairs of two nodes that are not taken, drawn at random, none twice."""
    free = n * (n - 1) - np.count_nonzero(taken // n != taken % n)
    if count > free:
        raise ValueError(f"{count} pairs that are no edges are asked for, but there are {free}; hide fewer edges")
    if 2 * (count + len(taken)) > n * n:
        pairs = np.setdiff1d(np.arange(n * n), taken)
        return rng.permutation(pairs[pairs // n != pairs % n])[:count]
    found = np.empty(0, dtype=np.int64)
    while len(found) < count:
        u, v = rng.randint(n, size=(2, 2 * count)).astype(np.int64)
        pairs = (u * n + v)[u != v]
        found = np.unique(np.concatenate([found, pairs[~_contains(taken, pairs)]]))
    return rng.permutation(found)[:count]
