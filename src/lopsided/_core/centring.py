"""Centring of dense arrays."""

import numpy as np


def centred(Y: np.ndarray) -> np.ndarray:
    """Subtract the mean of each column."""
    return Y - Y.mean(axis=0)


def centred_twice(K: np.ndarray) -> np.ndarray:
    """Two-sided centring H K H, accurate to rounding of the result however large the means are.

    Differences of near numbers are exact; what the means themselves were rounded by, the second round removes.
    """
    B = K - K.mean(axis=0)
    for axis in (1, 0, 1):
        B -= B.mean(axis=axis, keepdims=True)
    return B


def led_by_ones(B: np.ndarray) -> np.ndarray:
    """B + t 11' for a centred B, with t large enough to make the vector of ones the leading singular vector.

    The vector of ones is a null vector of B, and a decomposition of B would mix it with the other null vectors. After
    the shift, the remaining triplets are exactly the decomposition of B on the vectors that sum to zero.
    """
    return B + (2 * np.linalg.norm(B) or 1.0) / len(B)
