"""KernelSVD, its learned versions, and compatibility between rows and columns of different widths."""

from .compatibility.build import make_compatible, split_condition
from .compatibility.maps import (
    Compatibility,
    Identity,
    LearnedProjection,
    PCAProjection,
    PseudoInverse,
    RandomProjection,
    TruncatedProjection,
)
from .estimator import KernelSVD, kernel_times as kernel_times
from .learned import LearnedKernelSVDClassifier, LearnedKernelSVDRegressor
from .pairs import pairs_left_out as pairs_left_out
from .robust import fit_robust

__all__ = [
    "Compatibility",
    "Identity",
    "KernelSVD",
    "LearnedKernelSVDClassifier",
    "LearnedKernelSVDRegressor",
    "LearnedProjection",
    "PCAProjection",
    "PseudoInverse",
    "RandomProjection",
    "TruncatedProjection",
    "fit_robust",
    "make_compatible",
    "split_condition",
]
