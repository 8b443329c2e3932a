"""Plot of the residuals of a kernel SVD."""

from typing import Any

import numpy as np

from ..svd import Diagnostics
from .axes import new_axes

ZERO_DRAWN_AT = 1e-18  # residual, since the axis is logarithmic
RESIDUALS = {  # marker and label
    "objective": ("o", "objective |J| / s1"),
    "left": ("<", "|K v - s u| / s1"),
    "right": (">", "|K^T u - s v| / s1"),
    "coupled_left": ("v", "|K (K^T u - s v)| / s1^2"),
    "coupled_right": ("^", "|K^T (K v - s u)| / s1^2"),
}


def plot_diagnostics(diagnostics: Diagnostics, *, ax: Any = None) -> Any:
    """Plot the residuals that ``KernelSVD.diagnostics`` returns against the component, on a logarithmic axis.

    They are drawn on the matplotlib axes ``ax``, or on a new figure if it is None. The axes are returned.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("Agg")
    >>> from lopsided import KernelSVD
    >>> from lopsided.plotting import plot_diagnostics
    >>> ax = plot_diagnostics(KernelSVD(2).fit(np.random.default_rng(0).random((6, 5))).diagnostics())
    >>> ax.get_yscale()
    'log'
    """
    if not isinstance(diagnostics, Diagnostics):
        kind = type(diagnostics).__name__
        raise TypeError(f"plot_diagnostics draws what KernelSVD.diagnostics() returns, not {kind}")
    if not (ax is None or hasattr(ax, "semilogy")):
        raise TypeError(f"ax must be matplotlib axes or None, not a {type(ax).__name__}; make them with plt.subplots()")
    made, ax = ax is None, new_axes(figsize=(8.2, 4.2)) if ax is None else ax
    components = np.arange(len(diagnostics.singular_values))
    for name, (marker, label) in RESIDUALS.items():
        values = np.maximum(np.abs(getattr(diagnostics, name)), ZERO_DRAWN_AT)
        ax.semilogy(components, values, marker, markersize=4, alpha=0.7, label=label)
    ax.axhline(np.finfo(float).eps, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="component", ylabel="residual", title="residuals of the equations (line: rounding level)")
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "frameon": False} if made else {"loc": "best"}
    ax.legend(fontsize="small", **place)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
