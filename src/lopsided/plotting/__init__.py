"""Pictures. They need matplotlib: ``pip install 'lopsided[plot]'``."""

from .diagnostics import plot_diagnostics
from .embeddings import plot_embeddings

__all__ = ["plot_diagnostics", "plot_embeddings"]
