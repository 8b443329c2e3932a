"""Synthetic datasets for examples, tests and benchmarks, reproducible by ``random_state``."""

from .blocks import make_directed_blocks
from .clicks import make_click_log
from .graphs import make_citation_graph
from .textures import TEXTURES, make_textures

__all__ = ["TEXTURES", "make_citation_graph", "make_click_log", "make_directed_blocks", "make_textures"]
