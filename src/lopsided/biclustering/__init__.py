"""Rows and columns of a table clustered together, and measures of what was found."""

from .estimator import KernelBiclustering
from .metrics import coherence_index, matched_accuracy, partition_scores

__all__ = ["KernelBiclustering", "coherence_index", "matched_accuracy", "partition_scores"]
