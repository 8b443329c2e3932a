"""Seeded data for examples, tests and measurements."""

from .graphs import make_citation_graph
from .textures import TEXTURES, make_textures

__all__ = ["TEXTURES", "make_citation_graph", "make_textures"]
