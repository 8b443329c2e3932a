"""Samples with landmarks, and kernels fitted to them."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse

from .._core import Array, RowBlocks, eigh
from ..exceptions import RankWarning, warn
from ..kernels import Kernel
from ..nystrom import ONE_SIDED, Landmarks, between, given_landmarks
from .frames import Frame
from .many_pairs import ManyPairTargets, SideInformation
from .side_information import ClassRows, ClassTargets, PairTargets
from .supervision import Labels, Pairs

MOST_CLOSED_PAIRS = 1000  # pairs whose Gram matrix is decomposed: O(pairs^3)
MOMENT_ROWS = 5000  # samples that give second moments along a few hundred axes, and the neighbours
NEIGHBOUR_PRODUCTS = 2.5e9  # multiplications of the brute-force neighbour search: seconds; wide data get fewer samples
KERNEL_ARRAYS = 4  # arrays of values between these samples and the landmarks, held at once for two kernels
MERCER_ROUNDING = 1e3  # tolerance on K - K^T and on negative eigenvalues, in units of eps times the largest value
NOT_MERCER = (
    "is not a symmetric positive semidefinite kernel of points; use RBF, Laplacian, Linear or Polynomial, compare two "
    "sets with fit(X, Z=Z), or decompose the kernel as it is with KernelSVD"
)


@dataclass(frozen=True)
class LandmarkedSamples:
    """Samples and their landmarks; without right samples Z, both sides share samples and landmarks."""

    X: Array
    Z: Array | None
    left: Landmarks  # with which right samples are compared
    right: Landmarks  # with which left samples are compared
    moment_rows: np.ndarray  # of X, drawn to estimate second moments and nearest neighbours
    seed: int  # of all that is drawn

    @property
    def eps(self) -> float:
        """Machine epsilon of the data type, in which kernel values are computed."""
        return float(np.finfo(self.X.dtype).eps)


def place_landmarks(
    X: Array, Z: Array | None, landmarks: Any, count: int, seed: int, *, budget: int
) -> LandmarkedSamples:
    """Choose landmarks by a named strategy, or take those given by the user; with Z, a pair of them."""
    streams = [np.random.default_rng([seed, number]) for number in range(3)]
    if Z is None:
        left = right = _landmarks_of(X, landmarks, count, streams[0], "the")
    else:
        of_left, of_right = (landmarks, landmarks) if isinstance(landmarks, str) else _pair_of(landmarks)
        left = _landmarks_of(X, of_left, count, streams[0], "left")
        right = _landmarks_of(Z, of_right, count, streams[1], "right")
    n = X.shape[0]
    entries = _entries(X)
    affordable = budget // (KERNEL_ARRAYS * X.dtype.itemsize * max(1, right.points.shape[0]))
    wanted = max(2, min(MOMENT_ROWS, affordable, int(np.sqrt(NEIGHBOUR_PRODUCTS * n / max(1, entries)))))
    return LandmarkedSamples(X, Z, left, right, np.sort(streams[2].permutation(n)[:wanted]), seed)


def _entries(X: Array) -> float:
    """Number of stored entries; of rows in blocks, as the first block suggests."""
    if isinstance(X, RowBlocks):
        return _entries(X.peek()) * X.shape[0] / X.peek().shape[0] if X.is_sparse else X.shape[0] * X.shape[1]
    return X.nnz if sparse.issparse(X) else X.size


def _pair_of(landmarks: Any) -> Any:
    """Landmarks of both sides, checked to be two."""
    count = landmarks.shape[0] if sparse.issparse(landmarks) else len(landmarks)
    if count != 2:
        raise ValueError(f"with Z, landmarks must be a name, or a pair, left and right; got {count} of them")
    return landmarks


def _landmarks_of(points: Array, landmarks: Any, count: int, rng: np.random.Generator, side: str) -> Landmarks:
    if not isinstance(landmarks, str):
        return given_landmarks(landmarks, points, side)
    n = points.shape[0]
    if count > n:
        warn(f"{count} landmarks exceed the {n} samples; every sample is a landmark", RankWarning)
    return ONE_SIDED[landmarks](points, min(count, n), rng)


@dataclass(frozen=True)
class LandmarkedKernel:
    """A kernel fitted to landmarked samples, with its values in a unit, so that multiples of it learn the same."""

    data: LandmarkedSamples
    kernel: Kernel
    unit: float  # mean k(z, z) of the landmarks z; 1 with Z
    W: np.ndarray  # values between left and right landmarks, in this unit

    def left_values(self, rows: Any) -> np.ndarray:
        """E_x: k(x, right landmarks) for rows of X."""
        return between(self.kernel, self.data.X[rows], self.data.right.points) / self.unit

    def right_values(self, rows: Any) -> np.ndarray:
        """E_z: k(left landmarks, z)^T for rows of Z, or of X without Z."""
        if self.data.Z is None:
            return self.left_values(rows)
        return between(self.kernel, self.data.left.points, self.data.Z[rows]).T / self.unit

    def information(self, known: Labels | Pairs, frame: Frame) -> SideInformation:
        """Labels or pairs as a loss function of the dictionary in the coordinates of ``frame``."""
        L, R = frame.bases
        if isinstance(known, Pairs):
            return self._pair_targets(known, L, R)
        left = right = ClassRows(self.left_values(known.left.rows) @ L, known.left.classes)
        if known.right is not None:
            right = ClassRows(self.right_values(known.right.rows) @ R, known.right.classes)
        return ClassTargets(left, right, balanced=known.balanced)

    def _pair_targets(self, known: Pairs, L: np.ndarray, R: np.ndarray) -> PairTargets | ManyPairTargets:
        """Pairs as a loss function; many of them share the rows of their samples."""
        one_set, (rows, columns) = self.data.Z is None, known.rows.T
        if len(known.targets) <= MOST_CLOSED_PAIRS:
            orders = np.where(rows == columns, 1.0, 2.0) if one_set else None
            return PairTargets(self.left_values(rows) @ L, self.right_values(columns) @ R, known.targets, orders)
        if one_set:
            samples, numbers = np.unique(known.rows, return_inverse=True)
            i, j = numbers.reshape(known.rows.shape).T
            E = F = self.left_values(samples) @ L
        else:
            (of_left, i), (of_right, j) = (np.unique(side, return_inverse=True) for side in (rows, columns))
            E, F = self.left_values(of_left) @ L, self.right_values(of_right) @ R
        return ManyPairTargets.of(E, F, (i, j), known.targets)


def fit_kernel(kernel: Kernel, data: LandmarkedSamples) -> LandmarkedKernel:
    """Fit a kernel of points to the samples; without Z, raise an error unless it is a Mercer kernel."""
    if kernel.takes_values:
        raise ValueError(
            f"{kernel!r} takes a matrix of values, in which there are no points to be landmarks; use a kernel of "
            "points, or decompose the matrix with KernelSVD"
        )
    if data.Z is not None:
        W = between(kernel.fit(data.X, data.Z), data.left.points, data.right.points)
        return LandmarkedKernel(data, kernel, 1.0, W)
    if kernel.normalised:
        raise ValueError(f"{kernel!r} {NOT_MERCER}")
    W = between(kernel.fit(data.X, data.X), data.left.points, data.left.points)
    size = np.abs(W).max()
    if np.abs(W - W.T).max() > MERCER_ROUNDING * data.eps * size:
        raise ValueError(f"{kernel!r} {NOT_MERCER}")
    values = eigh((W + W.T) / 2)[0]
    if values[0] < -MERCER_ROUNDING * len(W) * data.eps * size:
        raise ValueError(f"{kernel!r} has the eigenvalue {values[0]:.3g} among the landmarks: it {NOT_MERCER}")
    if not values[-1] > 0:
        raise ValueError(f"{kernel!r} is zero between all landmarks; use a kernel that is not, or other landmarks")
    largest = W.diagonal().max()
    unit = float(largest * np.mean(W.diagonal() / largest))
    return LandmarkedKernel(data, kernel, unit, W / unit)
