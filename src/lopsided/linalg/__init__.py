"""Operator in, frozen factors out: exact, Lanczos and block Krylov, landmarks, and what chooses among them."""

from .adaptive import Attempt, approximate, estimate_eta
from .block_krylov import check_finite, krylov
from .compatibility import Compatibility, make_compatible
from .dense import lapack
from .factors import Factors
from .lanczos import arpack, propack
from .landmarks import STRATEGIES, Landmarks
from .nystrom import Nystrom, Side, nystrom
from .solvers import SOLVERS, Choice, block_size, choose, factorise, factorise_energy

__all__ = [
    "SOLVERS",
    "STRATEGIES",
    "Attempt",
    "Choice",
    "Compatibility",
    "Factors",
    "Landmarks",
    "Nystrom",
    "Side",
    "approximate",
    "arpack",
    "block_size",
    "check_finite",
    "choose",
    "estimate_eta",
    "factorise",
    "factorise_energy",
    "krylov",
    "lapack",
    "make_compatible",
    "nystrom",
    "propack",
]
