"""Laws of kernels: values, types, arithmetic and exchange, for every kernel of the table."""

import warnings
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, strategies as st
from hypothesis.extra import numpy as hnp
from scipy import sparse
from scipy.stats import norm, rankdata
from sklearn.base import clone
from sklearn.metrics import pairwise

from cases import KERNELS, SPARSE, assert_close, reference, sparse_pair
from lopsided import kernels
from lopsided.exceptions import AccuracyWarning
from lopsided.kernels import (
    RBF,
    SNE,
    TL1,
    Association,
    Exponential,
    Laplacian,
    Linear,
    LinearPolynomial,
    Polynomial,
    Precomputed,
    StudentT,
    Tanh,
    as_kernel,
)
from lopsided.kernels.bandwidth import euclidean_bandwidth, manhattan_bandwidth
from lopsided.kernels.names import BY_NAME, SYNONYMS
from lopsided.testing import check_kernel

every_kernel = pytest.mark.parametrize("name", KERNELS)
FORMATS = [np.asarray, sparse.csr_matrix, sparse.csr_array, sparse.csc_matrix, sparse.csc_array, sparse.coo_array]


@st.composite
def two_sets(draw):
    """Two small sets of points of one width, with moderate values."""
    n, m, width = (draw(st.integers(1, 5)) for _ in range(3))
    values = st.floats(-2, 2, width=32)
    return tuple(draw(hnp.arrays(np.float64, (size, width), elements=values)) for size in (n, m))


def dense_pair(rng, n=9, m=7, width=4, dtype=float):
    return rng.standard_normal((n, width)).astype(dtype), rng.standard_normal((m, width)).astype(dtype)


@every_kernel
@given(sets=two_sets())
def test_values_are_those_of_the_formula(name, sets):
    assert_close(KERNELS[name][0](*sets), reference(name, *sets), ulps=1e4)


@pytest.mark.parametrize(
    ("left", "right"),
    [*product(FORMATS, [np.asarray, sparse.csr_array]), *product([np.asarray, sparse.csr_array], FORMATS[3:])],
)
@every_kernel
def test_dense_and_sparse_points_have_the_same_values(name, left, right):
    X, Z = (S.toarray() for S in sparse_pair("weighted", n=9, m=7, width=6))
    K = KERNELS[name][0](left(X), right(Z))
    assert type(K) is np.ndarray
    assert_close(K, reference(name, X, Z))


@pytest.mark.parametrize("data", SPARSE)
@every_kernel
def test_sparse_points_of_any_kind_have_the_dense_values(name, data):
    X, Z = sparse_pair(data)
    assert_close(KERNELS[name][0](X, Z), reference(name, X, Z))


@every_kernel
def test_a_kernel_fitted_on_one_format_takes_the_other(name):
    X, Z = sparse_pair("weighted")
    for first, second in (((X, Z), (X.toarray(), Z.toarray())), ((X.toarray(), Z.toarray()), (X, Z))):
        assert_close(clone(KERNELS[name][0]).fit(*first)(*second), reference(name, X, Z))


@every_kernel
def test_single_precision_is_kept_and_near_double(name, rng):
    X, Z = dense_pair(rng, dtype=np.float32)
    kernel = KERNELS[name][0]
    for sides in ((X, Z), (sparse.csr_array(X), sparse.csr_array(Z)), (X, sparse.csr_array(Z))):
        K = kernel(*sides)
        assert K.dtype == np.float32
        assert_close(K, reference(name, X, Z))
    assert kernel(X, Z.astype(float)).dtype == np.float64


@pytest.mark.parametrize(
    "kernel",
    [
        Polynomial(np.int64(3), np.float64(0.5)),
        LinearPolynomial(np.float64(0.5), np.int64(3)),
        Tanh(np.float64(0.2), np.float64(0.1)),
    ],
    ids=repr,
)
def test_parameters_of_numpy_leave_single_precision_alone(kernel, rng):
    X, Z = dense_pair(rng, dtype=np.float32)
    K, pull_back = clone(kernel).fit(X, Z).differentiate(X, Z)
    assert kernel(X, Z).dtype == K.dtype == pull_back(np.ones_like(K)).dtype == np.float32


@every_kernel
def test_kernel_obeys_the_public_laws(name, rng):
    check_kernel(KERNELS[name][0], *dense_pair(rng))


@every_kernel
def test_a_fitted_kernel_is_a_function_of_pairs(name, rng):
    X, Z = dense_pair(rng)
    new_X, new_Z = dense_pair(rng, n=4, m=5)
    kernel = clone(KERNELS[name][0]).fit(X, Z)
    K = kernel(new_X, new_Z)
    assert_close(K, reference(name, new_X, new_Z, X, Z))
    one_by_one = [[kernel(new_X[i : i + 1], new_Z[j : j + 1])[0, 0] for j in range(5)] for i in range(4)]
    assert_close(one_by_one, K)


@every_kernel
def test_an_unfitted_kernel_forgets_what_it_was_called_with(name, rng):
    kernel = clone(KERNELS[name][0])
    kernel(*dense_pair(rng, width=3))
    X, Z = dense_pair(rng, width=5)
    assert_close(kernel(X, Z), reference(name, X, Z))


@every_kernel
def test_arithmetic_of_kernels_is_that_of_their_values(name, rng):
    X, Z = dense_pair(rng)
    kernel, K, other = KERNELS[name][0], reference(name, X, Z), X @ Z.T
    assert_close((kernel + Linear())(X, Z), K + other)
    assert_close((Linear() + kernel)(X, Z), K + other)
    assert_close((kernel * Linear())(X, Z), K * other)
    assert_close((kernel * 3)(X, Z), 3 * K)
    assert_close((0.5 * kernel)(X, Z), K / 2)
    assert_close((kernel + kernel.T.T).T(Z, X), 2 * K.T)
    assert_close(sum([kernel, Linear(), kernel])(X, Z), 2 * K + other)


@pytest.mark.parametrize("number", [1, 0.5, None])
def test_a_number_other_than_zero_cannot_be_added_to_a_kernel(number):
    with pytest.raises(TypeError, match="unsupported operand"):
        number + RBF()


@pytest.mark.parametrize("arrange", [np.asfortranarray, lambda X: X[::-1][::-1], lambda X: X.repeat(2, 1)[:, ::2]])
@every_kernel
def test_layout_does_not_matter_and_the_input_is_untouched(name, arrange, rng):
    X, Z = dense_pair(rng)
    sides = arrange(X.copy()), arrange(Z.copy())
    for side in sides:
        side.flags.writeable = False
    assert_close(KERNELS[name][0](*sides), reference(name, X, Z))
    assert np.array_equal(sides[0], X) and np.array_equal(sides[1], Z)


@pytest.mark.parametrize("data", ["weighted", "duplicates", "explicit_zeros"])
@every_kernel
def test_sparse_input_is_untouched(name, data):
    sides = sparse_pair(data)
    for side in sides:
        side.indices[:], side.data[:] = side.indices[::-1].copy(), side.data[::-1].copy()
        side.has_sorted_indices = side.has_canonical_format = False
    before = [(S.data.copy(), S.indices.copy(), S.indptr.copy()) for S in sides]
    dense = [sum(_entries(S)) for S in sides]
    assert_close(KERNELS[name][0](*sides), reference(name, *dense))
    for S, parts in zip(sides, before, strict=True):
        assert all(np.array_equal(now, then) for now, then in zip((S.data, S.indices, S.indptr), parts, strict=True))


def _entries(S):
    """The matrix as a sum of its stored entries, one at a time."""
    for row in range(S.shape[0]):
        for at in range(S.indptr[row], S.indptr[row + 1]):
            entry = np.zeros(S.shape)
            entry[row, S.indices[at]] = S.data[at]
            yield entry


def test_symmetric_kernels_are_those_of_scikit_learn(rng):
    X, Z = dense_pair(rng)
    assert_close(RBF(2.0)(X, Z), pairwise.rbf_kernel(X, Z, gamma=1 / 4))
    assert_close(Laplacian(2.0)(X, Z), pairwise.laplacian_kernel(X, Z, gamma=1 / 2))
    assert_close(Polynomial(3, 0.5)(X, Z), pairwise.polynomial_kernel(X, Z, degree=3, gamma=1, coef0=0.5))
    assert_close(Tanh(offset=0.3)(X, Z), pairwise.sigmoid_kernel(X, Z, coef0=0.3))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("scale", [1e-300, 1e-165, 1e-120, 1e120, 1e154, 1e160, 1e300])
def test_an_open_bandwidth_has_the_size_of_the_data(scale, kind, rng):
    X, Z = rng.standard_normal((20, 3)), rng.standard_normal((10, 3))
    for rule in (euclidean_bandwidth, manhattan_bandwidth):
        np.testing.assert_allclose(rule(kind(scale * X), kind(scale * Z)) / scale, rule(X, Z), rtol=1e-12)
    K = Laplacian()(scale * X, scale * Z)
    np.testing.assert_allclose(K, Laplacian()(X, Z), rtol=1e-10)


@pytest.mark.parametrize("kernel", [RBF(), SNE()], ids=repr)
@pytest.mark.parametrize(
    ("scale", "message"), [(1e160, "distances between typical points overflow"), (1e-165, "2 / ban")]
)
def test_squares_that_leave_the_range_of_floats_are_refused(scale, message, kernel, rng):
    X = rng.standard_normal((20, 3))
    with pytest.raises(ValueError, match=f"{message}.*scale the data"):
        kernel(scale * X, scale * X)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", [RBF(1.0), SNE(1.0), StudentT(1.0)], ids=repr)
def test_outliers_whose_distances_are_lost_in_rounding_cause_a_warning(kernel, kind, rng):
    X = rng.standard_normal((500, 3)).astype(np.float32)
    X[0] = 1e3
    with pytest.warns(AccuracyWarning, match="as long as 1.*off by.*float32.*larger.*double precision"):
        kernel(kind(X), kind(X))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        kernel(kind(X.astype(float)), kind(X.astype(float)))
        kernel(kind(X), kind(X[1:]))  # no right point is as far


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("bandwidth", [1e-320, 1e-160, 1e-22, 1e200, 1e308])
@pytest.mark.parametrize("points", [[[0, 1], [1, 0], [3, 3]], [[1, 1], [1, 1]]], ids=["apart", "equal"])
@pytest.mark.parametrize("kernel", [RBF, Laplacian, SNE, StudentT, TL1])
def test_an_extreme_bandwidth_gives_finite_values_or_an_error(kernel, points, bandwidth, dtype):
    X = np.array(points, dtype=dtype)
    try:
        K = kernel(bandwidth)(X, X)
    except ValueError as error:
        assert bandwidth < 1 or kernel is TL1
        assert "scale the data" in str(error)
    else:
        assert np.isfinite(K).all()


def test_distances_that_overflow_in_units_of_the_bandwidth_are_infinite():
    np.testing.assert_array_equal(Laplacian(1e-10)([[1e300]], [[0.0], [1e300]]), [[0.0, 1.0]])


def test_a_bandwidth_whose_square_overflows_is_wide():
    np.testing.assert_array_equal(RBF(1e155)([[0.0]], [[1.0]]), [[1.0]])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("data", ["weighted", "binary", "empty_rows", "duplicates"])
def test_an_open_bandwidth_follows_the_variance_of_the_data(data, kind):
    S, R = sparse_pair(data)
    X, Z = S.toarray(), R.toarray()
    S, R = (S, R) if kind is sparse.csr_array else (X, Z)
    variance = np.concatenate([np.tile(X, (len(Z), 1)), np.tile(Z, (len(X), 1))]).var()  # as many entries of either
    width = X.shape[1]
    for kernel in (RBF(), SNE()):
        np.testing.assert_allclose(kernel.fit(S, R).bandwidth_, np.sqrt(width * variance), rtol=1e-12)
    np.testing.assert_allclose(Laplacian().fit(S, R).bandwidth_, width * np.sqrt(variance), rtol=1e-12)
    np.testing.assert_allclose(TL1().fit(S, R).radius_, 0.7 * width, rtol=1e-12)
    np.testing.assert_allclose(Tanh().fit(S, R).slope_, 1 / width, rtol=1e-12)


@pytest.mark.parametrize("value", [0.0, 3.0, 0.1, 1e6 / 3])
@pytest.mark.parametrize("kernel", [RBF(), SNE(), Laplacian(), StudentT()])
def test_constant_data_are_all_alike(kernel, value):
    X, Z = np.full((5, 3), value), np.full((4, 3), value)
    expected = 1.0 if isinstance(kernel, Laplacian) or type(kernel) is RBF else 0.25
    assert_close(kernel(X, Z), np.full((5, 4), expected))


@pytest.mark.parametrize("name", ["rbf", "sne", "student_t", "laplacian", "tl1"])
def test_distances_survive_a_translation_far_from_the_origin(name, rng):
    X, Z = (np.round(side, 3) for side in dense_pair(rng))
    far = KERNELS[name][0](X + 1e4, Z + 1e4)
    assert_close(far, reference(name, X, Z), ulps=1e6)  # the shift itself rounds to 1e4 eps


@pytest.mark.parametrize("name", sorted(BY_NAME))
def test_a_name_is_the_kernel_of_that_name(name):
    kernel = as_kernel(name)
    assert type(kernel).__name__.lower() == name.replace("_", "")
    assert repr(as_kernel(kernel)) == repr(kernel) and as_kernel(kernel) is not kernel


@pytest.mark.parametrize(
    ("synonym", "kernel"),
    [("gaussian", RBF), ("poly", Polynomial), ("t", StudentT), ("student", StudentT), ("softmax", kernels.Attention)],
)
def test_common_synonyms_are_understood(synonym, kernel):
    assert type(as_kernel(synonym)) is kernel


def test_every_synonym_is_of_a_kernel_and_no_name_itself():
    assert set(SYNONYMS.values()) <= set(BY_NAME)
    assert not set(SYNONYMS) & set(BY_NAME)


@pytest.mark.parametrize(
    ("name", "suggestion"),
    [
        ("rfb", "Did you mean 'rbf'"),
        ("RBF", "Did you mean 'rbf'"),
        ("StudentT", "Did you mean 'student_t'"),
        ("linaer", "Did you mean 'linear'"),
        ("cosine", "Divide each row by its length .*'linear'"),
        ("zzz", "The names are association, .*tl1"),
    ],
)
def test_an_unknown_name_gets_a_suggestion(name, suggestion):
    with pytest.raises(ValueError, match=rf"unknown kernel '{name}'\. {suggestion}"):
        as_kernel(name)


@every_kernel
def test_parameters_can_be_read_set_and_cloned(name, rng):
    X, Z = dense_pair(rng)
    kernel = KERNELS[name][0]
    twin = clone(kernel.fit(X, Z) if name != "swapped" else kernel)
    assert repr(twin) == repr(kernel)
    assert not hasattr(twin, "widths_")
    again = clone(kernel).set_params(**kernel.get_params(deep=False))
    assert_close(again(X, Z), reference(name, X, Z))


def test_parameters_of_parts_are_reached_by_name(rng):
    X, Z = dense_pair(rng)
    kernel = RBF(1.0) + 2 * SNE(1.0).T
    kernel.set_params(first__bandwidth=1.7, second__kernel__kernel__bandwidth=1.3, second__factor=1.0)
    assert_close(kernel(X, Z), reference("rbf", X, Z) + reference("swapped", X, Z))


@pytest.mark.parametrize(
    "kernel",
    [
        RBF(bandwidth=-1.0),
        RBF(bandwidth=0),
        RBF(bandwidth="wide"),
        SNE(bandwidth=-2.0),
        StudentT(bandwidth=0.0),
        StudentT(bandwidth=None),
        Laplacian(bandwidth=-1),
        TL1(radius=-1),
        Polynomial(degree=0),
        Polynomial(degree=1.5),
        Polynomial(offset=np.inf),
        kernels.LinearPolynomial(weight=-1.0),
        Exponential(eta=np.nan),
        Tanh(slope="steep"),
        RBF(bandwidth=-1.0) + Linear(),
        RBF(bandwidth=-1.0).T,
        3 * RBF(bandwidth=-1.0),
    ],
    ids=repr,
)
def test_parameters_out_of_bounds_are_refused(kernel, rng):
    with pytest.raises(ValueError, match="parameter of"):
        kernel(*dense_pair(rng))


@every_kernel
def test_kernels_are_symmetric_when_they_say_so_and_only_then(name, rng):
    X = dense_pair(rng)[0]
    kernel = KERNELS[name][0]
    K = kernel(X, X)
    assert kernel.symmetric == (np.abs(K - K.T).max() <= 1e-12 * np.abs(K).max())
    assert kernel.T.symmetric == (3 * kernel).symmetric == kernel.symmetric


@pytest.mark.parametrize(
    "points",
    [
        [[1.0, 2.0]],
        np.array([[1, 2]]),
        np.array([[True, False]]),
        np.array([1.0, 2.0]),
        pd.DataFrame([[1.0, 2.0]]),
        sparse.csr_array([[1, 2]]),
    ],
    ids=["list", "integers", "booleans", "one_dimension", "frame", "sparse_integers"],
)
@pytest.mark.parametrize("kernel", [RBF(), SNE().T, 2 * StudentT(), Laplacian() + Linear(), Tanh()], ids=repr)
def test_fit_says_what_it_takes(kernel, points):
    for sides in ((points, np.ones((1, 2))), (np.ones((1, 2)), points)):
        with pytest.raises(TypeError, match="fit takes two-dimensional arrays of floats, not .*numpy.asarray"):
            kernel.fit(*sides)


@pytest.mark.parametrize("numbers", [[[-1]], [[3]], [[0.5]], [[0, 1]]], ids=str)
@pytest.mark.parametrize("kernel", [Precomputed(), Association()], ids=repr)
def test_right_points_of_given_values_are_numbers_of_columns(kernel, numbers):
    with pytest.raises(ValueError, match="column numbers from 0 to 2"):
        kernel(np.ones((2, 3)), numbers)


def test_a_function_cannot_modify_its_points(rng):
    def careless(X, Z):
        X -= X.mean(axis=0)
        return X @ Z.T

    X, Z = dense_pair(rng)
    with pytest.raises(ValueError, match="read-only; it must not modify its arguments"):
        kernels.Function(careless)(X, Z)
    assert X.flags.writeable


def test_standardised_columns_are_those_of_a_scaler_before_the_kernel():
    rng = np.random.default_rng(0)
    X, Z = rng.standard_normal((12, 3)) * [1, 100, 0.01], rng.standard_normal((9, 3)) * [1, 100, 0.01]
    spread = np.vstack([X, Z]).std(axis=0)
    kernel, inner = kernels.Standardised(kernels.SNE(2.0)).fit(X, Z), kernels.SNE(2.0).fit(X / spread, Z / spread)
    assert_close(kernel(X, Z), inner(X / spread, Z / spread), ulps=1e4)
    few = (X[:4], np.arange(1.0, 5.0)), (Z[:3], np.ones(3))
    over = inner.normalised_over(*((points / spread, counts) for points, counts in few))
    assert_close(kernel.normalised_over(*few)(X, Z), over(X / spread, Z / spread), ulps=1e4)


def test_increasing_functions_of_columns_leave_ranked_ones_as_they_are(rng):
    X, Z = rng.standard_normal((12, 3)), rng.standard_normal((9, 3))
    kernel = kernels.Ranked(kernels.SNE(2.0)).fit(X, Z)
    bent = kernels.Ranked(kernels.SNE(2.0)).fit(np.exp(3 * X), np.exp(3 * Z))
    assert_close(bent(np.exp(3 * X), np.exp(3 * Z)), kernel(X, Z), ulps=1e4)
    few = (X[:4], np.arange(1.0, 5.0)), (Z[:3], np.ones(3))
    over = kernel.kernel_.normalised_over(*((kernel.in_units(points), counts) for points, counts in few))
    assert_close(kernel.normalised_over(*few)(X, Z), over(kernel.in_units(X), kernel.in_units(Z)), ulps=1e4)


def test_quantiles_of_many_values_rank_as_the_values_do(rng):
    X = rng.standard_exponential((5000, 1))
    kernel = kernels.Ranked(kernels.Linear()).fit(X, X)
    exact = norm.ppf((rankdata(X[:, 0]) - 0.5) / len(X))
    inside = np.abs(exact) < 2  # beyond there are few quantiles
    assert len(kernel.quantiles_) == 200
    np.testing.assert_allclose(kernel.in_units(X)[inside, 0], exact[inside], atol=0.02)
