"""Run tests on mutants of a room, each in a fork of a process that has imported the library and collected its tests.

A script of its own, so that nothing is imported that tests do not import: folder of the room, seconds, tests..., and
mutants as JSON on standard input; it prints the outcome for each. The unchanged room is run first, under coverage: a
mutant is then given only tests that reach its lines, quick ones first, for half a minute. Its code is grafted on the
functions and classes that are there, and no file is changed. Processes that tests start, and what test files compute
when they are imported, know the unchanged room. For all these reasons the share noticed is a lower bound.
"""

from __future__ import annotations

import json
import os
import resource
import signal
import sys
import time
from collections.abc import Sequence
from functools import cached_property
from importlib import import_module
from itertools import accumulate, pairwise
from pathlib import Path
from types import FunctionType, ModuleType
from typing import Any, NamedTuple

import coverage
import pytest

FLAGS = ("-q", "-p", "no:cacheprovider", "-p", "no:xdist", "-p", "no:cov")
LONG = 30.0  # seconds of tests, under coverage, after which a mutant counts as not noticed
SLOWER = 3.0  # times slower than before that tests may be on a mutant
IDLE = 5.0  # seconds on the clock per second of processor time, on a busy machine
PLAIN = (bool, int, float, str, tuple, dict, list, set, frozenset, type(None))  # values of defaults


class Reached(NamedTuple):
    """What the unchanged run has shown: seconds of every test, and the tests that reach each line of each file."""

    seconds: dict[str, float]
    tests: dict[str, dict[str, list[str]]]

    def by(self, path: str, lines: Sequence[int]) -> list[str]:
        """Tests that reach one of the lines, or all for lines that run on import; quick ones first, while they are."""
        known = self.tests.get(path, {})
        found = {test for line in lines for test in known.get(str(line), ())}
        order = sorted(found or self.seconds, key=self.seconds.__getitem__)
        return [
            test for test, taken in zip(order, accumulate(map(self.seconds.get, order)), strict=True) if taken < LONG
        ]


class Mutants:
    """Plugin that runs the collected tests on one mutant after the other instead of once."""

    def __init__(self, room: Path, seconds: float) -> None:
        self.room, self.seconds = room, seconds
        self.asked, self.told = os.fdopen(os.dup(0)), os.fdopen(os.dup(1), "w")  # which pytest would use too
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)

    def pytest_runtestloop(self, session: pytest.Session) -> bool:
        """The unchanged room, and then every mutant."""
        answer, tell = os.pipe()
        if not (child := os.fork()):
            with os.fdopen(tell, "w") as report:
                report.write(json.dumps(_watched(session.items, self.room)))
            os._exit(0)
        os.close(tell)
        with os.fdopen(answer) as report:
            passed, *reached = json.loads(report.read() or "[0, {}, {}]")
        os.waitpid(child, 0)
        self._tell("unchanged" if passed else "failed")
        for line in self.asked if passed else ():
            self._tell(self._outcome({one.nodeid: one for one in session.items}, Reached(*reached), *json.loads(line)))
        return True

    def _tell(self, outcome: str) -> None:
        print(outcome, file=self.told, flush=True)

    def _outcome(
        self, items: dict[str, pytest.Item], reached: Reached, path: str, source: str, lines: list[int]
    ) -> str:
        chosen = reached.by(path, lines)
        allowed = int(self.seconds + SLOWER * sum(reached.seconds[test] for test in chosen))
        if not (child := os.fork()):
            os.setsid()
            resource.setrlimit(resource.RLIMIT_CPU, (allowed, allowed + 1))
            _graft_module(Path(path), source)
            order = [items[test] for test in chosen]
            os._exit(int(not all(_passes(item, after) for item, after in pairwise((*order, None)))))
        start = time.monotonic()
        while not (done := os.waitpid(child, os.WNOHANG))[0]:
            if time.monotonic() - start > IDLE * allowed:
                os.killpg(child, signal.SIGKILL)
            time.sleep(0.01)
        return "survives" if done[1] == 0 else "noticed" if os.WIFEXITED(done[1]) else "hangs"


def _watched(items: Sequence[pytest.Item], room: Path) -> tuple[bool, dict[str, float], dict[str, Any]]:
    """Whether all tests pass on the unchanged room, how long each takes, and which reach each line of each file."""
    watch = coverage.Coverage(data_file=None, include=[str(room / "*")], config_file=False)
    watch.start()
    seconds = {}
    for item, after in pairwise((*items, None)):
        watch.switch_context(item.nodeid)
        start = time.process_time()
        if not _passes(item, after):
            return False, {}, {}
        seconds[item.nodeid] = time.process_time() - start
    watch.stop()
    data = watch.get_data()
    return True, seconds, {path: data.contexts_by_lineno(path) for path in data.measured_files()}


def _passes(item: pytest.Item, after: pytest.Item | None) -> bool:
    """Run a test, and undo the fixtures that the one after it does not share."""
    item.config.hook.pytest_runtest_protocol(item=item, nextitem=after)
    return not item.session.testsfailed


def _graft_module(path: Path, source: str) -> None:
    """Give the functions and classes of a module the code and the defaults that they have in another source."""
    name = ".".join(path.with_suffix("").parts[path.parts.index("lopsided") :])
    module, mutant = import_module(name), ModuleType(name)
    vars(mutant).update(__package__=name.rpartition(".")[0], __file__=str(path))
    exec(compile(source, str(path), "exec"), vars(mutant))
    for key, new in vars(mutant).items():
        if getattr(new, "__module__", None) == name and isinstance(new, (FunctionType, type)):
            _graft(getattr(module, key), new)


def _graft(old: Any, new: Any) -> None:
    match old:
        case FunctionType():
            old.__code__, old.__defaults__, old.__kwdefaults__ = new.__code__, new.__defaults__, new.__kwdefaults__
            for cell, fresh in zip(old.__closure__ or (), new.__closure__ or (), strict=True):
                if isinstance(fresh.cell_contents, PLAIN):  # a default of a dataclass
                    cell.cell_contents = fresh.cell_contents
                elif isinstance(fresh.cell_contents, FunctionType):  # what a decorator has wrapped
                    _graft(cell.cell_contents, fresh.cell_contents)
        case classmethod() | staticmethod():
            _graft(old.__func__, new.__func__)
        case cached_property():
            _graft(old.func, new.func)
        case property():
            _graft(old.fget, new.fget)
        case type():
            for key, value in vars(new).items():
                if isinstance(value, PLAIN) and not key.startswith("__"):
                    setattr(old, key, value)
                elif key in vars(old):
                    _graft(vars(old)[key], value)


if __name__ == "__main__":
    folder, beyond, *tests = sys.argv[1:]
    raise SystemExit(pytest.main([*FLAGS, *tests], plugins=[Mutants(Path(folder), float(beyond))]))
