"""Operator in, frozen factors out: exact or from landmarks, and what chooses; saddle systems; learned kernels."""

from .adaptive import Attempt, approximate, estimate_eta, landmark_choice, many_sums
from .block_krylov import check_finite, krylov
from .block_lu import BlockLU
from .compatibility import Compatibility, make_compatible
from .dense import lapack
from .factors import Factors, Side, exact_sides, powers
from .lanczos import arpack, propack
from .landmarks import STRATEGIES, Landmarks
from .low_rank_prior import learn_dictionary
from .minres import Minres
from .nystrom import Nystrom, nystrom
from .prior_nystrom import Labels, Landscape, Learned, Pairs, learn_kernel
from .reduced import Reduced
from .saddle import Closeness, Duals, Fold, Saddle, System
from .saddle_solvers import SADDLE_SOLVERS, build_saddle, choose_saddle, warn_if_near_singular
from .side_information import ClassTargets, PairTargets, SideInformation
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
    "ClassTargets",
    "Closeness",
    "Compatibility",
    "Duals",
    "Factors",
    "Fold",
    "Labels",
    "Landmarks",
    "Landscape",
    "Learned",
    "Minres",
    "Nystrom",
    "PairTargets",
    "Pairs",
    "Reduced",
    "Saddle",
    "Side",
    "SideInformation",
    "Spectral",
    "Symmetric",
    "System",
    "approximate",
    "arpack",
    "block_size",
    "build_saddle",
    "check_finite",
    "choose",
    "choose_saddle",
    "estimate_eta",
    "exact_sides",
    "factorise",
    "factorise_energy",
    "krylov",
    "landmark_choice",
    "lapack",
    "learn_dictionary",
    "learn_kernel",
    "make_compatible",
    "many_sums",
    "nystrom",
    "of_landmarks",
    "powers",
    "propack",
    "warn_if_near_singular",
]
