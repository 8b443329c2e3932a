"""Samples of two classes, with some of their labels."""

import numpy as np


def noisy(rng, n=200, width=30, shift=1.2):
    """Two classes that differ in two of many directions."""
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, width))
    X[:, :2] += shift * (2 * y[:, None] - 1)
    return X, y


def with_gaps(y, known):
    return np.where(np.arange(len(y)) < known, y, -1)
