"""Squared loss on so many pairs that their Gram matrix is too large: sums over pairs, in passes over the samples."""

from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from .._core import eigh, run, slices_of
from .side_information import ClassTargets, PairLoss, PairTargets

BLOCK_ENTRIES = 1 << 20  # numbers that a thread holds at once
DENSE_SHARE = 0.03  # of pairs among all, from which all values of a block cost less than gathering those of the pairs
CURVATURE_STEPS, CURVATURE_RTOL = 8, 1e-3  # power iterations; the unit of the prior weight needs two digits
CLOSED_RTOL = 1e-4  # of conjugate gradients, which start the projected gradient or end a fit with Z
CLOSED_STEPS, HELD_OUT_STEPS = 100, 12  # most steps, and most for the comparison of weights


class ManyPairTargets(PairLoss):
    """Targets for many pairs of few samples, without a row per pair.

    ``left`` (n, p) and ``right`` (m, q) are rows of the samples, the same array within one set, and ``table`` (n, m)
    is sparse, with the target of every pair, zeros included. A value or gradient costs O(pairs p + (n + m) p q); the
    minimiser takes conjugate gradients, preconditioned as if all pairs of samples were given.
    """

    def __init__(
        self,
        left: np.ndarray,
        right: np.ndarray,
        table: sparse.csr_array,
        places: np.ndarray | None = None,
        steps: int = CLOSED_STEPS,
    ) -> None:
        self.left, self.right, self.table, self.targets, self.steps = left, right, table, table.data, steps
        self.places = np.arange(table.nnz) if places is None else places  # of the pairs, as given, in the table
        self.rows = np.repeat(np.arange(len(left)), np.diff(table.indptr))
        self.orders = np.where(self.rows == table.indices, 1.0, 2.0) if left is right else None
        self._latest: tuple[np.ndarray, np.ndarray] | None = None  # a dictionary and its values

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], targets: np.ndarray) -> Self:
        """From targets of distinct pairs (i, j) of rows of ``left`` and ``right``; within one set, of one order."""
        order = np.lexsort(pairs[::-1])
        starts = np.searchsorted(pairs[0][order], np.arange(len(left) + 1))
        shape = len(left), len(right)
        return cls(left, right, sparse.csr_array((targets[order], pairs[1][order], starts), shape), np.argsort(order))

    @cached_property
    def _all_axes(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Eigenvalues and eigenvectors of the second moments of both sides over the pairs, / sqrt(pairs)."""
        left, right = (
            np.bincount(numbers, self.weights, size)
            for numbers, size in zip((self.rows, self.table.indices), self.table.shape, strict=True)
        )
        if self.orders is not None:
            both = self._axes_of(self.left, (left + right) / 2)
            return both, both
        return self._axes_of(self.left, left), self._axes_of(self.right, right)

    def _axes_of(self, E: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of the second moments of samples that occur in ``counts`` pairs."""
        values, vectors = eigh((E.T * counts) @ E / np.sqrt(self.weights.sum()))
        return np.maximum(values, 0), vectors

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of the second moments of the left rows over the pairs."""
        return self._all_axes[0]

    def along_axes(self) -> Self:
        """The same pairs in the coordinates of ``axes``."""
        _, U = self.axes
        left = self.left @ U
        right = left if self.right is self.left else self.right @ U
        return type(self)(left, right, self.table, self.places, self.steps)

    @cached_property
    def curvature(self) -> float:
        """Largest eigenvalue of half the Hessian, by power iteration from the product of the leading axes."""
        (_, U), (_, V) = self._all_axes
        S, size = np.outer(U[:, -1], V[:, -1]), 0.0
        for _ in range(CURVATURE_STEPS):
            before = size
            S = self.hessian(S)
            size = float(np.linalg.norm(S))
            if size - before <= CURVATURE_RTOL * size:
                break
            S /= size
        return size

    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """Solve weight D + A(D) = -half_gradient(S0) for D, A half the Hessian; return S0 + D."""
        (p, U), (q, V) = self._all_axes
        shape, n = S0.shape, S0.size

        def hessian(d: np.ndarray) -> np.ndarray:
            D = d.reshape(shape)
            return (weight * D + self.hessian(D)).ravel()

        def as_if_of_all_pairs(d: np.ndarray) -> np.ndarray:
            return (U @ ((U.T @ d.reshape(shape) @ V) / (weight + np.outer(p, q))) @ V.T).ravel()

        A, M = (LinearOperator((n, n), matvec=task, dtype=float) for task in (hessian, as_if_of_all_pairs))
        D, _ = cg(A, -self.half_gradient(S0).ravel(), rtol=CLOSED_RTOL, maxiter=self.steps, M=M)
        return S0 + D.reshape(shape)

    def restricted(self, part: np.ndarray) -> Self:
        """Restrict to some of the pairs."""
        kept = self.places[part]
        pairs = self.rows[kept], self.table.indices[kept]
        found = self.of(self.left, self.right, pairs, self.targets[kept])
        return type(self)(found.left, found.right, found.table, found.places, HELD_OUT_STEPS)

    def _products(self, values: np.ndarray) -> np.ndarray:
        weighted = sparse.csr_array((values, self.table.indices, self.table.indptr), shape=self.table.shape)
        return self.left.T @ (weighted @ self.right)

    def _values(self, S: np.ndarray) -> np.ndarray:
        if self._latest is None or not np.array_equal(self._latest[0], S):
            n, m = self.table.shape
            L, starts, columns = self.left @ S, self.table.indptr, self.table.indices
            gathered = self.table.nnz < DENSE_SHARE * n * m
            width = self.left.shape[1] * self.table.nnz // n if gathered else m

            def block(rows: slice) -> np.ndarray:
                entries = slice(starts[rows.start], starts[rows.stop])
                if gathered:
                    return np.einsum("ij,ij->i", L[self.rows[entries]], self.right[columns[entries]])
                return (L[rows] @ self.right.T)[self.rows[entries] - rows.start, columns[entries]]

            self._latest = S.copy(), np.concatenate(run(block, slices_of(n, max(BLOCK_ENTRIES // max(width, 1), 1))))
        return self._latest[1]


SideInformation = ClassTargets | PairTargets | ManyPairTargets
