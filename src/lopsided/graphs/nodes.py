"""What the decoder and the blend of parts know about nodes, those of the graph and new ones."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from scipy import sparse

from .._core import AdjacencyBlocks
from ..kernels import Walk
from .parts import Part, Sides


class Degrees(NamedTuple):
    """Degrees of nodes as log(1 + number of edges): from each node, and to it."""

    out: np.ndarray
    into: np.ndarray

    @classmethod
    def of(cls, outward: sparse.csr_array, inward: sparse.csr_array) -> Degrees:
        """Degrees from rows of edges from nodes, and of edges to them."""
        return cls(*(np.log1p(np.diff(edges.indptr)) for edges in (outward, inward)))


class Nodes(NamedTuple):
    """Some nodes: singular vectors in each part, steps along edges, degrees, and edges to them."""

    vectors: list[Sides]
    steps: sparse.csr_array  # probabilities of a step to each known node
    degrees: Degrees
    inward: sparse.csr_array  # row i holds the edges to node i


def known_nodes(parts: Sequence[Part], A: sparse.csr_array | AdjacencyBlocks) -> Nodes:
    """The nodes of a graph with weights >= 0, all of them; without their edges if these are in blocks elsewhere."""
    vectors = [Sides(part.U, part.V) for part in parts]
    if isinstance(A, AdjacencyBlocks):
        none = sparse.csr_array(A.shape, dtype=A.dtype)  # only the decoder by factors, which needs none, is in memory
        return Nodes(vectors, none, Degrees(*map(np.log1p, A.degrees)), none)
    inward = sparse.csr_array(A.T)
    steps = Walk.on(abs(A)).P.astype(parts[0].U.dtype, copy=False)
    return Nodes(vectors, steps, Degrees.of(A, inward), inward)


def is_linked(A: sparse.csr_array | AdjacencyBlocks) -> np.ndarray:
    """Mask of the nodes with edges."""
    if isinstance(A, AdjacencyBlocks):
        return (A.degrees[0] > 0) | (A.degrees[1] > 0)
    return (np.diff(A.indptr) > 0) | (np.bincount(A.indices, minlength=A.shape[0]) > 0)


def some_nodes(nodes: Nodes, rows: np.ndarray | slice) -> Nodes:
    """Some of the nodes, by their numbers."""
    return Nodes(
        [Sides(source[rows], target[rows]) for source, target in nodes.vectors],
        nodes.steps[rows],
        Degrees(*(side[rows] for side in nodes.degrees)),
        nodes.inward[rows],
    )


def joined(nodes: Nodes, new: Nodes, rows: np.ndarray, among: sparse.csr_array) -> Nodes:
    """Nodes of a graph, those of the given rows, followed by new ones, among which there may be edges."""
    known = some_nodes(nodes, rows)
    inward = [[known.inward[:, rows], new.steps[:, rows].T], [new.inward[:, rows], among.T]]
    return Nodes(
        [Sides(*map(np.concatenate, zip(*pair, strict=True))) for pair in zip(known.vectors, new.vectors, strict=True)],
        sparse.vstack([known.steps, new.steps], format="csr"),
        Degrees(*map(np.concatenate, zip(known.degrees, new.degrees, strict=True))),
        sparse.csr_array(sparse.block_array(inward)),
    )
