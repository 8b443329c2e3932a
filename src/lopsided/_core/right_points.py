"""Right points at the gate, and their containers on the way out; scikit-learn takes care of the left points only."""

from typing import Any

import numpy as np
from sklearn.utils._set_output import _wrap_data_with_container
from sklearn.utils.validation import _get_feature_names

from .arrays import Array, ArrayLike, check_points
from .row_blocks import is_lazy
from .rows import as_indexable


def column_names(Z: Any) -> np.ndarray | None:
    """Column names of the right points if Z is a dataframe, else None."""
    if is_lazy(Z):
        return np.asarray(Z.columns, dtype=object) if hasattr(Z, "columns") else None
    return None if Z is None else _get_feature_names(Z)


def check_names(names: np.ndarray | None, expected: np.ndarray | None, whose: str) -> None:
    """Raise an error if Z has as many named columns as expected, but with other names or in another order."""
    if names is None or expected is None or np.array_equal(names, expected):
        return
    if len(names) == len(expected):
        i = int(np.flatnonzero(names != expected)[0])
        raise ValueError(
            f"column {i} of Z is {names[i]!r}, but {expected[i]!r} in {whose}; use the same order for both"
        )


def check_right(Z: ArrayLike, width: int, names: np.ndarray | None) -> Array:
    """Validate new right points, of the width and, if both have any, the column names of those of ``fit``."""
    check_names(column_names(Z), names, "the Z of fit")
    Z = check_points(as_indexable(Z, "Z"), "Z")
    if Z.shape[1] != width:
        raise ValueError(
            f"Z has {Z.shape[1]} columns, but right points have {width} entries each; new columns of a matrix are "
            "passed as rows"
        )
    return Z


def as_configured(estimator: Any, values: np.ndarray, points: Any) -> Any:
    """Values in the container that ``set_output`` asks of ``transform``, with the index of the points if it has one."""
    return _wrap_data_with_container("transform", values, points, estimator)
