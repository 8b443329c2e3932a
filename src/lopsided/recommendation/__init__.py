"""Recommendation of items to users from a table of interactions, and evaluation of recommendations."""

from .estimator import KernelRecommender
from .metrics import coverage, ndcg_at_k, ranking_scores, recall_at_k

__all__ = ["KernelRecommender", "coverage", "ndcg_at_k", "ranking_scores", "recall_at_k"]
