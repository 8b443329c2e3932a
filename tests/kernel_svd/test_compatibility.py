"""Compatibilities: linear maps that bring rows and columns of a matrix to one width."""

import tracemalloc

import numpy as np
import pytest
from scipy import sparse

from cases import as_dense, assert_close
from lopsided import KernelSVD
from lopsided.kernel_svd import PseudoInverse, make_compatible
from lopsided.kernel_svd.compatibility.maps import given
from lopsided.kernels import RBF

KINDS = pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.csr_matrix])
MATRICES = {
    "tall": lambda rng: rng.standard_normal((40, 15)),
    "wide": lambda rng: rng.standard_normal((15, 40)),
    "square": lambda rng: rng.standard_normal((20, 20)),
    "rank_deficient": lambda rng: rng.standard_normal((40, 4)) @ rng.standard_normal((4, 15)),
    "wide_rank_deficient": lambda rng: rng.standard_normal((12, 4)) @ rng.standard_normal((4, 30)),
    "sparse_tall": lambda rng: rng.standard_normal((40, 15)) * (rng.random((40, 15)) < 0.3),
}
every_matrix = pytest.mark.parametrize("make", MATRICES.values(), ids=MATRICES)


def map_of(found, p, q):
    """The compatibility's matrices (p, width) and (q, width), by their action on the identity."""
    return as_dense(found.left(np.eye(p))), as_dense(found.right(np.eye(q)))


@KINDS
@every_matrix
def test_linear_kernel_with_pseudo_inverse_is_the_svd_of_the_matrix(make, kind, rng):
    A = make(rng)
    k = 4
    model = KernelSVD(k, kernel="linear", compatibility="pinv").fit(kind(A))
    U, s, Vt = np.linalg.svd(A)
    np.testing.assert_allclose(model.singular_values_, s[:k], rtol=1e-10)
    approximation = (U[:, :k] * s[:k]) @ Vt[:k]
    assert np.linalg.norm(model.reconstruct() - approximation) <= 1e-10 * s[0]
    assert np.linalg.norm(model.transform(kind(A)) - A @ model.right_vectors_) <= 1e-10 * s[0]
    assert np.linalg.norm(model.transform_right(kind(A.T)) - A.T @ model.left_vectors_) <= 1e-10 * s[0]


@KINDS
@every_matrix
def test_the_pseudo_inverse_fulfils_the_compatibility_condition(make, kind, rng):
    A = make(rng)
    left, right = map_of(make_compatible("pinv", kind(A), kind(A.T), rng), *A.shape[::-1])
    assert np.linalg.norm(A @ left @ right.T @ A - A) <= 1e-10 * np.linalg.norm(A)
    expected = np.linalg.pinv(A)
    assert np.linalg.norm(left @ right.T - expected) <= 1e-9 * np.linalg.norm(expected)


@KINDS
@every_matrix
def test_pca_projects_the_wider_side_on_its_leading_directions(make, kind, rng):
    A = make(rng)
    n, m = A.shape
    left, right = map_of(make_compatible("pca", kind(A), kind(A.T), rng), m, n)
    wide, C = (A, left) if m > n else (A.T, right)
    assert left.shape[1] == right.shape[1] == min(n, m)
    rank = np.linalg.matrix_rank(A)
    np.testing.assert_allclose(C.T @ C, np.diag(np.arange(min(n, m)) < rank), atol=1e-9)
    assert np.linalg.norm(wide @ C @ C.T - wide) <= 1e-9 * np.linalg.norm(wide)


@KINDS
def test_pca_is_the_best_projection_of_its_rank(kind, rng):
    X, Z = rng.standard_normal((30, 12)) * 0.7 ** np.arange(12), rng.standard_normal((9, 5))
    C = map_of(make_compatible("pca", kind(X), kind(Z), rng), 12, 5)[0]
    assert C.shape == (12, 5)
    _, s, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(np.linalg.norm(X - X @ C @ C.T), np.linalg.norm(s[5:]), rtol=1e-8)
    np.testing.assert_allclose(C @ C.T, Vt[:5].T @ Vt[:5], atol=1e-8)


@KINDS
def test_a_random_projection_follows_its_seed(kind, rng):
    A = kind(rng.standard_normal((30, 12)))

    def fitted(seed):
        return KernelSVD(2, kernel="rbf", compatibility="random", random_state=seed).fit(A)

    same, again, other = fitted(3), fitted(3), fitted(4)
    assert np.array_equal(same.left_vectors_, again.left_vectors_)
    assert not np.allclose(same.singular_values_, other.singular_values_)


def test_a_random_projection_preserves_lengths_on_average(rng):
    X = rng.standard_normal((200, 400))
    Z = rng.standard_normal((10, 100))
    mapped = make_compatible("random", X, Z, rng).left(X)
    assert mapped.shape == (200, 100)
    ratio = (mapped**2).sum() / (X**2).sum()
    assert abs(ratio - 1) < 6 * np.sqrt(2 / 100 / 200) + 6 * np.sqrt(2 / 400 / 100)


@pytest.mark.parametrize("side", ["left", "right"])
@KINDS
def test_a_matrix_of_the_user_maps_either_side(side, kind, rng):
    X, Z = rng.standard_normal((14, 6)), rng.standard_normal((11, 4))
    C = rng.standard_normal((6, 4) if side == "left" else (4, 6))
    model = KernelSVD(3, kernel="linear", compatibility=kind(C)).fit(X, Z=Z)
    K = X @ C @ Z.T if side == "left" else X @ (Z @ C).T
    assert_close(model.singular_values_, np.linalg.svd(K, compute_uv=False)[:3])
    assert_close(model.transform(X), K @ model.right_vectors_)
    assert_close(model.transform_right(Z), K.T @ model.left_vectors_)


def test_shapes_that_cannot_meet_are_refused_with_a_way_out(rng):
    with pytest.raises(ValueError, match=r"shape \(3, 3\).*must be \(6, 4\).*or \(4, 6\)"):
        given(np.eye(3), 6, 4)
    X, Z = rng.standard_normal((14, 6)), rng.standard_normal((11, 4))
    with pytest.raises(ValueError, match=r"6 entries and right vectors 4.*'pca'.*\(6, 4\) matrix"):
        make_compatible("identity", X, Z, rng)
    with pytest.raises(ValueError, match="rows and columns of one matrix.*'pca', 'random'"):
        make_compatible("pinv", X, Z, rng)
    with pytest.raises(ValueError, match="name='pac' must be 'identity' or one of 'pca'"):
        make_compatible("pac", X, Z, rng)


@pytest.mark.parametrize("name", ["pca", "random", "pinv"])
@KINDS
def test_no_map_is_as_large_as_the_square_of_the_longer_side(name, kind, rng):
    A = kind(rng.standard_normal((20_000, 50)) * (rng.random((20_000, 50)) < 0.1))
    columns = kind(A.T)
    tracemalloc.start()
    try:
        found = make_compatible(name, A, columns, rng)
        assert found.right(columns).shape == (50, 50)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < 20_000 * 20_000


@pytest.mark.parametrize("name", ["pca", "random", "pinv"])
@KINDS
def test_single_precision_is_kept(name, kind, rng):
    A = kind(rng.standard_normal((30, 12)).astype(np.float32))
    found = make_compatible(name, A, kind(A.T), rng)
    assert found.right(kind(A.T)).dtype == np.float32


@pytest.mark.parametrize("of_data", [np.asarray, sparse.csr_array], ids=["dense_data", "sparse_data"])
@pytest.mark.parametrize(
    "of_maps", [np.asarray, sparse.csr_array, sparse.csc_matrix, list], ids=lambda kind: kind.__name__
)
def test_two_matrices_map_both_sides(of_data, of_maps, rng):
    X, Z = rng.standard_normal((20, 5)), rng.standard_normal((15, 4))
    C1, C2 = rng.standard_normal((5, 6)), rng.standard_normal((6, 4))
    model = KernelSVD(3, kernel=RBF(2.0), compatibility=(of_maps(C1), of_maps(C2))).fit(of_data(X), Z=of_data(Z))
    K = RBF(2.0)(X @ C1, Z @ C2.T)
    np.testing.assert_allclose(model.singular_values_, np.linalg.svd(K)[1][:3], rtol=1e-12)
    np.testing.assert_allclose(model.transform(of_data(X)), K @ model.right_vectors_, atol=1e-12)
    np.testing.assert_allclose(model.transform_right(of_data(Z)), K.T @ model.left_vectors_, atol=1e-12)


@pytest.mark.parametrize(
    ("maps", "message"),
    [
        ((np.eye(5), np.eye(4)), r"\(5, 5\) and \(4, 4\); .* must be \(5, width\) and \(width, 4\)"),
        ((np.ones((5, 6)), np.ones((4, 6))), r"must be \(5, width\) and \(width, 4\)"),
        ((np.ones((5, 4)),), "tuple of 1; give one matrix as an array, or a tuple of two"),
        ((np.full((5, 4), np.nan), np.eye(4)), "compatibility contains NaN"),
    ],
)
def test_two_matrices_that_do_not_fit_are_refused(maps, message, rng):
    with pytest.raises(ValueError, match=message):
        KernelSVD(3, compatibility=maps).fit(rng.standard_normal((20, 5)), Z=rng.standard_normal((15, 4)))


@pytest.mark.parametrize("maps", ["pca", np.eye(5), (np.eye(5), np.eye(5))], ids=["name", "matrix", "two"])
def test_a_precomputed_kernel_takes_no_compatibility(maps, rng):
    with pytest.raises(ValueError, match="leave compatibility out"):
        KernelSVD(2, kernel="precomputed", compatibility=maps).fit(rng.standard_normal((5, 5)))


@KINDS
@every_matrix
def test_the_pseudo_inverse_reports_its_condition(make, kind, rng):
    A = make(rng)
    found = KernelSVD(2, kernel="linear", compatibility="pinv").fit(kind(A)).compatibility_
    left, right = map_of(found, *A.shape[::-1])
    measured = np.linalg.norm(A @ left @ right.T @ A - A) / np.linalg.norm(A)
    assert isinstance(found, PseudoInverse)
    assert found.residual <= 1e-10
    assert measured <= 1e-10


def test_what_a_sparse_pseudo_inverse_drops_is_in_its_residual(rng):
    U, V = (np.linalg.qr(rng.standard_normal((n, 5)))[0] for n in (12, 30))
    A = (U * [1, 1, 1, 1, 1e-10]) @ V.T
    found = make_compatible("pinv", sparse.csr_array(A), sparse.csr_array(A.T), rng)
    assert found.residual == pytest.approx(1e-10 / 2, rel=0.1)


@KINDS
@pytest.mark.parametrize(("scale", "dtype"), [(1e-200, float), (1e200, float), (1e-25, np.float32), (1e25, np.float32)])
@pytest.mark.parametrize("shape", [(12, 30), (30, 12)])
def test_the_pseudo_inverse_takes_matrices_of_any_scale(shape, scale, dtype, kind, rng):
    A = rng.standard_normal(shape).astype(dtype)
    model = KernelSVD(3, kernel="linear", compatibility="pinv").fit(kind(A * dtype(scale)))
    expected = np.linalg.svd(A, compute_uv=False)[:3]
    np.testing.assert_allclose(model.singular_values_ / scale, expected, rtol=np.finfo(dtype).eps ** 0.5)
    assert model.compatibility_.residual < np.finfo(dtype).eps ** 0.5


@pytest.mark.parametrize("shape", [(40, 25), (25, 40)])
def test_dense_and_sparse_forms_of_a_matrix_give_the_same_values(shape):
    A = np.random.default_rng(7).standard_normal(shape)
    dense, stored = (KernelSVD(3).fit(form(A)) for form in (np.asarray, sparse.csr_array))
    np.testing.assert_allclose(stored.singular_values_, dense.singular_values_, rtol=1e-9)
