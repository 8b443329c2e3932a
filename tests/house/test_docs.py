"""The pages name what exists."""

import importlib
import re
import subprocess
import sys
from pathlib import Path

import pytest

import lopsided

ROOT = Path(__file__).parents[2]
PAGES = sorted((ROOT / "docs").glob("*.md"))
GRAPHS = ROOT / "docs" / "graphs.md"
TESTS = {
    name for path in (ROOT / "tests").rglob("test_*.py") for name in re.findall(r"def (test_\w+)", path.read_text())
}


def resolved(name):
    """The object of a dotted name: the longest prefix that is a module, and attributes after it."""
    parts = name.split(".")
    for cut in range(len(parts), 0, -1):
        try:
            found = importlib.import_module(".".join(parts[:cut]))
        except ModuleNotFoundError:
            continue
        for part in parts[cut:]:
            found = getattr(found, part)
        return found
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_names_on_a_page_exist(page):
    text = page.read_text()
    for name in re.findall(r"`(lopsided(?:\.\w+)+)", text):
        assert resolved(name) is not None
    missing = set(re.findall(r"`(test_\w+)`", text)) - TESTS
    assert not missing


@pytest.mark.parametrize("page", [*PAGES, ROOT / "README.md"], ids=lambda page: page.stem)
def test_links_of_a_page_lead_somewhere(page):
    links = re.findall(r"\]\(([^)#:]+)\)", page.read_text())
    missing = [link for link in links if not (page.parent / link).exists()]
    assert not missing


def test_files_named_in_the_guide_for_contributors_exist():
    guide = (ROOT / "CONTRIBUTING.md").read_text()
    named = set(re.findall(r"`([\w/]+(?:/|\.py))`", guide))
    assert len(named) > 20
    places = [ROOT, ROOT / "src", ROOT / "src" / "lopsided"]
    assert [name for name in sorted(named) if not any((place / name).exists() for place in places)] == []


def snippets_of(page):
    return re.findall(r"```python\n(.*?)```", page.read_text(), re.DOTALL)


def runs(code, folder):
    (folder / "page.py").write_text(code)
    quiet = ["-W", "error", "-W", "ignore:::pyparsing"]  # any -W turns on its diagnostics, at which old matplotlib errs
    done = subprocess.run([sys.executable, *quiet, "page.py"], cwd=folder, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


SMALLER = {"make_click_log(10_000_000)": "make_click_log(4000, block_rows=1000)"}  # the same lines on fewer rows


def test_the_page_of_graphs_runs_as_printed_on_a_smaller_graph(tmp_path):
    code = "\n".join(snippets_of(GRAPHS)).replace("1500", "300").replace("900", "200").replace("901", "201")
    code = code.replace("n_components=128", "n_components=8").replace("Embedding(kernel", "Embedding(8, kernel")
    runs(code.replace("Embedding()", "Embedding(8)").replace("k=100)", "k=10)"), tmp_path)


def test_the_picture_of_the_page_of_graphs_is_drawn(tmp_path):
    script = ROOT / "examples" / "direction_pays.py"
    command = [sys.executable, script, "--nodes", "120", "--out", tmp_path]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert (tmp_path / "direction_pays.png").exists()


@pytest.mark.parametrize(
    "page",
    [page for page in (*PAGES, ROOT / "README.md") if page != GRAPHS and snippets_of(page)],
    ids=lambda page: page.stem,
)
def test_other_pages_run_as_printed(page, tmp_path):
    code = "\n".join(snippets_of(page))
    for large, small in SMALLER.items():
        code = code.replace(large, small)
    runs(code, tmp_path)


GALLERY = sorted((ROOT / "examples" / "gallery").glob("plot_*.py"))


@pytest.mark.parametrize("example", GALLERY, ids=lambda path: path.stem)
def test_examples_of_the_gallery_run_and_draw(example, tmp_path):
    draws = "import matplotlib.pyplot as plt; assert plt.get_fignums(), 'no figure'"
    runs(f"import matplotlib; matplotlib.use('Agg')\n{example.read_text()}\n{draws}", tmp_path)


def test_the_gallery_has_a_dozen_examples():
    assert len(GALLERY) >= 12


ROOMS_ON_THE_API_PAGE = [name for name in lopsided.__all__ if name not in ("cli",) and name.islower()]
EVERY_NAME = [
    ("lopsided", *[name for name in lopsided.__all__ if callable(getattr(lopsided, name))]),
    *(
        (f"lopsided.{room}", *getattr(getattr(lopsided, room), "__all__", []))
        for room in ROOMS_ON_THE_API_PAGE
        if not callable(getattr(lopsided, room))
    ),
]


def test_the_page_of_the_api_lists_every_public_name():
    text = (ROOT / "docs" / "api.md").read_text()
    listed = {
        resolved(f"{module}.{name}")
        for module, block in re.findall(r"currentmodule:: (\S+)\n(.*?)```", text, re.DOTALL)
        for name in re.findall(r"^   (\w+)$", block, re.MULTILINE)
    }
    public = {getattr(resolved(module), name) for module, *names in EVERY_NAME for name in names}
    assert {thing for thing in public if callable(thing)} - listed == set()


@pytest.mark.parametrize("module", [module for module, *_ in EVERY_NAME])
def test_every_public_name_has_an_example(module):
    names = next(names for name, *names in EVERY_NAME if name == module)
    things = {name: getattr(resolved(module), name) for name in names}
    documented = {name: thing for name, thing in things.items() if callable(thing) and module != "lopsided.exceptions"}
    assert [name for name, thing in documented.items() if ">>> " not in (thing.__doc__ or "")] == []


def test_every_page_is_in_the_contents_of_the_site():
    toctrees = re.findall(r"```\{toctree\}(.*?)```", "".join(page.read_text() for page in PAGES), re.DOTALL)
    named = {word.strip("<>") for block in toctrees for word in block.split() if not word.startswith(":")}
    assert {page.stem for page in PAGES} - {"index"} <= named
