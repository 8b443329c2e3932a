"""Losses of a linear head on features, and the head that minimises them."""

from __future__ import annotations

from typing import Protocol

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

HEAD_STEPS = 200  # of L-BFGS for the head, at most


class Loss(Protocol):
    """A mean over samples of scores S (n, outputs) against targets Y (n, outputs)."""

    def value(self, S: np.ndarray, Y: np.ndarray) -> float:
        """The loss."""

    def gradient(self, S: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """With respect to the scores."""

    def head(self, F: np.ndarray, Y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Weights (k, outputs) and bias (outputs,) of least loss + alpha / 2 |weights|^2 on features F (n, k)."""


class Squared:
    """|s - y|^2 / 2."""

    def value(self, S: np.ndarray, Y: np.ndarray) -> float:
        """Half of the mean squared difference."""
        return float(np.sum((S - Y) ** 2)) / (2 * len(S))

    def gradient(self, S: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """(s - y) / n."""
        return (S - Y) / len(S)

    def head(self, F: np.ndarray, Y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Ridge regression in closed form, O(n k^2)."""
        mean, middle = F.mean(axis=0), Y.mean(axis=0)
        centred = F - mean
        gram = centred.T @ centred / len(F) + alpha * np.eye(F.shape[1])
        weights = np.linalg.solve(gram, centred.T @ (Y - middle) / len(F))
        return weights, middle - mean @ weights


class CrossEntropy:
    """-log softmax(s)[class], for targets that are one in the column of the class."""

    def value(self, S: np.ndarray, Y: np.ndarray) -> float:
        """The mean negative log-likelihood."""
        return float(np.sum(logsumexp(S, axis=1)) - np.sum(S * Y)) / len(S)

    def gradient(self, S: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """(softmax(s) - y) / n."""
        return (softmax(S, axis=1) - Y) / len(S)

    def head(self, F: np.ndarray, Y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Logistic regression by L-BFGS."""
        k, outputs = F.shape[1], Y.shape[1]

        def objective(flat: np.ndarray) -> tuple[float, np.ndarray]:
            weights, bias = flat[: k * outputs].reshape(k, outputs), flat[k * outputs :]
            S = F @ weights + bias
            slopes = self.gradient(S, Y)
            downhill = np.concatenate([(F.T @ slopes + alpha * weights).ravel(), slopes.sum(axis=0)])
            return self.value(S, Y) + alpha / 2 * float(np.sum(weights**2)), downhill

        start = np.zeros((k + 1) * outputs)
        best = minimize(objective, start, jac=True, method="L-BFGS-B", options={"maxiter": HEAD_STEPS}).x
        return best[: k * outputs].reshape(k, outputs), best[k * outputs :]
