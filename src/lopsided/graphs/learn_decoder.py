"""Learn how edges are scored, from edges that were hidden from an embedding."""

from collections.abc import Sequence

import numpy as np
from scipy import sparse
from scipy.stats import mannwhitneyu

from .._core import AdjacencyBlocks, blocks_of, simplest_of_the_best
from .decoder import EdgeDecoder, Formula, Terms, blocks_of_pairs, by_factors, end_vectors, is_edge, start_vectors
from .kernel_choice import FACTORS, LEARNED
from .logistic import fit_terms
from .nodes import Nodes, known_nodes, some_nodes
from .parts import Part
from .trials import Pairs, Trial

RANKED_EDGES = 1 << 10  # hidden edges of a trial whose targets are ranked: the mean then varies by some 0.01
RANKED_TARGETS = 1 << 12  # nodes among which they are ranked
RANKING_BYTES = 24  # for a score: itself, its copy, masks
MOST_RANKING = 1 << 24  # bytes in a block of rankings
CONTRADICTED = 0.16  # probability of ranks as low: a standard error below the middle
SHORT_LIST = 20  # best targets of a node, of all nodes, among which hidden ones are looked for


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
    """Whether edges that trials know score less than pairs that are none, by the test of Mann and Whitney."""
    scores: tuple[list[np.ndarray], list[np.ndarray]] = [], []
    for parts, nodes, trial in zip(parts_of, known, seen, strict=True):
        u, v = trial.adjacency.nonzero()
        u, v = u[u != v], v[u != v]
        sample = np.linspace(0, len(u) - 1, min(len(u), len(trial.hidden[0]))).astype(np.int64)
        decoder = EdgeDecoder(formula, parts, nodes)
        for found, pairs in zip(scores, ((u[sample], v[sample]), trial.negative), strict=True):
            found.append(decoder.of_pairs(nodes, *pairs))
    edges, others = map(np.concatenate, scores)
    return bool(mannwhitneyu(edges, others, alternative="less", method="asymptotic").pvalue < CONTRADICTED)


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
    for block, (sources, row), (targets, column) in blocks_of_pairs(nodes, pairs, parts):
        for number, (part, term) in enumerate(terms):
            which = part, term, width
            starts, ends = start_vectors(parts, sources, *which), end_vectors(parts, targets, *which)
            forward[block, number] = np.einsum("ij,ij->i", starts[row], ends[column])
            ends, starts = end_vectors(parts, sources, *which), start_vectors(parts, targets, *which)
            backward[block, number] = np.einsum("ij,ij->i", ends[row], starts[column])
    degrees = [side[ids] for ids in pairs for side in nodes.degrees]
    return np.column_stack([forward, backward, *degrees, is_edge(nodes.inward, *pairs)])


def _by_part(terms: list[tuple[int, str]], weights: np.ndarray, n_parts: int) -> Terms:
    """Coefficients of terms, each given by its part and name, as a table of terms for every part."""
    found: Terms = tuple({} for _ in range(n_parts))
    for (part, term), weight in zip(terms, weights, strict=True):
        found[part][term] = float(weight)
    return found
