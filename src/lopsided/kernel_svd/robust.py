"""Robustly weighted kernel SVD: rows that the others do not explain lose their weight.

The 2016 paper names it as future work (section 6). The scheme is that of weighted least-squares SVMs (Suykens, De
Brabanter, Lukas and Vandewalle, 2002): residuals of a fit give weights, weights a new fit, until neither changes.
"""

from numbers import Integral
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils._param_validation import Interval

from .._core import ArrayLike, checked
from ..exceptions import ConvergenceWarning, warn
from .estimator import KernelSVD

FULL_WEIGHT_UP_TO, NO_WEIGHT_FROM = 2.5, 3.0  # deviations of a residual, as in the paper of weighted LS-SVMs
MAD_TO_DEVIATION = 1.483  # of a normal distribution
SETTLED = 1e-3  # change of weights at which to stop


@checked(model=[KernelSVD], max_iter=[Interval(Integral, 1, None, closed="left")])
def fit_robust(model: KernelSVD, X: ArrayLike, *, Z: ArrayLike = None, max_iter: int = 20) -> KernelSVD:
    """Fit a copy of a KernelSVD with row weights that go to zero for outliers among the rows.

    The residual of a row of K is its distance from the span of the right vectors. Rows whose residual exceeds the
    median by up to 2.5 robust deviations (1.483 times the median absolute deviation) have weight one, from three on
    none, and between them the weight falls linearly. As gross outliers would determine the first fit, it is made with
    rows no longer than the median one. Rows without weight are embedded like new points.

    Parameters
    ----------
    model : KernelSVD
        Unfitted model with an exact solver, since landmarks take no weights; it is not modified.
    X, Z : as in :meth:`KernelSVD.fit`
        Left and right points, or the kernel matrix. To find outliers among the columns, exchange X and Z, and the
        arguments of the kernel (``kernel.T``).
    max_iter : int, default=20
        Maximum number of fits, after which a ConvergenceWarning is issued if weights still change.

    Returns
    -------
    KernelSVD
        Fitted model, with the weights in ``weights_.left``.

    Notes
    -----
    Cost: a fit, and one evaluation of the kernel matrix, in every iteration. Outliers should be fewer than half of the
    rows, and not agree with each other so well that they are a component of their own.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided import KernelSVD
    >>> from lopsided.kernel_svd import fit_robust
    >>> rng = np.random.default_rng(0)
    >>> A = rng.standard_normal((40, 2)) @ rng.standard_normal((2, 15))
    >>> A[:3] = 100 * rng.standard_normal((3, 15))
    >>> fit_robust(KernelSVD(2, kernel="precomputed"), A).weights_.left[:5]
    array([0., 0., 0., 1., 1.])
    """
    lengths, _ = _lengths_and_residuals(clone(model).fit(X, Z=Z), X, Z)
    weights = np.minimum(1, (np.median(lengths) / np.where(lengths > 0, lengths, np.inf)) ** 2)
    weights[lengths == 0] = 1
    for _ in range(max_iter):
        fitted = clone(model).fit(X, Z=Z, left_weights=weights)
        found = _weights(*_lengths_and_residuals(fitted, X, Z))
        if np.abs(found - weights).max() <= SETTLED:
            return fitted
        weights = found
    warn(
        f"weights of rows still change after {max_iter} fits; raise max_iter, or use fewer components",
        ConvergenceWarning,
    )
    return fitted


def _lengths_and_residuals(fitted: KernelSVD, X: Any, Z: Any) -> tuple[np.ndarray, np.ndarray]:
    """Norms of the rows of the (centred) kernel matrix, and of what its right singular vectors leave of them."""
    A, V = fitted._kernel_operator(X, Z=Z), fitted.right_vectors_
    norms = [(np.linalg.norm(rows, axis=1), np.linalg.norm(rows - (rows @ V) @ V.T, axis=1)) for rows in A.batches()]
    lengths, residuals = (np.concatenate(part).astype(float) for part in zip(*norms, strict=True))
    return lengths, residuals


def _weights(lengths: np.ndarray, residuals: np.ndarray) -> np.ndarray:
    """One up to 2.5 robust deviations above the median residual, zero from 3 on, and linear between."""
    middle = np.median(residuals)
    rounding = np.sqrt(np.finfo(float).eps) * np.median(lengths)  # residuals of a matrix of low rank are not compared
    deviation = max(MAD_TO_DEVIATION * float(np.median(np.abs(residuals - middle))), rounding)
    excess = (residuals - middle) / deviation if deviation > 0 else np.zeros_like(residuals)
    return np.clip((NO_WEIGHT_FROM - excess) / (NO_WEIGHT_FROM - FULL_WEIGHT_UP_TO), 0, 1)
