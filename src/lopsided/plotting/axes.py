"""Where two pictures are drawn side by side."""

from __future__ import annotations

from typing import Any

import numpy as np


def two_axes(axes: Any, caller: str) -> np.ndarray:
    """The given pair of matplotlib axes, or those of a new figure."""
    if axes is None:
        try:
            from matplotlib import pyplot
        except ImportError as error:
            raise ImportError(f"{caller} needs matplotlib; pip install 'lopsided[plot]'") from error
        return pyplot.subplots(1, 2, figsize=(10, 4.6), layout="constrained")[1]
    axes = np.ravel(np.asarray(axes, dtype=object))
    if len(axes) != 2:
        raise ValueError(f"axes holds {len(axes)}, but there are two sides; make them with plt.subplots(1, 2)")
    return axes
