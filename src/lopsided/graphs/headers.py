"""Whether the first line of a text file of edges is a header."""

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
    """Whether the first row is a header: because it is said, or by what it holds; a warning where nothing tells."""
    if header is not None:
        return header
    if not wanted.isdisjoint(rows[0]) or _is_header(rows):
        return True
    if wanted == {None} and _may_be_header(rows) and not any(cell in known for cell in rows[0][:2]):
        warn(
            f"the first line of {str(path)!r}, {', '.join(rows[0])}, is read as an edge, but it may be a header: no "
            "other line has its ids; say which by read_graph(path, header=True) or header=False, or name the columns "
            "source and target",
            LopsidedWarning,
        )
    return False


def _is_header(rows: list[list[str]]) -> bool:
    """Whether the first row names the columns, or is without numbers where some column has nothing else.

    Its first cell may be empty, as pandas writes it above an index. Ids like paper-7 are numbers in this regard: the
    first row is a header if it has no digit and names no node, where each end of every edge has digits.
    """
    first = [cell.lower() for cell in rows[0]]
    if set(first) & set(NAMES["source"]) and set(first) & set(NAMES["target"]):
        return True
    if len(rows) < 2 or not all(first[1:]) or any(map(is_number, first)):
        return False
    if any(all(is_number(row[j]) for row in rows[1:]) for j in range(len(first))):
        return True
    numbered = all(map(_has_digit, (cell for row in rows[1:] for cell in row[:2])))
    return numbered and not any(map(_has_digit, first[:2]))


def _may_be_header(rows: list[list[str]]) -> bool:
    """Whether the ends of the first edge are texts that no other edge has, as names of columns are."""
    first = rows[0][:2]
    if len(rows) < 2 or not all(first) or any(map(is_number, first)):
        return False
    return not any(cell in first for row in rows[1:] for cell in row[:2])


def _has_digit(cell: str) -> bool:
    return any(map(str.isdigit, cell))


def is_number(cell: Any) -> bool:
    """Whether it is one, or a text that is written as one."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
