"""Input of every bad kind: a message with the value and the way out, or the right answer; never a changed array."""

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.exceptions import NotFittedError

from cases import ESTIMATORS, KERNELS, assert_close, centred, data_for, reference
from lopsided import KernelSVD
from lopsided.exceptions import NotFiniteError
from lopsided.kernels import RBF, SNE, Association, Exponential, Function, Linear, Polynomial, Precomputed, as_kernel

every_kernel = pytest.mark.parametrize("name", KERNELS)
GOOD = np.random.default_rng(0).standard_normal((12, 12))


def spoiled(value):
    X = GOOD.copy()
    X[2, 3] = value
    return X


BAD = {
    "nan": (spoiled(np.nan), ValueError, "contains NaN"),
    "infinity": (spoiled(np.inf), ValueError, "contains infinity"),
    "sparse_nan": (sparse.csr_array(spoiled(np.nan)), ValueError, "contains NaN"),
    "no_rows": (np.empty((0, 12)), ValueError, "0 sample"),
    "no_columns": (np.empty((12, 0)), ValueError, "0 feature"),
    "one_dimension": (GOOD[0], ValueError, "Expected 2D array"),
    "three_dimensions": (GOOD[None], ValueError, "dim 3|ndim=3|3D"),
    "complex": (GOOD + 1j, ValueError, "Complex data not supported"),
    "text": (np.array([["a"] * 12] * 12), ValueError, "could not convert|dtype='numeric'"),
    "objects": (np.array([[object()] * 12] * 12), (TypeError, ValueError), "argument must be|float"),
    "scalar": (3.0, ValueError, "Expected 2D array"),
}
every_bad = pytest.mark.parametrize(("X", "error", "message"), BAD.values(), ids=BAD)


@every_bad
@pytest.mark.parametrize("name", ["linear", "rbf", "sne", "student_t", "laplacian", "sum", "swapped", "function"])
def test_kernels_refuse_bad_points_on_either_side(name, X, error, message):
    kernel = KERNELS[name][0]
    for call in (kernel, clone(kernel).fit(GOOD, GOOD)):
        with pytest.raises(error, match=message):
            call(X, GOOD)
        with pytest.raises(error, match=message):
            call(GOOD, X)


@every_bad
def test_kernel_svd_refuses_bad_points_everywhere(X, error, message):
    with pytest.raises(error, match=message):
        KernelSVD().fit(X)
    with pytest.raises(error, match=message):
        KernelSVD().fit(GOOD, Z=X)
    with pytest.raises(error, match=message):
        KernelSVD(kernel="precomputed").fit(X)
    model = KernelSVD().fit(GOOD)
    with pytest.raises(error, match=message):
        model.transform(X)
    with pytest.raises(error, match=message):
        model.transform_right(X)
    with pytest.raises((ValueError, TypeError), match=f"{message}|compatibility"):
        KernelSVD(compatibility=X).fit(GOOD)


@pytest.mark.parametrize(
    ("parameters", "error", "message"),
    [
        ({"n_components": 40}, ValueError, r"n_components=40 exceeds min\(n_rows, n_columns\)=12.*lower it"),
        ({"n_components": 0}, ValueError, "n_components.*Got 0"),
        ({"n_components": -1}, ValueError, "n_components.*Got -1"),
        ({"n_components": 1.5}, ValueError, "n_components.*Got 1.5"),
        ({"n_components": 1.0}, ValueError, "n_components.*Got 1.0"),
        ({"n_components": "many"}, ValueError, "n_components.*Got 'many'"),
        ({"kernel": "gauss"}, ValueError, "unknown kernel 'gauss'. Did you mean 'gaussian'. The names are .*rbf"),
        ({"kernel": RBF}, TypeError, r"kernel=RBF is a class; give an instance, RBF\(\)"),
        ({"kernel": 3}, (TypeError, ValueError), "kernel.*3|kernel.*int"),
        ({"kernel": RBF(-1.0)}, ValueError, "bandwidth.*Got -1.0"),
        ({"kernel": lambda X, Z: np.ones(3)}, ValueError, r"returned shape \(3,\).*must return all pairs"),
        ({"kernel": lambda X, Z: np.ones((3, 2))}, ValueError, r"returned shape \(3, 2\).*left"),
        ({"compatibility": "glue"}, ValueError, "compatibility.*pca.*Got 'glue'"),
        ({"compatibility": np.eye(5)}, ValueError, r"shape \(5, 5\).*must be \(12, 12\)"),
        ({"solver": "magic"}, ValueError, "solver.*krylov.*Got 'magic'"),
        ({"scaling": np.nan}, ValueError, "scaling"),
        ({"tol": -1.0}, ValueError, "tol.*Got -1.0"),
        ({"center": "yes"}, ValueError, "center.*Got 'yes'"),
        ({"n_jobs": 0}, ValueError, "n_jobs=0.*None for every core"),
        ({"n_jobs": 1.5}, ValueError, "n_jobs.*Got 1.5"),
        ({"memory_budget": "lots"}, ValueError, "memory_budget='lots'.*'500MB'"),
        ({"memory_budget": -1}, ValueError, "memory_budget=-1 must be positive"),
        ({"random_state": "dice"}, ValueError, "random_state"),
    ],
    ids=lambda value: getattr(value, "__name__", None),
)
def test_parameters_that_make_no_sense_are_refused(parameters, error, message):
    with pytest.raises(error, match=message):
        KernelSVD(**parameters).fit(GOOD)


@pytest.mark.parametrize("kernel", ["gauss", 3, None, RBF])
def test_names_and_kernels_that_do_not_exist_are_refused(kernel):
    with pytest.raises((TypeError, ValueError), match="kernel"):
        as_kernel(kernel)


def test_widths_that_differ_need_a_compatibility():
    for kernel in ("rbf", "linear", "sne", RBF() + Linear(), 2 * RBF(), RBF().T):
        with pytest.raises(ValueError, match="12.*5.*(compatibility|'pca')"):
            KernelSVD(kernel=kernel).fit(GOOD, Z=GOOD[:, :5])
        assert KernelSVD(kernel=kernel, compatibility="pca").fit(GOOD, Z=GOOD[:, :5]).transform(GOOD).shape == (12, 2)
    with pytest.raises(ValueError, match="12 columns and Z has 5.*compatibility"):
        RBF()(GOOD, GOOD[:, :5])


def test_points_of_another_width_than_at_fit_are_refused():
    model = KernelSVD().fit(GOOD[:, :7])
    with pytest.raises(ValueError, match="X has 5 features.*expecting 7"):
        model.transform(GOOD[:, :5])
    with pytest.raises(ValueError, match="Z has 7 columns.*12 entries.*passed as rows"):
        model.transform_right(GOOD[:, :7])
    with pytest.raises(ValueError, match="5 and 5 columns.*fitted on 12 and 12"):
        RBF().fit(GOOD, GOOD)(GOOD[:, :5], GOOD[:, :5])


def test_nothing_works_before_fit():
    for method in ("transform", "transform_right"):
        with pytest.raises(NotFittedError, match="not fitted"):
            getattr(KernelSVD(), method)(GOOD)
    with pytest.raises(NotFittedError, match="not fitted"):
        KernelSVD().reconstruct()


def test_precomputed_values_leave_no_room_for_right_points():
    with pytest.raises(ValueError, match="'precomputed'.*leave Z out"):
        KernelSVD(kernel="precomputed").fit(GOOD, Z=GOOD)


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@pytest.mark.parametrize("solver", ["auto", "lapack", "krylov"])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("kernel", [Exponential(eta=1e3), Polynomial(degree=400, offset=2.0)], ids=repr)
def test_a_kernel_that_overflows_says_so(kernel, kind, solver, rng):
    A = kind(10 * rng.standard_normal((60, 60)))
    with pytest.raises(NotFiniteError, match="not finite.*scale the data down"):
        KernelSVD(kernel=kernel, solver=solver).fit(A)


@pytest.mark.parametrize(
    "function", [lambda X, Z: np.full((len(X), len(Z)), np.nan), lambda X, Z: 1 / np.zeros((len(X), len(Z)))]
)
@pytest.mark.filterwarnings("ignore::RuntimeWarning")
def test_a_function_that_returns_nonsense_is_named(function):
    with pytest.raises(NotFiniteError, match="not finite"):
        KernelSVD(kernel=Function(function)).fit(GOOD)


@pytest.mark.parametrize("kind", [np.int64, np.int8, bool, object, np.float16, ">f8"])
@every_kernel
def test_numbers_of_any_type_are_read_as_floats(name, kind):
    X, Z = (np.random.default_rng(1).integers(0, 2, size=(6, 4)) for _ in range(2))
    K = clone(KERNELS[name][0])(X.astype(kind), Z.astype(kind))
    assert K.dtype == np.float64
    assert_close(K, reference(name, X, Z))


def test_lists_are_arrays():
    assert_close(KernelSVD(2).fit(GOOD.tolist()).transform(GOOD.tolist()), KernelSVD(2).fit(GOOD).transform(GOOD))


@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@every_kernel
def test_one_row_has_one_component(name, kind, center):
    X, Z = GOOD[:1, :4], GOOD[:, :4]
    K = reference(name, X, Z)
    model = KernelSVD(1, kernel=clone(KERNELS[name][0]), center=center).fit(kind(X), Z=kind(Z))
    expected = 0.0 if center else np.linalg.norm(K)
    np.testing.assert_allclose(model.singular_values_, expected, rtol=1e-12, atol=1e-13 * np.linalg.norm(K))
    assert np.isfinite(model.transform(kind(GOOD[:, :4]))).all()
    assert np.isfinite(model.transform_right(kind(Z))).all()


@pytest.mark.parametrize("spoil", ["constant_column", "zero_row", "zero_matrix", "constant_matrix"])
@pytest.mark.parametrize("scaling", [0.0, 1.0])
@pytest.mark.parametrize("center", [False, True])
@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@every_kernel
def test_degenerate_data_have_a_finite_answer(name, kind, center, scaling, spoil):
    A = GOOD.copy()
    where = {"constant_column": np.s_[:, 3], "zero_row": np.s_[4], "zero_matrix": np.s_[:], "constant_matrix": np.s_[:]}
    A[where[spoil]] = 0.5 if spoil.startswith("constant") else 0.0
    K = reference(name, A, A.T)
    model = KernelSVD(2, kernel=clone(KERNELS[name][0]), center=center, scaling=scaling).fit(kind(A))
    expected = np.linalg.svd(centred(K) if center else K, compute_uv=False)[:2]
    np.testing.assert_allclose(model.singular_values_, expected, atol=1e-12 * max(1.0, np.abs(K).max()), rtol=1e-10)
    assert np.isfinite(model.transform(kind(A))).all()
    assert np.isfinite(model.transform_right(kind(A.T))).all()


@pytest.mark.parametrize("kind", [np.asfortranarray, np.ascontiguousarray])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@every_kernel
def test_read_only_input_of_any_layout_is_left_as_it_was(name, dtype, kind):
    A = GOOD.astype(dtype)
    given = kind(A.copy())
    given.flags.writeable = False
    model = KernelSVD(2, kernel=clone(KERNELS[name][0]), center=True).fit(given)
    model.transform(given), model.transform_right(given.T), model.reconstruct()
    assert np.array_equal(given, A)


@every_kernel
def test_sparse_input_is_left_as_it_was(name, rng):
    S = sparse.csr_matrix(GOOD * (rng.random(GOOD.shape) < 0.4))
    before = S.data.copy(), S.indices.copy(), S.indptr.copy()
    model = KernelSVD(2, kernel=clone(KERNELS[name][0]), center=True).fit(S, Z=S)
    model.transform(S), model.transform_right(S)
    assert isinstance(S, sparse.csr_matrix)
    assert all(np.array_equal(a, b) for a, b in zip(before, (S.data, S.indices, S.indptr), strict=True))


def test_a_kernel_given_to_a_model_is_left_as_it_was():
    kernel = SNE()
    KernelSVD(kernel=kernel).fit(GOOD)
    assert vars(kernel) == {"bandwidth": None}


def test_kernel_functions_return_real_numbers_and_may_return_sparse_ones():
    with pytest.raises(ValueError, match="returned complex values"):
        KernelSVD(2, kernel=lambda X, Z: 1j * (X @ Z.T)).fit(GOOD, Z=GOOD)
    S = sparse.csr_array(GOOD)
    product = KernelSVD(2, kernel=lambda X, Z: X @ Z.T).fit(S, Z=S)
    np.testing.assert_allclose(product.singular_values_, KernelSVD(2, kernel="linear").fit(S, Z=S).singular_values_)
    with pytest.raises(TypeError, match=r"they are sparse, and X.toarray\(\) makes them dense"):
        KernelSVD(2, kernel=lambda X, Z: np.exp(X @ Z.T)).fit(S, Z=S)


def test_errors_of_kernel_functions_are_told():
    def careless(X, Z):
        K = np.zeros((len(X), len(Z)), dtype=int)
        K += X @ Z.T
        return K

    with pytest.raises(TypeError, match="the kernel function failed .* Cannot cast"):
        KernelSVD(2, kernel=careless).fit(GOOD + 0.5, Z=GOOD + 0.5)


def test_kernels_of_given_values_are_not_transposed():
    for kernel in (Precomputed(), Association()):
        with pytest.raises(TypeError, match="cannot be combined or transposed"):
            kernel.T  # noqa: B018


@pytest.mark.parametrize("factor", [np.nan, np.inf])
def test_kernels_are_scaled_by_finite_numbers(factor):
    with pytest.raises(ValueError, match="factor"):
        (factor * Linear())(GOOD, GOOD)


@pytest.mark.parametrize("kernel", ["exponential", Polynomial(400)], ids=repr)
def test_values_that_overflow_are_an_error_and_no_warning_of_numpy(kernel, rng):
    X = 100 * rng.standard_normal((30, 4))
    with pytest.raises(NotFiniteError):
        KernelSVD(2, kernel=kernel).fit(X, Z=X)


OF_TABLES = [one for one in ESTIMATORS if one.__sklearn_tags__().input_tags.two_d_array]
every_estimator_of_tables = pytest.mark.parametrize("estimator", OF_TABLES, ids=lambda one: type(one).__name__)


@every_estimator_of_tables
@pytest.mark.parametrize(
    ("values", "shown"),
    [
        (["red", "blue"], "'red'"),
        (pd.Categorical(["red", "blue"]), "'red'"),
        (pd.to_datetime(["2020-01-01", "2020-01-02"]), "'2020-01-01 00:00:00'"),
    ],
    ids=["text", "categories", "dates"],
)
def test_columns_that_are_not_numbers_are_named(estimator, values, shown):
    X, y = data_for(estimator)
    table = pd.DataFrame(X).rename(columns=str)
    table["colour"] = pd.Series(values).repeat(30).to_numpy() if not hasattr(values, "codes") else values.repeat(30)
    with pytest.raises(
        ValueError, match=rf"X has 1 column that is not numeric: 'colour', .*like {shown}; leave them out"
    ):
        clone(estimator).fit(table, y)


@pytest.mark.parametrize(
    "values",
    [pd.Categorical([1, 2]), pd.Series([1, 2.5], dtype=object), pd.Series(["1", "2"]), pd.Series([1, 2], dtype="Int8")],
    ids=["categories", "objects", "text", "nullable"],
)
def test_columns_that_hold_numbers_in_other_clothes_are_numbers(values):
    table = pd.DataFrame({"a": [0.0, 1.0], "b": values})
    expected = KernelSVD(1).fit(np.column_stack([[0.0, 1.0], np.asarray(values, dtype=float)]))
    assert_close(KernelSVD(1).fit(table).singular_values_, expected.singular_values_)


def test_a_search_over_parameters_of_a_name_is_told_to_pass_the_object():
    for name, value in (("kernel__bandwidth", 1.0), ("solver__n_landmarks", 5)):
        part = name.split("__")[0]
        with pytest.raises(ValueError, match=rf"cannot set {name}: {part}=(?:'auto'|'rbf') is a name.*kernel=RBF\(\)"):
            KernelSVD(kernel="rbf").set_params(**{name: value})
    assert KernelSVD().set_params(kernel=RBF(), kernel__bandwidth=2.0).kernel.bandwidth == 2.0
