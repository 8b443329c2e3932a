"""The data from which a kernel is learned: samples, landmarks, and labels or pairs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._core import Array
from ..exceptions import RankWarning, warn
from ..kernels import Kernel, Precomputed
from ..nystrom import PLACES, Landmarks, between, given_landmarks
from .criteria import chance_error, thinned
from .frames import Axes, Frame, TwoFrames, axes_of, frames_of
from .side_information import ClassTargets, PairTargets, SideInformation

SAMPLE = 5000  # maximum size of the subsample that gives second moments along a few hundred axes and the neighbours
SOME = 2000  # maximum size of the subsample on which learned features are evaluated
COMPARED = 2.5e9  # maximum number of multiplications of the brute-force neighbour search
NEIGHBOURS = 7  # neighbours of each sample: few, so that edges seldom connect different classes
ASYMMETRY = 1e3  # tolerance on K - K^T of a symmetric kernel, in units of eps times the largest value


@dataclass(frozen=True)
class Labels:
    """Indices of labelled samples and their classes, numbered from zero; the right side is None without Z.

    ``balanced`` says whether all classes have equal weight.
    """

    left: np.ndarray
    left_classes: np.ndarray
    right: np.ndarray | None = None
    right_classes: np.ndarray | None = None
    balanced: bool = False

    @property
    def chance(self) -> float:
        """Held-out error of guessing; infinite with right samples, where alignments are held out instead of errors."""
        return chance_error(self.left_classes, balanced=self.balanced) if self.right is None else np.inf

    def with_others(self, others: np.ndarray, classes: np.ndarray) -> Labels:
        """These labels and those of further left samples."""
        left, left_classes = np.concatenate([self.left, others]), np.concatenate([self.left_classes, classes])
        return Labels(left, left_classes, self.right, self.right_classes, self.balanced)

    def thinned(self, count: int, rng: np.random.Generator) -> Labels:
        """Random subsample of at most ``count`` labelled samples per side, stratified by class."""
        left = thinned(self.left_classes, count, rng)
        if self.right is None or self.right_classes is None:
            return Labels(self.left[left], self.left_classes[left], balanced=self.balanced)
        right = thinned(self.right_classes, count, rng)
        return Labels(
            self.left[left], self.left_classes[left], self.right[right], self.right_classes[right], self.balanced
        )


@dataclass(frozen=True)
class Pairs:
    """Indices (p, 2) of left and right samples, and target values (p,) of the kernel for these pairs."""

    numbers: np.ndarray
    targets: np.ndarray
    chance = np.inf  # alignments of pairs are held out, not errors


class Landscape:
    """Samples and their landmarks; without right samples Z, both sides share samples and landmarks.

    Kernel values are in units of the mean k(z, z) of the landmarks z, so that a multiple of a kernel learns the same;
    with Z they are as they come.
    """

    def __init__(self, X: Array, Z: Array | None, landmarks: Any, count: int, seed: int) -> None:
        self.X, self.Z, self.seed = X, Z, seed
        self.units: dict[Kernel, float] = {}
        self._between_landmarks: dict[Kernel, np.ndarray] = {}
        if Z is None:
            self.left = self.right = _place(X, landmarks, count, np.random.default_rng([seed, 0]), "the")
            return
        both = (landmarks, landmarks) if isinstance(landmarks, str) else tuple(landmarks)
        if len(both) != 2:
            raise ValueError(f"with Z landmarks must be a name or a pair, left and right; got {len(both)} of them")
        self.left = _place(X, both[0], count, np.random.default_rng([seed, 0]), "left")
        self.right = _place(Z, both[1], count, np.random.default_rng([seed, 1]), "right")

    @property
    def eps(self) -> float:
        """Machine epsilon of the data type, in which kernel values are computed."""
        return float(np.finfo(self.X.dtype).eps)

    @cached_property
    def sample(self) -> np.ndarray:
        """Indices of a random subsample of left samples, smaller for wide data to bound the neighbour search."""
        n = self.X.shape[0]
        entries = self.X.nnz if sparse.issparse(self.X) else self.X.size
        count = min(SAMPLE, int(np.sqrt(COMPARED * n / max(1, entries))))
        return np.sort(np.random.default_rng([self.seed, 2]).permutation(n)[: max(2, count)])

    @cached_property
    def some(self) -> np.ndarray:
        """Indices of a smaller subsample, on which learned features are rescaled and given labels."""
        return np.sort(np.random.default_rng([self.seed, 4]).permutation(self.X.shape[0])[:SOME])

    @property
    def laplacian(self) -> sparse.csr_array:
        """Normalised Laplacian I - D^-1/2 A D^-1/2 of the nearest-neighbour graph A of ``sample``."""
        from sklearn.neighbors import kneighbors_graph  # imported here because the import is slow

        if len(self.sample) < 2:
            return sparse.csr_array((1, 1))
        nearest = kneighbors_graph(self.X[self.sample], min(NEIGHBOURS, len(self.sample) - 1))
        return sparse.csgraph.laplacian(sparse.csr_array((nearest + nearest.T) / 2), normed=True).tocsr()

    def fit(self, kernel: Kernel) -> Kernel:
        """Fit the kernel to the samples; without Z, raise an error unless it is a Mercer kernel of points."""
        if self.Z is not None:
            self.units[kernel.fit(self.X, self.Z)] = 1.0
            return kernel
        if kernel.normalised or isinstance(kernel, Precomputed):
            raise ValueError(f"{kernel!r} {NOT_MERCER}")
        W = between(kernel.fit(self.X, self.X), self.left.points, self.right.points)
        check_mercer(W, kernel, self.eps)
        largest = W.diagonal().max()
        self.units[kernel] = float(largest * np.mean(W.diagonal() / largest))
        self._between_landmarks[kernel] = W / self.units[kernel]
        return kernel

    def left_values(self, kernel: Kernel, rows: Any) -> np.ndarray:
        """E_x: k(x, right landmarks) for the left samples ``rows``."""
        return self._between(kernel, self.X[rows], self.right.points)

    def right_values(self, kernel: Kernel, rows: Any) -> np.ndarray:
        """E_z: k(left landmarks, z)^T for the right samples ``rows``."""
        if self.Z is None:
            return self.left_values(kernel, rows)
        return self._between(kernel, self.left.points, self.Z[rows]).T

    def _between(self, kernel: Kernel, X: Array, Z: Array) -> np.ndarray:
        return between(kernel, X, Z) / self.units[kernel]

    def axes(self, kernel: Kernel, of_samples: bool, laplacian: sparse.csr_array | None) -> Axes:
        """Axes of the symmetric dictionary, with their roughness if a Laplacian is given.

        Spread and roughness are estimated from ``sample``, labelled or not.
        """
        W = self._between_landmarks[kernel]
        wanted = of_samples or laplacian is not None
        E = self.left_values(kernel, self.sample) if wanted else None
        return axes_of((W + W.T) / 2, self.eps, E, of_samples=of_samples, laplacian=laplacian)

    def two_frames(self, kernel: Kernel) -> TwoFrames:
        """Coordinates of the rectangular dictionary."""
        return frames_of(self._between(kernel, self.left.points, self.right.points), self.eps)

    def information(self, kernel: Kernel, known: Labels | Pairs, frame: Frame | TwoFrames) -> SideInformation:
        """Labels or pairs as a loss function of the dictionary in the coordinates of ``frame``."""
        L, R = frame.bases
        if isinstance(known, Pairs):
            rows, columns = known.numbers.T
            E, F = self.left_values(kernel, rows) @ L, self.right_values(kernel, columns) @ R
            return PairTargets(E, F, known.targets)
        E = self.left_values(kernel, known.left) @ L
        if known.right is None or known.right_classes is None:
            return ClassTargets(E, E, known.left_classes, known.left_classes, known.balanced)
        F = self.right_values(kernel, known.right) @ R
        return ClassTargets(E, F, known.left_classes, known.right_classes, known.balanced)


def check_mercer(W: np.ndarray, kernel: Kernel, eps: float) -> None:
    """Raise an error if the kernel matrix W of the landmarks is not symmetric positive semidefinite, or is zero."""
    size = np.abs(W).max()
    if np.abs(W - W.T).max() > ASYMMETRY * eps * size:
        raise ValueError(f"{kernel!r} {NOT_MERCER}")
    values = np.linalg.eigvalsh((W + W.T) / 2)
    if values[0] < -ASYMMETRY * len(W) * eps * size:
        raise ValueError(f"{kernel!r} has an eigenvalue {values[0]:.3g} among the landmarks: it {NOT_MERCER}")
    if not values[-1] > 0:
        raise ValueError(f"{kernel!r} is zero on all landmarks; there is nothing to learn from")


NOT_MERCER = (
    "is not a symmetric positive semidefinite kernel of points; take RBF, Laplacian, Linear or Polynomial, or compare "
    "two sets with fit(X, Z=Z), or decompose it as it is with KernelSVD"
)


def _place(points: Array, landmarks: Any, count: int, rng: np.random.Generator, side: str) -> Landmarks:
    """Landmarks of one side, chosen by a named strategy or given by the user."""
    if not isinstance(landmarks, str):
        return given_landmarks(landmarks, points, side)
    n = points.shape[0]
    if count > n:
        warn(f"n_components={count} exceeds the {n} samples; every sample is a landmark", RankWarning)
    return PLACES[landmarks](points, min(count, n), rng)
