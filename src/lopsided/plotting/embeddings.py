"""Scatter plots of left and right embeddings, side by side."""

from collections.abc import Sequence
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core import check_array, count_of
from ..graphs import DirectedGraphEmbedding
from ..kernel_svd import KernelSVD
from ..svd import powers
from .axes import two_axes
from .colours import MAX_NAMED, NO_LABEL, SEQUENCE, colours_of

TITLES = ("left (rows)", "right (columns)")
GRAPH_TITLES = ("source", "target")
TAIL_SHARE = 0.02  # of the points, at each end of an axis, that the limits may exclude
MAX_TAIL_LENGTH = 2.5  # the tails are excluded if they would lengthen the axis by more than this factor
MIN_BULK_LENGTH = 1e-4  # of the axis; if the other points span less, they differ only by rounding and the tails stay
LIMIT_PADDING = 0.06  # as a fraction of their range


def plot_embeddings(
    model_or_pair: Any, labels: Any = None, *, components: tuple[int, int] = (0, 1), axes: Any = None
) -> np.ndarray:
    """Plot the left and the right embedding as scatter plots side by side.

    Points are drawn in random order, so that no class covers the others. If a few outliers, such as hubs, would
    compress the rest, the axis limits follow the bulk of the points, and a note gives the number of points outside.

    Parameters
    ----------
    model_or_pair : fitted KernelSVD or DirectedGraphEmbedding, or pair of arrays of shapes (n, k) and (m, k)
        The embeddings; for a model, U s^scaling and V s^scaling.
    labels : array of shape (n,) or tuple of two arrays, default=None
        Labels that colour the points. Up to 20 classes are named in a legend; floats with more than 20 distinct values
        are shown on a colour scale. A single array applies to both sides, which requires n = m; a tuple holds the
        labels of the left and of the right side, either of which may be None. Points labelled None or nan are light
        grey.
    components : pair of int, default=(0, 1)
        The two components to plot. Without centring the first is often nearly constant; (1, 2) then shows more.
    axes : pair of matplotlib axes, default=None
        Axes to draw on, which are returned; None creates a figure.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> from lopsided import DirectedGraphEmbedding
    >>> from lopsided.datasets import make_citation_graph
    >>> from lopsided.plotting import plot_embeddings
    >>> graph, labels = make_citation_graph(100, random_state=0)
    >>> source, target = plot_embeddings(DirectedGraphEmbedding(2).fit(graph), labels)
    >>> source.get_title(), target.get_title()
    ('source', 'target')
    """
    titles = GRAPH_TITLES if isinstance(model_or_pair, DirectedGraphEmbedding) else TITLES
    sides = [_selected_components(points, components) for points in _check_pair(model_or_pair)]
    named = _check_labels(labels, sides)
    made, axes = axes is None, two_axes(axes)
    colours = colours_of(named, [len(points) for points in sides])
    for ax, title, points, of_side in zip(axes, titles, sides, colours.sides, strict=True):
        dots = _draw(ax, points, of_side, colours.span)
        ax.set(title=title, xlabel=f"component {components[0]}", ylabel=f"component {components[1]}")
    if colours.span is not None:
        axes[1].figure.colorbar(dots, ax=axes[1])
    elif any(of_side is not None for of_side in named):
        _add_legend(axes[1], colours.names, outside=made)
    return axes


def _check_pair(model_or_pair: Any) -> tuple[np.ndarray, np.ndarray]:
    """Validate the two embeddings: finite and two-dimensional."""
    if isinstance(model_or_pair, KernelSVD):
        check_is_fitted(model_or_pair)
        U, V = model_or_pair.left_vectors_, model_or_pair.right_vectors_
        weights = powers(model_or_pair.singular_values_, model_or_pair.scaling, max(len(U), len(V)))
        model_or_pair = (U * weights, V * weights)
    elif isinstance(model_or_pair, DirectedGraphEmbedding):
        check_is_fitted(model_or_pair)
        model_or_pair = (model_or_pair.source_embedding_, model_or_pair.target_embedding_)
    if not isinstance(model_or_pair, Sequence) or len(model_or_pair) != 2:
        raise TypeError(
            "plot_embeddings draws a KernelSVD, a DirectedGraphEmbedding or a pair (left, right) of arrays, not "
            f"{type(model_or_pair).__name__}; pass (points, points) to draw one array twice"
        )
    left, right = model_or_pair
    return check_array(left, input_name="left"), check_array(right, input_name="right")


def _selected_components(points: np.ndarray, components: tuple[int, int]) -> np.ndarray:
    """Select the two components to plot; raise an error if they do not exist."""
    width = points.shape[1]
    if len(components) != 2 or not all(isinstance(c, Integral) and 0 <= c < width for c in components):
        wanted = f"two integers from 0 to {width - 1}"
        raise ValueError(f"components={components} must be {wanted}; choose others or raise n_components")
    return points[:, list(components)]


def _check_labels(labels: Any, sides: list[np.ndarray]) -> list[np.ndarray | None]:
    """One array of labels, or None, for each side."""
    pair = labels if isinstance(labels, tuple) else (labels, labels)
    if len(pair) != 2:
        raise ValueError(f"labels is a tuple of {len(pair)}, but there are two sides; give (left labels, right labels)")
    checked: list[np.ndarray | None] = []
    for name, of_side, points in zip(("left", "right"), pair, sides, strict=True):
        found = of_side if of_side is None else column_or_1d(np.asarray(of_side))
        if found is not None and len(found) != len(points):
            raise ValueError(
                f"{count_of(len(found), 'label')} for {count_of(len(points), f'{name} point')}; give one per point, or "
                "a tuple (left labels, right labels) in which None leaves a side grey"
            )
        text = found is not None and found.dtype.kind in "US"
        checked.append(np.asarray(of_side, dtype=object) if text else found)  # nan among strings stays nan
    return checked


def _draw(ax: Any, points: np.ndarray, colours: np.ndarray, span: tuple[float, float] | None) -> Any:
    """Scatter the points in random order; on linear axes, set the limits to the bulk of the points."""
    order = np.random.default_rng(0).permutation(len(points))
    size = float(np.clip(15000 / len(points), 2, 20))
    scale = {} if span is None else {"cmap": SEQUENCE, "vmin": span[0], "vmax": span[1], "plotnonfinite": True}
    dots = ax.scatter(
        *points[order].T, c=colours[order], s=size, alpha=0.8, linewidths=0, rasterized=len(points) > 10000, **scale
    )
    if span is not None:
        dots.set_cmap(dots.get_cmap().with_extremes(bad=NO_LABEL))
    outside = np.zeros(len(points), dtype=bool)
    for i, name in enumerate("xy"):
        if getattr(ax, f"get_{name}scale")() == "linear":
            low, high = _axis_limits(points[:, i])
            ax.set(**{f"{name}lim": (low, high)})
            outside |= (points[:, i] < low) | (points[:, i] > high)
            ax.locator_params(axis=name, nbins=5)
            ax.ticklabel_format(axis=name, scilimits=(-3, 4))
    if outside.any():
        where = {"xy": (1, 0), "xycoords": "axes fraction", "xytext": (-4, 4), "textcoords": "offset points"}
        plate = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        ax.annotate(f"{count_of(outside.sum(), 'point')} outside", **where, ha="right", fontsize="small", bbox=plate)
    ax.spines[["top", "right"]].set_visible(False)
    return dots


def _axis_limits(values: np.ndarray) -> tuple[float, float]:
    """Limits that include every value, or exclude the tails if these would compress the distinct values between."""
    low, high = np.quantile(values, [0, 1])
    bulk = np.quantile(values, [TAIL_SHARE, 1 - TAIL_SHARE])
    if MIN_BULK_LENGTH * (high - low) < np.ptp(bulk) < (high - low) / MAX_TAIL_LENGTH:
        low, high = bulk
    pad = LIMIT_PADDING * (high - low) if high > low else 1.0
    return low - pad, high + pad


def _add_legend(ax: Any, names: dict[str, np.ndarray], outside: bool) -> None:
    """Add a legend of the classes, beside the axes of a new figure and inside the user's own axes."""
    title = "class"
    if len(names) > MAX_NAMED:
        names, title = {}, f"{len(names)} classes,\ntoo many to name"
    handles = [ax.scatter([], [], color=[colour], s=36) for colour in names.values()]
    place = {"loc": "center left", "bbox_to_anchor": (1.01, 0.5), "frameon": False} if outside else {"loc": "best"}
    ax.legend(handles, list(names), title=title, **place)
