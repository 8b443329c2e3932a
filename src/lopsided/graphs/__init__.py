"""Directed graphs: reading, node embeddings as sources and as targets, and evaluation of embeddings."""

from ..io import Graph, read_graph
from .classification import classify_nodes
from .embedding import DirectedGraphEmbedding, vectors_without_degrees as vectors_without_degrees
from .links import evaluate_links, hide_edges
from .reconstruction import precision_at_k, reconstruct_graph
from .scoring import reverse_scores as reverse_scores

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
