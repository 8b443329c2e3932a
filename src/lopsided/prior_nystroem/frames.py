"""Coordinates in which the dictionary S of a low-rank kernel E_x S E_z^T is learned, starting from W^+.

E_x and E_z hold kernel values between samples and landmarks, W those between landmarks; S = W^+ is the Nystrom method.
One set of samples is the case of two equal sides, in which S must be semidefinite; its features can be smoothed, to
differ little between neighbouring samples.
"""

from typing import NamedTuple, Self

import numpy as np
from scipy import sparse
from sklearn.neighbors import kneighbors_graph

from .._core import Array, eigh, in_unit, on_one_thread, safe_unit, svd

# Few, so that edges seldom connect classes. Chosen on the data of benchmarks/prior_table1.py table; see its ablation.
N_NEIGHBOURS = 7


class Frame(NamedTuple):
    """Coordinates of a dictionary: S = left M right^T with left right^T = W^+, so that M = I is the Nystrom method.

    Each axis i has a scale s_i > 0, and the prior penalises a change of M by the sum over i and j of
    (M - I)_ij^2 / (s_i s_j): the smaller the scales of two axes, the larger the penalty on M_ij. If the scales are the
    singular values of W, this is the paper's |S - W^+|^2. If they are the second moments of the samples' features, the
    dictionary hardly changes in directions in which the samples hardly vary. In N_ij = M_ij / sqrt(s_i s_j) the penalty
    is |N - diag(1 / s)|^2. Axes whose scales are lost in rounding come last, and M stays the identity along them.
    """

    left: np.ndarray
    right: np.ndarray
    scales: np.ndarray  # s, descending
    turn: np.ndarray | None

    @property
    def one_set(self) -> bool:
        """Whether both sides are the same set, so that the dictionary must be semidefinite."""
        return self.turn is not None

    @property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """L and R: samples have coordinates E_x L and E_z R, and S = L N R^T on the learned axes."""
        root, learned = np.sqrt(self.scales), len(self.scales)
        return self.left[:, :learned] * root, self.right[:, :learned] * root

    @property
    def prior(self) -> np.ndarray:
        """N of the Nystrom method, diag(1 / s)."""
        return np.diag(1 / self.scales)

    def maps(self, N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maps A and B with A B^T = S; the features are E_x A and E_z B. For one set A = B, with m columns."""
        scale, learned = np.sqrt(self.scales), len(self.scales)
        M = scale[:, None] * N * scale
        if self.turn is None:
            U, s, Vt = svd(M)
            return self.left @ (U * np.sqrt(s)), self.right @ (Vt.T * np.sqrt(s))
        values, vectors = eigh(M)
        half = np.eye(self.left.shape[1])
        half[:learned, :learned] = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        root = self.left @ half @ self.turn
        return root, root


class Axes(NamedTuple):
    """Axes of the Nystrom features E_x left and E_z right, where left right^T = W^+; for one set left = right.

    ``spread`` says how freely the dictionary may change: it holds the second moments of the samples' features,
    left^T E^T E left / n, or left^-1 left^-T if changes are measured at the landmarks. ``roughness`` says how much each
    feature f differs between neighbouring samples: f^T L f / n, with L the normalised Laplacian of the neighbour graph.
    """

    left: np.ndarray  # (right landmarks, r)
    right: np.ndarray  # (left landmarks, r)
    spread: np.ndarray  # (r, r)
    roughness: np.ndarray  # (r,), zero if it was not computed
    turn: np.ndarray | None = None  # of one set: left turn is a square root of W^+, the symmetric one if not smoothed
    of_samples: bool = False  # whether the spread is that of the samples

    def smoothed(self, smoothness: float) -> Self:
        """Axes of W + smoothness E^T L E / n in place of W, which shrinks rough features. Cost O(r^2).

        The squared norm of a function f becomes |f|^2 + smoothness f^T L f / n (Sindhwani, Niyogi and Belkin, 2005).
        """
        root = np.sqrt(1 + smoothness * self.roughness)
        squares = np.outer(root, root)
        spread = self.spread / squares if self.of_samples else self.spread * squares
        return self._replace(left=self.left / root, right=self.right / root, spread=spread)

    def frame(self, eps: float) -> Frame:
        """Rotate the axes of one set to the eigenvectors of ``spread``, whose eigenvalues become the scales.

        Nothing is learned along axes of scales below sqrt(m ``eps``) times the largest. Two sets are diagonal already.
        """
        if self.turn is None:
            return Frame(self.left, self.right, self.spread.diagonal(), None)
        s, P = eigh(self.spread)
        s, P = s[::-1], P[:, ::-1]
        T = self.left @ P
        return Frame(T, T, s[s > np.sqrt(len(T) * eps) * s[0]], P.T @ self.turn)


def axes_of_one_set(
    W: np.ndarray, eps: float, E: np.ndarray | None, *, of_samples: bool = True, laplacian: Array | None = None
) -> Axes:
    """Axes of a semidefinite W (m, m), with second moments and roughness from kernel values E (n, m), if needed.

    Eigenvalues of W below m ``eps`` times the largest are rounding errors and are dropped. Cost O(n m^2).
    """
    w, V = eigh((W + W.T) / 2)
    live = w > len(w) * eps * w[-1]
    w, V = w[live], V[:, live]
    T, turn, spread, roughness = V / np.sqrt(w), V.T, np.diag(w), np.zeros(len(w))
    if E is not None:
        F = E @ T
        if of_samples:
            spread = F.T @ F / len(F)
        if laplacian is not None:
            rough = F.T @ (laplacian @ F) / len(F)
            roughness, P = eigh((rough + rough.T) / 2)
            T, turn, spread, roughness = T @ P, P.T @ turn, P.T @ spread @ P, np.maximum(roughness, 0)
    return Axes(T, T, spread, roughness, turn, of_samples)


def axes_of_two_sets(W: np.ndarray, eps: float) -> Axes:
    """Axes of any W = U diag(s) V^T, without singular values that are lost in rounding: V s^-1/2 and U s^-1/2."""
    U, s, Vt = svd(W)
    live = s > max(W.shape) * eps * s[0]
    root = np.sqrt(s[live])
    return Axes(Vt[live].T / root, U[:, live] / root, np.diag(s[live]), np.zeros(len(root)))


def neighbour_laplacian(X: Array) -> sparse.csr_array:
    """Normalised Laplacian I - D^-1/2 A D^-1/2 of the nearest-neighbour graph A of some samples."""
    n = X.shape[0]
    if n < 2:
        return sparse.csr_array((1, 1))
    points = in_unit(X, safe_unit(X))
    nearest = on_one_thread(kneighbors_graph, points, min(N_NEIGHBOURS, n - 1))
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
