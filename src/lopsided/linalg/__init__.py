"""Operator in, frozen factors out, and what chooses among the ways; saddle systems and their solvers."""

from .block_krylov import check_finite, krylov
from .block_lu import BlockLU
from .compatibility import Compatibility, make_compatible
from .dense import lapack
from .factors import Factors
from .lanczos import arpack, propack
from .minres import Minres
from .reduced import Reduced
from .saddle import Closeness, Duals, Fold, Saddle, System
from .saddle_solvers import SADDLE_SOLVERS, build_saddle, choose_saddle, warn_if_near_singular
from .solvers import SOLVERS, Choice, block_size, choose, factorise, factorise_energy
from .spectral import Spectral
from .symmetric import Symmetric

__all__ = [
    "SADDLE_SOLVERS",
    "SOLVERS",
    "BlockLU",
    "Choice",
    "Closeness",
    "Compatibility",
    "Duals",
    "Factors",
    "Fold",
    "Minres",
    "Reduced",
    "Saddle",
    "Spectral",
    "Symmetric",
    "System",
    "arpack",
    "block_size",
    "build_saddle",
    "check_finite",
    "choose",
    "choose_saddle",
    "factorise",
    "factorise_energy",
    "krylov",
    "lapack",
    "make_compatible",
    "propack",
    "warn_if_near_singular",
]
