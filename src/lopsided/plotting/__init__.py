"""Pictures of embeddings and of biclusters. Needs matplotlib: ``pip install 'lopsided[plot]'``."""

from .biclusters import plot_biclusters
from .embeddings import plot_embeddings

__all__ = ["plot_biclusters", "plot_embeddings"]
