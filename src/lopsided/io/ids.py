"""Node ids: conversion from table columns, missing values, and equivalent forms for lookup."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date, datetime, timedelta
from typing import Any

import numpy as np

LARGEST = np.iinfo(np.int64).max
FINER_THAN_PYTHON = ("ns", "ps", "fs", "as")


def as_ids(values: Any) -> np.ndarray:
    """Ids as an array: 64-bit integers if all are integers that fit, otherwise objects; dates and times as Python's."""
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
    """Whether an id is missing: None, nan, NaT or pandas.NA."""
    if isinstance(node, (np.datetime64, np.timedelta64)):
        return bool(np.isnat(node))
    nan = isinstance(node, (float, np.floating)) and node != node
    return nan or node is None or type(node).__name__ in ("NAType", "NaTType")


def forms(node: Any) -> Iterator[Any]:
    """Yield an id as given, then the equivalent forms in which a graph may store it."""
    yield node
    if hasattr(node, "as_py"):  # pyarrow
        yield from forms(node.as_py())
    elif isinstance(node, (np.datetime64, np.timedelta64)):
        yield from forms(_moments(np.array([node]))[0])
    elif isinstance(node, (np.generic, np.ndarray)) and node.ndim == 0:
        yield from forms(node[()] if isinstance(node, np.ndarray) else node.item())
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
