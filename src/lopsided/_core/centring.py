"""Centring of dense arrays."""

import numpy as np


def centred_twice(K: np.ndarray, weights: np.ndarray | None = None) -> np.ndarray:
    """Two-sided centring H K H, accurate to rounding of the result however large the means are.

    Differences of near numbers are exact; what the means themselves were rounded by, the second round removes. With
    weights of the samples (of rows and columns alike) the means are weighted.
    """
    B = K - np.average(K, axis=0, weights=weights)
    for axis in (1, 0, 1):
        B -= np.average(B, axis=axis, weights=weights, keepdims=True)
    return B
