"""How an edge is scored: by the factors of the kernel matrix, or by them after a step along the edges."""

from typing import Any, NamedTuple, Self

import numpy as np
from scipy import sparse

from .._core import row_sums, slices_of
from ..exceptions import LopsidedWarning, warn
from ..kernels import Walk

BLOCK_ENTRIES = 1 << 24  # entries in a block of scores or vectors: 128 MB in float64
# Both chosen on the graphs of docs/graphs_table1.md; `python benchmarks/graphs_table1.py ablation` changes them.
DEGREE_RATIO = 0.3  # ratio of the degree term to the proximity term, over all pairs
HALF_VISITS = 0.1  # expected visits at which g is one half
SELF_STEP = 1e-3  # probability that a node without outgoing edges steps to itself: gives it small scores of its own
MOST_ACTIVITY = 1e9  # bound on the weight of a new node's edges, in units of the mean weight: keeps float32 finite
ALL = slice(None)


class NewNodes(NamedTuple):
    """Out-of-sample nodes: optional ids, edges from and to them as rows over the known nodes, and their vectors."""

    ids: np.ndarray | None
    outward: sparse.csr_array
    inward: sparse.csr_array
    source: np.ndarray
    target: np.ndarray


class EdgeDecoder(NamedTuple):
    """Scores of edges from source vectors S, target vectors T and weights w of the components: F = S diag(w) T'.

    The edge from i to j scores F_ij with decoder="factors", where P is None, and with decoder="edges"

        a_i (g_j (P F)_ij + b (1 + v_j)),  P = D^-1 A.

    The first term is proximity: it is large if the nodes that i links to are near j. The second is the degree term.
    P also lets nodes without outgoing edges stay. Activity a: 1 + weight of the outgoing edges, in units of the mean
    weight. Visits v: column sums of P without staying. g = v / (v + 0.1) is 0 for a node without incoming edges.
    """

    S: np.ndarray
    T: np.ndarray
    w: np.ndarray
    P: sparse.csr_array | None = None
    a: Any = None
    v: Any = None
    b: float = 0.0

    @classmethod
    def along_edges(cls, S: np.ndarray, T: np.ndarray, w: np.ndarray, A: sparse.csr_array) -> Self:
        """Return the decoder "edges" of a graph with weights >= 0. Cost O(edges + n k)."""
        walk = Walk.on(A)
        stay = np.where(walk.leads_on, 0, SELF_STEP).astype(A.dtype)
        P = sparse.csr_array(walk.P + sparse.diags_array(stay))
        a, v = _activity(A, A), np.bincount(A.indices, walk.P.data, A.shape[0]).astype(A.dtype)
        proximity = max(0.0, float(((P.T @ a) @ S * w) @ (_g(v) @ T)))
        degrees = float(a.sum(dtype=float) * (1 + v).sum(dtype=float))
        return cls(S, T, w, P, a, v, DEGREE_RATIO * proximity / degrees)

    def sources(self, rows: Any = ALL) -> np.ndarray:
        """Edge vectors of some nodes as sources; their inner products with ``targets`` are the scores."""
        if self.P is None:
            return self.S[rows] * self.w
        return self._source_vectors(self.P[rows] @ self.S, self.a[rows])

    def _source_vectors(self, reached: np.ndarray, a: np.ndarray) -> np.ndarray:
        """Rows a_i [(P S)_i w, b] of the nodes with these (P S)_i."""
        return a[:, None] * np.column_stack([reached * self.w, np.full(len(reached), self.b, reached.dtype)])

    def targets(self, columns: Any = ALL) -> np.ndarray:
        """Edge vectors of some nodes as targets."""
        return self.T[columns] if self.P is None else _target_vectors(self.T[columns], self.v[columns])

    def of_new(self, new: NewNodes, A: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """Edge vectors of out-of-sample nodes as sources and as targets; their steps follow their own edges."""
        if self.P is None:
            return new.source * self.w, new.target
        least = min(edges.data.min(initial=0) for edges in (new.outward, new.inward))
        if least < 0:
            raise ValueError(f"decoder='edges' takes steps along edges, whose weights must be >= 0, not {least:g}")
        walk, into = Walk.on(new.outward), Walk.on(A).ends(new.inward)
        stay = np.where(walk.leads_on, 0, SELF_STEP).astype(A.dtype)[:, None]
        reached = walk.P @ self.S + stay * new.source
        visits = row_sums(into.data, into).astype(A.dtype)
        return self._source_vectors(reached, _activity(new.outward, A)), _target_vectors(new.target, visits)

    def of_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Scores of the pairs (rows[i], columns[i]), in blocks; each block computes the step of a node only once."""
        scores = np.empty(len(rows), dtype=self.T.dtype)
        for part in slices_of(len(rows), BLOCK_ENTRIES // len(self.w)):
            (u, row), (v, column) = (np.unique(side[part], return_inverse=True) for side in (rows, columns))
            scores[part] = np.einsum("ij,ij->i", self.sources(u)[row], self.targets(v)[column])
        return scores

    def best_targets(self, rows: np.ndarray, k: int, left_out: sparse.csr_array | None = None) -> np.ndarray:
        """The k highest-scoring targets of each row, best first, in blocks of rows.

        Neither the row itself nor the nonzero entries in its row of ``left_out``, one per row, are among them.
        """
        targets = self.targets()
        found, alike = [], 0
        for part in slices_of(len(rows), BLOCK_ENTRIES // len(targets)):
            scores = self.sources(rows[part]) @ targets.T
            alike += int(np.count_nonzero(scores.max(axis=1) == scores.min(axis=1)))
            if left_out is not None:
                scores[left_out[part].nonzero()] = -np.inf
            scores[np.arange(len(scores)), rows[part]] = -np.inf
            found.append(_largest(scores, k))
        if alike:
            warn(
                f"{alike} of {len(rows)} nodes score every target alike, as nodes without edges do, and their ranking "
                "is arbitrary; leave them out, or give a graph in which they have edges",
                LopsidedWarning,
            )
        return np.concatenate(found)


def _activity(outward: sparse.csr_array, A: sparse.csr_array) -> np.ndarray:
    mean = float((A.data.astype(float) / A.nnz).sum())
    with np.errstate(over="ignore"):
        weight = row_sums(outward.data.astype(float) / mean, outward)
    return (1 + np.minimum(weight, MOST_ACTIVITY)).astype(A.dtype)


def _g(visits: np.ndarray) -> np.ndarray:
    return visits / (visits + HALF_VISITS)


def _target_vectors(T: np.ndarray, visits: np.ndarray) -> np.ndarray:
    """Rows [g_j T_j, 1 + v_j]."""
    return np.column_stack([T * _g(visits)[:, None], 1 + visits])


def _largest(scores: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, largest first."""
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
