"""Graphs and tables in and out."""

from .edges import Edges as Edges, holds_edges as holds_edges, is_text as is_text, read_edges as read_edges
from .graph import (
    Graph,
    assembled as assembled,
    is_array_like as is_array_like,
    is_networkx as is_networkx,
    read_graph,
)
from .ids import factorized as factorized, forms as forms, is_missing as is_missing, is_whole as is_whole

__all__ = ["Graph", "read_graph"]
