"""Learning with asymmetric kernels: similarities k(x, z) that need not equal k(z, x)."""

from . import kernels
from .biclustering import KernelBiclustering
from .estimators import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    KernelSVD,
    LearnedKernelSVDClassifier,
    LearnedKernelSVDRegressor,
    PriorNystroem,
)
from .images import ImageMixtures

__all__ = [
    "AsymmetricLSSVC",
    "AsymmetricLSSVR",
    "ImageMixtures",
    "KernelBiclustering",
    "KernelSVD",
    "LearnedKernelSVDClassifier",
    "LearnedKernelSVDRegressor",
    "PriorNystroem",
    "kernels",
]
__version__ = "0.1.0"
