"""Compatibilities: linear maps that bring rows and columns of a matrix to one width."""

import pickle
import tracemalloc
from contextlib import contextmanager
from dataclasses import replace
from unittest import mock

import numpy as np
import pytest
from scipy import sparse
from scipy.linalg import sqrtm

from cases import as_dense, assert_close
from lopsided import KernelSVD, Nystrom
from lopsided.exceptions import AccuracyWarning
from lopsided.kernel_svd import PCAProjection, PseudoInverse, make_compatible
from lopsided.kernel_svd.compatibility import build, maps as maps_module
from lopsided.kernel_svd.compatibility.build import compatibility_from_matrix
from lopsided.kernels import RBF, SNE, Linear, Polynomial

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
def test_pca_is_the_polar_factor_of_the_matrix(make, kind, rng):
    A = make(rng)
    n, m = A.shape
    left, right = map_of(make_compatible("pca", kind(A), kind(A.T), rng), m, n)
    wide, C = (A, left) if m > n else (A.T, right)
    assert left.shape[1] == right.shape[1] == min(n, m)
    assert np.linalg.norm(wide @ C @ C.T - wide) <= 1e-9 * np.linalg.norm(wide)  # the 2024 paper's objective
    root = sqrtm(wide @ wide.T).real
    assert np.linalg.norm(wide @ C - root) <= 1e-6 * np.linalg.norm(root)
    assert np.linalg.norm(C.T @ C @ C.T - C.T) <= 1e-9  # a partial isometry


@KINDS
@every_matrix
def test_linear_kernel_with_aligned_pca_has_the_singular_vectors_of_the_matrix(make, kind, rng):
    A, k = make(rng), 3
    model = KernelSVD(k, kernel="linear", compatibility="pca").fit(kind(A))
    U, s, Vt = np.linalg.svd(A)
    np.testing.assert_allclose(model.singular_values_, s[:k] ** 2, rtol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(model.left_vectors_ * U[:, :k], axis=0)), 1, atol=1e-9)
    np.testing.assert_allclose(np.abs(np.sum(model.right_vectors_ * Vt[:k].T, axis=0)), 1, atol=1e-9)
    np.testing.assert_allclose(
        model.transform(kind(A)),
        A @ Vt[:k].T * s[:k] * np.sign(np.sum(model.right_vectors_ * Vt[:k].T, axis=0)),
        atol=1e-8 * s[0] ** 2,
    )


@KINDS
def test_pca_of_two_sets_follows_a_rotation_of_both(kind, rng):
    X, Z = (rng.gamma(1.0, size=(n, 6)) * 0.6 ** np.arange(6) for n in (40, 30))
    Q = np.linalg.qr(rng.standard_normal((6, 6)))[0]
    before, after = (
        KernelSVD(4, kernel=RBF(1.0), compatibility="pca").fit(kind(X @ R), Z=kind(Z @ R)) for R in (np.eye(6), Q)
    )
    np.testing.assert_allclose(after.singular_values_, before.singular_values_, rtol=1e-7)
    np.testing.assert_allclose(after.left_vectors_, before.left_vectors_, atol=1e-6)


@KINDS
def test_pca_of_two_sets_of_one_shape_matches_their_axes(kind, rng):
    Z = rng.gamma(1.0, size=(200, 4)) * 0.5 ** np.arange(4)
    Q = np.linalg.qr(rng.standard_normal((9, 9)))[0][:, :4]
    found = make_compatible("pca", kind(Z @ Q.T), kind(Z), rng)  # the same points in a wider space
    np.testing.assert_allclose(as_dense(found.left(kind(Z @ Q.T))), Z, atol=1e-6)


def test_pca_completes_the_axes_of_a_set_with_few_directions(rng):
    X, Z = rng.standard_normal((30, 8)), rng.standard_normal((2, 5))
    C = map_of(make_compatible("pca", X, Z, rng), 8, 5)[0]
    np.testing.assert_allclose(C.T @ C, np.eye(5), atol=1e-12)


@contextmanager
def peak_below(limit):
    """Fail if the block allocates more than ``limit`` bytes at once."""
    tracemalloc.start()
    try:
        yield
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert peak < limit


def truncated(A, k=4, r=12, **settings):
    with mock.patch.multiple(build, GRAM_SIDE=1, ALIGNED_DIRECTIONS=r), pytest.warns(AccuracyWarning, match="axes"):
        return KernelSVD(k, compatibility="pca", **settings).fit(A)


@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
@pytest.mark.parametrize("kernel", [RBF(3.0), SNE(3.0), Linear(), Polynomial(2, 0.5)], ids=repr)
def test_truncated_axes_of_a_matrix_of_their_rank_lose_nothing(kernel, shape, rng):
    A = rng.standard_normal((shape[0], 12)) @ rng.standard_normal((12, shape[1])) / 8
    whole, part = KernelSVD(4, kernel=kernel).fit(A), truncated(sparse.csr_array(A), kernel=kernel)
    assert part.compatibility_.energy == pytest.approx(1.0)
    np.testing.assert_allclose(part.singular_values_, whole.singular_values_, rtol=1e-5)
    new, column = (rng.standard_normal((3, len(side))) @ side / 8 for side in (A, A.T))
    for method, points in (("transform", new), ("transform_right", column)):
        found, expected = (getattr(model, method)(points) for model in (part, whole))
        np.testing.assert_allclose(np.abs(found), np.abs(expected), atol=1e-4 * whole.singular_values_[0])


@pytest.mark.parametrize("shape", [(60, 25), (25, 60)])
def test_truncated_axes_keep_lengths_and_leading_products(shape, rng):
    A = rng.standard_normal(shape)
    maps = truncated(sparse.csr_array(A), kernel="linear").compatibility_
    L, R = maps.left(A), maps.right(A.T)
    np.testing.assert_allclose(np.linalg.norm(L, axis=1), np.linalg.norm(A, axis=1), rtol=1e-6)
    np.testing.assert_allclose(np.linalg.norm(R, axis=1), np.linalg.norm(A, axis=0), rtol=1e-6)
    U, s, Vt = np.linalg.svd(A)
    np.testing.assert_allclose(L @ R.T, (U[:, :12] * s[:12] ** 2) @ Vt[:12], atol=2e-3 * s[0] ** 2)
    assert maps.energy == pytest.approx(float((s[:12] ** 2).sum() / (s**2).sum()), rel=1e-6)


def test_kernels_of_single_coordinates_are_not_truncated(rng):
    A = sparse.csr_array(rng.standard_normal((30, 12)))
    with mock.patch.multiple(build, GRAM_SIDE=1, ALIGNED_DIRECTIONS=3):
        model = KernelSVD(2, kernel="laplacian").fit(A)
    assert type(model.compatibility_) is PCAProjection


def test_a_large_sparse_matrix_is_compared_without_an_array_of_its_size():
    A = sparse.random_array((20_000, 5_000), density=1e-3, rng=0, dtype=np.float32, format="csr")
    with (
        mock.patch.object(build, "ALIGNED_DIRECTIONS", 32),
        pytest.warns(AccuracyWarning, match="32 axes"),
        peak_below(0.2 * 20_000 * 5_000 * 4),
    ):
        model = KernelSVD(2, kernel="sne", solver=Nystrom(200)).fit(A)
    assert model.transform(A[:3]).shape == (3, 2)


@KINDS
def test_pca_is_the_best_projection_of_its_rank(kind, rng):
    X, Z = rng.standard_normal((30, 12)) * 0.7 ** np.arange(12), rng.standard_normal((9, 5))
    C = map_of(make_compatible("pca", kind(X), kind(Z), rng), 12, 5)[0]
    assert C.shape == (12, 5)
    _, s, Vt = np.linalg.svd(X)
    np.testing.assert_allclose(np.linalg.norm(X - X @ C @ C.T), np.linalg.norm(s[5:]), rtol=1e-8)
    np.testing.assert_allclose(C @ C.T, Vt[:5].T @ Vt[:5], atol=1e-8)


@KINDS
@every_matrix
def test_a_random_projection_of_a_matrix_is_turned_to_the_coordinates_of_its_columns(make, kind, rng):
    A = make(rng)
    wide = A if A.shape[1] > A.shape[0] else A.T
    maps = make_compatible("random", kind(A), kind(A.T), rng)
    mapped = as_dense(maps.left(kind(A)) if wide is A else maps.right(kind(A.T)))
    plain = as_dense(maps.project(kind(wide)))
    root = sqrtm(plain @ plain.T).real
    assert np.linalg.norm(mapped - root) <= 1e-6 * np.linalg.norm(root)
    new = rng.standard_normal((3, len(wide))) @ wide
    turned, before = (maps.left if wide is A else maps.right)(kind(new)), maps.project(kind(new))
    np.testing.assert_allclose(turned @ turned.T, before @ before.T, atol=1e-8 * np.square(before).sum())


def test_alignment_makes_a_random_projection_compare_rows_with_their_columns(rng):
    A = rng.poisson(np.kron(np.eye(3) + 0.1, np.ones((30, 10)))).astype(float)  # three blocks
    aligned = make_compatible("random", A, A.T, rng)
    inner = np.kron(np.eye(3), np.ones((30, 10))).astype(bool)

    def contrast(maps):
        K = Linear()(maps.left(A), maps.right(A.T))
        return K[inner].mean() - K[~inner].mean()

    assert contrast(aligned) > 3 * abs(contrast(replace(aligned, rotation=None)))


def test_a_random_projection_of_two_sets_or_of_large_widths_is_not_turned(rng):
    X, Z = rng.standard_normal((12, 8)), rng.standard_normal((9, 5))
    assert make_compatible("random", X, Z, rng).rotation is None
    with mock.patch.object(build, "GRAM_SIDE", 7):
        assert make_compatible("random", X, X.T, rng).rotation is None


def test_a_random_projection_is_one_map_whatever_the_precision_or_blocks(rng):
    X, Z = rng.standard_normal((5, 400)), rng.standard_normal((10, 100))
    found = make_compatible("random", X, Z, rng)
    with mock.patch.object(maps_module, "BLOCK_ENTRIES", 400 * 7):
        other = make_compatible("random", X, Z, np.random.default_rng(0))
        single, double = other.left(X.astype(np.float32)), other.left(X)
        np.testing.assert_allclose(single, double, rtol=1e-3, atol=1e-3)
        np.testing.assert_allclose(other.left(X[1:3] - X[:2]), double[1:3] - double[:2], atol=1e-12)
        np.testing.assert_allclose(other.left(sparse.csr_array(X)), double, atol=1e-12)
    assert np.array_equal(found.right(Z), Z)


@pytest.fixture(scope="module")
def large():
    """A matrix of Table 7's order of size, whose dense form and random projection take 32 GB each."""
    return sparse.random_array((200_000, 20_000), density=1e-4, rng=0, format="csr")


def test_a_random_projection_of_a_large_sparse_matrix_costs_what_its_points_hold(large, rng):
    points = sparse.csr_array(large[:, :3].T)
    maps = make_compatible("random", large, sparse.csr_array(large.T), rng)
    assert len(pickle.dumps(maps)) < 1000
    with peak_below(10e6):
        mapped = maps.right(points)
    assert mapped.shape == (3, 20_000)
    lengths = np.linalg.norm(mapped, axis=1) / sparse.linalg.norm(points, axis=1)
    np.testing.assert_allclose(lengths, 1, atol=6 / np.sqrt(2 * 20_000))
    with mock.patch.object(np.random, "default_rng", wraps=np.random.default_rng) as draws:
        np.testing.assert_allclose(maps.right(points[:1] + points[1:2]), mapped[:1] + mapped[1:2], atol=1e-12)
    assert draws.call_count <= points[:2].nnz * -(-20_000 // maps_module.TILE_COLUMNS)


def test_the_leading_axes_of_a_large_sparse_matrix_take_products_with_it_alone(large, rng):
    columns, r = sparse.csr_array(large.T), 8
    held = 2 * (large.nnz * 16) + 40 * (200_000 + 20_000) * r * 8  # copies of the matrix, and blocks of r vectors
    with (
        mock.patch.object(build, "ALIGNED_DIRECTIONS", r),
        pytest.warns(AccuracyWarning, match="8 axes"),
        peak_below(held),
    ):
        maps = build.aligned_compatibility(large, columns, 4, rng, np.inf)
    U, s, Vt = sparse.linalg.svds(large, r, rng=0)
    np.testing.assert_allclose(maps.energy, (s**2).sum() / sparse.linalg.norm(large) ** 2, rtol=1e-3)
    X, Z = maps.left(large), maps.right(columns)
    assert X.shape == (200_000, r + 2) and Z.shape == (20_000, r + 2)
    np.testing.assert_allclose(np.linalg.norm(Z, axis=1), sparse.linalg.norm(columns, axis=1), rtol=1e-9)
    rows = np.argsort(-np.abs(U[:, -1]))[:50]  # x.z = (U s^2 V^T)_ij along the axes
    expected = (U[rows] * s**2) @ Vt
    assert np.linalg.norm(X[rows] @ Z.T - expected) <= 0.01 * np.linalg.norm(expected)


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
        compatibility_from_matrix(np.eye(3), 6, 4)
    X, Z = rng.standard_normal((14, 6)), rng.standard_normal((11, 4))
    with pytest.raises(ValueError, match=r"6 entries and right vectors 4.*'pca'.*\(6, 4\) matrix"):
        make_compatible("identity", X, Z, rng)
    with pytest.raises(ValueError, match="rows and columns of one matrix.*'pca', 'random'"):
        make_compatible("pinv", X, Z, rng)
    with pytest.raises(ValueError, match="'name' parameter of make_compatible must be a str among .*'pca'.* Got 'pac'"):
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
