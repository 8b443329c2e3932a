"""Two coordinates for each node and side, for scatter plots."""

from typing import Any

import numpy as np
from sklearn.decomposition import PCA

from .._core import unit_rows

LAYOUTS = ("components", "umap")


def coordinates(vectors: np.ndarray, layout: str) -> np.ndarray:
    """Coordinates (n, 2) between -1 and 1: the two leading principal axes of the unit vectors, or a UMAP of them."""
    units = unit_rows(vectors)
    if layout == "umap":
        flat = _umap().UMAP(random_state=0).fit_transform(units)
    elif min(units.shape) > 1:
        flat = PCA(2, random_state=0).fit_transform(units)
    else:
        flat = np.column_stack([units[:, 0], np.zeros(len(units))])
    flat = flat - (flat.max(axis=0) + flat.min(axis=0)) / 2
    return np.asarray(flat / (np.abs(flat).max() or 1))


def _umap() -> Any:
    try:
        import umap
    except ImportError as error:
        raise ImportError(
            "layout='umap' needs umap-learn: pip install umap-learn, or use layout='components'"
        ) from error
    return umap
