"""What every room needs and none owns: arrays, row streams, threads, memory, seeds, validation."""

from .adjacency_blocks import AdjacencyBlocks as AdjacencyBlocks
from .arrays import (
    FLOATS as FLOATS,
    Array as Array,
    ArrayLike as ArrayLike,
    Kind as Kind,
    by_rows as by_rows,
    canonical as canonical,
    check_array as check_array,
    check_points as check_points,
    check_samples as check_samples,
    check_sides as check_sides,
    dense as dense,
    same_points as same_points,
)
from .atomic_fit import atomic_fit as atomic_fit
from .bar import CLEAR as CLEAR, show_progress as show_progress
from .centring import centred_twice as centred_twice
from .checked import checked as checked
from .csr import (
    per_entry as per_entry,
    row_numbers as row_numbers,
    row_peaks as row_peaks,
    row_sums as row_sums,
    scale_rows as scale_rows,
    some_entries as some_entries,
    with_entries as with_entries,
)
from .decompositions import eigh as eigh, singular_values as singular_values, solve as solve, svd as svd
from .estimator import Documented as Documented, Estimator as Estimator
from .finite import check_finite as check_finite, gate as gate
from .memory import budget_bytes as budget_bytes
from .mixing import mixed as mixed
from .parsimony import simplest_of_the_best as simplest_of_the_best
from .products import in_strips as in_strips, product as product
from .progress import announce as announce, counted as counted
from .ranking import best_columns as best_columns, best_first as best_first, usual_length as usual_length
from .right_points import (
    as_configured as as_configured,
    check_names as check_names,
    check_right as check_right,
    column_names as column_names,
)
from .row_blocks import (
    RowBlocks as RowBlocks,
    as_row_blocks as as_row_blocks,
    at_hand as at_hand,
    by_blocks as by_blocks,
    in_slabs as in_slabs,
    is_lazy as is_lazy,
    is_sparse as is_sparse,
    native as native,
    rows_of_both as rows_of_both,
)
from .rows import as_indexable as as_indexable, reject_masked as reject_masked
from .seeds import seed_of as seed_of
from .targets import (
    argmax_class as argmax_class,
    encoded as encoded,
    per_class_scores as per_class_scores,
    real_targets as real_targets,
)
from .threads import (
    accumulate as accumulate,
    block_bytes as block_bytes,
    blocks_of as blocks_of,
    even_slices as even_slices,
    jobs as jobs,
    n_threads as n_threads,
    on_one_thread as on_one_thread,
    run as run,
    slices_of as slices_of,
    with_one_blas_thread as with_one_blas_thread,
)
from .units import (
    frobenius as frobenius,
    in_unit as in_unit,
    row_lengths as row_lengths,
    safe_unit as safe_unit,
    unit_rows as unit_rows,
    whole as whole,
)
from .wording import count_of as count_of
