"""Load, faults, bad input and numerical truth: every promise of docs/reliability.md with its figure.

python -m soak                            all topics, the long profile (in the folder benchmarks)
python -m soak bad_input --examples 5000 --seconds 300
python -m soak bad_input --examples 5000 --seed 1 --more     add to the figures of the last run
python -m soak mutants --only nystrom     one room, beside the figures of the others
python -m soak --smoke                    a few cases of each, nothing kept
"""

from __future__ import annotations

from dataclasses import replace
from importlib import import_module

from common import parser, print_table, save

from .record import HEADINGS, NAME, Budget, Row, added, as_record, recorded, replaced, write_page

TOPICS = (
    "bad_input",
    "truth",
    "svds_matrices",
    "tolerance",
    "hostile_files",
    "determinism",
    "limits",
    "concurrency",
    "kills",
    "mutants",
)
SEED = 0
LONG = Budget(examples=100_000, seconds=3600)
SMOKE = Budget(examples=10, seconds=5, smoke=True)


def main() -> int:
    """Run the topics that were asked for; 1 if a promise was broken."""
    command = parser(__doc__, TOPICS)
    command.add_argument("--examples", type=int, default=LONG.examples, help="at most so many cases a topic")
    command.add_argument("--seconds", type=float, default=LONG.seconds, help="and about so long")
    command.add_argument("--seed", type=int, default=SEED, help="draws other cases")
    command.add_argument("--more", action="store_true", help="add to the last run instead of replacing it")
    command.add_argument("--only", default="", help="mutants: the room")
    options = command.parse_args()
    budget = SMOKE if options.smoke else Budget(options.examples, options.seconds)
    budget = replace(budget, seed=options.seed, only=options.only)
    found = {topic: _run(topic, budget, options.more) for topic in options.parts or TOPICS}
    rows = [row for each in found.values() for row in each]
    print_table("Promises, measured", HEADINGS, [row.cells for row in rows])
    for row in rows:
        for defect in row.defects:
            print(f"- {row.promise}: {defect}")
    if options.smoke:
        print("smoke run finished:", ", ".join(found))
    else:
        write_page(TOPICS)
    return int(not all(row.holds for row in rows))


def _run(topic: str, budget: Budget, more: bool) -> list[Row]:
    rows: list[Row] = import_module(f"soak.{topic}").rows(budget)
    if more:
        rows = added(recorded(topic), rows)
    elif budget.only:
        rows = replaced(recorded(topic), rows)
    if rows and not budget.smoke:
        save(NAME, {topic: as_record(rows)}, budget.seed)
    return rows


if __name__ == "__main__":
    raise SystemExit(main())
