"""The laws that every kernel obeys."""

import sys
from typing import Any

import numpy as np
from scipy import sparse
from sklearn.base import clone

from ..kernels import Kernel, as_kernel
from ..operators import as_operator
from .agreement import assert_same
from .operator_laws import check_operator

STEP = 1e-5  # of the points, for differences that approximate derivatives
DERIVATIVE = 1e-6  # relative error allowed in these differences, which is about STEP^2 and eps / STEP


def check_kernel(kernel: Any, X: np.ndarray, Z: np.ndarray, *, sparse_points: bool = True) -> None:
    """Raise AssertionError if a kernel breaks a law on which the estimators rely.

    The laws: a kernel is a function of pairs, so blocks are slices of the matrix, also once it is fitted; exchanging
    the kernel exchanges its arguments; fitting changes no parameter and repeats to the last bit; the dtype is kept and
    input is not modified; sparse points have the values of dense ones; a kernel that says it is symmetric is; the
    derivative, if there is one, is that of the values; operators of the kernel are its matrix (:func:`check_operator`).

    Parameters
    ----------
    kernel : str, Kernel or callable
        An unfitted kernel, in any form that the estimators take.
    X, Z : arrays of shapes (n, width) and (m, width)
        Dense points in float64, at least two on each side, that the kernel can compare.
    sparse_points : bool, default=True
        Whether the kernel takes sparse points, too: as data are, they then reach ``left``, ``right`` and ``pairs``.

    Notes
    -----
    Cost: about thirty evaluations of the n m values.

    Examples
    --------
    >>> import numpy as np
    >>> from lopsided.testing import check_kernel
    >>> rng = np.random.default_rng(0)
    >>> X, Z = rng.random((6, 3)), rng.random((5, 3))
    >>> check_kernel(lambda X, Z: np.exp(X @ Z.T), X, Z, sparse_points=False)
    """
    kernel = as_kernel(kernel)
    before, parameters = (X.copy(), Z.copy()), repr(kernel)
    K = kernel(X, Z)
    assert _equal((X, Z), before), "the kernel modified the points it was given"
    assert isinstance(K, np.ndarray), f"k(X, Z) is a {type(K).__name__}; it must be a dense array"
    assert K.shape == (len(X), len(Z)), f"k(X, Z) has shape {K.shape} for {len(X)} left and {len(Z)} right points"
    fitted = clone(kernel).fit(X, Z)
    assert repr(fitted) == repr(kernel) == parameters, f"fitting changed parameters: {parameters} became {fitted!r}"
    assert np.array_equal(clone(kernel).fit(X, Z)(X, Z), fitted(X, Z)), "fitting twice gives different values"
    assert_same(fitted(X, Z), K, "a fitted kernel has the values of an unfitted one")
    _check_pairs(fitted, X, Z, K)
    _check_exchange(kernel, fitted, X, Z, K)
    _check_single_precision(kernel, X, Z, K)
    for budget in (sys.maxsize, 0):
        check_operator(as_operator(fitted, X, Z, budget=budget), K)
    if sparse_points:
        _check_sparse(kernel, X, Z, K)
    if fitted.symmetric:
        of_one = kernel(X, X)
        assert_same(of_one, of_one.T, "a kernel that says it is symmetric is")
    _check_derivative(fitted, X, Z)
    assert _equal((X, Z), before), "the kernel modified the points it was given"


def _equal(sides: tuple[np.ndarray, np.ndarray], before: tuple[np.ndarray, np.ndarray]) -> bool:
    return all(map(np.array_equal, sides, before))


def _check_pairs(fitted: Kernel, X: np.ndarray, Z: np.ndarray, K: np.ndarray) -> None:
    """Check that blocks are slices of the matrix, down to single pairs."""
    law = "the values of some points do not depend on the others"
    assert_same(fitted(X[1:], Z), K[1:], f"{law}, of some left points")
    assert_same(fitted(X, Z[::2]), K[:, ::2], f"{law}, of some right points")
    assert_same(fitted(X[-1:], Z[:1]), K[-1:, :1], f"{law}, of one pair")


def _check_exchange(kernel: Kernel, fitted: Kernel, X: np.ndarray, Z: np.ndarray, K: np.ndarray) -> None:
    """Check that the exchanged kernel has the transposed values, fitted or not."""
    law = "exchanging a kernel exchanges its arguments"
    assert_same(kernel.T(Z, X), K.T, law)
    assert_same(kernel.T.T(X, Z), K, f"{law}, twice")
    assert_same(fitted.T(Z[:1], X), K[:, :1].T, f"{law}, once it is fitted")


def _check_single_precision(kernel: Kernel, X: np.ndarray, Z: np.ndarray, K: np.ndarray) -> None:
    """Check that float32 stays float32, near the values in float64."""
    single = kernel(X.astype(np.float32), Z.astype(np.float32))
    assert single.dtype == np.float32, f"points of float32 have values of {single.dtype}"
    assert_same(single, K, "values in float32 are near those in float64")


def _check_sparse(kernel: Kernel, X: np.ndarray, Z: np.ndarray, K: np.ndarray) -> None:
    """Check the values and the operators of sparse points, on either side or both."""
    S, T = sparse.csr_array(X), sparse.csr_array(Z)
    for sides in ((S, T), (S, Z), (X, T)):
        try:
            values = kernel(*sides)
        except Exception as error:  # whatever the kernel's own code raises
            raise AssertionError(
                f"the kernel fails on sparse points ({type(error).__name__}: {error}); make them dense in left and "
                "right, or check it with sparse_points=False"
            ) from error
        assert_same(values, K, "sparse points have the values of dense ones")
    fitted = clone(kernel).fit(S, T)
    for budget in (sys.maxsize, 0):
        check_operator(as_operator(fitted, S, T, budget=budget), K)


def _check_derivative(fitted: Kernel, X: np.ndarray, Z: np.ndarray) -> None:
    """Compare the derivative of a random weighting of the values along a random direction with a difference."""
    try:
        K, pull_back = fitted.differentiate(X, Z)
    except TypeError:  # the kernel has none
        return
    rng = np.random.default_rng(0)
    W, D = rng.standard_normal(K.shape), rng.standard_normal(Z.shape)
    step = STEP * float(np.abs(Z).max() or 1.0)
    ahead, behind = (fitted.differentiate(X, Z + sign * step * D)[0] for sign in (1, -1))
    expected = float(np.sum(W * (ahead - behind))) / (2 * step)
    found = float(np.sum(pull_back(W) * D))
    allowed = DERIVATIVE * float(np.abs(W).sum() * np.abs(ahead - behind).max()) / (2 * step)
    assert abs(found - expected) <= allowed, f"the derivative is {found:.6g}, where differences give {expected:.6g}"
