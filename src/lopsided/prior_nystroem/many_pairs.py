"""Squared loss on so many pairs that their Gram matrix is too large: sums over pairs, in passes over the samples."""

from functools import cached_property
from typing import Self

import numpy as np
from scipy import sparse
from scipy.sparse.linalg import LinearOperator, cg

from .._core import eigh, run, slices_of
from .side_information import ClassTargets, PairTargets, cosine

BLOCK_ENTRIES = 1 << 20  # numbers that a thread holds at once
DENSE_SHARE = 0.03  # of pairs among all, from which all values of a block cost less than gathering those of the pairs
CURVATURE_STEPS = 8  # power iterations; the unit of the prior weight needs two digits
CLOSED_RTOL = 1e-4  # of conjugate gradients, which start the projected gradient or end a fit with Z
CLOSED_STEPS, HELD_OUT_STEPS = 100, 12  # most steps, and most for the comparison of weights


class ManyPairTargets:
    """Targets for many pairs of few samples: the loss of ``PairTargets``, without a row per pair.

    ``left`` (n, p) and ``right`` (m, q) are rows of the samples, and ``targets`` is sparse (n, m), with an entry for
    every pair, zeros included. A value or gradient costs O(pairs p + (n + m) p q); the minimiser takes conjugate
    gradients, preconditioned as if all pairs of samples were given.
    """

    def __init__(
        self,
        left: np.ndarray,
        right: np.ndarray,
        targets: sparse.csr_array,
        places: np.ndarray | None = None,
        steps: int = CLOSED_STEPS,
    ) -> None:
        self.left, self.right, self.targets, self.steps = left, right, targets, steps
        self.places = np.arange(targets.nnz) if places is None else places  # of the pairs, as given, in ``targets``
        self._latest: tuple[np.ndarray, np.ndarray] | None = None  # a dictionary and its values

    @classmethod
    def of(cls, left: np.ndarray, right: np.ndarray, pairs: tuple[np.ndarray, np.ndarray], targets: np.ndarray) -> Self:
        """From targets of distinct pairs (i, j) of rows of ``left`` and ``right``."""
        order = np.lexsort(pairs[::-1])
        starts = np.searchsorted(pairs[0][order], np.arange(len(left) + 1))
        shape = len(left), len(right)
        return cls(left, right, sparse.csr_array((targets[order], pairs[1][order], starts), shape), np.argsort(order))

    def loss(self, S: np.ndarray) -> float:
        """Sum over pairs of squared differences."""
        return float(np.square(self._values(S) - self.targets.data).sum())

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """E_x^T (values - targets) E_z."""
        return self._summed(self._values(S) - self.targets.data)

    @cached_property
    def _all_axes(self) -> tuple[tuple[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]:
        """Eigenvalues and eigenvectors of the second moments of both sides over the pairs, / sqrt(pairs)."""
        numbers = np.ones(self.targets.nnz), self.targets.indices, self.targets.indptr
        given = sparse.csr_array(numbers, shape=self.targets.shape)
        found = []
        for E, counts in ((self.left, given.sum(axis=1)), (self.right, given.sum(axis=0))):
            values, vectors = eigh((E.T * counts) @ E / np.sqrt(self.targets.nnz))
            found.append((np.maximum(values, 0), vectors))
        return found[0], found[1]

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of the second moments of the left rows over the pairs."""
        return self._all_axes[0]

    def along_axes(self) -> Self:
        """The same pairs in the coordinates of ``axes``."""
        _, U = self.axes
        return type(self)(self.left @ U, self.right @ U, self.targets, self.places, self.steps)

    @cached_property
    def curvature(self) -> float:
        """Largest eigenvalue of half the Hessian, by power iteration from the product of the leading axes."""
        (_, U), (_, V) = self._all_axes
        S, size = np.outer(U[:, -1], V[:, -1]), 0.0
        for _ in range(CURVATURE_STEPS):
            S = self._summed(self._values(S))
            size = float(np.linalg.norm(S))
            if not size:
                break
            S /= size
        return size

    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """Solve weight D + A(D) = -half_gradient(S0) for D, A half the Hessian; return S0 + D."""
        (p, U), (q, V) = self._all_axes
        shape, n = S0.shape, S0.size

        def hessian(d: np.ndarray) -> np.ndarray:
            D = d.reshape(shape)
            return (weight * D + self._summed(self._values(D))).ravel()

        def as_if_of_all_pairs(d: np.ndarray) -> np.ndarray:
            return (U @ ((U.T @ d.reshape(shape) @ V) / (weight + np.outer(p, q))) @ V.T).ravel()

        A, M = (LinearOperator((n, n), matvec=task, dtype=float) for task in (hessian, as_if_of_all_pairs))
        D, _ = cg(A, -self.half_gradient(S0).ravel(), rtol=CLOSED_RTOL, maxiter=self.steps, M=M)
        return S0 + D.reshape(shape)

    def alignment(self, S: np.ndarray) -> float:
        """Correlation of kernel values and targets over the pairs."""
        values, targets = (side - side.mean() for side in (self._values(S), self.targets.data))
        return cosine(values @ targets, (values @ values) * (targets @ targets))

    def restricted(self, part: np.ndarray) -> Self:
        """Restrict to some of the pairs."""
        rows, columns = self.targets.tocoo().coords
        kept = self.places[part]
        found = self.of(self.left, self.right, (rows[kept], columns[kept]), self.targets.data[kept])
        return type(self)(found.left, found.right, found.targets, found.places, HELD_OUT_STEPS)

    def _summed(self, values: np.ndarray) -> np.ndarray:
        """E_x^T V E_z for values of the pairs."""
        weighted = sparse.csr_array((values, self.targets.indices, self.targets.indptr), shape=self.targets.shape)
        return self.left.T @ (weighted @ self.right)

    def _values(self, S: np.ndarray) -> np.ndarray:
        """e_x S e_z^T of every pair, in the order of ``targets``."""
        if self._latest is None or not np.array_equal(self._latest[0], S):
            n, m = self.targets.shape
            L, pointers = self.left @ S, self.targets.indptr
            gathered = self.targets.nnz < DENSE_SHARE * n * m
            width = self.left.shape[1] * self.targets.nnz // n if gathered else m

            def block(rows: slice) -> np.ndarray:
                entries = slice(pointers[rows.start], pointers[rows.stop])
                local = np.repeat(np.arange(rows.stop - rows.start), np.diff(pointers[rows.start : rows.stop + 1]))
                if gathered:
                    return np.einsum("ij,ij->i", L[rows][local], self.right[self.targets.indices[entries]])
                return (L[rows] @ self.right.T)[local, self.targets.indices[entries]]

            self._latest = S.copy(), np.concatenate(run(block, slices_of(n, max(BLOCK_ENTRIES // max(width, 1), 1))))
        return self._latest[1]


SideInformation = ClassTargets | PairTargets | ManyPairTargets
