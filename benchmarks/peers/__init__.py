"""What others do with a directed graph: embeddings of other packages, embeddings written from their papers, heuristics.

An embedding is a pair of arrays, source and target vectors, or one array twice for methods that do not tell the two
apart. Packages are imported where they are used: a smoke run does without them.
"""

from .autoencoder import digae
from .factorised import hope, prone
from .heuristics import (
    adamic_adar,
    common_neighbours,
    degrees,
    pagerank,
    preferential_attachment,
    rooted_pagerank,
)
from .network import network_spectral, network_svd
from .strap import personalised_pagerank, strap
from .walks import deepwalk, node2vec

__all__ = [
    "adamic_adar",
    "common_neighbours",
    "deepwalk",
    "degrees",
    "digae",
    "hope",
    "network_spectral",
    "network_svd",
    "node2vec",
    "pagerank",
    "personalised_pagerank",
    "preferential_attachment",
    "prone",
    "rooted_pagerank",
    "strap",
]
