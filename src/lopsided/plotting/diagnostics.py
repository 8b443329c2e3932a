"""Plot of the residuals of a kernel SVD."""

from typing import Any

import numpy as np

from ..svd import Diagnostics
from .axes import new_axes

ZERO_DRAWN_AT = 1e-18  # residual, since the axis is logarithmic
LABELS = {
    "objective": "objective |J| / s1",
    "left": "|K v - s u| / s1",
    "right": "|K^T u - s v| / s1",
    "coupled_left": "|K (K^T u - s v)| / s1^2",
    "coupled_right": "|K^T (K v - s u)| / s1^2",
}
MARKERS = ("o", "<", ">", "v", "^")


def plot_diagnostics(diagnostics: Diagnostics, *, ax: Any = None) -> Any:
    """Plot the residual of each equation against the component, on a logarithmic axis.

    Parameters
    ----------
    diagnostics : Diagnostics
        Return value of ``KernelSVD.diagnostics``.
    ax : matplotlib axes, default=None
        Axes to draw on; None creates a figure.

    Returns
    -------
    ax : matplotlib axes
        The axes; ``ax.figure`` is the figure.

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
        raise TypeError(
            f"plot_diagnostics draws what KernelSVD.diagnostics() returns, not {type(diagnostics).__name__}"
        )
    made, ax = ax is None, new_axes(figsize=(8.2, 4.2)) if ax is None else ax
    components = np.arange(len(diagnostics.singular_values))
    for (name, label), marker in zip(LABELS.items(), MARKERS, strict=True):
        values = np.maximum(np.abs(getattr(diagnostics, name)), ZERO_DRAWN_AT)
        ax.semilogy(components, values, marker, markersize=4, alpha=0.7, label=label)
    ax.axhline(np.finfo(float).eps, color="0.7", linewidth=0.8, zorder=0)
    ax.set(xlabel="component", ylabel="residual", title="residuals of the equations (line: rounding level)")
    place = {"loc": "upper left", "bbox_to_anchor": (1.01, 1), "frameon": False} if made else {"loc": "best"}
    ax.legend(fontsize="small", **place)
    ax.spines[["top", "right"]].set_visible(False)
    return ax
