"""The methods of the table of graphs: each takes an adjacency and a rank and returns embeddings to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy import sparse

import peers
from lopsided import DirectedGraphEmbedding, KernelSVD
from lopsided.kernels import RBF, SNE, Katz, Kernel, NodeKernel

SEED = 0
BANDWIDTHS = (1.0, 2.0, 4.0, 8.0, 16.0)
TOLERANCE = 1e-3


class Embedding(NamedTuple):
    """Source and target vectors; pairs whose products are the kernel and the scores of edges, where they are others."""

    source: np.ndarray
    target: np.ndarray
    factors: tuple[np.ndarray, np.ndarray] | None = None
    edges: tuple[np.ndarray, np.ndarray] | None = None

    @classmethod
    def of(cls, model: DirectedGraphEmbedding) -> Embedding:
        """Vectors of a fitted model, the product of its factors and its own scores."""
        s = model.singular_values_
        kept = s > np.finfo(s.dtype).eps * len(model.nodes_) * s[0]
        source = model.source_embedding_ * (np.where(kept, s, 1) ** (1 - 2 * model.scaling) * kept)
        target = model.target_embedding_
        return cls(model.source_embedding_, target, (source, target), model.edge_vectors())


Candidates = dict[str, Embedding]


def default(A: sparse.csr_array, k: int) -> Candidates:
    """The library's embedding as it comes."""
    return {"": Embedding.of(DirectedGraphEmbedding(k).fit(A))}


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
        source, target, factors, edges = decomposed(A, k, SNE(bandwidth), self_loops=1.0)
        found[f"SNE {bandwidth:g}"] = Embedding(A.shape[0] * source, A.shape[0] * target, factors, edges)
        found[f"RBF {bandwidth:g}"] = decomposed(A, k, RBF(bandwidth), self_loops=1.0)
    return found


def decomposed(A: sparse.csr_array, k: int, kernel: Kernel, self_loops: float = 0.0, scaling: float = 1.0) -> Embedding:
    """Kernel SVD of a graph."""
    model = DirectedGraphEmbedding(k, kernel=kernel, self_loops=self_loops, scaling=scaling, tol=TOLERANCE)
    return Embedding.of(model.fit(A))


METHODS: dict[str, Callable[[sparse.csr_array, int], Candidates]] = {
    "default": default,
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
OURS = ("default", "PCA", "KPCA", "SVD", "KernelSVD", "HOPE")  # what runs without the peers' packages
FIXED = ("default",)  # vectors of length one, links by product
LINK_METHODS = ("default", "SVD", "HOPE", "sknetwork SVD", "sknetwork Spectral", "DeepWalk", "DiGAE")
