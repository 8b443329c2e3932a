"""Lookup of nodes by id."""

from collections.abc import Iterable
from functools import cached_property
from typing import Any

import numpy as np
from scipy import sparse

from .._core import count_of
from ..io import equivalent_forms, is_whole

MOST_IDS_SHOWN = 5  # in an error message
BOOLEANS = (bool, np.bool_)


class NodeIndex:
    """Node ids in row order, with lookup from id to row number."""

    def __init__(self, ids: np.ndarray) -> None:
        self.ids = ids

    @cached_property
    def _number(self) -> dict[Any, int]:
        return {node: i for i, node in enumerate(self.ids.tolist())}

    @cached_property
    def _has_booleans(self) -> bool:
        return any(isinstance(node, BOOLEANS) for node in self._number)

    def __getstate__(self) -> dict[str, Any]:
        return {"ids": self.ids}  # the rest follows from them

    def __len__(self) -> int:
        return len(self.ids)

    def is_id(self, node: Any) -> bool:
        """Whether node is one id: not iterable, a string, bytes, a frozenset, zero-dimensional or a known tuple."""
        one = not isinstance(node, Iterable) or isinstance(node, (str, bytes, frozenset))
        return one or getattr(node, "ndim", None) == 0 or self._holds(node)

    def _holds(self, node: Any) -> bool:
        try:
            return node in self._number
        except TypeError:  # not hashable
            return False

    def numbers(self, ids: Any) -> np.ndarray:
        """Row numbers of one id or of a sequence of ids."""
        given = ids
        if sparse.issparse(ids):
            raise TypeError(f"ids of nodes are one id or a sequence of them, not a sparse matrix of shape {ids.shape}")
        if self.is_id(ids):
            ids = [ids]
        elif not (isinstance(ids, np.ndarray) and ids.dtype.kind in "mM"):  # tolist turns nanoseconds into integers
            ids = ids.tolist() if hasattr(ids, "tolist") else list(ids)
        numbers = [self.find(node) for node in ids]
        unknown = [node for node, number in zip(ids, numbers, strict=True) if number is None]
        if unknown:
            if isinstance(given, tuple) and any(isinstance(node, tuple) for node in self._number):
                unknown = [given]
            found = count_of(len(unknown), "id is not a node", "ids are not nodes")
            raise ValueError(f"{found} of the graph: {shown(unknown)}; nodes_ lists the known ids")
        return np.array(numbers, dtype=np.intp)

    def find(self, node: Any) -> int | None:
        """Row number of an id in any of its forms, or None."""
        if isinstance(node, BOOLEANS) and not self._has_booleans:  # a mask; to a dict True is 1
            return None
        if self._holds(node):
            return self._number[node]
        return next((self._number[form] for form in equivalent_forms(node) if self._holds(form)), None)

    def __contains__(self, node: Any) -> bool:
        return self.find(node) is not None

    def extended(self, ids: np.ndarray) -> "NodeIndex":
        """The index with further ids after those it has."""
        more = np.empty(len(self) + len(ids), dtype=object)
        more[: len(self)], more[len(self) :] = self.ids.tolist(), list(ids)
        return NodeIndex(more)

    def of_text(self, id: str) -> Any:
        """Convert an id read from text to the type of the known ids; a new id becomes an integer if all of them are."""
        if id in self._number or not is_whole(id):
            return id
        return int(id) if self.ids.dtype != object or int(id) in self._number else id


def shown(ids: list[Any]) -> str:
    """The first few ids, as text for an error message."""
    return ", ".join(map(repr, ids[:MOST_IDS_SHOWN])) + (", ..." if len(ids) > MOST_IDS_SHOWN else "")
