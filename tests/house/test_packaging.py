"""What the package says of itself: version, links, and README on the page of a package index."""

import re
import tomllib
from pathlib import Path

import pytest
from hatchling.metadata.core import ProjectMetadata
from hatchling.plugin.manager import PluginManager

import lopsided
from cases import ESTIMATORS, KERNELS
from lopsided._core import estimator as estimator_module

ROOT = Path(__file__).parents[2]
OURS = [kernel for kernel, _ in KERNELS.values() if type(kernel).__module__.startswith("lopsided.")]
URLS = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["urls"]


def test_the_version_is_the_same_everywhere():
    citation = (ROOT / "CITATION.cff").read_text()
    assert re.search(r"^version: (.+)$", citation, re.MULTILINE)[1] == lopsided.__version__
    released = re.search(r"^date-released: (.+)$", citation, re.MULTILINE)[1]
    assert f"\n## [{lopsided.__version__}] - {released}\n" in (ROOT / "CHANGELOG.md").read_text()


def test_the_readme_of_an_index_page_has_absolute_links_alone():
    readme = ProjectMetadata(str(ROOT), PluginManager()).core.readme
    before, after = (re.findall(r"\]\(([^)\s]+)\)", text) for text in ((ROOT / "README.md").read_text(), readme))
    assert len(before) == len(after) > 20 and all(link.startswith("https://") for link in after)
    absolute = dict(zip(before, after, strict=True))
    assert absolute["docs/graphs.md"] == f"{URLS['Documentation']}/page/graphs.html"
    assert absolute["docs/direction.png"] == f"{URLS['Repository']}/raw/v{lopsided.__version__}/docs/direction.png"


def test_addresses_of_the_project_are_written_in_one_place():
    written = [path for folder in ("src", "tests", "docs", "examples") for path in (ROOT / folder).rglob("*.[mp][dy]")]
    hosts = [url.removeprefix("https://") for url in URLS.values()]
    assert not [path for path in (*written, ROOT / "README.md") if any(host in path.read_text() for host in hosts)]


@pytest.mark.parametrize("thing", [*ESTIMATORS, *OURS], ids=lambda thing: type(thing).__name__)
def test_representations_link_to_the_page_of_the_class(thing, monkeypatch):
    monkeypatch.setattr(estimator_module, "documentation", lambda: URLS["Documentation"])
    page = re.search(rf'href="{URLS["Documentation"]}/page/api/([\w.]+)\.html"', thing._repr_html_())[1]
    module, name = page.rsplit(".", 1)
    block = re.search(rf"currentmodule:: {module}\n(.*?)```", (ROOT / "docs" / "api.md").read_text(), re.DOTALL)[1]
    assert name == type(thing).__name__ and f"   {name}\n" in block


def test_an_unknown_address_gives_no_link(monkeypatch):
    monkeypatch.setattr(estimator_module, "documentation", lambda: "")
    assert 'href="' not in re.sub(r"<style>.*?</style>", "", ESTIMATORS[0]._repr_html_(), flags=re.DOTALL)
