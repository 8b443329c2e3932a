"""Steps along the edges of a graph, with which scores of edges begin and end."""

from __future__ import annotations

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse

from ..kernels.csr import row_sums
from ..kernels.points import by_rows
from ..kernels.walks import Walk

SINK = 1e-3  # probability that a node without outgoing edges steps to itself: gives it small scores of its own


class EdgeSteps(NamedTuple):
    """Steps from and to some nodes along their edges, and how many edges they have.

    Attributes
    ----------
    out : sparse matrix of shape (b, n_nodes)
        Step from each of b nodes: rows of P = D^-1 A.
    into : sparse matrix of shape (b, n_nodes)
        Step to each of them: columns of P, as rows.
    stay : array of shape (b,)
        Probability of a step to itself, small and only for nodes without outgoing edges.
    activity : array of shape (b,)
        1 + weight of the outgoing edges, in units of the mean weight of an edge.
    popularity : array of shape (b,)
        1 + sum of the column of P.
    """

    out: sparse.csr_array
    into: sparse.csr_array
    stay: np.ndarray
    activity: np.ndarray
    popularity: np.ndarray

    @classmethod
    def on(cls, A: sparse.csr_array) -> Self:
        """Return the steps from and to all nodes of a graph with weights >= 0. Cost O(edges)."""
        walk = Walk.on(A)
        return cls._of(A, walk, by_rows(walk.P.T), A)

    @classmethod
    def of_new(cls, outward: sparse.csr_array, inward: sparse.csr_array, A: sparse.csr_array) -> Self:
        """Return the steps of new nodes, whose edges from and to them are rows over the nodes of the graph A."""
        least = min(edges.data.min(initial=0) for edges in (outward, inward))
        if least < 0:
            raise ValueError(f"decoder='edges' takes steps along edges, whose weights must be >= 0, not {least:g}")
        return cls._of(outward, Walk.on(outward), Walk.on(A).ends(inward), A)

    @classmethod
    def _of(cls, outward: sparse.csr_array, walk: Walk, into: sparse.csr_array, A: sparse.csr_array) -> Self:
        mean = float((A.data.astype(float) / A.nnz).sum())
        return cls(
            walk.P,
            into,
            np.where(walk.leads_on, 0, SINK).astype(A.dtype),
            (1 + row_sums(outward.data.astype(float) / mean, outward)).astype(A.dtype),
            1 + row_sums(into.data, into),
        )
