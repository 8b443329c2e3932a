"""What every room needs and none owns: arrays, row streams, threads, memory, seeds, validation."""

from .adjacency_blocks import AdjacencyBlocks
from .arrays import (
    FLOATS,
    Array,
    ArrayLike,
    Kind,
    by_rows,
    canonical,
    check_points,
    check_samples,
    check_sides,
    dense,
    same_points,
)
from .atomic_fit import atomic_fit
from .bar import CLEAR, show_progress
from .centring import centred, centred_twice
from .checked import checked
from .column_names import as_configured, check_names, column_names
from .csr import per_entry, row_numbers, row_peaks, row_sums, scale_rows, some_entries, with_entries
from .decompositions import eigh, singular_values, solve, svd
from .estimator import Documented, Estimator
from .finite import check_finite, gate
from .memory import budget_bytes
from .mixing import mixed
from .products import in_strips, product
from .progress import announce, counted
from .ranking import best_first, largest
from .row_blocks import RowBlocks, as_row_blocks, at_hand, by_blocks, in_slabs, is_lazy, is_sparse, native, rows_of_both
from .rows import as_indexable, check_out, reject_masked
from .seeds import seed_of
from .targets import argmax_class, encoded, per_class_scores, real_targets
from .threads import block_bytes, blocks_of, even_slices, jobs, n_threads, run, slices_of, with_one_blas_thread
from .units import frobenius, in_unit, row_lengths, safe_unit
from .wording import count_of

__all__ = [
    "CLEAR",
    "FLOATS",
    "AdjacencyBlocks",
    "Array",
    "ArrayLike",
    "Documented",
    "Estimator",
    "Kind",
    "RowBlocks",
    "announce",
    "argmax_class",
    "as_configured",
    "as_indexable",
    "as_row_blocks",
    "at_hand",
    "atomic_fit",
    "best_first",
    "block_bytes",
    "blocks_of",
    "budget_bytes",
    "by_blocks",
    "by_rows",
    "canonical",
    "centred",
    "centred_twice",
    "check_finite",
    "check_names",
    "check_out",
    "check_points",
    "check_samples",
    "check_sides",
    "checked",
    "column_names",
    "count_of",
    "counted",
    "dense",
    "eigh",
    "encoded",
    "even_slices",
    "frobenius",
    "gate",
    "in_slabs",
    "in_strips",
    "in_unit",
    "is_lazy",
    "is_sparse",
    "jobs",
    "largest",
    "mixed",
    "n_threads",
    "native",
    "per_class_scores",
    "per_entry",
    "product",
    "real_targets",
    "reject_masked",
    "row_lengths",
    "row_numbers",
    "row_peaks",
    "row_sums",
    "rows_of_both",
    "run",
    "safe_unit",
    "same_points",
    "scale_rows",
    "seed_of",
    "show_progress",
    "singular_values",
    "slices_of",
    "solve",
    "some_entries",
    "svd",
    "with_entries",
    "with_one_blas_thread",
]
