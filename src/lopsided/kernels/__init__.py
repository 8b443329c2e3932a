"""Similarities k(x, z) that need not equal k(z, x), their arithmetic and their structure on sparse data."""

from .arithmetic import Product, Scaled, Sum, Swapped
from .association import Association
from .bandwidth import root_mean_squared_distance as root_mean_squared_distance
from .base import Function, Kernel, Precomputed
from .distance import TL1, Laplacian
from .distributions import log_densities as log_densities, monomials as monomials
from .divergence import KullbackLeibler
from .exponential import RBF, Exponential
from .graph.diffusion import Diffusion
from .graph.katz import Katz, geometric_sum as geometric_sum
from .graph.node import Balance as Balance, GraphKernel, NodeKernel, check_adjacency as check_adjacency
from .graph.walks import Walk as Walk
from .inner import InnerProductKernel as InnerProductKernel, Linear, LinearPolynomial, Polynomial, Tanh
from .names import as_kernel, takes_values
from .sne import SNE
from .structure import SparseKernel as SparseKernel, product_counts as product_counts, product_slices as product_slices
from .student import StudentT

__all__ = [
    "RBF",
    "SNE",
    "TL1",
    "Association",
    "Diffusion",
    "Exponential",
    "Function",
    "GraphKernel",
    "Katz",
    "Kernel",
    "KullbackLeibler",
    "Laplacian",
    "Linear",
    "LinearPolynomial",
    "NodeKernel",
    "Polynomial",
    "Precomputed",
    "Product",
    "Scaled",
    "StudentT",
    "Sum",
    "Swapped",
    "Tanh",
    "as_kernel",
    "takes_values",
]
