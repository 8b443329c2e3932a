"""Rooms are built on those below them and entered by their front doors."""

import ast
from pathlib import Path

import pytest

import lopsided

SOURCE = Path(lopsided.__file__).parent
MODULES = sorted(SOURCE.rglob("*.py"))
FLOORS = [
    {"exceptions"},
    {"_core"},
    {"kernels"},
    {"operators"},
    {"svd"},
    {"nystrom"},
    {"io"},
    {"kernel_svd", "least_squares", "prior_nystroem"},
    {"graphs", "biclustering", "images"},
    {"distributed"},
    {"datasets", "plotting", "testing", "explore", "cli"},
]


def floor(room):
    return next(height for height, rooms in enumerate(FLOORS) if room in rooms)


def imported(path):
    """Dotted modules below the package from which a file imports."""
    package = path.relative_to(SOURCE).parts[:-1]
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (a.name.removeprefix("lopsided.") for a in node.names if a.name.startswith("lopsided"))
        elif isinstance(node, ast.ImportFrom):
            named = node.module.split(".") if node.module else []
            if node.level:
                named = [*package[: len(package) - node.level + 1], *named]
            elif named[0] == "lopsided":
                named = named[1:]
            else:
                continue
            yield from [".".join(named)] if named else (alias.name for alias in node.names)


def room_of(path):
    return path.relative_to(SOURCE).with_suffix("").parts[0]


def imports_of_other_rooms(path):
    return [name for name in imported(path) if name.split(".")[0] != room_of(path)]


IN_ROOMS = [path for path in MODULES if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", IN_ROOMS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_lower_floors(path):
    others = imports_of_other_rooms(path)
    assert [name for name in others if floor(name.split(".")[0]) >= floor(room_of(path))] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_is_entered_by_its_front_door(path):
    assert [name for name in imports_of_other_rooms(path) if "." in name] == []


def test_imports_are_seen():
    found = {str(path.relative_to(SOURCE)): set(imported(path)) for path in MODULES}
    assert {"_core", "operators.base"} <= found["operators/stored.py"]
    assert {"kernel_svd", "graphs", "kernels"} <= found["__init__.py"]
