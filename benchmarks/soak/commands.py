"""Every command of the command line, in this process, on files good, damaged and of the wrong kind."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io, sparse

from lopsided.cli import main
from lopsided.cli.parser import COMMANDS

from .drawn import Draw
from .files import mutated
from .judge import Fault, Work

EDGES = b"source,target,weight\nann,bob,1\nann,cem,2\nbob,cem,1\ncem,ann,3\ndea,ann,1\neve,dea,1\n"
ROWS = (f"r{i},{i % 3},{i / 7:.2f},{i * i % 5},{'xy'[i % 2]}" for i in range(12))
TABLE = "\n".join(["name,a,b,c,kind", *ROWS, ""]).encode()
LABELS = b"id,label\nann,x\nbob,y\ncem,x\ndea,y\n"
TEXTS = {
    "edges.csv": EDGES,
    "edges.tsv": EDGES.replace(b",", b"\t"),
    "table.csv": TABLE,
    "labels.csv": LABELS,
    "one.csv": b"a\n1\n",
}
NAMES = [*TEXTS, "a.npz", "a.npy", "a.mtx", "image.png", "model.lopsided", "nowhere.csv", "folder", "-"]
OPTIONS = [
    "-o", "-k", "--side", "--save", "--kernel", "--seed", "--jobs", "--memory", "--source", "--target", "--weight",
    "--header", "--no-header", "--pairs", "--of", "--known", "--components", "--label", "--labels", "--drop", "--new",
    "--user", "--item", "--layout", "--force", "--json", "-q", "--help", "--unknown",
]  # fmt: skip
WORDS = [
    "1", "2", "3", "0", "-1", "5000", "nan", "1e400", "x", "", "auto", "rbf", "sne", "linear", "ann", "eve", "kind",
    "name", "source", "target", "weight", "both", "1GB", "-5GB", "out.csv", "out.parquet", "out.json", "out.lopsided",
    "out.html", "out.png", "no/out.csv", *NAMES,
]  # fmt: skip


def command(draw: Draw) -> tuple[tuple, Work]:
    """A command with files and options of any kind; with good ones in about half of the calls."""
    name = draw.of(COMMANDS)
    arguments = [name, draw.of(NAMES)] + [
        word
        for _ in range(draw.of([0, 1, 2, 3]))
        for word in ([draw.of(OPTIONS)] + [draw.of(WORDS)] * draw.of([1, 1, 0]))
    ]
    damaged = draw.of([None, None, *TEXTS, "a.npz", "a.npy", "a.mtx", "image.png", "model.lopsided"])
    draw.notes.append(f"lopsided {' '.join(map(repr, arguments))}, {damaged} damaged")

    def work() -> Any:
        with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
            _write_files(Path(folder))
            if damaged:
                Path(damaged).write_bytes(mutated(Path(damaged).read_bytes(), draw.rng))
            before = set(os.listdir(tempfile.gettempdir()))
            out, err = io.TextIOWrapper(io.BytesIO(), "utf-8"), io.StringIO()
            stdin = io.TextIOWrapper(io.BytesIO(EDGES))
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), _stdin(stdin):
                code = main(arguments)
            _check(code, err.getvalue(), sorted(os.listdir(folder)))
            left = {each for each in set(os.listdir(tempfile.gettempdir())) - before if "lopsided" in each}
            if left:
                raise Fault(f"temporary files are left: {left}")
        yield None

    return (), work


@contextlib.contextmanager
def _stdin(stream: Any) -> Any:
    import sys

    before, sys.stdin = sys.stdin, stream
    try:
        yield
    finally:
        sys.stdin = before


def _check(code: int, said: str, files: list[str]) -> None:
    if code not in (0, 2):
        raise Fault(f"exit code {code}: {said[-200:]}")
    if "Traceback" in said:
        raise Fault(f"a traceback: {said[-300:]}")
    complaints = [line for line in said.splitlines() if not line.startswith(("lopsided: warning", "usage"))]
    if code == 2 and not complaints:
        raise Fault("exit code 2 without a word")
    if any(file.startswith(".") or file.endswith((".part", ".tmp")) for file in files):
        raise Fault(f"parts of files are left: {files}")


_READY: dict[str, bytes] = {}


def _write_files(folder: Path) -> None:
    """The files a command may be given; made once and kept in memory."""
    if not _READY:
        _READY.update(_made())
    for name, content in _READY.items():
        (folder / name).write_bytes(content)
    (folder / "folder").mkdir()


def _made() -> dict[str, bytes]:
    from PIL import Image

    from lopsided import DirectedGraphEmbedding
    from lopsided.io import read_graph, save

    A = sparse.csr_array((np.random.default_rng(0).random((6, 6)) < 0.4).astype(float))
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        for each, text in TEXTS.items():
            (folder / each).write_bytes(text)
        sparse.save_npz(folder / "a.npz", A)
        np.save(folder / "a.npy", A.toarray())
        scipy_io.mmwrite(folder / "a.mtx", A)
        Image.fromarray(np.arange(64, dtype=np.uint8).reshape(8, 8)).save(folder / "image.png")
        save(DirectedGraphEmbedding(2).fit(read_graph(folder / "edges.csv")), folder / "model.lopsided")
        return {path.name: path.read_bytes() for path in folder.iterdir()}


CALLS = {command: 1}
