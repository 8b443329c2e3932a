"""Steps along the edges of a graph, and how readily nodes link and are linked to: what scores of edges consist of."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from .._core import row_sums
from ..kernels import Walk

SINK = 1e-3  # probability that a node without outgoing edges steps to itself: gives it small scores of its own
MOST = 1e9  # bound on the weight of a node's edges in units of the mean, which those of new nodes may exceed


class EdgeSteps(NamedTuple):
    """A step from each of some nodes along their edges, P = D^-1 A, and how many edges lead from and to them.

    Attributes
    ----------
    out : sparse matrix of shape (b, n_nodes)
        Rows of P.
    stay : array of shape (b,)
        Probability of a step to itself, small and only for nodes without outgoing edges.
    activity : array of shape (b,)
        1 + weight of the outgoing edges, in units of the mean weight of an edge.
    visits : array of shape (b,)
        Sums of the columns of P: how many of the other nodes' steps are expected to lead here.
    """

    out: sparse.csr_array
    stay: np.ndarray
    activity: np.ndarray
    visits: np.ndarray

    @classmethod
    def on(cls, A: sparse.csr_array) -> Self:
        """Return the steps of all nodes of a graph with weights >= 0. Cost O(edges)."""
        walk = Walk.on(A)
        return cls._of(A, walk, np.bincount(A.indices, walk.P.data, A.shape[0]), A)

    @classmethod
    def of_new(cls, outward: sparse.csr_array, inward: sparse.csr_array, A: sparse.csr_array) -> Self:
        """Return the steps of new nodes, whose edges from and to them are rows over the nodes of the graph A."""
        least = min(edges.data.min(initial=0) for edges in (outward, inward))
        if least < 0:
            raise ValueError(f"decoder='edges' takes steps along edges, whose weights must be >= 0, not {least:g}")
        into = Walk.on(A).ends(inward)
        return cls._of(outward, Walk.on(outward), row_sums(into.data, into), A)

    @classmethod
    def _of(cls, outward: sparse.csr_array, walk: Walk, visits: np.ndarray, A: sparse.csr_array) -> Self:
        mean = float((A.data.astype(float) / A.nnz).sum())
        with np.errstate(over="ignore"):
            weight = row_sums(outward.data.astype(float) / mean, outward)
        stay = np.where(walk.leads_on, 0, SINK)
        activity = 1 + np.minimum(weight, MOST)
        return cls(walk.P, *(part.astype(A.dtype) for part in (stay, activity, visits)))
