"""Least-squares SVMs with asymmetric kernels: AsymmetricLSSVC and AsymmetricLSSVR."""

from .classifier import AsymmetricLSSVC
from .regressor import AsymmetricLSSVR

__all__ = ["AsymmetricLSSVC", "AsymmetricLSSVR"]
