"""What a topic is given and what it returns, and the table of all of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from common import RESULTS, ROOT, stored

NAME = "soak"
PAGE = ROOT / "docs" / "reliability.md"
MEASURED, REMARKS = "measured", "remarks"  # parts of the page that are written from the record
MOST_DEFECTS = 50  # descriptions that are kept of one promise
HEADINGS = ("promise", "cases", "worst", "limit", "seconds")


@dataclass(frozen=True)
class Budget:
    """How much a topic may try: it stops at either bound, and every topic tries something within any budget."""

    examples: int
    seconds: float
    smoke: bool = False
    seed: int = 0  # of what is drawn; the record keeps it
    only: str = ""  # part of the name of what to try, for topics that have names to choose from

    def share(self, examples: float, seconds: float) -> Budget:
        """Fractions of this budget, for a part of a topic."""
        return Budget(max(1, int(self.examples * examples)), self.seconds * seconds, self.smoke, self.seed, self.only)


@dataclass(frozen=True)
class Row:
    """One promise: how many cases were tried, the worst figure among them, what it may be, and the time it took.

    A worst figure is a number, compared with the limit, or a word. ``defects`` are descriptions of cases that break
    the promise, ``remarks`` of cases that are worth listing although they do not.
    """

    promise: str
    cases: int
    worst: float | str
    limit: float | str
    seconds: float
    defects: tuple[str, ...] = ()
    remarks: tuple[str, ...] = ()

    @property
    def holds(self) -> bool:
        """Whether the promise was kept in all cases."""
        measured = isinstance(self.worst, (int, float)) and isinstance(self.limit, (int, float))
        return not self.defects and (not measured or self.worst <= self.limit)

    @property
    def cells(self) -> list[object]:
        """The row of the table, in the order of HEADINGS."""
        worst = self.worst if self.holds else f"**{_figure(self.worst)}**"
        return [self.promise, f"{self.cases:,}", _figure(worst), _figure(self.limit), f"{self.seconds:.0f}"]


def _figure(value: float | str) -> str:
    return value if isinstance(value, str) else f"{value:,}" if isinstance(value, int) else f"{value:.3g}"


def timed(promise: str, limit: float | str, check: Callable[[], tuple[int, float | str, Sequence[str]]]) -> Row:
    """The row of a check that returns the number of cases, the worst figure and the defects."""
    start = time.perf_counter()
    cases, worst, defects = check()
    return Row(promise, cases, worst, limit, time.perf_counter() - start, tuple(defects[:MOST_DEFECTS]))


def as_record(rows: Sequence[Row]) -> list[dict[str, Any]]:
    """Rows as the record keeps them."""
    return [{**asdict(row), "defects": list(row.defects), "remarks": list(row.remarks)} for row in rows]


def recorded(topic: str) -> list[Row]:
    """Rows of the last run of a topic."""
    texts = ("defects", "remarks")
    rows = stored(NAME, topic) or []
    return [Row(**{**row, **{name: tuple(row.get(name, ())) for name in texts}}) for row in rows]


def added(rows: Sequence[Row], more: Sequence[Row]) -> list[Row]:
    """Rows of a run in pieces: cases and seconds add up, the worst counts, all defects are kept."""
    if not rows:
        return list(more)
    return [
        replace(
            old,
            cases=old.cases + new.cases,
            worst=max(old.worst, new.worst),
            seconds=old.seconds + new.seconds,
            defects=old.defects + new.defects,
            remarks=old.remarks + new.remarks,
        )
        for old, new in zip(rows, more, strict=True)
    ]


def replaced(rows: Sequence[Row], some: Sequence[Row]) -> list[Row]:
    """Rows of a run with those of a later run of a part of it."""
    found = {row.promise: row for row in (*rows, *some)}
    return list(found.values())


def write_page(topics: Sequence[str]) -> None:
    """Put the last figures and remarks of every topic between the marks of docs/reliability.md."""
    if not (RESULTS / f"{NAME}.json").exists():
        return
    found = {topic: recorded(topic) for topic in topics}
    text = _with_part(PAGE.read_text(), MEASURED, _table(found))
    remarks = [f"- {each}" for rows in found.values() for row in rows for each in row.remarks]
    PAGE.write_text(_with_part(text, REMARKS, "\n".join(remarks) + "\n"))


def _with_part(text: str, name: str, part: str) -> str:
    """A page with another text between the marks of a part."""
    begin, end = f"<!-- {name}: make soak -->\n", f"<!-- end of {name} -->"
    before, rest = text.split(begin)
    return before + begin + part + end + rest.split(end)[1]


def _table(found: dict[str, list[Row]]) -> str:
    lines = ["| topic | " + " | ".join(HEADINGS) + " |", "|---" * (1 + len(HEADINGS)) + "|"]
    for topic, rows in found.items():
        lines += ["| " + " | ".join([f"`{topic}`", *map(str, row.cells)]) + " |" for row in rows]
    return "\n".join(lines) + "\n"
