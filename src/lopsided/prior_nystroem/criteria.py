"""Selection of the prior weight by cross-validation; all weights share the factorisation of each fold."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from .._core import centred_twice
from .dictionary import nearest_semidefinite
from .side_information import SideInformation, class_values, ratio

WEIGHTS = (*(10.0**-e for e in range(10, -1, -2)), np.inf)  # grid of prior weights, in units of the loss's curvature
PENALTIES = 10.0 ** np.arange(-3, 3)  # grid of the classifier's ridge penalties, in units of the mean k(x, x)
EXPLAINED = 0.5  # share of the error of guessing up to which kernel and smoothness alone explain labels well
ONE_IN_TWENTY = 1.645  # standard errors: one-sided 5 % quantile of the normal distribution
Parts = tuple[Any, Any]  # kept and held-out indices; for classes with Z, each is a pair of left and right indices


class Path(NamedTuple):
    """Prior weights and their errors on held-out samples, of shape (weights, samples)."""

    weights: np.ndarray
    errors: np.ndarray


def held_out_errors(
    F: np.ndarray, spread: np.ndarray, classes: np.ndarray, folds: Sequence[Parts], *, balanced: bool = False
) -> Path:
    """Cross-validated squared errors of least-squares classifiers on the learned kernels.

    For every fold, the dictionary is learned from the remaining samples, for all weights from one eigendecomposition.
    In the dual, with K = F F^T, B = F spread F^T = U diag(b) U^T and K* of the l kept samples, the learned kernel is
    K(x, y) + B(x, .) A B(., y), A = U [(U^T (K* - K) U)_ij / (weight b_1^2 + b_i b_j)] U^T (section 3.5 before the
    projection). An LS-SVM with an intercept is trained on this kernel at every penalty, and the errors of the best
    penalty are returned. Cost O(l^3) for each fold and weight, independent of n and m.

    Parameters
    ----------
    F : array of shape (l, r)
        Nystrom features of the labelled samples.
    spread : array of shape (r, r)
        How freely the dictionary may change along the features; see :class:`Axes`.
    classes : array of int, shape (l,)
        Class indices, starting at zero.
    folds : sequence of (kept, held out)
        Sample indices; every sample is held out once.
    balanced : bool, default=False
        Whether all classes have equal weight in K* and in the error.
    """
    _, values = class_values(classes, classes, balanced)
    marks = np.eye(len(values))[classes]
    K, B, ideal = F @ F.T, F @ spread @ F.T, (marks * values) @ marks.T
    errors = np.empty((len(WEIGHTS), len(PENALTIES), len(F)))
    for kept, out in folds:
        square = np.ix_(kept, kept)
        for number, (own, cross) in enumerate(_learned(K, B, ideal[square], kept, out)):
            for penalty, said in enumerate(_classified(own, cross, 2 * marks[kept] - 1)):
                errors[number, penalty, out] = np.square(said - (2 * marks[out] - 1)).mean(axis=1)
    errors *= _counted(values, classes)
    best = errors.mean(axis=2).argmin(axis=1)
    return Path(np.array(WEIGHTS), errors[np.arange(len(WEIGHTS)), best])


def plain_errors(F: np.ndarray, classes: np.ndarray, *, balanced: bool = False) -> Path:
    """Squared leave-one-out errors of least-squares classifiers on the given features (infinite prior weight only).

    With centred features F = P diag(f) U^T, a leave-one-out error is the residual divided by
    1 - 1/l - sum_j P_ij^2 f_j^2 / (f_j^2 + ridge). Cost O(l r^2) for all penalties together.
    """
    _, values = class_values(classes, classes, balanced)
    Y = 2 * np.eye(len(values))[classes] - 1
    unit = np.square(F).sum(axis=1).mean() or 1.0
    F, Y = F - F.mean(axis=0), Y - Y.mean(axis=0)
    squares, U = np.linalg.eigh(F.T @ F)
    P = F @ U
    targets = P.T @ Y
    errors = np.empty((len(PENALTIES), len(F)))
    for row, penalty in enumerate(PENALTIES):
        shrunk = P / (np.maximum(squares, 0) + penalty * unit)
        left = 1 - 1 / len(F) - np.einsum("ij,ij->i", P, shrunk)
        errors[row] = np.square((Y - shrunk @ targets) / left[:, None]).mean(axis=1)
    errors *= _counted(values, classes)
    return Path(np.array([np.inf]), errors[[errors.mean(axis=1).argmin()]])


def held_out_alignments(information: SideInformation, N0: np.ndarray, folds: Sequence[Parts]) -> Path:
    """1 - alignment of held-out kernel entries with their targets, for dictionaries learned without them.

    Folds consist of pairs, or of labelled rows and columns. The errors have one column for each fold.
    """
    losses = np.empty((len(WEIGHTS), len(folds)))
    for number, (kept, out) in enumerate(folds):
        known, hidden = information.restricted(kept), information.restricted(out)
        for row, weight in enumerate(WEIGHTS):
            N = N0 if np.isinf(weight) else known.minimiser(N0, weight * known.curvature)
            losses[row, number] = 1 - hidden.alignment(N)
    return Path(np.array(WEIGHTS), losses)


def paper_criterion(
    information: SideInformation, N0: np.ndarray, L: np.ndarray, R: np.ndarray, *, symmetric: bool
) -> Path:
    """1 - the 2012 paper's criterion (12) at every weight, without holding out any data.

    The criterion is the alignment of S = L N R^T with the prior's S0, times the alignment of the learned kernel with
    its targets. N is the closed-form start, projected onto the semidefinite matrices if ``symmetric``.
    """
    S0, losses = L @ N0 @ R.T, np.empty((len(WEIGHTS), 1))
    for row, weight in enumerate(WEIGHTS):
        N = N0 if np.isinf(weight) else information.minimiser(N0, weight * information.curvature)
        N = nearest_semidefinite(N) if symmetric else N
        losses[row] = 1 - centred_alignment(L @ N @ R.T, S0) * information.alignment(N)
    return Path(np.array(WEIGHTS), losses)


def centred_alignment(A: np.ndarray, B: np.ndarray) -> float:
    """Normalised alignment (11) of two matrices of equal shape: their cosine after centring rows and columns."""
    A, B = centred_twice(A), centred_twice(B)
    return ratio(np.vdot(A, B), np.vdot(A, A) * np.vdot(B, B))


def chance_error(classes: np.ndarray, *, balanced: bool = False) -> float:
    """Squared error, on the scale of ``held_out_errors``, of predicting every class by its share of the samples."""
    _, values = class_values(classes, classes, balanced)
    Y = 2 * np.eye(len(values))[classes] - 1
    return float(_counted(values, classes) @ np.square(Y - Y.mean(axis=0)).mean(axis=1)) / len(classes)


def _counted(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Weight of every sample's error: that of its class; zero for the only one of a class, which none predicts."""
    return (values * (np.bincount(classes) > 1))[classes]


def least_error(paths: Sequence[Path], chance: float = np.inf) -> tuple[int, float]:
    """Index of the path and weight with the least mean error; where labels are explained well, one that learns little.

    An infinite weight, the last of every path, leaves the prior unchanged. The best path at infinite weight is returned
    if it explains half of the labels' variance, that is, has at most half of the error ``chance`` of guessing, unless
    the overall best is significantly better: few errors are left then, and the least of many is often luck. Ties go to
    the first path and the largest weight.
    """
    means = [path.errors.mean(axis=1) for path in paths]
    best = int(np.argmin([mean.min() for mean in means]))
    row = int(np.flatnonzero(means[best] == means[best].min())[-1])
    plain = int(np.argmin([mean[-1] for mean in means]))
    explained = means[plain][-1] <= EXPLAINED * chance
    if explained and not _significant(paths[plain].errors[-1] - paths[best].errors[row]):
        return plain, float(paths[plain].weights[-1])
    return best, float(paths[best].weights[row])


def _significant(gains: np.ndarray) -> bool:
    """Whether the mean of paired differences is significantly above zero, one-sided at 5 %."""
    return bool(gains.mean() * np.sqrt(len(gains)) > ONE_IN_TWENTY * gains.std())


def thinned(groups: np.ndarray, count: int, rng: np.random.Generator) -> np.ndarray:
    """Sorted indices of a random subsample of at most ``count`` samples, stratified by group."""
    n = len(groups)
    order = np.lexsort((rng.permutation(n), groups))
    return np.sort(order if n <= count else order[np.arange(count) * n // count])


def dealt(groups: np.ndarray, count: int, rng: np.random.Generator) -> list[np.ndarray]:
    """Sample indices of ``count`` random folds, stratified by group."""
    order = np.lexsort((rng.permutation(len(groups)), groups))
    return [np.sort(order[first::count]) for first in range(count)]


def _learned(
    K: np.ndarray, B: np.ndarray, ideal: np.ndarray, kept: np.ndarray, out: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every weight, the learned kernel between kept samples, and between held-out and kept samples."""
    own, cross = K[np.ix_(kept, kept)], K[np.ix_(out, kept)]
    b, U = np.linalg.eigh(B[np.ix_(kept, kept)])
    live = b > max(len(b) * np.finfo(float).eps * b[-1], 0)
    b, U = b[live], U[:, live]
    if not len(b):  # no label has a feature
        yield from [(own, cross)] * len(WEIGHTS)
        return
    wanted, left = U.T @ (ideal - own) @ U, B[np.ix_(out, kept)] @ U
    for weight in WEIGHTS:
        A = wanted / (weight * b[-1] ** 2 + np.outer(b, b)) * b  # zero at an infinite weight
        yield own + U @ (b[:, None] * A) @ U.T, cross + left @ A @ U.T


def _classified(K: np.ndarray, cross: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
    """LS-SVM outputs on held-out samples at every penalty, from one eigendecomposition."""
    k, U = np.linalg.eigh(K)
    unit = np.trace(K) / len(K) or 1.0
    k, ones, targets, cross = np.maximum(k, 0), U.sum(axis=0), U.T @ Y, cross @ U
    for penalty in PENALTIES:
        inverse = 1 / (k + penalty * unit)
        intercept = (ones * inverse) @ targets / ((ones * inverse) @ ones)
        yield cross @ (inverse[:, None] * (targets - np.outer(ones, intercept))) + intercept
