"""Features that differ little between neighbouring samples: the neighbour graph, and the scale of smoothed features."""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from .._core import Array

# Few, so that edges seldom connect classes. Chosen on the data of benchmarks/prior_table1.py table; see its ablation.
N_NEIGHBOURS = 7


def neighbour_laplacian(X: Array) -> sparse.csr_array:
    """Normalised Laplacian I - D^-1/2 A D^-1/2 of the nearest-neighbour graph A of some samples."""
    n = X.shape[0]
    if n < 2:
        return sparse.csr_array((1, 1))
    nearest = kneighbors_graph(X, min(N_NEIGHBOURS, n - 1))
    return sparse.csgraph.laplacian(sparse.csr_array((nearest + nearest.T) / 2), normed=True).tocsr()


class Moments(NamedTuple):
    """Mean and covariance of kernel values E between samples and landmarks."""

    mean: np.ndarray
    covariance: np.ndarray

    @classmethod
    def of(cls, E: np.ndarray) -> Self:
        """Compute them from the rows of E (n, m). Cost O(n m^2)."""
        centred = E - E.mean(axis=0)
        return cls(E.mean(axis=0), centred.T @ centred / len(centred))


def rescaled(map: np.ndarray, plain: np.ndarray, moments: Moments, *, learned: bool, eps: float) -> np.ndarray:
    """Rescale a map so that features F = E map have the variance of ``plain`` ones and, if learned, no larger a mean.

    Smoothing shrinks the features, and penalised classifiers would neglect them. A learned dictionary first fits the
    mean of K*, a constant that carries no information and dominates the other features. F is replaced by
    F (I - (1 - t) u u^T / |u|^2), whose mean is t times the mean u of F, with the t that makes |mean|^2 / variance
    equal to that of the plain features; unless all of the variance lies along u, and would shrink with the mean.
    """
    mean, covariance = moments

    def variance_of(map: np.ndarray) -> float:
        return float(np.vdot(map, covariance @ map))

    u = mean @ map
    wanted, own, square = variance_of(plain), variance_of(map), u @ u
    if not min(wanted, own) > 0:
        return map
    share = np.square(mean @ plain).sum() / wanted
    along = variance_of(map @ u) / square if square > 0 else 0.0
    across = own - along
    if learned and square > share * own and across > np.sqrt(eps) * own:
        factor = np.sqrt(share * across / (square - share * along))
        map = map - (1 - factor) / square * np.outer(map @ u, u)
        own -= (1 - factor**2) * along
    return np.sqrt(wanted / own) * map
