"""Display objects in scikit-learn's manner: ``from_estimator`` computes what is drawn, ``plot`` draws it.

A display keeps its data, so that it can be drawn again, and after ``plot`` the axes in ``ax_`` and the figure in
``figure_``.
"""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..images import ImageSVD, psnr
from .axes import new_axes
from .biclusters import plot_biclusters
from .embeddings import plot_embeddings


class Display:
    """Base of the displays: remembers axes and figure."""

    ax_: Any
    figure_: Any

    def _drawn(self, ax: Any) -> Self:
        self.ax_, self.figure_ = ax, np.ravel(np.asarray(ax, dtype=object))[0].figure
        return self


class EmbeddingDisplay(Display):
    """Left and right embeddings as scatter plots side by side; see :func:`~lopsided.plotting.plot_embeddings`.

    Parameters
    ----------
    left, right : arrays of shapes (n, k) and (m, k)
        The embeddings.
    labels : array, pair of arrays or None, default=None
        Labels that colour the points.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> from lopsided.plotting import EmbeddingDisplay
    >>> X = np.random.default_rng(0).random((30, 3))
    >>> display = EmbeddingDisplay.from_estimator(KernelSVD(2).fit(X, Z=X[:20]))
    """

    def __init__(self, left: np.ndarray, right: np.ndarray, labels: Any = None) -> None:
        self.left, self.right, self.labels = left, right, labels

    @classmethod
    def from_estimator(cls, estimator: Any, labels: Any = None, *, axes: Any = None, **options: Any) -> Self:
        """Draw the embeddings of a fitted KernelSVD or DirectedGraphEmbedding."""
        check_is_fitted(estimator)
        is_graph = hasattr(estimator, "source_embedding_")
        names = ("source_embedding_", "target_embedding_") if is_graph else ("left_vectors_", "right_vectors_")
        left, right = (getattr(estimator, name) for name in names)
        display = cls(left, right, labels)
        return display._drawn(plot_embeddings(estimator, labels, axes=axes, **options))

    def plot(self, axes: Any = None, **options: Any) -> Self:
        """Draw on two given axes, or on a new figure; options are those of ``plot_embeddings``."""
        return self._drawn(plot_embeddings((self.left, self.right), self.labels, axes=axes, **options))


class BiclusterDisplay(Display):
    """A table before and after sorting by cluster; see :func:`~lopsided.plotting.plot_biclusters`.

    Parameters
    ----------
    X : array or sparse matrix of shape (n, m)
        The table.
    model_or_labels : fitted biclustering, or pair of arrays of shapes (n,) and (m,)
        The biclusters.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from lopsided import KernelBiclustering
    >>> from lopsided.plotting import BiclusterDisplay
    >>> X = np.kron(np.eye(2), np.ones((6, 4))) + 0.1 * np.random.default_rng(0).random((12, 8))
    >>> display = BiclusterDisplay.from_estimator(KernelBiclustering(2).fit(X), X)
    """

    def __init__(self, X: Any, model_or_labels: Any) -> None:
        self.X, self.model_or_labels = X, model_or_labels

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, axes: Any = None) -> Self:
        """Draw the table on which a biclustering was fitted."""
        return cls(X, estimator).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on two given axes, or on a new figure."""
        return self._drawn(plot_biclusters(self.X, self.model_or_labels, axes=axes))


class ReconstructionDisplay(Display):
    """An image, and what few components of its kernel SVD rebuild of it.

    Parameters
    ----------
    decomposition : ImageSVD
        What :func:`~lopsided.image_svd` returned.
    n_components : sequence of int
        Numbers of components, one picture each.

    Examples
    --------
    >>> import matplotlib
    >>> matplotlib.use("Agg")
    >>> import numpy as np
    >>> from lopsided import image_svd
    >>> from lopsided.plotting import ReconstructionDisplay
    >>> found = image_svd(np.random.default_rng(0).random((16, 12)), "linear", 8)
    >>> display = ReconstructionDisplay(found, (1, 4)).plot()
    """

    def __init__(self, decomposition: ImageSVD, n_components: tuple[int, ...]) -> None:
        self.decomposition, self.n_components = decomposition, tuple(n_components)

    @classmethod
    def from_estimator(cls, estimator: ImageSVD, n_components: tuple[int, ...] = (5, 20), *, axes: Any = None) -> Self:
        """Draw the image of ``image_svd`` beside its reconstructions."""
        return cls(estimator, n_components).plot(axes)

    def plot(self, axes: Any = None) -> Self:
        """Draw on one axes for the image and one for each number of components, or on a new figure."""
        count, image = 1 + len(self.n_components), self.decomposition.image
        axes = new_axes(1, count, figsize=(3.2 * count, 3.2)) if axes is None else np.ravel(axes)
        if len(axes) != count:
            raise ValueError(f"{len(axes)} axes for {count} pictures; make them with plt.subplots(1, {count})")
        axes[0].imshow(np.clip(image, 0, 1), cmap="gray", vmin=0, vmax=1)
        axes[0].set_title("image")
        for ax, k in zip(axes[1:], self.n_components, strict=True):
            rebuilt = self.decomposition.restore(self.decomposition.reconstruct(k))
            ax.imshow(np.clip(rebuilt, 0, 1), cmap="gray", vmin=0, vmax=1)
            ax.set_title(f"{k} components, {psnr(image, rebuilt, peak=1.0):.1f} dB")
        for ax in axes:
            ax.set_axis_off()
        return self._drawn(axes)
