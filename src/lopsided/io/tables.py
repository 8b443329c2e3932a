"""Columns of tables and whole matrices, from files."""

import csv
from collections.abc import Callable
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from scipy import io as scipy_io, sparse

from .columns import is_number, shown
from .files import JUDGED_LINES, SEPARATORS, extension, imported_pyarrow
from .text import SPACES, cleaned, start


def read_columns(path: Path) -> dict[str, np.ndarray]:
    """The columns of a CSV, TSV or Parquet file by name; numbers as numbers, missing ones as nan, all else as strings.

    The first line of a text file is a header if none of its cells is a number; otherwise columns are named by position,
    "column 1" and so on.
    """
    kind, pyarrow = extension(path), imported_pyarrow()
    if kind not in (*SEPARATORS, ".parquet"):
        raise ValueError(f"{path.name!r} ends with {kind!r}, not with one of {', '.join(SEPARATORS)}, .parquet")
    try:
        table = pyarrow.parquet.read_table(path) if kind == ".parquet" else _parsed(path, SEPARATORS[kind])
    except FileNotFoundError:
        raise
    except (OSError, ValueError, csv.Error, pyarrow.ArrowException) as error:
        raise ValueError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from error
    return {name: table[name].to_numpy() for name in table.column_names}


def _parsed(path: Path, separator: str) -> Any:
    pyarrow = imported_pyarrow()
    with pyarrow.input_stream(path, compression="gzip" if path.suffix.lower() == ".gz" else None) as file:
        text = cleaned(file.read(), separator)
    rows = [cells for _, cells in islice(text.lines(), JUDGED_LINES)]
    if not rows:
        raise ValueError("the file is empty")
    has_header = not any(map(is_number, rows[0]))
    names = rows[0] if has_header else [f"column {j + 1}" for j in range(len(rows[0]))]
    if len(set(names)) < len(names):
        raise ValueError(f"column names {shown(names)} are not distinct; rename them")
    return pyarrow.csv.read_csv(
        pyarrow.BufferReader(pyarrow.py_buffer(memoryview(text.data)[start(text.data) :])),
        read_options=pyarrow.csv.ReadOptions(column_names=names, skip_rows_after_names=int(has_header)),
        parse_options=pyarrow.csv.ParseOptions(delimiter=" " if text.separator == SPACES else text.separator),
        convert_options=pyarrow.csv.ConvertOptions(strings_can_be_null=True, null_values=["", "NA", "NaN", "nan"]),
    )


def is_matrix_file(path: Path) -> bool:
    """Whether the extension is one of a file that holds a matrix rather than columns."""
    return path.suffix.lower() in MATRICES


def read_matrix(path: Path) -> tuple[Any, np.ndarray | None]:
    """The matrix in an .npy, .npz, .mtx or svmlight file, as an array or in CSR, and the labels that svmlight has."""
    try:
        return MATRICES[path.suffix.lower()](path)
    except FileNotFoundError:
        raise
    except (OSError, ValueError, KeyError, EOFError) as error:
        raise ValueError(f"cannot read {str(path)!r}: {str(error).splitlines()[0]}") from error


def _npy(path: Path) -> tuple[Any, None]:
    return np.load(path, mmap_mode="r", allow_pickle=False), None


def _npz(path: Path) -> tuple[Any, None]:
    with np.load(path, allow_pickle=False) as file:
        if "format" in file.files:
            return sparse.csr_array(sparse.load_npz(path)), None
        if len(file.files) != 1:
            raise ValueError(
                f"it holds the arrays {shown(file.files)}; save one, or a matrix with scipy.sparse.save_npz"
            )
        return file[file.files[0]], None


def _mtx(path: Path) -> tuple[Any, None]:
    matrix = scipy_io.mmread(path)
    return (sparse.csr_array(matrix) if sparse.issparse(matrix) else matrix), None


def _svmlight(path: Path) -> tuple[Any, np.ndarray]:
    from sklearn.datasets import load_svmlight_file  # late, as the import is slow

    X, y = load_svmlight_file(path)
    return sparse.csr_array(X), y


MATRICES: dict[str, Callable[[Path], tuple[Any, np.ndarray | None]]] = {
    ".npy": _npy,
    ".npz": _npz,
    ".mtx": _mtx,
    ".svm": _svmlight,
    ".svmlight": _svmlight,
    ".libsvm": _svmlight,
}
