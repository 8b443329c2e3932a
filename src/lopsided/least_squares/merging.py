"""How the source and the target function become one decision, and how good held-out decisions are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.special import logsumexp
from sklearn.linear_model import LinearRegression, LogisticRegression
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
    losses: np.ndarray  # (n,), squared errors or log-losses of classes, times the share of the sample in all weights
    score: float  # accuracy or R^2

    @property
    def error(self) -> float:
        """The criterion by which kernel and C are selected: mean squared error, or log-loss of classes."""
        return float(self.losses.sum())


@dataclass(frozen=True)
class Merging:
    """Merges values of f_s and f_t as the parameter ``merge`` of the estimators says."""

    how: str
    of_classes: bool
    by_likelihood: bool  # whether classes are judged by their calibrated log-loss rather than squared error

    def merge(self, source: Any, target: Any, merger: Any) -> np.ndarray:
        """Merge values (n, k) of both functions into one array; one that ``how`` ignores may be None."""
        if self.how != "stack":
            return {"source": source, "target": target}[self.how] if self.how != "mean" else (source + target) / 2
        features = np.hstack([source, target])
        values = merger.decision_function(features) if self.of_classes else merger.predict(features)
        return values.reshape(len(features), -1)

    def held_out(
        self,
        source: np.ndarray,
        target: np.ndarray,
        targets: Targets,
        folds: Sequence[Fold] = (),
        *,
        clipped: bool = False,
    ) -> list[HeldOutResult]:
        """Merge held-out values of both functions, arrays of shape (g, n, k) for g values of C, and judge each.

        With "stack", each of the given folds is predicted by a stacking model trained on the other folds; without
        folds, the model trained on all is used. With ``clipped``, the squared error is that of predictions clipped to
        the range of the targets; of several targets, each counts in units of its standard deviation.
        """
        if not len(source):  # no C gave finite values
            return []
        if self.how == "stack":
            stacked = [self._stacked(*values, targets, folds) for values in zip(source, target, strict=True)]
            mergers, merged = [model for model, _ in stacked], np.stack([values for _, values in stacked])
        else:
            merged = self.merge(source, target, None)
            mergers = [None] * len(merged)
        if self.of_classes and self.how != "stack":
            mergers = _likeliest_slopes(per_class_scores(merged), targets).tolist()
        if self.of_classes and (self.by_likelihood or self.how == "stack"):
            slopes = np.ones(len(merged)) if self.how == "stack" else np.array(mergers)
            losses = _log_losses(slopes[:, None, None] * per_class_scores(merged), targets)
        else:
            judged = np.clip(merged, targets.Y.min(axis=0), targets.Y.max(axis=0)) if clipped else merged
            units = 1.0 if self.of_classes or merged.shape[-1] == 1 else targets.spreads
            losses = np.square((judged - targets.Y) / units).mean(axis=-1)
        scores = targets.means(argmax_class(merged) == targets.y) if self.of_classes else _r2(targets, merged)
        return [HeldOutResult(*parts) for parts in zip(mergers, merged, losses * targets.shares, scores, strict=True)]

    def _stacked(
        self, source: np.ndarray, target: np.ndarray, targets: Targets, folds: Sequence[Fold]
    ) -> tuple[Any, np.ndarray]:
        """The stacking model of all held-out values, and values (n, k) of models that have not seen the fold."""
        model = self._stack(source, target, targets)
        merged = self.merge(source, target, model)
        for kept, left_out in folds:
            taught = targets.take(kept)
            if self.of_classes and (taught.y == taught.y[0]).all():  # a single class leaves nothing to learn
                values = np.zeros((len(left_out), 1))
            else:
                apart = self._stack(source[kept], target[kept], taught)
                values = self.merge(source[left_out], target[left_out], apart)
                values = per_class_scores(values) if self.of_classes else values
            merged[left_out] = _with_unseen_classes(values, taught) if self.of_classes else values
        return model, merged

    def _stack(self, source: np.ndarray, target: np.ndarray, targets: Targets) -> Any:
        """Fit a stacking model; that of real targets has coefficients >= 0, as Breiman's (1996).

        Held-out values of noise lean against their targets, and a model that follows them multiplies all values by a
        large negative number.
        """
        model = LogisticRegression(max_iter=1000) if self.of_classes else LinearRegression(positive=True)
        stack = make_pipeline(StandardScaler(), model).set_output(transform="default")
        ratios = None if targets.weights is None else targets.weights / targets.weights.mean()
        weights = {f"{name}__sample_weight": ratios for name in stack.named_steps}
        return stack.fit(np.hstack([source, target]), targets.y, **weights)


def _with_unseen_classes(scores: np.ndarray, taught: Targets) -> np.ndarray:
    """Decisions (m, k) on all classes, from scores (m, seen) of a model of samples in which some classes may lack.

    The odds of a class that is not among n samples are held to be 1 to n + 1, as in Laplace's rule of succession.
    """
    n_classes = max(2, taught.Y.shape[1])
    decisions = np.repeat(logsumexp(scores, axis=1, keepdims=True) - np.log(len(taught.y) + 1), n_classes, axis=1)
    decisions[:, np.unique(taught.y)] = scores
    return decisions if n_classes > 2 else np.diff(decisions, axis=1)


def _r2(targets: Targets, merged: np.ndarray) -> np.ndarray:
    """R^2 (g,) of predictions (g, n, k), mean over the targets; of a constant target 1 if all are exact, else 0.

    It is scikit-learn's ``r2_score``, whose checks of every set of predictions would take a third of a small fit.
    """
    left = np.einsum("gik,i->gk", np.square(merged - targets.Y), targets.shares)
    spread = targets.shares @ np.square(targets.Y - targets.shares @ targets.Y)
    explained = 1 - np.divide(left, spread, out=np.where(left > 0, 1.0, 0.0), where=spread > 0)
    return explained.mean(axis=1)


def _likeliest_slopes(decisions: np.ndarray, targets: Targets) -> np.ndarray:
    """The slopes t (g,), from 1e-4 to 1e4, at which softmax(t decisions) has the least loss, for g sets of decisions.

    The mean of ``_log_losses`` is convex in t, so that Newton's steps, kept within a bracket of the minimum, find it.
    """
    shares, shifted = targets.shares, _shifted(decisions)
    own = _of_label(shifted, targets.y)  # differences to it are what counts
    expected = own @ shares + _doubt(decisions) * ((shifted.sum(axis=0) - len(shifted) * own) @ shares)
    low, high = np.full((2, len(own)), [[1 / STEEPEST_SLOPE], [STEEPEST_SLOPE]])
    spread = np.sqrt(np.square(shifted - own).mean(axis=(0, 2)))
    slopes = np.clip(1 / np.maximum(spread, 1 / STEEPEST_SLOPE), low, high)
    left = np.arange(len(slopes))
    for _ in range(SLOPE_STEPS):
        slope, (means, curvatures) = slopes[left], _moments(shifted[:, left], slopes[left], shares)
        rises = means - expected[left]
        low[left], high[left] = np.where(rises > 0, low[left], slope), np.where(rises > 0, slope, high[left])
        steps = slope - np.divide(rises, curvatures, out=np.full_like(rises, np.inf), where=curvatures > 0)
        outside = (steps <= low[left]) | (steps >= high[left])
        slopes[left] = steps = np.where(outside, np.sqrt(low[left] * high[left]), steps)
        left = left[np.abs(steps - slope) > SLOPE_TOL * slope]
        if not len(left):
            break
    return slopes


def _moments(shifted: np.ndarray, slopes: np.ndarray, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Mean and variance (g,) of the decisions under softmax(slope decisions), weighted means over the samples.

    They are the first and second derivative in the slope of log(sum(exp(slope decisions))).
    """
    p = np.exp(slopes[:, None] * shifted)
    p /= p.sum(axis=0)
    weighted = p * shifted
    means = weighted.sum(axis=0)
    return means @ shares, ((weighted * shifted).sum(axis=0) - means**2) @ shares


def _log_losses(decisions: np.ndarray, targets: Targets) -> np.ndarray:
    """Negative log-likelihoods (g, n) of the labels, with a doubt, under softmax(decisions).

    As in Platt's scaling (1999), a label is held to be wrong with the probability 1 / (n + 2): n predictions without an
    error are no proof, and probabilities of zero and one would leave nothing to choose by.
    """
    likelihoods = _shifted(decisions)
    likelihoods -= np.log(np.exp(likelihoods).sum(axis=0))
    own, doubt = _of_label(likelihoods, targets.y), _doubt(decisions)
    others = likelihoods.sum(axis=0) - own
    return -((1 - doubt * (len(likelihoods) - 1)) * own + doubt * others)


def _shifted(decisions: np.ndarray) -> np.ndarray:
    """Decisions (g, n, k) less the largest of each sample, whose exponentials do not overflow, as an array (k, g, n).

    Sums over the first axis are several times as fast as over a short last one.
    """
    classes_first = np.ascontiguousarray(np.moveaxis(decisions, -1, 0))
    return classes_first - classes_first.max(axis=0)


def _of_label(values: np.ndarray, y: np.ndarray) -> np.ndarray:
    """The values (g, n) of each sample's own class, of those of all classes (k, g, n)."""
    return np.take_along_axis(values, y[None, None], axis=0)[0]


def _doubt(decisions: np.ndarray) -> float:
    """Probability that a sample belongs to any one class other than that of its label."""
    return 1 / ((decisions.shape[1] + 2) * max(1, decisions.shape[2] - 1))
