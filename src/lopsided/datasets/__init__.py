"""Synthetic datasets for examples, tests and benchmarks, reproducible by ``random_state``."""

from .graphs import make_citation_graph
from .textures import TEXTURES, make_textures

__all__ = ["TEXTURES", "make_citation_graph", "make_textures"]
