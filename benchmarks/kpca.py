"""The baseline of Table 3: kernel PCA of k(C^T x, C^T x') with C learned by the alternation of kernel SVD."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from lopsided.kernel_svd.compatibility.alternate import Stopping, alternate
from lopsided.kernel_svd.compatibility.descent import LBFGS, Adam, Parameters, Problem
from lopsided.kernel_svd.compatibility.losses import Loss
from lopsided.kernel_svd.compatibility.samples import Samples
from lopsided.kernels import Kernel

ANCHORS = 100  # rows that others are compared with


@dataclass(frozen=True)
class KPCAProblem(Problem):
    """As kernel SVD, but the right points are anchors mapped by the same C as the left ones; what moves is C."""

    anchors: np.ndarray

    def projection(self, data: Samples, C: np.ndarray) -> np.ndarray:
        """Leading right vectors of k(X C, anchors C), scaled so that features have mean square one."""
        return super().projection(replace(data, X=data.X @ C), self.anchors @ C)

    def features(self, data: Samples, C: np.ndarray, projection: np.ndarray) -> np.ndarray:
        """Those of new rows."""
        return super().features(replace(data, X=data.X @ C), self.anchors @ C, projection)

    def slope(self, now: Parameters, projection: np.ndarray, data: Samples) -> tuple[float, Parameters]:
        """Through both arguments of the (symmetric) kernel."""
        X, Y = data.X[data.rows], data.targets
        left, right = X @ now.Q, self.anchors @ now.Q
        G, to_right = self.kernel.differentiate(left, right)
        to_left = self.kernel.differentiate(right, left)[1]
        F = G @ projection
        S = F @ now.weights + now.bias
        of_scores = self.loss.gradient(S, Y)
        of_values = of_scores @ (projection @ now.weights).T
        of_C = X.T @ to_left(of_values.T) + self.anchors.T @ to_right(of_values)
        weights = F.T @ of_scores + self.alpha * now.weights
        value = self.loss.value(S, Y) + self.alpha / 2 * float(np.sum(now.weights**2))
        return value, Parameters(of_C, weights, of_scores.sum(axis=0))


def learned_kpca(
    kernel: Kernel, loss: Loss, X: np.ndarray, Y: np.ndarray, X_new: np.ndarray, k: int, seed: int, alpha: float
) -> np.ndarray:
    """Scores of new rows: C starts at one, a fifth of the rows says when to stop."""
    rng = np.random.default_rng(seed)
    order = rng.permutation(len(X))
    held, rest = order[: len(X) // 5], order[len(X) // 5 :]
    anchors = X[np.sort(rest[:ANCHORS])]
    width = X.shape[1]
    problem = KPCAProblem(kernel.fit(X, anchors), np.eye(width), loss, k, alpha, anchors)
    small = len(rest) * len(anchors) <= 1 << 20
    steps = LBFGS(problem) if small else Adam(problem, 500, 0.01, rng)
    data = Samples.every(X, Y)
    learning, held_out = data.take(rest), data.take(held)
    found, _ = alternate(problem, steps, np.eye(width), learning, held_out, Stopping(30, 5, 1e-4))
    C = found.parameters.Q
    projection = problem.projection(data, C)
    weights, bias = loss.head(problem.features(data, C, projection), Y, problem.alpha)
    return problem.features(Samples.every(X_new, Y), C, projection) @ weights + bias
