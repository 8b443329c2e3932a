"""Read edges from tables and from CSV, TSV, Parquet and edge-list files."""

from __future__ import annotations

import ast
import csv
import gzip
import os
import re
from collections.abc import Container, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._core import FLOATS
from ..exceptions import LopsidedWarning, warn
from .headers import NAMES, has_header, is_number
from .ids import LARGEST, as_ids, is_missing

SPACES = " "
DELIMITERS = {".csv": ",", ".tsv": "\t", ".edgelist": SPACES, ".edges": SPACES, ".txt": SPACES}
COMMENT = "#"
LIKE_AN_ID = re.compile(rf"\s*{COMMENT}\w")  # the begin of a hashtag, not of a usual comment
MOST_NAMED = 12  # columns listed in an error message
SEPARATORS = ",;|\t"  # of cells, in files whose extension may promise another
NAMELESS = re.compile(r"(__index_level_\d+__|Unnamed: \d+)?")  # names that pandas gives to an unnamed index
QUOTED = '"(?:[^"]|"")*+'  # a quoted cell up to, but without, its closing quote
NUMPY = re.compile(r"\bnp\.\w+\(([^()]*)\)")  # a numpy scalar in a dict, as networkx writes it: np.float64(2.5)
ENCODING = "utf-8-sig"  # drops the byte order mark of spreadsheets, which would join the first column name


class Edges(NamedTuple):
    """Source ids, target ids and weights of edges, as three arrays of equal length."""

    source: np.ndarray
    target: np.ndarray
    weight: np.ndarray


def read_edges(
    table: Any,
    *,
    source: str | None = None,
    target: str | None = None,
    weight: str | None = None,
    header: bool | None = None,
    known: Container[Any] = (),
) -> Edges:
    """Read the edges of a table or of a file; parameters as in ``read_graph``. Ids from text files are strings.

    A first line that contains a known id is read as an edge, unless its columns are named by the caller.
    """
    if isinstance(table, (str, os.PathLike)):
        names, columns = _read_file(Path(table), {source, target, weight}, header, known)
    else:
        names, columns = _table_columns(table)
    left, right, value = _choose_columns(names, len(columns), source, target, weight)
    u, v = _checked_ids(columns[left], "source"), _checked_ids(columns[right], "target")
    return Edges(u, v, np.ones(len(u)) if value is None else checked_weights(columns[value]))


def is_path_or_table(graph: Any) -> bool:
    """Whether graph is a path, or a pandas, polars or pyarrow table."""
    if isinstance(graph, (str, os.PathLike)):
        return True
    if hasattr(graph, "collect_schema") and hasattr(graph, "collect"):
        raise TypeError("a LazyFrame of polars holds no edges yet; give graph.collect()")
    return hasattr(graph, "columns") and (hasattr(graph, "to_numpy") or hasattr(graph, "column_names"))


def _table_columns(table: Any) -> tuple[list[str], list[Any]]:
    if hasattr(table, "column_names"):  # pyarrow
        return list(table.column_names), [column.to_numpy(zero_copy_only=False) for column in table.columns]
    names = [str(name) for name in table.columns]
    if hasattr(table, "iloc"):
        numbers = all(kind.kind in "biuf" for kind in table.dtypes)
        if numbers and len(table) == len(names) and list(table.index) == list(table.columns):
            raise ValueError(
                f"rows and columns of the table have the same labels, {_few(names)}, and it may be an adjacency, which "
                "is given as Graph(table.to_numpy(), table.columns); edges have columns called source and target"
            )
        return names, [table.iloc[:, i].to_numpy() for i in range(len(names))]
    return names, [table[name].to_numpy() for name in names]


def _kind(path: Path) -> str:
    """The lower-case file extension, ignoring .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def is_text(table: Any) -> bool:
    """Whether table is a path to a text file, from which all ids are read as strings."""
    return isinstance(table, (str, os.PathLike)) and _kind(Path(table)) in DELIMITERS


def _read_file(
    path: Path, wanted: set[str | None], header: bool | None, known: Container[Any]
) -> tuple[list[str], list[Any]]:
    kind = _kind(path)
    if kind == ".parquet":
        return _read_parquet(path)
    if kind not in DELIMITERS:
        raise ValueError(
            f"{path.name!r} ends with {kind or 'nothing'!r}, not with one of {', '.join([*DELIMITERS, '.parquet'])}"
        )
    try:
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rt", encoding=ENCODING, newline="") as file:
            if DELIMITERS[kind] == SPACES:
                rows = [_split(line, number) for number, line in enumerate(file, 1) if _counts(line)]
            else:
                rows = list(csv.reader(list(_records(file, DELIMITERS[kind])), delimiter=DELIMITERS[kind]))
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, SyntaxError, csv.Error) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error
    return _parsed(rows, path, wanted, header, known)


def _read_parquet(path: Path) -> tuple[list[str], list[Any]]:
    try:
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("Parquet files are read by pyarrow: pip install 'lopsided[graph]'") from error
    try:
        return _table_columns(pyarrow.parquet.read_table(path))
    except FileNotFoundError:
        raise
    except (OSError, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error


def _counts(line: str) -> bool:
    """Whether a line is neither blank nor a comment."""
    return bool(line.strip()) and not line.lstrip().startswith(COMMENT)


def _records(lines: Iterable[str], delimiter: str) -> Iterator[str]:
    """Yield the lines that are neither blank nor comments, and every line inside a quoted cell."""
    rest = f"[^{delimiter}]*+"
    cell = f'(?:{QUOTED}"{rest}|(?!"){rest})'
    ends_quoted = re.compile(f"(?:{cell}{delimiter})*+{QUOTED}")  # a quote only opens a cell at its start
    within = re.compile(QUOTED)
    opened = 0  # 1-based number of the line whose quote is still open
    begun, suspects = False, []
    for number, line in enumerate(lines, 1):
        if begun and not opened and LIKE_AN_ID.match(line) and delimiter in line:
            suspects.append(number)
        if opened or _counts(line):
            if '"' in line:
                before = '"' if opened else ""
                if not ends_quoted.fullmatch(before + line):
                    opened = 0
                elif not (opened and within.fullmatch(before + line)):
                    opened = number
            begun = True
            yield line
    if suspects:
        warn(
            f"{len(suspects)} lines are left out as comments, the first of them line {suspects[0]}, but look like "
            f"edges of ids that begin with {COMMENT}; put quotes around such ids, or give pandas.read_csv(path)",
            LopsidedWarning,
        )
    if opened:
        raise ValueError(f"line {opened} opens a quote that is never closed; close it, or leave it out")


def _split(line: str, number: int) -> list[str]:
    """Split at whitespace; a trailing networkx dict becomes its weight: {'weight': 2.0} becomes 2.0, and {} 1."""
    head, brace, attributes = line.partition("{")
    cells = head.split()
    if brace:
        try:
            found = ast.literal_eval(NUMPY.sub(r"\1", brace + attributes.strip()))
            cells.append(str(found.get("weight", 1)))
        except (AttributeError, ValueError, SyntaxError) as error:
            raise ValueError(
                f"line {number} ends with {brace + attributes.strip()!r}, which is no dict of plain values as networkx "
                "writes it; write_weighted_edgelist writes the weight alone"
            ) from error
    return cells


def _parsed(
    rows: list[list[str]], path: Path, wanted: set[str | None], header: bool | None, known: Container[Any]
) -> tuple[list[str], list[np.ndarray]]:
    """Column names (empty without a header) and columns of a text file; a first row with a wanted name is a header."""
    rows = [[cell.strip() for cell in row] for row in rows]
    _check_separator(rows, path)
    width = max(2, len(rows[0])) if rows else 2
    wrong = next((i for i, row in enumerate(rows) if len(row) != width), None)
    if wrong is not None:
        raise ValueError(
            f"row {wrong + 1} of {str(path)!r} has {len(rows[wrong])} cells, {rows[wrong][:4]}, where there should be "
            f"{width}: a source, a target and perhaps a weight"
        )
    while width > 2 and not any(row[width - 1] for row in rows):
        width -= 1
    rows = [row[:width] for row in rows]
    names: list[str] = []
    if rows and has_header(rows, path, wanted, header, known):
        names, rows = rows[0], rows[1:]
    elif rows and wanted != {None}:
        missing = ", ".join(sorted(repr(name) for name in wanted - {None}))
        raise ValueError(f"the first line of {str(path)!r}, {rows[0]}, has none of the columns {missing}")
    return names, [np.array([row[j] for row in rows], dtype=object) for j in range(width)]


def _check_separator(rows: list[list[str]], path: Path) -> None:
    """Reject cells separated otherwise than the extension says: a,b as one cell, or a, b at a space in every row."""
    alone = rows[0][0] if rows and len(rows[0]) == 1 else ""
    ends = {row[0][-1:] for row in rows}
    found = next((separator for separator in SEPARATORS if separator in alone or ends == {separator}), None)
    if found is not None:
        raise ValueError(
            f"{str(path)!r} separates cells by {found!r}, as in {' '.join(rows[0])!r}, but {_kind(path)} stands for "
            f"{DELIMITERS[_kind(path)]!r}; give pandas.read_csv(path, sep={found!r}, skipinitialspace=True) instead"
        )


def as_whole_numbers(*columns: np.ndarray) -> Sequence[np.ndarray]:
    """Convert string columns to integers if every cell is one."""
    every = all(is_whole(cell) for column in columns for cell in column)
    return [column.astype(np.int64) for column in columns] if every else columns


def is_whole(cell: str) -> bool:
    """Whether a string is a 64-bit integer in canonical form, which 007 is not."""
    return cell.removeprefix("-").isdecimal() and str(int(cell)) == cell and abs(int(cell)) <= LARGEST


def _choose_columns(
    names: list[str], width: int, source: str | None, target: str | None, weight: str | None
) -> tuple[int, int, int | None]:
    """Positions of the source, target and weight columns."""
    repeated = sorted({name for name in names if names.count(name) > 1 and not NAMELESS.fullmatch(name)})
    if repeated:
        raise ValueError(f"columns {repeated} appear more than once in {_few(names)}; rename them")
    u, v, w = _find(names, "source", source), _find(names, "target", target), _find(names, "weight", weight)
    ends = [i for i in range(width) if i != w and not (names and NAMELESS.fullmatch(names[i]))]
    if u is None and v is None and len(ends) == 2:
        return ends[0], ends[1], w
    if u is None and v is None and len(ends) == 3 and w is None:
        return ends[0], ends[1], ends[2]
    if u is not None and u == v:
        raise ValueError(f"source and target are the same column, {names[u]!r}; name two of {_few(names)}")
    if (u is None or v is None) and not names:
        raise ValueError(
            f"the lines have {width} cells and no header, and so do not tell source, target and weight of the edges; "
            "give a pandas.DataFrame of these columns, or a file with a header"
        )
    if u is None or v is None:
        raise ValueError(
            f"the {width} columns {_few(names)} do not tell source and target of the edges; call them so, or name "
            "them: read_graph(table, source=..., target=...); an adjacency is given as an array"
        )
    return u, v, w


def _find(names: Sequence[str], role: str, name: str | None) -> int | None:
    """Position of the column with the given name, or else with one of the usual names of its role."""
    if name is not None:
        if str(name) not in names:
            raise ValueError(f"{role}={name!r} is not among the columns {_few(names)}")
        return names.index(str(name))
    lower = [other.lower() for other in names]
    usual = next((usual for usual in NAMES[role] if usual in lower), None)
    if usual is not None and lower.count(usual) > 1:
        raise ValueError(f"the columns {_few(names)} name the {role} more than once; say which by {role}=...")
    return None if usual is None else lower.index(usual)


def _few(names: Sequence[str]) -> str:
    """The names as a list, cut off after a few."""
    return str(list(names)) if len(names) <= MOST_NAMED else f"{str(list(names[:MOST_NAMED]))[:-1]}, ...]"


def _checked_ids(column: Any, side: str) -> np.ndarray:
    if np.ndim(column) > 1:
        raise TypeError(f"ids of nodes must be hashable, like numbers, texts and tuples; a {side} has several values")
    ids = as_ids(column)
    if ids.dtype == object:
        missing = next((i for i, node in enumerate(ids.tolist()) if is_missing(node) or _is_empty(node)), None)
        if missing is not None:
            raise ValueError(f"edge {missing} has no {side}; drop it, or name the node")
    return ids


def _is_empty(node: Any) -> bool:
    return isinstance(node, str) and not node


def checked_weights(column: Any) -> np.ndarray:
    """Check that weights are finite real numbers, and return them as floats."""
    try:
        weights = np.asarray(column)
        if weights.dtype.kind in "mMc" or weights.ndim > 1:
            raise TypeError(f"these are of type {weights.dtype}")
        weights = weights if weights.dtype in FLOATS else weights.astype(float)
    except (TypeError, ValueError, OverflowError) as error:
        first = next((f"edge {i} has {w!r}" for i, w in enumerate(column) if not _is_real(w)), str(error))
        raise ValueError(f"weights of edges must be real numbers: {first}") from error
    wrong = np.flatnonzero(~np.isfinite(weights))
    if len(wrong):
        raise ValueError(f"edge {wrong[0]} has the weight {weights[wrong[0]]}; weights must be finite numbers")
    return weights


def _is_real(weight: Any) -> bool:
    one = isinstance(weight, str) or not np.iterable(weight)
    return one and not np.iscomplexobj(weight) and is_number(weight)
