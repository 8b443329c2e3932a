"""Node ids: conversion from table columns, numbering, missing values, and equivalent forms for lookup."""

from collections.abc import Collection, Iterator
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

from ..exceptions import LopsidedWarning, warn

LARGEST_ID = np.iinfo(np.int64).max  # an integer beyond it stays a Python object
PLAIN = {str, int}  # types of ids, none of which is missing
FINER_THAN_PYTHON = ("ns", "ps", "fs", "as")


def encoded(source: np.ndarray, target: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes of shape (2, n) and distinct values of two arrays of n ids."""
    codes, values = factorized(np.concatenate([source, target]))
    return codes.reshape(2, len(source)), values


def reject_missing(codes: np.ndarray, values: np.ndarray) -> None:
    """Raise an error if an edge from values[codes[0, i]] to values[codes[1, i]] has a missing id or an empty one."""
    ids = values.tolist()
    if set(map(type, ids)) <= PLAIN and "" not in ids:
        return
    missing = [i for i, node in enumerate(ids) if is_missing(node) or (isinstance(node, str) and not node)]
    edges, sides = np.nonzero(np.isin(codes, missing).T)
    if len(edges):
        raise ValueError(f"edge {edges[0]} has no {('source', 'target')[sides[0]]}; drop it, or name the node")


def by_appearance(codes: np.ndarray, values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Sort values by their first appearance, edge by edge; return them as ids, and the codes in the new order."""
    first = np.full(len(values), codes.size)
    for side in (0, 1):
        np.minimum.at(first, codes[side], np.arange(side, codes.size, 2))
    order = np.argsort(first)
    rank = np.empty(len(order), dtype=np.int32)
    rank[order] = np.arange(len(order))
    return as_ids(values[order]), rank[codes]


def factorized(ids: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Codes and distinct values, ids = values[codes]; those of objects in order of first appearance."""
    if ids.dtype != object:
        values, codes = np.unique(ids, return_inverse=True)
        return codes, values
    known: dict[Any, int] = {}
    try:
        codes = np.fromiter((known.setdefault(node, len(known)) for node in ids.tolist()), np.intp, len(ids))
    except TypeError as error:
        raise TypeError(f"node ids must be hashable, such as numbers, strings and tuples: {error}") from error
    return codes, _objects(known)


def _objects(ids: Collection[Any]) -> np.ndarray:
    return np.fromiter(ids, dtype=object, count=len(ids))


def as_ids(values: Any) -> np.ndarray:
    """Ids as an array: 64-bit integers if all are integers that fit, otherwise objects; dates and times as Python's."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu" and values.ndim == 1:
        return values.astype(np.int64 if values.max(initial=0) <= LARGEST_ID else object)
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return _moments(values)
    if isinstance(values, np.ndarray) and values.dtype.kind == "U":
        return values.astype(object)  # Python's strings, not numpy's
    ids = _objects(values)
    kinds = set(map(type, ids.tolist()))
    whole = kinds and all(issubclass(kind, (int, np.integer)) for kind in kinds) and not kinds & {bool, np.timedelta64}
    fits = whole and min(ids) >= -LARGEST_ID and max(ids) <= LARGEST_ID
    return ids.astype(np.int64) if fits else ids


def whole_numbers(ids: np.ndarray) -> np.ndarray:
    """Convert strings to integers if every one is an integer."""
    return ids.astype(np.int64) if all(map(is_whole, ids)) else ids


def warn_of_twins(ids: np.ndarray) -> None:
    """Warn of ids such as "2" and "2.0", one number in two columns, as pandas writes it if some are missing.

    Then one of the ids of the first edge, which come first, is written so.
    """
    if ids.dtype != object or not any(text.endswith(".0") for text in ids[:2].tolist()):
        return
    fractions = {text[:-2] for text in ids.tolist() if text.endswith(".0")}
    twin = next((text for text in ids.tolist() if text in fractions), None)
    if twin is not None:
        warn(
            f"the ids {twin!r} and {twin + '.0'!r} are read as different nodes; if they are one, write them alike",
            LopsidedWarning,
        )


def is_whole(text: str) -> bool:
    """Whether a string is a 64-bit integer in canonical form, which 007 is not."""
    digits = text.removeprefix("-")
    short = digits.isdecimal() and len(digits) <= len(str(LARGEST_ID))
    return short and str(int(text)) == text and abs(int(text)) <= LARGEST_ID


def is_missing(node: Any) -> bool:
    """Whether an id is missing: None, nan, NaT or pandas.NA."""
    if isinstance(node, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(node))
    nan = isinstance(node, (float, np.floating)) and node != node
    return nan or node is None or type(node).__name__ in ("NAType", "NaTType")


def equivalent_forms(node: Any) -> Iterator[Any]:
    """Yield an id as given, then the equivalent forms in which a graph may store it."""
    yield node
    if hasattr(node, "as_py"):  # pyarrow
        yield from equivalent_forms(node.as_py())
    elif isinstance(node, (np.datetime64, np.timedelta64)):
        yield from equivalent_forms(_moments(np.array([node]))[0])
    elif isinstance(node, (np.generic, np.ndarray)) and node.ndim == 0:
        yield from equivalent_forms(node[()] if isinstance(node, np.ndarray) else node.item())
    elif isinstance(node, (date, timedelta)) and hasattr(node, "to_numpy"):  # pandas, with nanosecond resolution
        yield node.to_numpy()
    elif isinstance(node, date) and not isinstance(node, datetime):
        yield datetime(node.year, node.month, node.day)


def _moments(values: np.ndarray) -> np.ndarray:
    """Datetimes and timedeltas as Python objects, NaT as None; values Python cannot represent stay numpy scalars."""
    unit, _ = np.datetime_data(values.dtype)
    held = values.astype(f"{values.dtype.kind}8[us]") if unit in FINER_THAN_PYTHON else values
    ids = held.astype(object)
    other = ~np.isnat(values) & ((held != values) | [isinstance(node, int) for node in ids])
    ids[other] = list(values[other])
    return ids
