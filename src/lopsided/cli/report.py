"""What a command says, and where its tables go: notes to standard error, results to a file or standard output."""

import argparse
import json
import logging
import os
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from .._core import CLEAR, count_of
from ..io import imported_pyarrow, write_text, written_whole

PIPE = "-"
SEPARATORS = {".csv": ",", ".tsv": "\t"}
TABLES = (*SEPARATORS, ".parquet", ".json")


class Report:
    """Collects the facts of one run; says them in words as they come, and with --json as one object at the end."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.facts: dict[str, Any] = {"command": options.command}
        self._quiet, self._json = options.quiet or options.json, options.json
        self._start = time.perf_counter()

    def say(self, words: str, **facts: Any) -> None:
        """Note facts, and say words about them on standard error."""
        self.facts |= facts
        if not self._quiet:
            sys.stderr.write(f"{CLEAR if sys.stderr.isatty() else ''}{words}\n")

    @contextmanager
    def echo(self, logger: str) -> Iterator[None]:
        """Also say what a logger logs meanwhile, at the level INFO or above."""
        log, handler = logging.getLogger(logger), _Saying(self)
        level = log.level
        log.setLevel(logging.INFO)
        log.addHandler(handler)
        try:
            yield
        finally:
            log.setLevel(level)
            log.removeHandler(handler)

    def finish(self) -> None:
        """Print the facts as JSON, if that is wanted."""
        if self._json:
            facts = {**self.facts, "seconds": round(time.perf_counter() - self._start, 3)}
            sys.stdout.write(json.dumps(facts, default=_plain, ensure_ascii=False) + "\n")

    def write_table(self, columns: Mapping[str, Any], output: str) -> None:
        """Write a table to a file, or to standard output: as CSV, or within the JSON object."""
        rows = len(next(iter(columns.values())))
        if output == PIPE:
            if self._json:
                self.facts["rows"] = _records(columns)
            else:
                write_text(columns, sys.stdout.buffer, ",")
            return
        with written_whole(output) as part:
            write_columns(columns, part, Path(output).suffix.lower())
        self.wrote(output, count_of(rows, "row"))

    def wrote(self, output: str, what: str, then: str = "", role: str = "output") -> None:
        """Say that a file was written, and what can be done with it."""
        seconds = time.perf_counter() - self._start
        size = size_in_words(Path(output))
        self.say(f"wrote {output}: {what}, {size}, {seconds:.1f} s in total{then}", **{role: output})


class _Saying(logging.Handler):
    """Passes what is logged to a report."""

    def __init__(self, report: Report) -> None:
        super().__init__(logging.INFO)
        self._report = report

    def emit(self, record: logging.LogRecord) -> None:
        self._report.say(record.getMessage())


def write_columns(columns: Mapping[str, Any], path: Path, kind: str) -> None:
    """Write columns in the format of a file extension."""
    if kind == ".parquet":
        pyarrow = imported_pyarrow()
        pyarrow.parquet.write_table(pyarrow.table(dict(columns)), path)
    elif kind == ".json":
        path.write_text(json.dumps(_records(columns), default=_plain, ensure_ascii=False) + "\n", encoding="utf-8")
    else:
        with path.open("wb") as file:
            write_text(columns, file, SEPARATORS[kind])


def _records(columns: Mapping[str, Any]) -> list[dict[str, Any]]:
    lists = [np.asarray(column).tolist() for column in columns.values()]
    return [dict(zip(columns, row, strict=True)) for row in zip(*lists, strict=True)]


def _plain(value: Any) -> Any:
    return value.tolist() if isinstance(value, (np.generic, np.ndarray)) else str(value)


def checked_output(output: str, force: bool, kinds: tuple[str, ...] = TABLES) -> str:
    """Check, before any work, that an output file can be written and that none is replaced unasked."""
    if output == PIPE:
        return output
    path = Path(output)
    if path.suffix.lower() not in kinds:
        end = f"ends with {path.suffix!r}" if path.suffix else "has no extension"
        raise ValueError(f"{output} {end}; the extension sets the format: use one of {', '.join(kinds)}")
    if path.is_dir() or (path.exists() and not force):
        raise ValueError(f"{output} exists; replace it with --force, or name another file with -o")
    if not path.parent.is_dir():
        raise ValueError(f"{output} cannot be written: there is no folder {path.parent}")
    if not os.access(path.parent, os.W_OK):
        raise ValueError(f"{output} cannot be written: the folder {path.parent} is read-only")
    return output


def size_in_words(path: Path) -> str:
    """The size of a file."""
    size = float(path.stat().st_size)
    for unit in ("bytes", "kB", "MB", "GB"):
        if size < 1000 or unit == "GB":
            break
        size /= 1000
    return f"{size:.3g} {unit}"
