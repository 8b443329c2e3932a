"""Plots of embeddings, biclusters and diagnostics; requires matplotlib (``pip install 'lopsided[plot]'``)."""

from .biclusters import plot_biclusters
from .diagnostics import plot_diagnostics
from .embeddings import plot_embeddings

__all__ = ["plot_biclusters", "plot_diagnostics", "plot_embeddings"]
