"""The primal problem behind the least-squares machines, and the residuals of its equations at given duals.

With K = [<phi_s(x_i), phi_t(x_j)>], the 2023 paper's primal problem (5) is, for targets y,

    J = <w, v> + C/2 sum_i e_i^2 + C/2 sum_i h_i^2,
    <w, phi_s(x_i)> + b1 = y_i - e_i,    <v, phi_t(x_i)> + b2 = y_i - h_i;

with weights of the samples, C is that of each sample. With labels of 1 and -1, the paper's constraints and errors are
these times y_i. At its stationary point w = sum_i c_i phi_t(x_i), v = sum_i a_i phi_s(x_i), a = C e, c = C h and
1'a = 1'c = 0 (equation 9), so that <w, v> = a'K c, and J equals the dual objective (a + c)'y / 2.
"""

from dataclasses import dataclass

import numpy as np

from ..svd import Residuals


@dataclass(frozen=True)
class PrimalDiagnostics(Residuals):
    """Objective and residuals of the primal-dual equations, one entry per class or target."""

    objective: np.ndarray  # J, with e and h as the constraints define them
    gap: np.ndarray  # J - (a + c)'y / 2, relative to the sum of the magnitudes of its terms
    source: np.ndarray  # |a / C - e| / |y|: stationarity in e, which the constraints define
    target: np.ndarray  # |c / C - h| / |y|
    source_sum: np.ndarray  # |1'a| / sum |a|: stationarity in b1
    target_sum: np.ndarray  # |1'c| / sum |c|


def diagnose_primal(
    a: np.ndarray, c: np.ndarray, Kc: np.ndarray, e: np.ndarray, h: np.ndarray, Y: np.ndarray, C: np.ndarray
) -> PrimalDiagnostics:
    """Residuals at duals a, c (n, k), products K c and errors e, h of both functions, and targets Y. Cost O(n k).

    C (n, 1) holds the C of each sample, its weight included.
    """
    terms = np.stack([np.sum(a * Kc, axis=0), np.sum(C / 2 * e**2, axis=0), np.sum(C / 2 * h**2, axis=0)])
    dual = np.sum((a + c) * Y, axis=0) / 2
    size = np.abs(terms).sum(axis=0) + np.abs(dual)
    length = np.linalg.norm(Y, axis=0)
    return PrimalDiagnostics(
        objective=terms.sum(axis=0),
        gap=_ratio(terms.sum(axis=0) - dual, size),
        source=np.linalg.norm(a / C - e, axis=0) / length,
        target=np.linalg.norm(c / C - h, axis=0) / length,
        source_sum=_ratio(np.abs(a.sum(axis=0)), np.abs(a).sum(axis=0)),
        target_sum=_ratio(np.abs(c.sum(axis=0)), np.abs(c).sum(axis=0)),
    )


def _ratio(part: np.ndarray, whole: np.ndarray) -> np.ndarray:
    """Part over whole, zero where the whole is zero."""
    return np.divide(part, whole, out=np.zeros_like(part), where=whole > 0)
