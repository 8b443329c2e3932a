"""Coordinates in which the dictionary of a low-rank kernel E S E^T is learned, S near the pseudo-inverse W^+.

E holds kernel values between samples and landmarks, W those among the landmarks; S = W^+ is the Nystrom method. Of one
set S is semidefinite: :class:`Axes` are its coordinates while features may still be made smoother, and :class:`Frame`
once they are as they shall be. Between two sets S is rectangular, and :class:`TwoFrames` are both in one.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...kernels.points import Array


class Axes(NamedTuple):
    """Features E T of samples, T T^T = W^+, along axes whose roughness is known.

    The roughness of an axis is how much its feature f differs between samples that are near each other, f^T L f / n for
    the normalised Laplacian L of their neighbours' graph, in units of the mean k(z, z).

    Attributes
    ----------
    T : array of shape (m, r)
        The axes.
    turn : array of shape (r, m)
        Orthonormal rows, for which T turn is a root of W^+, the symmetric one if nothing was smoothed.
    spread : array of shape (r, r)
        How freely the dictionary may change: the moments of the samples' features, T^T E^T E T / n, or T^-1 T^-T where
        the change is measured at the landmarks.
    roughness : array of shape (r,)
        Zero where it was not asked for.
    of_samples : bool
        Which of the two the spread is.
    """

    T: np.ndarray
    turn: np.ndarray
    spread: np.ndarray
    roughness: np.ndarray
    of_samples: bool

    def smoothed(self, smoothness: float) -> Axes:
        """The axes of W + smoothness E^T L E / n in place of W: the rougher a feature is, the more it shrinks.

        The squared norm of a function f becomes |f|^2 + smoothness f^T L f / n, so that what labels say spreads to
        samples that are near (Sindhwani, Niyogi and Belkin, 2005). Cost O(r^2).
        """
        root = np.sqrt(1 + smoothness * self.roughness)
        squares = np.outer(root, root)
        spread = self.spread / squares if self.of_samples else self.spread * squares
        return self._replace(T=self.T / root, spread=spread)

    @property
    def plain_map(self) -> np.ndarray:
        """What takes kernel values of samples to their features where nothing is learned, T itself."""
        return self.T

    def frame(self, eps: float) -> Frame:
        """The axes turned to the eigenvectors of the spread, whose eigenvalues are the scales.

        Those below sqrt(m ``eps``) of the largest are left out: along them nothing is learned.
        """
        s, P = np.linalg.eigh(self.spread)
        s, P = s[::-1], P[:, ::-1]
        return Frame(self.T @ P, s[s > np.sqrt(len(self.T) * eps) * s[0]], P.T @ self.turn)


def axes_of(
    W: np.ndarray, eps: float, sample: np.ndarray | None, *, of_samples: bool = True, laplacian: Array | None = None
) -> Axes:
    """The axes of a semidefinite W (m, m), the moments of a sample E (n, m) along them, and their roughness.

    The sample may be None where neither is wanted. Eigenvalues below m ``eps`` of the largest are rounding and left
    out. Cost O(n m^2).
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
    rough = F.T @ (laplacian @ F) / (len(F) * np.trace(W) / len(W))
    roughness, P = np.linalg.eigh((rough + rough.T) / 2)
    return Axes(T @ P, P.T @ turn, P.T @ spread @ P, np.maximum(roughness, 0), of_samples)


class Frame(NamedTuple):
    """Coordinates of a dictionary: S = T M T^T with T T^T = W^+, so that M = I is the Nystrom method.

    Each axis i has a scale s_i > 0, and a change of M costs the prior the sum over i and j of (M - I)_ij^2 / (s_i s_j):
    the smaller the scales of two axes, the dearer it is to change what lies between them. If scales are the eigenvalues
    of W this is the paper's |S - W^+|^2. If they are the variances of the samples' features E T along the axes, the
    dictionary stays as it is in directions in which samples hardly differ.

    Attributes
    ----------
    T : array of shape (m, r)
        The axes.
    scales : array of shape (r,)
        s, positive, descending; not those of the axes that are never learned.
    turn : array of shape (r, m)
        Orthonormal rows, for which T turn is a root of W^+, the symmetric one if nothing was smoothed.
    """

    T: np.ndarray
    scales: np.ndarray
    turn: np.ndarray

    @property
    def symmetric(self) -> bool:
        """Both sides are one, so that the dictionary must be semidefinite."""
        return True

    @property
    def learned(self) -> int:
        """How many axes have a scale; along the others, whose scales are lost in rounding, M stays the identity."""
        return len(self.scales)

    @property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """B = T sqrt(s), shape (m, learned), twice: samples have coordinates E B, and S = B N B^T on these axes."""
        B = self.T[:, : self.learned] * np.sqrt(self.scales)
        return B, B

    @property
    def prior(self) -> np.ndarray:
        """The Nystrom method in these coordinates, diag(1 / s)."""
        return np.diag(1 / self.scales)

    def maps(self, N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """R (m, m), twice, with R R^T = S for a semidefinite N in these coordinates; features of samples are E R."""
        scale = np.sqrt(self.scales)
        values, vectors = np.linalg.eigh(scale[:, None] * N * scale)
        half = np.eye(self.T.shape[1])
        half[: self.learned, : self.learned] = (vectors * np.sqrt(np.maximum(values, 0))) @ vectors.T
        root = self.T @ half @ self.turn
        return root, root


class TwoFrames(NamedTuple):
    """Coordinates of a rectangular dictionary, S = L N R^T, where N = diag(1 / s) is the asymmetric Nystrom method.

    W = k(X_I, Z_J) = R diag(s) L^T, so that the prior is S0 = W^+ = L diag(1 / s) R^T, shape (q, p) for p left and q
    right landmarks. S has the row and column spaces of S0, of r = rank W dimensions, also where p and q differ.

    Attributes
    ----------
    L, R : arrays of shapes (q, r) and (p, r)
        The singular vectors.
    scales : array of shape (r,)
        s, the singular values, descending.
    """

    L: np.ndarray
    R: np.ndarray
    scales: np.ndarray

    @property
    def symmetric(self) -> bool:
        """The dictionary may be any matrix."""
        return False

    @property
    def spread(self) -> None:
        """None: samples of two sides have no common features to measure it by."""
        return None

    @property
    def plain_map(self) -> np.ndarray:
        """What takes kernel values of left samples to their features where nothing is learned."""
        return self.L / np.sqrt(self.scales)

    def smoothed(self, smoothness: float) -> TwoFrames:
        """The same: samples of two kinds are not near each other, and nothing is rough."""
        return self

    def frame(self, eps: float) -> TwoFrames:
        """The same: there is nothing to turn, nor to leave out."""
        return self

    @property
    def bases(self) -> tuple[np.ndarray, np.ndarray]:
        """L (q, r) and R (p, r): left samples have coordinates E_x L and right ones E_z R."""
        return self.L, self.R

    @property
    def prior(self) -> np.ndarray:
        """The asymmetric Nystrom method in these coordinates, diag(1 / s)."""
        return np.diag(1 / self.scales)

    def maps(self, N: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Maps A (q, r) and B (p, r) with A B^T = S, the singular values of S split evenly."""
        scale = np.sqrt(self.scales)
        U, s, Vt = np.linalg.svd(scale[:, None] * N * scale)
        half = np.sqrt(s)
        return self.L / scale @ (U * half), self.R / scale @ (Vt.T * half)


def frames_of(W: np.ndarray, eps: float) -> TwoFrames:
    """The frames of a W of shape (p, q), without the directions in which it is lost in rounding."""
    R, s, Lt = np.linalg.svd(W, full_matrices=False)
    live = s > max(W.shape) * eps * s[0]
    return TwoFrames(Lt[live].T, R[:, live], s[live])
