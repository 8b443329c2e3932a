"""The variational principle behind kernel SVD, and the residuals of its equations at given factors.

For each triplet (u, s, v) of K = [<phi(x_i), psi(z_j)>], the 2016 paper's primal problem with gamma = 1 / s,

    J = -<w, w'> + gamma / 2 sum_i e_i^2 + gamma / 2 sum_j r_j^2,    e_i = <w, phi(x_i)>,    r_j = <w', psi(z_j)>,

has the solutions w = sum_j v_j psi(z_j) and w' = sum_i u_i phi(x_i), so that e = K v, r = K^T u and <w, w'> = u^T K v.
Its stationarity conditions are the shifted eigenvalue problem K v = s u, K^T u = s v, and J = 0 at a stationary point
(Theorem 2, Corollary 1); -J has the same stationary points (Corollary 2). In the 2024 paper, w and w' solve the coupled
covariances eigenproblem (Definition 2.1). Kernel values alone determine only its projections on the data,

    K^T (K v - s u) = 0,    K (K^T u - s v) = 0    (equation 4, without the paper's factors 1 / sqrt(n m)),

and explicit feature maps determine it in full. Row and column weights enter every sum.
"""

from dataclasses import astuple, dataclass, fields
from typing import ClassVar

import numpy as np

from .._core import checked
from ..operators import KernelOperator
from .factors import Factors, powers
from .weights import Weights


@dataclass(frozen=True)
class Residuals:
    """Arrays with an entry per column of a solution: the first shows its size, and all others vanish if it is exact."""

    column: ClassVar[str] = "column"  # what a row of the table describes

    @property
    def worst(self) -> float:
        """Largest magnitude over all residuals and columns."""
        return float(max(np.abs(values).max() for values in astuple(self)[1:]))

    def __str__(self) -> str:
        names = [field.name.replace("_", " ") for field in fields(self)]
        lines = [" ".join(f"{name:>15}" for name in (self.column, *names))]
        for number, row in enumerate(zip(*astuple(self), strict=True)):
            lines.append(" ".join([f"{number:>15}", f"{row[0]:>15.6g}", *(f"{value:>15.1e}" for value in row[1:])]))
        return "\n".join(lines)


@dataclass(frozen=True)
class Diagnostics(Residuals):
    """Residuals of the variational equations, one entry per component; all are zero, to rounding, at a solution.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> found = KernelSVD(2).fit(X, Z=X[:10]).diagnostics()
    >>> type(found).__name__, bool(found.worst < 1e-8)
    ('Diagnostics', True)
    """

    column: ClassVar[str] = "component"
    singular_values: np.ndarray
    objective: np.ndarray  # J / s_1, or zero where s = 0 and gamma is undefined; Corollary 2's is its negative
    left: np.ndarray  # |K v - s u| / s_1: with ``right``, the conditions of optimality without w and w'
    right: np.ndarray  # |K^T u - s v| / s_1
    coupled_left: np.ndarray  # |K (K^T u - s v)| / s_1^2: the coupled covariances, projected on the data
    coupled_right: np.ndarray  # |K^T (K v - s u)| / s_1^2


@checked(A=[KernelOperator], factors=[Factors], weights=[Weights, None])
def diagnose(A: KernelOperator, factors: Factors, weights: Weights | None = None) -> Diagnostics:
    """Residuals of the variational equations at given factors. Cost: two products with A and two with its transpose.

    If A is zero to rounding, so that s_1 = 0, they are in units of the largest product instead.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.kernels import RBF
    >>> from lopsided.operators import as_operator
    >>> from lopsided.svd import diagnose, factorise
    >>> X = np.random.default_rng(0).random((20, 3))
    >>> A = as_operator(RBF(1.0).fit(X, X[:10]), X, X[:10], budget=10**6)
    >>> factors, _ = factorise(A, 2, budget=10**6, rng=np.random.default_rng(0))
    >>> bool(diagnose(A, factors).worst < 1e-8)
    True
    """
    weights = weights or Weights(np.ones(len(factors.U)), np.ones(len(factors.V)))
    counted = weights.times(factors)
    e, r = A @ counted.V, A.T @ counted.U
    unit = factors.s[0] or max(np.abs(e).max(), np.abs(r).max(), np.finfo(e.dtype).tiny)
    s, e, r = factors.s / unit, e / unit, r / unit  # so that nothing overflows or vanishes when it is squared
    left, right = e - factors.U * s, r - factors.V * s
    again = weights.times(Factors(left, s, right))
    gamma = powers(s, -1, max(A.shape)).astype(float)
    between = np.einsum("ik,ik->k", counted.U, e, dtype=float)
    spread = _lengths(e, weights.left) ** 2 + _lengths(r, weights.right) ** 2
    return Diagnostics(
        singular_values=factors.s.astype(float),
        objective=np.where(gamma > 0, gamma / 2 * spread - between, 0),
        left=_lengths(left, weights.left),
        right=_lengths(right, weights.right),
        coupled_left=_lengths((A @ again.V) / unit, weights.left),
        coupled_right=_lengths((A.T @ again.U) / unit, weights.right),
    )


def _lengths(columns: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Norms of the columns in the weighted inner product."""
    return np.sqrt(weights @ columns.astype(float) ** 2)
