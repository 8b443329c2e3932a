"""How the source and the target function become one decision, and how good held-out decisions are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import expit
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._core import argmax_class, per_class_scores
from .saddle import Fold
from .targets import Targets

STEEPEST_SLOPE = 1e4  # the best calibration slope is infinite if the held-out predictions separate the classes
SLOPE_STEPS, SLOPE_TOL = 60, 1e-4  # most steps of its search, and relative change at which it ends: the minimum is flat


class HeldOutResult(NamedTuple):
    """Held-out values of both functions at one C, merged and compared with the targets."""

    merger: Any  # stacking model or calibration slope, trained on all held-out values; None if neither is needed
    predictions: np.ndarray  # (n, k), merged held-out values
    error: float  # criterion by which kernel and C are selected: mean squared error, or log-loss of classes
    score: float  # accuracy or R^2


@dataclass(frozen=True)
class Merging:
    """Merges values of f_s and f_t, arrays of shape (n, k), as the parameter ``merge`` of the estimators says."""

    how: str
    of_classes: bool
    by_likelihood: bool = False  # whether classes are judged by their calibrated log-loss rather than squared error

    def merge(self, source: Any, target: Any, merger: Any) -> np.ndarray:
        """Merge the values of both functions into one (n, k) array; an array that ``how`` ignores may be None."""
        if self.how != "stack":
            return {"source": source, "target": target}[self.how] if self.how != "mean" else (source + target) / 2
        features = np.hstack([source, target])
        values = merger.decision_function(features) if self.of_classes else merger.predict(features)
        return values.reshape(len(features), -1)

    def fit(self, source: np.ndarray, target: np.ndarray, targets: Targets) -> Any:
        """Fit the stacking model, or the slope t at which softmax(t decisions) makes the classes likeliest."""
        if self.how == "stack":
            model = LogisticRegression(max_iter=1000) if self.of_classes else Ridge()
            stack = make_pipeline(StandardScaler(), model).set_output(transform="default")
            ratios = None if targets.weights is None else targets.weights / targets.weights.mean()
            weights = {f"{name}__sample_weight": ratios for name in stack.named_steps}
            return stack.fit(np.hstack([source, target]), targets.y, **weights)
        if not self.of_classes:
            return None
        return _likeliest_slope(per_class_scores(self.merge(source, target, None)), targets)

    def held_out(
        self,
        source: np.ndarray,
        target: np.ndarray,
        targets: Targets,
        folds: Sequence[Fold] = (),
        *,
        clipped: bool = False,
    ) -> HeldOutResult:
        """Merge held-out values of both functions, and compare them with the targets.

        With "stack", each of the given folds is predicted by a stacking model trained on the other folds, unless these
        lack a class; then, and without folds, the model trained on all is used. With ``clipped``, the squared error is
        that of predictions clipped to the range of the targets.
        """
        merger, y = self.fit(source, target, targets), targets.y
        merged = self.merge(source, target, merger)
        for kept, left_out in folds if self.how == "stack" else ():
            if self.of_classes and len(np.unique(y[kept])) < len(np.unique(y)):
                continue
            apart = self.fit(source[kept], target[kept], targets.take(kept))
            merged[left_out] = self.merge(source[left_out], target[left_out], apart)
        if self.of_classes and (self.by_likelihood or self.how == "stack"):
            slope = 1.0 if self.how == "stack" else merger
            error = _log_loss(slope * per_class_scores(merged), targets)
        else:
            judged = np.clip(merged, targets.Y.min(axis=0), targets.Y.max(axis=0)) if clipped else merged
            error = targets.mean(np.square(judged - targets.Y))
        score = targets.mean(argmax_class(merged) == y) if self.of_classes else _r2(targets, merged)
        return HeldOutResult(merger, merged, error, score)


def _r2(targets: Targets, merged: np.ndarray) -> float:
    return float(r2_score(targets.y, merged, sample_weight=targets.weights))


def _likeliest_slope(decisions: np.ndarray, targets: Targets) -> float:
    """The slope t, from 1e-4 to 1e4, at which softmax(t decisions) has the least ``_log_loss``.

    That is convex in t, so that Newton's steps, kept within a bracket of the minimum, find it.
    """
    y = targets.y
    shares = np.full(len(y), 1 / len(y)) if targets.weights is None else targets.weights / targets.weights.sum()
    gaps = decisions - decisions[np.arange(len(y)), y, None]  # of each class to the sample's own
    doubt = _doubt(decisions) * float(shares @ gaps.sum(axis=1))
    low, high = 1 / STEEPEST_SLOPE, STEEPEST_SLOPE
    slope = float(np.clip(1 / max(np.sqrt(np.square(gaps).mean()), 1 / high), low, high))
    for _ in range(SLOPE_STEPS):
        rise, curvature = _derivatives(gaps, slope, shares)
        rise -= doubt
        low, high = (low, slope) if rise > 0 else (slope, high)
        step = slope - rise / curvature if curvature > 0 else 0.0
        step = step if low < step < high else float(np.sqrt(low * high))
        if abs(step - slope) <= SLOPE_TOL * slope:
            return step
        slope = step
    return slope


def _derivatives(gaps: np.ndarray, slope: float, shares: np.ndarray) -> tuple[float, float]:
    """First and second derivative of the weighted mean of log(sum(exp(slope gaps))) in the slope."""
    if gaps.shape[1] == 2:  # several times faster, and most of the time that a choice of kernels takes on few samples
        gap = gaps.sum(axis=1)  # one of the two is zero
        p = expit(slope * gap)
        weighted = p * gap
        return float(shares @ weighted), float((shares * weighted * gap) @ (1 - p))
    p = np.exp(_shifted(slope * gaps))
    p /= p.sum(axis=1, keepdims=True)
    mean = np.einsum("ij,ij->i", p, gaps)
    return float(shares @ mean), float(shares @ (np.einsum("ij,ij,ij->i", p, gaps, gaps) - mean**2))


def _log_loss(decisions: np.ndarray, targets: Targets) -> float:
    """Mean negative log-likelihood of the labels, with a doubt, under softmax(decisions).

    As in Platt's scaling (1999), a label is held to be wrong with the probability 1 / (n + 2): n predictions without an
    error are no proof, and probabilities of zero and one would leave nothing to choose by.
    """
    likelihoods = _shifted(decisions)
    likelihoods -= np.log(np.exp(likelihoods).sum(axis=1, keepdims=True))
    own, doubt = likelihoods[np.arange(len(targets.y)), targets.y], _doubt(decisions)
    others = likelihoods.sum(axis=1) - own
    return -targets.mean((1 - doubt * (decisions.shape[1] - 1)) * own + doubt * others)


def _shifted(decisions: np.ndarray) -> np.ndarray:
    """Decisions less the largest of each sample, whose exponentials do not overflow."""
    return decisions - decisions.max(axis=1, keepdims=True)


def _doubt(decisions: np.ndarray) -> float:
    """Probability that a sample belongs to any one class other than that of its label."""
    return 1 / ((len(decisions) + 2) * max(1, decisions.shape[1] - 1))
