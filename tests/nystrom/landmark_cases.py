"""Two sets of points, and models of them with landmarks."""

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from cases import KERNELS, nystrom_svd
from lopsided.nystrom.landmarks import STRATEGIES

every_kernel = pytest.mark.parametrize("name", KERNELS)
every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
CENTER = pytest.mark.parametrize("center", [False, True])
EXTENSION = pytest.mark.parametrize("extension", ["orthonormal", "plain"])
ROWS = np.arange(0, 60, 4), np.arange(1, 45, 3)  # 15 of each


def two_sets(n=60, m=45, width=4, scale=0.7):
    rng = np.random.default_rng(3)
    return scale * rng.standard_normal((n, width)), scale * rng.standard_normal((m, width))


def sparse_sets():
    return tuple(sparse.csr_array(np.where(np.abs(side) > 0.5, side, 0)) for side in two_sets())


def model_of(kernel, k=3, **parameters):
    kernel = clone(KERNELS[kernel][0]) if kernel in KERNELS else kernel
    return nystrom_svd(k, kernel=kernel, **{"random_state": 0, **parameters})
