"""The saddle system of least-squares machines with an asymmetric kernel, free of the labels.

For a square kernel matrix K and a right-hand side y the unknowns a, c, b1, b2 satisfy

    1'a = 0,   1'c = 0,   a / C + K c + b1 1 = y,   c / C + K'a + b2 1 = y,

the system (6) of the 2023 paper with a = y * alpha and c = y * beta. The matrix does not know the labels, so every
class and every target is one more right-hand side. Two facts carry all solvers:

- **The offsets go away.** With H = I - 11'/n and B = H K H the unknowns solve [I/C, B; B', I/C] [a; c] = [H y; H y],
  and b1 = mean(y - K c), b2 = mean(y - K'a). The eigenvalues are 1/C -+ the singular values of B, and 1/C.
- **Leaving one out is free.** Let N be the inverse of the whole matrix. What the machine trained without sample i says
  of it is (y_i, y_i) - N_i^-1 (a_i, c_i) with N_i the 2 x 2 block of N that belongs to a_i and c_i; the same holds for
  a fold of samples and the block of N that belongs to them.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from functools import cached_property
from typing import NamedTuple, TypeVar

import numpy as np
import scipy.linalg

from ...operators.base import KernelOperator
from ..centring import centred

INVERSE_STEPS = 2  # of inverse iteration: accurate where it matters, near to singular
POWER_STEPS = 4  # of power iteration for the largest singular value, or a little less
EPS = np.finfo(float).eps
DROWNED = 0.01  # rounding of the largest singular value, as a share of 1/C, from which held-out values mean nothing
NUDGE = EPS ** (2 / 3)  # relative change of 1/C by which a pivot that was zero is no longer
NEAR = 1e-8  # reciprocal condition below which the authors of the 2023 paper take the damped solution


HeldOut = tuple[np.ndarray, np.ndarray]  # values of the source and of the target function, each (n, k)
LU = tuple[np.ndarray, np.ndarray]  # factors and pivots as LAPACK stores them
Factorised = TypeVar("Factorised")
Fold = tuple[np.ndarray, np.ndarray]  # numbers of the samples that are kept and of those that are left out


class Duals(NamedTuple):
    """The solution for k right-hand sides: f_source(x) = k(x, X) c + b1, f_target(x) = k(X, x)'a + b2."""

    a: np.ndarray
    """(n, k), the weights of the left training points; they make the target function."""
    c: np.ndarray
    """(n, k), the weights of the right training points; they make the source function."""
    b1: np.ndarray
    """(k,), the offsets of the source function."""
    b2: np.ndarray
    """(k,), the offsets of the target function."""


class Closeness(NamedTuple):
    """How near a system is to singular."""

    sigma: float
    """The singular value of the centred kernel matrix that is nearest to 1/C."""
    largest: float
    """The largest singular value, perhaps a little less; any C below its reciprocal makes the system definite."""
    rcond: float
    """The reciprocal of the condition number."""


class System(ABC):
    """The saddle system of one matrix at one C, factorised."""

    def __init__(self, A: KernelOperator, C: float, n: int | None = None) -> None:
        self.A = A
        self.C = float(C)
        self.n = A.shape[0] if n is None else n

    def solve(self, Y: np.ndarray) -> Duals:
        """Solve for the right-hand sides Y, shape (n, k): centre them, solve, and add the offsets.

        Rounding leaves a little of the means, which the inverse multiplies by C and K multiplies again; so right-hand
        sides are centred twice, and solutions once more.
        """
        R = centred(centred(Y))
        return self._with_offsets(Y, *map(centred, self.inverse(R, R)))

    @abstractmethod
    def inverse(self, R1: np.ndarray, R2: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Solve [I/C, B; B', I/C] [P; Q] = [R1; R2] for columns whose sums are zero."""

    @abstractmethod
    def leave_one_out(self, Y: np.ndarray, duals: Duals) -> HeldOut:
        """What source and target functions trained without sample i say of it, for every i: two (n, k) arrays."""

    def closeness(self) -> Closeness | None:
        """How near the system is to singular, or None if that is not known.

        By inverse iteration from one vector: two steps are accurate where they matter, near to singular.
        """
        x = _unit(self._probe())
        for _ in range(INVERSE_STEPS):
            x = _unit(self._rough_inverse(x))
        nearest = 1 / self.C + np.vdot(x, self._offdiagonal(x))
        sigma = abs(nearest - 1 / self.C)
        largest = max(self.largest(), sigma)
        return Closeness(sigma, largest, abs(nearest) / (1 / self.C + largest))

    def largest(self) -> float:
        """The largest singular value of the centred matrix, or a little less: a few steps of power iteration."""
        x = _unit(self._probe())
        for _ in range(POWER_STEPS):
            x = _unit(self._offdiagonal(x))
        return float(np.linalg.norm(self._offdiagonal(x)))

    @cached_property
    def means(self) -> tuple[np.ndarray, np.ndarray]:
        """Means of the rows and of the columns of K, by one product each."""
        source, target = self._products(*np.full((2, self.n, 1), 1 / self.n))
        return source[:, 0], target[:, 0]

    @cached_property
    def _At(self) -> KernelOperator:
        return self.A.T

    def _probe(self) -> np.ndarray:
        """A start vector, shape (2, n, 1), that sums to zero in both halves."""
        start = np.random.default_rng(0).standard_normal((2, self.n, 1))
        return start - start.mean(axis=1, keepdims=True)

    def _rough_inverse(self, x: np.ndarray) -> np.ndarray:
        return np.stack(self.inverse(x[0], x[1]))

    def _offdiagonal(self, x: np.ndarray) -> np.ndarray:
        """[B c; B'a]."""
        y = np.stack(self._products(x[0], x[1]))
        return y - y.mean(axis=1, keepdims=True)

    def _products(self, a: np.ndarray, c: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """K c and K'a."""
        return self.A @ c, self._At @ a

    def _with_offsets(self, Y: np.ndarray, a: np.ndarray, c: np.ndarray) -> Duals:
        """Complete centred duals by b1 = mean(y - K c) and b2 = mean(y - K'a)."""
        rows, columns = self.means
        return Duals(a, c, Y.mean(axis=0) - columns @ c, Y.mean(axis=0) - rows @ a)


class Saddle(ABC):
    """The saddle systems of one kernel matrix, ready for any C."""

    A: KernelOperator

    @property
    def leaves_one_out(self) -> bool:
        """Whether ``leave_one_out`` is exact: there is an inverse to look into."""
        return True

    @abstractmethod
    def at(self, C: float) -> System:
        """The system at one C."""

    @abstractmethod
    def restricted(self, kept: np.ndarray) -> Saddle:
        """The same for the samples with these numbers alone."""

    def leave_one_out(self, grid: np.ndarray, Y: np.ndarray) -> Iterator[HeldOut]:
        """For each C what the functions trained without sample i say of it, for every i."""
        for C in grid:
            system = self.at(C)
            yield unless_drowned(system.leave_one_out(Y, system.solve(Y)), C, system.largest())

    def leave_folds_out(self, grid: np.ndarray, Y: np.ndarray, folds: Sequence[Fold]) -> Iterator[HeldOut]:
        """For each C what the functions trained without a fold say of its samples, by training them."""
        found, largest = np.zeros((len(grid), 2, *Y.shape)), 0.0
        for kept, left_out in folds:
            saddle = self.restricted(kept)
            for C, (source, target) in zip(grid, found, strict=True):
                system = saddle.at(C)
                duals, largest = system.solve(Y[kept]), max(largest, system.largest())
                wide = np.zeros((2, *Y.shape))
                wide[0, kept], wide[1, kept] = duals.a, duals.c
                source[left_out] = (self.A @ wide[1])[left_out] + duals.b1
                target[left_out] = (self.A.T @ wide[0])[left_out] + duals.b2
        yield from (
            unless_drowned((source, target), C, largest) for C, (source, target) in zip(grid, found, strict=True)
        )


class BlockwiseSystem(System):
    """A system that knows the 2 x 2 blocks of its inverse."""

    @abstractmethod
    def blocks(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """The diagonals N[a_i, a_i], N[c_i, c_i] and N[a_i, c_i] of the inverse, each of shape (n,)."""

    def leave_one_out(self, Y: np.ndarray, duals: Duals) -> HeldOut:
        """(y_i, y_i) - N_i^-1 (a_i, c_i)."""
        return from_blocks(Y, duals.a, duals.c, *self.blocks())


def from_blocks(Y: np.ndarray, a: np.ndarray, c: np.ndarray, aa: np.ndarray, cc: np.ndarray, ac: np.ndarray) -> HeldOut:
    """(y_i, y_i) - N_i^-1 (a_i, c_i) for every i, from the three diagonals that make the blocks N_i.

    Not finite where the system without a sample is singular.
    """
    aa, cc, ac = aa[:, None], cc[:, None], ac[:, None]
    determinant = aa * cc - ac**2
    with np.errstate(divide="ignore", invalid="ignore"):
        return Y - (cc * a - ac * c) / determinant, Y - (aa * c - ac * a) / determinant


def unless_drowned(held_out: HeldOut, C: float, largest: float) -> HeldOut:
    """Held-out values, or nan where 1/C has drowned in the rounding of the largest singular value."""
    if EPS * C * largest < DROWNED:
        return held_out
    return np.full_like(held_out[0], np.nan), np.full_like(held_out[1], np.nan)


def factorised(factorise: Callable[[float], Factorised | None], C: float) -> Factorised:
    """What factorise(1/C) finds; where it finds nothing, what it does for a C that differs in the eleventh digit.

    The answer at a C that makes the system singular is then that of a system near it, finite, and ``closeness`` tells.
    """
    for factor in (1.0, 1.0 + NUDGE):
        found = factorise(factor / C)
        if found is not None:
            return found
    raise np.linalg.LinAlgError(f"no factorisation at C={C:g}, nor near it; scale the kernel matrix")


def dense_lu(T: np.ndarray, least: float) -> LU | None:
    """LU factors of T, which they may overwrite, or None if a pivot vanishes beside ``least``."""
    factors, order, info = scipy.linalg.get_lapack_funcs("getrf", (T,))(T, overwrite_a=True)
    return None if info > 0 or np.abs(factors.diagonal()).min() <= EPS * least else (factors, order)


def solve_or_nan(block: np.ndarray, r: np.ndarray) -> np.ndarray:
    """block^-1 r, or nan if the block is singular."""
    try:
        return np.linalg.solve(block, r)
    except np.linalg.LinAlgError:
        return np.full_like(r, np.nan)


def _unit(x: np.ndarray) -> np.ndarray:
    return x / max(np.linalg.norm(x), np.finfo(float).tiny)
