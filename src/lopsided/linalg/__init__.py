"""Operator in, frozen factors out: exact or from landmarks, and what chooses; saddle systems and their solvers."""

from .adaptive import Attempt, approximate, estimate_eta, landmark_choice, many_sums
from .block_krylov import check_finite, krylov
from .block_lu import BlockLU
from .blocks import block_means, count_classes, partners
from .compatibility import Compatibility, make_compatible
from .dense import lapack
from .discriminant import Discriminant, directions, nearest_mean, refine
from .factors import Factors, Side, exact_sides, powers
from .lanczos import arpack, propack
from .landmarks import STRATEGIES, Landmarks
from .minres import Minres
from .nystrom import Nystrom, nystrom
from .reduced import Reduced
from .saddle import Closeness, Duals, Fold, Saddle, System
from .saddle_solvers import SADDLE_SOLVERS, build_saddle, choose_saddle, warn_if_near_singular
from .solvers import SOLVERS, Choice, block_size, choose, factorise, factorise_energy
from .spectral import Spectral, of_landmarks
from .symmetric import Symmetric

__all__ = [
    "SADDLE_SOLVERS",
    "SOLVERS",
    "STRATEGIES",
    "Attempt",
    "BlockLU",
    "Choice",
    "Closeness",
    "Compatibility",
    "Discriminant",
    "Duals",
    "Factors",
    "Fold",
    "Landmarks",
    "Minres",
    "Nystrom",
    "Reduced",
    "Saddle",
    "Side",
    "Spectral",
    "Symmetric",
    "System",
    "approximate",
    "arpack",
    "block_means",
    "block_size",
    "build_saddle",
    "check_finite",
    "choose",
    "choose_saddle",
    "count_classes",
    "directions",
    "estimate_eta",
    "exact_sides",
    "factorise",
    "factorise_energy",
    "krylov",
    "landmark_choice",
    "lapack",
    "make_compatible",
    "many_sums",
    "nearest_mean",
    "nystrom",
    "of_landmarks",
    "partners",
    "powers",
    "propack",
    "refine",
    "warn_if_near_singular",
]
