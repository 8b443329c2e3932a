"""Text files of edges before they are parsed: comments, separators, cells line by line, and header or not."""

import csv
import io
import re
import reprlib
from collections import Counter
from collections.abc import Container, Iterator, Sequence
from typing import Any, NamedTuple

from .._core import count_of
from ..exceptions import LopsidedWarning, warn
from .columns import has_usual_names, is_number

SPACES = " "  # the separator that stands for any run of blanks and tabs
OTHER_SEPARATORS = ",;|\t"  # guessed where the one that the file extension promises is absent
BYTE_ORDER_MARK = b"\xef\xbb\xbf"  # written by spreadsheets
SAMPLE_BYTES = 1 << 16  # in which the first line ends
SAMPLE_LINES = 100  # of them, in which separators are counted
NO_EDGES = re.compile(rb"(?:[ \t]*(?:#.*)?\n)*")  # blank lines and comments
COMMENT = re.compile(rb"^[ \t]*#.*", re.MULTILINE)
PREAMBLE = re.compile(rb'(?:[ \t]*(?:#.*|%(?:[% \t].*)?|"?sep=."?)?\n)*')  # "% asym" of KONECT, "sep=;" of spreadsheets
UNEVEN = re.compile(rb"  |^ | $", re.MULTILINE)
ATTRIBUTES = re.compile(rb"[ \t]\{(['\"].*)?\}[ \t]*$", re.MULTILINE)  # the dict that networkx writes after an edge
WEIGHT = re.compile(rb"'weight': (?:np\.\w+\()?([^,)}]*)")
ALONE_BY_CHANCE = 0.05  # share of rows without the ids of any other, below which the first line is not one of them
FEWEST_JUDGED = 20  # rows, from which that share is estimated
DIGIT = re.compile(r"\d")
WITH_POINT = re.compile(r"[+-]?\d*\.\d+")
WITH_COMMA = re.compile(r"[+-]?[\d.]*,(\d+)")
THOUSANDS = 3  # digits after a comma that may separate them


class Text(NamedTuple):
    """The bytes of a text file, in which comments are blank lines, and the separator of its cells."""

    data: bytes
    separator: str
    has_quotes: bool
    """Whether cells may be quoted; quotes mean nothing in edge lists."""

    def lines(self) -> Iterator[tuple[int, list[str]]]:
        """Yield the number and the cells of each line that is not blank. A cell must end in the line it begins in."""
        quoting = csv.QUOTE_MINIMAL if self.has_quotes else csv.QUOTE_NONE
        for number, line in enumerate(io.BytesIO(self.data), 1):
            if line.strip():
                reader = csv.reader([_decoded(line, number), ""], delimiter=self.separator, quoting=quoting)  # type: ignore[arg-type]
                cells = next(reader)
                if reader.line_num > 1:
                    raise ValueError(f"line {number} opens a quote that it does not close; close it, or leave it out")
                yield number, [cell.strip() for cell in cells]

    def check_width(self, width: int) -> None:
        """Raise an error that names the first line with another number of cells, or with an open quote."""
        for number, cells in self.lines():
            if len(cells) != width:
                found = count_of(len(cells), "cell")
                hint = "; commas, semicolons, tabs, bars or spaces separate cells" if len(cells) == 1 else ""
                raise ValueError(
                    f"line {number} has {found}, {reprlib.repr(cells)}, where there should be {width}: a "
                    f"source, a target and perhaps a weight{hint}"
                )


def _decoded(line: bytes, number: int) -> str:
    try:
        return line.decode()
    except UnicodeDecodeError as error:
        raise ValueError(
            f"line {number} is not UTF-8 text, at the byte {line[error.start]:#04x}; save the file as UTF-8, or pass "
            "pandas.read_csv(path, encoding=...)"
        ) from error


def start(data: bytes) -> int:
    """Where the first line begins that is neither blank nor a comment."""
    return len(NO_EDGES.match(data)[0])  # type: ignore[index]


def cleaned(data: bytes, promised: str) -> Text:
    """Blank comments and what precedes the first edge, guess the separator, and put single spaces between cells."""
    data = data.removeprefix(BYTE_ORDER_MARK)
    if b"\r" in data:
        data = data.replace(b"\r\n", b"\n").replace(b"\r", b"\n")
    if data[:1] in (b"%", b"s", b'"', b"#"):
        end = PREAMBLE.match(data).end()  # type: ignore[union-attr]
        data = b"\n" * data.count(b"\n", 0, end) + data[end:]
    raw, data = data, COMMENT.sub(b"", data) if b"#" in data else data
    separator = _separator(data, promised)
    if separator != SPACES:
        if raw is not data:
            _warn_of_hashtags(raw, separator)
        return Text(data, separator, b'"' in data)
    if b"{" in data:
        data = ATTRIBUTES.sub(_weight, data)
    data = data.replace(b"\t", b" ")
    if UNEVEN.search(data):
        data = b"\n".join(b" ".join(line.split()) for line in data.split(b"\n"))
    return Text(data, separator, has_quotes=False)


def _separator(data: bytes, promised: str) -> str:
    """The promised separator, unless the first line has another one instead: a,b as one cell, or a, b at a space.

    So do semicolons and tabs beside commas that belong to numbers or ids. Spaces separate the cells if the first two
    lines have them and nothing else.
    """
    begin = start(data)
    lines = data[begin : begin + SAMPLE_BYTES].decode(errors="replace").split("\n")
    line, *more = lines[:2]
    cells = line.split() or [""]
    if promised == SPACES:
        line = cells[0] if len(cells) == 1 else cells[0][-1]
    if promised in line:
        filled = [each for each in lines[:SAMPLE_LINES] if each.strip()]
        others = (one for one in ";\t" if promised == "," and one in line)
        better = (one for one in others if _has_decimal_commas(line.split(one)) or _is_steady(one, filled))
        return next(better, promised)
    spaced = all(len(each.split()) > 1 for each in (line, *more))
    return next((other for other in OTHER_SEPARATORS if other in line), SPACES if spaced else promised)


def _is_steady(separator: str, lines: Sequence[str]) -> bool:
    """Whether all lines have as many of a separator, but not of commas, which then belong to ids: Smith, J.;Doe;2."""
    others, commas = ({line.count(sign) for line in lines} for sign in (separator, ","))
    return len(others) == 1 < len(commas)


def _has_decimal_commas(cells: list[str]) -> bool:
    """Whether commas stand only within numbers beyond the ids: a;b;1,5 has three cells, and not a;b;1 and 5."""
    return len(cells) > 2 and all(WITH_COMMA.fullmatch(cell.strip()) for cell in cells if "," in cell)


def _warn_of_hashtags(data: bytes, separator: str) -> None:
    """Warn if comments below the first edge look like edges themselves."""
    suspects = re.compile(rb"^#\w.*" + re.escape(separator.encode()), re.MULTILINE)
    first = suspects.search(data, start(data))
    if first:
        count, line = len(suspects.findall(data, first.start())), data.count(b"\n", 0, first.start()) + 1
        warn(
            f"{count_of(count, 'line that looks like an edge is', 'lines that look like edges are')} skipped as "
            f"comments, beginning with line {line}; put quotes around ids that begin with #, or pass "
            "pandas.read_csv(path)",
            LopsidedWarning,
        )


def _weight(attributes: re.Match[bytes]) -> bytes:
    """The weight in {'weight': 2.0}, and 1 if there is none."""
    weight = WEIGHT.search(attributes[1] or b"")
    return b" " + (weight[1].strip() or b"None" if weight else b"1")


def decimal_sign(text: Text, rows: Sequence[list[str]]) -> str:
    """The comma if numbers are written like 4,45, as spreadsheets do in many countries, and the point otherwise.

    Commas that separate cells, or that may separate thousands, are not decimal signs.
    """
    cells = [cell for row in rows for cell in row if text.separator != ","]
    commas = [match for match in map(WITH_COMMA.fullmatch, cells) if match]
    if all(len(match[1]) == THOUSANDS for match in commas) or any(map(WITH_POINT.fullmatch, cells)):
        return "."
    return ","


def is_header(first: list[str], rows: Sequence[list[str]], known: Container[Any]) -> bool:
    """Whether the first line names the columns of the rows below it; warns if this cannot be decided.

    It is a header if it has the usual names, or if it has no number although some column is otherwise numeric, or no
    digit although all ids have one, or if its ids stand in no other row, as those of hardly any row do. The first cell
    may be empty, as pandas writes it above an index. A known id, or an id of another row, makes it an edge, unless a
    column beyond the first two is numeric.
    """
    if any(cell in known for cell in first[:2]):
        return False
    if has_usual_names(first):
        return True
    rows = [row for row in rows if len(row) >= len(first)]
    if not rows or not all(first[1:]) or any(map(_is_written_number, first)):
        return False
    numeric = [all(is_number(row[j]) for row in rows) for j in range(len(first))]
    if any(_is_numeric_where_filled(j, rows) for j in range(2, len(first))):
        return True
    ids = Counter(cell for row in rows for cell in set(row[:2]))
    if first[0] and any(cell in ids for cell in first[:2]):
        return False
    if any(numeric) or (all(map(DIGIT.search, ids)) and not any(map(DIGIT.search, first[:2]))):
        return True
    alone = sum(all(ids[cell] == 1 for cell in row[:2]) for row in rows)
    if len(rows) >= FEWEST_JUDGED and alone < ALONE_BY_CHANCE * len(rows):
        return True
    if first[0]:
        warn(
            f"the first line, {', '.join(first)}, is read as an edge, but it may be a header: no other line has its "
            "ids; pass header=True or header=False to read_graph, or name the columns source and target",
            LopsidedWarning,
        )
    return False


def _is_numeric_where_filled(column: int, rows: Sequence[list[str]]) -> bool:
    """Whether a column has numbers in some rows, with a decimal point or comma, and nothing in all others."""
    filled = [row[column] for row in rows if row[column]]
    return bool(filled) and all(map(_is_written_number, filled))


def _is_written_number(cell: str) -> bool:
    """Whether a cell is a number, with a decimal point or comma."""
    return is_number(cell) or WITH_COMMA.fullmatch(cell) is not None
