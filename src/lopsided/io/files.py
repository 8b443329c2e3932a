"""Edges in CSV, TSV, edge-list and Parquet files, read by pyarrow; the only file that imports it."""

from __future__ import annotations

import csv
import gzip
import zlib
from collections.abc import Container
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from .columns import ColumnNames, Positions, choose_columns
from .headers import is_header
from .ids import Ends
from .text import SPACES, Text, check_lines, check_quotes, cleaned, start

SEPARATORS = {".csv": ",", ".tsv": "\t", ".edgelist": SPACES, ".edges": SPACES, ".txt": SPACES}
JUDGED_LINES = 2_000  # from which a header and empty columns are detected
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
    pyarrow = _pyarrow()
    text, rows = _opened(path)
    if not rows:
        return Ends.of(NO_IDS, NO_IDS), None
    first, width = rows[0], len(rows[0])
    if width < 2:
        check_lines(text, 2, path)
    while width > 2 and not any(row[width - 1 : width] > [""] for row in rows):  # cells that spreadsheets leave empty
        width -= 1
    if header is None and wanted.given():
        header = not wanted.given().isdisjoint(first)
    if header is None:
        header = is_header(first[:width], rows[1:], known, path)
    if wanted.given() and not header:
        missing = ", ".join(sorted(map(repr, wanted.given())))
        raise ValueError(f"the first line of {str(path)!r}, {first}, has none of the columns {missing}")
    place = choose_columns(first[:width] if header else [], width, wanted)
    try:
        table = _parsed(text, len(first), place, skip=int(header))
    except pyarrow.ArrowException as error:
        check_lines(text, len(first), path)
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error
    if text.has_quotes and len(table) + header < text.n_lines:  # a cell may have several lines
        check_quotes(text, path)
    ends = ends_of_arrow(table[str(place.source)], table[str(place.target)])
    ends = ends._replace(values=np.array([value.strip() for value in ends.values], dtype=object))
    return ends, None if place.weight is None else _weights(table[str(place.weight)])


def _opened(path: Path) -> tuple[Text, list[list[str]]]:
    """The text of a file and the cells of its first lines."""
    text = None
    try:
        with (gzip.open if path.suffix.lower() == ".gz" else open)(path, "rb") as file:
            text = cleaned(file.read(), SEPARATORS[extension(path)])
        return text, [cells for _, cells in islice(text.records(), JUDGED_LINES)]
    except FileNotFoundError:
        raise
    except (OSError, EOFError, ValueError, zlib.error, csv.Error) as error:
        if text is not None:
            check_quotes(text, path)
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error


def _parsed(text: Text, width: int, place: Positions, skip: int) -> Any:
    """The columns in place of a pyarrow.Table of the text, named by their positions; those of ids are strings."""
    pyarrow = _pyarrow()
    return pyarrow.csv.read_csv(
        pyarrow.BufferReader(pyarrow.py_buffer(memoryview(text.data)[start(text.data) :])),
        read_options=pyarrow.csv.ReadOptions(column_names=[str(j) for j in range(width)], skip_rows_after_names=skip),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=text.separator,
            quote_char='"' if text.has_quotes else False,
            newlines_in_values=text.has_quotes,
            invalid_row_handler=_skip_blank,
        ),
        convert_options=pyarrow.csv.ConvertOptions(
            column_types=dict.fromkeys(map(str, place[:2]), pyarrow.string()),
            include_columns=[str(j) for j in place if j is not None],
            null_values=[""],
            strings_can_be_null=False,
        ),
    )


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def ends_of_arrow(source: Any, target: Any) -> Ends:
    """Encode two pyarrow.ChunkedArrays of as many strings."""
    chunks = [chunk.cast("string") for column in (source, target) for chunk in column.chunks]
    strings = _pyarrow().chunked_array(chunks, "string")
    coded = strings.dictionary_encode("encode").chunks  # all with the same dictionary
    codes = np.concatenate([NO_CODES, *(chunk.indices.to_numpy() for chunk in coded)]).reshape(2, len(source))
    return Ends(codes, coded[0].dictionary.to_numpy(zero_copy_only=False) if coded else NO_IDS)


def _weights(column: Any) -> np.ndarray:
    """A column as numbers, or as an array of texts and None if some cell is not a number."""
    if str(column.type) in ("int64", "double") and not column.null_count:
        return column.to_numpy()
    return np.array(column.cast("string").to_pylist(), dtype=object)


def _pyarrow() -> Any:
    try:
        import pyarrow
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("files of edges are read by pyarrow: pip install 'lopsided[graph]'") from error
    return pyarrow
