"""New axes, or an error that says what to install."""

from __future__ import annotations

from typing import Any


def new_axes(rows: int = 1, columns: int = 1, **figure: Any) -> Any:
    """Axes of a new figure: one, or an array of them."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib; pip install 'lopsided[plot]'") from error
    return pyplot.subplots(rows, columns, layout="constrained", **figure)[1]
