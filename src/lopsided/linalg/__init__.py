"""Linear algebra on kernel operators: exact and Nystrom SVD, solver selection, saddle systems, learned kernels."""

from .clusters.blocks import block_means, count_classes, partners
from .clusters.discriminant import Discriminant, directions, nearest_mean, refine
from .clusters.sweeps import BlockRules, block_sweeps, unequal_sweeps
from .compatibility.condition import condition_residual, solve_condition, split_condition
from .compatibility.maps import (
    Compatibility,
    Identity,
    LearnedProjection,
    PCAProjection,
    PseudoInverse,
    RandomProjection,
    make_compatible,
)
from .factors import Factors, Side, exact_sides, powers
from .finite import check_finite
from .landmarks.adaptive import Attempt, approximate, estimate_eta, landmark_choice, many_sums
from .landmarks.nystrom import Nystrom, nystrom
from .landmarks.placing import PLACES, STRATEGIES, Landmarks
from .prior.dictionary import learn_dictionary
from .prior.landscape import Labels, Landscape, Pairs
from .prior.learning import LearnedKernel, learn_kernel
from .prior.side_information import ClassTargets, PairTargets, SideInformation
from .saddle.block_lu import BlockLU
from .saddle.minres import Minres
from .saddle.of_kernels import KernelSaddle, saddle_of_landmarks, saddle_of_samples
from .saddle.reduced import Reduced
from .saddle.solvers import (
    MODERATE,
    SADDLE_SOLVERS,
    build_saddle,
    check_solution,
    choose_saddle,
    largest_singular_value,
    warn_if_near_singular,
)
from .saddle.spectral import Spectral, of_landmarks
from .saddle.symmetric import Symmetric
from .saddle.system import Closeness, Duals, Fold, HeldOut, Saddle, System
from .svd.block_krylov import krylov
from .svd.dense import lapack
from .svd.lanczos import arpack, propack
from .svd.solvers import SOLVERS, Choice, block_size, choose, factorise, factorise_energy
from .variational import Diagnostics, coupled_covariance_residuals, diagnose
from .weighting import Weights, check_weights, decompose

__all__ = [
    "MODERATE",
    "PLACES",
    "SADDLE_SOLVERS",
    "SOLVERS",
    "STRATEGIES",
    "Attempt",
    "BlockLU",
    "BlockRules",
    "Choice",
    "ClassTargets",
    "Closeness",
    "Compatibility",
    "Diagnostics",
    "Discriminant",
    "Duals",
    "Factors",
    "Fold",
    "HeldOut",
    "Identity",
    "KernelSaddle",
    "Labels",
    "Landmarks",
    "Landscape",
    "LearnedKernel",
    "LearnedProjection",
    "Minres",
    "Nystrom",
    "PCAProjection",
    "PairTargets",
    "Pairs",
    "PseudoInverse",
    "RandomProjection",
    "Reduced",
    "Saddle",
    "Side",
    "SideInformation",
    "Spectral",
    "Symmetric",
    "System",
    "Weights",
    "approximate",
    "arpack",
    "block_means",
    "block_size",
    "block_sweeps",
    "build_saddle",
    "check_finite",
    "check_solution",
    "check_weights",
    "choose",
    "choose_saddle",
    "condition_residual",
    "count_classes",
    "coupled_covariance_residuals",
    "decompose",
    "diagnose",
    "directions",
    "estimate_eta",
    "exact_sides",
    "factorise",
    "factorise_energy",
    "krylov",
    "landmark_choice",
    "lapack",
    "largest_singular_value",
    "learn_dictionary",
    "learn_kernel",
    "make_compatible",
    "many_sums",
    "nearest_mean",
    "nystrom",
    "of_landmarks",
    "partners",
    "powers",
    "propack",
    "refine",
    "saddle_of_landmarks",
    "saddle_of_samples",
    "solve_condition",
    "split_condition",
    "unequal_sweeps",
    "warn_if_near_singular",
]
