"""What every benchmark needs: data, clocks, the accuracy of the papers, tables and records."""

from __future__ import annotations

import argparse
import json
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import Any, TypeVar
from unittest import mock

import numpy as np
from scipy import sparse
from sklearn.metrics.pairwise import euclidean_distances
from threadpoolctl import threadpool_info

from lopsided._core.threads import n_threads

try:
    import resource
except ImportError:  # Windows, where tests import protocols and peers from here, and no benchmark runs
    resource = None

ROOT = Path(__file__).resolve().parent.parent
DATA = Path(os.environ.get("LOPSIDED_DATA", ROOT.parent / "shared" / "data"))
RESULTS = ROOT / "benchmarks" / "results"
PACKAGES = ("numpy", "scipy", "scikit-learn", "scikit-network", "gensim", "implicit", "torch", "lopsided")
CHILDREN: dict[str, Callable[..., dict[str, Any]]] = {}  # of a smoke run
MENTIONED = 0.005  # difference of scores below which methods count as level

T = TypeVar("T")


def load_graph(name: str) -> sparse.csr_array:
    """The adjacency of a stored graph, A[source, target] = 1."""
    with np.load(DATA / "graphs" / f"{name}.npz") as file:
        row, col, n = file["row"], file["col"], int(file["n_nodes"])
    return sparse.csr_array((np.ones(len(row)), (row, col)), shape=(n, n))


def dense_sne(A: sparse.csr_array, bandwidth: float) -> np.ndarray:
    """The kernel matrix as one builds it without this library; the distances come from sparse products."""
    K = euclidean_distances(A, A.T.tocsr(), squared=True)
    K /= -(bandwidth**2)
    np.exp(K, out=K)
    K /= K.sum(axis=1)[:, None]
    return K


def load_labels(name: str) -> np.ndarray:
    """The classes of a stored graph's nodes."""
    with np.load(DATA / "graphs" / f"{name}.npz") as file:
        return file["labels"]


def clock(task: Callable[[], T], repeats: int = 5) -> tuple[float, T]:
    """Median seconds of a task over a few runs, and its last result."""
    seconds = []
    for _ in range(repeats):
        start = time.perf_counter()
        result = task()
        seconds.append(time.perf_counter() - start)
    return statistics.median(seconds), result


def eta(exact: tuple[np.ndarray, np.ndarray, np.ndarray], U: np.ndarray, V: np.ndarray) -> float:
    """The 2024 paper's accuracy (section 4.4): singular-value weighted mean of 1 - |cosine|, both sides added.

    Components that are missing are as wrong as can be.
    """
    total = 0.0
    for vectors, found in ((exact[0], U), (exact[2], V)):
        cosines = np.zeros(len(exact[1]))
        k = found.shape[1]
        cosines[:k] = np.abs(np.einsum("ij,ij->j", vectors[:, :k], found)) / np.linalg.norm(found, axis=0)
        total += float(np.mean(exact[1] * np.abs(1 - cosines)))
    return total


@contextmanager
def changed(constants: dict[str, Any]) -> Iterator[None]:
    """Constants of the library, "room.module.NAME", at other values: one row of an ablation."""
    with ExitStack() as stack:
        for name, value in constants.items():
            stack.enter_context(mock.patch(f"lopsided.{name}", value))
        yield


def ablated(
    changes: dict[str, dict[str, Any]], cases: dict[str, Callable[[], dict[str, float]]], *, smoke: bool = False
) -> dict[str, dict[str, dict[str, float]]]:
    """Scores of every case under every change of constants, by the name of the change and of the case.

    A smoke run tries the first two changes, and of the others only that their constants are there.
    """
    found: dict[str, dict[str, dict[str, float]]] = {}
    for change, constants in changes.items():
        with changed(constants):
            if smoke and len(found) == 2:
                continue
            found[change] = {name: case() for name, case in cases.items()}
        print(change, *(f"{name}: {shown(scores)}" for name, scores in found[change].items()), sep="; ", flush=True)
    return found


def print_ablation(found: dict[str, dict[str, dict[str, float]]], scores: dict[str, str]) -> None:
    """A table for each score: changes in rows, cases in columns."""
    for score, title in scores.items():
        cases = [case for case, scored in next(iter(found.values()), {}).items() if score in scored]
        cells: Any = {case: {change: one[case][score] for change, one in found.items()} for case in cases}
        print_matrix(f"{title}; one constant changed at a time", cells, found)


def in_child(script: str, *arguments: object) -> dict[str, Any]:
    """Run a function of a benchmark in a process of its own; its printed JSON, with peak memory added.

    In a smoke run, which measures nothing, it stays in this process.
    """
    if CHILDREN:
        name, *rest = map(str, arguments)
        return {**CHILDREN[name](*rest), "peak_bytes": peak_bytes()}
    command = [sys.executable, script, "--child", *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout.splitlines()[-1])


def report_from_child(record: dict[str, Any]) -> None:
    """Print a child's record with the most memory it ever held."""
    print(json.dumps({**record, "peak_bytes": peak_bytes()}))


def peak_bytes() -> int:
    """The most memory this process ever held; Linux's ru_maxrss would count the parent's at the time of the fork."""
    status = Path("/proc/self/status")
    if status.exists():
        return 1024 * int(status.read_text().split("VmHWM:")[1].split()[0])
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss


def race(tasks: dict[str, Callable[[], Any]], repeats: int = 5) -> dict[str, float]:
    """Median seconds of tasks that take turns, so that a busy moment of the machine falls on all of them.

    Every other round goes backwards: whoever follows a product of BLAS shares the cores with its idling threads.
    """
    seconds: dict[str, list[float]] = {name: [] for name in tasks}
    for turn in range(repeats):
        for name in list(tasks)[:: -1 if turn % 2 else 1]:
            seconds[name].append(clock(tasks[name], 1)[0])
    return {name: statistics.median(times) for name, times in seconds.items()}


def git(*arguments: str) -> str:
    """What git says of the project."""
    return subprocess.run(["git", *arguments], cwd=ROOT, capture_output=True, text=True).stdout.strip()


def environment(seed: int) -> dict[str, Any]:
    """Versions, threads, seed and commit, for the record."""
    commit = git("describe", "--always")
    if git("status", "--porcelain", "--untracked-files=no", "--", ".", ":!benchmarks/results"):
        commit += "-dirty"
    found = {}
    for name in PACKAGES:
        try:
            found[name] = version(name)
        except ModuleNotFoundError:
            found[name] = "absent"
    return {
        "commit": commit,
        "seed": seed,
        "threads": n_threads(),
        "blas_threads": max(library["num_threads"] for library in threadpool_info()),
        "python": platform.python_version(),
        "versions": found,
    }


def save(name: str, parts: dict[str, Any], seed: int) -> None:
    """Write the parts of a benchmark that were run, each with its environment, beside those of earlier runs."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    record |= {part: {"environment": environment(seed), "result": result} for part, result in parts.items()}
    path.write_text(json.dumps(record, indent=1) + "\n")


def stored(name: str, part: str) -> Any:
    """What an earlier run of a benchmark found in a part of it, or an empty dict."""
    path = RESULTS / f"{name}.json"
    record = json.loads(path.read_text()) if path.exists() else {}
    return record.get(part, {}).get("result", {})


def parser(doc: str | None, parts: Iterable[str] = ()) -> argparse.ArgumentParser:
    """The command line of a benchmark, with the options that all of them have."""
    found = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    found.add_argument("--smoke", action="store_true", help="tiny data, nothing kept")
    if parts:
        found.add_argument("parts", nargs="*", choices=[[], *parts], help="default: all")
    return found


def main(
    script: str,
    doc: str | None,
    parts: dict[str, Callable[[bool], Any]],
    children: dict[str, Callable[..., dict[str, Any]]] | None = None,
    seed: int = 0,
) -> None:
    """Run the parts of a benchmark that were asked for, each of which takes whether it is a smoke run."""
    command = parser(doc, parts)
    command.add_argument("--child", nargs="+", help=argparse.SUPPRESS)
    options = command.parse_args()
    if options.child and children:
        name, *arguments = options.child
        return report_from_child(children[name](*arguments))
    if options.smoke:
        CHILDREN.update(children or {})
    record = {}
    for name in options.parts or parts:
        record[name] = parts[name](options.smoke)
        if not options.smoke:
            save(Path(script).stem, {name: record[name]}, seed)
    if options.smoke:
        print("smoke run finished:", ", ".join(record))


def print_table(title: str, headings: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
    """A Markdown table, ready for the README."""
    cells = [list(map(_cell, row)) for row in (headings, *rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(headings))]
    lines = ["| " + " | ".join(c.ljust(w) for c, w in zip(row, widths, strict=True)) + " |" for row in cells]
    lines.insert(1, "|" + "|".join("-" * (w + 2) for w in widths) + "|")
    print(f"\n{title}\n\n" + "\n".join(lines), flush=True)


def print_matrix(title: str, cells: dict[str, dict[str, float | None]], rows: Iterable[str]) -> None:
    """A Markdown table of one figure for each column and row, without the rows that no column has."""
    kept = [row for row in rows if any(row in column for column in cells.values())]
    lines = [[row, *(_figure(column.get(row)) for column in cells.values())] for row in kept]
    if kept:
        print_table(title, ["", *cells], lines)


def print_shortfalls(record: dict[str, dict[str, dict[str, float]]], scores: dict[str, str], ours: str) -> None:
    """Where a method is worse than the best of the others, by more than is worth mentioning."""
    print(f"\nWhere {ours} is more than {MENTIONED:g} below the best:\n")
    for score, title in scores.items():
        for graph, found in record.items():
            others = {name: one[score] for name, one in found.items() if name != ours and score in one}
            best = max(others, key=lambda name: others[name], default=ours)
            if ours in found and found[ours].get(score, 0.0) < others.get(best, 0.0) - MENTIONED:
                print(f"- {graph}, {title}: {found[ours][score]:.3f}, {best} {others[best]:.3f}")


def shown(scores: dict[str, float]) -> str:
    """Scores in one line."""
    return ", ".join(f"{name} {_figure(value)}" for name, value in scores.items())


def _figure(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f}" if value >= 10 else f"{value:.3f}"


def _cell(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)
