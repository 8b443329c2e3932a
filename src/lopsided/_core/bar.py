"""A progress bar on the terminal."""

import sys
import threading
import time
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import TextIO

from .progress import is_heard, listening

REDRAWN_AFTER = 0.1  # seconds
SHOWN_AFTER = 0.5  # seconds, so that short stages do not flicker
TICK = 0.5  # seconds after which a line is redrawn, even if no step has ended
REPORTED_AFTER = 10.0  # seconds between the lines of a log
WIDTH = 24  # characters of the bar
CLEAR = "\r\x1b[2K"  # the line of a terminal


@contextmanager
def show_progress(file: TextIO | None = None) -> Iterator[None]:
    """Show the progress of fits in one line of the terminal, which is cleared at the end.

    It shows the step of an iteration or the part of the rows that is done, and the time left where that is known. On
    scikit-learn >= 1.9, ``model.set_callbacks(sklearn.callback.ProgressBar())`` does so for one estimator, also within
    pipelines and searches.

    Parameters
    ----------
    file : text stream or None, default=None
        None means standard error, and nothing is shown if that is not a terminal.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD, show_progress
    >>> X = np.random.default_rng(0).random((400, 5))
    >>> with show_progress():
    ...     model = KernelSVD(n_components=2, solver="krylov").fit(X, Z=X)
    """
    out = file or sys.stderr
    if file is None and not out.isatty():
        yield
        return
    with _drawing(Bar(out)):
        yield


def shown_if(verbose: int | bool, title: str) -> AbstractContextManager[None]:
    """Show the progress of a fit on standard error, if ``verbose`` asks for it and nothing else shows it.

    Where standard error is not a terminal, it gets a line every ten seconds.
    """
    if not verbose or is_heard():
        return nullcontext()
    return _drawing(Bar(sys.stderr, title, in_lines=not sys.stderr.isatty()))


@contextmanager
def _drawing(bar: "Bar") -> Iterator[None]:
    """Let the bar listen, and draw it from time to time from a thread of its own."""
    done = threading.Event()

    def tick() -> None:
        while not done.wait(TICK):
            bar.draw()

    clock = threading.Thread(target=tick, daemon=True)
    clock.start()
    try:
        with listening(bar):
            yield
    finally:
        done.set()
        clock.join()
        bar.clear()


@dataclass
class _Stage:
    name: str
    total: int | None
    began: float
    done: int = 0

    def text(self, now: float) -> str:
        seconds = now - self.began
        if self.total is None or not self.done:
            return f"{self.name}: {self.done:,} done, {_duration(seconds)}"
        share = min(self.done / self.total, 1.0)
        filled = int(share * WIDTH)
        left = _duration(seconds * (1 - share) / share)
        return f"{self.name}: [{'#' * filled}{'.' * (WIDTH - filled)}] {share:4.0%}, {left} left"


@dataclass
class Bar:
    """A listener that draws the outermost stage, and the innermost that lasts, over the same line."""

    out: TextIO
    title: str = "working"  # shown between stages
    in_lines: bool = False  # each below the last, as a log needs them
    stages: list[_Stage] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)
    drawn: float = 0.0
    shows: bool = False

    def begin(self, name: str, total: int | None) -> None:
        """Begin a stage."""
        self.stages.append(_Stage(name, total, time.monotonic()))
        self.draw()

    def advance(self, done: int) -> None:
        """Note steps, and draw them if some time has passed."""
        self.stages[-1].done = done
        self.draw()

    def end(self) -> None:
        """End a stage."""
        self.stages.pop()

    def announce(self, words: str) -> None:
        """Write a line that stays, unless what it is about is part of a stage."""
        if not self.stages:
            self.clear()
            self.out.write(f"{words}\n")
            self.out.flush()

    def draw(self) -> None:
        """Draw the stages that last, if some time has passed."""
        now = time.monotonic()
        if now - max(self.drawn, self.began) < (REPORTED_AFTER if self.in_lines else REDRAWN_AFTER):
            return
        lasting = [stage for stage in list(self.stages) if now - stage.began > SHOWN_AFTER]
        if lasting or now - self.began > SHOWN_AFTER:
            ends = [stage.text(now) for stage in (*lasting[:1], *lasting[-1:])]
            shown = " | ".join(dict.fromkeys(ends or [f"{self.title}: {_duration(now - self.began)}"]))
            self.out.write(f"{shown}\n" if self.in_lines else f"{CLEAR}{shown}")
            self.out.flush()
            self.drawn, self.shows = now, not self.in_lines

    def clear(self) -> None:
        """Remove the line."""
        if self.shows:
            self.out.write(CLEAR)
            self.out.flush()
            self.shows = False


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
