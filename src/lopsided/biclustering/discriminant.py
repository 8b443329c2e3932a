"""Linear discriminants of a partition, and refinement of partitions by their own discriminants."""

from typing import NamedTuple

import numpy as np
from scipy import sparse
from scipy.linalg import solve

from .._core import unit_rows

# Both chosen once on the six sets of benchmarks/biclustering_table2.py, whose part "ablation" changes them
FISHER_SWEEPS = 3  # more drift towards small classes of outliers
FISHER_SHRINKAGE = 0.03  # of the common covariance, from 0 to 1


class Discriminant(NamedTuple):
    """Linear classifier: the class of a point f is the one with the largest score f . weights_c + offsets_c."""

    weights: np.ndarray  # (q, classes)
    offsets: np.ndarray  # (classes,)
    spherical: bool = False  # whether f is the direction of the features, and not the features themselves

    def labels(self, F: np.ndarray) -> np.ndarray:
        """Predict the class of each row of F, from its leading q features."""
        F = F[:, : len(self.weights)]
        return np.argmax((unit_rows(F) if self.spherical else F) @ self.weights + self.offsets, axis=1)


def class_means(points: np.ndarray, labels: np.ndarray, n_classes: int) -> np.ndarray:
    """Mean of the rows of each class, shape (classes, width); zero for an empty class. Cost: O(n width)."""
    n, counts = len(labels), np.maximum(np.bincount(labels, minlength=n_classes), 1).astype(points.dtype)
    members = sparse.csr_array((np.ones(n, dtype=points.dtype), (labels, np.arange(n))), shape=(n_classes, n))
    return (members @ points) / counts[:, None]


def nearest_mean(F: np.ndarray, labels: np.ndarray, n_classes: int) -> Discriminant:
    """Nearest-mean classifier, with the score f . m_c - |m_c|^2 / 2 for the class mean m_c. Cost: O(n q)."""
    means = class_means(F, labels, n_classes)
    return Discriminant(means.T, -np.einsum("cq,cq->c", means, means) / 2)


def fisher(F: np.ndarray, labels: np.ndarray, n_classes: int, shrinkage: float) -> Discriminant:
    """Fisher's linear discriminant for classes with shares p_c, means m_c and a common covariance W.

    The score is f . w_c - w_c . m_c / 2 + log p_c with W w_c = m_c, where W is shrunk towards (tr W / q) I. An empty
    class has the score minus infinity. Cost: O(n q^2).
    """
    n, q = F.shape
    means, counts = class_means(F, labels, n_classes), np.bincount(labels, minlength=n_classes)
    deviations = F - means[labels]
    W = deviations.T @ deviations / n
    spread = np.trace(W) / q
    if spread <= np.finfo(F.dtype).eps * np.square(F).mean():  # W is zero: every point equals its class mean
        return nearest_mean(F, labels, n_classes)
    W = (1 - shrinkage) * W + shrinkage * spread * np.eye(q, dtype=F.dtype)
    weights = solve(W, means.T, assume_a="pos")
    with np.errstate(divide="ignore"):
        shares = np.log(counts / n).astype(F.dtype)
    return Discriminant(weights, shares - np.einsum("cq,qc->c", means, weights) / 2)


def refine_partition(F: np.ndarray, labels: np.ndarray, n_classes: int) -> Discriminant:
    """Refine a partition of points F (n, q) by a few sweeps of Fisher's discriminant, each fitted to the last labels.

    k-means gives all features equal weight. A discriminant weights them by how well they separate the classes, and can
    therefore use noisy features as well. Sweeps stop before one that would empty a class. Cost: O(n q^2) per sweep.
    """
    last = nearest_mean(F, labels, n_classes)
    for _ in range(FISHER_SWEEPS):
        found = fisher(F, labels, n_classes, FISHER_SHRINKAGE)
        proposed = found.labels(F)
        if len(np.unique(proposed)) < len(np.unique(labels)):
            break
        last, labels = found, proposed
    return last
