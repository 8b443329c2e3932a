"""Run dask graphs with the current scheduler, and explain errors of the scheduler and of the disk."""

import errno
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import wraps
from typing import Any, ParamSpec, TypeVar

import dask
from dask.base import get_scheduler

from .._core import gate, jobs, with_one_blas_thread

P = ParamSpec("P")
T = TypeVar("T")
LOST = ("CommClosedError", "CancelledError", "FutureCancelledError", "FuturesCancelledError", "SchedulerClosedError")


class SchedulerLostError(ConnectionError):
    """The dask scheduler does not respond, or has lost what it was asked to compute."""


def compute(tasks: Sequence[Any]) -> list[Any]:
    """Results of lazy values, in order, from the current client or dask's threads; no client is started here."""
    with in_plain_words():
        return list(dask.compute(*tasks))


def shared(value: Any) -> Any:
    """A lazy value that many tasks use; worker processes receive it once, and not with every task."""
    client = getattr(get_scheduler(), "__self__", None)
    if client is None or not hasattr(client, "scatter"):
        return dask.delayed(value, traverse=False)
    with in_plain_words():
        return client.scatter(value, broadcast=True, hash=False)


@contextmanager
def in_plain_words() -> Iterator[None]:
    """Explain the errors of a scheduler that is gone, and of a full disk."""
    try:
        yield
    except OSError as error:
        if error.errno in (errno.ENOSPC, errno.EDQUOT):
            raise OSError(
                error.errno,
                "the disk is full; complete blocks are kept, so free some space and repeat the same call",
                error.filename,
            ) from error
        if type(error).__name__ in LOST or isinstance(error, TimeoutError):
            raise SchedulerLostError(_LOST_MESSAGE.format(error=error)) from error
        raise
    except BaseException as error:  # CancelledError of asyncio is no Exception
        if type(error).__name__ in LOST:
            raise SchedulerLostError(_LOST_MESSAGE.format(error=error)) from error
        raise


_LOST_MESSAGE = (
    "the dask scheduler does not respond ({error}); connect to a running one with dask.distributed.Client(address), or "
    "close the client to compute with threads, then repeat the call"
)


def on_one_thread(task: Callable[P, T]) -> Callable[P, T]:
    """Let a task use one thread: dask runs one task per core, and more threads would only wait for each other."""

    @wraps(task)
    def single(*args: P.args, **kwargs: P.kwargs) -> T:
        with jobs(1):
            return quiet(*args, **kwargs)

    quiet = with_one_blas_thread(gate(task))
    return single


@on_one_thread
def apply(task: Callable[..., Any], *arguments: Any) -> Any:
    """Apply a task on one thread."""
    return task(*arguments)


call = dask.delayed(apply)  # call(task, *arguments): the lazy result of a task on one thread
