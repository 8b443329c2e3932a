"""Labels and real targets at the gate, and class decisions on the way out."""

from typing import Any

import numpy as np
from scipy import sparse

LARGEST_TARGET = 1e150  # bound on the magnitude of targets, whose squares must not overflow


def encoded(y: Any, name: str = "y") -> tuple[np.ndarray, np.ndarray]:
    """Sorted classes and the class index of each sample; raise an error if there are fewer than two classes."""
    classes, codes = np.unique(y, return_inverse=True)
    if len(classes) < 2:
        found = f"one class only, {classes[0]}" if len(classes) else "no class"
        raise ValueError(f"{name} holds {found}; a classifier needs samples of at least two classes")
    return classes, codes


def real_targets(y: Any) -> np.ndarray:
    """Targets as floats of shape (n, outputs); raise an error if they are sparse, or too large or small to square."""
    if sparse.issparse(y):
        raise TypeError(f"y is sparse, of shape {y.shape}, but targets are dense; give y.toarray()")
    Y = np.asarray(y, dtype=float).reshape(len(y), -1)
    largest = float(np.abs(Y).max())
    if largest and not 1 / LARGEST_TARGET < largest < LARGEST_TARGET:
        raise ValueError(f"targets reach {largest:g}, whose square a float cannot represent; divide y by {largest:g}")
    return Y


def per_class_scores(decisions: np.ndarray) -> np.ndarray:
    """Expand decision values (..., n, k) to one column per class; the single column d of two classes becomes [0, d]."""
    return np.concatenate([0 * decisions, decisions], axis=-1) if decisions.shape[-1] == 1 else decisions


def argmax_class(decisions: np.ndarray) -> np.ndarray:
    """Index of the class with the largest decision value, for each sample."""
    return per_class_scores(decisions).argmax(axis=-1)
