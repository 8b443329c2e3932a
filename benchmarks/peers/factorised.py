"""Embeddings by a truncated SVD, written from their papers: HOPE and ProNE."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import LinearOperator, eigs
from scipy.special import iv
from sklearn.preprocessing import normalize

from .walks import undirected

OVERSAMPLING, PASSES = 10, 7
KATZ_SHARE, KATZ_TERMS = 0.5, 30  # decay times spectral radius, of which the last term is 2^-30
STEPS, MU, THETA = 10, 0.1, 0.5  # ProNE's own
NOISE = 0.75  # power of the distribution of negative samples, of word2vec


def truncated_svd(A: Any, k: int, seed: int, passes: int = PASSES) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Randomised SVD by subspace iteration (Halko, Martinsson and Tropp, 2011) of whatever has @ and .T."""
    width = min(k + OVERSAMPLING, *A.shape)
    Q = np.random.default_rng(seed).standard_normal((A.shape[1], width)).astype(A.dtype)
    Q = linalg.qr(A @ Q, mode="economic")[0]
    for _ in range(passes):
        Q = linalg.qr(A.T @ Q, mode="economic")[0]
        Q = linalg.qr(A @ Q, mode="economic")[0]
    V, s, Wt = linalg.svd(A.T @ Q, full_matrices=False)
    return (Q @ Wt.T)[:, :k], s[:k], V[:, :k]


def hope(A: sparse.csr_array, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """SVD of the Katz similarity (I - beta A)^-1 beta A, singular values split evenly (Ou et al., 2016)."""
    A = sparse.csr_array(A, dtype=float)
    beta = KATZ_SHARE / max(_radius(A, seed), 1.0)
    U, s, V = truncated_svd(_katz(A, beta), k, seed, passes=3)
    return U * np.sqrt(s), V * np.sqrt(s)


def _radius(A: sparse.csr_array, seed: int) -> float:
    """Spectral radius; a graph without cycles has none, and ARPACK then finds rounding errors."""
    start = np.random.default_rng(seed).random(A.shape[0])
    return float(abs(eigs(A, k=1, v0=start, maxiter=10_000, tol=1e-3, return_eigenvectors=False)[0]))


def _katz(A: sparse.csr_array, beta: float) -> LinearOperator:
    """The first terms of the sum over t >= 1 of beta^t A^t."""

    def multiply(B: sparse.csr_array, X: np.ndarray) -> np.ndarray:
        term = beta * (B @ X)
        total = term.copy()
        for _ in range(KATZ_TERMS - 1):
            term = beta * (B @ term)
            total += term
        return total

    T = sparse.csr_array(A.T)
    forwards, backwards = lambda X: multiply(A, X), lambda X: multiply(T, X)
    return LinearOperator(A.shape, forwards, backwards, forwards, A.dtype, backwards)


def prone(A: sparse.csr_array, k: int, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Sparse factorisation and spectral propagation on the undirected graph (Zhang et al., 2019).

    First the SVD of log(p_ij) - log(noise_j) on the edges, where p = D^-1 S; then the band pass
    X <- (S + I)(X - g(L) X), g(L) = exp(-theta ((L - mu)^2 / 2 - 1)) by Chebyshev polynomials, as in the authors' code.
    """
    S = undirected(A)
    P = normalize(S, norm="l1")
    noise = P.sum(axis=0) ** NOISE
    M = P.copy()
    M.data = np.log(P.data * noise.sum() / noise[P.indices])
    U, s, _ = truncated_svd(M, k, seed, passes=5)
    X = _propagated(S, normalize(U * np.sqrt(s)))
    return X, X


def _propagated(S: sparse.csr_array, X: np.ndarray) -> np.ndarray:
    """The band pass, made orthogonal and of unit length again."""
    eye = sparse.eye_array(S.shape[0])
    loops = sparse.csr_array(S + eye)
    M = sparse.csr_array((1 - MU) * eye - normalize(loops, norm="l1"))
    terms = [X, M @ (M @ X) / 2 - X]
    total = iv(0, THETA) * terms[0] - 2 * iv(1, THETA) * terms[1]
    for i in range(2, STEPS):
        terms = [terms[1], M @ (M @ terms[1]) - 2 * terms[1] - terms[0]]
        total += 2 * (-1) ** i * iv(i, THETA) * terms[1]
    U, s, _ = linalg.svd(loops @ (X - total), full_matrices=False)
    return normalize(U * np.sqrt(s))
