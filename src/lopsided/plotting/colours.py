"""Colours of scatter points from their labels."""

from colorsys import hsv_to_rgb
from typing import Any, NamedTuple

import numpy as np

from ..io import is_missing

MAX_NAMED = 20  # classes; there is no room for more names
PALETTE = ("#4477aa", "#ee6677", "#228833", "#ccbb44", "#aa3377", "#66ccee", "#ee7733", "#885522", "#999999", "#000000")
NO_CLASS, NO_LABEL = "#7f7f7f", "#d4d4d4"
SEQUENCE = "viridis"


class Colours(NamedTuple):
    """Colours of the points of both sides, with the entries of the legend or the limits of the colour bar."""

    sides: list[np.ndarray]  # RGB colours of the points (n, 3), or their values on a colour scale (n,), nan if missing
    names: dict[str, np.ndarray]  # class names and their colours; empty if there is a colour scale
    span: tuple[float, float] | None = None  # limits of the colour scale; None for classes


def colours_of(labels: list[np.ndarray | None], sizes: list[int]) -> Colours:
    """Colours by class, or on a scale if labels are floats with more values than a legend holds; grey if unlabelled."""
    present = [of_side for of_side in labels if of_side is not None]
    if present and all(of_side.dtype.kind == "f" for of_side in present):
        values = np.concatenate(present)
        values = values[np.isfinite(values)]
        if len(np.unique(values)) > MAX_NAMED:
            missing = [np.full(n, np.nan) for n in sizes]
            sides = [nan if of_side is None else of_side for of_side, nan in zip(labels, missing, strict=True)]
            return Colours(sides, {}, (float(values.min()), float(values.max())))
    return _of_classes(labels, sizes)


def _of_classes(labels: list[np.ndarray | None], sizes: list[int]) -> Colours:
    given = [of_side.tolist() for of_side in labels if of_side is not None]
    classes = _sorted({label for of_side in given for label in of_side if not is_missing(label)})
    known = dict(zip(classes, _palette(len(classes)), strict=True))
    grey = _rgb(NO_LABEL)
    sides = [np.tile(_rgb(NO_CLASS), (n, 1)) for n in sizes]
    for i, of_side in enumerate(labels):
        if of_side is not None:
            of_points = [grey if is_missing(label) else known[label] for label in of_side.tolist()]
            sides[i] = np.array(of_points).reshape(-1, 3)
    shown = [str(label).removesuffix(".0") if isinstance(label, float) else str(label) for label in classes]
    names = dict(zip(shown, known.values(), strict=True))
    if any(is_missing(label) for of_side in given for label in of_side):
        names["no label"] = grey
    return Colours(sides, names)


def _sorted(classes: set[Any]) -> list[Any]:
    """Sort classes; if their types are not comparable, by type and then as text."""
    try:
        return sorted(classes)
    except TypeError:
        return sorted(classes, key=lambda label: (type(label).__name__, str(label)))


def _palette(n_classes: int) -> np.ndarray:
    """One colour per class: from a palette chosen for distinguishability, or evenly spaced hues if it is too short."""
    if n_classes <= len(PALETTE):
        return np.array([_rgb(colour) for colour in PALETTE[:n_classes]])
    hues = np.arange(n_classes) / n_classes
    return np.array([hsv_to_rgb(hue, 0.85, 0.6 + 0.3 * (i % 2)) for i, hue in enumerate(hues)])


def _rgb(colour: str) -> np.ndarray:
    return np.array([int(colour[i : i + 2], 16) / 255 for i in (1, 3, 5)])
