"""How far singular vectors are from the exact ones: the 2024 paper's eta, and the relative eta that ``tol`` bounds."""

import numpy as np

from .._core import checked
from .factors import Factors


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


def _cosines(exact: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Magnitudes of the cosines between the columns of two matrices; zero where there is nothing to compare."""
    cosines, k = np.zeros(exact.shape[1]), min(exact.shape[1], found.shape[1])
    lengths = np.linalg.norm(found[:, :k], axis=0)
    products = np.abs(np.einsum("ij,ij->j", exact[:, :k], found[:, :k]))
    np.divide(products, lengths, out=cosines[:k], where=lengths > 0)
    return cosines
