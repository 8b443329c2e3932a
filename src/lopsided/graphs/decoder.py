"""How an edge is scored: by the parts of an embedding and by degrees, and what ranks the targets of a node."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._core import best_columns, blocks_of, count_of
from ..exceptions import LopsidedWarning, warn
from .kernel_choice import COSINE, FACTORS, LEARNED, STEP
from .nodes import Nodes, some_nodes
from .parts import Part, unit_or_zero_rows
from .trials import Pairs

BLOCK_BYTES = 1 << 27  # of a block of scores or vectors, at most
SCORE_BYTES = 8  # per score or coordinate, in double precision
VECTORS_PER_PAIR = 4  # of each part, at most: two kinds of terms, two ways
DEGREE_TERMS = 4  # logarithms of both degrees of the source and of the target
Terms = tuple[dict[str, float], ...]  # coefficients of each part, by term


class Formula(NamedTuple):
    """Coefficients of the score of an edge from i to j, see :class:`EdgeDecoder`, and what ranks the targets of i."""

    forward: Terms  # of the terms of an edge from i to j
    backward: Terms  # of the terms of its reverse, from j to i
    degree: np.ndarray = np.zeros(DEGREE_TERMS)  # out and into of the source, then of the target
    reverse: float = 0.0
    constant: float = 0.0
    ranking: str = FACTORS  # "factors", or "learned" for the scores themselves
    width: int | None = None  # leading triplets of each part that count; None for all

    @property
    def is_learned(self) -> bool:
        """Whether scores are more than the kernel of the first part."""
        return self.forward != by_factors(len(self.forward)).forward


@dataclass(frozen=True)
class EdgeDecoder:
    """Scores of edges from i to j, linear in terms from the parts U diag(s) V' of an embedding and from degrees.

        sum over parts of a F_ij + b (P F)_ij + c C_ij + a' F_ji + b' (P F)_ji + c' C_ji,
        + d . (log degrees of i and j) + r [j -> i is an edge] + const.

    F = U diag(s) V' is the kernel as far as its rank goes; P F takes a step along an edge first, P = D^-1 A; C_ij is
    the cosine of U_i s and V_j s. Except for r, scores are inner products of ``sources`` and ``targets``. The best
    targets of a node may be ranked by F of the first part alone, where these rank hidden targets better.
    """

    formula: Formula
    parts: Sequence[Part]
    known: Nodes

    def sources(self, nodes: Nodes) -> np.ndarray:
        """Vectors of nodes as sources; their inner products with ``targets`` are the scores."""
        out, into = nodes.degrees
        own = self.formula.constant + self.formula.degree[0] * out + self.formula.degree[1] * into
        forward, backward = self._weighted_starts(nodes, self.formula.forward), self._ends(nodes, self.formula.backward)
        return np.column_stack([*forward, *backward, own, np.ones(len(own))])

    def targets(self, nodes: Nodes) -> np.ndarray:
        """Vectors of nodes as targets."""
        out, into = nodes.degrees
        own = self.formula.degree[2] * out + self.formula.degree[3] * into
        forward, backward = self._ends(nodes, self.formula.forward), self._weighted_starts(nodes, self.formula.backward)
        return np.column_stack([*forward, *backward, np.ones(len(own)), own])

    def _weighted_starts(self, nodes: Nodes, terms: Terms) -> Iterator[np.ndarray]:
        """Vectors of nodes where an edge begins, times coefficients; F and P F end at the same vectors."""
        width = self.formula.width
        for number, own in enumerate(terms):
            begun = {term: own[term] * start_vectors(self.parts, nodes, number, term, width) for term in own}
            if FACTORS in begun or STEP in begun:
                yield np.asarray(begun.get(FACTORS, 0) + begun.get(STEP, 0))
            if COSINE in begun:
                yield begun[COSINE]

    def _ends(self, nodes: Nodes, terms: Terms) -> Iterator[np.ndarray]:
        """Vectors of nodes where an edge ends."""
        for number, own in enumerate(terms):
            if FACTORS in own or STEP in own:
                yield end_vectors(self.parts, nodes, number, FACTORS, self.formula.width)
            if COSINE in own:
                yield end_vectors(self.parts, nodes, number, COSINE, self.formula.width)

    def of_pairs(self, nodes: Nodes, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Scores of the pairs (rows[i], columns[i]) of nodes, in blocks that compute each node only once."""
        scores = np.empty(len(rows))
        for block, (sources, row), (targets, column) in blocks_of_pairs(nodes, (rows, columns), self.parts):
            scores[block] = np.einsum("ij,ij->i", self.sources(sources)[row], self.targets(targets)[column])
        return scores + self.formula.reverse * is_edge(nodes.inward, rows, columns)

    def best_targets(self, nodes: Nodes, k: int, leave_out: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """The k best known targets of each node, best first, and what ranks them, in blocks of nodes.

        The nonzero entries in row i of ``leave_out`` are not among the targets of node i.
        """
        if self.formula.ranking == FACTORS and self.formula.is_learned:
            return self._best_by_factors(nodes, k, leave_out)
        targets = self.targets(self.known)
        is_alike = np.empty(leave_out.shape[0], dtype=bool)

        def score(block: slice) -> np.ndarray:
            chosen = some_nodes(nodes, block)
            scores = self.sources(chosen) @ targets.T
            if self.formula.reverse:
                scores[chosen.inward.nonzero()] += self.formula.reverse
            is_alike[block] = scores.max(axis=1) == scores.min(axis=1)
            return scores

        found = best_columns(score, leave_out, k)
        if is_alike.any():
            alike = count_of(np.count_nonzero(is_alike), "node scores", "nodes score")
            warn(
                f"{alike} every target alike, as nodes without edges do, so "
                "their ranking is arbitrary; leave them out, or give a graph in which they have edges",
                LopsidedWarning,
            )
        return found

    def _best_by_factors(self, nodes: Nodes, k: int, leave_out: sparse.csr_array) -> tuple[np.ndarray, np.ndarray]:
        """``best_targets`` by factors, but by scores for nodes whose factors are zero, such as those without edges.

        All triplets of the first part count, also those beyond the width that scores were learned with.
        """
        has_factors = np.asarray(nodes.vectors[0].source.any(axis=1))
        best, values = np.empty((len(has_factors), k), dtype=np.intp), np.empty((len(has_factors), k))
        by_kernel = replace(self, formula=by_factors(len(self.parts)))
        by_scores = replace(self, formula=self.formula._replace(ranking=LEARNED))
        for decoder, rows in ((by_kernel, np.flatnonzero(has_factors)), (by_scores, np.flatnonzero(~has_factors))):
            if len(rows):
                best[rows], values[rows] = decoder.best_targets(some_nodes(nodes, rows), k, leave_out[rows])
        return best, values


def by_factors(n_parts: int, width: int | None = None) -> Formula:
    """The formula that scores an edge by its kernel, that of the first part if there are several."""
    none: Terms = ({},) * n_parts
    return Formula(({FACTORS: 1.0}, *none[1:]), none, width=width)


def start_vectors(parts: Sequence[Part], nodes: Nodes, number: int, term: str, width: int | None) -> np.ndarray:
    """Vectors of nodes where an edge begins; inner products with those where it ends are a term of a part."""
    part, s = parts[number], parts[number].s[:width]
    if term == STEP:
        return np.asarray(nodes.steps @ part.U[:, :width]) * s
    reached = nodes.vectors[number].source[:, :width] * s
    return unit_or_zero_rows(reached, s[0]) if term == COSINE else reached


def end_vectors(parts: Sequence[Part], nodes: Nodes, number: int, term: str, width: int | None) -> np.ndarray:
    """Vectors of nodes where an edge ends."""
    V, s = nodes.vectors[number].target[:, :width], parts[number].s[:width]
    return unit_or_zero_rows(V * s, s[0]) if term == COSINE else V


def blocks_of_pairs(
    nodes: Nodes, pairs: Pairs, parts: Sequence[Part]
) -> Iterator[tuple[slice, tuple[Nodes, np.ndarray], tuple[Nodes, np.ndarray]]]:
    """Blocks of pairs: for each side its distinct nodes, and the place of each pair's node among them."""
    bytes_per_pair = SCORE_BYTES * VECTORS_PER_PAIR * sum(len(part.s) for part in parts)
    for block in blocks_of(len(pairs[0]), bytes_per_pair, BLOCK_BYTES):
        (u, row), (v, column) = (np.unique(side[block], return_inverse=True) for side in pairs)
        yield block, (some_nodes(nodes, u), row), (some_nodes(nodes, v), column)


def is_edge(edges: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    """Whether each pair (rows[i], columns[i]) has an entry."""
    return np.asarray(edges[rows, columns]).ravel() != 0 if len(rows) else np.zeros(0, dtype=bool)
