"""Graphs and tables in and out."""

from .edge_tables import (
    Edges as Edges,
    is_path_or_table as is_path_or_table,
    is_text as is_text,
    is_whole as is_whole,
    read_edges as read_edges,
)
from .graph import (
    LIST_OF_EDGES as LIST_OF_EDGES,
    Graph,
    assembled as assembled,
    graph_of as graph_of,
    is_array_like as is_array_like,
    is_networkx as is_networkx,
    number_nodes as number_nodes,
    read_graph,
)
from .ids import forms as forms, is_missing as is_missing

__all__ = ["Graph", "read_graph"]
