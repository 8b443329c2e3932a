"""Samples, labels and targets for the tests of the least-squares machines."""

import numpy as np
import pytest

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR

RNG = np.random.default_rng(0)
X, NEW = RNG.standard_normal((30, 4)), RNG.standard_normal((7, 4))
TWO = np.where(X[:, 0] + 0.3 * RNG.standard_normal(30) > 0, "yes", "no")
BITS = np.unique(TWO, return_inverse=True)[1]
THREE = np.digitize(X[:, 0] + X[:, 1], [-0.5, 0.7])
REAL = np.sin(X[:, 0]) + X[:, 1]
SAFE = 0.05  # a C at which systems are positive definite
either = pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])


def targets_of(estimator):
    return THREE if estimator is AsymmetricLSSVC else REAL


def signs(y):
    return np.where(y[:, None] == np.unique(y), 1.0, -1.0)
