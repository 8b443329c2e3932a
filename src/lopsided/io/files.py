"""Edges in CSV, TSV, edge-list and Parquet files, read by pyarrow; the only file that imports it."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Container, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from .columns import ColumnNames, Positions, choose_columns, has_usual_names, is_number
from .headers import is_header
from .ids import Ends
from .text import SPACES, Text, check_lines, check_quotes, cleaned, start

SEPARATORS = {".csv": ",", ".tsv": "\t", ".edgelist": SPACES, ".edges": SPACES, ".txt": SPACES}
NO_IDS, NO_CODES = np.empty(0, dtype=object), np.empty(0, dtype=np.int32)


def extension(path: Path) -> str:
    """The lower-case file extension, ignoring .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_parquet(path: Path) -> Any:
    """Read a Parquet file as a pyarrow.Table."""
    if extension(path) != ".parquet":
        known = ", ".join([*SEPARATORS, ".parquet"])
        raise ValueError(f"{path.name!r} ends with {extension(path) or 'nothing'!r}, not with one of {known}")
    pyarrow = _pyarrow()
    try:
        return pyarrow.parquet.read_table(path)
    except FileNotFoundError:
        raise
    except (OSError, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error


def read_text(path: Path, wanted: ColumnNames, header: bool | None, known: Container[Any]) -> tuple[Ends, Any]:
    """Ends and weights (None without any) of the edges in a text file."""
    _pyarrow()
    text, first = _opened(path)
    if not first:
        return Ends.of(NO_IDS, NO_IDS), None
    if len(first) < 2:
        check_lines(text, 2, path)
    if header is None:
        header = _is_named(first, wanted, known)
    if wanted.given() and not header:
        missing = ", ".join(sorted(map(repr, wanted.given())))
        raise ValueError(f"the first line of {str(path)!r}, {first}, has none of the columns {missing}")
    if header:
        return _below_header(text, first, choose_columns(first, len(first), wanted), path)
    return _first_line_judged(text, first, header, path)


def _opened(path: Path) -> tuple[Text, list[str]]:
    """The text of a file and the cells of its first line."""
    try:
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
            text = cleaned(file.read(), SEPARATORS[extension(path)])
        return text, next((cells for _, cells in text.records()), [])
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error
    except csv.Error as error:
        check_lines(text, 2, path)
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error


def _is_named(first: list[str], wanted: ColumnNames, known: Container[Any]) -> bool | None:
    """Whether the first line has names of columns, or ids and numbers; None if it has neither."""
    if not wanted.given().isdisjoint(first):
        return True
    if any(cell in known for cell in first[:2]):
        return False
    if has_usual_names(first):
        return True
    return False if any(map(is_number, first)) else None


def _below_header(text: Text, first: list[str], place: Positions, path: Path) -> tuple[Ends, Any]:
    """The edges in the lines after the first, which names the columns."""
    table = _parsed(text, len(first), place[:2], {column for column in place if column is not None}, path)
    return _ends(table, place[:2]), _weights(table, place.weight)


def _first_line_judged(text: Text, first: list[str], header: bool | None, path: Path) -> tuple[Ends, Any]:
    """The edges in all lines, or in all but the first if it turns out to be a header and ``header`` does not say."""
    width = len(first)
    columns = (1, 2) if width > 2 and not first[0] and header is None else (0, 1)  # no name is above an index of pandas
    table = _parsed(text, width, columns, range(width), path)
    while width > 2 and not first[width - 1] and table[str(width - 1)].null_count == len(table):
        width -= 1
    first, ends = first[:width], _ends(table, columns)
    if header is None:
        ids = {column: ends.values[np.unique(codes)] for column, codes in zip(columns, ends.codes, strict=True)}
        numeric = [all(map(is_number, ids[j])) if j in ids else _is_numeric(table[str(j)]) for j in range(width)]
        header = is_header(first, set(ends.values), numeric, path)
    place = choose_columns(first if header else [], width, ColumnNames())
    if header:
        same = place[:2] == columns
        return (ends, _weights(table, place.weight)) if same else _below_header(text, first, place, path)
    if place[:2] != columns:
        raise ValueError(f"the first line of {str(path)!r}, {first}, has no source; drop it, or name the node")
    weights = _weights(table, place.weight)
    if weights is not None:
        weights = np.append(float(first[2]), weights) if is_number(first[2]) else np.array(first[2:], dtype=object)
    return ends.preceded_by(*first[:2]), weights


def _parsed(text: Text, width: int, ends: tuple[int, ...], columns: Iterable[int], path: Path) -> Any:
    """The lines after the first as a pyarrow.Table whose columns are named "0", "1", ...; those of ends are strings."""
    pyarrow = _pyarrow()
    begin = start(text.data)
    try:
        table = pyarrow.csv.read_csv(
            pyarrow.BufferReader(pyarrow.py_buffer(memoryview(text.data)[begin:])),
            read_options=pyarrow.csv.ReadOptions(column_names=[str(j) for j in range(width)], skip_rows_after_names=1),
            parse_options=pyarrow.csv.ParseOptions(
                delimiter=text.separator,
                quote_char='"' if text.has_quotes else False,
                newlines_in_values=text.has_quotes,
                invalid_row_handler=_skip_blank,
            ),
            convert_options=pyarrow.csv.ConvertOptions(
                column_types={str(j): pyarrow.string() for j in ends},
                include_columns=[str(j) for j in sorted(columns)],
                null_values=[""],
                strings_can_be_null=False,
            ),
        )
    except pyarrow.ArrowException as error:
        check_lines(text, width, path)
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error
    if text.has_quotes and len(table) + 1 < text.data.count(b"\n", begin):  # a cell has several lines
        check_quotes(text, path)
    return table


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def _ends(table: Any, columns: tuple[int, ...]) -> Ends:
    ends = ends_of_arrow(*(table[str(column)] for column in columns))
    return ends._replace(values=np.array([value.strip() for value in ends.values], dtype=object))


def ends_of_arrow(source: Any, target: Any) -> Ends:
    """Encode two pyarrow.ChunkedArrays of as many strings."""
    chunks = [chunk.cast("string") for column in (source, target) for chunk in column.chunks]
    encoded = _pyarrow().chunked_array(chunks, "string").dictionary_encode("encode").chunks  # all with one dictionary
    codes = np.concatenate([NO_CODES, *(chunk.indices.to_numpy() for chunk in encoded)]).reshape(2, len(source))
    return Ends(codes, encoded[0].dictionary.to_numpy(zero_copy_only=False) if encoded else NO_IDS)


def _weights(table: Any, column: int | None) -> np.ndarray | None:
    """A column as floats, or as an object array of texts and None if some cell is not a number."""
    if column is None:
        return None
    weights = table[str(column)]
    if _is_numeric(weights):
        return weights.to_numpy()
    return np.array(weights.cast("string").to_pylist(), dtype=object)


def _is_numeric(column: Any) -> bool:
    """Whether all cells of a parsed column are numbers."""
    return str(column.type) in ("int64", "double") and not column.null_count


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("files of edges are read by pyarrow: pip install 'lopsided[graph]'") from error
    return pyarrow
