"""Settings that every test shares."""

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("lopsided", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("lopsided")


@pytest.fixture(autouse=True, scope="session")
def one_blas_thread():
    """Small matrices lose more to BLAS threads that wait for each other than they gain."""
    with threadpool_limits(limits=1, user_api="blas"):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)
