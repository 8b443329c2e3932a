"""Random calls on data of every kind: finite answers or an error of ours, no input modified, no hang."""

from __future__ import annotations

import time
from collections import Counter

from . import Budget, Row, timed
from .calls import one_call

SEED = 0


def rows(budget: Budget) -> list[Row]:
    """Calls of estimators."""
    return [timed("bad input: finite answers or a message", 0, lambda: _calls(budget))]


def _calls(budget: Budget) -> tuple[int, int, list[str]]:
    end, kinds, tried, example = time.monotonic() + budget.seconds, Counter(), 0, {}
    while tried < budget.examples and time.monotonic() < end:
        fault = one_call((SEED, tried))
        tried += 1
        if fault:
            kind, about = fault.split(" | ", 1)
            kinds[kind] += 1
            example.setdefault(kind, about)
    return tried, kinds.total(), [f"{count} x {kind}; {example[kind]}" for kind, count in kinds.most_common()]
