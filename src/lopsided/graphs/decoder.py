"""How an edge is scored: by the parts of an embedding and by degrees, with coefficients learned from hidden edges."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._core import AdjacencyBlocks, best_columns, blocks_of, count_of, simplest_of_the_best
from ..exceptions import LopsidedWarning, warn
from .kernel_choice import COSINE, FACTORS, LEARNED, STEP
from .logistic import fit_terms
from .nodes import Nodes, known_nodes, some_nodes
from .parts import Part, unit_or_zero_rows
from .trials import Pairs, Trial

BLOCK_BYTES = 1 << 27  # of a block of scores or vectors, at most
SCORE_BYTES = 8  # per score or coordinate, in double precision
VECTORS_PER_PAIR = 4  # of each part, at most: two kinds of terms, two ways
DEGREE_TERMS = 4  # logarithms of both degrees of the source and of the target
RANKED_EDGES = 1 << 10  # hidden edges of a trial whose targets are ranked: the mean then varies by some 0.01
RANKED_TARGETS = 1 << 12  # nodes among which they are ranked
RANKING_BYTES = 24  # for a score: itself, its copy, masks
MOST_RANKING = 1 << 24  # bytes in a block of rankings
SHORT_LIST = 20  # best targets of a node, of all nodes, among which hidden ones are looked for


Terms = tuple[dict[str, float], ...]  # coefficients of each part, by term


class Formula(NamedTuple):
    """Coefficients of the score of an edge from i to j, see :class:`EdgeDecoder`, and what ranks the targets of i."""

    forward: Terms  # of what the parts say of an edge from i to j
    backward: Terms  # of what they say of one from j to i
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
    """Scores of edges from i to j, linear in what the parts U diag(s) V' of an embedding and the degrees say of them.

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
            begun = {term: own[term] * _start_vectors(self.parts, nodes, number, term, width) for term in own}
            if FACTORS in begun or STEP in begun:
                yield np.asarray(begun.get(FACTORS, 0) + begun.get(STEP, 0))
            if COSINE in begun:
                yield begun[COSINE]

    def _ends(self, nodes: Nodes, terms: Terms) -> Iterator[np.ndarray]:
        """Vectors of nodes where an edge ends."""
        for number, own in enumerate(terms):
            if FACTORS in own or STEP in own:
                yield _end_vectors(self.parts, nodes, number, FACTORS, self.formula.width)
            if COSINE in own:
                yield _end_vectors(self.parts, nodes, number, COSINE, self.formula.width)

    def of_pairs(self, nodes: Nodes, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Scores of the pairs (rows[i], columns[i]) of nodes, in blocks that compute each node only once."""
        scores = np.empty(len(rows))
        for block, (sources, row), (targets, column) in _blocks(nodes, (rows, columns), self.parts):
            scores[block] = np.einsum("ij,ij->i", self.sources(sources)[row], self.targets(targets)[column])
        return scores + self.formula.reverse * _is_edge(nodes.inward, rows, columns)

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
        """The same, ranked by factors, but by scores for nodes whose factors are zero, such as those without edges.

        All triplets of the first part count, also those beyond the width that scores were learned with.
        """
        placed = np.asarray(nodes.vectors[0].source.any(axis=1))
        best, values = np.empty((len(placed), k), dtype=np.intp), np.empty((len(placed), k))
        by_kernel = replace(self, formula=by_factors(len(self.parts)))
        by_scores = replace(self, formula=self.formula._replace(ranking=LEARNED))
        for decoder, rows in ((by_kernel, np.flatnonzero(placed)), (by_scores, np.flatnonzero(~placed))):
            if len(rows):
                best[rows], values[rows] = decoder.best_targets(some_nodes(nodes, rows), k, leave_out[rows])
        return best, values


def learns_scores(decoder: str, A: sparse.csr_array) -> bool:
    """Whether a decoder, "auto", "learned" or "factors", learns on a graph; ValueError if it is to and cannot."""
    if decoder == FACTORS:
        return False
    if isinstance(A, AdjacencyBlocks):
        missing = "all edges in memory, not in blocks"
    elif (least := A.data.min()) < 0:
        missing = f"weights >= 0, as it takes steps with probabilities P = D^-1 A, but the least is {least:g}"
    else:
        return True
    if decoder == LEARNED:
        raise ValueError(f"decoder='learned' needs {missing}; use decoder='factors'")
    return False


def by_factors(n_parts: int, width: int | None = None) -> Formula:
    """The formula that scores an edge by its kernel, that of the first part if there are several."""
    return Formula(_by_part([(0, FACTORS)], np.ones(1), n_parts), _by_part([], np.empty(0), n_parts), width=width)


def learned(parts_of: Sequence[Sequence[Part]], seen: Sequence[Trial]) -> Formula:
    """Learn, by logistic regression, the formula that separates hidden edges of the trials from other pairs.

    ``parts_of`` holds the parts of each trial. Scores are log-odds, up to a constant, since a graph has more pairs per
    edge than a trial has. Forward terms have coefficients >= 0: edges that are known are not to score less for being
    near. Hiding an edge may cut the graph, as that of a tree does, and hidden edges are then told by being far, which
    backward terms say too. If known edges then score less than other pairs, a term's coefficients of both ways have
    a sum >= 0. Of all triplets, half of them, a quarter and so on, the most are used whose likelihood is within a
    standard error of the best: where a few roles or communities make a graph, the triplets beyond them are noise. Cost:
    O(pairs k), once the trials are embedded.
    """
    known = [known_nodes(parts, trial.adjacency) for parts, trial in zip(parts_of, seen, strict=True)]
    widest = max(len(part.s) for part in parts_of[0])
    if not any(len(trial.negative[0]) for trial in seen):  # every pair is an edge
        return by_factors(len(parts_of[0]), widest)
    for both_ways in (False, True):
        widths = [widest >> halvings for halvings in range(widest.bit_length())]
        tried = [_learned_at(width, parts_of, known, seen, both_ways) for width in widths]
        formula = tried[simplest_of_the_best([losses for _, losses in tried])][0]
        if not _contradicts_known_edges(formula, parts_of, known, seen):
            break
    return formula


def _contradicts_known_edges(
    formula: Formula, parts_of: Sequence[Sequence[Part]], known: Sequence[Nodes], seen: Sequence[Trial]
) -> bool:
    """Whether edges that trials know score less than pairs that are none, by more than a standard error of ranks."""
    scores: tuple[list[np.ndarray], list[np.ndarray]] = [], []
    for parts, nodes, trial in zip(parts_of, known, seen, strict=True):
        u, v = trial.adjacency.nonzero()
        u, v = u[u != v], v[u != v]
        some = np.linspace(0, len(u) - 1, min(len(u), len(trial.hidden[0]))).astype(np.int64)
        decoder = EdgeDecoder(formula, parts, nodes)
        for found, pairs in zip(scores, ((u[some], v[some]), trial.negative), strict=True):
            found.append(decoder.of_pairs(nodes, *pairs))
    edges, others = map(np.concatenate, scores)
    count, ordered = len(edges) * len(others), np.sort(others)
    wins = sum(int(np.searchsorted(ordered, edges, side).sum()) for side in ("left", "right")) / 2
    return wins < count / 2 - float(np.sqrt(count * (len(edges) + len(others) + 1) / 12))  # that of Mann and Whitney


def _learned_at(
    width: int, parts_of: Sequence[Sequence[Part]], known: Sequence[Nodes], seen: Sequence[Trial], both_ways: bool
) -> tuple[Formula, np.ndarray]:
    """The formula of the leading triplets, and its loss on each pair, minus the logarithm of its likelihood."""
    terms = [(number, term) for number, part in enumerate(parts_of[0]) for term in part.terms]
    numbers, truth = [], []
    for parts, nodes, trial in zip(parts_of, known, seen, strict=True):
        for pairs, label in ((trial.hidden, 1), (trial.negative, 0)):
            numbers.append(_pair_features(parts, nodes, terms, pairs, width))
            truth.append(np.full(len(pairs[0]), label))
    X, y = np.concatenate(numbers), np.concatenate(truth)
    weights, constant = fit_terms(X, y, len(terms), both_ways=both_ways)
    forward, backward, others = np.split(weights, [len(terms), 2 * len(terms)])
    n_parts, (*degree, reverse) = len(parts_of[0]), others
    ways = _by_part(terms, forward, n_parts), _by_part(terms, backward, n_parts)
    score = X @ weights + constant
    losses = np.logaddexp(0, np.where(y, -score, score))
    return Formula(*ways, np.array(degree), float(reverse), constant, LEARNED, width), losses


def with_better_ranking(formula: Formula, parts_of: Sequence[Sequence[Part]], seen: Sequence[Trial]) -> Formula:
    """The same scores, but the best targets of a node by factors, where these rank hidden targets of trials higher.

    The scores that best separate edges from other pairs need not be those that best rank the targets of one node.
    """
    recalls = [_recalls(formula, parts, trial) for parts, trial in zip(parts_of, seen, strict=True)]
    by_scores, by_kernel = np.mean(recalls, axis=0)
    return formula if by_scores >= by_kernel else formula._replace(ranking=FACTORS)


def _recalls(formula: Formula, parts: Sequence[Part], trial: Trial) -> tuple[float, float]:
    """Share of hidden targets among the 20 best new targets of their sources, by scores and by factors.

    Cost: that of scoring 2^10 sources and 2^12 targets, of which large graphs give a sample.
    """
    n, (u, v) = trial.adjacency.shape[0], (side[:RANKED_EDGES] for side in trial.hidden)
    nodes = known_nodes(parts, trial.adjacency)
    others = np.linspace(0, n - 1, min(n, RANKED_TARGETS)).astype(np.int64)
    length = max(1, round(SHORT_LIST * len(others) / n))
    decoders = [EdgeDecoder(one, parts, nodes) for one in (formula, by_factors(len(parts)))]
    targets = [one.targets(some_nodes(nodes, others)) for one in decoders]
    found = np.zeros(2)
    for block in blocks_of(len(u), RANKING_BYTES * len(others), MOST_RANKING):
        sources, own = some_nodes(nodes, u[block]), u[block, None]
        taken = trial.adjacency[u[block]][:, others].toarray() != 0
        taken |= (others == own) | (others == v[block, None])
        for number, (one, candidates) in enumerate(zip(decoders, targets, strict=True)):
            scores = one.sources(sources) @ candidates.T
            if one.formula.reverse:
                scores[sources.inward[:, others].nonzero()] += one.formula.reverse
            above = (scores >= one.of_pairs(nodes, u[block], v[block])[:, None]) & ~taken
            found[number] += np.count_nonzero(above.sum(axis=1) < length)
    return found[0] / len(u), found[1] / len(u)


def _pair_features(
    parts: Sequence[Part], nodes: Nodes, terms: list[tuple[int, str]], pairs: Pairs, width: int
) -> np.ndarray:
    """What the decoder weighs for each pair: terms both ways, four degrees, and whether the reverse is an edge."""
    forward, backward = np.empty((2, len(pairs[0]), len(terms)))
    for block, (sources, row), (targets, column) in _blocks(nodes, pairs, parts):
        for number, (part, term) in enumerate(terms):
            which = part, term, width
            starts, ends = _start_vectors(parts, sources, *which), _end_vectors(parts, targets, *which)
            forward[block, number] = np.einsum("ij,ij->i", starts[row], ends[column])
            ends, starts = _end_vectors(parts, sources, *which), _start_vectors(parts, targets, *which)
            backward[block, number] = np.einsum("ij,ij->i", ends[row], starts[column])
    degrees = [side[ids] for ids in pairs for side in nodes.degrees]
    return np.column_stack([forward, backward, *degrees, _is_edge(nodes.inward, *pairs)])


def _start_vectors(parts: Sequence[Part], nodes: Nodes, number: int, term: str, width: int | None) -> np.ndarray:
    """Vectors of nodes where an edge begins; inner products with those where it ends are a term of a part."""
    part, s = parts[number], parts[number].s[:width]
    if term == STEP:
        return np.asarray(nodes.steps @ part.U[:, :width]) * s
    reached = nodes.vectors[number].source[:, :width] * s
    return unit_or_zero_rows(reached, s[0]) if term == COSINE else reached


def _end_vectors(parts: Sequence[Part], nodes: Nodes, number: int, term: str, width: int | None) -> np.ndarray:
    """Vectors of nodes where an edge ends."""
    V, s = nodes.vectors[number].target[:, :width], parts[number].s[:width]
    return unit_or_zero_rows(V * s, s[0]) if term == COSINE else V


def _blocks(
    nodes: Nodes, pairs: Pairs, parts: Sequence[Part]
) -> Iterator[tuple[slice, tuple[Nodes, np.ndarray], tuple[Nodes, np.ndarray]]]:
    """Blocks of pairs: for each side its distinct nodes, and the place of each pair's node among them."""
    bytes_per_pair = SCORE_BYTES * VECTORS_PER_PAIR * sum(len(part.s) for part in parts)
    for block in blocks_of(len(pairs[0]), bytes_per_pair, BLOCK_BYTES):
        (u, row), (v, column) = (np.unique(side[block], return_inverse=True) for side in pairs)
        yield block, (some_nodes(nodes, u), row), (some_nodes(nodes, v), column)


def _by_part(terms: list[tuple[int, str]], weights: np.ndarray, n_parts: int) -> Terms:
    found: Terms = tuple({} for _ in range(n_parts))
    for (part, term), weight in zip(terms, weights, strict=True):
        found[part][term] = float(weight)
    return found


def _is_edge(edges: sparse.csr_array, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
    return np.asarray(edges[rows, columns]).ravel() != 0 if len(rows) else np.zeros(0, dtype=bool)
