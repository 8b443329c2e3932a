"""Vectors in files that other programs read: every format gives back ids and vectors."""

import numpy as np
import pandas as pd
import pytest
from pyarrow.csv import ParseOptions, read_csv

from lopsided import DirectedGraphEmbedding
from lopsided.io import write_vectors

EDGES = {
    "strings": [("ann", "bob"), ("bob", "<i>"), ("<i>", "ann"), ('a"b', "bob"), ("öl,🙂", "ann")],
    "numbers": [(5, 7), (7, 11), (11, 5), (13, 7)],
}


@pytest.fixture(params=EDGES)
def model(request):
    return DirectedGraphEmbedding(n_components=2).fit(EDGES[request.param])


def expected(model, side):
    sides = ("source", "target") if side == "both" else (side,)
    return np.hstack([getattr(model, f"{name}_embedding_") for name in sides])


def from_word2vec(path):
    first, *lines = path.read_text(encoding="utf-8").splitlines()
    cells = [line.split(" ") for line in lines]
    assert first == f"{len(lines)} {len(cells[0]) - 1}"
    return [row[0] for row in cells], np.array([row[1:] for row in cells], dtype=float)


READERS = {
    ".parquet": lambda path: table(pd.read_parquet(path)),
    ".csv": lambda path: table(read_csv(path).to_pandas()),
    ".tsv": lambda path: table(read_csv(path, parse_options=ParseOptions(delimiter="\t")).to_pandas()),
    ".txt": from_word2vec,
    ".w2v": from_word2vec,
    ".npy": lambda path: (None, np.load(path)),
    ".npz": lambda path: (np.load(path)["id"].tolist(), np.hstack([v for k, v in np.load(path).items() if k != "id"])),
}


def table(frame):
    sides = [name for name in frame.columns if name != "id"]
    assert all(name.split("_")[0] in ("source", "target") for name in sides)
    return frame["id"].tolist(), frame[sides].to_numpy()


@pytest.mark.parametrize("side", ["both", "source", "target"])
@pytest.mark.parametrize("extension", READERS)
def test_every_format_gives_back_ids_and_vectors(model, extension, side, tmp_path):
    path = tmp_path / f"vectors{extension}"
    write_vectors(model, path, side=side)
    ids, vectors = READERS[extension](path)
    np.testing.assert_array_equal(vectors, expected(model, side))
    assert ids is None or list(map(str, ids)) == list(map(str, model.nodes_.tolist()))
    assert [file.name for file in tmp_path.iterdir()] == [path.name]


def test_single_precision_is_kept(tmp_path):
    model = DirectedGraphEmbedding(n_components=2).fit(np.eye(5, k=1, dtype=np.float32) + np.eye(5, k=-4, dtype="f"))
    write_vectors(model, tmp_path / "v.w2v")
    np.testing.assert_array_equal(from_word2vec(tmp_path / "v.w2v")[1].astype(np.float32), expected(model, "both"))


def test_ids_with_spaces_are_refused_by_word2vec_alone(tmp_path):
    model = DirectedGraphEmbedding(n_components=1).fit([("New York", "Rome"), ("Rome", "New York")])
    with pytest.raises(ValueError, match="the id 'New York' has spaces.*write .parquet"):
        write_vectors(model, tmp_path / "v.txt")
    assert not list(tmp_path.iterdir())
    write_vectors(model, tmp_path / "v.parquet")


@pytest.mark.parametrize(
    ("path", "side", "message"),
    [("v.doc", "both", "'v.doc' ends with '.doc', not with one of .parquet"), ("v.npy", "left", "side='left' is not")],
)
def test_unknown_formats_and_sides_are_named(path, side, message, model, tmp_path):
    with pytest.raises(ValueError, match=message):
        write_vectors(model, tmp_path / path, side=side)
