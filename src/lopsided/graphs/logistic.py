"""The logistic regression of a decoder, whose coefficients of what is near have a sign."""

import numpy as np
from scipy.optimize import minimize
from scipy.special import expit

from .._core import with_one_blas_thread


@with_one_blas_thread
def fit_terms(X: np.ndarray, y: np.ndarray, n_positive: int, *, both_ways: bool = False) -> tuple[np.ndarray, float]:
    """Coefficients and constant of a logistic regression, with the first few coefficients >= 0.

    Minimises the sum of log(1 + exp(-+ score)) plus half the sum of squared coefficients, in units of the spread of
    each column. With ``both_ways`` the sums of these coefficients and of as many that come next are also >= 0.
    """
    spread = X.std(axis=0)
    spread += spread == 0
    Z = np.column_stack([(X - X.mean(axis=0)) / spread, np.ones(len(X))])
    penalty, turn = np.append(np.ones(X.shape[1]), 0.0), np.eye(Z.shape[1])
    if both_ways:  # these sums are the unknowns in place of the coefficients that come next
        first, n_positive = np.arange(n_positive), 2 * n_positive
        turn[first + len(first), first] = -spread[first + len(first)] / spread[first]

    def loss(b: np.ndarray) -> tuple[float, np.ndarray]:
        b = turn @ b
        score = Z @ b
        gradient = Z.T @ (expit(score) - y) + penalty * b
        return float(np.logaddexp(0, score).sum() - y @ score + penalty @ b**2 / 2), turn.T @ gradient

    free = [(0.0, None)] * n_positive + [(None, None)] * (Z.shape[1] - n_positive)
    b = turn @ minimize(loss, np.zeros(Z.shape[1]), jac=True, bounds=free, method="L-BFGS-B").x
    weights = b[:-1] / spread
    return weights, float(b[-1] - weights @ X.mean(axis=0))
