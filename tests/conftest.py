"""Settings that every test shares."""

import os
import signal

import numpy as np
import pytest
from hypothesis import settings
from threadpoolctl import threadpool_limits

settings.register_profile("lopsided", deadline=None, max_examples=30, derandomize=True)
settings.load_profile("lopsided")
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # in the background of a shell, whose children ignore interrupts
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(autouse=True, scope="session")
def one_thread_each():
    """Small matrices lose more to threads of BLAS and OpenMP that wait for each other than they gain; scripts too."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with threadpool_limits(limits=1):
        yield


@pytest.fixture
def rng():
    return np.random.default_rng(0)


@pytest.fixture(scope="session")
def cluster():
    """Two worker processes of dask, for all tests that need them."""
    from distributed import LocalCluster  # late, as few tests need it

    options = {"n_workers": 2, "threads_per_worker": 1, "dashboard_address": ":0", "processes": True}
    with LocalCluster(**options) as found:
        yield found


@pytest.fixture
def client(cluster):
    """The client of two worker processes, in force during a test."""
    from distributed import Client

    with Client(cluster) as found:
        yield found


@pytest.fixture(params=["threads", "processes"])
def scheduler(request):
    """Compute with dask's threads, or with worker processes."""
    return request.getfixturevalue("client") if request.param == "processes" else None
