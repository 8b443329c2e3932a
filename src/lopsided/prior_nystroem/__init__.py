"""PriorNystroem: a low-rank kernel learned from labels or pairs."""

from .estimator import PriorNystroem
from .self_training import SelfTrainedFeatures

__all__ = ["PriorNystroem", "SelfTrainedFeatures"]
