"""KernelSVD, its learned versions, and compatibility between rows and columns of different widths."""

from .compatibility.maps import (
    Compatibility,
    Identity,
    LearnedProjection,
    PCAProjection,
    PseudoInverse,
    RandomProjection,
    make_compatible,
    split_condition,
)
from .estimator import KernelSVD, kernel_times as kernel_times
from .learned import LearnedKernelSVDClassifier, LearnedKernelSVDRegressor
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
    "fit_robust",
    "make_compatible",
    "split_condition",
]
