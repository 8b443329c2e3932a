"""Estimators with the scikit-learn interface, built on :mod:`lopsided.linalg`."""

from .asymmetric_lssvc import AsymmetricLSSVC
from .asymmetric_lssvr import AsymmetricLSSVR
from .kernel_svd import KernelSVD
from .learned_kernel_svd_classifier import LearnedKernelSVDClassifier
from .learned_kernel_svd_regressor import LearnedKernelSVDRegressor
from .prior_nystroem import PriorNystroem

__all__ = [
    "AsymmetricLSSVC",
    "AsymmetricLSSVR",
    "KernelSVD",
    "LearnedKernelSVDClassifier",
    "LearnedKernelSVDRegressor",
    "PriorNystroem",
]
