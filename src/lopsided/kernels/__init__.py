"""Similarities k(x, z) that need not equal k(z, x), their arithmetic and their structure on sparse data."""

from .association import Association
from .bandwidth import root_mean_squared_distance as root_mean_squared_distance, summed_deviations as summed_deviations
from .base import Kernel, Product, Scaled, Sum, Swapped
from .columns import OfColumns as OfColumns, Ranked, Standardised
from .distance import TL1, Laplacian
from .distributions import log_densities as log_densities, monomials as monomials
from .divergence import KullbackLeibler
from .exponential import RBF, Exponential
from .given import Function, Precomputed
from .graph import (
    Balance as Balance,
    Diffusion,
    GraphKernel,
    Katz,
    MatrixKernel as MatrixKernel,
    NodeKernel,
    Walk as Walk,
    check_adjacency as check_adjacency,
    geometric_sum as geometric_sum,
)
from .inner import InnerProductKernel as InnerProductKernel, Linear, LinearPolynomial, Polynomial, Tanh
from .names import as_kernel, takes_values
from .softmax import SNE, Attention
from .structure import (
    SPARSE_BYTES as SPARSE_BYTES,
    SparseKernel as SparseKernel,
    product_counts as product_counts,
    product_slices as product_slices,
)
from .student import StudentT

__all__ = [
    "RBF",
    "SNE",
    "TL1",
    "Association",
    "Attention",
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
    "Ranked",
    "Scaled",
    "Standardised",
    "StudentT",
    "Sum",
    "Swapped",
    "Tanh",
    "as_kernel",
    "takes_values",
]
