"""A line on the terminal that tells how far a fit is."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TextIO

from .progress import listening

REDRAWN_AFTER = 0.1  # seconds
SHOWN_AFTER = 0.5  # seconds, so that short stages do not flicker
WIDTH = 24  # characters of the bar
CLEAR = "\r\x1b[2K"


@contextmanager
def show_progress(file: TextIO | None = None) -> Iterator[None]:
    """Show how far fits are, in one line on a terminal that is cleared at the end.

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
    bar = Bar(out)
    with listening(bar):
        try:
            yield
        finally:
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
    stages: list[_Stage] = field(default_factory=list)
    drawn: float = 0.0
    shows: bool = False

    def begin(self, name: str, total: int | None) -> None:
        """Begin a stage."""
        self.stages.append(_Stage(name, total, time.monotonic()))
        self._draw()

    def advance(self, done: int) -> None:
        """Note steps, and draw them if some time has passed."""
        self.stages[-1].done = done
        self._draw()

    def end(self) -> None:
        """End a stage."""
        self.stages.pop()

    def _draw(self) -> None:
        now = time.monotonic()
        if now - self.drawn < REDRAWN_AFTER:
            return
        lasting = [stage for stage in self.stages if now - stage.began > SHOWN_AFTER]
        if lasting:
            shown = dict.fromkeys(stage.text(now) for stage in (lasting[0], lasting[-1]))
            self.out.write(CLEAR + " | ".join(shown))
            self.out.flush()
            self.drawn, self.shows = now, True

    def clear(self) -> None:
        """Remove the line."""
        if self.shows:
            self.out.write(CLEAR)
            self.out.flush()


def _duration(seconds: float) -> str:
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    return f"{minutes} min {rest:02d} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60:02d} min"
