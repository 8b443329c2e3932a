"""Similarities k(x, z) that need not equal k(z, x), their arithmetic and their structure on sparse data."""

from .arithmetic import Product, Scaled, Sum, Swapped
from .association import Association
from .base import Function, Kernel, Precomputed
from .distance import TL1, Laplacian
from .divergence import KullbackLeibler
from .exponential import RBF, SNE, Exponential
from .inner import Linear, LinearPolynomial, Polynomial, Tanh
from .names import as_kernel
from .node import NodeKernel
from .student import StudentT

__all__ = [
    "RBF",
    "SNE",
    "TL1",
    "Association",
    "Exponential",
    "Function",
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
]
