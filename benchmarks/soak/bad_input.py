"""Random calls on data of every kind: finite answers or an error of ours, no input modified, no hang."""

from __future__ import annotations

import re
import time
from collections import Counter
from collections.abc import Callable
from functools import partial

import numpy as np
from hypothesis import HealthCheck, Phase, given, seed, settings, strategies as st

from . import Budget, Row, calls, commands, functions, timed, wrong_types
from .drawn import Draw
from .judge import judged

CHUNKS = 1_000_000  # of one seed, at most
CHUNK = 100  # examples of one run of hypothesis, which avoids repetitions within it
STRICT = (calls, wrong_types)  # whose errors must come from where input is checked
KINDS = {"estimators": calls, "settings and methods": wrong_types, "functions": functions, "commands": commands}
SHARES = {"estimators": 0.5, "settings and methods": 0.25, "functions": 0.2, "commands": 0.05}
PROMISE = "bad input, {}: calls that end neither well nor in a message"


def rows(budget: Budget) -> list[Row]:
    """Calls of estimators on hard data, settings and methods with wrong types, functions, and commands."""
    return [
        timed(PROMISE.format(kind), 0, partial(_calls, kind, budget.share(share, share)))
        for kind, share in SHARES.items()
    ]


def example(kind: str, data: st.DataObject) -> str | None:
    """One call; None, or where it went wrong, how, and what it was about."""
    room, draw = KINDS[kind], Draw(data)
    weights = np.cumsum(np.fromiter(room.CALLS.values(), float))
    make = list(room.CALLS)[int(np.searchsorted(weights, draw.rng.random() * weights[-1]))]
    arguments, work = make(draw)
    fault = judged(arguments, work, strict=room in STRICT)
    return fault and f"{make.__name__} {fault} | {'; '.join(draw.notes)}"


def explore(check: Callable[[st.DataObject], None], examples: int, number: int) -> None:
    """Run a check on examples that hypothesis draws: chunk ``number`` of the same sequence in every run."""
    quiet = {"database": None, "deadline": None, "suppress_health_check": list(HealthCheck)}
    run = settings(max_examples=examples, phases=[Phase.generate], **quiet)(given(st.data())(check))
    seed(number)(run)()


def _calls(kind: str, budget: Budget) -> tuple[int, int, list[str]]:
    counts: Counter[str] = Counter()
    about: dict[str, str] = {}
    end, tried, chunk = time.monotonic() + budget.seconds, 0, budget.seed * CHUNKS

    def check(data: st.DataObject) -> None:
        nonlocal tried
        tried += 1
        if fault := example(kind, data):
            where = re.sub(r"'[\w.]+'|0x\w+|\d+", "_", fault.split(" | ")[0])
            counts[where] += 1
            about.setdefault(where, fault)

    while tried < budget.examples and time.monotonic() < end:
        explore(check, min(CHUNK, budget.examples - tried), chunk)
        chunk += 1
    return tried, counts.total(), [f"{count} x {about[where]}" for where, count in counts.most_common()]
