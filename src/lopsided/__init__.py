"""Learning with asymmetric kernels: similarities k(x, z) that need not equal k(z, x)."""

from . import graphs, kernels
from .estimators import AsymmetricLSSVC, AsymmetricLSSVR, KernelSVD
from .graphs import DirectedGraphEmbedding
from .images import ImageMixtures

__all__ = [
    "AsymmetricLSSVC",
    "AsymmetricLSSVR",
    "DirectedGraphEmbedding",
    "ImageMixtures",
    "KernelSVD",
    "graphs",
    "kernels",
]
__version__ = "0.1.0"
