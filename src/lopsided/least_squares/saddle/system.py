"""The saddle system of least-squares support vector machines with an asymmetric kernel.

For a square kernel matrix K and a right-hand side y, the unknowns a, c, b1, b2 satisfy

    1'a = 0,   1'c = 0,   a / C + K c + b1 1 = y,   c / C + K'a + b2 1 = y,

which is system (6) of the 2023 paper with a = y * alpha and c = y * beta. The matrix does not depend on the labels, so
every class and every target is one more right-hand side. Weights w_i of the samples change 1/C to 1 / (C w_i): a sample
of weight two has the same effect as one that occurs twice. All solvers use four facts:

- **Weights are a scaling.** With r = sqrt(w) and a = r a~, c = r c~, the system for a~ and c~ is the one above with
  r K r in place of K and r in place of the vector of ones (:class:`Border`). What follows holds without weights and,
  with this replacement, for the scaled system.
- **The offsets can be eliminated.** With H = I - 11'/n and B = H K H, the unknowns solve
  [I/C, B; B', I/C] [a; c] = [H y; H y], and b1 = mean(y - K c), b2 = mean(y - K'a). The eigenvalues are 1/C -+ the
  singular values of B, and 1/C.
- **A symmetric K has a = c.** Then (I/C + B) a = H y, and the other half of the system, I/C - B, may be singular
  without harm.
- **Held-out predictions need no refitting.** Let N be the inverse of the full matrix. The model trained without
  sample i predicts (y_i, y_i) - N_i^-1 (a_i, c_i) for it, where N_i is the 2 x 2 block of N that belongs to a_i and
  c_i. The same holds for a fold of samples and its block of N.
"""

import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.linalg

from ..._core import frobenius
from ...exceptions import NearSingularWarning, warn
from ...operators import KernelOperator, restricted
from ...svd import factorise
from .border import Border

INVERSE_STEPS = 2  # steps of inverse iteration: enough to be accurate for nearly singular systems, where it matters
POWER_STEPS = 4  # steps of power iteration; they may underestimate the largest singular value slightly
EPS = np.finfo(float).eps
NEAR_SINGULAR = 1e-8  # reciprocal condition number below which the authors of the 2023 paper use the damped solution
UNRESOLVED = 1e-4  # share of 1/C that is rounding error of the kernel matrix, from which on N means nothing
RIDGE_NUDGE = EPS ** (2 / 3)  # relative change of 1/C that makes a zero pivot nonzero

HeldOut = tuple[np.ndarray, np.ndarray]  # held-out values of the source and the target function, each (n, k)
LU = tuple[np.ndarray, np.ndarray]  # factors and pivots as LAPACK stores them
Factorised = TypeVar("Factorised")
Fold = tuple[np.ndarray, np.ndarray]  # indices of the training samples and of the left-out samples


class Duals(NamedTuple):
    """The solution for k right-hand sides: f_source(x) = k(x, X) c + b1, f_target(x) = k(X, x)'a + b2."""

    a: np.ndarray  # (n, k), weights of the left points
    c: np.ndarray  # (n, k), weights of the right points
    b1: np.ndarray  # (k,)
    b2: np.ndarray  # (k,)


class Conditioning(NamedTuple):
    """Distance of a system from singularity."""

    sigma: float  # singular value of the centred kernel matrix that is responsible for the smallest eigenvalue
    largest: float  # estimate from below of the largest one; for C below its reciprocal the system is positive definite
    rcond: float  # reciprocal condition number


@dataclass(eq=False)
class SaddleSystem(ABC):
    """The saddle system of one kernel matrix at one C, ready to be solved."""

    A: KernelOperator
    C: float
    border: Border = field(kw_only=True)
    symmetric = False  # whether K = K'; right-hand sides are then equal, and so are a and c

    @property
    def n(self) -> int:
        """Number of samples."""
        return self.A.shape[0]

    def solve(self, Y: np.ndarray) -> Duals:
        """Solve for right-hand sides Y of shape (n, k): centre them, solve, and add the offsets.

        Rounding leaves a small mean, which the inverse multiplies by C and K amplifies further; right-hand sides are
        therefore centred twice, and solutions again.
        """
        border, (rows, columns) = self.border, self._means
        R = border.right_hand_sides(Y)
        a, c = (border.roots * border.centred(x) for x in self.inverse(R, R))
        return Duals(a, c, border.mean(Y) - columns @ c, border.mean(Y) - rows @ a)

    @abstractmethod
    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve the scaled system [I/C, B; B', I/C] [P; Q] = [R1; R2] for columns orthogonal to the border."""

    def inverse_diagonals(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Diagonals N[a_i, a_i], N[c_i, c_i] and N[a_i, c_i] of the inverse of the unscaled system, shape (n,)."""
        raise NotImplementedError(f"{type(self).__name__} does not compute entries of the inverse; leave folds out")

    def conditioning(self) -> Conditioning:
        """Estimate the distance from singularity by two steps of inverse iteration, accurate where it is small."""
        x = _unit(self._probe())
        for _ in range(INVERSE_STEPS):
            x = _unit(self._rough_inverse(*x))
        product = self._offdiagonal(x)
        sigma = float(np.linalg.norm(product))  # not x . product: x may mix eigenvectors of sigma and -sigma
        nearest, largest = 1 / self.C + np.copysign(sigma, np.vdot(x, product)), max(self.norm_estimate(), sigma)
        return Conditioning(sigma, largest, float(abs(nearest)) / (1 / self.C + largest))

    def norm_estimate(self) -> float:
        """Estimate the largest singular value of the centred matrix from below, by power iteration."""
        x = _unit(self._probe())
        for _ in range(POWER_STEPS):
            x = _unit(self._offdiagonal(x))
        return float(np.linalg.norm(self._offdiagonal(x)))

    @cached_property
    def _means(self) -> tuple[np.ndarray, np.ndarray]:
        """Row means and column means of K, weighted, by one product each."""
        shares = self.border.unit**2
        source = self.A @ shares
        return source[:, 0], source[:, 0] if self.symmetric else (self._At @ shares)[:, 0]

    @cached_property
    def _At(self) -> KernelOperator:
        return self.A.T

    def _probe(self) -> np.ndarray:
        """Random start vector of shape (2, n, 1) with centred halves, equal if K is symmetric."""
        start = self.border.centred(np.random.default_rng(0).standard_normal((2, self.n, 1)))
        return start[[0, 0]] if self.symmetric else start

    def _rough_inverse(self, R1: np.ndarray, R2: np.ndarray) -> np.ndarray:
        """Solution of ``inverse``, stacked, with half its digits."""
        return np.stack(self.inverse(R1, R2))

    def _offdiagonal(self, x: np.ndarray) -> np.ndarray:
        """Product [B c; B'a] for a stacked x = [a; c] of centred columns."""
        return self.border.centred(np.stack(self._products(*x)))

    def _products(self, a: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """The products r K r c and r K'r a, which are one and the same if K is symmetric."""
        r = self.border.roots
        source = r * (self.A @ (r * c))
        return source, source if self.symmetric else r * (self._At @ (r * a))


class SaddleFamily(ABC):
    """The saddle systems of one kernel matrix for all C."""

    A: KernelOperator
    weights: np.ndarray | None  # of the samples, (n,), positive
    leaves_one_out = True  # whether ``leave_one_out`` is available, which needs entries of the inverse

    @abstractmethod
    def at(self, C: float) -> SaddleSystem:
        """Return the system at one C."""

    @abstractmethod
    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """Exact leave-one-out predictions for each C in the grid."""

    @abstractmethod
    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """Exact predictions for left-out folds for each C in the grid."""

    def nan_if_unresolved(self, held_out: HeldOut, C: float, largest: float) -> HeldOut:
        """Return held-out values, or nan if 1/C is lost in rounding errors of K, whose largest values may cancel."""
        if EPS * C * max(largest, self.mean_size) < UNRESOLVED:
            return held_out
        return np.full_like(held_out[0], np.nan), np.full_like(held_out[1], np.nan)

    @cached_property
    def border(self) -> Border:
        """What the weights make of the border of the systems."""
        return Border(self.A.shape[0], self.weights)

    @cached_property
    def mean_size(self) -> float:
        """The singular value of r K r that the border proves; centring removes it, but not its rounding."""
        r, along = self.border.roots, self.border.roots * self.border.unit
        return max(frobenius(r * (self.A @ along)), frobenius(r * (self.A.T @ along)))


@dataclass(eq=False)
class RefittedFamily(SaddleFamily):
    """Systems that are solved again for every C and every fold."""

    A: KernelOperator
    weights: np.ndarray | None = field(default=None, kw_only=True)

    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """Use the diagonals of the inverse at each C."""
        for C in grid:
            system = self.at(C)
            duals = system.solve(Y)
            held_out = without_each(Y, duals.a, duals.c, *system.inverse_diagonals())
            yield self.nan_if_unresolved(held_out, C, system.norm_estimate())

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """Solve a system for every fold and C."""
        found, largest = np.empty((len(grid), 2, *Y.shape)), 0.0
        for kept, left_out in folds:
            weights = None if self.weights is None else self.weights[kept]
            family = replace(self, A=restricted(self.A, kept, kept), weights=weights)
            to_source, to_target = restricted(self.A, left_out, kept), restricted(self.A, kept, left_out).T
            for C, (source, target) in zip(grid, found, strict=True):
                system = family.at(C)
                duals, largest = system.solve(Y[kept]), max(largest, system.norm_estimate())
                source[left_out], target[left_out] = to_source @ duals.c + duals.b1, to_target @ duals.a + duals.b2
        for C, (source, target) in zip(grid, found, strict=True):
            yield self.nan_if_unresolved((source, target), C, largest)


def without_each(Y: np.ndarray, a: np.ndarray, c: np.ndarray, *diagonals: np.ndarray) -> HeldOut:
    """Compute (y_i, y_i) - N_i^-1 (a_i, c_i) from diagonals of N; not finite if the system without i is singular.

    Duals and diagonals of several systems have a leading axis, and so have the values.
    """
    aa, cc, ac = (diagonal[..., None] for diagonal in diagonals)
    determinant = aa * cc - ac**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return Y - (cc * a - ac * c) / determinant, Y - (aa * c - ac * a) / determinant


def factorised(factorise: Callable[[float], Factorised | None], C: float) -> Factorised:
    """Return factorise(1/C) or, if that is None, the factorisation for a C that differs in the eleventh digit.

    A singular system is thus replaced by a nearby one with a finite solution, and ``conditioning`` reports it.
    """
    for factor in (1.0, 1.0 + RIDGE_NUDGE):
        found = factorise(factor / C)
        if found is not None:
            return found
    raise ValueError(f"no factorisation at C={C:g}, nor near it; use another C, or scale the kernel")


def dense_lu(T: np.ndarray, least: float) -> LU | None:
    """LU factors of T, which may be overwritten, or None if a pivot is at most eps * ``least`` in magnitude."""
    factors, order, info = scipy.linalg.get_lapack_funcs("getrf", (T,))(T, overwrite_a=True)
    return None if info > 0 or np.abs(factors.diagonal()).min() <= EPS * least else (factors, order)


def warn_if_near_singular(system: SaddleSystem) -> None:
    """Warn if a system is nearly singular, and name the singular value responsible and the safe values of C."""
    found = system.conditioning()
    if found.rcond > NEAR_SINGULAR:
        return
    largest = max(largest_singular_value(system.A, system.border), found.largest, np.finfo(float).tiny)
    warn(
        f"C={system.C:g} makes the system nearly singular (reciprocal condition {found.rcond:.1e}): the centred kernel "
        f"matrix has the singular value {found.sigma:.6g} and 1/C is {1 / system.C:.6g}. Any C below {1 / largest:.6g} "
        "is safe; damping=1.0 gives the damped solution at this C",
        NearSingularWarning,
    )


def check_solution(system: SaddleSystem, duals: Duals) -> None:
    """Raise an error if the duals have overflowed, and name the safe values of C."""
    if not all(np.isfinite(part).all() for part in duals):
        largest = largest_singular_value(system.A, system.border)
        way_out = f"any C below {1 / largest:.6g} is safe" if largest else "lower C, or scale the targets down"
        raise ValueError(f"C={system.C:g} gives no finite solution, up to rounding; {way_out}")


def largest_singular_value(A: KernelOperator, border: Border) -> float:
    """Largest singular value of the centred matrix; for C below its reciprocal the system is positive definite."""
    leading, _ = factorise(border.centred_operator(A), 1, budget=sys.maxsize, rng=np.random.default_rng(0))
    return float(leading.s[0])


def _unit(x: np.ndarray) -> np.ndarray:
    return x / max(np.linalg.norm(x), np.finfo(float).tiny)
