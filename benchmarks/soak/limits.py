"""Memory and time: budgets hold, limits of the system are met before the work, interrupts end it, nothing leaks.

Each case is measured in a process of its own: ``python -m soak.limits peak KernelSVD/0`` prints what it took.
"""

from __future__ import annotations

import copy
import ctypes
import gc
import json
import os
import re
import resource
import signal
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from lopsided import AsymmetricLSSVC, DirectedGraphEmbedding, KernelSVD, Nystrom
from lopsided._core import jobs, run

from . import Budget, Row, timed
from .models import answers, data_for, estimators, fit, is_graph, quiet, with_resources

MB = 1_000_000
BUDGET = 40 * MB
MANY = {"points": 3000, "graph": 1500}  # so many that stored matrices, 72 and 18 MB, exceed or fill the budget
ALLOWED = 1.2  # times the budget, beyond input and output
SLACK = 12 * MB  # code that is loaded on first use, and pools of threads
ADDRESSES = 700 * MB  # that a limited process may add to what it has when it begins
LEAK = 5 * MB
FITS = 1000
INTERRUPTED_AFTER = 0.3  # seconds
LONG = (2000, 8000, 32_000)  # points, more if a fit on fewer is over before


def rows(budget: Budget) -> list[Row]:
    """Peaks, limits, interrupts and leaks."""
    names = [name for name in estimators() if "memory_budget" in estimators()[name].get_params()]
    leaking = ["KernelSVD/0"] if budget.smoke else list(estimators())
    fits = 40 if budget.smoke else min(FITS, budget.examples)
    interrupts = ["LearnedKernelSVDRegressor/0"] if budget.smoke else list(estimators())
    cases = ["lapack"] if budget.smoke else list(LIMITED)
    return [
        timed("peak memory / (budget + input + output)", ALLOWED, lambda: peaks(names[-1:] if budget.smoke else names)),
        timed("under RLIMIT_AS: done, or refused with the bytes it needs", 0, lambda: limited(cases)),
        timed("seconds from Ctrl-C to a model in its old state", 1.0, lambda: interrupted(interrupts)),
        timed(f"MB kept by {fits} fits (and files left open)", LEAK / MB, lambda: leaks(leaking, fits)),
    ]


def status(field: str) -> int:
    """Bytes by a field of /proc/self/status."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(field))


def size(value: Any) -> int:
    """Bytes of the arrays that a value holds, within a few levels of attributes."""
    if sparse.issparse(value):
        return int(value.data.nbytes + value.indices.nbytes + value.indptr.nbytes)
    if isinstance(value, np.ndarray):
        return int(value.nbytes)
    if isinstance(value, (list, tuple)):
        return sum(map(size, value))
    return sum(map(size, vars(value).values())) if hasattr(value, "__dict__") and not callable(value) else 0


def run_case(*arguments: str, **environment: str) -> dict[str, Any]:
    """Run a case in a process of its own, and return what it printed."""
    done = subprocess.run(
        [sys.executable, "-m", "soak.limits", *arguments],
        cwd=Path(__file__).parents[1],
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1", **environment},
        capture_output=True,
        text=True,
        timeout=1200,
    )
    if done.returncode:
        return {"error": done.stderr.strip().splitlines()[-1:]}
    found: dict[str, Any] = json.loads(done.stdout.splitlines()[-1])
    return found


def peak(name: str) -> dict[str, Any]:
    """Memory that a fit and the answers take at most, with a small budget on two threads."""
    model = with_resources(estimators()[name], memory_budget=BUDGET, random_state=0)
    small, labels = data_for(model, 60)
    answers(fit(clone(model), small, labels), small)  # loads what is loaded once
    X, y = data_for(model, MANY["graph" if is_graph(model) else "points"])
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    before = status("VmRSS")
    Path("/proc/self/clear_refs").write_text("5")
    with jobs(2):
        found = answers(fit(model, X, y), X)
    taken = status("VmHWM") - before
    return {"taken": taken, "given": size(X) + size(found) + size(model)}


def peaks(names: list[str]) -> tuple[int, float, list[str]]:
    """The largest ratio of peaks, less a slack, to budget, input and output."""
    worst, wrong = 0.0, []
    for name in names:
        found = run_case("peak", name)
        ratio = (found["taken"] - SLACK) / (BUDGET + found["given"]) if "taken" in found else np.inf
        worst = max(worst, ratio)
        if ratio > ALLOWED:
            wrong.append(f"{name}: {found}")
    return len(names), worst, wrong


def _points(n: int) -> tuple[np.ndarray, np.ndarray]:
    return np.random.default_rng(0).standard_normal((n, 8)), np.arange(n) % 2


def _svd(n: int, **settings: Any) -> Any:
    X, _ = _points(n)
    return KernelSVD(3, **settings).fit(X, Z=X[::-1])


def _machine(n: int, **settings: Any) -> Any:
    return AsymmetricLSSVC(**settings).fit(*_points(n))


def _graph(n: int, **settings: Any) -> Any:
    A = sparse.random_array((n, n), density=6 / n, rng=np.random.default_rng(0), format="csr")
    return DirectedGraphEmbedding(8, **settings).fit(A)


LIMITED: dict[str, Callable[[], Any]] = {  # work whose matrices exceed the limit several times
    "krylov": lambda: _svd(9000, kernel="rbf", solver="krylov", tol=0.5),
    "auto": lambda: _svd(20_000, kernel="sne"),
    "nystrom": lambda: _svd(20_000, kernel="rbf", solver=Nystrom(9000)),
    "lapack": lambda: _svd(9000, kernel="rbf", solver="lapack"),
    "machine": lambda: _machine(6000, C=1.0, kernel="rbf"),
    "machine, dense": lambda: _machine(9000, C=1.0, kernel="rbf", solver="dense"),
    "machine, landmarks": lambda: _machine(20_000, kernel="rbf", solver=Nystrom(500)),
    "graph": lambda: _graph(20_000),
    "graph, sne": lambda: _graph(20_000, kernel="sne"),
}


def under_limit(name: str) -> dict[str, Any]:
    """Whether a case ends, or is refused, when the address space is limited, with the default budget."""
    work = LIMITED[name]
    resource.setrlimit(resource.RLIMIT_AS, (status("VmSize") + ADDRESSES,) * 2)
    start = time.monotonic()
    try:
        with quiet(), jobs(2):
            work()
    except ValueError as error:
        named = re.search(r"([0-9]+) bytes", str(error))
        return {"refused": str(error), "after": time.monotonic() - start, "names a budget": bool(named)}
    except MemoryError as error:
        return {"memory": repr(error), "after": time.monotonic() - start}
    return {"done": time.monotonic() - start}


def limited(names: list[str]) -> tuple[int, int, list[str]]:
    """Cases that end in neither an answer nor a message that names the bytes they need."""
    found = {name: run_case("under_limit", name) for name in names}
    wrong = [f"{name}: {each}" for name, each in found.items() if not ("done" in each or each.get("names a budget"))]
    return len(found), len(wrong), wrong


def interrupt(name: str) -> dict[str, Any]:
    """Seconds from an interrupt in the middle of a second fit to its end, and what it left behind."""
    signal.signal(signal.SIGINT, signal.default_int_handler)  # which shells ignore in the background
    model = with_resources(estimators()[name], random_state=0)
    X, y = data_for(model, 60)
    fit(model, X, y)
    before, files = answers(model, X), set(os.listdir(tempfile.gettempdir()))
    with jobs(2):
        run(lambda _: None, range(2))  # begins the threads of the pool
        threads = threading.active_count()
        for n in LONG:
            fitted = copy.deepcopy(model)
            if (taken := _seconds_to_stop(fitted, n)) is not None:
                break
    if taken is None:
        return {"finished": True}
    return {
        "seconds": taken,
        "threads": threading.active_count() - threads,
        "files": sorted(set(os.listdir(tempfile.gettempdir())) - files),
        "changed": not all(a.tobytes() == b.tobytes() for a, b in zip(before, answers(fitted, X), strict=True)),
    }


def _seconds_to_stop(model: Any, n: int) -> float | None:
    """Seconds that a fit on n points goes on after an interrupt, or None if it is over before."""
    many, labels = data_for(model, n)
    sent: list[float] = []

    def send() -> None:
        sent.append(time.monotonic())
        os.kill(os.getpid(), signal.SIGINT)

    alarm = threading.Timer(INTERRUPTED_AFTER, send)
    try:
        alarm.start()
        fit(model, many, labels)
    except KeyboardInterrupt:
        return time.monotonic() - sent[0]
    finally:
        alarm.cancel()
        alarm.join()
    return None


def interrupted(names: list[str]) -> tuple[int, float, list[str]]:
    """The longest time to end, over every estimator whose fit lasts long enough."""
    worst, wrong, tried = 0.0, [], 0
    for name in names:
        with tempfile.TemporaryDirectory() as folder:
            found = run_case("interrupt", name, TMPDIR=folder)
        if "finished" in found:
            continue
        tried += 1
        worst = max(worst, found.get("seconds", np.inf))
        if found.get("threads") or found.get("files") or found.get("changed") or "error" in found:
            wrong.append(f"{name}: {found}")
    return tried, worst, wrong


def leak(name: str, fits: str) -> dict[str, Any]:
    """Bytes and open files that many fits leave behind."""
    model = with_resources(estimators()[name], random_state=0)
    X, y = data_for(model, 60)
    for _ in range(max(20, int(fits) // 10)):  # pools, caches and the heap grow to their usual size
        answers(fit(clone(model), X, y), X)
    resident, files = _settled(), len(os.listdir("/proc/self/fd"))
    for _ in range(int(fits)):
        answers(fit(clone(model), X, y), X)
    return {"bytes": _settled() - resident, "files": len(os.listdir("/proc/self/fd")) - files}


def _settled() -> int:
    gc.collect()
    ctypes.CDLL(None).malloc_trim(0)
    return status("VmRSS")


def leaks(names: list[str], fits: int) -> tuple[int, float, list[str]]:
    """The most memory, in MB, that the fits of an estimator keep."""
    found = {name: run_case("leak", name, str(fits)) for name in names}
    kept = {name: each.get("bytes", np.inf) for name, each in found.items()}
    wrong = [f"{name}: {each}" for name, each in found.items() if kept[name] > LEAK or each.get("files")]
    return fits * len(names), max(kept.values()) / MB, wrong


if __name__ == "__main__":
    print(json.dumps(globals()[sys.argv[1]](*sys.argv[2:])))
