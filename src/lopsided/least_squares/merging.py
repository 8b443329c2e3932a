"""How the source and the target function become one decision, and how good held-out decisions are."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax
from sklearn.linear_model import LogisticRegression, Ridge
from sklearn.metrics import r2_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from .._core import argmax_class, per_class_scores
from .saddle import Fold

STEEPEST_SLOPE = 1e4  # the best calibration slope is infinite if the held-out predictions separate the classes


class HeldOutResult(NamedTuple):
    """Held-out values of both functions at one C, merged and compared with the targets."""

    merger: Any  # stacking model or calibration slope, trained on all held-out values; None if neither is needed
    predictions: np.ndarray  # (n, k), merged held-out values
    error: float  # criterion by which C is selected: mean squared error, or log-loss if classes are stacked
    score: float  # accuracy or R^2


@dataclass(frozen=True)
class Merging:
    """Merges values of f_s and f_t, arrays of shape (n, k), as the parameter ``merge`` of the estimators says."""

    how: str
    of_classes: bool

    def merge(self, source: Any, target: Any, merger: Any) -> np.ndarray:
        """Merge the values of both functions into one (n, k) array; an array that ``how`` ignores may be None."""
        if self.how != "stack":
            return {"source": source, "target": target}[self.how] if self.how != "mean" else (source + target) / 2
        features = np.hstack([source, target])
        values = merger.decision_function(features) if self.of_classes else merger.predict(features)
        return values.reshape(len(features), -1)

    def fit(self, source: np.ndarray, target: np.ndarray, y: np.ndarray) -> Any:
        """Fit the stacking model, or the slope t at which softmax(t decisions) makes the classes likeliest."""
        if self.how == "stack":
            model = LogisticRegression(max_iter=1000) if self.of_classes else Ridge()
            stack = make_pipeline(StandardScaler(), model).set_output(transform="default")
            return stack.fit(np.hstack([source, target]), y)
        if not self.of_classes:
            return None
        decisions, bound = per_class_scores(self.merge(source, target, None)), np.log(STEEPEST_SLOPE)
        best = minimize_scalar(lambda t: _log_loss(np.exp(t) * decisions, y), bounds=(-bound, bound), method="bounded")
        return float(np.exp(best.x))

    def held_out(
        self,
        source: np.ndarray,
        target: np.ndarray,
        Y: np.ndarray,
        y: np.ndarray,
        folds: Sequence[Fold],
        *,
        clipped: bool = False,
    ) -> HeldOutResult:
        """Merge held-out values of both functions, and compare them with the targets.

        With "stack", each fold is predicted by a stacking model trained on the other folds, unless these lack a class;
        then the model trained on all folds is used. With ``clipped``, the squared error is that of predictions clipped
        to the range of the targets.
        """
        merger = self.fit(source, target, y)
        merged = self.merge(source, target, merger)
        for kept, left_out in folds if self.how == "stack" else ():
            if self.of_classes and len(np.unique(y[kept])) < len(np.unique(y)):
                continue
            apart = self.fit(source[kept], target[kept], y[kept])
            merged[left_out] = self.merge(source[left_out], target[left_out], apart)
        likelihood = self.of_classes and self.how == "stack"
        judged = np.clip(merged, Y.min(axis=0), Y.max(axis=0)) if clipped else merged
        error = _log_loss(per_class_scores(merged), y) if likelihood else float(np.square(judged - Y).mean())
        score = float((argmax_class(merged) == y).mean() if self.of_classes else r2_score(y, merged))
        return HeldOutResult(merger, merged, error, score)


def _log_loss(decisions: np.ndarray, y: np.ndarray) -> float:
    """Mean negative log-likelihood of the labels under softmax(decisions)."""
    return -float(log_softmax(decisions, axis=1)[np.arange(len(y)), y].mean())
