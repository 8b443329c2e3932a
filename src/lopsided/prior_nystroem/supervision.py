"""Validation of supervision: partial labels, and must-link and cannot-link pairs."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_consistent_length

from .._core import Array


def labelled(y: Any, X: Array, name: str) -> tuple[np.ndarray, np.ndarray]:
    """Indices of the labelled samples, and their labels; -1 (or "-1" in string labels) marks a missing label."""
    y = column_or_1d(np.asarray(y), warn=True)
    check_consistent_length(X, y)
    missing = (y == -1) | (y == "-1") if y.dtype.kind == "O" else y == ("-1" if y.dtype.kind in "US" else -1)
    known = np.flatnonzero(~np.asarray(missing, dtype=bool))
    labels = y[known]
    if y.dtype.kind == "O" and len({type(label) for label in labels}) > 1:
        kinds = sorted({type(label).__name__ for label in labels})
        raise ValueError(f"{name} mixes labels of types {', '.join(kinds)}; give all of one type, and -1 for none")
    if len(labels):
        check_classification_targets(labels.astype(str) if y.dtype.kind == "O" else labels)
    return known, labels


def checked_pairs(pairs: Any, n: int, m: int, symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """Validate pairs and return unique index pairs (p, 2) with targets: 1 for must-link, 0 for cannot-link.

    If ``symmetric``, (i, j) and (j, i) are the same pair, and the result contains both orders.
    """
    if not isinstance(pairs, (tuple, list)) or len(pairs) != 2:
        raise ValueError("pairs must be (must_link, cannot_link), two arrays of shape (p, 2)")
    sides = (("X", n), ("X" if symmetric else "Z", m))
    kinds = [_numbers(kind, name, sides) for kind, name in zip(pairs, ("must_link", "cannot_link"), strict=True)]
    if symmetric:
        kinds = [np.sort(kind, axis=1) for kind in kinds]
    kinds = [np.unique(kind, axis=0) for kind in kinds]
    both = {tuple(pair) for pair in kinds[0]} & {tuple(pair) for pair in kinds[1]}
    if both:
        i, j = min(both)
        raise ValueError(f"{len(both)} pairs must and cannot be linked, ({i}, {j}) among them; keep one kind for each")
    if symmetric and len(alone := kinds[1][kinds[1][:, 0] == kinds[1][:, 1]]):
        raise ValueError(f"cannot_link holds ({alone[0, 0]}, {alone[0, 0]}), a sample apart from itself; remove it")
    if not sum(map(len, kinds)):
        raise ValueError("pairs holds no pair; leave it out for the plain Nystrom method")
    targets = np.repeat([1.0, 0.0], [len(kind) for kind in kinds])
    found = np.concatenate(kinds)
    if symmetric:
        apart = found[:, 0] != found[:, 1]
        found, targets = np.concatenate([found, found[apart][:, ::-1]]), np.concatenate([targets, targets[apart]])
    return found, targets


def _numbers(pairs: Any, name: str, sides: tuple[tuple[str, int], tuple[str, int]]) -> np.ndarray:
    found = np.asarray(pairs)
    if not found.size:
        return np.empty((0, 2), dtype=np.intp)
    if found.ndim != 2 or found.shape[1] != 2 or found.dtype.kind not in "iu":
        raise ValueError(
            f"{name} must hold pairs of sample numbers, integers of shape (p, 2); got {found.shape} of {found.dtype}"
        )
    for numbers, (side, size) in zip(found.T, sides, strict=True):
        low, high = numbers.min(), numbers.max()
        if low < 0 or high >= size:
            raise ValueError(f"{name} names samples from {low} to {high}, but those of {side} are 0 to {size - 1}")
    return found.astype(np.intp)
