"""Integers mixed to 64 random-looking bits, the same in every process."""

import numpy as np

GOLDEN, FIRST, SECOND = (np.uint64(number) for number in (0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB))


def mixed(numbers: np.ndarray, seed: int = 0) -> np.ndarray:
    """Return a 64-bit hash of every integer by splitmix64, which mixes each bit into all others.

    >>> bool(len(set(mixed(np.arange(1000)).tolist())) == 1000)
    True
    """
    with np.errstate(over="ignore"):
        z = (numbers.astype(np.uint64) + np.uint64(seed) + np.uint64(1)) * GOLDEN
        z = (z ^ (z >> np.uint64(30))) * FIRST
        z = (z ^ (z >> np.uint64(27))) * SECOND
        return np.asarray(z ^ (z >> np.uint64(31)))
