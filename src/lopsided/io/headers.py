"""Whether the first line of a text file of edges is a header."""

from __future__ import annotations

import re
from collections.abc import Container, Sequence
from pathlib import Path
from typing import Any

from ..exceptions import LopsidedWarning, warn
from .columns import has_usual_names, is_number

DIGIT = re.compile(r"\d")


def is_header(first: list[str], rows: Sequence[list[str]], known: Container[Any], path: Path) -> bool:
    """Whether the first line names the columns of the rows below it; warns if this cannot be decided.

    It is a header if it has the usual names, or if it has no number although some column is otherwise numeric, or no
    digit although all ids have one. The first cell may be empty, as pandas writes it above an index. A known id, or an
    id of another row, makes it an edge, unless a column beyond the first two is numeric.
    """
    if any(cell in known for cell in first[:2]):
        return False
    if has_usual_names(first):
        return True
    rows = [row for row in rows if len(row) >= len(first)]
    if not rows or not all(first[1:]) or any(map(is_number, first)):
        return False
    numeric = [all(is_number(row[j]) for row in rows) for j in range(len(first))]
    if any(numeric[2:]):
        return True
    ids = {cell for row in rows for cell in row[:2]}
    if first[0] and not ids.isdisjoint(first[:2]):
        return False
    if any(numeric) or (all(map(DIGIT.search, ids)) and not any(map(DIGIT.search, first[:2]))):
        return True
    if first[0]:
        warn(
            f"the first line of {str(path)!r}, {', '.join(first)}, is read as an edge, but it may be a header: none of "
            f"the next {len(rows)} lines has its ids; pass header=True or header=False to read_graph, or name the "
            "columns source and target",
            LopsidedWarning,
        )
    return False
