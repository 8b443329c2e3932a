"""Slices of rows, and a thread for each core to work through them."""

from __future__ import annotations

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from typing import Any, TypeVar

from threadpoolctl import ThreadpoolController

T = TypeVar("T")


def n_threads(n_jobs: int | None = None) -> int:
    """Number of threads: -1 is one for each core this process may use, -2 one less, and so on.

    None is as many as the enclosing ``jobs`` allows, and one within a task. If there is none it is one for each core,
    or $OMP_NUM_THREADS if that is less: BLAS heeds it, and joblib sets it in its workers, which share the cores.
    """
    if n_jobs is None:
        n_jobs = 1 if _local.busy else _local.n_jobs or min(_cores(), _omp_threads())
    if n_jobs == 0:
        raise ValueError("n_jobs=0 has no meaning; use None for every core or a positive number of threads")
    return n_jobs if n_jobs > 0 else max(1, _cores() + 1 + n_jobs)


def _cores() -> int:
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _omp_threads() -> int:
    """$OMP_NUM_THREADS, of whose list the first counts; what is no number is none."""
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return max(1, int(first)) if first.isdecimal() else _cores()


def even_slices(n: int, parts: int) -> list[slice]:
    """Cut range(n) into at most ``parts`` slices of nearly equal length, none of them empty."""
    parts = max(1, min(parts, n))
    edges = [n * i // parts for i in range(parts + 1)]
    return [slice(a, b) for a, b in pairwise(edges)]


def slices_of(n: int, length: int) -> list[slice]:
    """Cut range(n) into slices of at most ``length``."""
    return even_slices(n, -(-n // max(1, length)))


def run(task: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Apply a task to every item, in order, on threads; BLAS keeps to one thread within each.

    Their number is that of the enclosing ``jobs``. A task that runs tasks of its own does so on its thread.
    """
    items = list(items)
    threads = min(n_threads(), len(items))
    if threads < 2:
        return [task(item) for item in items]
    results: list[Any] = [None] * len(items)
    waiting = deque(enumerate(items))

    def work(_: int) -> None:
        while True:
            try:
                number, item = waiting.popleft()
            except IndexError:
                return
            try:
                results[number] = task(item)
            except BaseException:
                waiting.clear()
                raise

    with one_blas_thread():
        list(_pool(threads).map(work, range(threads)))
    return results


@contextmanager
def one_blas_thread() -> Iterator[None]:
    """Keep BLAS to one thread; of callers at the same time the first sets the limit, and the last lifts it."""
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
    """Let everything below run on so many threads; None leaves their number as it is."""
    before, _local.n_jobs = _local.n_jobs, n_threads(n_jobs)
    try:
        yield
    finally:
        _local.n_jobs = before


class _Limit:
    """Who keeps BLAS to one thread; limits that are set side by side would restore each other's."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Nobody does."""
        self.lock, self.callers = threading.Lock(), 0
        self.limiter: Any = None


class _Local(threading.local):
    busy = False
    n_jobs: int | None = None


_local, _limit = _Local(), _Limit()


def _mark() -> None:
    _local.busy = True


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads, initializer=_mark)


@cache
def _blas() -> ThreadpoolController:
    return ThreadpoolController()


def _let_go() -> None:
    """Let any thread lift the limit: threadpoolctl from 3.6 on leaves that of OpenBLAS to the thread that set it."""
    for library in _blas().lib_controllers:
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


def _forget() -> None:
    """Threads do not survive a fork, and those that set a limit do not lift it there."""
    _pool.cache_clear()
    _limit.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
