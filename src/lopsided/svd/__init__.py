"""Operator in, frozen Factors out: the solvers, the policy that chooses among them, weights and diagnostics."""

from .dense import lapack as lapack
from .diagnostics import Diagnostics, diagnose
from .factors import (
    Factors,
    Side as Side,
    canonical_signs as canonical_signs,
    exact_sides as exact_sides,
    powers as powers,
)
from .policy import (
    SMALL as SMALL,
    SOLVERS as SOLVERS,
    Choice as Choice,
    choose as choose,
    factorise,
    factorise_energy as factorise_energy,
)
from .weights import Weights as Weights, check_weights as check_weights, decompose as decompose

__all__ = ["Diagnostics", "Factors", "diagnose", "factorise"]
