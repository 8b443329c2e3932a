"""Errors by which a candidate and its prior weight are selected; all weights share the factorisation of each fold.

Grids and WELL_EXPLAINED were chosen on the sixteen data sets of ``benchmarks/prior_table1.py table``; its part
``ablation`` prints errors with other values.
"""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from .._core import centred_twice, eigh
from .dictionary import Iteration, solve
from .frames import Frame
from .many_pairs import SideInformation
from .side_information import class_values, cosine
from .supervision import Parts

WEIGHT_GRID = (*(10.0**-e for e in range(10, -1, -2)), np.inf)  # prior weights, in units of the loss's curvature
RIDGE_GRID = 10.0 ** np.arange(-3, 3)  # the classifier's ridge penalties, in units of the mean k(x, x)
WELL_EXPLAINED = 0.5  # share of the error of guessing up to which kernel and smoothness alone explain labels well
TIE = 1e-9  # relative difference up to which errors are equal: sparse samples and their dense copies round differently
SIGNIFICANT_ERRORS = 1.645  # standard errors: one-sided 5 % quantile of the normal distribution


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
    penalty are returned. F (l, r) are Nystrom features of the labelled samples, along which the dictionary may change
    as ``spread`` (r, r) says; see :class:`Axes`. Cost O(l^3) for each fold and weight.
    """
    _, values = class_values(classes, classes, balanced)
    marks = np.eye(len(values))[classes]
    Y = 2 * marks - 1
    K, B, ideal = F @ F.T, F @ spread @ F.T, (marks * values) @ marks.T
    errors = np.empty((len(WEIGHT_GRID), len(RIDGE_GRID), len(F)))
    for kept, out in folds:
        square = np.ix_(kept, kept)
        for number, (own, cross) in enumerate(_learned_kernels(K, B, ideal[square], kept, out)):
            for penalty, outputs in enumerate(_ls_svm_outputs(own, cross, Y[kept])):
                errors[number, penalty, out] = np.square(outputs - Y[out]).mean(axis=1)
    return _at_best_penalties(WEIGHT_GRID, errors * _error_weights(values, classes))


def leave_one_out_errors(F: np.ndarray, classes: np.ndarray, *, balanced: bool = False) -> Path:
    """Squared leave-one-out errors of least-squares classifiers on features as they are: at an infinite prior weight.

    With centred features F = P diag(f) U^T, a leave-one-out error is the residual divided by
    1 - 1/l - sum_j P_ij^2 f_j^2 / (f_j^2 + ridge). Cost O(l r^2) for all penalties together.
    """
    _, values = class_values(classes, classes, balanced)
    Y = 2 * np.eye(len(values))[classes] - 1
    unit = np.square(F).sum(axis=1).mean() or 1.0
    F, Y = F - F.mean(axis=0), Y - Y.mean(axis=0)
    squares, U = eigh(F.T @ F)
    P = F @ U
    targets = P.T @ Y
    errors = np.empty((1, len(RIDGE_GRID), len(F)))
    for row, penalty in enumerate(RIDGE_GRID):
        shrunk = P / (np.maximum(squares, 0) + penalty * unit)
        left = 1 - 1 / len(F) - np.einsum("ij,ij->i", P, shrunk)
        errors[0, row] = np.square((Y - shrunk @ targets) / left[:, None]).mean(axis=1)
    return _at_best_penalties([np.inf], errors * _error_weights(values, classes))


def guessing_error(classes: np.ndarray, *, balanced: bool = False) -> float:
    """Squared error, on the scale of ``held_out_errors``, of predicting every class by its share of the samples."""
    _, values = class_values(classes, classes, balanced)
    Y = 2 * np.eye(len(values))[classes] - 1
    return float(_error_weights(values, classes) @ np.square(Y - Y.mean(axis=0)).mean(axis=1)) / len(classes)


def _error_weights(values: np.ndarray, classes: np.ndarray) -> np.ndarray:
    """Weight of every sample's error: that of its class; zero for a class's only sample, which cannot be predicted."""
    return (values * (np.bincount(classes) > 1))[classes]


def _at_best_penalties(weights: Sequence[float], errors: np.ndarray) -> Path:
    """For every weight, the errors (samples,) of the ridge penalty whose mean is least."""
    best = np.array([_least(means)[0] for means in errors.mean(axis=2)])
    return Path(np.array(weights), errors[np.arange(len(errors)), best])


def held_out_alignments(information: SideInformation, N0: np.ndarray, folds: Sequence[Parts]) -> Path:
    """1 - alignment of the held-out kernel entries of each fold with their targets, learned without them."""
    losses = np.empty((len(WEIGHT_GRID), len(folds)))
    for number, (kept, out) in enumerate(folds):
        known, hidden = information.restricted(kept), information.restricted(out)
        for row, weight in enumerate(WEIGHT_GRID):
            N = N0 if np.isinf(weight) else known.minimiser(N0, weight * known.curvature)
            losses[row, number] = 1 - hidden.alignment(N)
    return Path(np.array(WEIGHT_GRID), losses)


def paper_criterion(information: SideInformation, frame: Frame, iteration: Iteration) -> Path:
    """1 - the 2012 paper's criterion (12) at every weight: the alignment of S with S0, times that of E S E^T with K*.

    S = L N R^T is the optimum of (6) at the weight, so that every weight costs as much as learning a dictionary.
    """
    (L, R), losses = frame.bases, []
    S0 = L @ frame.prior @ R.T
    for weight in WEIGHT_GRID:
        N = solve(frame, information, weight, iteration).N
        losses.append([1 - centred_alignment(L @ N @ R.T, S0) * information.alignment(N)])
    return Path(np.array(WEIGHT_GRID), np.array(losses))


def centred_alignment(A: np.ndarray, B: np.ndarray) -> float:
    """Normalised alignment (11) of two matrices of equal shape: their cosine after centring rows and columns."""
    A, B = centred_twice(A), centred_twice(B)
    return cosine(np.vdot(A, B), np.vdot(A, A) * np.vdot(B, B))


def least_error(paths: Sequence[Path], guessing: float = np.inf) -> tuple[int, float]:
    """Index of the path and weight with the least mean error; where labels are explained well, one that learns little.

    An infinite weight, the last of every path, leaves the prior unchanged. The best path at infinite weight is returned
    if it explains half of the labels' variance, that is, has at most half of the error of ``guessing``, unless the
    overall best is significantly better: few errors are left then, and the least of many is often luck. Ties go to the
    first path and the largest weight.
    """
    means = [np.where(np.isfinite(mean), mean, np.inf) for mean in (path.errors.mean(axis=1) for path in paths)]
    best = int(_least(np.array([mean.min() for mean in means]))[0])
    row = int(_least(means[best])[-1])
    plain = int(_least(np.array([mean[-1] for mean in means]))[0])
    gains = paths[plain].errors[-1] - paths[best].errors[row]
    significant = gains.mean() * np.sqrt(len(gains)) > SIGNIFICANT_ERRORS * gains.std()
    if means[plain][-1] <= WELL_EXPLAINED * guessing and not significant:
        return plain, float(paths[plain].weights[-1])
    return best, float(paths[best].weights[row])


def admitted(paths: Sequence[Path], smoothed: Sequence[bool]) -> list[int]:
    """Indices of the paths without smoothing, and of those whose smoothing helps by itself.

    These have, at an infinite weight, a lower error than all without smoothing. Smoothing that pays only together with
    a learned dictionary is a chance find.
    """
    rough = [number for number, smooth in enumerate(smoothed) if not smooth]
    if not rough:
        return list(range(len(paths)))
    alone = [path.errors[-1].mean() for path in paths]
    least = min(alone[number] for number in rough)
    return [number for number, smooth in enumerate(smoothed) if not smooth or alone[number] < least]


def _least(errors: np.ndarray) -> np.ndarray:
    """Indices of the least errors: all that differ by rounding from the least one."""
    least = errors.min()  # an alignment of one may leave an error just below zero
    return np.flatnonzero(errors <= least + TIE * abs(least)) if np.isfinite(least) else np.arange(len(errors))


def _learned_kernels(
    K: np.ndarray, B: np.ndarray, ideal: np.ndarray, kept: np.ndarray, out: np.ndarray
) -> Iterator[tuple[np.ndarray, np.ndarray]]:
    """For every weight, the learned kernel between kept samples, and between held-out and kept samples."""
    own, cross = K[np.ix_(kept, kept)], K[np.ix_(out, kept)]
    b, U = eigh(B[np.ix_(kept, kept)])
    live = b > max(len(b) * np.finfo(float).eps * b[-1], 0)
    b, U = b[live], U[:, live]
    if not len(b):  # no labelled sample has a feature
        yield from [(own, cross)] * len(WEIGHT_GRID)
        return
    wanted, left = U.T @ (ideal - own) @ U, B[np.ix_(out, kept)] @ U
    for weight in WEIGHT_GRID:
        A = wanted / (weight * b[-1] ** 2 + np.outer(b, b)) * b  # zero at an infinite weight
        yield own + U @ (b[:, None] * A) @ U.T, cross + left @ A @ U.T


def _ls_svm_outputs(K: np.ndarray, cross: np.ndarray, Y: np.ndarray) -> Iterator[np.ndarray]:
    """LS-SVM outputs on held-out samples at every penalty, from one eigendecomposition."""
    k, U = eigh(K)
    unit = np.trace(K) / len(K) or 1.0
    k, ones, targets, cross = np.maximum(k, 0), U.sum(axis=0), U.T @ Y, cross @ U
    for penalty in RIDGE_GRID:
        inverse = 1 / (k + penalty * unit)
        intercept = (ones * inverse) @ targets / ((ones * inverse) @ ones)
        yield cross @ (inverse[:, None] * (targets - np.outer(ones, intercept))) + intercept
