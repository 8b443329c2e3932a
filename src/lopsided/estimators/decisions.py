"""Decisions of classifiers: one column for two classes, a column for each of more."""

from __future__ import annotations

import numpy as np


def both_sides(decisions: np.ndarray) -> np.ndarray:
    """A column for each class; one column d of two classes becomes [0, d]."""
    return np.hstack([0 * decisions, decisions]) if decisions.shape[1] == 1 else decisions


def winners(decisions: np.ndarray) -> np.ndarray:
    """Numbers of the classes with the largest decision."""
    return both_sides(decisions).argmax(axis=1)
