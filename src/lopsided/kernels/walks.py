"""Random walks with restart on a sparse graph: personalised PageRank, a threshold below which nothing is followed."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from .._parallel import run, slices_of
from .csr import row_peaks, row_sums, scale_rows, some_entries
from .points import by_rows

BLOCK_ROWS = 1 << 10
SAMPLE_ROWS = 256
SINK = 1e-3


class Walk(NamedTuple):
    """Steps along the edges of a graph: P = diag(1 / degrees) A; a node without edges ends the walk.

    The degrees are kept as peaks times sums, the largest weight of each row and the sum in units of it: neither
    overflows, whatever the weights, nor do quotients by one after the other.
    """

    P: sparse.csr_array
    peaks: np.ndarray
    sums: np.ndarray

    @classmethod
    def on(cls, A: sparse.csr_array) -> Walk:
        """The walk on a graph with weights >= 0."""
        peaks = row_peaks(A.data, A, least=0.0)
        peaks += peaks == 0
        relative = sparse.csr_array((A.data / _of_entries(peaks, A), A.indices, A.indptr), shape=A.shape)
        sums = row_sums(relative.data, relative)
        return cls(scale_rows(relative, 1 / (sums + (sums == 0))), peaks, sums)

    @property
    def leads_on(self) -> np.ndarray:
        """Which nodes have edges to follow."""
        return self.sums > 0

    def starts(self, edges: sparse.csr_array) -> sparse.csr_array:
        """The first steps of nodes with these edges, each row divided by its sum."""
        return Walk.on(edges).P

    def ends(self, edges: sparse.csr_array) -> sparse.csr_array:
        """The chances of the last step to nodes with these edges: each is divided by the degree it comes from.

        An edge from a node that had none before is the only one it has.
        """
        known = self.leads_on[edges.indices]
        with np.errstate(over="ignore"):
            chances = edges.data / np.where(known, self.peaks[edges.indices], edges.data + (edges.data == 0))
        if not np.isfinite(chances).all():
            worst = np.flatnonzero(~np.isfinite(chances))[0]
            node = edges.indices[worst]
            raise ValueError(
                f"the edge of weight {edges.data[worst]:g} from node {node} to a new one exceeds its other weights, "
                f"{self.peaks[node]:g} and less, by more than {edges.dtype} holds; bring weights nearer to each other"
            )
        chances /= np.where(known, self.sums[edges.indices], 1)
        return sparse.csr_array((chances, edges.indices, edges.indptr), shape=edges.shape)


def last_step(A: sparse.csr_array) -> sparse.csr_array:
    """Stay with chance one half, or follow an edge; without edges from it a node stays, without any it is not there."""
    out = Walk.on(A)
    stay = np.where(out.leads_on, 0.5, np.bincount(A.indices, minlength=A.shape[0]) > 0)
    return by_rows(sparse.diags_array(stay.astype(A.dtype)) + 0.5 * out.P)


def edge_steps(A: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """P = D^-1 A and its transpose; a node without edges from it stays, with a chance of a thousandth."""
    P, stay = new_steps(A)
    return by_rows(sparse.diags_array(stay) + P), by_rows(P.T)


def new_steps(edges: sparse.csr_array) -> tuple[sparse.csr_array, np.ndarray]:
    """The steps from nodes with these edges, and the chance of each to stay."""
    out = Walk.on(edges)
    return out.P, np.where(out.leads_on, 0, SINK).astype(edges.dtype)


def dense_visits(P: sparse.csr_array, last: sparse.csr_array, restart: float) -> np.ndarray:
    """The sum restart (1 - restart)^t P^t L over t >= 0, L the last step: the solution of one system. Cost O(n^3)."""
    n = P.shape[0]
    system = ((restart - 1) * P).toarray()
    system[np.arange(n), np.arange(n)] += 1
    return linalg.solve(system, restart * last.toarray(), overwrite_a=True, overwrite_b=True, check_finite=False)


def visits(
    P: sparse.csr_array,
    starts: sparse.csr_array,
    *,
    restart: float,
    threshold: float,
    faint: float = 0.0,
    last: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """The rows of restart sum over t >= 1 of (1 - restart)^t S P^(t - 1), S = starts; none below the threshold.

    With S = P it is the chance that a walk from a node, which ends after each step with probability ``restart``, ends
    in another after at least one: personalised PageRank without what stays at the start. Chances that fall below the
    threshold at some step are followed no further, so that no entry is found too large, and none is too small by more
    than T threshold (restart + the sum of its column), where T <= log(threshold) / log(1 - restart) steps are taken.

    With a last step L the walks may also end where they start, before any step, and then all of them take that step:
    restart sum over t >= 0 of (1 - restart)^t P^t L, for S = P.

    A step that leads nowhere with a chance of ``faint`` or more is not taken: hubs have thousands of edges and would
    spread a walk so thin that hardly anything of it reaches the threshold. On an undirected graph this loses less than
    T faint times its degree of an entry.

    Cost: fewer than 1 / (restart threshold) chances are followed for a row, whatever the size of the graph.
    """
    scaled = sparse.csr_array(((1 - restart) * P.data, P.indices, P.indptr), shape=P.shape)
    clearest = row_peaks(scaled.data, scaled, least=0.0)

    def follow(rows: slice) -> sparse.csr_array:
        walking, found = (1 - restart) * starts[rows], []
        while walking.nnz:
            walking = some_entries(walking, walking.data >= threshold)
            found.append(walking)
            if faint:
                walking = some_entries(walking, walking.data * clearest[walking.indices] >= faint)
            walking = walking @ scaled
        ended = _total(found) if found else walking
        ended.data *= restart
        if last is not None:
            ended = ended @ last + restart * last[rows]
        ended = sparse.csr_array(ended)
        return some_entries(ended, ended.data >= threshold)

    found = run(follow, slices_of(starts.shape[0], BLOCK_ROWS))
    return by_rows(sparse.vstack(found, format="csr"))


def expected_entries(P: sparse.csr_array, *, restart: float, threshold: float, faint: float = 0.0) -> float:
    """The entries that ``visits`` will find from all nodes, judged from a sample of them."""
    n = P.shape[0]
    rows = np.sort(np.random.default_rng(0).choice(n, min(n, SAMPLE_ROWS), replace=False))
    return n * visits(P, P[rows], restart=restart, threshold=threshold, faint=faint).nnz / len(rows)


def _total(parts: list[sparse.csr_array]) -> sparse.csr_array:
    """The sum of sparse matrices, as one sparse product: [I I ... I] times their stack."""
    n = parts[0].shape[0]
    columns = np.arange(len(parts) * n, dtype=np.int32).reshape(len(parts), n).T.ravel()
    ends = np.arange(0, len(columns) + 1, len(parts), dtype=np.int32)
    together = sparse.csr_array((np.ones(len(columns), dtype=parts[0].dtype), columns, ends))
    return together @ sparse.vstack(parts, format="csr")


def _of_entries(values: np.ndarray, A: sparse.csr_array) -> np.ndarray:
    """The value of its row for every stored entry."""
    return np.repeat(values, np.diff(A.indptr))
