"""scikit-learn objects: validate, compute, store."""

from .asymmetric_lssvc import AsymmetricLSSVC
from .asymmetric_lssvr import AsymmetricLSSVR
from .kernel_svd import KernelSVD
from .prior_nystroem import PriorNystroem

__all__ = ["AsymmetricLSSVC", "AsymmetricLSSVR", "KernelSVD", "PriorNystroem"]
