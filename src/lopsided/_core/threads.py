"""Slicing of rows, and a thread pool that works through the slices."""

import os
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import contextmanager
from functools import cache, reduce, wraps
from itertools import pairwise
from typing import Any, ParamSpec, TypeVar

import numpy as np
from threadpoolctl import ThreadpoolController

from .memory import budget_bytes
from .progress import Listener, counted, listening, stage

P = ParamSpec("P")
T = TypeVar("T")
BLOCKS = "blocks"  # name of the stage of a pool of tasks, for those who follow progress
BLOCKS_SHARE = 4  # of the memory budget: what the blocks of all threads together may take beside stored arrays
# Entries of a matrix up to which BLAS has one thread. Threads that wait for each other in a busy loop gain less than
# they lose beside another process: `python benchmarks/busy_machine.py blas` compares.
ONE_THREAD = 1 << 24
LEAST_BLOCK = 1 << 18  # bytes; smaller blocks would spend their time on being begun, whatever the budget


def n_threads(n_jobs: int | None = None) -> int:
    """Return the number of threads: -1 means one per core that this process may use, -2 one fewer, and so on.

    None means the number set by the enclosing ``jobs``, and one within a task. Outside of ``jobs`` it means one thread
    per core, or $OMP_NUM_THREADS if that is less: BLAS respects it, and joblib sets it in workers that share the cores.
    """
    if n_jobs is None:
        n_jobs = 1 if _local.busy else _local.n_jobs or min(_cores(), _omp_threads())
    if n_jobs == 0:
        raise ValueError("n_jobs=0 is not allowed; use None for every core or a positive number of threads")
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


def block_bytes(most: int) -> int:
    """Return the bytes of temporary values that a thread may hold at once: ``most``, or fewer in a small budget.

    The enclosing ``jobs`` sets the budget, of which the blocks of all threads together take a quarter, but 256 kB each
    if that is more.
    """
    if _local.budget is None:
        return most
    return min(most, max(LEAST_BLOCK, _local.budget // (BLOCKS_SHARE * n_threads())))


def blocks_of(n: int, row_bytes: int, most: int) -> list[slice]:
    """Cut n rows of temporary values into blocks of at most ``most`` bytes, or fewer in a small budget."""
    return slices_of(n, block_bytes(most) // max(1, row_bytes))


def with_one_blas_thread(task: Callable[P, T]) -> Callable[P, T]:
    """Limit BLAS to one thread during a task; of concurrent tasks, the first sets the limit and the last lifts it.

    A decorator and not a context manager, whose limit would stay if an interrupt arrived while it is entered or left.
    """

    @wraps(task)
    def limited(*args: P.args, **kwargs: P.kwargs) -> T:
        caller = object()
        try:
            _limit.enter(caller)
            return task(*args, **kwargs)
        finally:
            try:
                _limit.leave(caller)
            finally:
                _limit.leave(caller)  # again, in case that an interrupt cut the first short

    return limited


def run(task: Callable[[Any], T], items: Iterable[Any]) -> list[T]:
    """Apply a task to every item on threads, each with a single-threaded BLAS, and return the results in order.

    The enclosing ``jobs`` sets the number of threads. A task that itself calls ``run`` does so on its own thread. The
    caller works too, so that it waits only for items that other threads have begun, however busy the machine is.
    """
    items = list(items)
    threads = min(n_threads(), len(items))
    if threads < 2:
        return _alone(task, items)
    results: list[Any] = [None] * len(items)
    waiting = deque(enumerate(items))
    reactions = np.geterr()  # numpy keeps them per thread
    budget = None if _local.budget is None else _local.budget // threads

    def work(listener: Listener | None) -> None:
        before = _local.busy, _local.budget
        _local.busy, _local.budget = True, budget
        try:
            with np.errstate(**reactions), listening(None):
                for number, item in _drained(waiting):
                    results[number] = task(item)
                    if listener is not None:
                        listener.advance(len(items) - len(waiting))
        finally:
            _local.busy, _local.budget = before
            waiting.clear()  # after an error or an interrupt the other threads finish their items and stop

    _on_threads(work, threads, len(items))
    return results


@with_one_blas_thread
def _alone(task: Callable[[Any], T], items: list[Any]) -> list[T]:
    return [task(item) for item in counted(items, BLOCKS, len(items))]


def accumulate(combine: Callable[[T, T], T], task: Callable[[Any], T], items: Sequence[Any]) -> T:
    """Combine task(item) of all items, in order: sum them, for example; ``run`` does the tasks.

    One result of every thread is held at once, and the number of threads does not change a bit of the answer.
    """
    threads = n_threads()
    batches = (items[i : i + threads] for i in range(0, len(items), threads))
    return reduce(combine, (result for batch in batches for result in run(task, batch)))


def _drained(waiting: deque[T]) -> Iterator[T]:
    """Take items from a queue that several threads share until it is empty."""
    while True:
        try:
            item = waiting.popleft()
        except IndexError:
            return
        yield item


@with_one_blas_thread
def on_one_thread(task: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
    """Return what a task of scikit-learn returns without the threads of BLAS and OpenMP.

    They wait for each other in a busy loop, which is slow beside other work, their number changes the order of
    summation, and so clusters, and those of OpenMP do not survive a fork: the next task would wait for them forever.
    """
    with _openmp().limit(limits=1):
        return task(*args, **kwargs)


@with_one_blas_thread
def _on_threads(work: Callable[[Listener | None], None], threads: int, total: int) -> None:
    """Do the work on as many threads, of which the caller's is one; wait only for those that have begun."""
    helpers = [_pool(threads - 1).submit(work, None) for _ in range(threads - 1)]
    try:
        with stage(BLOCKS, total) as listener:
            work(listener)
    finally:
        begun = [helper for helper in helpers if not helper.cancel()]
        wait(begun)
    for helper in begun:
        helper.result()


@contextmanager
def jobs(n_jobs: int | None, memory_budget: float | str | None = None) -> Iterator[None]:
    """Set the number of threads, and the memory that blocks share, for the enclosed code; None keeps the current ones.

    Outside of a given budget blocks have the size at which they are fastest.
    """
    before = threads, budget = _local.n_jobs, _local.budget
    threads = n_threads(n_jobs)
    if memory_budget is not None:
        given = budget_bytes(memory_budget)
        budget = given if budget is None else min(given, budget)
    _local.n_jobs, _local.budget = threads, budget
    try:
        yield
    finally:
        _local.n_jobs, _local.budget = before


class _Limit:
    """Shared state of ``with_one_blas_thread``: separate concurrent limits would restore each other's values."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Return to the state without callers."""
        self.lock = threading.Lock()
        self.callers: set[object] = set()
        self.before: list[tuple[Any, int]] = []  # libraries and their numbers of threads, while there is a limit

    def enter(self, caller: object) -> None:
        """Set the limit, unless another caller has."""
        with self.lock:
            self.callers.add(caller)
            if not self.before:
                self.before = [(library, library.num_threads) for library in _blas()]
                for library, _ in self.before:
                    library.set_num_threads(1)
                _let_go()

    def leave(self, caller: object) -> None:
        """Lift the limit, unless another caller needs it; may be repeated, and may follow an ``enter`` cut short."""
        with self.lock:
            self.callers.discard(caller)
            if self.before and not self.callers:
                for library, threads in self.before:
                    library.set_num_threads(threads)
                _let_go()
                self.before = []


class _Local(threading.local):
    busy = False
    n_jobs: int | None = None
    budget: int | None = None


_local, _limit = _Local(), _Limit()


@cache
def _pool(threads: int) -> ThreadPoolExecutor:
    return ThreadPoolExecutor(threads)


@cache
def _blas() -> list[Any]:
    return list(ThreadpoolController().select(user_api="blas").lib_controllers)


@cache
def _openmp() -> ThreadpoolController:
    """The library of OpenMP that scikit-learn has loaded."""
    return ThreadpoolController().select(user_api="openmp")


def _let_go() -> None:
    """Allow any thread to lift the limit: since threadpoolctl 3.6 only the thread that set it can do so in OpenBLAS."""
    for library in _blas():
        if hasattr(library, "clear_controlling_thread"):
            library.clear_controlling_thread()


def _forget() -> None:
    """Reset pools and limits after a fork, which the threads that use them do not survive."""
    _pool.cache_clear()
    _limit.reset()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget)
