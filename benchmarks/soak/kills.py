"""Drivers killed by SIGKILL, at any moment and while a file is written: another one continues to the same bits."""

from __future__ import annotations

import multiprocessing
import os
import random
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from typing import Any

import dask
import numpy as np

from lopsided import KernelSVD, Nystrom
from lopsided.datasets import make_click_log
from lopsided.distributed import checkpoint, open_store

from . import Budget, Row, timed

ROWS, COLUMNS, HEIGHT = 8000, 2000, 500
KILLS = 20
IMPORTED = (
    "lopsided.distributed.gate",
    "lopsided.distributed.sources",
    "distributed",
)  # late, in every driver otherwise
MOMENTS = ("half", "unnamed", "named")  # of a file: cut off in the middle; on disk under another name; just renamed
PATIENCE = 120  # seconds for a driver that nobody kills
SEED = 0


def rows(budget: Budget) -> list[Row]:
    """Kills at random moments of a run, and at random moments of the writing of a file, the manifests among them."""
    kills = 1 if budget.smoke else min(KILLS, budget.examples)
    n = 4000 if budget.smoke else ROWS
    drivers = multiprocessing.get_context("forkserver")  # which imports once, and not for every driver
    drivers.set_forkserver_preload([__name__, *IMPORTED])
    with tempfile.TemporaryDirectory() as base:
        trial = Trial(Path(base), n, drivers)
        return [
            timed("a driver killed at a random moment: other bits", 0, lambda: trial.repeated(kills, trial.at_random)),
            timed("a driver killed while it writes: other bits", 0, lambda: trial.repeated(2 * kills, trial.at_write)),
        ]


def drive(folder: str, n: int, begun: Any, fault: tuple[int, str] | None = None) -> None:
    """Fit and transform with checkpoints; with a fault, die at a moment of the writing of a file of this number."""
    if fault is not None:
        os.fsync, os.replace = _mortal(*fault)  # type: ignore[assignment]
    X, _ = make_click_log(n, COLUMNS, block_rows=HEIGHT, random_state=SEED)
    begun.set()
    with dask.config.set(scheduler="threads", num_workers=2), checkpoint(f"{folder}/passes"):
        fitted = KernelSVD(5, kernel="rbf", solver=Nystrom(60)).fit(X, Z=X)
        fitted.transform(X, out=f"{folder}/out")
    np.savez(f"{folder}/answer.npz", s=fitted.singular_values_, U=np.asarray(fitted.left_vectors_))


def _mortal(number: int, moment: str) -> tuple[Callable[[int], None], Callable[[Any, Any], None]]:
    """``os.fsync`` and ``os.replace``, which end the process at a moment of the writing of one file."""
    synced, renamed, sync, rename = count(), count(), os.fsync, os.replace

    def fsync(file: int) -> None:
        if moment == "half" and next(synced) == number:
            os.truncate(file, os.fstat(file).st_size // 2)
            os.kill(os.getpid(), signal.SIGKILL)
        sync(file)

    def replace(part: Any, path: Any) -> None:
        last = moment != "half" and next(renamed) == number
        if last and moment == "unnamed":
            os.kill(os.getpid(), signal.SIGKILL)
        rename(part, path)
        if last:
            os.kill(os.getpid(), signal.SIGKILL)

    return fsync, replace


class Trial:
    """Runs of a driver in folders of their own, and the answer of one that nobody kills."""

    def __init__(self, base: Path, n: int, drivers: Any) -> None:
        self.base, self.n, self.drivers, self.draw = base, n, drivers, random.Random(SEED)
        self.numbers = count()
        self._run(base / "warm")  # the first one begins the server of drivers
        start = time.perf_counter()
        self._run(base / "whole")
        self.length = time.perf_counter() - start
        self.expected = answer(base / "whole")
        self.writes = sum(1 for _ in written(base / "whole"))

    def repeated(self, kills: int, killed: Callable[[Path], bool]) -> tuple[int, int, list[str]]:
        """Kill so many drivers, let each be continued by another one, and compare what it leaves."""
        wrong, done = [], 0
        while done < kills:
            folder = self.base / str(next(self.numbers))
            if not killed(folder):
                continue  # it had finished
            done += 1
            left = sum(1 for _ in written(folder))
            self._run(folder)
            if answer(folder) != self.expected or list(folder.rglob("*.part")):
                wrong.append(f"{folder.name}: {left} of {self.writes} files were there")
        return done, len(wrong), wrong

    def at_random(self, folder: Path) -> bool:
        """Kill a driver at a moment drawn from the length of a run; whether it was still at work."""
        return self._run(folder, seconds=self.draw.uniform(0, self.length)) != 0

    def at_write(self, folder: Path) -> bool:
        """Kill a driver while it writes one of its files; whether it came to that."""
        number = 0 if self.draw.random() < 0.2 else self.draw.randrange(self.writes)  # the first one is a manifest
        return self._run(folder, fault=(number, self.draw.choice(MOMENTS))) != 0

    def _run(self, folder: Path, seconds: float | None = None, fault: tuple[int, str] | None = None) -> int:
        """Run a driver and return its exit code; kill it after some seconds of work, if told to."""
        folder.mkdir(exist_ok=True)
        begun = self.drivers.Event()
        driver = self.drivers.Process(target=drive, args=(str(folder), self.n, begun, fault))
        driver.start()
        begun.wait(PATIENCE)
        driver.join(PATIENCE if seconds is None else seconds)
        driver.kill()
        driver.join()
        if seconds is None and fault is None and driver.exitcode:
            raise RuntimeError(f"a driver that nobody killed ended with {driver.exitcode}")
        return int(driver.exitcode or 0)


def written(folder: Path) -> Iterator[Path]:
    """Files of the store and of the checkpoint."""
    return (path for part in ("out", "passes") for path in (folder / part).rglob("*") if path.is_file())


def answer(folder: Path) -> dict[str, bytes]:
    """Bytes of everything that a driver computed."""
    open_store(folder / "out")
    with np.load(folder / "answer.npz") as file:
        learned = {name: file[name].tobytes() for name in file}
    return learned | {path.name: path.read_bytes() for path in (folder / "out").iterdir()}
