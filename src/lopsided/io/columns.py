"""Which columns of a table hold the source, the target and the weight of its edges."""

import logging
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

Wanted = Mapping[str, str]  # names of columns given by the caller, by role

USUAL_NAMES = {
    "source": ("source", "src", "from"),
    "target": ("target", "dst", "tgt", "to"),
    "weight": ("weight", "w", "value", "weights", "count", "counts", "amount"),
}
ROLES = tuple(USUAL_NAMES)
DIRECTIONS = {  # names, also with "id" behind them, that say which end is which, but nothing of other columns
    "source": (*USUAL_NAMES["source"], "sender", "follower", "citing", "origin"),
    "target": (*USUAL_NAMES["target"], "receiver", "recipient", "followee", "followed", "cited", "destination", "dest"),
}
OF_NODES = re.compile(r"[ _-]?(id|node|node[ _-]?id)$")
TIMES = ("time", "timestamp", "date", "datetime", "year", "ts")  # names of a third column that is not a weight
NAMELESS = re.compile(r"(__index_level_\d+__|Unnamed: \d+)?")  # names that pandas gives to an unnamed index
LOGGER = "lopsided.io"
MOST_NAMES_SHOWN, LONGEST_NAME_SHOWN = 12, 60  # in an error message
UNIX_TIMES = (10**9, 2 * 10**9)  # seconds from 1970 to 2001 and to 2033


def choose_columns(names: Sequence[str], width: int, wanted: Wanted) -> list[int]:
    """Positions of source, target and, if there are any, weights: by the wanted or usual names, or else by order."""
    repeated = sorted(name for name, count in Counter(names).items() if count > 1 and not is_nameless(name))
    if repeated:
        raise ValueError(f"several of the columns {shown(names)} are called {shown(repeated)}; rename them")
    u, v, w = (_find(names, role, wanted.get(role)) for role in ROLES)
    weight = [] if w is None else [w]
    if u is None and v is None:
        ends = [i for i in range(width) if i != w and not (names and is_nameless(names[i]))]
        u, v = (_usual([_plain(name) for name in names], role, DIRECTIONS[role]) for role in DIRECTIONS)
        if u is not None and v is not None:
            ends.sort(key=lambda i: (i != u, i != v))
        if len(ends) == 3 and w is None and names and names[ends[2]].lower() in TIMES:
            return ends[:2]
        if len(ends) == 2 or (len(ends) == 3 and w is None):
            return ends + weight
    if u is not None and u == v:
        raise ValueError(f"source and target are the same column, {names[u]!r}; name two of {shown(names)}")
    if u is not None and v is not None:
        return [u, v, *weight]
    if not names:
        raise ValueError(
            f"the lines have {width} cells and no header, so it is unclear which are source, target and weight; give "
            "them by position: source='column 1', target='column 2', weight='column 3'"
        )
    raise ValueError(
        f"it is unclear which of the {width} columns {shown(names)} are source and target; name both: "
        "read_graph(table, source=..., target=...). Pass an adjacency matrix as an array"
    )


def has_usual_names(cells: Sequence[str]) -> bool:
    """Whether the cells name a source and a target."""
    plain = {_plain(cell) for cell in cells}
    return all(not plain.isdisjoint(names) for names in DIRECTIONS.values())


def _plain(name: str) -> str:
    """The name in lower case, without "id" or "node" behind it."""
    return OF_NODES.sub("", name.lower())


def log_columns(names: Sequence[str], place: Sequence[int]) -> None:
    """Log, at the level INFO of the logger lopsided.io, which columns of a table hold its edges, and which are unused.

    Nothing is logged of a table of source, target and perhaps weight, in which nothing had to be guessed.
    """
    if tuple(names) == ROLES[: len(names)]:
        return
    roles = ", ".join(f"{role} {names[j]!r}" for role, j in zip(ROLES, place, strict=False))
    unused = [name for j, name in enumerate(names) if j not in place]
    logging.getLogger(LOGGER).info("columns: %s%s", roles, f"; not used: {shown(unused)}" if unused else "")


def _find(names: Sequence[str], role: str, name: str | None) -> int | None:
    """Position of the column with the given name, or else with one of the usual names of its role."""
    if name is not None:
        if str(name) not in names:
            raise ValueError(f"{role}={name!r} is not among the columns {shown(names)}")
        return names.index(str(name))
    return _usual(names, role, USUAL_NAMES[role])


def _usual(names: Sequence[str], role: str, candidates: Sequence[str]) -> int | None:
    """Position of the column with the first of the candidates as its name."""
    lower = [other.lower() for other in names]
    usual = next((name for name in candidates if name in lower), None)
    if usual is not None and lower.count(usual) > 1:
        raise ValueError(f"several of the columns {shown(names)} could be the {role}; say which with {role}=...")
    return None if usual is None else lower.index(usual)


def shown(names: Sequence[str]) -> str:
    """The names in quotes, long ones cut short, without those in the middle if there are many."""
    few = list(names)
    if len(few) > MOST_NAMES_SHOWN:
        few[MOST_NAMES_SHOWN // 2 : -MOST_NAMES_SHOWN // 2] = []
    quoted = [repr(name if len(name) <= LONGEST_NAME_SHOWN else f"{name[:LONGEST_NAME_SHOWN]}...") for name in few]
    if len(few) < len(names):
        quoted.insert(MOST_NAMES_SHOWN // 2, "...")
    return ", ".join(quoted)


def is_nameless(name: str) -> bool:
    """Whether a column has no name, or the one that pandas gives to an unnamed index."""
    return NAMELESS.fullmatch(name) is not None


def by_position(width: int) -> list[str]:
    """The names of the columns of a text file that has no header."""
    return [f"column {j + 1}" for j in range(width)]


def reject_matrix(names: Sequence[str], labels: Sequence[Any]) -> None:
    """Raise an error if the first column of a table, ``labels``, repeats the names of the others: a matrix with ids."""
    with_corner = len(names) > 2 and (is_nameless(names[0]) or not is_number(names[-1]))
    if with_corner and list(map(str, labels)) == list(names[1:]):
        raise ValueError(
            "the table is an adjacency matrix, with ids in its first row and column, and not a list of edges; pass "
            "table.set_index(table.columns[0]), or pandas.read_csv(path, index_col=0) of a file"
        )


def are_times(values: np.ndarray) -> bool:
    """Whether all values are whole seconds, or milliseconds, of this century, as times in files are."""
    if not len(values) or not np.isfinite(values).all() or (values % 1).any():
        return False
    return any(unit * UNIX_TIMES[0] <= values.min() <= values.max() <= unit * UNIX_TIMES[1] for unit in (1, 1000))


def is_time(name: str, values: np.ndarray) -> bool:
    """Whether a column is named like a time, or holds Unix times."""
    return name.lower() in TIMES or are_times(values)


def is_number(cell: Any) -> bool:
    """Whether a cell is a real number or text that spells one, which 1_000 does not."""
    if np.iscomplexobj(cell) or isinstance(cell, (np.ndarray, np.datetime64, np.timedelta64)):
        return False
    try:
        float(cell)
    except (TypeError, ValueError, OverflowError):
        return False
    return not (isinstance(cell, str) and "_" in cell)
