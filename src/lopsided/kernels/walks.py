"""Random walks with restart on a sparse graph: personalised PageRank, a threshold below which nothing is followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._parallel import run, slices_of
from .points import by_rows
from .structure import row_sums, scale_rows

BLOCK_ROWS = 1 << 10
SAMPLE_ROWS = 256


class Walk(NamedTuple):
    """Steps along the edges of a graph: P = diag(1 / degrees) A; a node without edges ends the walk."""

    P: sparse.csr_array
    degrees: np.ndarray

    @classmethod
    def on(cls, A: sparse.csr_array) -> Walk:
        """The walk on a graph with weights >= 0."""
        degrees = row_sums(A.data, A)
        return cls(scale_rows(A, 1 / np.where(degrees == 0, 1, degrees)), degrees)

    def starts(self, edges: sparse.csr_array) -> sparse.csr_array:
        """The first steps of nodes with these edges, each row divided by its sum."""
        return Walk.on(edges).P

    def ends(self, edges: sparse.csr_array) -> sparse.csr_array:
        """The chances of the last step to nodes with these edges: each is divided by the degree it comes from.

        An edge from a node that had none before is the only one it has.
        """
        weights = np.where(self.degrees[edges.indices] == 0, edges.data, self.degrees[edges.indices])
        return sparse.csr_array((edges.data / weights, edges.indices, edges.indptr), shape=edges.shape)


def visits(
    P: sparse.csr_array, starts: sparse.csr_array, *, restart: float, threshold: float, n_jobs: int | None = None
) -> sparse.csr_array:
    """The rows of restart (1 - restart) S (I - (1 - restart) P)^-1 for S = starts, entries below the threshold left out.

    With S = P it is the chance that a walk with restarts is found at a node after at least one step, (1 - restart) of
    personalised PageRank. Each row follows its largest residuals (Andersen, Chung and Lang's push, on whole blocks of
    rows) until none reaches the threshold. What it finds never exceeds the exact value, and falls short of it by less
    than threshold (restart + the sum of column j of the exact matrix with S = P).

    Cost: at most 1 / (restart threshold) followed residuals a row, whatever the size of the graph.
    """
    scaled = scale_rows(P, np.full(P.shape[0], 1 - restart, dtype=P.dtype))
    blocks = slices_of(starts.shape[0], BLOCK_ROWS)
    found = run(lambda rows: _push(scaled, (1 - restart) * starts[rows], restart, threshold), blocks, n_jobs)
    return by_rows(sparse.vstack(found, format="csr"))


def expected_entries(P: sparse.csr_array, *, restart: float, threshold: float) -> float:
    """The entries that ``visits`` will find from all nodes, judged from a sample of them."""
    n = P.shape[0]
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE_ROWS), replace=False))
    return n * visits(P, P[rows], restart=restart, threshold=threshold).nnz / len(rows)


def _push(P: sparse.csr_array, residual: sparse.csr_array, restart: float, threshold: float) -> sparse.csr_array:
    """Settle a share of every large residual and pass the rest on along the edges, until none is large.

    Small ones are put aside, and added up only when no large one is left.
    """
    settled = []
    while (large := residual.data >= threshold).any():
        aside = []
        while large.any():
            settled.append(_kept(residual, large))
            aside.append(_kept(residual, ~large))
            residual = settled[-1] @ P
            large = residual.data >= threshold
        residual = _total([*aside, residual])
    total = _total(settled) if settled else _kept(residual, large)
    total.data *= restart
    return _kept(total, total.data >= threshold)


def _total(parts: list[sparse.csr_array]) -> sparse.csr_array:
    """The sum of sparse matrices, as one sparse product: [I I ... I] times their stack."""
    n = parts[0].shape[0]
    ones = np.ones(len(parts) * n, dtype=parts[0].dtype)
    columns = np.arange(len(parts) * n, dtype=np.int32).reshape(len(parts), n).T.ravel()
    gather = sparse.csr_array((ones, columns, np.arange(0, len(ones) + 1, len(parts), dtype=np.int32)))
    return gather @ sparse.vstack(parts, format="csr")


def _kept(S: sparse.csr_array, chosen: np.ndarray) -> sparse.csr_array:
    """Only the chosen entries."""
    indptr = np.concatenate([[0], np.cumsum(chosen)])[S.indptr].astype(S.indptr.dtype)
    return sparse.csr_array((S.data[chosen], S.indices[chosen], indptr), shape=S.shape)
