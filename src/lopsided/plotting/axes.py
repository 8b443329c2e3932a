"""Matplotlib axes, given by the user or of a new figure."""

from typing import Any

import numpy as np


def new_axes(rows: int = 1, columns: int = 1, **figure: Any) -> Any:
    """Create a figure and return its axes, or an array of them; raise a helpful ImportError without matplotlib."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("plots need matplotlib: pip install 'lopsided[plot]'") from error
    return pyplot.subplots(rows, columns, layout="constrained", **figure)[1]


def two_axes(axes: Any) -> np.ndarray:
    """Validate a pair of matplotlib axes, or create a figure with two if axes is None."""
    if axes is None:
        return new_axes(1, 2, figsize=(10, 4.6))
    axes = np.ravel(np.asarray(axes, dtype=object))
    if len(axes) != 2 or not all(hasattr(ax, "scatter") for ax in axes):
        raise ValueError(f"axes holds {len(axes)}, but two are needed, one per side; make them with plt.subplots(1, 2)")
    return axes


def with_halo(line: Any) -> None:
    """Draw a wider white line behind a line, to make it visible on any colour."""
    from matplotlib import patheffects

    width = line.get_linewidth()
    line.set_path_effects([patheffects.Stroke(linewidth=2.5 * width, foreground="white"), patheffects.Normal()])
