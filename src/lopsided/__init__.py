"""Learning with asymmetric kernels: similarities k(x, z) that need not equal k(z, x)."""

from . import kernels
from .estimators import AsymmetricLSSVC, AsymmetricLSSVR, KernelSVD, PriorNystroem
from .images import ImageMixtures

__all__ = ["AsymmetricLSSVC", "AsymmetricLSSVR", "ImageMixtures", "KernelSVD", "PriorNystroem", "kernels"]
__version__ = "0.1.0"
