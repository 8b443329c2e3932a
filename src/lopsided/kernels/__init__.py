"""Similarities k(x, z) that need not equal k(z, x), their arithmetic and their structure on sparse data."""

from .arithmetic import Product, Scaled, Sum, Swapped
from .association import Association
from .base import Function, Kernel, Precomputed
from .diffusion import Diffusion
from .distance import TL1, Laplacian
from .divergence import KullbackLeibler
from .exponential import RBF, Exponential
from .inner import Linear, LinearPolynomial, Polynomial, Tanh
from .katz import Katz
from .names import as_kernel, takes_values
from .node import GraphKernel, NodeKernel
from .sne import SNE
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
