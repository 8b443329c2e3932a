"""Ids of nodes, as tables hold them and as those who ask for a node write them."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

LARGEST = np.iinfo(np.int64).max
FINER_THAN_PYTHON = ("ns", "ps", "fs", "as")


def as_ids(values: Any) -> np.ndarray:
    """Ids as an array: whole numbers of 64 bits, or objects as they are; dates and times as Python has them."""
    if isinstance(values, np.ndarray) and values.dtype.kind in "iu":
        return values
    if isinstance(values, np.ndarray) and values.dtype.kind in "mM":
        return _moments(values)
    ids = np.fromiter(values, dtype=object, count=len(values))
    kinds = set(map(type, ids.tolist()))
    whole = kinds and all(issubclass(kind, (int, np.integer)) for kind in kinds) and not kinds & {bool, np.timedelta64}
    fits = whole and min(ids) >= -LARGEST and max(ids) <= LARGEST
    return ids.astype(np.int64) if fits else ids


def is_missing(node: Any) -> bool:
    """Whether it is nothing: None, nan, NaT, or the NA of pandas."""
    if isinstance(node, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(node))
    nan = isinstance(node, (float, np.floating)) and node != node
    return nan or node is None or type(node).__name__ in ("NAType", "NaTType")


def forms(node: Any) -> Iterator[Any]:
    """An id as it is given, then in other forms in which the nodes of a graph may hold it."""
    yield node
    if hasattr(node, "as_py"):  # pyarrow
        yield from forms(node.as_py())
    elif isinstance(node, (np.datetime64, np.timedelta64)):
        yield from forms(_moments(np.array([node]))[0])
    elif isinstance(node, (np.generic, np.ndarray)) and node.ndim == 0:
        yield from forms(node[()] if isinstance(node, np.ndarray) else node.item())
    elif isinstance(node, (date, timedelta)) and hasattr(node, "to_numpy"):  # pandas, which knows nanoseconds
        yield node.to_numpy()
    elif isinstance(node, date) and not isinstance(node, datetime):
        yield datetime(node.year, node.month, node.day)


def _moments(values: np.ndarray) -> np.ndarray:
    """Dates, times and spans as objects of Python, NaT as None; those that Python cannot hold stay numpy's."""
    unit, _ = np.datetime_data(values.dtype)
    held = values.astype(f"{values.dtype.kind}8[us]") if unit in FINER_THAN_PYTHON else values
    ids = held.astype(object)
    other = ~np.isnat(values) & ((held != values) | [isinstance(node, int) for node in ids])
    ids[other] = list(values[other])
    return ids
