"""The library's threads: how many there are, what BLAS does meanwhile, and how they stop."""

import os
import subprocess
import sys
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from functools import reduce
from operator import add

import numpy as np
import pytest
import scipy.linalg
from sklearn.cluster import KMeans
from threadpoolctl import threadpool_info, threadpool_limits

from lopsided import AsymmetricLSSVC, KernelSVD
from lopsided._core import (
    accumulate,
    block_bytes,
    blocks_of,
    eigh,
    jobs,
    n_threads,
    on_one_thread,
    run,
    solve,
    svd,
    threads as threads_module,
)
from lopsided._core.threads import BLOCKS_SHARE, LEAST_BLOCK


def test_threads_are_counted_where_they_are_asked_for():
    every = n_threads()
    assert 1 <= every <= n_threads(-1)
    with jobs(3):
        assert n_threads() == 3
        assert run(lambda _: n_threads(), range(3)) == [1, 1, 1]  # a task has its own thread and no other
        with jobs(None):
            assert n_threads() == 3
        with jobs(1):
            assert n_threads() == 1
        assert n_threads() == 3
    assert n_threads() == every
    with pytest.raises(ValueError, match="n_jobs=0"), jobs(0):
        pass


@pytest.mark.parametrize(("given", "number"), [("1", 1), ("1,2", 1), ("0", 1), ("many", None), ("1000", None)])
def test_threads_heed_what_openmp_may_take(given, number, monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", given)
    assert n_threads() == (number or n_threads(-1))
    with jobs(3):
        assert n_threads() == 3


@pytest.mark.parametrize("threads", [1, 2, 5])
def test_results_are_combined_in_order_and_few_are_held(threads):
    held, most = set(), [0]

    def task(item):
        held.add(item)
        most[0] = max(most[0], len(held))
        return [item]

    def combine(one, other):
        held.difference_update(one, other)
        return one + other

    with jobs(threads):
        assert accumulate(combine, task, range(20)) == list(range(20))
        total = accumulate(add, lambda i: 0.1 * i, range(1000))
    assert most[0] <= threads + 1
    assert total == reduce(add, (0.1 * i for i in range(1000)))


def test_fits_at_the_same_time_leave_the_threads_of_blas_alone():
    def threads():
        return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

    with threadpool_limits(2, "blas"):
        before = threads()
        with ThreadPoolExecutor(3) as callers, jobs(2):
            list(callers.map(lambda t: run(lambda _: time.sleep(t), range(4)), (0.03, 0.01, 0.02)))
        assert threads() == before


LIMIT_OF_TWO_THREADS = """
import threading
from threadpoolctl import threadpool_info
from lopsided._core.threads import with_one_blas_thread

def threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

first_in, second_in, first_out, done = (threading.Event() for _ in range(4))

@with_one_blas_thread
def within_first():
    first_in.set()
    second_in.wait()

def first():
    within_first()
    first_out.set()
    done.wait()

@with_one_blas_thread
def within_second():
    second_in.set()
    first_out.wait()
    within.extend(threads())

def second():
    first_in.wait()
    within_second()

before, within = threads(), []
alive, last = (threading.Thread(target=each) for each in (first, second))
alive.start(), last.start(), last.join()
print(before == threads(), set(within) == {1})
done.set()
"""


@pytest.mark.parametrize(
    "fit",
    [
        lambda kernel, X: KernelSVD(kernel=kernel, n_jobs=1).fit(X, Z=X),
        lambda kernel, X: AsymmetricLSSVC(1.0, kernel=kernel, n_jobs=1).fit(X, np.arange(len(X)) % 2),
    ],
)
def test_fits_leave_blas_one_thread(fit, rng):
    seen = []

    def kernel(X, Z):
        seen.append(threads_of("blas"))
        return X @ Z.T

    with threadpool_limits(2, "blas"):
        fit(kernel, rng.standard_normal((30, 4)))
        assert threads_of("blas") == {2}
    assert set.union(*seen) == {1}


@pytest.mark.parametrize("decompose", [svd, eigh, lambda A: solve(A.copy(), A.copy())])
@pytest.mark.parametrize(("bound", "expected"), [(900, {1}), (899, {2})])
def test_only_large_matrices_are_decomposed_on_several_threads_of_blas(decompose, bound, expected, rng, monkeypatch):
    seen = []

    def watched(driver):
        def noted(*args, **settings):
            seen.append(threads_of("blas"))
            return driver(*args, **settings)

        return noted

    monkeypatch.setattr("lopsided._core.decompositions.ONE_THREAD", bound)
    for room, name in ((np.linalg, "svd"), (np.linalg, "eigh"), (scipy.linalg, "solve")):
        monkeypatch.setattr(room, name, watched(getattr(room, name)))
    with threadpool_limits(2, "blas"):
        decompose(np.eye(30) + rng.random((30, 30)) / 100)
        assert threads_of("blas") == {2}
    assert set.union(*seen) == expected


@pytest.mark.parametrize("tasks", [1, 2, 5])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_task_has_one_thread_of_blas_whether_alone_or_among_others(tasks, threads):
    with threadpool_limits(2, "blas"), jobs(threads):
        assert run(lambda _: threads_of("blas"), range(tasks)) == [{1}] * tasks
        assert threads_of("blas") == {2}


def test_clusters_are_found_on_one_thread_of_openmp_and_blas(rng):
    class Watched(KMeans):
        def fit(self, X):
            self.seen = threads_of("blas") | threads_of("openmp")
            return super().fit(X)

    with threadpool_limits(2):
        assert on_one_thread(Watched(2, random_state=0).fit, rng.standard_normal((20, 2))).seen == {1}
        assert threads_of("blas") | threads_of("openmp") == {2}


def threads_of(kind):
    return {library["num_threads"] for library in threadpool_info() if library["user_api"] == kind}


def test_a_limit_that_another_thread_set_is_lifted():
    code = [sys.executable, "-c", LIMIT_OF_TWO_THREADS]
    done = subprocess.run(code, capture_output=True, text=True, env=os.environ | {"OMP_NUM_THREADS": "2"}, timeout=60)
    assert done.stdout == "True True\n", done.stderr


INTERRUPTS = """
import sys
from threadpoolctl import threadpool_info
from lopsided._core import threads

def counts():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]

@threads.with_one_blas_thread
def task():
    return None

def interrupted_at(number):
    def profile(frame, event, _):
        nonlocal number
        ours = frame.f_globals.get("__name__") in ("lopsided._core.threads", "threadpoolctl")
        if ours and event in ("call", "c_return"):
            number -= 1
            if number == 0:
                sys.setprofile(None)
                raise KeyboardInterrupt
    sys.setprofile(profile)
    try:
        task()
    except KeyboardInterrupt:
        return True
    finally:
        sys.setprofile(None)
    return False

task()
before, number, left = counts(), 1, []
while interrupted_at(number):
    if counts() != before or threads._limit.callers or threads._limit.lock.locked():
        left.append(number)
    number += 1
print(number > 10, set(before), left)
"""


def test_an_interrupt_at_any_moment_leaves_the_threads_of_blas_as_they_were():
    """An interrupt is raised after calls and at the start of functions: at each of them in turn."""
    code = [sys.executable, "-c", INTERRUPTS]
    environment = os.environ | {"OMP_NUM_THREADS": "2", "OPENBLAS_NUM_THREADS": "2"}
    done = subprocess.run(code, capture_output=True, text=True, env=environment, timeout=60)
    assert done.stdout == "True {2} []\n", done.stdout + done.stderr


def test_a_task_that_fails_stops_the_others():
    begun = []

    def task(number):
        begun.append(number)
        time.sleep(0.001)
        return 1 // (number - 3)

    with jobs(2), pytest.raises(ZeroDivisionError):
        run(task, range(1000))
    assert len(begun) < 20


def test_an_interrupt_stops_the_threads():
    """Ctrl-C reaches the thread that waits for the others."""
    code = """
import os, signal, threading, time
from lopsided._core.threads import jobs, run
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job ignores it
begun = []
threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
try:
    with jobs(2):
        run(lambda number: (begun.append(number), time.sleep(0.05)), range(200))
except KeyboardInterrupt:
    before = len(begun)
    time.sleep(0.5)
    assert before < 100 and len(begun) <= before + 2, (before, len(begun))
    print("stopped")
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
    assert done.stdout.strip() == "stopped", done.stderr


def test_the_caller_works_too_and_does_not_wait_for_threads_that_have_not_begun():
    with jobs(2):
        run(abs, range(2))  # opens the pool
        blocker = threading.Event()
        pool = threads_module._pool(1)
        pool.submit(blocker.wait)  # as if another process had the core
        assert run(abs, range(-5, 0)) == [5, 4, 3, 2, 1]
        blocker.set()


@pytest.mark.parametrize("threads", [1, 2, 8])
def test_blocks_of_all_threads_share_a_part_of_the_budget(threads):
    with jobs(threads, "64MB"):
        each = block_bytes(1 << 30)
        assert threads * each <= 64e6 / BLOCKS_SHARE
        assert run(lambda _: block_bytes(1 << 30), range(3)) == 3 * [64_000_000 // min(threads, 3) // BLOCKS_SHARE]
        with jobs(1, "1GB"):
            assert block_bytes(1 << 30) == 16_000_000, "a part of a computation gets no more than the whole"
    assert block_bytes(1 << 30) == 1 << 30


def test_blocks_keep_a_least_size_and_the_state_survives_a_refused_budget():
    with jobs(2, 1):
        assert block_bytes(1 << 30) == LEAST_BLOCK
        assert block_bytes(100) == 100
        with pytest.raises(ValueError, match="is not a size"), jobs(3, "plenty"):
            pass
        assert n_threads() == 2
    assert [each.stop - each.start for each in blocks_of(10, 8, 24)] == [2, 3, 2, 3]
