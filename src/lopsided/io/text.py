"""Text of edge files before it is parsed: separators guessed, comments removed, and what is wrong with a line."""

from __future__ import annotations

import ast
import csv
import io
import re
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

from ..exceptions import LopsidedWarning, warn

SPACES = " "  # the separator that stands for any run of blanks and tabs
OTHER_SEPARATORS = ",;|\t"  # guessed where the one that the file extension promises is absent
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # written by spreadsheets
SAMPLE_BYTES, SAMPLE_LINES = 1 << 16, 20  # from which the separator is guessed
NO_EDGES = re.compile(rb"(?:[ \t]*(?:#[^\r\n]*)?\r?\n)*")  # blank lines and comments
COMMENT = rb"^[ \t]*#[^\r\n]*"
QUOTED = rb'(?:^|(?<=%b))"(?:[^"]|"")*+"'  # a quote opens a cell only where the cell begins
CELL = rb'(?:"(?:[^"]|"")*+(?P<end>"|\Z)[^%b\n]*|[^%b\n]*)(?:%b|\n|\Z)'
LIKE_AN_ID = re.compile(rb"\s*#\w")  # the beginning of a hashtag rather than of a comment
NUMPY_SCALAR = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # in a dict, as networkx writes it: np.float64(2.5)


class Text(NamedTuple):
    """The bytes of a text file, in which comments are blank lines, and the separator of its cells."""

    data: bytes
    separator: str
    has_quotes: bool
    """Whether cells may be quoted; quotes mean nothing in edge lists."""

    @property
    def n_lines(self) -> int:
        """Number of lines, among them blank ones."""
        return self.data.count(b"\n") + (not self.data.endswith(b"\n"))

    def records(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the line number and the cells of each record, in Python."""
        lines = (line.decode() for line in io.BytesIO(self.data))
        quoting = csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE
        reader = csv.reader(lines, delimiter=self.separator, quoting=quoting)  # type: ignore[arg-type]
        for row in reader:
            if len(row) > 1 or any(map(str.strip, row)):
                yield reader.line_num, [cell.strip() for cell in row]


def start(data: bytes) -> int:
    """Where the first line begins that is neither blank nor a comment."""
    return len(NO_EDGES.match(data)[0])  # type: ignore[index]


def cleaned(data: bytes, promised: str) -> Text:
    """Guess the separator, make comments blank lines, and put single spaces between the cells of edge lists."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    separator = _guessed_separator(data, promised)
    has_quotes = separator != SPACES and b'"' in data
    data = _without_comments(data, separator, has_quotes)
    return Text(_single_spaced(data) if separator == SPACES else data, separator, has_quotes)


def _guessed_separator(data: bytes, promised: str) -> str:
    """The promised separator, unless the first lines have another one instead: a,b as one cell, or a, b at a space."""
    begin = start(data)
    lines = data[begin : begin + SAMPLE_BYTES].decode(errors="replace").splitlines()
    lines = [line for line in lines if line.strip() and not line.lstrip().startswith("#")][:SAMPLE_LINES]
    if not lines or (promised != SPACES and promised in lines[0]):
        return promised
    alone = lines[0] if len(lines[0].split()) == 1 or promised != SPACES else ""
    last = {line.split()[0][-1] for line in lines} if promised == SPACES else set()
    return next((other for other in OTHER_SEPARATORS if other in alone or last == {other}), promised)


def _without_comments(data: bytes, separator: str, has_quotes: bool) -> bytes:
    if b"#" not in data:
        return data
    sep = separator.encode()
    quoted = QUOTED % re.escape(sep) + b"|" if has_quotes else b""
    comments = [m for m in re.finditer(quoted + COMMENT, data, re.MULTILINE) if not m[0].startswith(b'"')]
    begin = start(data)
    suspects = [
        m for m in comments if m.start() > begin and LIKE_AN_ID.match(m[0]) and sep in m[0] and separator != SPACES
    ]
    if suspects:
        line = data.count(b"\n", 0, suspects[0].start()) + 1
        warn(
            f"{len(suspects)} lines are left out as comments, the first of them line {line}, but look like edges of "
            "ids that begin with #; put quotes around such ids, or pass pandas.read_csv(path)",
            LopsidedWarning,
        )
    ends = [0, *(m.end() for m in comments)]
    return b"".join([*(data[end : m.start()] for end, m in zip(ends, comments, strict=False)), data[ends[-1] :]])


def _single_spaced(data: bytes) -> bytes:
    """Cells separated by one space; a trailing networkx dict becomes its weight."""
    data = data.replace(b"\t", b" ")
    if b"{" in data:
        lines = enumerate(data.decode().split("\n"), 1)
        return "\n".join(_with_weight(line, number) if "{" in line else line for number, line in lines).encode()
    if data[:1] == b" " or data[-1:] == b" " or any(odd in data for odd in (b"  ", b" \n", b" \r", b"\n ")):
        return b"\n".join(b" ".join(line.split()) for line in data.split(b"\n"))
    return data


def _with_weight(line: str, number: int) -> str:
    """Replace the dict at the end of a line: {'weight': 2.0} by 2.0, and {} by 1."""
    head, brace, attributes = line.partition("{")
    try:
        return " ".join([*head.split(), _weight(brace + attributes.strip())])
    except (AttributeError, ValueError, SyntaxError) as error:
        raise ValueError(
            f"line {number} ends with {brace + attributes.strip()!r}, which is not a dict of plain values as networkx "
            "writes it; write_weighted_edgelist writes the weight alone"
        ) from error


@lru_cache
def _weight(attributes: str) -> str:
    return str(ast.literal_eval(NUMPY_SCALAR.sub(r"\1", attributes)).get("weight", 1))


def check_quotes(text: Text, path: Path) -> None:
    """Raise an error that names the line if it opens a quote that is never closed."""
    if not text.has_quotes:
        return
    separator = re.escape(text.separator.encode())
    cells = re.finditer(CELL % (separator, separator, separator), text.data)
    start = next((cell.start() for cell in cells if cell["end"] == b""), None)
    if start is not None:
        line = text.data.count(b"\n", 0, start) + 1
        raise ValueError(f"line {line} of {str(path)!r} opens a quote that is never closed; close it, or leave it out")


def check_lines(text: Text, width: int, path: Path) -> None:
    """Raise an error that names the line with a quote that is never closed or another number of cells."""
    check_quotes(text, path)
    try:
        wrong = next(((line, cells) for line, cells in text.records() if len(cells) != width), None)
    except UnicodeDecodeError as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}; pass pandas.read_csv(path, encoding=...)") from error
    if wrong is not None:
        line, cells = wrong
        raise ValueError(
            f"line {line} of {str(path)!r} has {len(cells)} cells, {cells[:4]}, where there should be {width}: a "
            "source, a target and perhaps a weight"
        )
