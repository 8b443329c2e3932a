"""Operator in, frozen Factors out: the solvers, the policy that chooses among them, weights and diagnostics."""

from .accuracy import eta, relative_eta
from .diagnostics import Diagnostics, Residuals as Residuals, diagnose
from .factors import (
    Factors,
    Side as Side,
    canonical_signs as canonical_signs,
    exact_sides as exact_sides,
    powers as powers,
)
from .policy import SMALL_SIDE as SMALL_SIDE, Choice as Choice, nystrom_if_large as nystrom_if_large, select_solver
from .solvers import SOLVERS as SOLVERS, factorise, lapack as lapack
from .weights import Weights as Weights, check_weights as check_weights

__all__ = ["Diagnostics", "Factors", "diagnose", "eta", "factorise", "relative_eta", "select_solver"]
