"""Progress of computations: loops count their steps, and report them to a listener on the same thread."""

import threading
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from typing import Protocol, TypeVar

T = TypeVar("T")


class Listener(Protocol):
    """Hears of stages, each of which has steps; a stage that begins within a step of another is part of that step."""

    def begin(self, name: str, total: int | None) -> None:
        """Begin a stage of ``total`` steps, or of an unknown number if that is None."""

    def advance(self, done: int) -> None:
        """Report that ``done`` steps of the innermost stage are done."""

    def end(self) -> None:
        """The innermost stage has ended, after all of its steps or earlier."""

    def announce(self, words: str) -> None:
        """What will be done, and how much work it is."""


class _Local(threading.local):
    listener: Listener | None = None


_local = _Local()


def counted(items: Iterable[T], name: str, total: int | None = None) -> Iterator[T]:
    """Yield the items of a loop, each a step of a stage of this name; without a listener that is all it does."""
    with stage(name, total) as listener:
        if listener is None:
            yield from items
            return
        for done, item in enumerate(items, 1):
            yield item
            listener.advance(done)


@contextmanager
def stage(name: str, total: int | None) -> Iterator[Listener | None]:
    """Begin and end a stage, and yield the listener to report its steps to, or None."""
    listener = _local.listener
    if listener is None:
        yield None
        return
    listener.begin(name, total)
    try:
        yield listener
    finally:
        listener.end()


def announce(words: Callable[[], str]) -> None:
    """Say what will be done, and how much work it is, before it begins; without a listener it is not even estimated."""
    if _local.listener is not None:
        _local.listener.announce(words())


def is_heard() -> bool:
    """Whether there is a listener on this thread."""
    return _local.listener is not None


@contextmanager
def listening(listener: Listener | None) -> Iterator[None]:
    """Report to the listener all stages that the enclosed code begins on this thread."""
    before, _local.listener = _local.listener, listener
    try:
        yield
    finally:
        _local.listener = before
