"""Several parts of an embedding in one: how much each counts, and the components that hold most of all of them."""

from collections.abc import Callable, Sequence
from typing import NamedTuple, Self, TypeVar

import numpy as np
from sklearn.metrics import roc_auc_score

from .._core import eigh, run, slices_of
from ..svd import canonical_signs
from .nodes import Nodes, some_nodes
from .parts import Part, Sides, unit_or_zero_rows
from .trials import Trial

Result = TypeVar("Result")
NOTHING = np.empty((0, 0))
LOG_2 = np.log(2.0)
SLAB_ROWS = 1 << 12  # nodes whose features are held at once
MOST_SAMPLED = 1 << 15  # nodes from which the components are found
# Chosen on the first half of the graphs of benchmarks/graphs_nodes.py, whose `ablation` changes them.
MOST_WEIGHT = 4.0  # of the links beside proximity, if every edge runs one way: nearly links alone
MUTUAL_WEIGHT = 0.5  # the same if every edge has its reverse, and links carry no direction
DEGREE_WEIGHT = 0.5  # of the degrees beside all parts together


class Blend(NamedTuple):
    """Features of nodes from several parts and from degrees, side by side, and their leading principal components.

    A node with singular vectors u, v of a part has the source features w u s^scaling / l and the target features
    w v s^scaling / l, where l is the length of both together: within a part, hubs weigh no more than other nodes. Its
    degrees add hat functions of log2(1 + degree), with a peak at every whole number, of which at most two are nonzero.
    The components are found without subtracting means.
    """

    weights: tuple[float, ...]  # of the parts
    scaling: float
    levels: tuple[int, int]  # numbers of hat functions, of out-degrees and of in-degrees
    left: np.ndarray = NOTHING  # (width, k), components of the source features
    right: np.ndarray = NOTHING  # (width, k), of the target features
    both: np.ndarray = NOTHING  # (2 width, 2 k), of source and target features side by side

    @classmethod
    def of(
        cls, parts: Sequence[Part], nodes: Nodes, weights: tuple[float, ...], scaling: float, k: int, seed: int
    ) -> Self:
        """Find the components, from a sample of the nodes if there are many. Cost O(nodes width^2)."""
        n, rows = len(parts[0].U), np.arange(len(parts[0].U))
        if n > MOST_SAMPLED:
            rows = np.sort(np.random.default_rng(seed).choice(n, MOST_SAMPLED, replace=False))
        blend = cls(weights, scaling, (_levels(nodes.degrees.out), _levels(nodes.degrees.into)))

        def gram(slab: slice) -> np.ndarray:
            features = np.hstack(blend.features(parts, some_nodes(nodes, rows[slab])))
            return features.T @ features

        G = np.sum(run(gram, slices_of(len(rows), SLAB_ROWS)), axis=0)
        width = sum(len(part.s) for part in parts) + blend.levels[0]
        corners = (G[:width, :width], k), (G[width:, width:], k), (G, 2 * k)
        left, right, both = (_leading(*corner) for corner in corners)
        return blend._replace(left=left, right=right, both=both)

    def of_parts(self, parts: Sequence[Part], nodes: Nodes) -> tuple[list[np.ndarray], list[np.ndarray]]:
        """Source and target features of nodes in each part, without their degrees."""
        sources, targets = [], []
        for part, weight, vectors in zip(parts, self.weights, nodes.vectors, strict=True):
            powers = part.power(self.scaling)
            both = unit_or_zero_rows(np.hstack([side * powers for side in vectors]), powers[0])
            sources.append(weight * both[:, : len(powers)])
            targets.append(weight * both[:, len(powers) :])
        return sources, targets

    def features(self, parts: Sequence[Part], nodes: Nodes) -> Sides:
        """Source and target features of nodes."""
        sources, targets = self.of_parts(parts, nodes)
        own = DEGREE_WEIGHT * np.linalg.norm(self.weights) / 2**0.5
        hats = [_hats(side / LOG_2, levels) for side, levels in zip(nodes.degrees, self.levels, strict=True)]
        linked = (nodes.degrees.out + nodes.degrees.into > 0)[:, None]
        for side, hat in zip((sources, targets), hats, strict=True):
            side.append((own * linked * hat / np.linalg.norm(hat, axis=1, keepdims=True)).astype(sources[0].dtype))
        return Sides(np.hstack(sources), np.hstack(targets))

    def embedding(self, parts: Sequence[Part], nodes: Nodes) -> Sides:
        """Source and target vectors, the leading components of either side."""

        def slab(rows: slice) -> tuple[np.ndarray, np.ndarray]:
            source, target = self.features(parts, some_nodes(nodes, rows))
            return source @ self.left, target @ self.right

        return Sides(*map(np.concatenate, zip(*_in_slabs(slab, nodes), strict=True)))

    def of_both(self, parts: Sequence[Part], nodes: Nodes) -> np.ndarray:
        """Leading components of both sides together, which repeat nothing that the sides have in common."""
        return np.concatenate(
            _in_slabs(lambda rows: np.hstack(self.features(parts, some_nodes(nodes, rows))) @ self.both, nodes)
        )


def weights_by_trials(
    parts_of: Sequence[Sequence[Part]], seen: Sequence[Trial], scaling: float, mutual: float
) -> tuple[float, float]:
    """Weights of proximity and of links: 1 and (1 - g) / g, where g measures how well proximity predicts hidden edges.

    g = 2 AUC - 1, of the cosine between the vectors of two nodes, for hidden edges against matched pairs: one if edges
    lead to near nodes only, as in communities; zero if proximity says nothing of them, as where roles decide. The
    weight of links is at most 4 (1 - mutual) + mutual / 2, where ``mutual`` is the share of edges that have their
    reverse: the less of a direction links have, the less they know that proximity does not. Without a trial the
    weights are one and at most one.
    """
    most = MOST_WEIGHT * (1 - mutual) + MUTUAL_WEIGHT * mutual
    scores = []
    for (part, *_), trial in zip(parts_of, seen, strict=True):
        if len(trial.matched[0]):
            powers = part.power(scaling)
            truth = np.repeat([1, 0], [len(trial.hidden[0]), len(trial.matched[0])])
            pairs = [np.concatenate(side) for side in zip(trial.hidden, trial.matched, strict=True)]
            vectors = (np.hstack([part.U[ids] * powers, part.V[ids] * powers]) for ids in pairs)
            X, Z = (unit_or_zero_rows(side, powers[0]) for side in vectors)
            scores.append(roc_auc_score(truth, np.einsum("ij,ij->i", X, Z)))
    if not scores:
        return 1.0, min(most, 1.0)
    gain = max(2 * float(np.mean(scores)) - 1, 0.0)
    return 1.0, min(most, (1 - gain) / gain if gain else most)


def _in_slabs(of_rows: Callable[[slice], Result], nodes: Nodes) -> list[Result]:
    """Results of a function for slabs of nodes, so that the features of all nodes are never in memory at once."""
    return run(of_rows, slices_of(len(nodes.degrees.out), SLAB_ROWS))


def _levels(logarithms: np.ndarray) -> int:
    """Number of hat functions that cover degrees, given log(1 + degree)."""
    return int(logarithms.max() / LOG_2) + 2


def _hats(x: np.ndarray, levels: int) -> np.ndarray:
    """Hat functions max(0, 1 - |x - c|) at c = 0, ..., levels - 1; x beyond the last counts as the last."""
    return np.maximum(0, 1 - np.abs(np.minimum(x, levels - 1)[:, None] - np.arange(levels)))


def _leading(G: np.ndarray, k: int) -> np.ndarray:
    """Eigenvectors of the k largest eigenvalues of a Gram matrix, with canonical signs."""
    _, W = eigh(G)
    W = np.ascontiguousarray(W[:, ::-1][:, :k])
    return W * canonical_signs(W)
