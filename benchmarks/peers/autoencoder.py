"""Node embeddings by other packages: DeepWalk, a directed graph auto-encoder and those of scikit-network.

Each function takes an adjacency and returns source and target vectors, or one array of vectors twice for the methods
that do not tell the two apart. Packages are imported where they are used: a smoke run does without them.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse

Vectors = tuple[np.ndarray, np.ndarray]

WALKS, LENGTH, WINDOW, WIDTH = 10, 80, 10, 128
HIDDEN, LATENT, EPOCHS, RATE = 64, 32, 200, 0.005
IN_POWER, OUT_POWER = 0.4, 0.2


def deepwalk(A: sparse.csr_array, seed: int) -> Vectors:
    """Skip-gram over uniform walks on the undirected graph (Perozzi et al., 2014), by gensim on one thread."""
    from gensim.models import Word2Vec

    S = sparse.csr_array(A + A.T)
    paths = walks(S, np.random.default_rng(seed)).astype(str).tolist()
    model = Word2Vec(paths, vector_size=WIDTH, window=WINDOW, min_count=0, sg=1, workers=1, epochs=1, seed=seed)
    X = model.wv[[str(node) for node in range(S.shape[0])]]
    return X, X


def walks(S: sparse.csr_array, rng: np.random.Generator) -> np.ndarray:
    """A few walks from every node, in random order, one a row; a node without neighbours stays where it is."""
    here = np.concatenate([rng.permutation(S.shape[0]) for _ in range(WALKS)])
    degrees, path = np.diff(S.indptr), np.empty((len(here), LENGTH), dtype=np.int32)
    for step in range(LENGTH):
        path[:, step] = here
        chosen = S.indptr[here] + (rng.random(len(here)) * degrees[here]).astype(np.int64)
        moves = degrees[here] > 0
        here = np.where(moves, S.indices[np.where(moves, chosen, 0)], here)
    return path


def digae(A: sparse.csr_array, seed: int, epochs: int = EPOCHS) -> Vectors:
    """Directed graph auto-encoder without features (Kollias et al., 2022): two graph convolutions for each role.

    S = P relu(Q W1) W2 and T = Q relu(P W3) W4 with P = D_out^-a (A + I) D_in^-b, Q that of the reversed graph; trained
    by cross-entropy on the edges and as many random pairs a step. Widths, powers, rate and steps are the authors'.
    """
    import torch

    torch.manual_seed(seed)
    n = A.shape[0]
    loops = sparse.csr_array(A + sparse.eye_array(n))
    forward, backward = (
        torch.sparse_csr_tensor(
            torch.from_numpy(M.indptr.astype(np.int64)),
            torch.from_numpy(M.indices.astype(np.int64)),
            torch.from_numpy(M.data.astype(np.float32)),
            (n, n),
        )
        for M in (convolution(loops), convolution(sparse.csr_array(loops.T)))
    )
    first = [torch.nn.Embedding(n, HIDDEN) for _ in range(2)]
    second = [torch.nn.Linear(HIDDEN, LATENT) for _ in range(2)]
    for layer in first:
        torch.nn.init.xavier_uniform_(layer.weight)
    parameters = [weight for layer in (*first, *second) for weight in layer.parameters()]
    optimizer = torch.optim.Adam(parameters, lr=RATE)
    edges = torch.from_numpy(np.array(A.nonzero(), dtype=np.int64))
    wanted = torch.cat([torch.ones(edges.shape[1]), torch.zeros(edges.shape[1])])

    def encode() -> tuple[torch.Tensor, torch.Tensor]:
        source = forward @ second[0](torch.relu(backward @ first[0].weight))
        return source, backward @ second[1](torch.relu(forward @ first[1].weight))

    for _ in range(epochs):
        source, target = encode()
        u, v = torch.cat([edges, torch.randint(n, edges.shape)], dim=1)
        scores = (source[u] * target[v]).sum(1)
        loss = torch.nn.functional.binary_cross_entropy_with_logits(scores, wanted)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    source, target = encode()
    return source.detach().numpy().astype(float), target.detach().numpy().astype(float)


def convolution(loops: sparse.csr_array) -> sparse.csr_array:
    """D_out^-a (A + I) D_in^-b."""
    out, into = loops.sum(axis=1), loops.sum(axis=0)
    return sparse.csr_array(sparse.diags_array(out**-IN_POWER) @ loops @ sparse.diags_array(into**-OUT_POWER))


def network_svd(A: sparse.csr_array, k: int) -> Vectors:
    """scikit-network's SVD with its defaults."""
    from sknetwork.embedding import SVD

    model = SVD(k).fit(sparse.csr_matrix(A, dtype=float))
    return model.embedding_row_, model.embedding_col_


def network_spectral(A: sparse.csr_array, k: int) -> Vectors:
    """scikit-network's Spectral with its defaults, the directed graph as a bipartite one."""
    from sknetwork.embedding import Spectral

    model = Spectral(k).fit(sparse.csr_matrix(A, dtype=float), force_bipartite=True)
    return model.embedding_row_, model.embedding_col_
