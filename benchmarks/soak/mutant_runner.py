"""Run a room's tests on mutants of its source, each in a child that begins with the libraries imported.

A script of its own, since it must not import the library: tree of sources, seconds, tests..., and mutants as JSON on
standard input; it prints the exit code of pytest for each, or "timeout".
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from pathlib import Path

import numpy  # noqa: F401
import pandas  # noqa: F401
import pytest
import scipy.linalg
import scipy.sparse.linalg
import scipy.stats  # noqa: F401
import sklearn.utils.estimator_checks  # noqa: F401

FLAGS = ("-x", "-q", "-p", "no:cacheprovider", "-p", "no:xdist")


def main(tree: str, seconds: str, *tests: str) -> None:
    """The unchanged tree first, and then every mutant."""
    found = _run(tree, 10 * float(seconds), tests)
    print(json.dumps(["unchanged", *found]), flush=True)
    for line in sys.stdin:
        name, source = json.loads(line)
        path = Path(tree) / name
        before, stamp = path.read_text(), path.stat()
        path.write_text(source)
        outcome = _run(tree, float(seconds), tests)
        path.write_text(before)
        os.utime(path, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        print(json.dumps([name, *outcome]), flush=True)


def _run(tree: str, seconds: float, tests: tuple[str, ...]) -> tuple[int | str, float]:
    start = time.monotonic()
    child = os.fork()
    if not child:
        os.setsid()
        sys.path.insert(0, tree)
        sys.dont_write_bytecode = True  # that of a mutant would outlive it
        quiet = os.open(os.devnull, os.O_WRONLY)
        os.dup2(quiet, 1), os.dup2(quiet, 2)
        os._exit(int(pytest.main([*FLAGS, *tests])))
    while True:
        done, status = os.waitpid(child, os.WNOHANG)
        taken = time.monotonic() - start
        if done:
            return os.waitstatus_to_exitcode(status), taken
        if taken > seconds:
            os.killpg(child, signal.SIGKILL)
            os.waitpid(child, 0)
            return "timeout", taken
        time.sleep(0.05)


if __name__ == "__main__":
    main(*sys.argv[1:])
