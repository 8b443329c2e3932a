"""The methods of the table of graphs: each takes an adjacency and a rank and returns embeddings to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

import peers
from lopsided import DirectedGraphEmbedding, KernelSVD
from lopsided.kernels import RBF, SNE, Diffusion, Katz, Kernel, NodeKernel

SEED = 0
BANDWIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
TOLERANCE = 1e-3
RESTART, EXACT_NODES, THRESHOLD = 0.2, 12_000, 1e-4


class Embedding(NamedTuple):
    """Source and target vectors; an edge from i to j scores (source[i] * weights) . target[j]."""

    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray | float = 1.0

    @classmethod
    def of(cls, model: DirectedGraphEmbedding) -> Embedding:
        """Vectors of a fitted model, and its own scores."""
        s = model.singular_values_
        kept = s > np.finfo(s.dtype).eps * len(model.nodes_) * s[0]
        weights = np.where(kept, s, 1) ** (1 - 2 * model.scaling) * kept
        return cls(model.source_embedding_, model.target_embedding_, weights)


Candidates = dict[str, Embedding]


def default(A: sparse.csr_array, k: int) -> Candidates:
    """The library's embedding as it comes."""
    return {"": Embedding.of(DirectedGraphEmbedding(k).fit(A))}


def lazy_walk(A: sparse.csr_array, k: int) -> Candidates:
    """Kernel SVD of sqrt(M (I + P) / 2); a node without edges to follow stays."""
    n, out = A.shape[0], A.sum(axis=1)
    stay = sparse.diags_array(np.where(out > 0, 0.5, 1).astype(A.dtype))
    step = sparse.csr_array(stay + sparse.diags_array((0.5 / np.maximum(out, 1)).astype(A.dtype)) @ A)
    S = sparse.csr_array(A + A.T)
    if n <= EXACT_NODES:
        P = S.toarray() / np.maximum(S.sum(axis=1), 1)[:, None]
        K = np.linalg.solve(np.eye(n, dtype=A.dtype) - (1 - RESTART) * P, RESTART * step.toarray())
        K = np.sqrt(np.maximum(K, 0))
    else:
        nodes = np.arange(n)[:, None]
        walk = Diffusion(A, restart=RESTART, direction="undirected", transform=None, threshold=THRESHOLD)
        M = walk.fit(nodes, nodes).matrix_ + RESTART * sparse.eye_array(n, dtype=A.dtype)
        K = sparse.csr_array(M @ step).sqrt()
    model = KernelSVD(k, kernel="precomputed", tol=TOLERANCE).fit(K)
    s = model.singular_values_
    return {"": Embedding(model.left_vectors_ * s, model.right_vectors_ * s, 1 / s)}


def pca(A: sparse.csr_array, k: int) -> Candidates:
    """Scores of the rows, not centred."""
    return {name: Embedding(found.source, found.source) for name, found in svd(A, k).items()}


def svd(A: sparse.csr_array, k: int) -> Candidates:
    """Scores of rows and of columns, without self-loops and with them."""
    return {name: decomposed(A, k, NodeKernel(), loops) for name, loops in (("A", 0.0), ("A + I", 1.0))}


def hope(A: sparse.csr_array, k: int) -> Candidates:
    """Katz similarity and linear SVD (Ou et al., 2016), which splits singular values evenly."""
    return {"": decomposed(A, k, Katz(), scaling=0.5)}


def kernel_pca(A: sparse.csr_array, k: int) -> Candidates:
    """RBF between rows."""
    found = {}
    for bandwidth in BANDWIDTHS:
        X = KernelSVD(k, kernel=RBF(bandwidth), tol=TOLERANCE).fit_transform(A, Z=A)
        found[f"RBF {bandwidth:g}"] = Embedding(X, X)
    return found


def kernel_svd(A: sparse.csr_array, k: int) -> Candidates:
    """SNE and RBF between rows and columns of A + I; SNE with rows of mean one, as C = 1 is blind to small vectors."""
    found = {}
    for bandwidth in BANDWIDTHS:
        source, target, weights = decomposed(A, k, SNE(bandwidth), self_loops=1.0)
        found[f"SNE {bandwidth:g}"] = Embedding(A.shape[0] * source, A.shape[0] * target, weights)
        found[f"RBF {bandwidth:g}"] = decomposed(A, k, RBF(bandwidth), self_loops=1.0)
    return found


def decomposed(A: sparse.csr_array, k: int, kernel: Kernel, self_loops: float = 0.0, scaling: float = 1.0) -> Embedding:
    """Kernel SVD of a graph."""
    model = DirectedGraphEmbedding(k, kernel=kernel, self_loops=self_loops, scaling=scaling, tol=TOLERANCE)
    return Embedding.of(model.fit(A))


METHODS: dict[str, Callable[[sparse.csr_array, int], Candidates]] = {
    "default": default,
    "lazy walk": lazy_walk,
    "PCA": pca,
    "KPCA": kernel_pca,
    "SVD": svd,
    "KernelSVD": kernel_svd,
    "HOPE": hope,
    "sknetwork SVD": lambda A, k: {"": Embedding(*peers.network_svd(A, k))},
    "sknetwork Spectral": lambda A, k: {"": Embedding(*peers.network_spectral(A, k))},
    "DeepWalk": lambda A, k: {"": Embedding(*peers.deepwalk(A, SEED))},
    "DiGAE": lambda A, k: {"": Embedding(*peers.digae(A, SEED))},
}
OURS = ("default", "lazy walk", "PCA", "KPCA", "SVD", "KernelSVD", "HOPE")  # what runs without the peers' packages
FIXED = ("default", "lazy walk")  # vectors of length one, links by product
LINK_METHODS = ("default", "lazy walk", "SVD", "HOPE", "sknetwork SVD", "sknetwork Spectral", "DeepWalk", "DiGAE")
