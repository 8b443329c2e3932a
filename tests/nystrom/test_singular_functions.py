"""Equations 5 to 18 of the 2024 paper: singular functions of a kernel, their sampling, and the symmetric method."""

import numpy as np
import pytest

from lopsided import KernelSVD, Nystrom
from lopsided.kernels import RBF

TIGHT = 1e-10
N, M = 14, 9


def kernel(X, Z):
    """An asymmetric kernel, written out: exp(-|x - z|^2) (1 + x_1)."""
    return np.exp(-np.square(X[:, None] - Z).sum(axis=2)) * (1 + X[:, :1])


def asymmetric(L, R):
    return np.asarray(kernel(L, R))


@pytest.fixture
def points(rng):
    return rng.random((N, 2)), rng.random((M, 2))


@pytest.mark.parametrize("scaling", [1.0, 1 / np.sqrt(N * M), 3.7], ids=["one", "paper", "any"])
def test_equations_5_14_and_15_are_a_weighted_svd_for_distributions_on_points(scaling, points, rng):
    """lambda u(x) = sum_z k(x, z) v(z) p(z) and its adjoint, for densities on points, at any scale of u and v."""
    X, Z = points
    p, q = rng.random(N), rng.random(M)
    p, q = p / p.sum(), q / q.sum()
    model = KernelSVD(4, kernel=asymmetric).fit(X, Z=Z, left_weights=p, right_weights=q)
    u, v, values = scaling * model.left_vectors_, scaling * model.right_vectors_, model.singular_values_
    np.testing.assert_allclose(values * u, (kernel(X, Z) * q) @ v, atol=TIGHT)
    np.testing.assert_allclose(values * v, (kernel(X, Z).T * p) @ u, atol=TIGHT)
    np.testing.assert_allclose((u.T * p) @ u, scaling**2 * np.eye(4), atol=TIGHT)


@pytest.mark.parametrize("scaling", [1.0, 1 / np.sqrt(N * M), 3.7], ids=["one", "paper", "any"])
def test_equations_6_to_8_samples_of_singular_functions_are_singular_vectors(scaling, points, rng):
    """With l_v = sqrt(m / n) l_u both averages of (6) have the factor 1 / (sqrt(m n) l); new points follow (8)."""
    (X, Z), new_x, new_z = points, rng.random((5, 2)), rng.random((6, 2))
    model = KernelSVD(4, kernel=asymmetric, scaling=0.0).fit(X, Z=Z)
    U, s, V = model.left_vectors_, model.singular_values_, model.right_vectors_
    G = kernel(X, Z)
    np.testing.assert_allclose(G @ V, U * s, atol=TIGHT)  # (7)
    np.testing.assert_allclose(G.T @ U, V * s, atol=TIGHT)
    size = np.sqrt(np.sqrt(M * N) * scaling)
    u, v, values = size * U, size * V, s / (np.sqrt(M * N) * scaling)
    np.testing.assert_allclose(values * u, G @ v / (np.sqrt(M * N) * scaling), atol=TIGHT)  # (6)
    np.testing.assert_allclose(values * v, G.T @ u / (np.sqrt(M * N) * scaling), atol=TIGHT)
    left, right = size / s * (kernel(new_x, Z) @ V), size / s * (kernel(X, new_z).T @ U)  # (8)
    np.testing.assert_allclose(size * model.transform(new_x), left, atol=TIGHT * np.abs(left).max())
    np.testing.assert_allclose(size * model.transform_right(new_z), right, atol=TIGHT * np.abs(right).max())


def test_equations_16_to_18_averages_over_samples_are_the_matrix_svd(points):
    """u = sqrt(n) U, v = sqrt(m) V and lambda = s / sqrt(m n) make the averages of (16) exact at the samples."""
    X, Z = points
    model = KernelSVD(4, kernel=asymmetric).fit(X, Z=Z)
    u, v = np.sqrt(N) * model.left_vectors_, np.sqrt(M) * model.right_vectors_
    values = model.singular_values_ / np.sqrt(M * N)
    np.testing.assert_allclose(v, kernel(X, Z).T @ u / (N * values), atol=TIGHT)
    np.testing.assert_allclose(u, kernel(X, Z) @ v / (M * values), atol=TIGHT)
    np.testing.assert_allclose(
        model.left_vectors_, kernel(X, Z) @ model.right_vectors_ / model.singular_values_, atol=TIGHT
    )


def test_equations_10_to_13_one_symmetric_set_is_the_method_of_williams_and_seeger(rng):
    """Values N / n of those of the sample, and vectors G_Nn u / lambda; (13) gives them the norm that (11) gives u."""
    X = rng.random((30, 2))
    some = np.sort(rng.permutation(30)[:12])
    model = KernelSVD(3, kernel=RBF(0.7), solver=Nystrom(landmarks=(some, some), extension="plain"), scaling=0.0).fit(
        X, Z=X
    )
    G = np.exp(-np.square(X[:, None] - X).sum(axis=2) / 0.49)
    values, U = np.linalg.eigh(G[np.ix_(some, some)])
    values, U = values[:-4:-1], U[:, :-4:-1]
    extended = np.sqrt(12 / 30) / values * (G[:, some] @ U)  # (13)
    np.testing.assert_allclose(model.singular_values_, 30 / 12 * values, rtol=TIGHT)
    for found in (model.left_vectors_, model.right_vectors_):
        cosines = np.sum(found * extended, axis=0) / np.linalg.norm(extended, axis=0)
        np.testing.assert_allclose(np.abs(cosines), 1, rtol=TIGHT)
    functions = np.sqrt(12) / values * (G[:, some] @ U)  # (12), which passes through (11) at the sample
    np.testing.assert_allclose(functions[some], np.sqrt(12) * U, atol=TIGHT)
    np.testing.assert_allclose(
        values / 12 * functions[some], G[np.ix_(some, some)] @ functions[some] / 12, atol=TIGHT
    )  # (10)
