"""Whether the first line of a text file of edges is a header."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from ..exceptions import LopsidedWarning, warn

DIGIT = re.compile(r"\d")


def is_header(first: Sequence[str], ids: set[str], numeric: Sequence[bool], path: Path) -> bool:
    """Whether the first line names the columns of the lines below it; warns if this cannot be decided.

    None of its cells is a number. It is a header if some column is otherwise numeric, or if it has no digit although
    all ids have one. The first cell may be empty, as pandas writes it above an index. An id of another line makes it an
    edge, unless a column beyond the first two is numeric.

    ``ids`` are those of all other lines, and ``numeric`` says which columns hold numbers in all other lines.
    """
    if not ids or not all(first[1:]):
        return False
    if any(numeric[2:]):
        return True
    if first[0] and not ids.isdisjoint(first[:2]):
        return False
    if any(numeric) or (all(map(DIGIT.search, ids)) and not any(map(DIGIT.search, first[:2]))):
        return True
    if first[0]:
        warn(
            f"the first line of {str(path)!r}, {', '.join(first)}, is read as an edge, but it may be a header: no "
            "other line has its ids; pass header=True or header=False to read_graph, or name the columns source and "
            "target",
            LopsidedWarning,
        )
    return False
