"""Kernel matrices as linear operators: stored, blocked, sparse plus low rank, centred, weighted."""

from .base import Condensed as Condensed, KernelOperator
from .blocked import TILE_BYTES as TILE_BYTES, Blocked as Blocked
from .build import (
    as_operator,
    is_factored as is_factored,
    is_indexed as is_indexed,
    is_matrix_free as is_matrix_free,
    out_of_sample_operator as out_of_sample_operator,
)
from .combined import LowRank as LowRank, Sum as Sum
from .forecast import forecast as forecast
from .sparse_low_rank import SparseLowRank as SparseLowRank
from .sparse_slices import Streamed as Streamed, sparse_plus_low_rank as sparse_plus_low_rank
from .stored import Stored as Stored
from .wrapped import Centered as Centered, Weighted as Weighted, restricted as restricted

__all__ = ["KernelOperator", "as_operator"]
