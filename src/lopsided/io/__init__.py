"""Graphs and tables in, saved models and vectors out and in."""

from .atomic import written_whole as written_whole
from .columns import Wanted as Wanted, is_nameless as is_nameless, is_time as is_time, shown as shown
from .edges import Edges as Edges, holds_edges as holds_edges, is_text as is_text, read_edges as read_edges
from .files import imported_pyarrow as imported_pyarrow, write_text as write_text
from .graph import Graph, assembled as assembled, is_array_like as is_array_like, read_graph
from .ids import (
    equivalent_forms as equivalent_forms,
    factorized as factorized,
    is_missing as is_missing,
    is_whole as is_whole,
)
from .matrices import is_matrix_file as is_matrix_file, read_matrix as read_matrix
from .saved import load, save
from .tables import read_columns as read_columns
from .types import trusted_types
from .vectors import (
    VECTOR_FORMATS as VECTOR_FORMATS,
    check_embedded as check_embedded,
    plain_ids as plain_ids,
    reject_unwritable as reject_unwritable,
    vector_columns as vector_columns,
    write_vectors,
)

__all__ = ["Graph", "load", "read_graph", "save", "trusted_types", "write_vectors"]
