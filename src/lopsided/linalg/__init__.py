"""Operator in, frozen factors out: exact, Lanczos and block Krylov, and what chooses among them."""

from .block_krylov import check_finite, krylov
from .compatibility import Compatibility, make_compatible
from .dense import lapack
from .factors import Factors
from .lanczos import arpack, propack
from .solvers import SOLVERS, Choice, block_size, choose, factorise, factorise_energy

__all__ = [
    "SOLVERS",
    "Choice",
    "Compatibility",
    "Factors",
    "arpack",
    "block_size",
    "check_finite",
    "choose",
    "factorise",
    "factorise_energy",
    "krylov",
    "lapack",
    "make_compatible",
    "propack",
]
