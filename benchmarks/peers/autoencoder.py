"""A directed graph auto-encoder, written from its paper with torch."""

from __future__ import annotations

import warnings

import numpy as np
from scipy import sparse

HIDDEN, LATENT, EPOCHS, RATE = 64, 32, 200, 0.005
IN_POWER, OUT_POWER = 0.4, 0.2


def digae(A: sparse.csr_array, seed: int, epochs: int = EPOCHS) -> tuple[np.ndarray, np.ndarray]:
    """Directed graph auto-encoder without features (Kollias et al., 2022): two graph convolutions for each role.

    S = P relu(Q W1) W2 and T = Q relu(P W3) W4 with P = D_out^-a (A + I) D_in^-b, Q that of the reversed graph; trained
    by cross-entropy on the edges and as many random pairs a step. Widths, powers, rate and steps are the authors'.
    """
    import torch

    warnings.filterwarnings("ignore", "Sparse", UserWarning)  # sparse tensors are in beta, torch says
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
