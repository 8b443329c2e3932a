"""Mutation testing: changes of a sign, a comparison or a number in svd, nystrom, least_squares and the decoder."""

from __future__ import annotations

import json
import os
import random
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

SOURCE = ROOT / "src" / "lopsided"
EACH = 200  # mutants drawn from a room
SURVIVING = 0.1  # share of mutants that may pass all tests
SECONDS = 20.0  # of processor time beyond that of its tests after which a mutant counts as hanging
RUNNER = Path(__file__).with_name("mutant_runner.py")


class Room(NamedTuple):
    """Files below src/lopsided and the tests that know them."""

    files: str
    tests: tuple[str, ...]


ROOMS = {
    "svd": Room("svd/*.py", ("tests/svd", "tests/reliability/test_krylov_tol.py")),
    "nystrom": Room(
        "nystrom/*.py",
        (
            "tests/nystrom",
            "tests/reliability/test_nystrom_values.py",
            "tests/distributed/test_kernel_svd_of_dask.py",
            "-k",
            "not processes and not scheduler_is_named",  # which start processes
        ),
    ),
    "least_squares": Room(
        "least_squares/**/*.py",
        ("tests/least_squares", "tests/distributed/test_learners_of_dask.py", "-k", "not prior_nystroem"),
    ),
    "decoder": Room(
        "graphs/*decoder.py",
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
    names = [budget.only] if budget.only else list(ROOMS)
    if budget.smoke:
        return [
            Row(f"mutants of {name} that can be drawn", len(drawn(name, budget.seed)), "-", "-", 0.0) for name in names
        ]
    return [_row(name, budget.share(1, 1 / len(names))) for name in names]


def drawn(name: str, seed: int) -> list[Mutant]:
    """The sample of a room, the same in every run with a seed."""
    found = [one for file in sorted(SOURCE.glob(ROOMS[name].files)) for one in mutants(file)]
    return random.Random(seed).sample(found, min(EACH, len(found)))


def _row(name: str, budget: Budget) -> Row:
    start, sample = time.perf_counter(), drawn(name, budget.seed)[: budget.examples]
    tried = [
        (one, outcome)
        for one, outcome in zip(sample, outcomes(ROOMS[name], sample, start + budget.seconds), strict=False)
    ]
    alive = sorted(one for one, outcome in tried if outcome == "survives")
    return Row(
        f"share of mutants of {name} that no test notices",
        len(tried),
        len(alive) / max(1, len(tried)),
        SURVIVING,
        time.perf_counter() - start,
        remarks=tuple(f"`{one.file.relative_to(SOURCE)}:{one.lines.start}`: `{one.change}`" for one in alive),
    )


def outcomes(room: Room, sample: list[Mutant], end: float) -> Iterator[str]:
    """What the tests say of each mutant that there is time for: "noticed", "survives" or "hangs"."""
    watched = SOURCE / Path(room.files).parts[0]
    with TemporaryDirectory() as folder:
        environment = os.environ | {
            "PYTHONPATH": str(SOURCE.parent),
            "OMP_NUM_THREADS": "1",
            "HYPOTHESIS_STORAGE_DIRECTORY": folder,
        }
        runner = subprocess.Popen(
            [sys.executable, str(RUNNER), str(watched), str(SECONDS), *room.tests],
            cwd=ROOT,
            env=environment,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        assert runner.stdin and runner.stdout
        said = (line.strip() for line in runner.stdout)
        if next(said) != "unchanged":
            raise RuntimeError(f"the tests {room.tests} fail on unchanged sources")
        for one in sample:
            if time.perf_counter() > end:
                break
            runner.stdin.write(json.dumps([str(one.file), one.source, list(one.lines)]) + "\n")
            runner.stdin.flush()
            yield next(said)
        runner.stdin.close()
        runner.wait()
