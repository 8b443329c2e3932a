"""Header detection in text files of edges."""

from __future__ import annotations

from collections.abc import Container
from pathlib import Path
from typing import Any

from ..exceptions import LopsidedWarning, warn

NAMES = {
    "source": ("source", "src", "from"),
    "target": ("target", "dst", "to"),
    "weight": ("weight", "w", "value"),
}


def has_header(
    rows: list[list[str]], path: Path, wanted: set[str | None], header: bool | None, known: Container[Any]
) -> bool:
    """Whether the first row is a header: as stated by ``header``, or judged from its cells; warns if undecidable."""
    if header is not None:
        return header
    if not wanted.isdisjoint(rows[0]):
        return True
    if any(cell in known for cell in rows[0][:2]):
        return False
    if _is_header(rows):
        return True
    if wanted == {None} and _may_be_header(rows):
        warn(
            f"the first line of {str(path)!r}, {', '.join(rows[0])}, is read as an edge, but it may be a header: no "
            "other line has its ids; say which by read_graph(path, header=True) or header=False, or name the columns "
            "source and target",
            LopsidedWarning,
        )
    return False


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row holds the usual column names, or no numbers although some column is otherwise numeric.

    The first cell may be empty, as pandas writes it above an index. Ids such as paper-7 count as numeric: the first row
    is also a header if its first two cells contain no digit while both ids of every other row do.
    """
    first = [cell.lower() for cell in rows[0]]
    if set(first) & set(NAMES["source"]) and set(first) & set(NAMES["target"]):
        return True
    if len(rows) < 2 or not all(first[1:]) or any(map(is_number, first)):
        return False
    numeric = [all(is_number(row[j]) for row in rows[1:]) for j in range(len(first))]
    if any(numeric[2:]):
        return True
    if rows[0][0] and any(cell in rows[0][:2] for row in rows[1:] for cell in row[:2]):
        return False  # an id of other edges, which column names are not
    if any(numeric):
        return True
    numbered = all(map(_has_digit, (cell for row in rows[1:] for cell in row[:2])))
    return numbered and not any(map(_has_digit, first[:2]))


def _may_be_header(rows: list[list[str]]) -> bool:
    """Whether the first two cells are text that occurs in no other edge, as column names would be."""
    first = rows[0][:2]
    if len(rows) < 2 or not all(first) or any(map(is_number, first)):
        return False
    return not any(cell in first for row in rows[1:] for cell in row[:2])


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or text that parses as one."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
