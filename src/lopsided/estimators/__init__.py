"""scikit-learn objects: validate, compute, store."""

from .kernel_svd import KernelSVD

__all__ = ["KernelSVD"]
