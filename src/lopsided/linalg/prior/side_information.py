"""How far a kernel E_x S E_z^T is from what labels or pairs say: a quadratic function of S, at costs in its size."""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import cached_property
from typing import Any, NamedTuple, Protocol

import numpy as np

LARGEST_GRAM = 3000  # pairs at most, in both orders: their equations are solved at once, in O(pairs^3)


class Quadratic(Protocol):
    """A quadratic function of S."""

    def loss(self, S: np.ndarray) -> float:
        """Its value."""

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """Half of its derivative, in the shape of S."""


class SideInformation(ABC):
    """Squared distance between the wanted and the given entries of E_x S E_z^T, a quadratic function of S (p, q).

    Rows of ``left`` (l, p) and ``right`` (r, q) are kernel values between samples and landmarks.
    """

    left: np.ndarray
    right: np.ndarray

    @abstractmethod
    def loss(self, S: np.ndarray) -> float:
        """The sum of squared differences."""

    @abstractmethod
    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """Half of its derivative with respect to S, shape (p, q)."""

    @property
    @abstractmethod
    def curvature(self) -> float:
        """The largest eigenvalue of half its Hessian: what a prior weight is measured by."""

    @property
    @abstractmethod
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of E_x^T E_x, for symmetric kernels."""

    @abstractmethod
    def along_axes(self) -> Quadratic:
        """The same as a function of U^T S U, U being the axes, for symmetric kernels."""

    @abstractmethod
    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """The S of least weight |S - S0|^2 + loss(S) (section 3.5), from a factorisation shared by all weights."""

    @abstractmethod
    def alignment(self, S: np.ndarray) -> float:
        """Normalised alignment (11) of E_x S E_z^T with what is wanted, from -1 to 1; 0 if one of them is flat."""

    @abstractmethod
    def restricted(self, part: Any) -> SideInformation:
        """The same for some of the pairs, or for some of the (left, right) samples."""


class ClassTargets(SideInformation):
    """Samples of one class are alike, K*_ij = 1, and others are not, K*_ij = 0 (equation 5).

    With P = E_x^T E_x, Q = E_z^T E_z and R = E_x^T K* E_z the distance is tr(S^T P S Q) - 2 tr(S^T R) + |K*|^2. R is
    the sum over classes of w_c s_c t_c^T, where s_c and t_c are sums of the class's rows of E_x and of E_z and w_c is
    what K* holds in place of one if classes are balanced. So no array is larger than E.

    Parameters
    ----------
    left, right : arrays of shape (l, p) and (r, q)
        Rows of labelled samples; the same array for a symmetric kernel.
    left_classes, right_classes : arrays of int
        Their classes, numbered from zero.
    balanced : bool, default=False
        Divide the ones of a class by its share, so that each class weighs as much as any other.
    """

    def __init__(
        self,
        left: np.ndarray,
        right: np.ndarray,
        left_classes: np.ndarray,
        right_classes: np.ndarray,
        balanced: bool = False,
    ) -> None:
        self.left, self.right, self.balanced = left, right, balanced
        self.left_classes, self.right_classes = left_classes, right_classes
        sizes, self.values = class_values(left_classes, right_classes, balanced)
        count = len(sizes)
        self.left_marks, self.right_marks = (np.eye(count)[side] for side in (left_classes, right_classes))
        self.P = left.T @ left
        self.Q = self.P if right is left else right.T @ right
        self.R = (left.T @ self.left_marks * self.values) @ (right.T @ self.right_marks).T
        self.constant = float(self.values**2 @ sizes)

    @cached_property
    def _both_axes(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        p, U = np.linalg.eigh(self.P)
        q, V = (p, U) if self.Q is self.P else np.linalg.eigh(self.Q)
        return np.maximum(p, 0), U, np.maximum(q, 0), V

    @property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Those of P."""
        return self._both_axes[:2]

    def loss(self, S: np.ndarray) -> float:
        """tr(S^T P S Q) - 2 tr(S^T R) + |K*|^2. Cost O(p q (p + q))."""
        return max(0.0, float(np.vdot(S, self.P @ S @ self.Q - 2 * self.R)) + self.constant)

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """P S Q - R."""
        return self.P @ S @ self.Q - self.R

    @property
    def curvature(self) -> float:
        """|P| |Q| in the spectral norm."""
        p, _, q, _ = self._both_axes
        return float(p[-1] * q[-1])

    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """S0 + D with weight D + P D Q = R - P S0 Q: a division in the eigenvectors of P and Q."""
        p, U, q, V = self._both_axes
        return S0 - U @ ((U.T @ self.half_gradient(S0) @ V) / (weight + np.outer(p, q))) @ V.T

    def along_axes(self) -> Quadratic:
        """P is diagonal there, so that products are taken entry by entry."""
        p, U = self.axes
        return _Diagonal(np.outer(p, p), U.T @ self.R @ U, self.constant)

    def alignment(self, S: np.ndarray) -> float:
        """Over all pairs of labelled samples, both matrices centred. Cost O(l p + p q (p + q))."""
        E, Y, F, Z = (side - side.mean(axis=0) for side in (self.left, self.left_marks, self.right, self.right_marks))
        Y = Y * self.values
        both = np.vdot(E.T @ Y, S @ (F.T @ Z))
        return ratio(both, np.vdot(S, E.T @ E @ S @ (F.T @ F)) * np.vdot(Y.T @ Y, Z.T @ Z))

    def restricted(self, part: tuple[np.ndarray, np.ndarray]) -> ClassTargets:
        """The same for some left and some right samples."""
        rows, columns = part
        left = self.left[rows]
        right = left if self.right is self.left else self.right[columns]
        return ClassTargets(left, right, self.left_classes[rows], self.right_classes[columns], self.balanced)


def class_values(left: np.ndarray, right: np.ndarray, balanced: bool) -> tuple[np.ndarray, np.ndarray]:
    """For each class how many pairs are of it, and what each of them counts: one, or one over the class's share."""
    count = 1 + max(left.max(), right.max())
    rows, columns = (np.bincount(side, minlength=count) for side in (left, right))
    sizes = rows * columns.astype(float)
    if not balanced:
        return sizes, np.ones(count)
    return sizes, np.sqrt(len(left) * len(right) / np.maximum(sizes, 1)) / count


class _Diagonal(NamedTuple):
    """The sum over i and j of curvatures_ij S_ij^2 - 2 slopes_ij S_ij, plus a constant. Cost O(p^2)."""

    curvatures: np.ndarray
    slopes: np.ndarray
    constant: float

    def loss(self, S: np.ndarray) -> float:
        return max(0.0, float(np.vdot(S, self.curvatures * S - 2 * self.slopes)) + self.constant)

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        return self.curvatures * S - self.slopes


class PairTargets(SideInformation):
    """Some pairs should have given values (section 3.3): the sum over pairs of (e_x S e_z^T - t)^2.

    Parameters
    ----------
    left, right : arrays of shape (pairs, p) and (pairs, q)
        The two rows of every pair; for a symmetric kernel each pair comes in both orders.
    targets : array of shape (pairs,)
        One for a pair that belongs together, zero for one that does not.
    """

    def __init__(self, left: np.ndarray, right: np.ndarray, targets: np.ndarray) -> None:
        self.left, self.right, self.targets = left, right, targets

    def loss(self, S: np.ndarray) -> float:
        """The sum over pairs of squared differences. Cost O(pairs p q)."""
        return float(np.square(self._values(S) - self.targets).sum())

    def half_gradient(self, S: np.ndarray) -> np.ndarray:
        """E_x^T diag(values - targets) E_z."""
        return (self.left * (self._values(S) - self.targets)[:, None]).T @ self.right

    @cached_property
    def _gram_axes(self) -> tuple[np.ndarray, np.ndarray]:
        if len(self.targets) > LARGEST_GRAM:
            raise ValueError(
                f"{len(self.targets)} pairs (both orders counted) exceed the {LARGEST_GRAM} that are solved at once; "
                "give fewer pairs, or labels, whose cost does not depend on their number"
            )
        h, U = np.linalg.eigh((self.left @ self.left.T) * (self.right @ self.right.T))
        return np.maximum(h, 0), U

    @cached_property
    def axes(self) -> tuple[np.ndarray, np.ndarray]:
        """Eigenvalues and eigenvectors of E_x^T E_x / sqrt(pairs).

        If the pairs are all those of some samples, they are what ``ClassTargets`` of the samples has.
        """
        p, U = np.linalg.eigh(self.left.T @ self.left / np.sqrt(len(self.left)))
        return np.maximum(p, 0), U

    def along_axes(self) -> Quadratic:
        """The same pairs in other coordinates."""
        _, U = self.axes
        return PairTargets(self.left @ U, self.right @ U, self.targets)

    @property
    def curvature(self) -> float:
        """The largest eigenvalue of the pairs' Gram matrix (E_x E_x^T) o (E_z E_z^T)."""
        return float(self._gram_axes[0][-1])

    def minimiser(self, S0: np.ndarray, weight: float) -> np.ndarray:
        """S0 + E_x^T diag(a) E_z with (weight + Gram matrix) a = targets - values at S0. Cost O(pairs^3) once."""
        h, U = self._gram_axes
        a = U @ ((U.T @ (self.targets - self._values(S0))) / (weight + h))
        return S0 + (self.left * a[:, None]).T @ self.right

    def alignment(self, S: np.ndarray) -> float:
        """The correlation of values and targets over the pairs."""
        values, targets = (side - side.mean() for side in (self._values(S), self.targets))
        return ratio(values @ targets, (values @ values) * (targets @ targets))

    def restricted(self, part: np.ndarray) -> PairTargets:
        """The same for some of the pairs."""
        return PairTargets(self.left[part], self.right[part], self.targets[part])

    def _values(self, S: np.ndarray) -> np.ndarray:
        return np.einsum("ij,ij->i", self.left @ S, self.right)


def ratio(product: float, squares: float) -> float:
    """An inner product over the root of the product of two squared norms; zero if either vanishes."""
    return float(product / np.sqrt(squares)) if squares > 0 else 0.0
