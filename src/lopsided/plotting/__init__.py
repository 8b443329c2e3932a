"""Plots of embeddings, spectra, biclusters, reconstructions and choices; requires matplotlib (``lopsided[plot]``)."""

from .biclusters import plot_biclusters
from .curves import EdgeScoresDisplay, LeaveOneOutDisplay, NystromErrorDisplay, SpectrumDisplay
from .diagnostics import plot_diagnostics
from .displays import BiclusterDisplay, EmbeddingDisplay, ReconstructionDisplay
from .embeddings import plot_embeddings

__all__ = [
    "BiclusterDisplay",
    "EdgeScoresDisplay",
    "EmbeddingDisplay",
    "LeaveOneOutDisplay",
    "NystromErrorDisplay",
    "ReconstructionDisplay",
    "SpectrumDisplay",
    "plot_biclusters",
    "plot_diagnostics",
    "plot_embeddings",
]
