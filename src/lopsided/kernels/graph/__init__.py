"""Kernels between the nodes of a directed graph: its edges, its walks, and its diffusion."""

from .base import GraphKernel, MatrixKernel as MatrixKernel, check_adjacency as check_adjacency
from .diffusion import Diffusion
from .katz import Katz, geometric_sum as geometric_sum
from .node import Balance as Balance, NodeKernel
from .walks import Walk as Walk

__all__ = ["Diffusion", "GraphKernel", "Katz", "NodeKernel"]
