"""The stored graphs of the tables of nodes and links, and the halves on which defaults are chosen and reported."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from common import DATA, load_graph
from lopsided.datasets import make_directed_blocks

# Fixed before any result was seen. Small graphs first.
CHOOSE = (
    "webkb-texas",
    "telegram",
    "airports-europe",
    "twitch-pt",
    "cora",
    "film",
    "blogcatalog-6",
    "amazon-photo",
)
REPORT = (
    "airports-brazil",
    "webkb-wisconsin",
    "airports-usa",
    "citeseer",
    "citeseer-askls",
    "pubmed",
    "blogcatalog",
    "amazon-computers",
)
LISTED_ONCE = ("twitch-pt",)  # friendships whose file has an order of its own, and no direction


class Labelled(NamedTuple):
    """A graph, its labels, classes or a sparse matrix of zeros and ones, and whether its edges have a direction."""

    adjacency: sparse.csr_array
    labels: Any
    directed: bool


def load(name: str) -> Labelled:
    """A stored graph; an undirected one has both directions of every edge."""
    A = load_graph(name)
    with np.load(DATA / "graphs" / f"{name}.npz") as file:
        directed = bool(file["directed"]) and name not in LISTED_ONCE
        labels = file["labels"] if "labels" in file else _several(file["labels_indices"], file["labels_indptr"])
    if not directed:
        A = sparse.csr_array(A + A.T)
        A.data[:] = 1
    return Labelled(A, labels, directed)


def _several(indices: np.ndarray, indptr: np.ndarray) -> sparse.csr_array:
    return sparse.csr_array((np.ones(len(indices), dtype=int), indices, indptr))


def generated(directed: bool = True) -> Labelled:
    """A tiny graph for smoke runs."""
    A, labels = make_directed_blocks(150, n_classes=3, mean_degree=5.0, random_state=0)
    return Labelled(A if directed else sparse.csr_array(A + A.T), labels, directed)


def named(wanted: Iterable[str]) -> list[str]:
    """Names of graphs, with "choose" and "report" for the halves."""
    halves = {"choose": CHOOSE, "report": REPORT}
    return [name for one in wanted for name in halves.get(one, (one,))]
