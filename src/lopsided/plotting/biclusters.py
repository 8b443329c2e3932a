"""Plot of a table before and after sorting its rows and columns by cluster."""

from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import BiclusterMixin
from sklearn.utils.validation import check_is_fitted, column_or_1d

from .._core import check_array, dense
from .axes import two_axes, with_halo
from .colours import MAX_NAMED

MAX_PIXELS = 500  # in either direction; larger tables are averaged
SATURATION = 0.98  # quantile of the pixel magnitudes at which colours saturate, so that outliers do not hide the rest


def plot_biclusters(X: Any, model_or_labels: Any, *, axes: Any = None) -> np.ndarray:
    """Plot a table in its original order and sorted by row and column cluster, with the biclusters outlined.

    Cluster names appear at the margins if there are at most 20 per side. Tables with more than 500 rows or columns are
    averaged over neighbours, in the order of each panel. This costs O(nnz); sparse tables are never made dense.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        The table.
    model_or_labels : fitted biclustering, or pair of arrays of shapes (n,) and (m,)
        A model with ``row_labels_`` and ``column_labels_``, such as KernelBiclustering or scikit-learn's biclustering
        models, whose biclusters are outlined; or a pair of row labels and column labels, of which every block is.
    axes : pair of matplotlib axes, default=None
        Axes to draw on, which are returned; None creates a figure.

    Examples
    --------
    >>> import matplotlib
    >>> import numpy as np
    >>> matplotlib.use("Agg")
    >>> from lopsided.plotting import plot_biclusters
    >>> before, after = plot_biclusters(np.eye(4)[[0, 2, 1, 3]], ([0, 1, 0, 1], [0, 0, 1, 1]))
    >>> after.get_title()
    'rows and columns by cluster'
    """
    if isinstance(X, BiclusterMixin):
        raise TypeError(f"plot_biclusters takes the table first: plot_biclusters(X, model), not {type(X).__name__}")
    X = check_array(X, accept_sparse="coo", dtype=np.float64, input_name="X")
    labels, names, blocks = _check_labels(model_or_labels, X.shape)
    axes = two_axes(axes)
    orders = [np.argsort(of_side, kind="stable") for of_side in labels]
    untouched = [np.arange(size) for size in X.shape]
    reduced = [[_averages(order) for order in both] for both in (untouched, orders)]
    tables = [dense(rows @ X @ columns.T) for rows, columns in reduced]  # at most 500 x 500, in O(nnz + pixels)
    colours = _colours(np.concatenate(tables))
    for ax, title, pixels in zip(axes, ("as it is", "rows and columns by cluster"), tables, strict=True):
        extent = (0, X.shape[1], X.shape[0], 0)
        image = ax.imshow(pixels, aspect="auto", interpolation="nearest", extent=extent, **colours)
        ax.set(xlabel="columns", ylabel="rows")
        ax.set_title(title, pad=18)
    bounds = [np.searchsorted(np.sort(of_side), np.arange(of_side.max() + 2)) for of_side in labels]
    for i, j in blocks:
        (top, bottom), (left, right) = bounds[0][i : i + 2], bounds[1][j : j + 2]
        across, down = [left, right, right, left, left], [top, top, bottom, bottom, top]
        with_halo(axes[1].plot(across, down, color="#202020", linewidth=1.0)[0])
    _name_clusters(axes[1], bounds, names)
    axes[1].figure.colorbar(image, ax=axes[1], pad=0.08)
    return axes


def _check_labels(
    model_or_labels: Any, shape: tuple[int, int]
) -> tuple[list[np.ndarray], list[np.ndarray], list[tuple[int, int]]]:
    """Row and column labels encoded as integers, the names of the clusters, and the pairs that are biclusters."""
    pair = model_or_labels
    if isinstance(model_or_labels, BiclusterMixin):
        check_is_fitted(model_or_labels, ["row_labels_", "column_labels_"])
        pair = model_or_labels.row_labels_, model_or_labels.column_labels_
    if not isinstance(pair, tuple | list) or len(pair) != 2:
        kind = type(model_or_labels).__name__
        raise TypeError(f"plot_biclusters takes a fitted biclustering or (row labels, column labels), not {kind}")
    labels, names = [], []
    for name, given, size in zip(("row", "column"), pair, shape, strict=True):
        given = column_or_1d(given)
        if len(given) != size:
            raise ValueError(f"{len(given)} {name} labels for a table of {size} {name}s; give one label per {name}")
        clusters, numbers = np.unique(given, return_inverse=True)
        names.append(clusters)
        labels.append(numbers)
    if hasattr(model_or_labels, "rows_"):
        members = zip(model_or_labels.rows_, model_or_labels.columns_, strict=True)
        return labels, names, [(labels[0][r][0], labels[1][c][0]) for r, c in members if r.any() and c.any()]
    return labels, names, [(i, j) for i in range(labels[0].max() + 1) for j in range(labels[1].max() + 1)]


def _averages(order: np.ndarray) -> sparse.csr_array:
    """Sparse matrix (pixels, size) that reorders entries and averages neighbours."""
    size = len(order)
    height = min(size, MAX_PIXELS)
    pixels = np.arange(size) * height // size
    weights = 1 / np.bincount(pixels)[pixels]
    return sparse.csr_array((weights, (pixels, order)), shape=(height, size))


def _colours(pixels: np.ndarray) -> dict[str, Any]:
    """Common colour scale of both panels, diverging if there are negative entries."""
    magnitudes = np.abs(pixels[pixels != 0])
    limit = np.quantile(magnitudes, SATURATION) if len(magnitudes) else 1.0
    if pixels.min() < 0:
        return {"cmap": "RdBu_r", "vmin": -limit, "vmax": limit}
    return {"cmap": "Blues", "vmin": 0, "vmax": limit}


def _name_clusters(ax: Any, bounds: list[np.ndarray], names: list[np.ndarray]) -> None:
    """Write the names of row clusters on the right and of column clusters above."""
    rows, columns = ((of_side[:-1] + of_side[1:]) / 2 for of_side in bounds)
    small = {"textcoords": "offset points", "fontsize": "small"}
    for name, y in zip(names[0], rows, strict=True) if len(rows) <= MAX_NAMED else ():
        ax.annotate(str(name), (1, y), (3, 0), xycoords=("axes fraction", "data"), va="center", **small)
    for name, x in zip(names[1], columns, strict=True) if len(columns) <= MAX_NAMED else ():
        ax.annotate(str(name), (x, 1), (0, 3), xycoords=("data", "axes fraction"), ha="center", **small)
