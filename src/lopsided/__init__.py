"""Learning with asymmetric kernels: similarities k(x, z) that need not equal k(z, x)."""

from . import graphs, kernels
from .biclustering import KernelBiclustering
from .graphs import DirectedGraphEmbedding
from .images import ImageMixtures
from .kernel_svd import KernelSVD, LearnedKernelSVDClassifier, LearnedKernelSVDRegressor
from .least_squares import AsymmetricLSSVC, AsymmetricLSSVR
from .prior_nystroem import PriorNystroem

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
