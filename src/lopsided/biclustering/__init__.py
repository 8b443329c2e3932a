"""Biclustering of the rows and columns of a table, and evaluation metrics for it."""

from .estimator import KernelBiclustering
from .metrics import coherence_index, matched_accuracy, partition_scores

__all__ = ["KernelBiclustering", "coherence_index", "matched_accuracy", "partition_scores"]
