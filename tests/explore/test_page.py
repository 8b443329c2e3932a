"""The page: one file, text as text, and in a browser the answers of the model."""

import base64
import gzip
import hashlib
import json
import re
import shutil
from importlib.resources import files
from types import SimpleNamespace

import numpy as np
import pytest
from scipy import sparse
from sklearn.neighbors import KNeighborsClassifier

import lopsided.explore.page as page_module
from lopsided import DirectedGraphEmbedding
from lopsided.cli import main
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import LopsidedWarning
from lopsided.explore import write_page
from lopsided.io import Graph, save, write_vectors

STRANGE = [
    "<script>window.hacked = 1</script>",
    "</script><script>window.hacked = 2</script>",
    '"><img src=x onerror="window.hacked = 3">',
    "it's 100% \\ `${window.hacked = 4}`",
    "<!--DATA-->",
    "🙂 emoji",
    "\u202eright to left \u05d0\u05d1",
    "x" * 10_000,
]

PATIENCE = 180_000  # milliseconds for a page to open: a busy machine has no time for a browser


@pytest.fixture(scope="module")
def model():
    A, labels = make_citation_graph(150, n_classes=3, random_state=0)
    ids = [f"paper {i}" for i in range(150 - len(STRANGE))] + STRANGE
    found = DirectedGraphEmbedding(n_components=8).fit(Graph(A, ids))
    found.fields = [f"field {label} <b>" for label in labels]
    return found


@pytest.fixture(scope="module")
def written(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("page") / "graph.html"
    write_page(model, path, labels=model.fields, title="A <graph> & more")
    return path


def facts_of(path):
    """What a page holds, read by Python."""
    data = re.search(r'<script id="data"[^>]*>(.*?)</script>', path.read_text(encoding="utf-8"), re.DOTALL)[1]
    block = gzip.decompress(base64.b64decode(data))
    length = int.from_bytes(block[:4], "little")
    facts, place = json.loads(block[4 : 4 + length]), 4 + length
    for name, (size, width) in facts["arrays"].items():
        planes = np.frombuffer(block, np.uint8, size * width, place).reshape(width, size)
        facts[name] = sum(plane.astype(int) << (8 * i) for i, plane in enumerate(planes))
        place += size * width
    assert place == len(block)
    return facts


def nearest(model, number, k=10):
    """The best targets of a node by the scores of all its edges, in double precision."""
    scores = model.score_edges(model.nodes_[number], model.nodes_)
    scores[number] = -np.inf
    return np.argsort(-scores)[:k].tolist()


def test_labels_in_a_sparse_matrix_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="labels are a sparse matrix"):
        write_page(model, tmp_path / "page.html", labels=sparse.eye_array(150))


def test_the_page_holds_ids_coordinates_labels_and_best_targets(model, written):
    facts = facts_of(written)
    assert facts["ids"] == model.nodes_.tolist() and len(facts["spectrum"]) == len(model.singular_values_)
    assert [facts["labels"][number] for number in facts["label"]] == model.fields
    assert sorted(facts["best"][50:60].tolist()) == sorted(nearest(model, 5))
    edges = model.adjacency_.toarray()[5, facts["best"][50:60]] != 0
    np.testing.assert_array_equal(facts["linked"][50:60] == 1, edges)
    assert all(facts[f"{side}_{axis}"].max() <= facts["tones"] for side in ("source", "target") for axis in "xy")
    assert ["n_components", "8"] in facts["settings"]


def test_fields_are_apart_on_both_sides(tmp_path):
    A, fields = make_citation_graph(1000, n_classes=4, random_state=0)
    write_page(DirectedGraphEmbedding(n_components=16).fit(A), tmp_path / "a.html")
    facts = facts_of(tmp_path / "a.html")
    for side in ("source", "target"):
        places = np.column_stack([facts[f"{side}_x"], facts[f"{side}_y"]])
        found = KNeighborsClassifier(15).fit(places[::2], fields[::2]).predict(places[1::2])
        assert np.mean(found == fields[1::2]) > 0.7


def test_ids_and_titles_are_no_markup(written):
    text = written.read_text(encoding="utf-8")
    assert "hacked" not in text and "field 0 <b>" not in text and "<title>A &lt;graph&gt; &amp; more</title>" in text
    assert text.count("</script>") == 1 + 4 and "<!--" not in text.split("</style>")[0]


def test_the_page_allows_itself_no_network(written):
    text = written.read_text(encoding="utf-8")
    assert "default-src 'none'" in text
    assert not re.search(r'(src|href)="(?!data:)', text.split('<script id="data"')[0])


def test_libraries_are_those_that_were_published():
    folder = files("lopsided.explore") / "vendor"
    sums = dict(line.split()[::-1] for line in (folder / "SHA256SUMS").read_text().splitlines())
    assert sums.keys() == {*page_module.LIBRARIES}
    for name, expected in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == expected
        assert "</script" not in (folder / name).read_text()
        licence = (folder / f"{name.removesuffix('.js').removesuffix('.min')}.LICENSE").read_text()
        assert "Permission is hereby granted" in licence
    assert page_module.EXPORTS in (folder / "pub-sub-es.js").read_text()


def test_rare_labels_share_a_colour_and_nodes_may_have_none(model, tmp_path):
    write_page(model, tmp_path / "a.html", labels=[str(min(i, 60)) for i in range(150)])
    facts = facts_of(tmp_path / "a.html")
    assert len(facts["labels"]) == 24 and facts["labels"][0] == "60" and facts["labels"][-1] == "(other)"
    write_page(model, tmp_path / "b.html", labels={"paper 3": "mine"})
    assert facts_of(tmp_path / "b.html")["labels"] == ["mine", "(none)"]
    with pytest.raises(ValueError, match="^2 labels for 150 nodes"):
        write_page(model, tmp_path / "c.html", labels=["a", "b"])


def test_graphs_with_too_many_pairs_say_so(model, tmp_path, monkeypatch):
    monkeypatch.setattr(page_module, "MOST_PAIRS", 100)
    with pytest.warns(LopsidedWarning, match="150 nodes have too many pairs to score"):
        write_page(model, tmp_path / "a.html")
    assert facts_of(tmp_path / "a.html")["n_best"] == 0


@pytest.mark.parametrize("n", [1, 2, 3])
def test_the_smallest_graphs_have_a_page(n, tmp_path):
    vectors = np.eye(n)[:, :1]
    tiny = SimpleNamespace(nodes_=np.arange(n), source_embedding_=vectors, target_embedding_=vectors)
    write_page(tiny, tmp_path / "a.html")
    assert facts_of(tmp_path / "a.html")["n_best"] == 0
    tiny.edge_vectors = lambda: (vectors, vectors)
    write_page(tiny, tmp_path / "b.html")
    assert facts_of(tmp_path / "b.html")["n_best"] == n - 1


def test_unknown_layouts_are_refused(model, tmp_path):
    with pytest.raises(ValueError, match="'layout' parameter of write_page must be a str among .*'umap'.* Got 'star'"):
        write_page(model, tmp_path / "a.html", layout="star")
    assert not list(tmp_path.iterdir())


def test_the_command_takes_graphs_models_and_tables(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "g.csv").write_text("a,b\nb,c\nc,a\n")
    (tmp_path / "l.csv").write_text("id,label\na,x\nb,y\nz,y\n")
    graph = DirectedGraphEmbedding(n_components=2).fit("g.csv")
    save(graph, "m.lopsided")
    write_vectors(graph, "v.parquet")
    for name in ("g.csv", "m.lopsided", "v.parquet"):
        assert main(["explore", name, "--labels", "l.csv", "-k", "2", "--force", "-q"]) == 0, capsys.readouterr().err
        facts = facts_of(tmp_path / f"{name.split('.')[0]}.html")
        assert facts["ids"] == ["a", "b", "c"] and facts["labels"] == ["x", "y", "(none)"]
    assert main(["explore", "g.csv"]) == 2 and "g.html exists; replace it with --force" in capsys.readouterr().err
    (tmp_path / "l.csv").write_text("id,label\nq,x\n")
    assert main(["explore", "g.csv", "--labels", "l.csv", "-f"]) == 2
    assert "no id in l.csv is a node of the graph" in capsys.readouterr().err


# In a browser.

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)
SOFTWARE_WEBGL = ["--no-sandbox", "--use-angle=swiftshader", "--enable-unsafe-swiftshader", "--ignore-gpu-blocklist"]


@pytest.fixture(scope="module")
def browser():
    playwright = pytest.importorskip("playwright.sync_api", reason="playwright is not installed")
    if BROWSER is None:
        pytest.skip("there is no chromium on this machine")
    with playwright.sync_playwright() as play:
        found = play.chromium.launch(executable_path=BROWSER, args=SOFTWARE_WEBGL)
        yield found
        found.close()


@pytest.fixture
def page(browser, written):
    """The page, drawn; nothing it does may fail, or ask for anything but itself."""
    opened = browser.new_page(viewport={"width": 1300, "height": 700})
    wrong = []
    opened.on("pageerror", lambda error: wrong.append(str(error)))
    opened.on("console", lambda message: wrong.append(message.text) if message.type == "error" else None)
    opened.on("request", lambda request: wrong.append(request.url) if request.url != written.as_uri() else None)
    opened.on("dialog", lambda dialog: wrong.append(dialog.message))
    opened.goto(written.as_uri())
    opened.wait_for_selector("body[data-ready]", timeout=PATIENCE)
    assert opened.evaluate("document.body.dataset.ready") == "true", opened.inner_text("#summary")
    yield opened
    assert opened.evaluate("window.hacked") is None and wrong == []
    opened.close()


def chosen(page):
    """Heading and items of the panel."""
    items = page.query_selector_all("#chosen ol")
    lists = [[button.inner_text().split("\n")[0] for button in each.query_selector_all("button")] for each in items]
    return page.inner_text("#chosen h3"), lists


def search(page, text):
    page.fill("#search", text)
    page.press("#search", "Enter")


def test_searching_shows_the_best_targets_of_a_node_with_lines(page, model):
    search(page, "paper 17")
    title, lists = chosen(page)
    assert title == "paper 17"
    expected = [model.nodes_[i][:300] for i in nearest(model, 17)]
    assert sorted(lists[0]) == sorted(" ".join(id.split()) for id in expected)
    lines = page.query_selector_all("#lines path")
    dashed = [line.get_attribute("stroke-dasharray") != "none" for line in lines[:10]]
    missing = [model.adjacency_[17, i] == 0 for i in nearest(model, 17)]
    assert len(lines) >= 10 and sum(dashed) == sum(missing)
    assert "paper 17" in page.evaluate("[...document.querySelectorAll('#lines text')].map((text) => text.textContent)")
    assert page.evaluate("lopsidedPage.searched") < 100 and page.evaluate("lopsidedPage.linked") < 100


def test_best_sources_are_those_whose_best_targets_include_the_node(page, model):
    popular = int(np.bincount([j for i in range(150) for j in nearest(model, i)]).argmax())
    page.evaluate(f"lopsidedPage.choose({popular})")
    expected = [i for i in range(150) if popular in nearest(model, i)]
    assert len(chosen(page)[1][1]) == len(expected)


@pytest.mark.parametrize("number", range(len(STRANGE)))
def test_every_id_is_shown_as_text(page, number):
    search(page, STRANGE[number])
    page.wait_for_function("lopsidedPage.chosen !== null")
    assert page.evaluate("document.querySelector('#chosen h3 bdi').textContent") == STRANGE[number]


def place_of(page, id):
    """Where a source is on the screen."""
    search(page, id)
    x, y = (float(part) for part in page.get_attribute("#lines path", "d")[1:].split(" ")[0].split(","))
    page.keyboard.press("Escape")
    frame = page.query_selector("#lines").bounding_box()
    return frame["x"] + x, frame["y"] + y


def test_a_click_on_a_point_chooses_it(page):
    place = place_of(page, "paper 17")
    assert page.evaluate("lopsidedPage.chosen") is None and not page.query_selector_all("#lines path")
    page.mouse.move(*place)
    page.wait_for_function("lopsidedPage.told === 17")
    assert page.inner_text("#tip") == "paper 17"
    page.mouse.click(*place)
    page.wait_for_function("typeof lopsidedPage.chosen === 'number'")
    assert page.evaluate("lopsidedPage.chosen") == 17


@pytest.mark.parametrize("closed", [False, True])
def test_a_lasso_lists_nodes_also_if_it_ends_on_the_point_where_it_began(page, closed):
    box, first = page.query_selector("#source").bounding_box(), place_of(page, "paper 17")
    corners = [(0.02, 0.02), (0.98, 0.02), (0.98, 0.98), (0.02, 0.98), (0.02, 0.1)]
    places = [(box["x"] + box["width"] * x, box["y"] + box["height"] * y) for x, y in corners]
    page.mouse.move(*first)
    page.keyboard.down("Shift")
    page.mouse.down()
    for place in [*places, first] if closed else places:
        page.mouse.move(*place, steps=12)
    page.mouse.up()
    page.keyboard.up("Shift")
    page.wait_for_function("lopsidedPage.listed > 100")
    page.wait_for_timeout(100)  # for the click that a closed lasso ends with
    assert chosen(page)[0].endswith("nodes") and page.evaluate("lopsidedPage.chosen") is None


def test_matches_are_chosen_by_the_keyboard(page):
    page.focus("#search")
    page.keyboard.type("paper 1")
    assert (
        page.get_attribute("#search", "aria-expanded") == "true" and len(page.query_selector_all("#matches li")) == 12
    )
    page.keyboard.press("ArrowDown")
    assert page.get_attribute("#match-1", "aria-selected") == "true"
    page.keyboard.press("Enter")
    assert chosen(page)[0] == "paper 10" and not page.query_selector_all("#matches li")


def test_a_slash_leads_to_the_search_which_says_if_nothing_is_found(page):
    introduction = page.inner_text("#chosen")
    page.keyboard.press("/")
    page.keyboard.type("paper 17")
    page.keyboard.press("Enter")
    assert chosen(page)[0] == "paper 17"
    page.fill("#search", "nobody of this name")
    assert page.inner_text("#matches") == "no id contains this"
    page.keyboard.press("Escape")
    assert page.inner_text("#chosen") == introduction


def test_a_label_of_the_legend_lists_its_nodes(page, model):
    page.click("#legend button:nth-child(2)")
    label = page.inner_text("#legend button:nth-child(2)")
    assert chosen(page)[0] == f"{model.fields.count(label)} nodes" and len(chosen(page)[1][0]) == model.fields.count(
        label
    )


def test_one_node_is_counted_in_the_singular(page):
    page.evaluate("lopsidedPage.list([3], 'one')")
    assert chosen(page)[0] == "1 node"


def test_items_of_a_list_lead_on(page):
    search(page, "paper 17")
    first = page.query_selector("#chosen ol button")
    name = first.inner_text().split("\n")[0]
    first.click()
    assert chosen(page)[0] == name
