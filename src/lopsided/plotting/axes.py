"""Axes to draw on: given ones, or those of a new figure."""

from __future__ import annotations

from typing import Any

import numpy as np


def new_axes(rows: int = 1, columns: int = 1, **figure: Any) -> Any:
    """Axes of a new figure: one, or an array of them; without matplotlib an error that says what to install."""
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise ImportError("pictures need matplotlib; pip install 'lopsided[plot]'") from error
    return pyplot.subplots(rows, columns, layout="constrained", **figure)[1]


def two_axes(axes: Any) -> np.ndarray:
    """The given pair of matplotlib axes, or those of a new figure."""
    if axes is None:
        return new_axes(1, 2, figsize=(10, 4.6))
    axes = np.ravel(np.asarray(axes, dtype=object))
    if len(axes) != 2:
        raise ValueError(f"axes holds {len(axes)}, but there are two sides; make them with plt.subplots(1, 2)")
    return axes


def with_halo(line: Any) -> None:
    """Draw a line above a wider white one, so that it is seen on any colour."""
    from matplotlib import patheffects

    width = line.get_linewidth()
    line.set_path_effects([patheffects.Stroke(linewidth=2.5 * width, foreground="white"), patheffects.Normal()])
