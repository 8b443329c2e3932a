"""Rooms are built on those below them and entered by their front doors."""

import ast
from graphlib import TopologicalSorter
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
    {"graphs", "biclustering", "images", "recommendation"},
    {"distributed"},
    {"datasets", "plotting", "testing", "explore"},
    {"cli"},
    {"__main__"},
]


def floor(room):
    return next(height for height, rooms in enumerate(FLOORS) if room in rooms)


def nodes_at_runtime(tree):
    """Every node of a syntax tree, those inside functions included, except what only type checkers read."""
    yield tree
    for node in ast.iter_child_nodes(tree):
        if not (isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)):
            yield from nodes_at_runtime(node)


def imported(path, nodes_of=ast.walk):
    """Dotted modules below the package from which a file imports."""
    package = path.relative_to(SOURCE).parts[:-1]
    for node in nodes_of(ast.parse(path.read_text())):
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
    return [name for name in imported(path) if name.split(".")[0] not in (room_of(path), "__version__")]


IN_ROOMS = [path for path in MODULES if path != SOURCE / "__init__.py"]


@pytest.mark.parametrize("path", IN_ROOMS, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_imports_only_from_lower_floors(path):
    others = imports_of_other_rooms(path)
    assert [name for name in others if floor(name.split(".")[0]) >= floor(room_of(path))] == []


@pytest.mark.parametrize("path", MODULES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_a_room_is_entered_by_its_front_door(path):
    assert [name for name in imports_of_other_rooms(path) if "." in name] == []


def module_of(path):
    return ".".join(path.relative_to(SOURCE).with_suffix("").parts).removesuffix(".__init__")


@pytest.mark.parametrize("room", sorted({room_of(path) for path in IN_ROOMS}))
def test_modules_of_a_room_do_not_import_each_other_in_a_circle(room):
    inside = {module_of(path): path for path in MODULES if room_of(path) == room}
    imports = {name: set(imported(path, nodes_at_runtime)) & set(inside) for name, path in inside.items()}
    TopologicalSorter(imports).prepare()


def test_imports_are_seen():
    found = {str(path.relative_to(SOURCE)): set(imported(path)) for path in MODULES}
    assert {"_core", "operators.base"} <= found["operators/stored.py"]
    assert {"kernel_svd", "graphs", "kernels"} <= found["__init__.py"]
