"""Dense arrays without their means."""

from __future__ import annotations

import numpy as np


def centred(Y: np.ndarray) -> np.ndarray:
    """Columns less their means."""
    return Y - Y.mean(axis=0)


def centred_twice(K: np.ndarray) -> np.ndarray:
    """H K H: rows and columns less their means."""
    return K - K.mean(axis=0) - K.mean(axis=1)[:, None] + K.mean()


def led_by_ones(B: np.ndarray) -> np.ndarray:
    """B + t 11' for a centred B, with t so large that the vector of ones comes first in a decomposition.

    B takes the vector of ones to zero, and so would have it anywhere among its null vectors. What follows the first is
    then the decomposition of B on the vectors that sum to zero, and nothing else.
    """
    return B + (2 * np.linalg.norm(B) or 1.0) / len(B)
