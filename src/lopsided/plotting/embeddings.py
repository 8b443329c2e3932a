"""Pictures of left and right embeddings, side by side."""

from __future__ import annotations

from collections.abc import Sequence
from colorsys import hsv_to_rgb
from typing import Any

import numpy as np
from sklearn.utils.validation import check_array, check_is_fitted, column_or_1d

from ..estimators import KernelSVD
from ..graphs import DirectedGraphEmbedding
from ..linalg import powers
from .axes import two_axes

TITLES = ("left (rows)", "right (columns)")
TAIL = 0.02  # share of points, at each end of an axis, that may be left outside the picture
SQUASHED = 2.5  # they are when with them the axis would be longer by this factor
MARGIN = 0.06  # of what is shown
MOST_NAMED = 20  # classes a legend can hold
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377", "#66ccee", "#ee7733", "#885522", "#999999", "#000000")


def plot_embeddings(
    model_or_pair: Any, labels: Any = None, *, components: tuple[int, int] = (0, 1), axes: Any = None
) -> np.ndarray:
    """Draw the left and the right embedding side by side.

    Both are drawn alike: small dots in an order that favours no class, and limits set by the bulk of the points where
    a few hubs would squash the rest; how many then lie outside is written in the corner.

    Parameters
    ----------
    model_or_pair : fitted KernelSVD or DirectedGraphEmbedding, or pair of arrays of shapes (n, k) and (m, k)
        The embeddings: U s^scaling and V s^scaling of a model.
    labels : array of shape (n,) or tuple of two arrays, default=None
        Classes that colour the dots. One array serves both sides when n = m; a tuple holds those of the left and of the
        right, either of which may be None.
    components : pair of int, default=(0, 1)
        Which two to draw. Without centring the first is often nearly constant: (1, 2) then shows more.
    axes : pair of matplotlib axes, default=None
        Where to draw; None makes a figure.

    Returns
    -------
    axes : array of two matplotlib axes
        The left and the right; ``axes[0].figure`` is the figure.
    """
    pair = _check_pair(model_or_pair)
    sides = [_take(points, components) for points in pair]
    named = _check_labels(labels, sides)
    axes = two_axes(axes)
    present = [of_side for of_side in named if of_side is not None]
    classes = np.unique(np.concatenate(present)) if present else np.empty(0)
    colours = _palette(len(classes))
    for ax, title, points, of_side in zip(axes, TITLES, sides, named, strict=True):
        _draw(ax, points, "tab:gray" if of_side is None else colours[np.searchsorted(classes, of_side)])
        ax.set(title=title, xlabel=f"component {components[0]}", ylabel=f"component {components[1]}")
    if 0 < len(classes) <= MOST_NAMED:
        _add_legend(axes[1], classes, colours)
    return axes


def _check_pair(model_or_pair: Any) -> tuple[np.ndarray, np.ndarray]:
    """The two embeddings, finite and two-dimensional."""
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


def _take(points: np.ndarray, components: tuple[int, int]) -> np.ndarray:
    """The two components to draw, or an error that says which there are."""
    chosen = list(components)
    width = points.shape[1]
    if len(chosen) != 2 or not all(0 <= c < width for c in chosen):
        raise ValueError(
            f"components={components}, but a picture takes two numbers from 0 to {width - 1}; choose others or raise "
            "n_components"
        )
    return points[:, chosen]


def _check_labels(labels: Any, sides: list[np.ndarray]) -> list[np.ndarray | None]:
    """One array of labels, or None, for each side."""
    pair = labels if isinstance(labels, tuple) else (labels, labels)
    if len(pair) != 2:
        raise ValueError(f"labels is a tuple of {len(pair)}, but there are two sides; give (left labels, right labels)")
    checked = [None if of_side is None else column_or_1d(of_side) for of_side in pair]
    for name, of_side, points in zip(("left", "right"), checked, sides, strict=True):
        if of_side is not None and len(of_side) != len(points):
            raise ValueError(
                f"{len(of_side)} labels for {len(points)} {name} points; give one for each, or a tuple "
                "(left labels, right labels) in which None leaves a side grey"
            )
    return checked


def _draw(ax: Any, points: np.ndarray, colours: Any) -> None:
    """Scatter the points in a shuffled order, within the limits of their bulk."""
    order = np.random.default_rng(0).permutation(len(points))
    if not isinstance(colours, str):
        colours = colours[order]
    size = float(np.clip(15000 / len(points), 2, 20))
    ax.scatter(*points[order].T, c=colours, s=size, alpha=0.8, linewidths=0, rasterized=len(points) > 10000)
    low, high = _bulk(points)
    ax.set(xlim=(low[0], high[0]), ylim=(low[1], high[1]))
    outside = int(((points < low) | (points > high)).any(axis=1).sum())
    if outside:
        where = {"xy": (1, 0), "xycoords": "axes fraction", "xytext": (-4, 4), "textcoords": "offset points"}
        plate = {"facecolor": "white", "edgecolor": "none", "alpha": 0.8, "pad": 1}
        ax.annotate(f"{outside} points outside", **where, ha="right", fontsize="small", bbox=plate)
    ax.spines[["top", "right"]].set_visible(False)
    ax.locator_params(nbins=5)
    ax.ticklabel_format(scilimits=(-3, 4))


def _bulk(points: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Limits that hold every point, or all but the tails on an axis that these would squash."""
    bulk = np.quantile(points, [TAIL, 1 - TAIL], axis=0)
    whole = np.quantile(points, [0, 1], axis=0)
    low, high = np.where(np.ptp(whole, axis=0) > SQUASHED * np.ptp(bulk, axis=0), bulk, whole)
    pad = np.where(high > low, MARGIN * (high - low), 1.0)
    return low - pad, high + pad


def _palette(n_classes: int) -> np.ndarray:
    """One colour for each class: a list that most eyes tell apart, or the circle of hues where it is too short."""
    if n_classes <= len(PALETTE):
        return np.array(PALETTE)[:n_classes]
    hues = np.arange(n_classes) / n_classes
    return np.array([hsv_to_rgb(hue, 0.85, 0.6 + 0.3 * (i % 2)) for i, hue in enumerate(hues)])


def _add_legend(ax: Any, classes: np.ndarray, colours: np.ndarray) -> None:
    """Name the classes beside the right picture."""
    handles = [ax.scatter([], [], color=colour, s=36) for colour in colours]
    names = [str(name) for name in classes]
    ax.legend(handles, names, title="class", loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
