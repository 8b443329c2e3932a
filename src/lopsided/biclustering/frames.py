"""Labels of the rows and columns of a table under the names that a dataframe gives them."""

from typing import Any

import narwhals as nw
import numpy as np
from narwhals.dependencies import is_into_dataframe


def named_labels(data: Any, row_labels: np.ndarray, column_labels: np.ndarray) -> tuple[Any, Any]:
    """Labels as series with the index of a dataframe and its columns; see ``KernelBiclustering.get_labels``."""
    if not is_into_dataframe(data):
        kind = type(data).__name__
        raise TypeError(f"data must be a dataframe, not {kind}; row_labels_ and column_labels_ are without names")
    expected = len(row_labels), len(column_labels)
    if data.shape != expected:
        raise ValueError(f"data has shape {data.shape}, but the model was fitted to a table of shape {expected}")
    frame = nw.from_native(data, eager_only=True)
    library = nw.get_native_namespace(frame)
    rows, columns = (nw.new_series("cluster", labels, backend=library) for labels in (row_labels, column_labels))
    if hasattr(data, "index"):
        rows, columns = nw.maybe_set_index(rows, index=data.index), nw.maybe_set_index(columns, index=data.columns)
        return rows.to_native(), columns.to_native()
    return rows.to_native(), nw.from_dict({"column": frame.columns, "cluster": columns}, backend=library).to_native()
