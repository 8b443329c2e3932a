"""Kernel matrices as linear operators: stored, blocked, sparse plus low rank, centred, weighted."""

from .._budget import budget_bytes
from .base import KernelOperator
from .blocked import Blocked
from .build import as_operator, is_recomputed, operator_of_new
from .compound import Centered, LowRank, Sum, Weighted
from .resolvent import Resolvent
from .sparse import Streamed, forecast, sparse_plus_low_rank
from .sparse_low_rank import SparseLowRank
from .stored import Stored

__all__ = [
    "Blocked",
    "Centered",
    "KernelOperator",
    "LowRank",
    "Resolvent",
    "SparseLowRank",
    "Stored",
    "Streamed",
    "Sum",
    "Weighted",
    "as_operator",
    "budget_bytes",
    "forecast",
    "is_recomputed",
    "operator_of_new",
    "sparse_plus_low_rank",
]
