"""Embeddings of scikit-network, with its defaults."""

from __future__ import annotations

import numpy as np
from scipy import sparse


def network_svd(A: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """The SVD of the adjacency."""
    from sknetwork.embedding import SVD

    model = SVD(k).fit(sparse.csr_matrix(A, dtype=float))
    return model.embedding_row_, model.embedding_col_


def network_spectral(A: sparse.csr_array, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvectors of the normalised Laplacian, the directed graph as a bipartite one."""
    from sknetwork.embedding import Spectral

    model = Spectral(k).fit(sparse.csr_matrix(A, dtype=float), force_bipartite=True)
    return model.embedding_row_, model.embedding_col_
