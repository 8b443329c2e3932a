"""The methods of the table of graphs: each takes an adjacency and a rank and returns embeddings to choose from."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

import peers
from lopsided import DirectedGraphEmbedding, KernelSVD
from lopsided.kernels import RBF, SNE, Katz, Kernel, NodeKernel

SEED = 0
BANDWIDTHS = (3.0, 10.0, 30.0)
TOLERANCE = 1e-3
WALKED = 128  # components of DeepWalk
SPECTRAL = 128  # components of scikit-network's Spectral, which takes minutes for more


class Embedding(NamedTuple):
    """Source and target vectors; a pair whose products reconstruct edges, and features, where they are others."""

    source: np.ndarray
    target: np.ndarray
    factors: tuple[np.ndarray, np.ndarray] | None = None
    own_features: np.ndarray | None = None

    def features(self) -> np.ndarray:
        """What is classified: one vector for each node."""
        if self.own_features is not None:
            return self.own_features
        return self.source if self.source is self.target else np.hstack([self.source, self.target])


Candidates = dict[str, Embedding]


def default(A: sparse.csr_array, k: int) -> Candidates:
    """The library's embedding as it comes."""
    model = DirectedGraphEmbedding(k)
    X = model.fit_transform(A)
    return {"": Embedding(model.source_embedding_, model.target_embedding_, model.edge_vectors(), X)}


def pca(A: sparse.csr_array, k: int) -> Candidates:
    """Scores of the rows, not centred."""
    return {name: Embedding(found.source, found.source) for name, found in svd(A, k).items()}


def svd(A: sparse.csr_array, k: int) -> Candidates:
    """Scores of rows and of columns, without self-loops and with them."""
    return {name: decomposed(A, k, NodeKernel(), loops) for name, loops in (("A", 0.0), ("A + I", 1.0))}


def hope(A: sparse.csr_array, k: int) -> Candidates:
    """Katz similarity and linear SVD (Ou et al., 2016), which splits singular values evenly."""
    return {"": decomposed(A, k, Katz(), scaling=0.5)}


def degrees(A: sparse.csr_array, k: int) -> Candidates:
    """Preferential attachment: an edge from i to j scores (1 + out-degree of i) (1 + in-degree of j)."""
    return {"": Embedding(*peers.degrees(A))}


def kernel_pca(A: sparse.csr_array, k: int) -> Candidates:
    """RBF between rows of A + I, centred."""
    rows, found = with_loops(A), {}
    for bandwidth in BANDWIDTHS:
        X = KernelSVD(k, kernel=RBF(bandwidth), center=True, tol=TOLERANCE).fit_transform(rows, Z=rows)
        found[f"RBF {bandwidth:g}"] = Embedding(X, X)
    return found


def kernel_svd(A: sparse.csr_array, k: int) -> Candidates:
    """SNE and RBF between rows and columns of A + I, centred: else a constant first triplet hides the rest."""
    found = {}
    for bandwidth in BANDWIDTHS:
        for family in (SNE, RBF):
            svd = KernelSVD(k, kernel=family(bandwidth), center=True, tol=TOLERANCE).fit(with_loops(A))
            factors = svd.errors_left_, svd.right_vectors_
            found[f"{family.__name__} {bandwidth:g}"] = Embedding(svd.errors_left_, svd.errors_right_, factors)
    return found


def with_loops(A: sparse.csr_array) -> sparse.csr_array:
    """A + I."""
    return sparse.csr_array(A + sparse.eye_array(A.shape[0], dtype=A.dtype))


def decomposed(A: sparse.csr_array, k: int, kernel: Kernel, self_loops: float = 0.0, scaling: float = 1.0) -> Embedding:
    """Kernel SVD of a graph."""
    settings: dict[str, Any] = {"self_loops": self_loops, "scaling": scaling, "decoder": "factors", "tol": TOLERANCE}
    model = DirectedGraphEmbedding(k, kernel=kernel, **settings).fit(A)
    return Embedding(model.source_embedding_, model.target_embedding_, model.edge_vectors())


METHODS: dict[str, Callable[[sparse.csr_array, int], Candidates]] = {
    "default": default,
    "PCA": pca,
    "KPCA": kernel_pca,
    "SVD": svd,
    "KernelSVD": kernel_svd,
    "HOPE": hope,
    "degrees": degrees,
    "sknetwork SVD": lambda A, k: {"": Embedding(*peers.network_svd(A, k))},
    "sknetwork Spectral": lambda A, k: {"": Embedding(*peers.network_spectral(A, min(k, SPECTRAL)))},
    "DeepWalk": lambda A, k: {"": Embedding(*peers.deepwalk(A, WALKED, SEED))},
    "DiGAE": lambda A, k: {"": Embedding(*peers.digae(A, SEED))},
}
OURS = ("default", "PCA", "KPCA", "SVD", "KernelSVD", "HOPE", "degrees")  # what runs without the peers' packages
FIXED = ("default",)  # vectors as they come
TUNED = ("KPCA", "KernelSVD")  # candidates chosen on training nodes
