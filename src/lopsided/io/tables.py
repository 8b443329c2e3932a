"""Columns of tables, from files."""

import csv
from collections.abc import Callable, Sequence
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .columns import by_position, is_number, shown
from .files import JUDGED_LINES, imported_pyarrow, parse, read_parquet, read_text, separator_of
from .text import Text, decimal_sign

Choice = Callable[[list[str]], Sequence[str]]  # from the names of columns to those of some

WHOLE = "^(0|-?[1-9][0-9]*)$"  # an integer in canonical form, which 007 is not


def read_columns(path: Path, ids: Choice = lambda names: ()) -> dict[str, np.ndarray]:
    """The columns of a CSV, TSV or Parquet file by name; numbers as numbers, missing ones as nan, all else as strings.

    Those that ``ids`` chooses are read as ids are by ``read_graph``: 007 in a text file is not 7.

    The first line of a text file is a header if none of its cells is a number, or occurs again in its column; otherwise
    columns are named by position, "column 1" and so on.
    """
    separator, pyarrow = separator_of(path), imported_pyarrow()
    try:
        table = read_parquet(path) if separator is None else _parsed(read_text(path, separator), ids)
        return {name: table[name].to_numpy() for name in table.column_names}
    except FileNotFoundError:
        raise
    except (OSError, ValueError, csv.Error, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from error


def _parsed(text: Text, ids: Choice) -> Any:
    """The table of a text, with its header if it has one."""
    rows = [cells for _, cells in islice(text.lines(), JUDGED_LINES)]
    if not rows:
        raise ValueError("the file is empty")
    has_header = not any(is_number(cell) or _recurs(cell, j, rows[1:]) for j, cell in enumerate(rows[0]))
    names = rows[0] if has_header else by_position(len(rows[0]))
    if len(set(names)) < len(names):
        raise ValueError(f"several of the columns {shown(names)} have the same name; rename them")
    pyarrow, chosen = imported_pyarrow(), ids(names)
    table = parse(
        text,
        names,
        int(has_header),
        column_types=dict.fromkeys(chosen, pyarrow.string()),
        strings_can_be_null=True,
        null_values=["", "NA", "NaN", "nan"],
        decimal_point=decimal_sign(text, rows),
    )
    columns = dict(zip(table.column_names, table.columns, strict=True))
    strings = {name: cells for name, cells in columns.items() if cells.type == pyarrow.string()}
    columns |= {name: pyarrow.compute.utf8_trim_whitespace(cells) for name, cells in strings.items()}
    return pyarrow.table(columns | {name: _whole_numbers(columns[name]) for name in chosen})


def _whole_numbers(ids: Any) -> Any:
    """A column of strings as integers, if all of them are integers that fit."""
    pyarrow = imported_pyarrow()
    if ids.null_count or not pyarrow.compute.all(pyarrow.compute.match_substring_regex(ids, WHOLE)).as_py():
        return ids
    try:
        return ids.cast(pyarrow.int64())
    except pyarrow.ArrowInvalid:
        return ids


def _recurs(cell: str, column: int, rows: list[list[str]]) -> bool:
    """Whether a cell is also in another row of its column, as names of columns are not."""
    return cell != "" and any(row[column : column + 1] == [cell] for row in rows)
