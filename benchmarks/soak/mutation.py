"""Small changes of source code, one at a time: operators, comparisons, conditions, signs, numbers, min and max."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

SWAPS: dict[type, type] = {
    ast.Add: ast.Sub, ast.Sub: ast.Add, ast.Mult: ast.Div, ast.Div: ast.Mult, ast.FloorDiv: ast.Mult, ast.Pow: ast.Mult,
    ast.MatMult: ast.Mult, ast.Mod: ast.Add, ast.LShift: ast.RShift, ast.RShift: ast.LShift, ast.BitAnd: ast.BitOr,
    ast.BitOr: ast.BitAnd, ast.Lt: ast.LtE, ast.LtE: ast.Lt, ast.Gt: ast.GtE, ast.GtE: ast.Gt, ast.Eq: ast.NotEq,
    ast.NotEq: ast.Eq, ast.Is: ast.IsNot, ast.IsNot: ast.Is, ast.In: ast.NotIn, ast.NotIn: ast.In, ast.And: ast.Or,
    ast.Or: ast.And, ast.USub: ast.UAdd, ast.Invert: ast.UAdd,
}  # fmt: skip
NAMES = {
    "min": "max", "max": "min", "minimum": "maximum", "maximum": "minimum", "argmin": "argmax", "argmax": "argmin",
    "any": "all", "all": "any", "floor": "ceil", "ceil": "floor", "ones": "zeros", "zeros": "ones",
}  # fmt: skip
UNTOUCHED = (ast.Raise, ast.JoinedStr, ast.Import, ast.ImportFrom, ast.Assert)


class Mutant(NamedTuple):
    """A file with one change."""

    file: Path
    number: int  # of the change, in the order of lines
    lines: range  # of the statement, or of its head if it holds others
    change: str

    @property
    def source(self) -> str:
        """The changed source."""
        tree = ast.parse(self.file.read_text())
        node, field, new, _ = next(islice(_changes(tree), self.number, None))
        setattr(node, field, new)
        return ast.unparse(tree)


def mutants(file: Path) -> list[Mutant]:
    """All mutants of a file, in the order of its lines.

    Left alone: annotations, docstrings and messages; assertions, among them the strictness of a ``zip``; constants of a
    module, whose values were tuned and are no law.
    """
    tree = ast.parse(file.read_text())
    lines = _lines(tree)
    return [Mutant(file, number, lines[node], change) for number, (node, _, _, change) in enumerate(_changes(tree))]


def _lines(tree: ast.Module) -> dict[ast.AST, range]:
    """For every node, the lines of the innermost statement around it, without those of statements within."""
    found: dict[ast.AST, range] = {}
    for statement in ast.walk(tree):  # outer ones first
        if isinstance(statement, ast.stmt):
            body = getattr(statement, "body", ())
            lines = range(statement.lineno, body[0].lineno if body else (statement.end_lineno or 0) + 1)
            found |= dict.fromkeys(ast.walk(statement), lines)
    return found


def _changes(tree: ast.Module) -> Iterator[tuple[ast.AST, str, object, str]]:
    for statement in tree.body:
        if isinstance(statement, (ast.FunctionDef, ast.ClassDef)):
            yield from _within(statement)


def _within(node: ast.AST) -> Iterator[tuple[ast.AST, str, object, str]]:
    if isinstance(node, UNTOUCHED) or (isinstance(node, ast.Call) and _called(node) in ("warn", "cast")):
        return
    if isinstance(node, ast.keyword) and node.arg == "strict":
        return
    yield from _of(node)
    for field, value in ast.iter_fields(node):
        if field in ("annotation", "returns", "decorator_list", "type_params"):
            continue
        for child in value if isinstance(value, list) else [value]:
            if isinstance(child, ast.AST) and not _is_docstring(child):
                yield from _within(child)


def _of(node: ast.AST) -> Iterator[tuple[ast.AST, str, object, str]]:
    """The changes at one node: an attribute, its new value, and what the change is in words."""
    match node:
        case ast.BinOp(op=op) | ast.BoolOp(op=op) | ast.AugAssign(op=op) | ast.UnaryOp(op=op) if type(op) in SWAPS:
            yield node, "op", SWAPS[type(op)](), f"{_name(op)} -> {_name(SWAPS[type(op)]())}: {ast.unparse(node)}"
        case ast.Compare(ops=[op]) if type(op) in SWAPS:
            yield node, "ops", [SWAPS[type(op)]()], f"{_name(op)} -> {_name(SWAPS[type(op)]())}: {ast.unparse(node)}"
        case ast.Constant(value=bool() as value):
            yield node, "value", not value, f"{value} -> {not value}"
        case ast.Constant(value=int() as value):
            yield node, "value", value + 1, f"{value} -> {value + 1}"
        case ast.Constant(value=float() as value):
            yield node, "value", 2 * value or 1.0, f"{value} -> {2 * value or 1.0}"
        case ast.Name(id=name) if name in NAMES:
            yield node, "id", NAMES[name], f"{name} -> {NAMES[name]}"
        case ast.Attribute(attr=name) if name in NAMES:
            yield node, "attr", NAMES[name], f"{name} -> {NAMES[name]}: {ast.unparse(node)}"
    if isinstance(node, (ast.If, ast.IfExp, ast.While)):
        yield node, "test", ast.UnaryOp(ast.Not(), node.test), f"not: {ast.unparse(node.test)}"


def _called(node: ast.Call) -> str:
    return node.func.id if isinstance(node.func, ast.Name) else ""


def _is_docstring(node: ast.AST) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant) and isinstance(node.value.value, str)


def _name(operator: ast.AST) -> str:
    return type(operator).__name__
