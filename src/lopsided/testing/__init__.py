"""The laws of kernels and operators, for people who write their own."""

from .kernel_laws import check_kernel
from .operator_laws import check_operator

__all__ = ["check_kernel", "check_operator"]
