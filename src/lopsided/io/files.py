"""Edges in CSV, TSV, edge-list and Parquet files, read by pyarrow, which is imported here alone."""

import csv
import io
import re
from collections.abc import Container, Mapping
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

from ..exceptions import LopsidedWarning, warn
from .bounds import check_expansion, read_all
from .columns import ROLES, Wanted, are_times, by_position, choose_columns, is_number, log_columns, reject_matrix, shown
from .text import SPACES, Text, cleaned, decimal_sign, is_header, start

SEPARATORS = {".csv": ",", ".tsv": "\t", ".edgelist": SPACES, ".edges": SPACES, ".txt": SPACES}
SMALLEST_CELL = 4  # bytes of a value in memory
ONE_BLOCK = 1 << 20  # bytes, which pyarrow parses at once
JUDGED_LINES = 2_000  # from which a header and empty columns are detected


def extension(path: Path) -> str:
    """The lower-case file extension, ignoring .gz."""
    return (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()


def read_file(path: Path, wanted: Wanted, header: bool | None, known: Container[Any]) -> Any:
    """The pyarrow.Table in a file; that of a text file has only the columns source, target and perhaps weight."""
    separator, pyarrow = separator_of(path), imported_pyarrow()
    try:
        if separator is None:
            return read_parquet(path)
        return _table(read_text(path, separator), wanted, header, known)
    except FileNotFoundError as error:
        searched = "" if path.is_absolute() else f" in {str(Path.cwd())!r}; give its whole path"
        raise FileNotFoundError(f"there is no file {str(path)!r}{searched}") from error
    except (OSError, ValueError, csv.Error, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {error}") from error


def separator_of(path: Path) -> str | None:
    """The separator that the extension of a file of a table promises; None for Parquet, which has none."""
    kind = extension(path)
    if kind not in (*SEPARATORS, ".parquet"):
        raise ValueError(
            f"{path.name!r} ends with {kind!r}, not with one of {', '.join(SEPARATORS)}, .parquet"
            "; networkx and pandas read others, and fit takes what they give"
        )
    return SEPARATORS.get(kind)


def read_text(path: Path, separator: str) -> Text:
    """The text of a file, unpacked if it ends with .gz, without comments."""
    compression = "gzip" if path.suffix.lower() == ".gz" else None
    with imported_pyarrow().input_stream(path, compression=compression) as file:
        return cleaned(read_all(path, file), separator)


def _table(text: Text, wanted: Wanted, header: bool | None, known: Container[Any]) -> Any:
    """The columns of sources, targets and weights in a text."""
    pyarrow = imported_pyarrow()
    rows = [cells for _, cells in islice(text.lines(), JUDGED_LINES)]
    if not rows:
        return pyarrow.table(dict.fromkeys(ROLES[:2], pyarrow.array([], "string")))
    first, names = rows[0], sorted({str(name) for name in wanted.values()})
    width = len(first)
    if width < 2:
        text.check_width(2)
    if len(rows) <= width:
        reject_matrix(first[: len(rows)], [row[0] for row in rows[1:]])
    while width > 2 and not any(row[width - 1 : width] > [""] for row in rows):  # cells that spreadsheets leave empty
        width -= 1
    if header is None:
        header = any(name in first for name in names) if names else is_header(first[:width], rows[1:], known)
    named = first[:width] if header else by_position(width) if names else []
    if names and not header and not set(names) <= set(named):
        raise ValueError(f"the first line, {shown(first)}, has none of the columns {shown(names)}")
    place = choose_columns(named, width, wanted)
    if named:
        log_columns(named, place)
    table = _parsed(text, len(first), place, int(header), decimal_sign(text, rows))
    if len(place) == len(ROLES):
        _check_weights(table["weight"], [(named or by_position(width))[j] for j in place], by_order=not wanted)
    return table


def _check_weights(column: Any, names: list[str], by_order: bool) -> None:
    """Check that a column taken for weights has numbers, and warn if they are times, naming the columns to choose."""
    types = imported_pyarrow().types
    source, target, weights = (shown([name]) for name in names)
    others = f"source={source} and target={target}"
    if not (types.is_integer(column.type) or types.is_floating(column.type) or types.is_null(column.type)):
        wrong = next((cell for cell in column.to_pylist() if not is_number(cell)), None)
        raise ValueError(
            f"{weights} is read as the weights of edges, but holds {shown([str(wrong)])}, which is not a number; if it "
            f"is not the weight, name the other two: {others}"
        )
    if by_order and not types.is_null(column.type) and are_times(column.to_numpy()):
        warn(
            f"the weights, {weights}, look like times in seconds since 1970; if they are, name only the other two: "
            f"{others}",
            LopsidedWarning,
        )


def _parsed(text: Text, width: int, place: list[int], skip: int, decimal: str) -> Any:
    """The columns in place, as a pyarrow.Table; those of ids are strings without spaces around them."""
    pyarrow = imported_pyarrow()
    names = [str(j) for j in range(width)]
    for role, j in zip(ROLES, place, strict=False):
        names[j] = role
    options: dict[str, Any] = {
        "column_types": dict.fromkeys(ROLES[:2], pyarrow.string()),
        "include_columns": list(ROLES[: len(place)]),
        "decimal_point": decimal,
        "null_values": [""],
        "true_values": [],
        "false_values": [],
    }
    try:
        table = parse(text, names, skip, **options)
    except pyarrow.ArrowException:
        text.check_width(width)
        raise
    below = text.data.find(b'"', text.data.find(b"\n", start(text.data)))  # a quote below the first line, or -1
    if text.has_quotes and below >= 0 and len(table) + skip < text.data.count(b"\n"):  # it may have swallowed lines
        text.check_width(width)
    if text.separator != SPACES and b" " in text.data:
        trim = pyarrow.compute.utf8_trim_whitespace
        table = pyarrow.table([trim(table[0]), trim(table[1]), *table.columns[2:]], names=table.column_names)
    return table


def parse(text: Text, names: list[str], skip: int, **convert: Any) -> Any:
    """The lines of a text below the first ``skip`` as a pyarrow.Table with these columns.

    pyarrow's threads let go of the text some time after it is parsed. If Python ends just then it aborts, so short
    texts are parsed without threads (https://github.com/apache/arrow/issues/36389).
    """
    pyarrow = imported_pyarrow()
    lines = memoryview(text.data)[start(text.data) :]
    return pyarrow.csv.read_csv(
        pyarrow.BufferReader(pyarrow.py_buffer(lines)),
        read_options=pyarrow.csv.ReadOptions(
            column_names=names, skip_rows_after_names=skip, use_threads=len(lines) > ONE_BLOCK
        ),
        parse_options=pyarrow.csv.ParseOptions(
            delimiter=text.separator, quote_char='"' if text.has_quotes else False, invalid_row_handler=_skip_blank
        ),
        convert_options=pyarrow.csv.ConvertOptions(**convert),
    )


def _skip_blank(row: Any) -> str:
    return "error" if row.text.strip() else "skip"


def read_parquet(path: Path) -> Any:
    """The pyarrow.Table in a Parquet file; a run of a billion equal values takes a few bytes there."""
    parquet = imported_pyarrow().parquet
    facts = parquet.read_metadata(path)
    check_expansion(path, facts.num_rows * facts.num_columns * SMALLEST_CELL)
    table = parquet.read_table(path)
    table.validate(full=True)  # of a damaged file, text need not be any
    return table


def encoded_strings(source: Any, target: Any) -> tuple[np.ndarray, np.ndarray]:
    """Codes of shape (2, n) and distinct values of two pyarrow.ChunkedArrays of n strings."""
    chunks = [chunk.cast("string") for column in (source, target) for chunk in column.chunks]
    coded = imported_pyarrow().chunked_array(chunks, "string").dictionary_encode("encode").combine_chunks()
    codes = coded.indices.to_numpy().reshape(2, len(source))
    return codes, coded.dictionary.to_numpy(zero_copy_only=False)


def write_text(columns: Mapping[str, Any], file: Any, separator: str) -> None:
    """Write columns as lines of text to a binary file; strings are quoted if one of them must be."""
    pyarrow = imported_pyarrow()
    header = io.StringIO()
    csv.writer(header, delimiter=separator, lineterminator="\n").writerow(columns)
    file.write(header.getvalue().encode())
    table = pyarrow.table(dict(columns))
    strings = [table[name] for name in table.column_names if pyarrow.types.is_string(table[name].type)]
    special = rf'[{re.escape(separator)}"\r\n]|^$'
    marked = any(pyarrow.compute.any(pyarrow.compute.match_substring_regex(each, special)).as_py() for each in strings)
    style = "needed" if marked else "none"
    options = pyarrow.csv.WriteOptions(include_header=False, delimiter=separator, quoting_style=style)
    pyarrow.csv.write_csv(table, file, options)


def imported_pyarrow() -> Any:
    """The package pyarrow, or an error that says how to install it."""
    try:
        import pyarrow
        import pyarrow.compute
        import pyarrow.csv
        import pyarrow.parquet
    except ImportError as error:
        raise ImportError("reading and writing tables needs pyarrow: pip install 'lopsided[graph]'") from error
    return pyarrow
