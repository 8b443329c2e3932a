"""The command line: every command on small files, what it says and where, and one line for every mistake."""

import ast
import contextlib
import io
import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from PIL import Image
from scipy import io as scipy_io, sparse
from sklearn.datasets import dump_svmlight_file, load_iris

import lopsided
from lopsided.cli import main
from lopsided.cli.parser import COMMANDS
from lopsided.cli.words import IN_OPTIONS
from lopsided.datasets import make_citation_graph
from lopsided.io import load, read_graph

EDGES = "source,target\nann,bob\nann,cem\nbob,cem\ndea,bob\neve,cem\nbob,ann\n"


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    Path("follows.csv").write_text(EDGES)
    return tmp_path


@pytest.fixture
def run(capfdbinary):
    """Run a command, and return what it printed; it must succeed, or fail with the given code and one line."""

    def command(*arguments, code=0):
        found = main([str(argument) for argument in arguments])
        sys.stdout.flush()
        out, err = (text.decode() for text in capfdbinary.readouterr())
        assert found == code, err
        if code:
            *notes, last = err.splitlines()
            assert last.startswith("lopsided: ") and not any("lopsided" in note for note in notes) and not out, err
            return last
        return out, err

    return command


def from_csv(text):
    return pd.read_csv(io.StringIO(text))


def citations(n=200):
    A, labels = make_citation_graph(n, n_classes=3, random_state=0)
    rows, columns = A.nonzero()
    pd.DataFrame({"citing": [f"p{i}" for i in rows], "cited": [f"p{j}" for j in columns]}).to_csv("c.csv", index=False)
    pd.DataFrame({"id": [f"p{i}" for i in range(n)], "field": [f"f{c}" for c in labels]}).to_csv("l.csv", index=False)
    return A, labels


# Every command.


def test_embed_writes_vectors_of_every_node_beside_the_graph(run):
    out, err = run("embed", "follows.csv", "-k", 2)
    frame = pd.read_parquet("follows.embedding.parquet")
    assert list(frame.columns) == ["id", "source_0", "source_1", "target_0", "target_1"]
    assert frame["id"].tolist() == ["ann", "bob", "cem", "dea", "eve"]
    assert out == "" and "read 5 nodes and 6 edges; first edge ann -> bob, weight 1" in err
    assert "wrote follows.embedding.parquet: 5 rows" in err and "embedded in 2 components by" in err
    assert "embedded in 5 components, as many as there are nodes, by" in run("embed", "follows.csv", "-f")[1]


def test_embed_saves_a_model_that_links_reads(run):
    run("embed", "follows.csv", "-k", 2, "-o", "v.npz", "--save", "m.lopsided")
    again, _ = run("links", "m.lopsided", "--of", "eve", "-k", 2)
    fresh, _ = run("links", "follows.csv", "--of", "eve", "-k", 2, "--components", 2)
    assert again == fresh and load("m.lopsided").nodes_.tolist()[0] == "ann"


def test_embed_takes_and_gives_pipes(run, monkeypatch):
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(EDGES.replace(",", ";").encode())))
    out, _ = run("embed", "-", "-k", 2)
    assert from_csv(out)["id"].tolist() == ["ann", "bob", "cem", "dea", "eve"]
    assert sorted(path.name for path in Path().iterdir()) == ["follows.csv"]


@pytest.mark.parametrize("name", ["a.npz", "a.npy", "a.mtx"])
def test_graphs_come_as_matrices_too(run, name):
    A = sparse.csr_array(read_graph("follows.csv").adjacency)
    {
        "a.npz": lambda: sparse.save_npz(name, A),
        "a.npy": lambda: np.save(name, A.toarray()),
        "a.mtx": lambda: scipy_io.mmwrite(name, A),
    }[name]()
    out, _ = run("embed", name, "-k", 2, "-o", "-")
    same, _ = run("embed", "follows.csv", "-k", 2, "-o", "-")
    np.testing.assert_allclose(from_csv(out).iloc[:, 1:], from_csv(same).iloc[:, 1:], atol=1e-12)


def test_links_suggests_new_edges_and_scores_given_ones(run):
    frame = from_csv(run("links", "follows.csv", "-k", 3)[0])
    known = {*zip(*pd.read_csv("follows.csv").to_numpy().T, strict=True)}
    pairs = {*zip(frame["source"], frame["target"], strict=True)}
    assert not pairs & known and all(u != v for u, v in pairs)
    assert frame.groupby("source")["score"].apply(lambda scores: scores.is_monotonic_decreasing).all()
    frame[["source", "target"]].to_csv("pairs.csv", index=False)
    scored = from_csv(run("links", "follows.csv", "--pairs", "pairs.csv")[0])
    np.testing.assert_allclose(scored["score"], frame["score"])


def test_ids_that_are_numbers_stay_numbers(run):
    Path("n.csv").write_text("1,2\n2,3\n3,1\n4,1\n")
    rows = json.loads(run("links", "n.csv", "--of", "4", "-k", "1", "--json")[0])["rows"]
    assert rows[0]["source"] == 4 and rows[0]["target"] in (2, 3)


def test_classify_completes_the_classes_of_a_table(run):
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=np.array(["s", "v", "g"])[y])
    hidden = frame.sample(30, random_state=0).index
    frame.assign(species=frame["species"].mask(np.isin(frame.index, hidden))).to_csv("iris.csv", index=False)
    out, err = run("classify", "iris.csv", "--label", "species", "--save", "m.lopsided")
    found = from_csv(out).set_index("id")["class"]
    assert (found == frame["species"].loc[found.index]).mean() > 0.9 and len(found) == 30
    assert "accuracy 0.9" in err and "120 of them with one of 3 classes in 'species'" in err
    frame.loc[hidden].sort_index()[list("dcba")].to_csv("new.csv", index=False)
    again = from_csv(run("classify", "iris.csv", "--label", "species", "--new", "new.csv")[0])["class"]
    assert again.tolist() == found.sort_index().tolist()
    assert load("m.lopsided").predict(X[:1]).tolist() == ["s"]


def test_classify_completes_the_classes_of_a_graph(run):
    _, labels = citations()
    pd.read_csv("l.csv").iloc[:150].to_csv("some.csv", index=False)
    out, err = run("classify", "c.csv", "--labels", "some.csv", "--json", "-k", 16)
    facts = json.loads(out)
    right = [row["class"] == f"f{labels[int(row['id'][1:])]}" for row in facts["rows"]]
    assert 45 <= len(right) <= 50 and np.mean(right) > 0.6 and facts["accuracy"] > 0.6 and err == ""


@pytest.mark.parametrize("name", ["t.csv", "t.parquet", "t.npz", "t.svm"])
def test_bicluster_finds_the_blocks_of_a_table(run, name):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(2), np.ones((10, 6))) * 5 + rng.random((20, 12))
    frame = pd.DataFrame(X, columns=[f"c{j}" for j in range(12)])
    {
        "t.csv": lambda: frame.assign(name=[f"r{i}" for i in range(20)]).set_index("name").to_csv(name),
        "t.parquet": lambda: frame.to_parquet(name),
        "t.npz": lambda: sparse.save_npz(name, sparse.csr_array(X)),
        "t.svm": lambda: dump_svmlight_file(X, np.zeros(20), name),
    }[name]()
    frame = from_csv(run("bicluster", name, "-k", 2)[0])
    rows, columns = (frame.loc[frame["side"] == side, "cluster"].to_numpy() for side in ("row", "column"))
    assert len(rows) == 20 and len(columns) == 12
    np.testing.assert_array_equal(rows, np.repeat([rows[0], rows[-1]], 10))
    np.testing.assert_array_equal(columns, np.repeat([rows[0], rows[-1]], 6))
    assert name != "t.csv" or frame["name"].tolist()[0] == "r0"


def test_bicluster_fills_missing_cells_in_as_the_library_does(run):
    rng = np.random.default_rng(0)
    X = np.kron(np.eye(2), np.ones((10, 6))) * 5 + rng.random((20, 12))
    X[rng.random(X.shape) < 0.1] = np.nan
    pd.DataFrame(X).add_prefix("c").to_csv("t.csv", index=False)
    out, err = run("bicluster", "t.csv", "-k", 2)
    clusters = from_csv(out)["cluster"].to_numpy()
    assert f"{np.isnan(X).sum()} missing values are filled in" in err
    np.testing.assert_array_equal(clusters, np.repeat([0, 1, 0, 1], [10, 10, 6, 6]) ^ clusters[0])


def test_recommend_leaves_out_what_users_have(run):
    rng = np.random.default_rng(0)
    taste = rng.integers(0, 2, 40)
    pairs = [(f"u{i}", f"i{10 * taste[i] + j}") for i in range(40) for j in rng.choice(10, 6, replace=False)]
    pd.DataFrame(pairs, columns=["userId", "film"]).assign(rating=1.0, when=3).to_csv("r.csv", index=False)
    out, err = run("recommend", "r.csv", "--item", "film", "-k", 3, "--components", 4)
    frame = from_csv(out)
    assert "('userId')" in err and "('film')" in err and "weighted by 'rating'" in err
    assert not {*zip(frame["user"], frame["item"], strict=True)} & {*pairs}
    ends = zip(frame["user"], frame["item"], strict=True)
    right = [int(item[1:]) // 10 == taste[int(user[1:])] for user, item in ends]
    assert np.mean(right) > 0.95 and (frame.groupby("user")["rank"].apply(list).map(tuple) == (1, 2, 3)).all()
    assert set(from_csv(run("recommend", "r.csv", "--item", "film", "--of", "u7")[0])["user"]) == {"u7"}


def test_tables_of_text_without_a_header_lose_no_row(run):
    pairs = [("u1", "a"), ("u1", "b"), ("u2", "b"), ("u2", "c"), ("u3", "a"), ("u3", "c")]
    pd.DataFrame(pairs).to_csv("r.csv", index=False, header=False)
    _, err = run("recommend", "r.csv", "-k", 1, "--components", 2)
    assert "read 6 interactions of 3 users ('column 1') and 3 items ('column 2')" in err
    Path("l.csv").write_text("ann,x\nbob,y\ncem,x\n")
    _, err = run("explore", "follows.csv", "--labels", "l.csv", "-k", 2)
    assert "3 nodes have labels" in err


def test_ids_of_every_file_are_what_is_written_there(run):
    """007 is not 7, nor 1.10 what 1.1 is."""
    ids = ["007", "7", "1.10", "1.1", "1e2", "100", "2024-01-01", "true"]
    edges = pd.DataFrame({"source": ids, "target": [*ids[1:], ids[0]]})
    edges.to_csv("e.csv", index=False)
    edges[["target", "source"]].to_csv("pairs.csv")  # turned round, with an index of pandas
    pd.DataFrame({"class": list("xyxyxyxy"), "id": ids}).to_csv("l.csv")
    columns = {"source": str, "target": str, "user": str, "item": str, "id": str}
    out, _ = run("links", "e.csv", "--pairs", "pairs.csv")
    assert pd.read_csv(io.StringIO(out), dtype=columns)[["source", "target"]].equals(edges)
    assert "8 nodes have labels" in run("explore", "e.csv", "--labels", "l.csv")[1]
    out, err = run("recommend", "e.csv", "-k", "7", "--known")
    found = pd.read_csv(io.StringIO(out), dtype=columns)
    assert {*found["user"]} == {*found["item"]} == {*ids} and "8 users" in err and "8 items" in err
    run("embed", "e.csv", "-o", "v.csv", "-k", 2)
    assert "8 nodes have labels" in run("explore", "v.csv", "--labels", "l.csv")[1]


@pytest.mark.parametrize("name", ["", "Unnamed: 0", "id", "ID"])
@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_numbers_of_rows_are_no_measurements(run, name, ending):
    """Rows sorted by class give the classes away by their numbers."""
    X, y = load_iris(return_X_y=True)
    frame = pd.DataFrame(X, columns=list("abcd")).assign(species=y)
    frame["species"] = frame["species"].astype("Int64").mask(np.arange(150) % 5 == 0)
    frame.insert(0, name, np.arange(1000, 1150))
    {"csv": frame.to_csv, "parquet": frame.to_parquet}[ending](f"t.{ending}", index=False)
    out, err = run("classify", f"t.{ending}", "--label", "species")
    assert "of 4 numbers" in err and from_csv(out)["id"].tolist() == [*range(1000, 1150, 5)]
    out, err = run("bicluster", f"t.{ending}", "--drop", "species", "-k", 2)
    assert "4 columns" in err and from_csv(out)["name"].tolist()[:2] == ["1000", "1001"]


@pytest.mark.parametrize(
    ("third", "values", "weighted"),
    [("Anzahl", [1, 5, 2], True), ("visit_id", [1, 5, 2], False), ("year", [2001, 2002, 2001], False)],
)
def test_a_third_column_of_interactions_is_a_weight_unless_it_is_an_id_or_a_time(run, third, values, weighted):
    pd.DataFrame({"Kunde": list("aab"), "Artikel": list("xyy"), third: values}).to_csv("r.csv", index=False)
    for options in ([], ["--user", "Artikel", "--item", "Kunde"]):
        err = run("recommend", "r.csv", "-k", 1, *options)[1]
        assert (f"weighted by {third!r}" in err) == weighted and ("all of weight 1" in err) != weighted


def test_recommend_gives_what_is_left_to_users_who_have_nearly_all(run):
    pairs = [("ann", item) for item in "abcd"] + [("bob", item) for item in "abc"] + [("cem", item) for item in "de"]
    pd.DataFrame(pairs, columns=["user", "item"]).to_csv("r.csv", index=False)
    frame = from_csv(run("recommend", "r.csv", "-k", 2)[0])
    assert frame.groupby("user").size().to_dict() == {"ann": 1, "bob": 2, "cem": 2}
    assert frame.loc[frame["user"] == "ann", "item"].tolist() == ["e"]
    pd.DataFrame([("ann", "a"), ("bob", "a")], columns=["user", "item"]).to_csv("all.csv", index=False)
    assert "every user has every item" in run("recommend", "all.csv", code=2)


def test_svd_image_rebuilds_an_image(run):
    y, x = np.mgrid[:40, :60]
    picture = np.stack([x * 4, y * 6, (x + y) * 2], axis=2).astype(np.uint8)
    Image.fromarray(picture).save("photo.png")
    facts = json.loads(run("svd-image", "photo.png", "-k", 3, "--json")[0])
    with Image.open("photo.svd.png") as image:
        rebuilt = np.asarray(image).astype(int)
    assert facts["output"] == "photo.svd.png" and facts["psnr"] > 40 and np.abs(rebuilt - picture).max() <= 3
    run("svd-image", "photo.png", "-k", 3, "-o", "again.jpg", "--kernel", "exponential")
    assert Path("again.jpg").read_bytes().startswith(b"\xff\xd8")


@pytest.mark.parametrize(
    ("name", "dtype", "white"),
    [("i.png", np.uint16, 65535), ("i.tif", np.uint16, 65535), ("i.tif", np.int32, 65535), ("f.tif", np.float32, 1)],
)
def test_images_of_more_than_8_bits_keep_their_tones(run, name, dtype, white):
    tones = np.add.outer(np.arange(32), np.arange(40)) / 70
    Image.fromarray((tones * white).astype(dtype)).save(name)
    run("svd-image", name, "-k", 2, "-o", "rebuilt.png")
    with Image.open("rebuilt.png") as image:
        np.testing.assert_allclose(np.asarray(image) / 255, tones, atol=2 / 255)
    Image.fromarray((tones * white * 2).astype(np.int32 if white > 1 else dtype)).save("bright.tif")
    assert "not from 0 to" in run("svd-image", "bright.tif", "-k", 2, code=2)


def test_info_tells_what_a_report_needs(run):
    facts = json.loads(run("info", "--json")[0])
    assert {"lopsided", "numpy", "BLAS", "threads", "memory budget"} <= facts.keys()
    text = run("info")[0]
    assert "numpy" in text and "None" not in text and "1 threads" not in text


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_knows_every_command_and_its_options(run, shell):
    script, _ = run("completion", shell)
    assert all(command in script for command in COMMANDS) and "components" in script
    if shell == "bash":
        ask = f'{script}\nCOMP_WORDS=(lopsided em); COMP_CWORD=1; _lopsided; echo "${{COMPREPLY[@]}}"'
        assert subprocess.run(["bash", "-c", ask], capture_output=True, text=True).stdout == "embed\n"


# What it says, and where.


def test_every_command_shows_an_example(run):
    for command in COMMANDS:
        text, _ = run(command, "--help")
        assert f"example:\n  {'eval' if command == 'completion' else f'lopsided {command}'}" in text
    assert "COMMAND" in run("--help")[0] == run()[0]


@pytest.mark.parametrize("extension", ["csv", "tsv", "parquet", "json"])
def test_tables_are_written_in_the_format_of_the_extension(run, extension):
    path = f"out.{extension}"
    out, _ = run("links", "follows.csv", "-o", path)
    read = {"csv": pd.read_csv, "tsv": pd.read_table, "parquet": pd.read_parquet, "json": pd.read_json}
    assert out == "" and list(read[extension](path).columns) == ["source", "target", "score"]


def test_quiet_says_nothing_and_json_is_one_object(run):
    assert run("embed", "follows.csv", "-k", 2, "-q") == ("", "")
    out, err = run("embed", "follows.csv", "-k", 2, "--json", "--force")
    facts = json.loads(out)
    assert err == "" and facts["nodes"] == 5 and facts["output"] == "follows.embedding.parquet"


def test_vectors_on_standard_output_are_within_the_json_object(run):
    rows = json.loads(run("embed", "follows.csv", "-k", 2, "-o", "-", "--json")[0])["rows"]
    assert [row["id"] for row in rows] == ["ann", "bob", "cem", "dea", "eve"] and set(rows[0]) >= {"source_1"}


def test_columns_that_were_guessed_are_said_aloud(run):
    Path("g.csv").write_text("when,sender,receiver,amount,kind\n1,ann,bob,3,x\n2,bob,ann,4,y\n")
    _, err = run("embed", "g.csv", "-k", 1)
    said = "columns: source 'sender', target 'receiver', weight 'amount'; not used: 'when', 'kind'\n"
    assert err.startswith(said)


def test_decimal_commas_of_spreadsheets_are_read_in_tables_too(run):
    frame = pd.DataFrame(np.kron(np.eye(2), np.ones((6, 4))) * 5.25 + 0.5, columns=[f"c{j}" for j in range(8)])
    frame.to_csv("point.csv", index=False)
    frame.to_csv("comma.csv", index=False, sep=";", decimal=",")
    assert run("bicluster", "comma.csv", "-k", 2) == run("bicluster", "point.csv", "-k", 2)


def test_translated_advice_is_still_given_by_the_library():
    strings = set()
    for path in Path(lopsided.__file__).parent.rglob("*.py"):
        if path.parent.name == "cli":
            continue
        nodes = ast.walk(ast.parse(path.read_text("utf-8")))
        strings |= {str(node.value) for node in nodes if isinstance(node, ast.Constant)}
    assert all(any(advice in text for text in strings) for advice in IN_OPTIONS if " " in advice)


def test_warnings_of_the_library_are_one_line(run):
    Path("w.csv").write_text("a,b\nc,d\n")
    _, err = run("embed", "w.csv", "-k", 1)
    assert err.splitlines()[0].startswith("lopsided: warning: ") and "Warning:" not in err


def test_strange_ids_go_through(run):
    ids = ["<script>alert(1)</script>", 'qu"ote', "🙂", "\u202eright", "x" * 10_000, "comma,comma"]
    pd.DataFrame({"source": ids, "target": ids[1:] + ids[:1]}).to_csv("s.csv", index=False)
    assert sorted(from_csv(run("embed", "s.csv", "-k", 2, "-o", "-")[0])["id"]) == sorted(ids)


# One line for every mistake, and nothing lost.


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["embed", "missing.csv"], "missing.csv: no such file"),
        (["embed", "."], ". is a folder"),
        (["embed", "empty.csv"], "'empty.csv' has no edges"),
        (["embed", "words.csv"], "cannot read 'words.csv'"),
        (["embed", "wide.csv"], "name both: --source COLUMN --target COLUMN"),
        (["embed", "follows.csv", "--source", "who"], "'who'"),
        (["embed", "follows.csv", "-k", "0"], "-k: 0 is not a whole number of at least 1; see lopsided embed --help"),
        (["embed", "follows.csv", "--kernel", "magic"], "magic"),
        (["embed", "follows.csv", "--memory", "lots"], "--memory 'lots' is not a size"),
        (["embed", "follows.csv", "-o", "there.parquet"], "there.parquet exists; replace it with --force"),
        (["embed", "follows.csv", "-o", "no/such/v.parquet"], "there is no folder no/such"),
        (
            ["embed", "follows.csv", "-o", "v.xls"],
            "ends with '.xls'; the extension sets the format: use one of .parquet",
        ),
        (
            ["embed", "follows.csv", "--save", "m.pkl"],
            "the extension sets the format: use one of .lopsided",
        ),
        (["embed", "broken.parquet"], "cannot read 'broken.parquet'"),
        (["embed", "broken.npz"], "cannot read 'broken.npz'"),
        (["links", "broken.lopsided"], "cannot load 'broken.lopsided': it is not a zip"),
        (["links", "follows.csv", "--of", "nobody"], "'nobody' is not among the 5 ids; ids look like 'ann'"),
        (["links", "follows.csv", "--of", "anna"], "'anna' is not among the 5 ids; did you mean 'ann'?"),
        (["links", "follows.csv", "--of", "ann", "-k", "0"], "-k: 0 is not a whole number of at least 1"),
        (["links", "follows.csv", "--of", "ann", "--pairs", "follows.csv"], "give only one of them"),
        (["links", "follows.csv", "--pairs", "x"], "x: no such file"),
        (["links", "model.lopsided", "--source", "x"], "--source describes a file of edges"),
        (["links", "-", "--pairs", "-"], "only one input can be -"),
        (["embed", "missing.csv", "-o", "there.parquet"], "missing.csv: no such file"),
        (["embed", "latin.csv"], "save the file as UTF-8"),
        (
            ["embed", "dates.csv"],
            "'column 3' is read as the weights of edges, but holds '2024-05-01', which is not a number; if it is not "
            "the weight, name the other two: --source 'column 1' and --target 'column 2'",
        ),
        (["embed", ""], "no such file"),
        (["classify", "follows.csv"], "--labels FILE for a graph; follows.csv has the columns 'source', 'target'"),
        (["embed", "calls.csv"], "--source 'column 1' --target 'column 2' --weight 'column 3'"),
        (["classify", "wide.csv", "--label", ""], "give --label COLUMN for a table, or --labels FILE for a graph"),
        (["classify", "wide.csv", "--label", "z"], "there is no 'z' among the columns 'a', 'b', 'c', 'd'"),
        (
            ["classify", "text.csv", "--label", "d"],
            "there is text in column 'c'; leave a column out with --drop COLUMN",
        ),
        (["classify", "holes.csv", "--label", "c"], "2 cells are empty, the first in row 1 of column 'b'"),
        (["bicluster", "nothing.csv"], "there is nothing in column 'b'; leave a column out with --drop"),
        (["classify", "follows.csv", "--labels", "text.csv", "--new", "wide.csv"], "are for tables"),
        (["bicluster", "wide.csv", "-k", "few"], "-k: few is not a whole number of at least 1, or auto"),
        (["bicluster", "text.csv"], "there is text in columns 'c', 'd'"),
        (["recommend", "wide.csv"], "it is unclear which of the columns 'a', 'b', 'c', 'd' is the user"),
        (["recommend", "follows.csv", "--user", "who"], "--user who is not among the columns 'source', 'target'"),
        (["svd-image", "follows.csv"], "follows.csv is not an image"),
        (["embed", "follows.csv", "-o", "vectors"], "vectors has no extension; the extension sets the format"),
        (["embed", "follows.csv", "--seed", "-1"], "--seed: -1 is not a whole number from 0 to 4294967295"),
        (["embed", "relations.csv", "--header"], "name the other two: --source 'head' and --target 'relation'"),
        (["embed", "signs.csv"], "--kernel katz and --kernel node_kernel allow signs"),
        (["embed", "follows.csv", "--memory", "1B"], "--memory 1B (1 byte) is too small"),
        (["embed", "colons.csv"], "commas, semicolons, tabs, bars or spaces separate cells"),
        (["embed", "spaces.csv", "-o", "v.txt"], "'a b' has spaces, which the word2vec format does not allow"),
        (["bicluster", "wide.csv", "-k", "0"], "-k: 0 is not a whole number of at least 1, or auto"),
        (["classify", "follows.csv", "--labels", "wide.csv"], "no id in wide.csv is a node of the graph"),
        (["explore", "follows.csv", "--labels", "wide.csv"], "whose ids look like 'ann'"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_mistakes_end_with_code_2_and_one_line(run, arguments, message):
    Path("empty.csv").write_text("")
    Path("nothing.csv").write_text("a,b,c\n1,,2\n2,,1\n")
    Path("words.csv").write_text("only\nwords\n")
    Path("wide.csv").write_text("a,b,c,d\n1,2,3,4\n5,6,7,8\n")
    Path("text.csv").write_text("a,b,c,d\nx,2,y,4\nz,6,w,e\n")
    Path("holes.csv").write_text("a,b,c\n1,,x\n,4,y\n")
    Path("dates.csv").write_text("ann,bob,2024-05-01\nbob,ann,2024-05-02\n")
    Path("latin.csv").write_text("José,Ana\n", encoding="latin-1")
    Path("calls.csv").write_text("ann;bob;3;2024-05-01\nbob;ann;4;2024-05-02\n")
    Path("relations.csv").write_text("head,relation,tail\nann,likes,bob\nbob,knows,ann\n")
    Path("signs.csv").write_text("source,target,weight\nann,bob,-1\nbob,ann,2\n")
    Path("colons.csv").write_text("ann:bob\nbob:ann\n")
    Path("spaces.csv").write_text("a b,c\nc,a b\n")
    Path("there.parquet").write_text("mine")
    for name in ("broken.parquet", "broken.npz", "broken.lopsided", "model.lopsided"):
        Path(name).write_bytes(b"PAR1 no")
    before = {path: path.read_bytes() for path in Path().iterdir()}
    assert message in run(*arguments, code=2)
    assert {path: path.read_bytes() for path in Path().iterdir()} == before


@pytest.mark.parametrize("arguments", [["embed"], ["embed", "a", "b"], ["fly"], ["embed", "x", "--fast"], ["-k"]])
def test_wrong_usage_ends_with_code_2(arguments, capsys):
    assert main(arguments) == 2
    assert len(capsys.readouterr().err.splitlines()) == 1


@pytest.mark.skipif(os.name == "nt" or os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_read_only_folder_is_named(run):
    Path("closed").mkdir(mode=0o500)
    assert "is read-only" in run("embed", "follows.csv", "-o", "closed/v.parquet", code=2)


def test_an_interrupt_leaves_nothing_half_written(run, monkeypatch):
    import lopsided.cli.commands.embed as command

    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(command, "write_vectors", interrupt)
    assert "interrupted" in run("embed", "follows.csv", "-k", 2, code=130)
    assert [path.name for path in Path().iterdir()] == ["follows.csv"]


def test_an_interrupt_while_modules_are_imported_is_not_lost(run, monkeypatch):
    def swallow(*_):
        with contextlib.suppress(KeyboardInterrupt):  # as callbacks of Python's imports do
            signal.raise_signal(signal.SIGINT)

    monkeypatch.setattr("lopsided.cli.run.import_module", swallow)
    assert "interrupted" in run("embed", "follows.csv", code=130)


@pytest.mark.skipif(os.name == "nt", reason="signals reach other processes on POSIX alone")
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_a_fit_and_leaves_nothing(run, number):
    edges = np.random.default_rng(0).integers(0, 30_000, (300_000, 2))
    pd.DataFrame(edges).to_csv("large.csv", header=False, index=False)
    command = [sys.executable, "-m", "lopsided", "embed", "large.csv", "--save", "m.lopsided"]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        assert process.stderr.readline().startswith("read 30,000 nodes")  # and now the fit begins
        process.send_signal(number)
        message = process.stderr.read()
    assert (process.returncode, message) == (130, "lopsided: interrupted; no file was left half-written\n")
    assert sorted(path.name for path in Path().iterdir()) == ["follows.csv", "large.csv"]


def test_tracebacks_are_shown_on_request(monkeypatch):
    monkeypatch.setenv("LOPSIDED_DEBUG", "1")
    with pytest.raises(FileNotFoundError):
        main(["embed", "missing.csv"])


# In processes of their own.


def in_shell(command):
    environment = {**os.environ, "PYTHONPATH": str(Path(main.__globals__["__file__"]).parents[2])}
    command = command.replace("lopsided", f"{sys.executable} -m lopsided", 1)
    return subprocess.run(["bash", "-c", command], capture_output=True, text=True, env=environment)


def test_help_imports_nothing_numerical():
    done = in_shell("lopsided --help")
    assert done.returncode == 0
    code = "import sys, lopsided.cli; lopsided.cli.main(['embed', '--help']); print(sorted(sys.modules))"
    shown = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert not {"numpy", "scipy", "sklearn", "pyarrow"} & {*shown.replace("'", " ").replace(",", " ").split()}


def test_pipes_may_close_early():
    done = in_shell("lopsided links follows.csv -q | head -n 1")
    assert (done.stdout, done.stderr) == ("source,target,score\n", "")
