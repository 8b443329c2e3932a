"""Operator in, frozen factors out: exact, Lanczos and block Krylov, and what chooses among them."""

from .choose import SOLVERS, Choice, block_size, choose, factorise, factorise_energy
from .compatibility import Compatibility, compatibility
from .factors import Factors
from .krylov import krylov
from .lanczos import arpack, propack
from .lapack import lapack

__all__ = [
    "SOLVERS",
    "Choice",
    "Compatibility",
    "Factors",
    "arpack",
    "block_size",
    "choose",
    "compatibility",
    "factorise",
    "factorise_energy",
    "krylov",
    "lapack",
    "propack",
]
