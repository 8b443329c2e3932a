"""Random walks with restart on a sparse graph: personalised PageRank, truncated below a probability threshold."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import sparse

from ..._core import (
    block_bytes,
    by_rows,
    per_entry,
    row_peaks,
    row_sums,
    run,
    scale_rows,
    slices_of,
    solve,
    some_entries,
    with_entries,
)

BLOCK_ROWS = 1 << 10  # start nodes whose walks one thread follows at a time
BLOCK_BYTES = 1 << 30  # of the walks that one thread follows at a time, at most
STEPS_HELD = 8  # steps of walks, in units of the widest, that are kept before they are added up
BYTES_HELD = 24 * STEPS_HELD  # per probability of the widest step: values, column numbers, and copies while adding up
LONG_WORK = 1 << 29  # multiplications of walks, some ten seconds, above which a dense solution may be less work
SOLVE_WORK = 10  # multiplications of a dense solution, in units of n^3, counting those of walks as ten


class Walk(NamedTuple):
    """Transition probabilities along the edges of a graph, P = diag(1 / degrees) A; nodes without edges end the walk.

    Degrees are peaks, the largest weight of each row, times sums in units of them: neither factor overflows.
    """

    P: sparse.csr_array
    peaks: np.ndarray
    sums: np.ndarray

    @classmethod
    def on(cls, A: sparse.csr_array) -> Walk:
        """Build the walk on a graph with weights >= 0."""
        peaks = row_peaks(A.data, A, least=0.0)
        peaks += peaks == 0
        relative = with_entries(A, A.data / per_entry(peaks, A))
        sums = row_sums(relative.data, relative)
        return cls(scale_rows(relative, 1 / (sums + (sums == 0))), peaks, sums)

    @property
    def leads_on(self) -> np.ndarray:
        """Mask of the nodes with outgoing edges."""
        return self.sums > 0

    def ends(self, edges: sparse.csr_array) -> sparse.csr_array:
        """Return the probabilities of the last step to new nodes: weights over degrees, one if the degree is zero."""
        known = self.leads_on[edges.indices]
        with np.errstate(over="ignore"):
            chances = edges.data / np.where(known, self.peaks[edges.indices], edges.data + (edges.data == 0))
        if not np.isfinite(chances).all():
            worst = np.flatnonzero(~np.isfinite(chances))[0]
            node = edges.indices[worst]
            raise ValueError(
                f"the edge of weight {edges.data[worst]:g} from node {node} to a new one is so much heavier than its "
                f"other edges, at most {self.peaks[node]:g}, that their ratio overflows {edges.dtype}; rescale them"
            )
        chances /= np.where(known, self.sums[edges.indices], 1)
        return with_entries(edges, chances)


def last_step(A: sparse.csr_array) -> sparse.csr_array:
    """Return the last step of a walk, (I + P) / 2, where P_ii = 1 for nodes that have only incoming edges."""
    out = Walk.on(A)
    stay = np.where(out.leads_on, 0.5, np.bincount(A.indices, minlength=A.shape[0]) > 0)
    return by_rows(sparse.diags_array(stay.astype(A.dtype)) + 0.5 * out.P)


def dense_visits(P: sparse.csr_array, last: sparse.csr_array, restart: float) -> np.ndarray:
    """Solve for the sum over t >= 0 of restart (1 - restart)^t P^t L, where L is the last step. Cost O(n^3)."""
    n = P.shape[0]
    system = ((restart - 1) * P).toarray()
    system[np.arange(n), np.arange(n)] += 1
    return solve(system, restart * last.toarray())


def walk_work(P: sparse.csr_array, rows: int, *, restart: float, threshold: float) -> float:
    """Bound the multiplications of walks from ``rows`` nodes: steps times reachable nodes times mean degree."""
    steps = np.log(threshold) / np.log1p(-restart)
    return float(steps * rows * min(P.shape[0], 1 / threshold) * P.nnz / P.shape[0])


def is_long(P: sparse.csr_array, rows: int, *, restart: float, threshold: float) -> bool:
    """Whether walks may take so many steps that a dense solution is far less work."""
    return walk_work(P, rows, restart=restart, threshold=threshold) > max(LONG_WORK, SOLVE_WORK * P.shape[0] ** 3)


def solved_visits(
    P: sparse.csr_array, starts: sparse.csr_array, *, restart: float, threshold: float
) -> sparse.csr_array:
    """Solve for what ``visits`` follows step by step, without a last step; values below the threshold are zero.

    restart (1 - restart) S (I - (1 - restart) P)^-1. Cost O(n^3), however long the walks are.
    """
    system = np.identity(P.shape[0]) - (1 - restart) * P.toarray().T.astype(float)
    right = restart * (1 - restart) * starts.toarray().T.astype(float)
    ended = solve(system, right).T
    return sparse.csr_array(np.where(ended >= threshold, ended, 0).astype(P.dtype))


def visits(
    P: sparse.csr_array,
    starts: sparse.csr_array,
    *,
    restart: float,
    threshold: float,
    faint: float = 0.0,
    last: sparse.csr_array | None = None,
) -> sparse.csr_array:
    """Return the end probabilities restart sum over t >= 1 of (1 - restart)^t S P^(t - 1), where S are the starts.

    A walk takes its first step by S, later ones by P, and ends after each with probability ``restart``. Probabilities
    below the threshold are not followed further, and are zero in the result; :class:`Diffusion` bounds what is lost.
    With a last step L, which requires S = P, walks may also end before the first step, and all of them then take the
    last step: restart sum over t >= 0 of (1 - restart)^t P^t L.

    A step that brings a probability of ``faint`` or more to no node is skipped: hubs would spread a walk so thinly that
    hardly any of it reaches the threshold. Cost: fewer than 1 / (restart threshold) probabilities per row. Of a block
    of rows whose walks would exceed the memory of a thread, each half is followed anew.
    """
    scaled = with_entries(P, (1 - restart) * P.data)
    clearest = row_peaks(scaled.data, scaled, least=0.0)
    most = block_bytes(BLOCK_BYTES)

    def follow(rows: slice) -> sparse.csr_array:
        walking, found, widest = (1 - restart) * starts[rows], [], 0
        while walking.nnz:
            if BYTES_HELD * walking.nnz > most and rows.stop - rows.start > 1:
                middle = (rows.start + rows.stop) // 2
                halves = [follow(half) for half in (slice(rows.start, middle), slice(middle, rows.stop))]
                return sparse.vstack(halves, format="csr")
            walking = some_entries(walking, walking.data >= threshold)
            found.append(walking)
            widest = max(widest, walking.nnz)
            if sum(step.nnz for step in found) > STEPS_HELD * widest:
                found = [_total(found)]
                widest = max(widest, found[0].nnz)
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


def _total(parts: list[sparse.csr_array]) -> sparse.csr_array:
    """Sum sparse matrices by one product, [I I ... I] times their vertical stack."""
    ones = sparse.eye_array(parts[0].shape[0], dtype=parts[0].dtype, format="csr")
    return sparse.hstack([ones] * len(parts), format="csr") @ sparse.vstack(parts, format="csr")
