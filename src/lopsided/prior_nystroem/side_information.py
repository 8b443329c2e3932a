"""Squared loss of a kernel E_x S E_z^T on labels or pairs: a quadratic function of S, at a cost in the size of S.

:class:`ClassTargets`, :class:`PairTargets` and ``ManyPairTargets`` have the same methods. ``loss`` is the sum of
squared differences between kernel entries and targets, ``half_gradient`` half of its gradient, and ``curvature`` the
largest eigenvalue of half its Hessian, the unit of the prior weight. ``minimiser(S0, weight)`` minimises weight |S -
S0|^2 + loss(S) (section 3.5), with a factorisation shared by all weights; ``alignment`` is that of the kernel entries
with their targets (11), from -1 to 1, and 0 if either is constant; ``restricted`` holds out samples or pairs. For
symmetric kernels, ``along_axes`` is the loss as a function of U^T S U, in the eigenvectors U of E_x^T E_x, which
``axes`` gives with the eigenvalues.
"""

from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple, Self

import numpy as np

from .._core import eigh


@dataclass(frozen=True)
class ClassRows:
    """Rows E (l, p) of the labelled samples of one side, and their classes (l,), numbered from zero."""

    E: np.ndarray
    classes: np.ndarray

    @cached_property
    def moments(self) -> np.ndarray:
        """E^T E."""
        return self.E.T @ self.E

    @cached_property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of E^T E."""
        return _semidefinite_eigh(self.moments)


class Diagonal(NamedTuple):
    """Separable quadratic: constant + sum over i, j of curvatures_ij S_ij^2 - 2 slopes_ij S_ij. Cost O(p^2)."""

    curvatures: np.ndarray
    slopes: np.ndarray
    constant: float

    def loss(self, S: np.ndarray) -> float:
        """Value at S."""
        return max(0.0, float(np.vdot(S, self.curvatures * S - 2 * self.slopes)) + self.constant)

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """Half of the gradient at S."""
        return self.curvatures * S - self.slopes

    def hessian(self, D: np.ndarray) -> np.ndarray:
        """Half the Hessian, applied to D."""
        return self.curvatures * D


class ClassTargets:
    """Targets from class labels: K*_ij = 1 for samples of the same class, K*_ij = 0 otherwise (equation 5).

    With P = E_x^T E_x, Q = E_z^T E_z and R = E_x^T K* E_z, the loss is tr(S^T P S Q) - 2 tr(S^T R) + |K*|^2. R is the
    sum over classes of w_c s_c t_c^T, where s_c and t_c are the sums of the class's rows of E_x and of E_z, and w_c is
    the entry of K* for the class: 1, or its weight if classes are balanced. No array is larger than E. For a symmetric
    kernel both sides are the same object, whose moments and axes are then computed once.
    """

    def __init__(self, left: ClassRows, right: ClassRows, *, balanced: bool = False) -> None:
        self.left, self.right, self.balanced = left, right, balanced
        sizes, self.values = class_values(left.classes, right.classes, balanced)
        self.left_marks, self.right_marks = (np.eye(len(sizes))[side.classes] for side in (left, right))
        self.P, self.Q = left.moments, right.moments
        self.R = (left.E.T @ self.left_marks * self.values) @ (right.E.T @ self.right_marks).T
        self.constant = float(self.values**2 @ sizes)

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of P."""
        return self.left.axes

    def loss(self, S: np.ndarray) -> float:
        """tr(S^T P S Q) - 2 tr(S^T R) + |K*|^2. Cost O(p q (p + q))."""
        return max(0.0, float(np.vdot(S, self.P @ S @ self.Q - 2 * self.R)) + self.constant)

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """P S Q - R."""
        return self.P @ S @ self.Q - self.R

    @property
    def curvature(self) -> float:
        """Product of the spectral norms of P and Q."""
        return float(self.left.axes[0].max(initial=0.0) * self.right.axes[0].max(initial=0.0))

    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """Solve weight D + P D Q = R - P S0 Q by a division in the eigenvectors of P and Q; return S0 + D."""
        (p, U), (q, V) = self.left.axes, self.right.axes
        return S0 - U @ ((U.T @ self.half_gradient(S0) @ V) / (weight + np.outer(p, q))) @ V.T

    def along_axes(self) -> Diagonal:
        """The loss in the eigenvectors of P, where P is diagonal and products are elementwise."""
        p, U = self.axes
        return Diagonal(np.outer(p, p), U.T @ self.R @ U, self.constant)

    def alignment(self, S: np.ndarray) -> float:
        """Alignment over all pairs of labelled samples, both matrices centred. Cost O(l p + p q (p + q))."""
        sides = (self.left.E, self.left_marks, self.right.E, self.right_marks)
        E, Y, F, Z = (side - side.mean(axis=0) for side in sides)
        Y = Y * self.values
        both = np.vdot(E.T @ Y, S @ (F.T @ Z))
        return cosine(both, np.vdot(S, E.T @ E @ S @ (F.T @ F)) * np.vdot(Y.T @ Y, Z.T @ Z))

    def restricted(self, part: tuple[np.ndarray, np.ndarray]) -> Self:
        """Restrict to some left and some right samples."""
        sides = zip((self.left, self.right), part, strict=True)
        left, right = (ClassRows(side.E[rows], side.classes[rows]) for side, rows in sides)
        return type(self)(left, right, balanced=self.balanced)


def class_values(left: np.ndarray, right: np.ndarray, balanced: bool) -> tuple[np.ndarray, np.ndarray]:
    """Number of pairs within each class, and their value in K*: 1, or 1 / (number of classes * share of the class)."""
    count = 1 + max(left.max(), right.max())
    rows, columns = (np.bincount(side, minlength=count) for side in (left, right))
    sizes = rows * columns.astype(float)
    if not balanced:
        return sizes, np.ones(count)
    return sizes, np.sqrt(len(left) * len(right) / np.maximum(sizes, 1)) / count


class PairLoss(ABC):
    """Sum over pairs of (e_x S e_z^T - t)^2, for ``targets`` t (pairs,) of individual pairs (section 3.3).

    Within one set S is symmetric, and a pair stands for both orders: ``orders`` (pairs,) is 2, or 1 for a sample and
    itself. Between two sets it is None.
    """

    targets: np.ndarray
    orders: np.ndarray | None

    @abstractmethod
    def _values(self, S: np.ndarray) -> np.ndarray:
        """e_x S e_z^T of every pair."""

    @abstractmethod
    def _products(self, values: np.ndarray) -> np.ndarray:
        """Sum over pairs of values e_x^T e_z."""

    @property
    def weights(self) -> np.ndarray:
        """Orders that each pair stands for."""
        return np.ones(len(self.targets)) if self.orders is None else self.orders

    def loss(self, S: np.ndarray) -> float:
        """Sum over pairs of squared differences."""
        return float(self.weights @ np.square(self._values(S) - self.targets))

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """Sum over pairs of (values - targets) e_x^T e_z."""
        return self.summed(self.weights * (self._values(S) - self.targets))

    def hessian(self, D: np.ndarray) -> np.ndarray:
        """Half the Hessian, applied to D."""
        return self.summed(self.weights * self._values(D))

    def alignment(self, S: np.ndarray) -> float:
        """Correlation of kernel values and targets over the pairs."""
        weights, sides = self.weights, (self._values(S), self.targets)
        values, targets = (side - np.average(side, weights=weights) for side in sides)
        return cosine(weights @ (values * targets), (weights @ values**2) * (weights @ targets**2))

    def summed(self, values: np.ndarray) -> np.ndarray:
        """Sum over pairs of values e_x^T e_z, its symmetric part within one set."""
        G = self._products(values)
        return G if self.orders is None else (G + G.T) / 2


class PairTargets(PairLoss):
    """Targets for pairs, from the rows ``left`` (pairs, p) and ``right`` (pairs, q) of every pair.

    A value or gradient costs O(pairs p q).
    """

    def __init__(
        self, left: np.ndarray, right: np.ndarray, targets: np.ndarray, orders: np.ndarray | None = None
    ) -> None:
        self.left, self.right, self.targets, self.orders = left, right, targets, orders

    @cached_property
    def _gram_axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of the Gram matrix of the pairs, (E_x E_x^T) o (E_z E_z^T).

        Within one set it is that of the symmetric parts of e_x^T e_z, times the square roots of their orders.
        """
        gram = (self.left @ self.left.T) * (self.right @ self.right.T)
        if self.orders is not None:
            across, root = self.left @ self.right.T, np.sqrt(self.orders)
            gram = (gram + across * across.T) / 2 * np.outer(root, root)
        return _semidefinite_eigh(gram)

    @cached_property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of E_x^T E_x / sqrt(pairs), over both orders within one set.

        If the pairs are all pairs of some samples, these are the axes of ``ClassTargets`` for the same samples.
        """
        moments = (self.left.T * self.weights) @ self.left
        if self.orders is not None:
            moments = (moments + (self.right.T * self.orders) @ self.right) / 2
        return _semidefinite_eigh(moments / np.sqrt(self.weights.sum()))

    def along_axes(self) -> Self:
        """The same pairs in the coordinates of ``axes``."""
        _, U = self.axes
        return type(self)(self.left @ U, self.right @ U, self.targets, self.orders)

    @property
    def curvature(self) -> float:
        """Largest eigenvalue of the Gram matrix of the pairs."""
        return float(self._gram_axes[0][-1])

    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """Return S0 + E_x^T diag(a) E_z, (weight I + Gram matrix) a = targets - values at S0. Cost O(pairs^3) once."""
        (h, U), root = self._gram_axes, np.sqrt(self.weights)
        a = U @ ((U.T @ (root * (self.targets - self._values(S0)))) / (weight + h))
        return S0 + self.summed(root * a)

    def restricted(self, part: np.ndarray) -> Self:
        """Restrict to some of the pairs."""
        orders = None if self.orders is None else self.orders[part]
        return type(self)(self.left[part], self.right[part], self.targets[part], orders)

    def _values(self, S: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", self.left @ S, self.right)

    def _products(self, values: np.ndarray) -> np.ndarray:
        return (self.left.T * values) @ self.right


def cosine(product: float, squares: float) -> float:
    """Divide an inner product by the square root of the product of squared norms; zero if that product is zero."""
    return float(product / np.sqrt(squares)) if squares > 0 else 0.0


def _semidefinite_eigh(A: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Eigenvalues, ascending and not below zero, and eigenvectors of a matrix that is semidefinite up to rounding."""
    values, vectors = eigh(A)
    return np.maximum(values, 0), vectors
