"""Damaged and hostile files: a reader returns or refuses with a message, within seconds and within memory."""

from __future__ import annotations

import ast
import gzip
import io
import json
import os
import resource
import struct
import subprocess
import sys
import tempfile
import time
import warnings
import zipfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
from scipy import sparse

from common import ROOT

from . import Budget, Row, timed
from .files import damaged, read

SECONDS = 2.0  # of computing for one small file
HEADROOM = 3 << 30  # bytes of address space beyond what the reader has when it starts
CHUNK = 50_000  # files that one process reads
MEMORY = Path("/dev/shm")  # where files are written if the system has it: a disk takes most of the time
OF_A_SEED = 10**8  # files that a seed has, at most
FORBIDDEN = {"eval", "exec", "compile", "__import__", "joblib.load", "pandas.read_pickle", "pd.read_pickle"}
PICKLES = {"pickle", "cPickle", "dill", "cloudpickle", "marshal", "shelve"}
MIB = 1 << 20
HERE = ROOT / "benchmarks"


def rows(budget: Budget) -> list[Row]:
    """Mutated files, files that expand, and what the source code may not call."""
    return [
        timed("hostile files: crashes, hangs, odd errors or memory blow-ups", 0, partial(_mutations, budget)),
        timed("bombs: files read or refused beyond 2 s or 3 GB", 0, partial(_bombs, budget)),
        timed("calls of eval, exec or pickle in the library", 0, forbidden_calls),
    ]


def read_one(folder: Path, number: int) -> str | None:
    """Read file ``number`` of the sequence; None, or what was wrong."""
    name, content = damaged(np.random.default_rng((7, number)))
    return outcome(folder, name, content)


def outcome(folder: Path, name: str, content: bytes) -> str | None:
    """Read a file; None if it is read or refused as it should be."""
    path = folder / name
    path.write_bytes(content)
    start = time.process_time()
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            read(path)
    except ValueError as error:
        if not str(error) or len(str(error)) > 3000:
            return f"{name}: a message of {len(str(error))} characters"
    except BaseException as error:
        return f"{name}: {type(error).__name__}: {str(error)[:200]}"
    taken = time.process_time() - start
    return f"{name}: took {taken:.1f} s" if taken > SECONDS else None


def child(first: int, count: int, seconds: float) -> None:
    """Read files in a process of its own with little memory, telling which one is read before it is."""
    with open("/proc/self/statm") as file:
        held = int(file.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + HEADROOM, held + HEADROOM))
    end, number = time.monotonic() + seconds, first
    with tempfile.TemporaryDirectory(dir=MEMORY if MEMORY.is_dir() else None) as folder:
        while number < first + count and time.monotonic() < end:
            if number % 100 == 0:
                print(json.dumps({"number": number}), flush=True)
            if fault := read_one(Path(folder), number):
                print(json.dumps({"number": number, "fault": fault}), flush=True)
            number += 1
    print(json.dumps({"number": number, "end": True}), flush=True)


def _mutations(budget: Budget) -> tuple[int, int, list[str]]:
    if budget.smoke:
        with tempfile.TemporaryDirectory() as folder:
            faults = [fault for number in range(budget.examples) if (fault := read_one(Path(folder), number))]
        return budget.examples, len(faults), faults
    end, begin, faults = time.monotonic() + budget.seconds, budget.seed * OF_A_SEED, []
    first, last = begin, begin + 10 * budget.examples  # a million in the long profile; they are quick
    while first < last and (left := end - time.monotonic()) > 0:
        count = min(CHUNK, last - first)
        command = [sys.executable, "-m", "soak.hostile_files", str(first), str(count), str(left)]
        done = subprocess.run(
            command, cwd=Path(__file__).parents[1], capture_output=True, text=True, timeout=left + 300
        )
        said = [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
        faults += [f"file {each['number']}: {each['fault']}" for each in said if "fault" in each]
        if done.returncode:
            faults.append(f"after file {said[-1]['number']}: exit code {done.returncode}, {done.stderr[-300:]}")
        first = said[-1]["number"] if "end" in said[-1] else first + count
    return first - begin, len(faults), faults


def _npy_header(shape: tuple[int, ...]) -> bytes:
    text = f"{{'descr': '<f8', 'fortran_order': False, 'shape': {shape}, }}".ljust(117).encode() + b"\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(text)) + text


def _zip(members: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as file:
        for name, content in members.items():
            file.writestr(name, content)
    return out.getvalue()


def _wide_npz() -> bytes:
    out = io.BytesIO()
    sparse.save_npz(out, sparse.coo_array(([1.0], ([0], [0])), shape=(2**40, 2**40)))
    return out.getvalue()


BOMBS: dict[str, Callable[[], tuple[str, bytes]]] = {
    "zeros in gz": lambda: ("graph.csv.gz", gzip.compress(bytes(2000 * MIB), 1)),
    "edges in gz": lambda: ("graph.csv.gz", gzip.compress(b"a,b\n" * (500 * MIB), 1)),
    "zeros in npz": lambda: ("graph.npz", _zip({"a.npy": _npy_header((2**28,)) + bytes(2000 * MIB)})),
    "npz that promises": lambda: ("graph.npz", _zip({"a.npy": _npy_header((2**40,))})),
    "npy that promises": lambda: ("graph.npy", _npy_header((2**40, 8)) + bytes(64)),
    "sparse and wide": lambda: ("graph.npz", _wide_npz()),
    "mtx that promises rows": lambda: (
        "graph.mtx",
        b"%%MatrixMarket matrix coordinate real general\n2000000000 2000000000 1\n1 1 1.0\n",
    ),
    "mtx that promises entries": lambda: (
        "graph.mtx",
        b"%%MatrixMarket matrix coordinate real general\n9 9 900000000000\n1 1 1.0\n",
    ),
    "mtx that promises an array": lambda: (
        "graph.mtx",
        b"%%MatrixMarket matrix array real general\n900000 900000\n1.0\n",
    ),
    "svmlight, a far column": lambda: ("graph.svmlight", b"1 2147483646:1.0\n0 1:1.0\n"),
    "model of zeros": lambda: ("graph.lopsided", _zip({"model.json": bytes(1000 * MIB), "0.npy": b""})),
}


def _bombs(budget: Budget) -> tuple[int, int, list[str]]:
    names, faults = [name for name in BOMBS if "rows" in name or not budget.smoke], []
    for name in names:
        command = [sys.executable, "-m", "soak.hostile_files", name]
        done = subprocess.run(command, cwd=HERE, capture_output=True, text=True, timeout=300)
        if done.returncode or done.stdout.strip() != "null":
            faults.append(f"{name}: exit code {done.returncode}, {done.stdout.strip()[-300:]} {done.stderr[-200:]}")
    return len(names), len(faults), faults


def explode(name: str) -> None:
    """Read one bomb with little memory, and say what was wrong."""
    file, content = BOMBS[name]()
    with open("/proc/self/statm") as statm:
        held = int(statm.read().split()[0]) * os.sysconf("SC_PAGE_SIZE")
    resource.setrlimit(resource.RLIMIT_AS, (held + HEADROOM, held + HEADROOM))
    with tempfile.TemporaryDirectory() as folder:
        outcome(Path(folder), file, b"a,b\n")  # imports what reads it
        print(json.dumps(outcome(Path(folder), file, content)))


def forbidden_calls() -> tuple[int, int, list[str]]:
    """Names that run code from data, in every file of the library."""
    files, found = sorted((ROOT / "src" / "lopsided").rglob("*.py")), []
    for path in files:
        for node in ast.walk(ast.parse(path.read_text())):
            called = ast.unparse(node.func) if isinstance(node, ast.Call) else ""
            loose = isinstance(node, ast.keyword) and node.arg == "allow_pickle" and getattr(node.value, "value", True)
            if called in FORBIDDEN or _imported(node) & PICKLES or loose:
                found.append(f"{path.name}:{getattr(node, 'lineno', 0)}")
    return len(files), len(found), found


def _imported(node: ast.AST) -> set[str]:
    if isinstance(node, ast.Import):
        return {alias.name.split(".")[0] for alias in node.names}
    return {(node.module or "").split(".")[0]} if isinstance(node, ast.ImportFrom) and not node.level else set()


if __name__ == "__main__":
    if len(sys.argv) == 2:
        explode(sys.argv[1])
    else:
        child(int(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]))
