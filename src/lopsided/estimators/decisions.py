"""Decision values of classifiers: one column for two classes, otherwise one column per class."""

from __future__ import annotations

import numpy as np


def both_sides(decisions: np.ndarray) -> np.ndarray:
    """Expand decision values to one column per class; the single column d of two classes becomes [0, d]."""
    return np.hstack([0 * decisions, decisions]) if decisions.shape[1] == 1 else decisions


def winners(decisions: np.ndarray) -> np.ndarray:
    """Index of the class with the largest decision value, for each sample."""
    return both_sides(decisions).argmax(axis=1)
