"""The Nystrom method with a prior, from samples and what is known of them to maps of the landmarks' kernel values."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from ..exceptions import RankWarning
from ..kernels import RBF, Kernel, Precomputed, as_kernel
from ..kernels.bandwidth import mean_squared_distance
from ..kernels.points import Array
from ..operators.build import as_operator
from .finite import check_finite
from .landmarks import Landmarks, given_landmarks, kmeans, rows_as_landmarks, uniform
from .low_rank_prior import Dictionary, Frame, TwoFrames, frame_of, frames_of, learn_dictionary
from .prior_choice import Path, dealt, held_out_alignments, held_out_errors, least_error, paper_criterion
from .side_information import ClassTargets, PairTargets, SideInformation

FRACTIONS = (1.0, 2**0.5, 0.5**0.5, 0.5, 0.5**1.5)  # of the bandwidth, tried where labels can tell
FOLDS = 5
HELD = 300  # labelled samples are enough to choose by
SAMPLE = 5000  # samples are enough for the variances along a few hundred axes
ASYMMETRY = 1e3  # roundings that a symmetric kernel may differ by from its transpose


@dataclass(frozen=True)
class Labels:
    """Numbers of labelled samples, and their classes from zero: of the left, and of the right or None if it is X."""

    left: np.ndarray
    left_classes: np.ndarray
    right: np.ndarray | None = None
    right_classes: np.ndarray | None = None
    balanced: bool = False


@dataclass(frozen=True)
class Pairs:
    """Numbers (p, 2) of left and right samples, and the values (p,) that the kernel should have there."""

    numbers: np.ndarray
    targets: np.ndarray


class Learned(NamedTuple):
    """A kernel, S, the maps with E_x left_map and E_z right_map as features, and how they came about."""

    kernel: Kernel
    S: np.ndarray
    left_map: np.ndarray
    right_map: np.ndarray
    weight: float
    objectives: np.ndarray
    alignment: float
    paths: list[Path]


class Landscape:
    """Samples and landmarks. Without right samples Z everything is symmetric: landmarks of both sides are the same."""

    def __init__(self, X: Array, Z: Array | None, landmarks: Any, count: int, seed: int) -> None:
        self.X, self.Z, self.seed = X, Z, seed
        if Z is None:
            self.left = self.right = _place(X, landmarks, count, np.random.default_rng([seed, 0]), "the")
            return
        both = (landmarks, landmarks) if isinstance(landmarks, str) else tuple(landmarks)
        if len(both) != 2:
            raise ValueError(f"with Z landmarks must be a name or a pair, left and right; got {len(both)} of them")
        self.left = _place(X, both[0], count, np.random.default_rng([seed, 0]), "left")
        self.right = _place(Z, both[1], count, np.random.default_rng([seed, 1]), "right")

    def fit(self, kernel: Kernel) -> Kernel:
        """The kernel fitted to the samples; without Z it must be symmetric."""
        if self.Z is None and (kernel.normalised or isinstance(kernel, Precomputed)):
            raise ValueError(f"{kernel!r} {NOT_MERCER}")
        return kernel.fit(self.X, self.X if self.Z is None else self.Z)

    def left_values(self, kernel: Kernel, rows: Any) -> np.ndarray:
        """E_x: k(x, right landmarks) for some left samples."""
        return _values(kernel, self.X[rows], self.right.points)

    def right_values(self, kernel: Kernel, rows: Any) -> np.ndarray:
        """E_z: k(left landmarks, z)^T for some right samples."""
        if self.Z is None:
            return self.left_values(kernel, rows)
        return _values(kernel, self.left.points, self.Z[rows]).T

    def frame(self, kernel: Kernel, of_samples: bool) -> Frame | TwoFrames:
        """Coordinates in which the dictionary is learned; refuses a kernel that is no Mercer kernel if it must be."""
        W = _values(kernel, self.left.points, self.right.points)
        eps = np.finfo(np.result_type(self.X.dtype)).eps
        if self.Z is not None:
            return frames_of(W, eps)
        check_mercer(W, kernel, eps)
        rows = np.sort(np.random.default_rng([self.seed, 2]).permutation(self.X.shape[0])[:SAMPLE])
        return frame_of((W + W.T) / 2, eps, self.left_values(kernel, rows) if of_samples else None)

    def information(self, kernel: Kernel, known: Labels | Pairs, frame: Frame | TwoFrames) -> SideInformation:
        """What is known, of samples in the coordinates of the frame."""
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


def learn_kernel(
    place: Landscape,
    kernel: Any,
    known: Labels | Pairs | None,
    *,
    weight: str | float,
    of_samples: bool,
    solver: str,
    tol: float,
    max_iter: int,
) -> Learned:
    """Choose a kernel and a weight, learn the dictionary and give the features' maps.

    Parameters
    ----------
    place : Landscape
        Samples and landmarks.
    kernel : str, Kernel, callable or list
        Or "rbf", whose bandwidth follows the data.
    known : Labels, Pairs or None
        What the learned kernel should agree with.
    weight : "auto", "alignment" or float
        Of the prior, in units of the loss's curvature.
    of_samples : bool
        Whether the prior is measured along the samples' axes or the landmarks'.
    solver, tol, max_iter
        "closed" for the start alone, "gradient" or "accelerated", and when to stop.
    """
    chooses = known is not None and isinstance(weight, str)
    fractions = FRACTIONS if chooses and weight == "auto" else FRACTIONS[:1]
    kernels = candidates(kernel, place, fractions, chooses)
    frames = [place.frame(each, of_samples) for each in kernels]
    number, paths = 0, list[Path]()
    if known is None or (not chooses and np.isinf(float(weight))):
        weight = np.inf
    elif chooses:
        choose = _by_criterion if weight == "alignment" else _by_held_out
        number, weight, paths = choose(place, kernels, frames, known)
    kernel, frame, weight = kernels[number], frames[number], float(weight)
    learned = Dictionary(frame.prior, np.empty(0), True)
    alignment = np.nan
    if known is not None:
        information = place.information(kernel, known, frame)
        if np.isfinite(weight):
            learned = _solved(information, frame, weight * information.curvature, solver, tol, max_iter)
        alignment = information.alignment(learned.N)
    left_map, right_map = frame.maps(learned.N)
    return Learned(kernel, left_map @ right_map.T, left_map, right_map, weight, learned.objectives, alignment, paths)


def candidates(kernel: Any, place: Landscape, fractions: Sequence[float], chooses: bool) -> list[Kernel]:
    """The kernels to try, fitted to the samples."""
    if isinstance(kernel, str) and kernel == "rbf":
        Z = place.X if place.Z is None else place.Z
        bandwidth = np.sqrt(mean_squared_distance(place.X, Z)) if place.X.shape[1] == Z.shape[1] else 1.0
        kernel = [RBF(float(bandwidth * part)) for part in fractions]
    elif not isinstance(kernel, list):
        kernel = [kernel]
    if not kernel or (len(kernel) > 1 and not chooses):
        raise ValueError(
            f"kernel lists {len(kernel)} kernels; what is known of samples chooses among several with "
            "prior_weight='auto' or 'alignment', else give one"
        )
    return [place.fit(as_kernel(each)) for each in kernel]


def check_mercer(W: np.ndarray, kernel: Kernel, eps: float) -> None:
    """Refuse a kernel whose matrix among landmarks is not symmetric or not positive semidefinite."""
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


def _solved(
    information: SideInformation, frame: Frame | TwoFrames, weight: float, solver: str, tol: float, max_iter: int
) -> Dictionary:
    """The dictionary; a rectangular one has no constraint, and a closed form."""
    if isinstance(frame, Frame):
        steps = 0 if solver == "closed" else max_iter
        return learn_dictionary(
            information, frame.scales, weight, accelerated=solver == "accelerated", tol=tol, max_iter=steps
        )
    N0 = frame.prior
    N = information.minimiser(N0, weight)
    return Dictionary(N, np.array([weight * np.vdot(N - N0, N - N0) + information.loss(N)]), True)


Chosen = tuple[int, float, list[Path]]


def _by_criterion(
    place: Landscape, kernels: list[Kernel], frames: list[Frame | TwoFrames], known: Labels | Pairs
) -> Chosen:
    """The kernel and the weight of the paper's criterion."""
    paths = []
    for kernel, frame in zip(kernels, frames, strict=True):
        L, R = frame.bases
        information = place.information(kernel, known, frame)
        paths.append(paper_criterion(information, frame.prior, L, R, symmetric=isinstance(frame, Frame)))
    return *least_error(paths), paths


def _by_held_out(
    place: Landscape, kernels: list[Kernel], frames: list[Frame | TwoFrames], known: Labels | Pairs
) -> Chosen:
    """The kernel and the weight that do best on what is held out."""
    rng = np.random.default_rng([place.seed, 3])
    few = _few(known, rng)
    paths = []
    folds = _folds(few, rng)
    if not folds:
        return 0, np.inf, []
    for kernel, frame in zip(kernels, frames, strict=True):
        if isinstance(few, Labels) and isinstance(frame, Frame):
            F = place.left_values(kernel, few.left) @ frame.T
            paths.append(held_out_errors(F, frame.scales, few.left_classes, folds, balanced=few.balanced))
        else:
            paths.append(held_out_alignments(place.information(kernel, few, frame), frame.prior, folds))
    return *least_error(paths), paths


def _few(known: Labels | Pairs, rng: np.random.Generator) -> Labels | Pairs:
    """At most some hundred of the labelled samples of either side, of every class its share."""
    if isinstance(known, Pairs):
        return known

    def part(classes: np.ndarray) -> np.ndarray:
        return dealt(classes, -(-len(classes) // HELD), rng)[0]

    left = part(known.left_classes)
    if known.right is None or known.right_classes is None:
        return Labels(known.left[left], known.left_classes[left], balanced=known.balanced)
    right = part(known.right_classes)
    return Labels(
        known.left[left], known.left_classes[left], known.right[right], known.right_classes[right], known.balanced
    )


def _folds(known: Labels | Pairs, rng: np.random.Generator) -> list[tuple[Any, Any]]:
    """What is kept and what is held out, in turn: labelled samples, of both sides at once, or pairs; none of one."""

    def parts(groups: np.ndarray) -> list[tuple[np.ndarray, np.ndarray]]:
        folds = dealt(groups, min(FOLDS, len(groups)), rng) if len(groups) > 1 else []
        return [(np.setdiff1d(np.arange(len(groups)), fold), fold) for fold in folds]

    if isinstance(known, Pairs):  # both orders of a pair go together, for in one set they say the same
        _, first, pair = np.unique(np.sort(known.numbers, axis=1), axis=0, return_index=True, return_inverse=True)
        folds = parts(known.targets[first])
        return [(np.flatnonzero(np.isin(pair, kept)), np.flatnonzero(np.isin(pair, out))) for kept, out in folds]
    left = parts(known.left_classes)
    if known.right_classes is None:
        return left
    right = parts(known.right_classes)
    return [((a, c), (b, d)) for (a, b), (c, d) in zip(left, right, strict=False)]


def _values(kernel: Kernel, X: Array, Z: Array) -> np.ndarray:
    """Kernel values in double precision, evaluated on threads."""
    K = as_operator(kernel, X, Z, budget=sys.maxsize).take().astype(float)
    check_finite(K)
    return K


def _place(points: Array, landmarks: Any, count: int, rng: np.random.Generator, side: str) -> Landmarks:
    """Landmarks of one side, by a strategy or as given."""
    if not isinstance(landmarks, str):
        return given_landmarks(landmarks, points, side)
    n = points.shape[0]
    if count >= n:
        if count > n:
            warnings.warn(
                f"n_components={count} exceeds the {n} samples; every sample is a landmark", RankWarning, stacklevel=4
            )
        return rows_as_landmarks(points, np.arange(n))
    return (kmeans if landmarks == "kmeans" else uniform)(points, count, rng)
