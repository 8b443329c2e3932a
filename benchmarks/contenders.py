"""The rows of the tables of nodes and links: our embeddings and the peers, by name, as features and as scores."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple, Protocol

import numpy as np
from scipy import sparse
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import PolynomialFeatures, StandardScaler, normalize

import peers
from lopsided import DirectedGraphEmbedding
from lopsided.kernels import Diffusion, Katz, NodeKernel

TOLERANCE = 1e-3  # of single kernels: more is lost on no classifier and no ranking
BLOCK_ENTRIES = 1 << 24
Vectors = tuple[np.ndarray, np.ndarray]

PROXIMITY = Diffusion(restart=0.2, direction="last", transform="root", threshold=1e-4)
DEFAULT: dict[str, dict[str, Any]] = {"default": {}}
KERNELS: dict[str, dict[str, Any]] = {
    "proximity": {"kernel": PROXIMITY},
    "diffusion": {"kernel": Diffusion()},
    "linear": {"kernel": NodeKernel()},
    "linear, A + I": {"kernel": NodeKernel(), "self_loops": 1.0},
    "linear, normalised": {"kernel": NodeKernel(), "normalize": "both"},
    "Katz": {"kernel": Katz()},
    "SNE": {"kernel": "sne", "self_loops": 1.0},
    "RBF": {"kernel": "rbf", "self_loops": 1.0},
}
FACTORS = {"decoder": "factors"}
BY_FACTORS: dict[str, dict[str, Any]] = {f"{name}, by factors": KERNELS[name] | FACTORS for name in KERNELS}
PACKAGES: dict[str, Callable[[sparse.csr_array, int, int], Vectors]] = {  # what a smoke run does without
    "sknetwork SVD": lambda A, k, seed: peers.network_svd(A, k),
    "sknetwork Spectral": lambda A, k, seed: peers.network_spectral(A, k),
    "DeepWalk": peers.deepwalk,
    "node2vec, q = 1/2": lambda A, k, seed: peers.node2vec(A, k, seed, p=1.0, q=0.5),
    "node2vec, q = 2": lambda A, k, seed: peers.node2vec(A, k, seed, p=1.0, q=2.0),
    "DiGAE": lambda A, k, seed: peers.digae(A, seed),
}
EMBEDDINGS: dict[str, Callable[[sparse.csr_array, int, int], Vectors]] = {
    "HOPE": peers.hope,
    "ProNE": peers.prone,
    "STRAP": peers.strap,
    **PACKAGES,
}
HEURISTICS: dict[str, Callable[[sparse.csr_array], Any]] = {
    "degrees": peers.degrees,
    "preferential attachment": peers.preferential_attachment,
    "PageRank": peers.pagerank,
    "common neighbours": peers.common_neighbours,
    "Adamic-Adar": peers.adamic_adar,
    "rooted PageRank": peers.rooted_pagerank,
}
DEGREE_FEATURES = make_pipeline(StandardScaler(), PolynomialFeatures(3))  # roles are ranges of degrees, no half-planes
TOLERANCES: dict[str, dict[str, Any]] = {f"default, tol {tol}": {"tol": tol} for tol in (0.05, 0.2, 1.0)}  # ablation
OURS = DEFAULT | KERNELS | BY_FACTORS
NODE_METHODS = (*DEFAULT, *KERNELS, *EMBEDDINGS, "degrees")
LINK_METHODS = (*OURS, *EMBEDDINGS, *HEURISTICS)


def features(method: str, A: sparse.csr_array, k: int, seed: int) -> list[np.ndarray]:
    """Node vectors to choose from: ours as they come, peers' as they are and of length one, and degrees."""
    if method in OURS | TOLERANCES:
        needless = FACTORS if method in KERNELS else {}  # a learned decoder costs an embedding and changes no vector
        return [_model(method, k).set_params(**needless).fit_transform(A)]
    if method == "degrees":
        return [DEGREE_FEATURES.fit_transform(np.log(np.hstack(peers.degrees(A))))]
    source, target = EMBEDDINGS[method](A, _rank(A, k), seed)
    X = source if source is target else np.hstack([source, target])
    return [X, normalize(X)]


class Scorer(Protocol):
    """Scores of pairs, and the best new targets of sources."""

    def pairs(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Scores of edges from u to v."""

    def targets(self, rows: np.ndarray, k: int) -> np.ndarray:
        """The best k targets of each row, without itself and those it links to."""


def scorers(method: str, A: sparse.csr_array, k: int, seed: int) -> list[Scorer]:
    """Scorers to choose from: ours as they come, peers' vectors by product and by distance."""
    if method in OURS:
        return [ByModel(_model(method, k).fit(A))]
    if method in HEURISTICS:
        found = HEURISTICS[method](A)
        return [ByVectors(*found, A) if isinstance(found, tuple) else ByMatrix(found, A)]
    source, target = EMBEDDINGS[method](A, _rank(A, k), seed)
    return [ByVectors(source, target, A), ByVectors(*by_distance(source, target), A)]


class ByModel(NamedTuple):
    """Our own scores and recommendations."""

    model: DirectedGraphEmbedding

    def pairs(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Scores of edges from u to v."""
        return self.model.score_edges(u, v)

    def targets(self, rows: np.ndarray, k: int) -> np.ndarray:
        """The best new targets."""
        return self.model.nearest_targets(rows, k, new_only=True)


class ByVectors(NamedTuple):
    """Products of source and target vectors."""

    source: np.ndarray
    target: np.ndarray
    known: sparse.csr_array

    def pairs(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Scores of edges from u to v."""
        return np.einsum("ij,ij->i", self.source[u], self.target[v])

    def targets(self, rows: np.ndarray, k: int) -> np.ndarray:
        """The best new targets."""
        return best_targets(lambda some: self.source[some] @ self.target.T, rows, k, self.known)


class ByMatrix(NamedTuple):
    """Entries of a sparse matrix."""

    matrix: sparse.csr_array
    known: sparse.csr_array

    def pairs(self, u: np.ndarray, v: np.ndarray) -> np.ndarray:
        """Scores of edges from u to v."""
        return np.asarray(self.matrix[u, v]).ravel()

    def targets(self, rows: np.ndarray, k: int) -> np.ndarray:
        """The best new targets."""
        return best_targets(lambda some: self.matrix[some].toarray(), rows, k, self.known)


def best_targets(
    score: Callable[[np.ndarray], np.ndarray], rows: np.ndarray, k: int, known: sparse.csr_array
) -> np.ndarray:
    """The columns of the k largest scores of each row that are new, in blocks of rows."""
    found = []
    for some in np.array_split(rows, 1 + len(rows) * known.shape[0] // BLOCK_ENTRIES):
        scores = score(some)
        scores[known[some].nonzero()] = -np.inf
        scores[np.arange(len(some)), some] = -np.inf
        found.append(np.argpartition(-scores, k - 1, axis=1)[:, :k])
    return np.concatenate(found)


def by_distance(source: np.ndarray, target: np.ndarray) -> Vectors:
    """Vectors whose products are -|source - target|^2 / 2, in double precision, for squares cancel."""
    source, target = source.astype(float), target.astype(float)
    ones = np.ones((len(source), 1))
    lengths = [np.einsum("ij,ij->i", side, side)[:, None] / 2 for side in (source, target)]
    return np.hstack([source, -lengths[0], ones]), np.hstack([target, ones, -lengths[1]])


def _model(method: str, k: int) -> DirectedGraphEmbedding:
    return DirectedGraphEmbedding(
        k, **({"tol": TOLERANCE} if method not in DEFAULT else {}) | (OURS | TOLERANCES)[method]
    )


def _rank(A: sparse.csr_array, k: int) -> int:
    return min(k, A.shape[0] - 2)
