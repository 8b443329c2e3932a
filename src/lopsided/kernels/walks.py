"""Random walks with restart on a sparse graph: personalised PageRank, followed as far as chances reach a threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, sparse

from .._parallel import run, slices_of
from .csr import per_entry, row_peaks, row_sums, scale_rows, some_entries
from .points import by_rows

BLOCK_ROWS = 1 << 10  # starts whose walks a thread follows together
SAMPLE_ROWS = 256  # nodes from whose walks those of all are judged
SINK = 1e-3  # chance that a node without edges from it stays: it has scores of its own, below those of nodes with edges


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
        relative = sparse.csr_array((A.data / per_entry(peaks, A), A.indices, A.indptr), shape=A.shape)
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
    """The last step of a walk, (I + P) / 2: stay with chance one half, or follow an edge.

    A node without edges from it always stays; the row of a node without any edge is zero.
    """
    out = Walk.on(A)
    stay = np.where(out.leads_on, 0.5, np.bincount(A.indices, minlength=A.shape[0]) > 0)
    return by_rows(sparse.diags_array(stay.astype(A.dtype)) + 0.5 * out.P)


def edge_steps(A: sparse.csr_array) -> tuple[sparse.csr_array, sparse.csr_array]:
    """P = D^-1 A and its transpose; in the first a node without edges from it stays with a chance of a thousandth."""
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
    """Where walks end: restart sum over t >= 1 of (1 - restart)^t S P^(t - 1), a row for each row of S, the starts.

    A walk takes its first step by S and others by P, and ends after each with probability ``restart``. With S = P the
    entries are the chances to end in a node after at least one step: personalised PageRank without what stays at the
    start. Chances below the threshold are followed no further at any step, and are zero in the result: no entry is too
    large, and none is too small by more than T threshold (restart + the sum of its column), where
    T <= log(threshold) / log(1 - restart) steps are taken.

    With a last step L, for which S must be P, walks may also end before any step, and all of them then take that step:
    restart sum over t >= 0 of (1 - restart)^t P^t L.

    A step that leads nowhere with a chance of ``faint`` or more is not taken: hubs have thousands of edges and would
    spread a walk so thin that hardly anything of it reaches the threshold. On an undirected graph this takes less than
    T faint times the degree of its column from an entry.

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
