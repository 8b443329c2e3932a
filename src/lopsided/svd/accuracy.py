"""How far singular vectors are from the exact ones: the 2024 paper's eta, and the relative eta that ``tol`` bounds."""

import numpy as np

from .._core import checked
from .factors import Factors

EQUAL_VALUES = 1e-8  # of the largest singular value: difference up to which two count as equal
EQUAL_EPS = 100  # the same in units of eps, if more


@checked(exact=[Factors], found=[Factors])
def eta(exact: Factors, found: Factors) -> float:
    """Error of singular vectors, eta of the 2024 paper (section 4.4).

    The mean over the exact triplets of lambda_i (1 - |cosine|) between exact and found vectors of a side, both sides
    added. Found vectors may have any length; those that are missing, or zero, count as orthogonal. The weights lambda_i
    are the exact singular values, so that eta grows with the scale of the kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.svd import Factors, eta
    >>> exact = Factors(np.eye(3, 2), np.array([4.0, 1.0]), np.eye(3, 2))
    >>> eta(exact, exact), eta(exact, exact.truncate(1))
    (0.0, 1.0)
    """
    return float(sum(exact.s @ (1 - _cosines(*side)) for side in ((exact.U, found.U), (exact.V, found.V)))) / len(
        exact.s
    )


@checked(exact=[Factors], found=[Factors])
def relative_eta(exact: Factors, found: Factors) -> float:
    """The paper's eta over the largest singular value: weights s_i / s_1, the same for all multiples of a kernel.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.svd import Factors, relative_eta
    >>> exact = Factors(np.eye(3)[:, :2], np.array([2.0, 1.0]), np.eye(2))
    >>> relative_eta(exact, exact)
    0.0
    """
    return eta(exact, found) / float(exact.s[0])


def estimated_eta(s: np.ndarray, residuals: np.ndarray, k: int) -> float:
    """Relative eta of k triplets: the mean of (s_i / s_1)(1 - |cosine|), both sides added.

    A vector is wrong by an angle of up to its residual over the gap to the nearest other singular value. Values that
    agree to EQUAL_VALUES count as one, as any basis of their vectors is right. The value after the k-th may still grow
    by its residual; those that no vector has found yet cannot be taken into account.
    """
    eps, scale = float(np.finfo(s.dtype).eps), max(float(s[0]), np.finfo(float).tiny)
    s = s[: k + 1] / scale
    equal = max(EQUAL_VALUES, EQUAL_EPS * eps)
    apart = s[:-1] - s[1:] > equal
    if len(s) > k:
        unsure = residuals[k] / scale
        apart[-1] |= unsure > equal
        s[k] += unsure
    first = np.flatnonzero(np.append(True, apart))  # of each group of equal values
    last = np.append(first[1:], len(s)) - 1
    between = np.maximum(s[last[:-1]] - s[first[1:]], eps)
    gaps = np.minimum(np.append(np.inf, between), np.append(between, np.inf))
    gaps = np.repeat(gaps, last - first + 1)[:k]
    sines = np.minimum(residuals[:k] / scale / gaps, 1)
    return 2 * float(s[:k] @ (1 - np.sqrt(1 - sines**2))) / k


def _cosines(exact: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Magnitudes of the cosines between the columns of two matrices; zero where there is nothing to compare."""
    cosines, k = np.zeros(exact.shape[1]), min(exact.shape[1], found.shape[1])
    lengths = np.linalg.norm(found[:, :k], axis=0)
    products = np.abs(np.einsum("ij,ij->j", exact[:, :k], found[:, :k]))
    np.divide(products, lengths, out=cosines[:k], where=lengths > 0)
    return cosines
