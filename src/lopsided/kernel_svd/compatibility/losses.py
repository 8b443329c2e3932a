"""Losses of a linear head, of scores S (n, outputs) against targets Y (n, outputs).

``gradient`` is that of the mean loss ``value`` with respect to the scores; ``head`` gives the weights (k, outputs) and
the bias (outputs,) that minimise loss + alpha / 2 |weights|^2 on features F (n, k).
"""

import numpy as np
from scipy.optimize import minimize
from scipy.special import logsumexp, softmax

HEAD_STEPS = 200  # L-BFGS iterations for the head, at most


class Squared:
    """Squared loss |s - y|^2 / 2."""

    def value(self, S: np.ndarray, Y: np.ndarray) -> float:
        """Half of the mean squared error, summed over outputs."""
        return float(np.sum((S - Y) ** 2)) / (2 * len(S))

    def gradient(self, S: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Gradient (s - y) / n."""
        return (S - Y) / len(S)

    def head(self, F: np.ndarray, Y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Ridge regression in closed form, O(n k^2)."""
        mean, middle = F.mean(axis=0), Y.mean(axis=0)
        centred = F - mean
        gram = centred.T @ centred / len(F) + float(alpha) * np.eye(F.shape[1])
        weights = np.linalg.solve(gram, centred.T @ (Y - middle) / len(F))
        return weights, middle - mean @ weights


class CrossEntropy:
    """Cross-entropy loss -log softmax(s)[class], for one-hot targets."""

    def value(self, S: np.ndarray, Y: np.ndarray) -> float:
        """Mean negative log-likelihood."""
        return float(np.sum(logsumexp(S, axis=1)) - np.sum(S * Y)) / len(S)

    def gradient(self, S: np.ndarray, Y: np.ndarray) -> np.ndarray:
        """Gradient (softmax(s) - y) / n."""
        return (softmax(S, axis=1) - Y) / len(S)

    def head(self, F: np.ndarray, Y: np.ndarray, alpha: float) -> tuple[np.ndarray, np.ndarray]:
        """Multinomial logistic regression by L-BFGS."""
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


Loss = Squared | CrossEntropy
