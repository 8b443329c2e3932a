"""Mistakes that mypy must find: it reports an ``ignore`` that was not needed, and so a mistake that it accepts."""

import numpy as np
from scipy import sparse

from lopsided._core import canonical, in_unit, row_sums
from lopsided.kernels import RBF
from lopsided.operators import Stored, as_operator

X = np.ones((3, 2))


def mistakes(S: sparse.csr_array) -> None:
    """Pass other things than arrays, and dense arrays for sparse ones."""
    as_operator(RBF(1.0), X, S, budget=0)
    as_operator(RBF(1.0), "points", X, budget=0)  # type: ignore[arg-type]
    as_operator("rbf", X, X, budget=0)  # type: ignore[arg-type]
    as_operator(RBF(1.0), X, X, budget="1GB")  # type: ignore[arg-type]
    row_sums(X, X)  # type: ignore[arg-type]
    canonical(S).indptr, canonical(X).indptr  # type: ignore[attr-defined]
    in_unit("text", np.float64(2))  # type: ignore[type-var]
    _ = Stored(X).take().nothing  # type: ignore[attr-defined]
