"""Directed graphs: reading them, embedding their nodes as sources and as targets, and judging the embeddings."""

from .embedding import DirectedGraphEmbedding
from .evaluation import classify_nodes, evaluate_links, hide_edges, precision_at_k, reconstruct_graph
from .reading import Graph, read_graph

__all__ = [
    "DirectedGraphEmbedding",
    "Graph",
    "classify_nodes",
    "evaluate_links",
    "hide_edges",
    "precision_at_k",
    "read_graph",
    "reconstruct_graph",
]
