"""PriorNystroem: a low-rank kernel learned from labels or pairs."""

from .estimator import PriorNystroem

__all__ = [
    "PriorNystroem",
]
