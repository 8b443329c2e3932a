"""Files of every format that is read, valid ones and mutations of them."""

from __future__ import annotations

import gzip
import io
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from scipy import io as scipy_io, sparse
from sklearn.datasets import dump_svmlight_file

from lopsided import KernelSVD
from lopsided.io import load, read_columns, read_graph, read_matrix, save

PIECES = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b"{" * 50, b"[" * 50, b",", b",,,,", b"\t", b"\r", b"\n\n",
    b"\r\n", b"9" * 30, b"9" * 5000, b"-", b"1e400", b"nan", b"inf", b"-inf", b"1_000", b"0x10", b"#", b"# comment\n",
    b"%", "é".encode(), "٣".encode(), b"1e308", b"\\", b"a b c d e f", b"None", b"NULL", b"true", b" ",
    b"{'weight': 2}", b"2147483648", b"18446744073709551616", b"-1", b":", b"\xff\xff\xff\xff", b"\x7f\xff\xff\xff",
]  # fmt: skip

BASES = 300  # valid files of each format, of which the others are mutations

Maker = Callable[[np.random.Generator], bytes]


def edges(rng: np.random.Generator, n: int = 30) -> list[tuple[str, ...]]:
    """Rows of an edge table, ids of several kinds, weights or none."""
    names = [str, lambda i: f"n{i}", lambda i: f'"{i} x"', lambda i: f"{i}.5"][rng.integers(4)]
    columns = [[names(i) for i in rng.integers(0, 12, n)] for _ in range(2)]
    if rng.random() < 0.6:
        columns.append([f"{w:.3g}" for w in rng.standard_normal(n)])
    return list(zip(*columns, strict=True))


def text(rng: np.random.Generator, separator: str) -> bytes:
    """An edge table as text, with a header or without."""
    lines = [separator.join(edge) for edge in edges(rng)]
    if rng.random() < 0.5:
        lines.insert(0, separator.join(["source", "target", "weight"][: len(lines[0].split(separator))]))
    return ("\n".join(lines) + "\n").encode()


def parquet(rng: np.random.Generator) -> bytes:
    """An edge table as Parquet."""
    found, rows = io.BytesIO(), edges(rng)
    columns = {"source": [row[0] for row in rows], "target": [row[1] for row in rows]}
    pq.write_table(pa.table(columns), found)
    return found.getvalue()


def _matrix(rng: np.random.Generator) -> sparse.csr_array:
    return sparse.csr_array(rng.poisson(0.3, (8, 6)).astype(float))


def _npz(rng: np.random.Generator) -> bytes:
    file = io.BytesIO()
    if rng.random() < 0.5:
        sparse.save_npz(file, _matrix(rng), compressed=bool(rng.random() < 0.5))
    else:
        np.savez_compressed(file, a=_matrix(rng).toarray())
    return file.getvalue()


def _npy(rng: np.random.Generator) -> bytes:
    file = io.BytesIO()
    np.save(file, _matrix(rng).toarray().astype(rng.choice(["f8", "f4", "i8", "U3"])))
    return file.getvalue()


def _mtx(rng: np.random.Generator) -> bytes:
    file = io.BytesIO()
    scipy_io.mmwrite(file, _matrix(rng) if rng.random() < 0.7 else _matrix(rng).toarray())
    return file.getvalue()


def _svmlight(rng: np.random.Generator) -> bytes:
    file = io.BytesIO()
    dump_svmlight_file(_matrix(rng), rng.integers(0, 2, 8), file)
    return file.getvalue()


def _model(rng: np.random.Generator) -> bytes:
    """A small saved model."""
    model = KernelSVD(2, kernel=["rbf", "sne", "linear"][rng.integers(3)]).fit(rng.random((6, 3)))
    with tempfile.TemporaryDirectory() as folder:
        save(model, path := Path(folder) / "model.lopsided")
        return path.read_bytes()


FORMATS: dict[str, Maker] = {
    ".csv": lambda rng: text(rng, ","),
    ".tsv": lambda rng: text(rng, "\t"),
    ".txt": lambda rng: text(rng, " "),
    ".edgelist": lambda rng: text(rng, " "),
    ".csv.gz": lambda rng: gzip.compress(text(rng, ","), 1),
    ".tsv.gz": lambda rng: gzip.compress(text(rng, "\t"), 1),
    ".parquet": parquet,
    ".npz": _npz,
    ".npy": _npy,
    ".mtx": _mtx,
    ".svmlight": _svmlight,
    ".lopsided": _model,
}


def read(path: Path) -> Any:
    """Read a file as the library would, by its extension; tables also as columns."""
    if path.suffix in (".npz", ".npy", ".mtx", ".svmlight"):
        return read_matrix(path)[0]
    if path.suffix == ".lopsided":
        return load(path)
    if path.suffix != ".edgelist" and path.stem.startswith("columns"):
        return read_columns(path)
    return read_graph(path)


def mutated(content: bytes, rng: np.random.Generator) -> bytes:
    """Cut, flip, insert, turn and repeat, up to four times."""
    for _ in range(rng.integers(1, 5)):
        at, kind = int(rng.integers(0, len(content) + 1)), rng.integers(6)
        if kind == 0:
            content = content[:at]
        elif kind == 1 and content:
            at = min(at, len(content) - 1)
            content = content[:at] + bytes([content[at] ^ (1 << rng.integers(8))]) + content[at + 1 :]
        elif kind == 2:
            content = content[:at] + PIECES[rng.integers(len(PIECES))] + content[at:]
        elif kind == 3:
            content = content[at:] + content[:at]
        elif kind == 4:
            piece = PIECES[rng.integers(len(PIECES))]
            content = content[:at] + piece + content[at + len(piece) :]
        else:
            content = content[:at] + content[at : at + 20] * 3 + content[at + 20 :]
    return content


def damaged(rng: np.random.Generator) -> tuple[str, bytes]:
    """A file of any format, mutated: its name and content. Text in archives is mutated before or after packing."""
    suffix = list(FORMATS)[rng.integers(len(FORMATS))]
    content = _valid(suffix, int(rng.integers(BASES)))
    if suffix.endswith(".gz") and rng.random() < 0.5:
        content = gzip.compress(mutated(gzip.decompress(content), rng), 1)
    elif suffix in (".npz", ".lopsided") and rng.random() < 0.5:
        content = _with_mutated_member(content, rng)
    else:
        content = mutated(content, rng)
    return ["graph", "columns"][rng.integers(2)] + suffix, content


@cache
def _valid(suffix: str, number: int) -> bytes:
    return FORMATS[suffix](np.random.default_rng((11, number)))


def _with_mutated_member(content: bytes, rng: np.random.Generator) -> bytes:
    """A zip in order, one of whose members is not."""
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(content)) as old, zipfile.ZipFile(out, "w") as new:
        names = old.namelist()
        chosen = names[rng.integers(len(names))]
        for name in names:
            new.writestr(name, mutated(old.read(name), rng) if name == chosen else old.read(name))
        new.comment = old.comment
    return out.getvalue()
