"""Mutation testing: changes of a sign, a comparison or a number in svd, nystrom, least_squares and the decoder."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

from common import ROOT

from . import Budget, Row
from .mutation import Mutant, mutants

SEED = 0
EACH = 40  # mutants drawn from a room
SURVIVING = 0.1  # share of mutants that may pass all tests
SECONDS = 120.0  # after which a mutant counts as hanging; the tests of a room take 6 to 15
RUNNER = Path(__file__).with_name("mutant_runner.py")


class Room(NamedTuple):
    """Files below src/lopsided and the tests that know them, quick and likely ones first."""

    files: str
    tests: tuple[str, ...]


ROOMS = {
    "svd": Room("svd/*.py", ("tests/svd", "tests/reliability/test_krylov_tol.py")),
    "nystrom": Room("nystrom/*.py", ("tests/nystrom", "tests/reliability/test_nystrom_values.py")),
    "least_squares": Room("least_squares/**/*.py", ("tests/least_squares",)),
    "decoder": Room(
        "graphs/decoder.py",
        (
            "tests/graphs/test_decoder.py",
            "tests/graphs/test_graph_laws.py",
            "tests/graphs/test_graph_embedding.py",
            "-k",
            "decoder or coefficients or spread or score or nearest or target or learned or factors",
        ),
    ),
}


def rows(budget: Budget) -> list[Row]:
    """One row a room."""
    if budget.smoke:
        return [Row(f"mutants of {name} that can be drawn", len(drawn(name)), "-", "-", 0.0) for name in ROOMS]
    return [_row(name, budget.share(1, 1 / len(ROOMS))) for name in ROOMS]


def drawn(name: str) -> list[Mutant]:
    """The sample of a room, the same in every run."""
    source = ROOT / "src" / "lopsided"
    found = [
        one for path in sorted(source.glob(ROOMS[name].files)) for one in mutants(path, str(path.relative_to(source)))
    ]
    return random.Random(SEED).sample(found, min(EACH, len(found)))


def _row(name: str, budget: Budget) -> Row:
    start, sample = time.perf_counter(), drawn(name)[: budget.examples]
    tried = alive = 0
    for one, outcome in zip(sample, _outcomes(ROOMS[name], sample, start + budget.seconds), strict=False):
        tried += 1
        if outcome == 0:
            alive += 1
            print(f"survives: {one.path}:{one.line} {one.change}", flush=True)
    share = alive / max(1, tried)
    return Row(f"share of mutants of {name} that no test notices", tried, share, SURVIVING, time.perf_counter() - start)


def _outcomes(room: Room, sample: list[Mutant], end: float) -> Iterator[int | str]:
    """The exit code of the tests for each mutant that there is time for."""
    with TemporaryDirectory() as folder:
        tree = Path(folder) / "lopsided"
        shutil.copytree(ROOT / "src" / "lopsided", tree)
        subprocess.run([sys.executable, "-m", "compileall", "-q", tree], check=True)
        command = [sys.executable, str(RUNNER), folder, str(SECONDS), *room.tests]
        environment = os.environ | {
            "PYTHONPATH": folder,
            "OMP_NUM_THREADS": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": folder,
        }
        runner = subprocess.Popen(
            command, cwd=ROOT, env=environment, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert runner.stdin and runner.stdout
        _, unchanged, _ = json.loads(runner.stdout.readline())
        if unchanged != 0:
            raise RuntimeError(f"the tests {room.tests} fail on unchanged sources: exit code {unchanged}")
        for one in sample:
            if time.perf_counter() > end:
                break
            runner.stdin.write(json.dumps([f"lopsided/{one.path}", one.source]) + "\n")
            runner.stdin.flush()
            yield json.loads(runner.stdout.readline())[1]
        runner.stdin.close()
        runner.wait()
