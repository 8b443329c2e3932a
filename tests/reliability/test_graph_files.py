"""Damaged, odd and hostile graph files: a Graph or a ValueError with a message, within two seconds, for each."""

import gzip
import io
import time
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import Graph, read_graph

SECONDS = 2.0
CHUNKS, EACH = 10, 50
PIECES = [
    b"\x00", b"\xff\xfe", b"\xef\xbb\xbf", b'"', b"'", b"{" * 50, b"[" * 50, b",", b",,,,", b"\t", b"\r",
    b"\n\n", b"\r\n",
    b"9" * 30, b"9" * 5000, b"-", b"1e400", b"nan", b"inf", b"-inf", b"1_000", b"0x10", b"#", b"# comment\n", b"%",
    "é".encode(), "٣".encode(), b"1e308", b"\\", b"a b c d e f", b"None", b"NULL", b"true", b" ", b"{'weight': 2}",
]  # fmt: skip


def edges(rng, n=30):
    names = [str, lambda i: f"n{i}", lambda i: f'"{i} x"', lambda i: f"{i}.5"][rng.integers(4)]
    columns = [[names(i) for i in rng.integers(0, 12, n)] for _ in range(2)]
    if rng.random() < 0.6:
        columns.append([f"{w:.3g}" for w in rng.standard_normal(n)])
    return list(zip(*columns, strict=True))


def text(rng, separator):
    lines = [separator.join(edge) for edge in edges(rng)]
    if rng.random() < 0.5:
        lines.insert(0, separator.join(["source", "target", "weight"][: len(lines[0].split(separator))]))
    return ("\n".join(lines) + "\n").encode()


def parquet(rng):
    found, rows = io.BytesIO(), edges(rng)
    columns = {"source": [row[0] for row in rows], "target": [row[1] for row in rows]}
    pq.write_table(pa.table(columns), found)
    return found.getvalue()


FORMATS = {
    ".csv": lambda rng: text(rng, ","),
    ".tsv": lambda rng: text(rng, "\t"),
    ".txt": lambda rng: text(rng, " "),
    ".edgelist": lambda rng: text(rng, " "),
    ".csv.gz": lambda rng: gzip.compress(text(rng, ",")),
    ".tsv.gz": lambda rng: gzip.compress(text(rng, "\t")),
    ".parquet": parquet,
}


def mutated(content, rng):
    """Cut, flip, insert and repeat, up to four times."""
    for _ in range(rng.integers(1, 5)):
        at, kind = int(rng.integers(0, len(content) + 1)), rng.integers(5)
        if kind == 0:
            content = content[:at]
        elif kind == 1 and content:
            at = min(at, len(content) - 1)
            content = content[:at] + bytes([content[at] ^ (1 << rng.integers(8))]) + content[at + 1 :]
        elif kind == 2:
            content = content[:at] + PIECES[rng.integers(len(PIECES))] + content[at:]
        elif kind == 3:
            content = content[at:] + content[:at]
        else:
            content = content[:at] + content[at : at + 20] * 3 + content[at + 20 :]
    return content


def read(path, content):
    """Check the outcome and the time; return the graph, or the message."""
    path.write_bytes(content)
    start = time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LopsidedWarning)
        try:
            found = read_graph(path)
        except ValueError as error:
            assert str(error) and len(str(error)) < 2000
            found = str(error)
    assert time.monotonic() - start < SECONDS
    if isinstance(found, Graph):
        assert found.adjacency.shape == (len(found.nodes),) * 2
        assert np.isfinite(found.adjacency.data).all()
    return found


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_files_are_read_or_refused(chunk, tmp_path):
    for number in range(EACH):
        rng = np.random.default_rng((7, chunk, number))
        suffix = list(FORMATS)[rng.integers(len(FORMATS))]
        content = FORMATS[suffix](rng)
        if suffix.endswith(".gz") and rng.random() < 0.5:  # damage the text within the archive
            content = gzip.compress(mutated(gzip.decompress(content), rng))
        else:
            content = mutated(content, rng)
        try:
            read(tmp_path / f"g{suffix}", content)
        except BaseException as error:
            raise AssertionError(f"{suffix}, seed (7, {chunk}, {number}): {type(error).__name__}: {error}") from error


ODD = {
    "truncated gz": (".csv.gz", gzip.compress(b"source,target\n" + b"a,b\n" * 500)[:-20]),
    "gz with a flipped byte": (
        ".csv.gz",
        bytes(b ^ (i == 40) for i, b in enumerate(gzip.compress(b"a,b\nc,d\n" * 500))),
    ),
    "not gz at all": (".csv.gz", b"a,b\nc,d\n"),
    "empty": (".csv", b""),
    "empty gz": (".csv.gz", gzip.compress(b"")),
    "only a header": (".csv", b"source,target\n"),
    "only comments": (".csv", b"# a\n# b\n"),
    "a huge integer": (".csv", b"source,target\n" + b"9" * 6000 + b",1\n2,3\n"),
    "a huge weight": (".csv", b"source,target,weight\n1,2," + b"9" * 6000 + b"\n"),
    "nested braces": (".edgelist", b"1 2 " + b"{" * 100_000 + b"\n"),
    "nested brackets": (".edgelist", b"1 2 {'weight': " + b"[" * 100_000 + b"\n"),
    "an edge list that computes": (".edgelist", b"1 2 {'weight': 9**9**9}\n"),
    "many columns": (".csv", b",".join(b"c%d" % i for i in range(100_000)) + b"\n" + b"1," * 99_999 + b"1\n"),
    "one very long line": (".csv", b"a,b\n" + b"x" * 5_000_000 + b",b\n"),
    "unclosed quote": (".csv", b'source,target\n"a,b\n' + b"c,d\n" * 20_000),
    "text that is binary": (".csv", bytes(range(256)) * 100),
    "utf-16": (".csv", "source,target\na,b\n".encode("utf-16")),
    "parquet that is text": (".parquet", b"a,b\n"),
    "parquet cut short": (".parquet", parquet(np.random.default_rng(0))[:-8]),
    "rows of different lengths": (".csv", b"a,b\nc,d,1\ne\nf,g\n"),
}


@pytest.mark.parametrize("name", ODD)
def test_odd_files_are_read_or_refused(name, tmp_path):
    suffix, content = ODD[name]
    read(tmp_path / f"g{suffix}", content)


def test_digits_with_underscores_are_text(tmp_path):
    found = read(tmp_path / "g.csv", b"source,target\n1_000,2\n1000,2\n")
    assert isinstance(found, str) or len(found.nodes) == 3
    found = read(tmp_path / "w.csv", b"source,target,weight\na,b,1_000\na,c,2\n")
    assert isinstance(found, str)


def test_sums_of_repeated_edges_that_overflow_are_refused(tmp_path):
    found = read(tmp_path / "g.csv", b"source,target,weight\na,b,1.5e308\na,b,1.5e308\n")
    assert (isinstance(found, str) and "finite" in found) or "large" in found or "overflow" in found


def test_a_small_archive_of_a_large_file_is_read_in_bounded_memory(tmp_path):
    """Two megabytes of text per kilobyte of archive; what counts is that the time stays in proportion to the text."""
    content = gzip.compress(b"source,target\n" + b"a,b\n" * 500_000)
    assert len(content) < 10_000
    found = read(tmp_path / "g.csv.gz", content)
    assert isinstance(found, str) or found.adjacency.nnz == 1
