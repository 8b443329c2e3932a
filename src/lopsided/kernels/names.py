"""Lookup of kernels by the names that estimators accept."""

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any

from sklearn.base import clone

from .association import Association
from .base import Kernel
from .distance import TL1, Laplacian
from .divergence import KullbackLeibler
from .exponential import RBF, Exponential
from .given import Function, Precomputed
from .graph import Diffusion, Katz, NodeKernel
from .inner import Linear, LinearPolynomial, Polynomial, Tanh
from .softmax import SNE, Attention
from .student import StudentT

BY_NAME: dict[str, type[Kernel]] = {
    "linear": Linear,
    "polynomial": Polynomial,
    "linear_polynomial": LinearPolynomial,
    "exponential": Exponential,
    "rbf": RBF,
    "laplacian": Laplacian,
    "sne": SNE,
    "student_t": StudentT,
    "attention": Attention,
    "tl1": TL1,
    "tanh": Tanh,
    "kullback_leibler": KullbackLeibler,
    "association": Association,
    "node_kernel": NodeKernel,
    "diffusion": Diffusion,
    "katz": Katz,
    "precomputed": Precomputed,
}
SYNONYMS = {
    "gaussian": "rbf",
    "poly": "polynomial",
    "sigmoid": "tanh",
    "laplace": "laplacian",
    "t": "student_t",
    "student": "student_t",
    "softmax": "attention",
    "kl": "kullback_leibler",
    "pagerank": "diffusion",
    "adjacency": "node_kernel",
}
ADVICE = {"cosine": "Divide each row by its length (sklearn.preprocessing.normalize) and use 'linear'"}


def as_kernel(kernel: str | Kernel | Callable[..., Any]) -> Kernel:
    """Return an unfitted kernel from a name, a kernel or a vectorised callable f(X, Z).

    Examples
    --------
    >>> from lopsided.kernels import as_kernel
    >>> as_kernel("rbf"), as_kernel(lambda X, Z: X @ Z.T).__class__.__name__
    (RBF(), 'Function')
    """
    if isinstance(kernel, Kernel):
        return clone(kernel)
    if isinstance(kernel, str):
        return _named(kernel)()
    if isinstance(kernel, type) and issubclass(kernel, Kernel):
        raise TypeError(f"kernel={kernel.__name__} is a class; give an instance, {kernel.__name__}()")
    if callable(kernel):
        return Function(kernel)
    raise TypeError(
        f"kernel must be a name, a lopsided.kernels.Kernel or a callable f(X, Z); got {type(kernel).__name__}"
    )


def _named(name: str) -> type[Kernel]:
    """Return the kernel class of a name or synonym; the error for other names suggests the nearest."""
    known = SYNONYMS.get(name, name)
    if known in BY_NAME:
        return BY_NAME[known]
    near = get_close_matches(name.lower(), [*BY_NAME, *SYNONYMS], n=1)
    hint = f"Did you mean {near[0]!r}? " if near else ""
    hint = f"{ADVICE[name.lower()]}. " if name.lower() in ADVICE else hint
    raise ValueError(f"unknown kernel {name!r}. {hint}The names are {', '.join(sorted(BY_NAME))}")


def takes_values(kernel: object) -> bool:
    """Whether a kernel, given as an object or by name, takes a matrix of values instead of points.

    Examples
    --------
    >>> from lopsided.kernels import takes_values
    >>> takes_values("precomputed"), takes_values("rbf")
    (True, False)
    """
    if isinstance(kernel, str):
        return issubclass(BY_NAME.get(kernel, Kernel), Precomputed)
    return isinstance(kernel, Kernel) and kernel.takes_values
