"""Scores of edges from source and target vectors."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._parallel import slices_of

BLOCK_ENTRIES = 1 << 24
EVERY = slice(None)


class EdgeScores(NamedTuple):
    """Products of source and target vectors, or of what lies a step along the edges from both.

    Attributes
    ----------
    source, target : arrays of shape (n_nodes, k)
        The vectors.
    weights : array of shape (k,)
        Of the components in a product.
    steps : pair of sparse matrices of shape (n_nodes, n_nodes), or None
        Taken from the source and, transposed, to the target; None takes none.
    """

    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray
    steps: tuple[sparse.csr_array, sparse.csr_array] | None

    def sources(self, rows: Any = EVERY) -> np.ndarray:
        """Vectors of some nodes as sources, whose products with those of targets are scores."""
        return (self.source[rows] if self.steps is None else self.steps[0][rows] @ self.source) * self.weights

    def targets(self, columns: Any = EVERY) -> np.ndarray:
        """Vectors of some nodes as targets."""
        return self.target[columns] if self.steps is None else self.steps[1][columns] @ self.target

    def of_pairs(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """The score of each pair of a row and a column, in blocks."""
        parts = slices_of(len(rows), BLOCK_ENTRIES // len(self.weights))
        pairs = ((self.sources(rows[part]), self.targets(columns[part])) for part in parts)
        return np.concatenate([np.einsum("ij,ij->i", source, target) for source, target in pairs])

    def best_targets(self, rows: np.ndarray, k: int) -> np.ndarray:
        """The k best targets of each row, best first, without the row itself; in blocks of rows."""
        targets = self.targets()
        parts = (rows[part] for part in slices_of(len(rows), BLOCK_ENTRIES // len(targets)))
        return np.concatenate([best_targets(self.sources(part) @ targets.T, part, k) for part in parts])


def best_targets(scores: np.ndarray, rows: np.ndarray, k: int) -> np.ndarray:
    """Columns of the k largest scores in each row, best first; the node of the row itself is no candidate."""
    scores[np.arange(len(rows)), rows] = -np.inf
    best = np.argpartition(-scores, k - 1, axis=1)[:, :k]
    order = np.argsort(-np.take_along_axis(scores, best, axis=1), axis=1, kind="stable")
    return np.take_along_axis(best, order, axis=1)
