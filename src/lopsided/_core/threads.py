"""Slicing of rows, and a thread pool that works through the slices."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from .progress import Listener, counted, listening, stage

T = TypeVar("T")
BLOCKS = "blocks"  # name of the stage of a pool of tasks, for those who follow progress


def n_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads: -1 means one per core that this process may use, -2 one fewer, and so on.

    None means the number set by the enclosing ``jobs``, and one within a task. Outside of ``jobs`` it means one thread
    per core, or $OMP_NUM_THREADS if that is less: BLAS respects it, and joblib sets it in workers that share the cores.
    """
    if n_jobs is None:
        n_jobs = 1 if _local.busy else _local.n_jobs or min(_cores(), _omp_threads())
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for every core or a positive number of threads")
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _omp_threads() -> int:
    """Return the first value of $OMP_NUM_THREADS, or the number of cores if it is not a number."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, int(first)) if first.isdecimal() else _cores()


def even_slices(n: int, parts: int) -> list[slice]:
    """Cut range(n) into at most ``parts`` slices of nearly equal length, none of them empty unless n = 0."""
    parts = max(1, min(parts, n))
    edges = [n * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def slices_of(n: int, length: int) -> list[slice]:
    """Cut range(n) into slices of at most ``length``."""
    return even_slices(n, -(-n // max(1, length)))


def run(task: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Apply a task to every item on threads, each with a single-threaded BLAS, and return the results in order.

    The enclosing ``jobs`` sets the number of threads. A task that itself calls ``run`` does so on its own thread. The
    caller works too, so that it waits only for items that other threads have begun, however busy the machine is.
    """
    items = list(items)
    threads = min(n_threads(), len(items))
    if threads < 2:
        return [task(item) for item in counted(items, BLOCKS, len(items))]
    results: list[Any] = [None] * len(items)
    waiting = deque(enumerate(items))
    reactions = np.geterr()  # numpy keeps them per thread

    def work(listener: Listener | None = None) -> None:
        before, _local.busy = _local.busy, True
        try:
            with np.errstate(**reactions), listening(None):
                for number, item in _drained(waiting):
                    results[number] = task(item)
                    if listener is not None:
                        listener.advance(len(items) - len(waiting))
        finally:
            _local.busy = before
            waiting.clear()  # after an error or an interrupt the other threads finish their items and stop

    with one_blas_thread():
        helpers = [_pool(threads - 1).submit(work) for _ in range(threads - 1)]
        try:
            with stage(BLOCKS, len(items)) as listener:
                work(listener)
        finally:
            begun = [helper for helper in helpers if not helper.cancel()]
            wait(begun)
    for helper in begun:
        helper.result()
    return results


def _drained(waiting: deque[T]) -> Iterator[T]:
    """Take items from a queue that several threads share until it is empty."""
    while True:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        yield item


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Limit BLAS to one thread; of concurrent callers, the first sets the limit and the last lifts it."""
    with _limit.lock:
        if not _limit.callers:
            _limit.limiter = _blas().limit(limits=1, user_api="blas")
            _let_go()
        _limit.callers += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.callers -= 1
            if not _limit.callers:
                _limit.limiter.restore_original_limits()
                _let_go()


@contextmanager
def jobs(n_jobs: int | None) -> Iterator[None]:
    """Set the number of threads for the enclosed code; None keeps the current number."""
    before, _local.n_jobs = _local.n_jobs, n_threads(n_jobs)
    try:
        yield
    finally:
        _local.n_jobs = before


class _Limit:
    """Shared state of ``one_blas_thread``: separate concurrent limits would restore each other's values."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Return to the state without callers."""
        self.lock, self.callers = threading.Lock(), 0
        self.limiter: Any = None


class _Local(threading.local):
    busy = False
    n_jobs: int | None = None


_local, _limit = _Local(), _Limit()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _let_go() -> None:
    """Allow any thread to lift the limit: since threadpoolctl 3.6 only the thread that set it can do so in OpenBLAS."""
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


def _forget() -> None:
    """Reset pools and limits after a fork, which the threads that use them do not survive."""
    _pool.cache_clear()
    _limit.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
