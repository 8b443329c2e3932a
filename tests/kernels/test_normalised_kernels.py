"""Kernels normalised over a right set: SNE, Attention and StudentT, near and far."""

import tracemalloc

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import sparse
from scipy.spatial.distance import cdist
from scipy.special import softmax
from sklearn.base import clone

from cases import assert_close, reference, sparse_pair
from lopsided import KernelSVD
from lopsided.exceptions import AccuracyWarning
from lopsided.kernels import RBF, SNE, Attention, StudentT
from lopsided.operators import sparse_plus_low_rank

EPS = np.finfo(float).eps
NORMALISED = [SNE(), SNE(0.5), SNE(20.0), Attention(), Attention(0.3), StudentT(), StudentT(0.1), StudentT(30.0)]
every_normalised = pytest.mark.parametrize("kernel", NORMALISED, ids=repr)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@every_normalised
def test_rows_over_the_right_set_sum_to_one(kernel, kind):
    X, Z = (kind(S.toarray()) for S in sparse_pair("weighted"))
    kernel = clone(kernel).fit(X, Z)
    assert_close(kernel(X, Z).sum(axis=1), np.ones(X.shape[0]))
    new = kind(sparse_pair("weighted", seed=5)[0].toarray())
    assert_close(kernel(new, Z).sum(axis=1), np.ones(X.shape[0]))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@every_normalised
def test_new_right_points_are_divided_by_the_sums_of_old_rows(kernel, kind):
    X, Z = (kind(S.toarray()) for S in sparse_pair("binary"))
    kernel = clone(kernel).fit(X, Z)
    both = kind(sparse.vstack([sparse.csr_array(Z)[3:5], sparse_pair("binary", seed=6)[1]]).toarray())
    K, known = kernel(X, both), kernel(X, Z)
    assert_close(K[:, :2], known[:, 3:5], ulps=1e4)
    if isinstance(kernel, Attention):
        expected = reference("attention", X, both, X, Z, scale=kernel.scale_)
    elif isinstance(kernel, SNE):
        expected = reference("sne", X, both, X, Z, bandwidth=kernel.bandwidth_)
    else:
        expected = reference("student_t", X, both, X, Z, bandwidth=kernel.bandwidth)
    assert_close(K, expected, ulps=1e4)


@given(scale=st.floats(1, 1e4), bandwidth=st.floats(1e-3, 1e3), seed=st.integers(0, 50))
def test_sne_is_the_softmax_however_far_the_points_are(scale, bandwidth, seed):
    rng = np.random.default_rng(seed)
    X, Z = scale * rng.standard_normal((4, 3)), rng.standard_normal((6, 3))
    exponents = -cdist(X, Z, "sqeuclidean") / bandwidth**2
    K = SNE(bandwidth)(X, Z)
    lost = 100 * EPS * (1 + np.abs(exponents).max())
    np.testing.assert_allclose(K, softmax(exponents, axis=1), rtol=0, atol=lost)
    np.testing.assert_allclose(K.sum(axis=1), 1, rtol=0, atol=lost)


@given(size=st.floats(1, 1e4), scale=st.floats(1e-3, 1e3), seed=st.integers(0, 50))
def test_attention_is_the_softmax_however_large_the_products_are(size, scale, seed):
    rng = np.random.default_rng(seed)
    X, Z = size * rng.standard_normal((4, 3)), rng.standard_normal((6, 3))
    exponents = X @ Z.T / scale
    lost = 100 * EPS * (1 + np.abs(exponents).max())
    np.testing.assert_allclose(Attention(scale)(X, Z), softmax(exponents, axis=1), rtol=0, atol=lost)


def test_attention_divides_products_by_the_root_of_the_width(rng):
    X, Z = rng.standard_normal((5, 9)), rng.standard_normal((7, 9))
    assert Attention().fit(X, Z).scale_ == 3
    assert_close(Attention()(X, Z), softmax(X @ Z.T / 3, axis=1))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_attention_says_when_products_are_lost_in_rounding(kind, rng):
    X = rng.standard_normal((500, 3)).astype(np.float32)
    with pytest.raises(ValueError, match="scale=1e-08 is lost in the rounding of inner products.*use at least"):
        Attention(1e-8)(kind(X), kind(X))
    with pytest.raises(ValueError, match="overflows in float32 .*scale the data"):
        Attention()(kind(1e20 * X), kind(1e20 * X))
    X[0] = 1e4
    with pytest.warns(AccuracyWarning, match="off by factors.*float32.*double precision"):
        Attention()(kind(X), kind(X))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("bandwidth", [1e-1, 1e-4])
@pytest.mark.parametrize("kernel", [SNE, StudentT])
def test_small_bandwidths_leave_each_point_to_its_twin(kernel, bandwidth, kind, rng):
    X = kind(np.unique(rng.integers(-3, 4, size=(8, 3)).astype(float), axis=0))
    K = kernel(bandwidth)(X, X)
    nearest = 1 / (1 + 1 / bandwidth**2)  # the most that a neighbour at distance one can have
    np.testing.assert_allclose(K, np.eye(len(K)), rtol=0, atol=len(K) * nearest + 100 * EPS * 50 / bandwidth**2)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", [SNE, StudentT, RBF])
def test_shares_stay_between_zero_and_one_until_the_bandwidth_is_lost_in_rounding(kernel, kind, rng):
    X = kind(rng.standard_normal((20, 3)))
    K = kernel(1e-4)(X, X)
    assert np.isfinite(K).all()
    assert K.min() >= 0 and K.max() <= 1 + 1e-4
    with pytest.raises(ValueError, match="bandwidth=1e-08 is lost in the rounding.*use at least"):
        kernel(1e-8)(X, X)


@pytest.mark.parametrize("kernel", [SNE(0.05), StudentT(0.05)], ids=repr)
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_a_point_far_from_everything_still_sums_to_one(kernel, dtype, rng):
    Z = rng.standard_normal((6, 3)).astype(dtype)
    X = np.vstack([Z[:2], Z[:1] + 1e2]).astype(dtype)
    K = kernel(X, Z)
    assert K.dtype == dtype and np.isfinite(K).all() and (K >= 0).all()
    lost = 100 * np.finfo(dtype).eps * 3e4 / 0.05**2 if isinstance(kernel, SNE) else 1e-3
    np.testing.assert_allclose(K.sum(axis=1), 1, rtol=0, atol=lost)


@given(seed=st.integers(0, 100), spread=st.floats(1e-2, 1e3))
def test_student_background_is_exact_for_norms_of_any_range(seed, spread):
    """More than a few distinct norms are interpolated; the law is the dense formula, whatever their range."""
    rng = np.random.default_rng(seed)
    X = sparse.random_array((60, 50), density=0.1, rng=rng, format="csr")
    X.data *= spread ** rng.uniform(-1, 1, size=X.nnz)
    Z = sparse.csr_array(X.T @ sparse.eye_array(60, 50, format="csr"))
    kernel = StudentT(0.8).fit(X, Z)
    K = sparse_plus_low_rank(kernel, X, Z, 10**9) @ np.eye(Z.shape[0])
    largest = max(1.0, abs(X).power(2).sum(axis=1).max(), abs(Z).power(2).sum(axis=1).max())
    np.testing.assert_allclose(K, reference("student_t", X, Z), rtol=0, atol=1e3 * EPS * largest)


@pytest.mark.parametrize("kinds", [(np.asarray, np.asarray), (sparse.csr_array, np.asarray)])
def test_dense_sums_of_student_need_no_background(kinds, monkeypatch, rng):
    X, Z = (kind(rng.standard_normal((size, 3))) for kind, size in zip(kinds, (20, 50), strict=True))
    monkeypatch.setattr("lopsided.kernels.student._nodes", None)
    assert_close(StudentT(0.8)(X, Z), reference("student_t", X, Z))


def test_sparse_values_that_would_come_as_differences_of_huge_ones_are_refused():
    X = sparse.csr_array([[25.0, 0, 0], [0, 0, 1], [0, 1, 0]])
    Z = sparse.csr_array([[-1.0, 0, 0], [0, 6.4, 0], [0, 0, 6.4]])
    with pytest.raises(ValueError, match="SNE\\(bandwidth=1.0\\) is so steep, given entries of opposite signs"):
        KernelSVD(2, kernel=SNE(1.0)).fit(X, Z=Z)
    stored = KernelSVD(2, kernel=SNE(6.0)).fit(X, Z=Z)
    dense = KernelSVD(2, kernel=SNE(6.0)).fit(X.toarray(), Z=Z.toarray())
    np.testing.assert_allclose(stored.singular_values_, dense.singular_values_, rtol=1e-7)


def test_sums_take_one_block_of_memory(rng):
    X, Z = rng.standard_normal((500, 3)), rng.standard_normal((2000, 3))
    kernel = SNE(2.0).fit(X, Z)
    tracemalloc.start()
    kernel.left(X)
    assert tracemalloc.get_traced_memory()[1] < 1.5 * 8 * 500 * 2000
    tracemalloc.stop()
