"""Dense arrays without their means, and what they leave of the vector of ones."""

from __future__ import annotations

import numpy as np


def centred(Y: np.ndarray) -> np.ndarray:
    """Columns less their means."""
    return Y - Y.mean(axis=0)


def centred_twice(K: np.ndarray) -> np.ndarray:
    """H K H: rows and columns less their means."""
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def led_by_ones(B: np.ndarray) -> np.ndarray:
    """B + t 11' for a centred B, with t so large that the vector of ones, which B annihilates, comes before all others.

    What follows it in a decomposition is that of B on the vectors that sum to zero, and nothing else.
    """
    return B + (2 * np.linalg.norm(B) or 1.0) / len(B)
