"""Learning with asymmetric kernels: similarities k(x, z) that need not equal k(z, x)."""

from . import graphs, kernels
from .biclustering import KernelBiclustering
from .estimators import (
    AsymmetricLSSVC,
    AsymmetricLSSVR,
    KernelSVD,
    LearnedKernelSVDClassifier,
    LearnedKernelSVDRegressor,
    PriorNystroem,
)
from .graphs import DirectedGraphEmbedding
from .images import ImageMixtures

__all__ = [
    "AsymmetricLSSVC",
    "AsymmetricLSSVR",
    "DirectedGraphEmbedding",
    "ImageMixtures",
    "KernelBiclustering",
    "KernelSVD",
    "LearnedKernelSVDClassifier",
    "LearnedKernelSVDRegressor",
    "PriorNystroem",
    "graphs",
    "kernels",
]
__version__ = "0.1.0"
