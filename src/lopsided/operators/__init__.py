"""Kernel matrices as linear operators: stored, blocked, sparse plus low rank, centred, weighted."""

from .base import KernelOperator
from .blocked import TILE_BYTES as TILE_BYTES, Blocked as Blocked
from .build import (
    as_operator,
    is_indexed as is_indexed,
    is_matrix_free as is_matrix_free,
    out_of_sample_operator as out_of_sample_operator,
)
from .compound import Centered as Centered, LowRank as LowRank, Sum as Sum, Weighted as Weighted
from .resolvent import Resolvent as Resolvent
from .sparse import Streamed as Streamed, forecast as forecast, sparse_plus_low_rank as sparse_plus_low_rank
from .sparse_low_rank import SparseLowRank as SparseLowRank
from .stored import Stored as Stored

__all__ = ["KernelOperator", "as_operator"]
