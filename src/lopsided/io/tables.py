"""Columns of tables, from files."""

import csv
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .columns import by_position, is_number, shown
from .files import JUDGED_LINES, imported_pyarrow, parse, read_parquet, read_text, separator_of
from .text import Text, decimal_sign


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """The columns of a CSV, TSV or Parquet file by name; numbers as numbers, missing ones as nan, all else as strings.

    The first line of a text file is a header if none of its cells is a number, or occurs again in its column; otherwise
    columns are named by position, "column 1" and so on.
    """
    separator, pyarrow = separator_of(path), imported_pyarrow()
    try:
        table = read_parquet(path) if separator is None else _parsed(read_text(path, separator))
        return {name: table[name].to_numpy() for name in table.column_names}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, csv.Error, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from error


def _parsed(text: Text) -> Any:
    """The table of a text, with its header if it has one."""
    rows = [cells for _, cells in islice(text.lines(), JUDGED_LINES)]
    if not rows:
        raise ValueError("the file is empty")
    has_header = not any(is_number(cell) or _recurs(cell, j, rows[1:]) for j, cell in enumerate(rows[0]))
    names = rows[0] if has_header else by_position(len(rows[0]))
    if len(set(names)) < len(names):
        raise ValueError(f"several of the columns {shown(names)} have the same name; rename them")
    return parse(
        text,
        names,
        int(has_header),
        strings_can_be_null=True,
        null_values=["", "NA", "NaN", "nan"],
        decimal_point=decimal_sign(text, rows),
    )


def _recurs(cell: str, column: int, rows: list[list[str]]) -> bool:
    """Whether a cell is also in another row of its column, as names of columns are not."""
    return cell != "" and any(row[column : column + 1] == [cell] for row in rows)
