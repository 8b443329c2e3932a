"""Which columns of a table hold the source, the target and the weight of its edges."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any, NamedTuple

USUAL_NAMES = {
    "source": ("source", "src", "from"),
    "target": ("target", "dst", "to"),
    "weight": ("weight", "w", "value"),
}
NAMELESS = re.compile(r"(__index_level_\d+__|Unnamed: \d+)?")  # names that pandas gives to an unnamed index
MOST_NAMES_SHOWN = 12  # in an error message


class ColumnNames(NamedTuple):
    """Names of columns given by the caller; None means the usual names or the order of the columns."""

    source: str | None = None
    target: str | None = None
    weight: str | None = None

    def given(self) -> set[str]:
        """The names that are not None, as text."""
        return {str(name) for name in self if name is not None}


class Positions(NamedTuple):
    """Positions of the columns of sources, targets and weights."""

    source: int
    target: int
    weight: int | None


def choose_columns(names: Sequence[str], width: int, wanted: ColumnNames) -> Positions:
    """Positions of the three columns: by the wanted or the usual names, or else by their order."""
    repeated = sorted({name for name in names if names.count(name) > 1 and not NAMELESS.fullmatch(name)})
    if repeated:
        raise ValueError(f"columns {repeated} appear more than once in {shown(names)}; rename them")
    u, v, w = (_find(names, role, name) for role, name in wanted._asdict().items())
    ends = [i for i in range(width) if i != w and not (names and NAMELESS.fullmatch(names[i]))]
    if u is None and v is None and len(ends) == 2:
        return Positions(ends[0], ends[1], w)
    if u is None and v is None and len(ends) == 3 and w is None:
        return Positions(*ends)
    if u is not None and u == v:
        raise ValueError(f"source and target are the same column, {names[u]!r}; name two of {shown(names)}")
    if (u is None or v is None) and not names:
        raise ValueError(
            f"the lines have {width} cells and no header, so it is unclear which are source, target and weight; add a "
            "header to the file, or pass a DataFrame with these columns"
        )
    if u is None or v is None:
        raise ValueError(
            f"it is unclear which of the {width} columns {shown(names)} are source and target; name them: "
            "read_graph(table, source=..., target=...). Pass an adjacency matrix as an array"
        )
    return Positions(u, v, w)


def has_usual_names(cells: Sequence[str]) -> bool:
    """Whether the cells name a source and a target."""
    lower = {cell.lower() for cell in cells}
    return all(not lower.isdisjoint(USUAL_NAMES[role]) for role in ("source", "target"))


def _find(names: Sequence[str], role: str, name: str | None) -> int | None:
    """Position of the column with the given name, or else with one of the usual names of its role."""
    if name is not None:
        if str(name) not in names:
            raise ValueError(f"{role}={name!r} is not among the columns {shown(names)}")
        return names.index(str(name))
    lower = [other.lower() for other in names]
    usual = next((usual for usual in USUAL_NAMES[role] if usual in lower), None)
    if usual is not None and lower.count(usual) > 1:
        raise ValueError(f"several of the columns {shown(names)} could be the {role}; say which with {role}=...")
    return None if usual is None else lower.index(usual)


def shown(names: Sequence[str]) -> str:
    """The names as a list, cut off after a few."""
    few = str(list(names[:MOST_NAMES_SHOWN]))
    return few if len(names) <= MOST_NAMES_SHOWN else f"{few[:-1]}, ...]"


def is_number(cell: Any) -> bool:
    """Whether a cell is a number, or text that parses as one."""
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return True
