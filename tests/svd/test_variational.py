"""The statements of the papers about the variational principle and the coupled covariances, as laws."""

from dataclasses import astuple

import numpy as np
import pytest
import scipy.linalg
from sklearn.decomposition import KernelPCA

from lopsided import KernelSVD, Nystrom
from lopsided.kernel_svd import make_compatible, split_condition
from lopsided.kernels import RBF, Exponential, Linear, LinearPolynomial, Polynomial, Tanh
from lopsided.operators import Stored
from lopsided.svd import Factors, diagnose, lapack
from lopsided.svd.weights import Weights

MATRICES = {
    "tall": lambda rng: rng.standard_normal((30, 12)),
    "wide": lambda rng: rng.standard_normal((12, 30)),
    "square": lambda rng: rng.standard_normal((20, 20)),
    "rank_deficient": lambda rng: rng.standard_normal((30, 4)) @ rng.standard_normal((4, 12)),
    "wide_rank_deficient": lambda rng: rng.standard_normal((12, 4)) @ rng.standard_normal((4, 30)),
    "square_rank_deficient": lambda rng: rng.standard_normal((15, 4)) @ rng.standard_normal((4, 15)),
}
every_matrix = pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)
TIGHT = 1e-10


def triplets(A):
    """Factors to the rank of the matrix."""
    return lapack(Stored(A), int(np.linalg.matrix_rank(A)))


def multipliers(A):
    """Feature maps C^T x_i and z_j of rows and columns of A, and the factors that KernelSVD finds to the rank of A."""
    model = KernelSVD(int(np.linalg.matrix_rank(A)), kernel="linear", compatibility="pinv").fit(A)
    factors = Factors(model.left_vectors_, model.singular_values_, model.right_vectors_)
    return A @ np.linalg.pinv(A), A.T, factors


def objective(phi, psi, w, v, gamma):
    """The primal objective of equation 8, whose constraints are put in."""
    return -w @ v + gamma / 2 * (np.sum((phi @ w) ** 2) + np.sum((psi @ v) ** 2))


def coupled_covariance_residuals(phi, psi, factors, weights=None):
    """Norms of S_phi w_psi - s w_phi and S_psi w_phi - s w_psi for explicit feature maps (Remark 4, Definition 2.1).

    S is the weighted sum of f f^T over the rows f of a side, w_phi = phi^T U and w_psi = psi^T V; norms are relative to
    s_1 times the longest of the w on the right.
    """
    a, c = (np.ones(len(phi)), np.ones(len(psi))) if weights is None else (weights.left, weights.right)
    w_phi, w_psi = (phi.T * a) @ factors.U, (psi.T * c) @ factors.V
    found = []
    for side, weight, across, along in ((phi, a, w_psi, w_phi), (psi, c, w_phi, w_psi)):
        longest = factors.s[0] * np.linalg.norm(along, axis=0).max()
        residuals = np.linalg.norm((side.T * weight) @ side @ across - along * factors.s, axis=0)
        found.append(residuals / (longest or 1.0))
    return found


def condition_residual(A, C):
    """|A C A - A| / |A|: how far C is from the compatibility condition (2016 paper, equation 9)."""
    return np.linalg.norm(A @ C @ A - A) / np.linalg.norm(A)


@every_matrix
def test_theorem_1_and_equation_4_values_come_in_pairs_and_null_axes_take_no_part(make, rng):
    A = make(rng)
    factors = triplets(A)
    zeros = np.zeros(sum(A.shape) - 2 * len(factors.s))
    values = scipy.linalg.eigvalsh(np.block([[np.zeros((len(A), len(A))), A], [A.T, np.zeros((A.shape[1],) * 2)]]))
    assert np.abs(values - np.sort(np.r_[factors.s, -factors.s, zeros])).max() <= TIGHT * factors.s[0]
    assert np.linalg.norm(factors.matrix() - A) <= TIGHT * factors.s[0]


@every_matrix
def test_theorem_2_the_multipliers_solve_the_shifted_eigenvalue_problem(make, rng):
    A = make(rng)
    _, _, factors = multipliers(A)
    assert np.linalg.norm(A @ factors.V - factors.U * factors.s) <= TIGHT * factors.s[0]
    assert np.linalg.norm(A.T @ factors.U - factors.V * factors.s) <= TIGHT * factors.s[0]
    np.testing.assert_allclose(factors.U.T @ factors.U, np.eye(len(factors.s)), atol=TIGHT)
    np.testing.assert_allclose(factors.V.T @ factors.V, np.eye(len(factors.s)), atol=TIGHT)
    assert factors.s.min() > 0


@pytest.mark.parametrize("sign", [1.0, -1.0], ids=["corollary_1", "corollary_2"])
@every_matrix
def test_the_objective_vanishes_and_is_stationary_at_the_solution(make, sign, rng):
    phi, psi, factors = multipliers(make(rng))
    for u, s, right in zip(factors.U.T, factors.s, factors.V.T, strict=True):
        w, v = psi.T @ right, phi.T @ u
        size = abs(w @ v)
        assert abs(sign * objective(phi, psi, w, v, 1 / s)) <= TIGHT * size
        dw, dv = rng.standard_normal((2, len(w))) * np.linalg.norm(w)
        ahead, behind = (sign * objective(phi, psi, w + h * dw, v + h * dv, 1 / s) for h in (1, -1))
        assert abs(ahead - behind) <= TIGHT * max(abs(ahead), abs(behind))  # a quadratic without a linear term


@every_matrix
def test_remark_3_no_other_gamma_has_these_stationary_points(make, rng):
    phi, psi, factors = multipliers(make(rng))
    w, v, s = psi.T @ factors.V[:, 0], phi.T @ factors.U[:, 0], factors.s[0]
    for gamma in (0.9 / s, 1.1 / s):
        assert objective(phi, psi, w, v, gamma) == pytest.approx((gamma * s - 1) * (w @ v), rel=1e-9)
        assert np.linalg.norm(gamma * phi.T @ (phi @ w) - v) == pytest.approx(0.1 * np.linalg.norm(v), rel=1e-9)


@pytest.mark.parametrize("weighted", [False, True])
@every_matrix
def test_diagnostics_are_what_dense_algebra_gives_for_any_vectors(make, weighted, rng):
    K = make(rng)
    U, V, s = rng.standard_normal((len(K), 2)), rng.standard_normal((K.shape[1], 2)), np.array([3.0, 2.0])
    a, c = (rng.random(count) if weighted else np.ones(count) for count in K.shape)
    found = diagnose(Stored(K), Factors(U, s, V), Weights(a, c) if weighted else None)
    D, E = np.diag(a), np.diag(c)
    for i in range(2):
        u, v = U[:, i], V[:, i]
        e, r = K @ E @ v, K.T @ D @ u
        left, right = e - s[i] * u, r - s[i] * v
        J = -u @ D @ K @ E @ v + (e @ D @ e + r @ E @ r) / (2 * s[i])
        assert found.objective[i] == pytest.approx(J / 3, rel=TIGHT)
        assert found.left[i] == pytest.approx(np.sqrt(left @ D @ left) / 3, rel=TIGHT)
        assert found.right[i] == pytest.approx(np.sqrt(right @ E @ right) / 3, rel=TIGHT)
        x, y = K @ E @ right, K.T @ D @ left
        assert found.coupled_left[i] == pytest.approx(np.sqrt(x @ D @ x) / 9, rel=TIGHT)
        assert found.coupled_right[i] == pytest.approx(np.sqrt(y @ E @ y) / 9, rel=TIGHT)
    assert found.worst == max(np.abs(values).max() for values in astuple(found)[1:])


@every_matrix
def test_remark_4_the_covariances_of_explicit_maps_exchange_the_directions(make, rng):
    A = make(rng)
    factors = triplets(A)
    C1, C2 = split_condition(A)
    for left, right in ((A @ np.linalg.pinv(A), A.T), (A @ C1, (C2 @ A).T)):
        for residual in coupled_covariance_residuals(left, right, factors):
            assert residual.max() <= TIGHT


@pytest.mark.parametrize("m", [9, 40])
@every_matrix
def test_propositions_2_2_2_4_and_2_5_of_the_2024_paper(make, m, rng):
    phi = make(rng)
    psi, n = rng.standard_normal((m, phi.shape[1])), len(phi)
    G = phi @ psi.T / np.sqrt(n * m)
    B_phi, B_psi = rng.standard_normal((n, 3)), rng.standard_normal((m, 3))
    project_psi, project_phi = psi / np.sqrt(m), phi / np.sqrt(n)
    crossed = project_psi @ (project_phi.T @ B_phi), project_phi @ (project_psi.T @ B_psi)
    for found, expected in zip(crossed, (G.T @ B_phi, G @ B_psi), strict=True):
        assert np.linalg.norm(found - expected) <= TIGHT * np.linalg.norm(expected)
    factors = triplets(G)
    found = diagnose(Stored(G), factors)
    assert max(found.coupled_left.max(), found.coupled_right.max()) <= TIGHT
    for residual in coupled_covariance_residuals(project_phi, project_psi, factors):
        assert residual.max() <= TIGHT
    other = Factors(factors.U + 0.1 * rng.standard_normal(factors.U.shape), factors.s, factors.V)  # only if
    assert diagnose(Stored(G), other).coupled_left.min() > 1e-6
    assert coupled_covariance_residuals(project_phi, project_psi, other)[0].min() > 1e-6


@pytest.mark.parametrize("m", [9, 40])
@every_matrix
def test_two_kernel_pcas_of_the_coupled_maps_give_the_same_vectors(make, m, rng):
    phi = make(rng)
    psi = rng.standard_normal((m, phi.shape[1]))
    factors = triplets(phi @ psi.T)
    for one, other, vectors in ((phi, psi, factors.U), (psi, phi, factors.V)):
        maps = one @ np.real(scipy.linalg.sqrtm(other.T @ other))
        squares, E = np.linalg.eigh(maps @ maps.T)
        squares, E = squares[::-1][: len(factors.s)], E[:, ::-1][:, : len(factors.s)]
        assert np.abs(squares - factors.s**2).max() <= TIGHT * squares[0]
        np.testing.assert_allclose(np.abs(np.sum(E * vectors, axis=0)), 1, rtol=TIGHT)


@every_matrix
def test_linear_kernel_and_pseudo_inverse_are_scipys_svd(make, rng):
    A = make(rng)
    k = int(np.linalg.matrix_rank(A))
    model = KernelSVD(k, kernel="linear", compatibility="pinv").fit(A)
    U, s, Vt = scipy.linalg.svd(A, full_matrices=False)
    assert np.abs(model.singular_values_ - s[:k]).max() <= TIGHT * s[0]
    assert np.linalg.norm(model.reconstruct() - (U[:, :k] * s[:k]) @ Vt[:k]) <= TIGHT * s[0]


@pytest.mark.parametrize("kernel", [LinearPolynomial(0.5, 2), Exponential(-1.0), Polynomial(3)], ids=repr)
@every_matrix
def test_equation_20_kernels_of_the_inner_product_act_on_the_entries(make, kernel, rng):
    A = make(rng) / 10
    expected = {
        LinearPolynomial: lambda u: u - 0.5 * u**2,
        Exponential: lambda u: np.exp(-u),
        Polynomial: lambda u: (u + 1) ** 3,
    }[type(kernel)](A)
    for maps in ("pinv", split_condition(A), split_condition(A, max(A.shape) + 3)):
        model = KernelSVD(min(A.shape), kernel=kernel, compatibility=maps).fit(A)
        np.testing.assert_allclose(model.reconstruct(), expected, atol=TIGHT * np.abs(expected).max())
        assert model.diagnostics().worst <= TIGHT


@every_matrix
def test_equation_3_singular_vectors_are_extrema_of_the_bilinear_form(make, rng):
    """Along every tangent of the unit spheres, u^T A v has no slope at a singular pair; at others it has."""
    A = make(rng)
    factors = triplets(A)

    def slopes(u, v):
        return np.r_[A @ v - u * (u @ A @ v), A.T @ u - v * (u @ A @ v)]

    for u, v in zip(factors.U.T, factors.V.T, strict=True):
        assert np.abs(slopes(u, v)).max() <= TIGHT * factors.s[0]
    other = rng.standard_normal(len(A))
    assert np.abs(slopes(other / np.linalg.norm(other), factors.V[:, 0])).max() > 1e-3


@every_matrix
def test_equations_7_8_11_13_and_16_the_lagrangian_is_stationary_in_every_variable(make, rng):
    """Primal variables from the multipliers alpha = u and beta = v, at gamma = 1 / s, with the maps of (7)."""
    A = make(rng)
    phi, psi, factors = multipliers(A)
    for alpha, s, beta in zip(factors.U.T, factors.s, factors.V.T, strict=True):
        w, v = psi.T @ beta, phi.T @ alpha
        point = {"w": w, "v": v, "e": s * alpha, "r": s * beta, "alpha": alpha, "beta": beta}
        for primal, dual in ((phi @ w, phi @ psi.T @ beta), (psi @ v, psi @ phi.T @ alpha)):  # (16)
            np.testing.assert_allclose(primal, dual, atol=TIGHT * s)
        np.testing.assert_allclose(phi @ psi.T @ beta, alpha * s, atol=TIGHT * factors.s[0])  # (13)

        def lagrangian(w, v, e, r, alpha, beta, gamma=1 / s):
            constraints = alpha @ (e - phi @ w) + beta @ (r - psi @ v)
            return -w @ v + gamma / 2 * (e @ e + r @ r) - constraints  # (8) and (11)

        for name, value in point.items():
            change = rng.standard_normal(value.shape) * np.linalg.norm(value)
            ahead, behind = (lagrangian(**point | {name: value + t * change}) for t in (1, -1))
            assert abs(ahead - behind) <= TIGHT * max(abs(ahead), abs(behind), s), name


@every_matrix
def test_equation_19_compatible_maps_of_the_kernel_matrix_reproduce_it(make, rng):
    A = make(rng) / 10
    B = np.exp(A)
    C1, C2 = split_condition(B)
    np.testing.assert_allclose((B @ C1) @ (C2 @ B), B, atol=TIGHT)
    model = KernelSVD(min(A.shape), kernel=Exponential(1.0), compatibility="pinv").fit(A)
    np.testing.assert_allclose(model.reconstruct(), B, atol=TIGHT)


def symmetrised(A):
    """A + A^T."""
    return A + A.T


SYMMETRIC = {
    "full_rank": lambda rng: symmetrised(rng.standard_normal((12, 12))),
    "rank_deficient": lambda rng: symmetrised(rng.standard_normal((12, 3)) @ rng.standard_normal((3, 12))),
}
every_symmetric_matrix = pytest.mark.parametrize("make", SYMMETRIC.values(), ids=SYMMETRIC)


@pytest.mark.parametrize("kernel", [RBF(3.0), Tanh(0.1, -1.0), LinearPolynomial(0.01, 3)], ids=repr)
@every_symmetric_matrix
def test_corollary_4_a_symmetric_matrix_has_one_feature_map(make, kernel, rng):
    A = make(rng)
    model = KernelSVD(4, kernel=kernel).fit(A)
    np.testing.assert_array_equal(model.X_fit_, model.Z_fit_)
    values, E = np.linalg.eigh(kernel(A, A))
    order = np.argsort(-np.abs(values))[:4]
    assert np.abs(model.singular_values_ - np.abs(values[order])).max() <= TIGHT * model.singular_values_[0]
    np.testing.assert_allclose(np.abs(np.sum(E[:, order] * model.left_vectors_, axis=0)), 1, rtol=TIGHT)
    turns = np.sum(model.left_vectors_ * model.right_vectors_, axis=0)
    np.testing.assert_allclose(turns, np.sign(values[order]), rtol=TIGHT)


@every_symmetric_matrix
def test_corollary_5_a_mercer_kernel_gives_kernel_pca(make, rng):
    A = make(rng)
    for kernel, params in ((RBF(3.0), {"kernel": "rbf", "gamma": 1 / 9}), (Linear(), {})):
        model, pca = KernelSVD(4, kernel=kernel, center=True).fit(A), KernelPCA(4, **params).fit(A)
        assert np.abs(model.singular_values_ - pca.eigenvalues_).max() <= TIGHT * pca.eigenvalues_[0]
        np.testing.assert_allclose(np.abs(np.sum(model.left_vectors_ * pca.eigenvectors_, axis=0)), 1, rtol=TIGHT)
        np.testing.assert_allclose(model.left_vectors_, model.right_vectors_, atol=TIGHT)


@every_matrix
def test_corollary_3_the_kronecker_system_and_the_pseudo_inverse_solve_the_condition(make, rng):
    A = make(rng)[:12, :10]
    n, m = A.shape
    tiny = n * m * np.finfo(float).eps
    kronecker = np.linalg.lstsq(np.kron(A.T, A), A.ravel(order="F"), rcond=tiny)[0].reshape((m, n), order="F")
    maps = make_compatible("pinv", A, A.T, rng)
    C = maps.left(np.eye(m)) @ maps.right(np.eye(n)).T
    assert max(condition_residual(A, kronecker), condition_residual(A, C)) <= TIGHT
    np.testing.assert_allclose(C, kronecker, atol=TIGHT * np.abs(C).max())


@every_matrix
@pytest.mark.parametrize("extra", [0, 5])
def test_remark_1_two_matrices_of_any_sufficient_width(make, extra, rng):
    A = make(rng)
    C1, C2 = split_condition(A, max(A.shape) + extra)
    assert C1.shape == (A.shape[1], max(A.shape) + extra)
    assert C2.shape == (max(A.shape) + extra, A.shape[0])
    assert condition_residual(A, C1 @ C2) <= TIGHT


def test_a_split_that_is_too_narrow_is_refused(rng):
    with pytest.raises(ValueError, match=r"width=80 must lie between max\(n, m\)=90 and n \+ m=170"):
        split_condition(rng.standard_normal((90, 80)), 80)
    with pytest.raises(ValueError, match="NaN"):
        split_condition(np.full((2, 2), np.nan))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kernel", ["linear", "rbf", "sne", "student_t", "tanh", "precomputed"])
def test_a_fit_meets_its_equations(kernel, center, rng):
    A = rng.standard_normal((25, 18))
    model = KernelSVD(6, kernel=kernel, center=center).fit(A)
    found = model.diagnostics(A)
    assert found.worst <= TIGHT
    if kernel != "precomputed":
        np.testing.assert_array_equal(model.diagnostics().objective, found.objective)
    assert len(str(found).splitlines()) == 7


def test_diagnostics_see_what_is_wrong(rng):
    A = rng.standard_normal((25, 18))
    model = KernelSVD(3, kernel="rbf", compatibility="pca").fit(A)
    model.right_vectors_[:, 1] *= 1.1
    found = model.diagnostics()
    assert found.left[1] == pytest.approx(0.1 * found.singular_values[1] / found.singular_values[0])
    assert found.left[[0, 2]].max() <= TIGHT
    assert found.coupled_right[1] > 1e-3 * found.left[1]


def test_errors_are_the_points_along_the_directions(rng):
    A, Z = rng.standard_normal((25, 4)), rng.standard_normal((18, 4))
    model = KernelSVD(3, kernel=RBF(2.0)).fit(A, Z=Z)
    K = RBF(2.0)(A, Z)
    np.testing.assert_allclose(model.errors_left_, K @ model.right_vectors_, atol=1e-12)
    np.testing.assert_allclose(model.errors_right_, K.T @ model.left_vectors_, atol=1e-12)


def test_landmarks_are_held_against_the_kernel_matrix(rng):
    X = rng.standard_normal((200, 2))
    model = KernelSVD(5, kernel=RBF(1.0), solver=Nystrom(60), random_state=0).fit(X, Z=X)
    with pytest.raises(ValueError, match="does not keep the data"):
        model.diagnostics()
    rough = model.diagnostics(X, Z=X)
    assert 1e-6 < rough.worst < 0.5


@pytest.mark.parametrize(
    ("data", "message"),
    [
        ({"X": 30, "Z": 10}, r"shapes \(30, 3\) and \(20, 3\), not \(30, 3\) and \(10, 3\)"),
        ({"X": 20, "Z": 20}, r"not \(20, 3\) and \(20, 3\)"),
        ({"X": 30}, r"not \(30, 3\) and \(3, 30\); pass X and Z as in fit"),
        ({"Z": 20}, "leaves out X; pass both as in fit, or neither"),
    ],
)
def test_diagnostics_take_the_data_of_fit(data, message, rng):
    points = rng.standard_normal((30, 3))
    model = KernelSVD(2).fit(points, Z=points[:20])
    assert model.diagnostics(points, Z=points[:20]).worst <= TIGHT
    with pytest.raises(ValueError, match=message):
        model.diagnostics(**{name: points[:count] for name, count in data.items()})
    with pytest.raises(ValueError, match=r"not \(30, 3\) and \(20, 2\)"):
        model.diagnostics(points, Z=points[:20, :2])


WEIGHTED_KERNELS = ["linear", "rbf", "laplacian", "exponential"]


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kernel", WEIGHTED_KERNELS)
@pytest.mark.parametrize("solver", ["lapack", "krylov"])
def test_a_weight_of_two_is_a_point_that_is_there_twice(kernel, center, solver, rng):
    X, Z = rng.standard_normal((60, 6)), rng.standard_normal((50, 6))
    a, c = rng.integers(0, 4, 60), rng.integers(0, 3, 50)
    K = KernelSVD(4, kernel=kernel).fit(X, Z=Z).kernel_
    weighted = KernelSVD(4, kernel="precomputed", center=center, solver=solver).fit(
        K(X, Z), left_weights=a, right_weights=c
    )
    XX, ZZ = np.repeat(X, a, axis=0), np.repeat(Z, c, axis=0)
    repeated = KernelSVD(4, kernel="precomputed", center=center).fit(K(XX, ZZ))
    np.testing.assert_allclose(weighted.singular_values_, repeated.singular_values_, rtol=TIGHT)
    for ours, theirs, counts in (
        (weighted.left_vectors_, repeated.left_vectors_, a),
        (weighted.right_vectors_, repeated.right_vectors_, c),
    ):
        turn = np.sign(np.sum(np.repeat(ours, counts, axis=0) * theirs, axis=0))
        np.testing.assert_allclose(np.repeat(ours, counts, axis=0) * turn, theirs, atol=TIGHT)
    assert weighted.diagnostics(K(X, Z)).worst <= TIGHT


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kernel", ["rbf", "sne"])
def test_weighted_maps_reproduce_the_training_points(kernel, center, rng):
    X, Z = rng.standard_normal((30, 3)), rng.standard_normal((20, 3))
    a, c = rng.random(30), rng.random(20)
    a[:2] = c[:2] = 0
    model = KernelSVD(4, kernel=kernel, center=center).fit(X, Z=Z, left_weights=a, right_weights=c)
    np.testing.assert_allclose(model.transform(X), model.errors_left_, atol=1e-10)
    np.testing.assert_allclose(model.transform_right(Z), model.errors_right_, atol=1e-10)
    U, V = model.left_vectors_, model.right_vectors_
    np.testing.assert_allclose(U.T @ (a[:, None] * U), np.eye(4), atol=1e-10)
    np.testing.assert_allclose(V.T @ (c[:, None] * V), np.eye(4), atol=1e-10)
    full = KernelSVD(20, kernel=kernel, center=center).fit(X, Z=Z, left_weights=a + 0.1, right_weights=c + 0.1)
    np.testing.assert_allclose(full.reconstruct(), full.kernel_(X, Z), atol=TIGHT)


def test_equal_weights_change_nothing_but_the_scale(rng):
    X, Z = rng.standard_normal((30, 3)), rng.standard_normal((20, 3))
    plain = KernelSVD(3).fit(X, Z=Z)
    ones = KernelSVD(3).fit(X, Z=Z, left_weights=np.ones(30))
    threes = KernelSVD(3).fit(X, Z=Z, left_weights=np.full(30, 3.0))
    np.testing.assert_allclose(ones.left_vectors_, plain.left_vectors_, atol=1e-10)
    np.testing.assert_allclose(threes.singular_values_, np.sqrt(3) * plain.singular_values_, rtol=1e-12)


def test_null_maps_leave_nothing():
    null = np.zeros((4, 3))
    for residual in coupled_covariance_residuals(null, null, lapack(Stored(null @ null.T), 2)):
        np.testing.assert_array_equal(residual, 0)


def test_weighted_explicit_maps_meet_the_weighted_covariances(rng):
    X, Z = rng.standard_normal((30, 5)), rng.standard_normal((20, 5))
    weights = Weights(rng.random(30), rng.random(20))
    model = KernelSVD(3, kernel="linear").fit(X, Z=Z, left_weights=weights.left, right_weights=weights.right)
    factors = Factors(model.left_vectors_, model.singular_values_, model.right_vectors_)
    for residual in coupled_covariance_residuals(X, Z, factors, weights):
        assert residual.max() <= TIGHT


@pytest.mark.parametrize(
    ("weights", "message"),
    [
        (np.ones(7), r"shape \(7,\), but there are 30 left points"),
        (np.r_[-1.0, np.ones(29)], r"holds -1.0; weights are finite and not negative"),
        (np.r_[np.nan, np.ones(29)], "holds nan"),
        (np.zeros(30), "all 30 left_weights are zero"),
        (np.ones(30, dtype=complex), "[Cc]omplex"),
        (np.full(30, 1e-80), "is 1e-80; float32 needs one between .*: divide the weights by it"),
        (np.full(30, 1e80), r"is 1e\+80; float32 needs"),
        (np.eye(30)[0], r"n_components=2 exceeds min\(n_rows, n_columns\)=1, counting those of nonzero weight"),
    ],
)
def test_bad_weights_are_refused(weights, message, rng):
    X = rng.standard_normal((30, 3), dtype=np.float32)
    with pytest.raises(ValueError, match=message):
        KernelSVD(2).fit(X, Z=X, left_weights=weights)


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("light", [1e-4, 1e-9, 1e-20, 1e-300, 0.0])
def test_points_of_hardly_any_weight_are_embedded_like_new_ones(light, dtype, rng):
    X, Z = rng.standard_normal((30, 3)).astype(dtype), rng.standard_normal((20, 3)).astype(dtype)
    a, c = (np.r_[light, 0.1 + rng.random(count - 1)] for count in (30, 20))
    model = KernelSVD(3).fit(X, Z=Z, left_weights=a, right_weights=c)
    tight = {"rtol": 0, "atol": TIGHT if dtype is np.float64 else 1e-4}
    np.testing.assert_allclose(model.left_vectors_, model.transform(X) / model.singular_values_, **tight)
    np.testing.assert_allclose(model.right_vectors_, model.transform_right(Z) / model.singular_values_, **tight)


def test_landmarks_take_no_weights(rng):
    X = rng.standard_normal((30, 3))
    with pytest.raises(ValueError, match="does not support weights"):
        KernelSVD(2, solver=Nystrom(10)).fit(X, Z=X, right_weights=np.ones(30))


@pytest.mark.parametrize("size", [1e-150, 1.0, 1e100])
def test_residuals_of_a_matrix_that_centring_makes_zero_are_finite(size):
    X, Z = np.array([[size], [0.0]]), np.full((21, 1), size)
    model = KernelSVD(1, kernel="linear", center=True, compatibility="identity").fit(X, Z=Z)
    assert model.singular_values_[0] == 0 and np.isfinite(model.diagnostics(X, Z=Z).worst)
