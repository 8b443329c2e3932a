"""Which columns of a table hold the source, the target and the weight of its edges."""

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Wanted = Mapping[str, str]  # names of columns given by the caller, by role

USUAL_NAMES = {
    "source": ("source", "src", "from"),
    "target": ("target", "dst", "to"),
    "weight": ("weight", "w", "value"),
}
ROLES = tuple(USUAL_NAMES)
NAMELESS = re.compile(r"(__index_level_\d+__|Unnamed: \d+)?")  # names that pandas gives to an unnamed index
MOST_NAMES_SHOWN = 12  # in an error message


def choose_columns(names: Sequence[str], width: int, wanted: Wanted) -> list[int]:
    """Positions of source, target and, if there are any, weights: by the wanted or usual names, or else by order."""
    repeated = sorted(name for name, count in Counter(names).items() if count > 1 and not NAMELESS.fullmatch(name))
    if repeated:
        raise ValueError(f"columns {shown(repeated)} appear more than once in {shown(names)}; rename them")
    u, v, w = (_find(names, role, wanted.get(role)) for role in ROLES)
    weight = [] if w is None else [w]
    if u is None and v is None:
        ends = [i for i in range(width) if i != w and not (names and NAMELESS.fullmatch(names[i]))]
        if len(ends) == 2 or (len(ends) == 3 and w is None):
            return ends + weight
    if u is not None and u == v:
        raise ValueError(f"source and target are the same column, {names[u]!r}; name two of {shown(names)}")
    if u is not None and v is not None:
        return [u, v, *weight]
    if not names:
        raise ValueError(
            f"the lines have {width} cells and no header, so it is unclear which are source, target and weight; add a "
            "header to the file, or pass a DataFrame with these columns"
        )
    raise ValueError(
        f"it is unclear which of the {width} columns {shown(names)} are source and target; name them: "
        "read_graph(table, source=..., target=...). Pass an adjacency matrix as an array"
    )


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
    """Whether a cell is a real number or text that spells one, which 1_000 does not."""
    if np.iscomplexobj(cell) or isinstance(cell, (np.ndarray, np.datetime64, np.timedelta64)):
        return False
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return not (isinstance(cell, str) and "_" in cell)
