"""What is said of systems that are nearly singular, or have no finite solution."""

from __future__ import annotations

import sys

import numpy as np

from ...exceptions import NearSingularWarning, warn
from ...operators import Centered, KernelOperator
from ...svd import factorise
from .system import Duals, SaddleSystem

NEAR_SINGULAR = 1e-8  # reciprocal condition number below which the authors of the 2023 paper use the damped solution


def warn_if_near_singular(system: SaddleSystem) -> None:
    """Warn if a system is nearly singular, and name the singular value responsible and the safe values of C."""
    found = system.conditioning()
    if found is None or found.rcond > NEAR_SINGULAR:
        return
    largest = max(largest_singular_value(system.A), found.largest)
    warn(
        f"C={system.C:g} makes the system nearly singular (reciprocal condition {found.rcond:.1e}): the centred kernel "
        f"matrix has the singular value {found.sigma:.6g} and 1/C is {1 / system.C:.6g}. Any C below {1 / largest:.6g} "
        "is safe; damping=1.0 gives the damped solution at this C",
        NearSingularWarning,
    )


def check_solution(system: SaddleSystem, duals: Duals) -> None:
    """Raise an error if the duals have overflowed, and name the safe values of C."""
    if not all(np.isfinite(part).all() for part in duals):
        largest = largest_singular_value(system.A)
        way_out = f"any C below {1 / largest:.6g} is safe" if largest else "lower C, or scale the targets down"
        raise ValueError(f"C={system.C:g} gives no finite solution, up to rounding; {way_out}")


def largest_singular_value(A: KernelOperator) -> float:
    """Largest singular value of the centred matrix; for C below its reciprocal the system is positive definite."""
    leading, _ = factorise(Centered(A), 1, budget=sys.maxsize, rng=np.random.default_rng(0))
    return float(leading.s[0])
