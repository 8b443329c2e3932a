"""Damaged, odd and hostile graph files: a Graph or a ValueError with a message, within two seconds, for each."""

import gzip
import time
import tracemalloc
import warnings

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import io as scipy_io, sparse

from cases import as_dense
from lopsided.exceptions import LopsidedWarning
from lopsided.graphs import Graph, read_graph
from lopsided.io import read_matrix, written_whole
from soak.files import parquet, read as any_file
from soak.hostile_files import forbidden_calls, read_one

SECONDS = 2.0
CHUNKS, EACH = 10, 80


def read(path, content):
    """Check the outcome and the time; return the graph, or the message."""
    path.write_bytes(content)
    start = time.process_time()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", LopsidedWarning)
        try:
            found = read_graph(path)
        except ValueError as error:
            assert str(error) and len(str(error)) < 2000
            found = str(error)
    assert time.process_time() - start < SECONDS
    if isinstance(found, Graph):
        assert found.adjacency.shape == (len(found.nodes),) * 2
        assert np.isfinite(found.adjacency.data).all()
    return found


def test_damaged_archives_leave_no_memory_behind(tmp_path):
    path, content = tmp_path / "edges.csv.gz", gzip.compress(b"a,b\nc,d\n" * 500)
    tracemalloc.start()
    try:
        for _ in range(30):
            assert isinstance(read(path, bytes(b ^ (i == 40) for i, b in enumerate(content))), str)
        assert tracemalloc.get_traced_memory()[0] < 5_000_000  # a block each would be 30 MB
    finally:
        tracemalloc.stop()


def test_parquet_whose_text_is_none_is_refused(tmp_path):
    path = tmp_path / "edges.parquet"
    pq.write_table(pa.table({"source": ["ann", "bob"], "target": ["bob", "eve"]}), path, compression="none")
    for name in ("edges.parquet", "columns.parquet"):
        path.with_name(name).write_bytes(path.read_bytes().replace(b"ann", b"\xffnn"))
        with pytest.raises(ValueError, match=f"cannot read .*{name}.*Invalid UTF8"):
            any_file(path.with_name(name))


@pytest.mark.parametrize("chunk", range(CHUNKS))
def test_mutated_files_of_every_format_are_read_or_refused(chunk, tmp_path):
    faults = [fault for number in range(EACH) if (fault := read_one(tmp_path, chunk * EACH + number))]
    assert not faults, "\n".join(faults)


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
    "a column with a long name": (".edgelist", b"9" * 5000 + b"source target weight\n1 2 3\n"),
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


@pytest.mark.parametrize("name", ["g.csv.gz", "columns.csv.gz", "g.npz", "g.parquet"])
def test_archives_that_would_fill_the_memory_are_refused(name, tmp_path, monkeypatch):
    monkeypatch.setattr("lopsided.io.bounds.budget_bytes", lambda: 10**6)
    path, zeros = tmp_path / name, np.zeros(3_000_000)
    if name.endswith(".gz"):
        path.write_bytes(gzip.compress(b"a,b\n" * 5_000_000, 1))
    elif name.endswith(".npz"):
        np.savez_compressed(path, zeros)
    else:
        pq.write_table(pa.table({"source": zeros, "target": zeros}), path)
    with pytest.raises(ValueError, match="bytes expand to more than .* a quarter of the free memory"):
        any_file(path)


MARKET = b"%%MatrixMarket matrix "
REFUSED = {
    "damaged.npz": (b"PK not a zip", "cannot read .*damaged.npz.*not a zip"),
    "damaged.npy": (b"\x93NUMPY\x01\x00\x10\x00{'descr': '<f8'(", "cannot read .*damaged.npy"),
    "far.svmlight": (b"1 99999999999999999999:1\n", "cannot read .*far.svmlight"),
    "rows.mtx": (MARKET + b"coordinate real general\n2000000000 2 1\n1 1 1\n", "2,000,000,000 rows .* 1 entries"),
    "entries.mtx": (MARKET + b"coordinate real general\n9 9 900000000\n1 1 1\n", "declares 900,000,000 .* holds 1"),
    "array.mtx": (MARKET + b"array real general\n90000 90000\n1\n", "declares 8,100,000,000 entries and holds 1"),
    "two.mtx": (MARKET + b"array real general\n2 2\n1 2\n3 4\n5 6\n7 8\n", "declares 4 entries and holds 8"),
    "word.mtx": (MARKET + b"array real general\n2 2\n1\n2\n3\nx\n", "something that is not a number"),
    "shape.mtx": (MARKET + b"array real symmetric\n2 3\n1\n2\n3\n4\n", r"symmetric but of shape \(2, 3\)"),
    "outside.mtx": (MARKET + b"coordinate real general\n2 2 1\n3 1 1\n", r"outside of the shape \(2, 2\)"),
    "complex.mtx": (MARKET + b"array complex general\n1 1\n1 2\n", "entries are complex and general"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_damaged_matrices_are_refused_with_the_reason(name, tmp_path):
    (tmp_path / name).write_bytes(REFUSED[name][0])
    with pytest.raises(ValueError, match=REFUSED[name][1]):
        read_matrix(tmp_path / name)


@pytest.mark.parametrize("symmetry", ["general", "symmetric", "skew-symmetric"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.coo_array])
def test_matrix_market_files_are_read_as_scipy_reads_them(symmetry, kind, tmp_path, rng):
    K = rng.integers(-2, 3, (7, 7)).astype(float)
    K = {"general": K, "symmetric": K + K.T, "skew-symmetric": K - K.T}[symmetry]
    scipy_io.mmwrite(tmp_path / "a.mtx", kind(K), comment="a comment", symmetry=symmetry)
    np.testing.assert_array_equal(as_dense(read_matrix(tmp_path / "a.mtx")[0]), K)


def test_the_library_neither_evaluates_nor_unpickles_what_it_reads():
    files, found, places = forbidden_calls()
    assert files > 100 and not found, places


def test_files_that_are_written_are_private_until_they_are_whole(tmp_path):
    with written_whole(tmp_path / "model") as part:
        assert part.stat().st_mode & 0o077 == 0
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
    with pytest.raises(RuntimeError), written_whole(tmp_path / "other"):
        raise RuntimeError
    assert [path.name for path in tmp_path.iterdir()] == ["model"]
