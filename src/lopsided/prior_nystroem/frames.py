"""Coordinates in which the dictionary S of a low-rank kernel E S E^T is learned, starting from the pseudo-inverse W^+.

E holds kernel values between samples and landmarks, W those between landmarks; S = W^+ is the Nystrom method. For one
set of samples, S is semidefinite: :class:`Axes` are its coordinates before the features are smoothed, :class:`Frame`
those in which it is then learned. Between two sets S is rectangular, and :class:`TwoFrames` serves both purposes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from .._core import Array


class Axes(NamedTuple):
    """Axes T of Nystrom features E T, T T^T = W^+, with the roughness of each feature.

    The roughness of a feature f measures how much it differs between neighbouring samples: f^T L f / n, with L the
    normalised Laplacian of the nearest-neighbour graph.

    Attributes
    ----------
    T : array of shape (m, r)
        The axes.
    turn : array of shape (r, m)
        Orthonormal rows such that T turn is a square root of W^+, the symmetric one without smoothing.
    spread : array of shape (r, r)
        How freely the dictionary may change: the second moments of the samples' features, T^T E^T E T / n, or
        T^-1 T^-T if changes are measured at the landmarks.
    roughness : array of shape (r,)
        Roughness of the features; zero if it was not computed.
    of_samples : bool
        Whether ``spread`` is that of the samples rather than that of the landmarks.
    """

    T: np.ndarray
    turn: np.ndarray
    spread: np.ndarray
    roughness: np.ndarray
    of_samples: bool

    def smoothed(self, smoothness: float) -> Axes:
        """Axes of W + smoothness E^T L E / n in place of W, which shrinks features in proportion to their roughness.

        The squared norm of a function f becomes |f|^2 + smoothness f^T L f / n, so that label information spreads to
        neighbouring samples (Sindhwani, Niyogi and Belkin, 2005). Cost O(r^2).
        """
        root = np.sqrt(1 + smoothness * self.roughness)
        squares = np.outer(root, root)
        spread = self.spread / squares if self.of_samples else self.spread * squares
        return self._replace(T=self.T / root, spread=spread)

    @property
    def plain_map(self) -> np.ndarray:
        """Map from kernel values to features if no dictionary is learned: T itself."""
        return self.T

    def frame(self, eps: float) -> Frame:
        """Rotate the axes to the eigenvectors of ``spread``, whose eigenvalues become the scales.

        Scales below sqrt(m ``eps``) times the largest are dropped: nothing is learned along their axes.
        """
        s, P = np.linalg.eigh(self.spread)
        s, P = s[::-1], P[:, ::-1]
        return Frame(self.T @ P, s[s > np.sqrt(len(self.T) * eps) * s[0]], P.T @ self.turn)


def axes_of(
    W: np.ndarray, eps: float, sample: np.ndarray | None, *, of_samples: bool = True, laplacian: Array | None = None
) -> Axes:
    """Axes of a semidefinite W (m, m), with second moments and roughness from the kernel values E (n, m) of a sample.

    The sample may be None if neither is needed. Eigenvalues of W below m ``eps`` times the largest are rounding errors
    and are dropped. Cost O(n m^2).
    """
    w, V = np.linalg.eigh(W)
    live = w > len(w) * eps * w[-1]
    w, V = w[live], V[:, live]
    T, turn = V / np.sqrt(w), V.T
    if sample is None:
        return Axes(T, turn, np.diag(w), np.zeros(len(w)), of_samples)
    F = sample @ T
    spread = F.T @ F / len(F) if of_samples else np.diag(w)
    if laplacian is None:
        return Axes(T, turn, spread, np.zeros(len(w)), of_samples)
    rough = F.T @ (laplacian @ F) / len(F)
    roughness, P = np.linalg.eigh((rough + rough.T) / 2)
    return Axes(T @ P, P.T @ turn, P.T @ spread @ P, np.maximum(roughness, 0), of_samples)


class Frame(NamedTuple):
    """Coordinates of a dictionary: S = T M T^T with T T^T = W^+, so that M = I is the Nystrom method.

    Each axis i has a scale s_i > 0, and the prior penalises a change of M by the sum over i and j of
    (M - I)_ij^2 / (s_i s_j): the smaller the scales of two axes, the larger the penalty on M_ij. If the scales are the
    eigenvalues of W, this is the paper's |S - W^+|^2. If they are the second moments of the samples' features E T, the
    dictionary hardly changes in directions in which the samples hardly vary.

    Attributes
    ----------
    T : array of shape (m, r)
        The axes.
    scales : array of shape (r,)
        s, positive and descending; shorter than r if nothing is learned along the last axes.
    turn : array of shape (r, m)
        Orthonormal rows such that T turn is a square root of W^+, the symmetric one without smoothing.
    """

    T: np.ndarray
    scales: np.ndarray
    turn: np.ndarray

    @property
    def symmetric(self) -> bool:
        """Always True: both sides are the same set, so the dictionary must be semidefinite."""
        return True

    @property
    def learned(self) -> int:
        """Number of axes with a scale; along the others, whose scales are lost in rounding, M stays the identity."""
        return len(self.scales)

    @property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """B = T sqrt(s) of shape (m, learned), twice: samples have coordinates E B, and S = B N B^T on these axes."""
        B = self.T[:, : self.learned] * np.sqrt(self.scales)
        return B, B

    @property
    def prior(self) -> np.ndarray:
        """N of the Nystrom method in these coordinates, diag(1 / s)."""
        return np.diag(1 / self.scales)

    def maps(self, N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R (m, m), twice, with R R^T = S for a semidefinite N in these coordinates; the features are E R."""
        scale = np.sqrt(self.scales)
        values, vectors = np.linalg.eigh(scale[:, None] * N * scale)
        half = np.eye(self.T.shape[1])
        half[: self.learned, : self.learned] = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        root = self.T @ half @ self.turn
        return root, root


class TwoFrames(NamedTuple):
    """Coordinates of a rectangular dictionary, S = L N R^T, where N = diag(1 / s) is the asymmetric Nystrom method.

    W = k(X_I, Z_J) = R diag(s) L^T, so the prior is S0 = W^+ = L diag(1 / s) R^T, of shape (q, p) for p left and q
    right landmarks. S has the row and column spaces of S0, of dimension r = rank W, also if p and q differ.

    Attributes
    ----------
    L, R : arrays of shapes (q, r) and (p, r)
        Right and left singular vectors of W.
    scales : array of shape (r,)
        s, the singular values of W, descending.
    """

    L: np.ndarray
    R: np.ndarray
    scales: np.ndarray

    @property
    def symmetric(self) -> bool:
        """Always False: the dictionary may be any matrix."""
        return False

    @property
    def spread(self) -> None:
        """Always None: left and right samples have no common features whose moments could be measured."""
        return None

    @property
    def plain_map(self) -> np.ndarray:
        """Map from kernel values of left samples to their features if no dictionary is learned."""
        return self.L / np.sqrt(self.scales)

    def smoothed(self, smoothness: float) -> TwoFrames:
        """Return self: roughness is defined only for samples of one set."""
        return self

    def frame(self, eps: float) -> TwoFrames:
        """Return self: these coordinates need no rotation."""
        return self

    @property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """L (q, r) and R (p, r): left samples have coordinates E_x L, right samples E_z R."""
        return self.L, self.R

    @property
    def prior(self) -> np.ndarray:
        """N of the asymmetric Nystrom method in these coordinates, diag(1 / s)."""
        return np.diag(1 / self.scales)

    def maps(self, N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maps A (q, r) and B (p, r) with A B^T = S; singular values are split evenly between them."""
        scale = np.sqrt(self.scales)
        U, s, Vt = np.linalg.svd(scale[:, None] * N * scale)
        half = np.sqrt(s)
        return self.L / scale @ (U * half), self.R / scale @ (Vt.T * half)


def frames_of(W: np.ndarray, eps: float) -> TwoFrames:
    """Coordinates from the SVD of W (p, q), without singular values that are lost in rounding."""
    R, s, Lt = np.linalg.svd(W, full_matrices=False)
    live = s > max(W.shape) * eps * s[0]
    return TwoFrames(Lt[live].T, R[:, live], s[live])
