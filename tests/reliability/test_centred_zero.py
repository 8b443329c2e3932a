"""Centred kernel matrices that are zero, or nearly, to rounding: singular values at rounding level by every solver."""

import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.spatial.distance import cdist

from lopsided import KernelSVD, Nystrom
from lopsided.exceptions import LopsidedWarning
from lopsided.kernels import RBF, SNE, Linear, Polynomial, StudentT

N, M = 400, 330  # min(n, m) above which the iterative solver is the default
RNG = np.random.default_rng(1)
POINTS, OTHERS = RNG.standard_normal((N, 5)), RNG.standard_normal((M, 5))
ONE_POINT = np.tile(POINTS[:1], (N, 1))
FIVE_POINTS, FIVE_OTHERS = POINTS[np.arange(N) % 5], OTHERS[np.arange(M) % 5]


def gaussian(X, Z, bandwidth):
    return np.exp(-cdist(X, Z, "sqeuclidean") / bandwidth**2)


def normalised(K):
    return K / K.sum(axis=1, keepdims=True)


def t(X, Z, bandwidth):
    return 1 / (1 + cdist(X, Z, "sqeuclidean") / bandwidth**2)


# kernel, left points, right points, and a formula for the matrix that does not use the library
FLAT = {
    "identical left points": (SNE(2.0), ONE_POINT, OTHERS, lambda X, Z: normalised(gaussian(X, Z, 2.0))),
    "identical points": (RBF(1.0), ONE_POINT, ONE_POINT[:M], lambda X, Z: gaussian(X, Z, 1.0)),
    "identical points, t": (StudentT(1.0), ONE_POINT, OTHERS, lambda X, Z: normalised(t(X, Z, 1.0))),
    "constant to rounding": (RBF(1e8), POINTS, OTHERS, lambda X, Z: gaussian(X, Z, 1e8)),
    "nearly constant": (RBF(1e7), POINTS, OTHERS, lambda X, Z: gaussian(X, Z, 1e7)),
    "nearly constant, wide": (RBF(5e3), POINTS, OTHERS, lambda X, Z: gaussian(X, Z, 5e3)),
    "nearly constant, normalised": (SNE(1e6), POINTS, OTHERS, lambda X, Z: normalised(gaussian(X, Z, 1e6))),
    "large constant": (Polynomial(2, 1e6), POINTS, OTHERS, lambda X, Z: (X @ Z.T + 1e6) ** 2),
    "five points, repeated": (SNE(2.0), FIVE_POINTS, FIVE_OTHERS, lambda X, Z: normalised(gaussian(X, Z, 2.0))),
    "zeros": (Linear(), 0 * POINTS, OTHERS, lambda X, Z: X @ Z.T),
}
SOLVERS = {
    "auto": {},
    "lapack": {"solver": "lapack"},
    "krylov": {"solver": "krylov"},
    "krylov, in blocks": {"solver": "krylov", "memory_budget": 10**5},
    "nystrom": {"solver": Nystrom(80)},
    "nystrom, plain": {"solver": Nystrom(80, extension="plain")},
}


def fitted(k, kernel, solver, X, Z):
    """The centred model, or None where landmarks say that nothing is left between them."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", LopsidedWarning)
        try:
            return KernelSVD(k, kernel=kernel, center=True, **SOLVERS[solver]).fit(X, Z=Z)
        except ValueError as error:
            if "nystrom" in solver and "vanishes between" in str(error):
                return None
            raise


def centred(K):
    K = K.astype(np.longdouble)
    return (K - K.mean(axis=0) - K.mean(axis=1, keepdims=True) + K.mean()).astype(float)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", SOLVERS)
@pytest.mark.parametrize("name", FLAT)
def test_a_centred_matrix_that_is_zero_to_rounding_has_singular_values_at_rounding_level(name, solver, dtype):
    kernel, X, Z, formula = FLAT[name]
    X, Z = X.astype(dtype), Z.astype(dtype)
    K = formula(X.astype(float), Z.astype(float))
    model = fitted(3, kernel, solver, X, Z)
    if model is None:
        return
    rounding = 20 * np.finfo(dtype).eps * np.abs(K).max() * np.sqrt(K.size)
    expected, found = np.linalg.svd(centred(K), compute_uv=False)[:3], np.zeros(3)
    found[: len(model.singular_values_)] = model.singular_values_
    np.testing.assert_allclose(found, expected, atol=rounding, rtol=0.5 if "nystrom" in solver else 1e-6)
    for features in (model.transform(X), model.transform_right(Z)):
        assert np.isfinite(features).all()
        assert np.linalg.norm(features, axis=0).max(initial=0) <= 1.5 * expected[0] + 10 * rounding


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["auto", "lapack", "krylov", "nystrom"])
@pytest.mark.parametrize("kernel", [SNE(2.0), RBF(2.0), StudentT(2.0), Polynomial()], ids=repr)
def test_identical_sparse_points_leave_nothing_to_centre(kernel, solver, dtype):
    X = sparse.csr_array(np.tile((POINTS[:1] > 0).astype(dtype), (N, 60)))
    Z = sparse.csr_array((RNG.random((M, 300)) < 0.1).astype(dtype))
    model = fitted(2, kernel, solver, X, Z)
    if model is None:
        return
    K = kernel.fit(X, Z)(X.toarray(), Z.toarray())
    rounding = 20 * np.finfo(dtype).eps * np.abs(K).max() * np.sqrt(K.size)
    assert (model.singular_values_ <= rounding).all()
    assert np.abs(model.transform(X)).max(initial=0) <= 10 * rounding


@pytest.mark.parametrize("value", [1.0, 1 / 3, -7e5, 1e150, 1e-150])
@pytest.mark.parametrize("solver", ["auto", "lapack", "krylov"])
@pytest.mark.parametrize("spread", [0.0, 1e-15])
def test_a_constant_matrix_of_any_size_has_nothing_left_when_centred(value, solver, spread):
    K = value * (1 + spread * RNG.standard_normal((N, M)))
    model = KernelSVD(2, kernel="precomputed", center=True, **SOLVERS[solver]).fit(K)
    assert (model.singular_values_ <= 20 * np.finfo(float).eps * abs(value) * np.sqrt(K.size)).all()
    assert np.abs(model.transform(K)).max() <= 1e3 * np.finfo(float).eps * abs(value) * np.sqrt(K.size)
