"""An estimate of the error of a Nystrom approximation, from rows and columns that were held out."""

from __future__ import annotations

import numpy as np

from .._core import Array, svd
from ..operators import as_operator
from .extension import NystromFactors

# Fewest rows, and columns, on which eta is estimated. On protein-casp the estimate is 0.8 to 1.9 times eta with 128 of
# them, and up to 7 times with 32.
HELD_OUT_ROWS = 128
HELD_OUT_PER_TRIPLET = 4  # held-out rows, and columns, per triplet, if that gives more


def estimate_eta(result: NystromFactors, X: Array, Z: Array, rng: np.random.Generator) -> float:
    """The 2024 paper's eta (section 4.4), estimated from a few rows and columns of the matrix.

    eta is the mean of 1 - |cosine| between approximate and exact singular vectors, weighted by s_i / s_1, with both
    sides added. The exact vectors are unknown. The estimate replaces the left ones by K V on held-out rows H, because
    a power step moves the span towards that of the exact vectors. Within this span, the vectors are rotated by the
    right singular vectors of B, the least-squares solution of U[H] B = (K V)[H]. The right side is treated likewise.
    Spare triplets beyond k reveal which vectors the last ones are mixed with. The estimate cannot detect structure on
    a few rows that are neither landmarks nor held out.

    Cost: h (n + m) kernel values for h held-out rows and h columns, where h is 128, or four per triplet if more.
    """
    factors, (rows, columns) = result.factors, result.landmarks
    total = 0.0
    for transposed, points, known, vectors, others in (
        (False, X, rows, factors.U, factors.V),
        (True, Z, columns, factors.V, factors.U),
    ):
        held = _held_out(points.shape[0], known.indices, max(HELD_OUT_ROWS, HELD_OUT_PER_TRIPLET * len(factors.s)), rng)
        sides = (X, Z[held]) if transposed else (X[held], Z)
        A = as_operator(result.kernel, *sides, budget=0)
        better, found = ((A.T if transposed else A) @ others).astype(float), vectors[held].astype(float)
        better = better @ _whitening(others)
        if result.means is not None:
            better, found = better - better.mean(axis=0), found - found.mean(axis=0)
        between = np.linalg.lstsq(found @ _whitening(vectors), better)[0]
        better = better @ svd(between)[2].T
        lengths = np.linalg.norm(better, axis=0) * np.linalg.norm(found, axis=0)
        cosines = np.abs(np.einsum("ij,ij->j", better, found)) / np.maximum(lengths, np.finfo(float).tiny)
        total += float(np.mean((factors.s / factors.s[0] * (1 - np.minimum(cosines, 1)))[: result.k]))
    return total


def _whitening(vectors: np.ndarray) -> np.ndarray:
    """Triangular T such that vectors @ T has orthonormal columns, which the plain extension does not have."""
    gram = (vectors.T @ vectors).astype(float)
    gram.flat[:: len(gram) + 1] += np.finfo(float).eps * np.trace(gram)  # parallel columns would make it singular
    return np.linalg.inv(np.linalg.cholesky(gram)).T


def _held_out(n: int, known: np.ndarray | None, count: int, rng: np.random.Generator) -> np.ndarray:
    """Random row numbers, in ascending order; includes landmarks only if there are too few other rows."""
    order = rng.permutation(n)
    if known is not None:
        order = order[np.argsort(np.isin(order, known), kind="stable")]
    return np.sort(order[:count])
