"""The simplest of several choices that does as well as the best of them."""

from collections.abc import Sequence

import numpy as np


def simplest_of_the_best(losses: Sequence[np.ndarray]) -> int:
    """The first choice whose losses, one for each sample, add up to the least sum or within a standard error of it.

    The error is that of the sum of paired differences, d_i of n samples: sqrt(n) times their standard deviation.

    >>> simplest_of_the_best([np.array([3.0, 3.0]), np.array([2.0, 0.5]), np.array([1.0, 1.0])])
    1
    """
    best = min(losses, key=np.sum)
    gaps = (each - best for each in losses)
    return next(number for number, gap in enumerate(gaps) if gap.sum() <= np.sqrt(len(gap)) * gap.std())
