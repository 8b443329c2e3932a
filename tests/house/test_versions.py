"""The oldest versions under test are those that the package says it needs."""

import re
import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[2]
WANTED = re.compile(r"([\w-]+)(?:\[[\w,]+\])?(?:>=|==)([\d.]+)")


def padded(version):
    return tuple(map(int, version.split("."))) + (0,) * (3 - len(version.split(".")))


def test_the_oldest_versions_under_test_are_the_bounds_of_the_package():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    bounds = dict(map(lambda each: WANTED.match(each).groups(), (*project["dependencies"], *extras["test"])))
    lines = (ROOT / "tests" / "oldest.txt").read_text().splitlines()
    tested = dict(found.groups() for line in lines if (found := WANTED.match(line)))
    assert {name: padded(version) for name, version in bounds.items()} == {
        name: padded(version) for name, version in tested.items()
    }
