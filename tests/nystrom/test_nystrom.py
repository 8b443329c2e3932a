"""Laws of the asymmetric Nystrom method: what it is exact for, what it is by hand, and how accurate it says it is."""

import pickle
import warnings

import numpy as np
import pytest
from landmark_cases import CENTER, EXTENSION, ROWS, every_kernel, every_strategy, model_of, sparse_sets, two_sets
from scipy import sparse
from sklearn.base import clone
from sklearn.datasets import make_blobs
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline

from cases import KERNELS, assert_close, centred, reference
from lopsided import KernelSVD, Nystrom
from lopsided.exceptions import RankWarning
from lopsided.kernels import RBF, SNE, TL1, Exponential, Laplacian, Linear, NodeKernel, Polynomial, Tanh
from lopsided.nystrom import Landmarks, nystrom
from lopsided.nystrom.landmarks import STRATEGIES, given_landmarks
from lopsided.nystrom.solver import landmark_bytes
from lopsided.operators import as_operator
from lopsided.svd import nystrom_if_large

# laws hold for the approximation itself, however few landmarks it has
pytestmark = pytest.mark.filterwarnings("ignore:landmarks give")


def factors_of(model):
    return model.left_vectors_, model.singular_values_, model.right_vectors_


def assert_decomposes(model, K, ulps=1e5):
    """The factors are the leading triplets of a dense matrix: equal values, and each side the image of the other."""
    U, s, V = factors_of(model)
    k = model.n_components_
    assert_close(s, np.linalg.svd(K, compute_uv=False)[:k], ulps)
    assert_close(K @ V / s[0], U * s / s[0], ulps)
    assert_close(K.T @ U / s[0], V * s / s[0], ulps)
    assert_orthonormal(model)


def assert_orthonormal(model, ulps=1e3):
    for vectors in (model.left_vectors_, model.right_vectors_):
        gram = vectors.astype(float).T @ vectors.astype(float)
        assert_close(gram, np.eye(model.n_components_), ulps, dtype=vectors.dtype)


def cross_approximation(K, rows, columns):
    return K[:, columns] @ np.linalg.solve(K[np.ix_(rows, columns)], K[rows])


# What it is exact for.


@pytest.mark.parametrize("kernel", ["rbf", "laplacian"])
@pytest.mark.parametrize("p", [5, 20])
def test_one_symmetric_set_is_the_nystroem_of_scikit_learn(kernel, p):
    X, new = two_sets()
    ours, gamma = (RBF(1.0), 1.0) if kernel == "rbf" else (Laplacian(1.0), 1.0)
    peer = Nystroem(kernel, gamma=gamma, n_components=p, random_state=0).fit(X)
    chosen = peer.component_indices_
    model = model_of(ours, p, landmarks=(chosen, chosen)).fit(X, Z=X)
    F, G = peer.transform(X), peer.transform(new)
    assert_close(model.reconstruct(), F @ F.T, ulps=1e5)
    assert_close(model.singular_values_, np.linalg.svd(F @ F.T, compute_uv=False)[:p], ulps=1e5)
    for embed in (model.transform, model.transform_right):
        assert_close(embed(new) @ model.right_vectors_.T, G @ F.T, ulps=1e6)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@EXTENSION
@CENTER
@every_kernel
def test_every_point_a_landmark_is_the_exact_decomposition(name, center, extension, kind):
    X, Z = two_sets(n=22, m=17)
    K = reference(name, X, Z)
    exact = centred(K) if center else K
    k = min(3, np.linalg.matrix_rank(exact))
    model = model_of(name, k, center=center, extension=extension, landmarks=(np.arange(22), np.arange(17)))
    assert_decomposes(model.fit(kind(X), Z=kind(Z)), exact)


@every_kernel
def test_every_point_a_landmark_centres_as_the_exact_solver_does(name):
    X, Z = two_sets(n=22, m=17)
    K = reference(name, X, Z)
    model = model_of(name, 2, center=True, landmarks=(np.arange(22), np.arange(17))).fit(X, Z=Z)
    exact = KernelSVD(2, kernel=KERNELS[name][0], center=True).fit(X, Z=Z)
    rows, columns, grand = model.means_
    assert_close(rows / np.abs(K).max(), K.mean(axis=1) / np.abs(K).max(), ulps=1e5)
    assert_close(columns / np.abs(K).max(), K.mean(axis=0) / np.abs(K).max(), ulps=1e5)
    assert_close(grand / np.abs(K).max(), K.mean() / np.abs(K).max(), ulps=1e5)
    assert_close(model.reconstruct(), exact.reconstruct(), ulps=1e6)


@pytest.mark.parametrize("share", [0.5, 0.9, 0.999])
def test_a_share_of_the_energy_keeps_as_many_as_the_exact_solver(share):
    X, Z = two_sets()
    model = model_of("rbf", share, landmarks=(np.arange(60), np.arange(45))).fit(X, Z=Z)
    exact = KernelSVD(share, kernel=RBF(1.7)).fit(X, Z=Z)
    assert model.n_components_ == exact.n_components_
    assert_close(model.singular_values_, exact.singular_values_)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@CENTER
@pytest.mark.parametrize("n_landmarks", [8, (20, 9), (8, 30)])
@every_strategy
def test_a_kernel_of_low_rank_is_recovered_by_every_strategy(strategy, n_landmarks, center, dtype):
    X, Z = (side.astype(dtype) for side in two_sets(width=3))
    X, Z = X + dtype(0.5), Z - dtype(0.2)
    K = X.astype(float) @ Z.astype(float).T
    expected = centred(K) if center else K
    model = model_of(Linear(), landmarks=strategy, n_landmarks=n_landmarks, center=center).fit(X, Z=Z)
    U, s, V = factors_of(model)
    assert {part.dtype for part in (U, s, V)} == {np.dtype(dtype)}
    assert_close(s, np.linalg.svd(expected, compute_uv=False)[:3], ulps=1e3)
    assert_close(expected @ V, U * s, ulps=1e3, dtype=dtype)
    assert_orthonormal(model)
    assert_close(model.reconstruct(), K, ulps=1e3)


@EXTENSION
@CENTER
@every_strategy
def test_a_sample_of_too_low_a_rank_gives_fewer_components_and_a_warning(strategy, center, extension):
    X, Z = two_sets(width=3)
    with pytest.warns(RankWarning, match="holds 3 components and not 6; use more landmarks, other ones, or fewer"):
        model = model_of(Linear(), 6, landmarks=strategy, n_landmarks=12, center=center, extension=extension)
        model.fit(X, Z=Z)
    assert model.n_components_ == 3 == model.transform(X).shape[1] == model.transform_right(Z).shape[1]
    assert list(model.get_feature_names_out()) == ["kernelsvd0", "kernelsvd1", "kernelsvd2"]
    assert all(np.isfinite(part).all() for part in (*factors_of(model), model.reconstruct()))


def test_landmarks_that_are_all_alike_give_one_component():
    X, Z = two_sets()
    X[ROWS[0]], Z[ROWS[1]] = X[0], Z[0]
    with pytest.warns(RankWarning, match="15 x 15 matrix of the landmarks holds 1 component and not 3"):
        model = model_of("rbf", landmarks=ROWS).fit(X, Z=Z)
    assert np.isfinite(model.transform(X)).all() and np.isfinite(model.transform_right(Z)).all()
    assert_orthonormal(model)


def constant(value):
    return lambda X, Z: np.full((len(X), len(Z)), value)


@EXTENSION
@every_strategy
@pytest.mark.parametrize(("value", "center"), [(0.0, False), (0.0, True), (0.3, True)])
def test_a_kernel_that_vanishes_or_is_constant_and_centred_is_refused(strategy, extension, value, center):
    X, Z = two_sets()
    model = model_of(constant(value), 2, landmarks=strategy, n_landmarks=9, center=center, extension=extension)
    with pytest.raises(ValueError, match="vanishes.*landmarks"):
        model.fit(X, Z=Z)


@EXTENSION
@every_strategy
@pytest.mark.filterwarnings("ignore::lopsided.exceptions.RankWarning")
def test_a_constant_kernel_has_one_component(strategy, extension):
    X, Z = two_sets()
    model = model_of(constant(2.0), 2, landmarks=strategy, n_landmarks=9, extension=extension).fit(X, Z=Z)
    np.testing.assert_allclose(model.singular_values_, [2 * np.sqrt(60 * 45)], rtol=1e-12)
    assert np.isfinite(model.transform(X)).all() and np.isfinite(model.transform_right(Z)).all()


# What it is by hand.


@every_kernel
def test_the_factors_are_those_of_the_cross_approximation_itself(name):
    X, Z = two_sets()
    rows, columns = ROWS[0][:6], ROWS[1][:6]
    K = reference(name, X, Z)
    p = np.linalg.matrix_rank(K[np.ix_(rows, columns)])
    rows, columns = rows[:p], columns[:p]
    model = model_of(name, p, landmarks=(rows, columns)).fit(X, Z=Z)
    lost = np.linalg.cond(K[np.ix_(rows, columns)])
    assert model.n_components_ == p
    assert_decomposes(model, cross_approximation(K, rows, columns), ulps=1e3 * lost)


@every_kernel
def test_new_points_are_embedded_by_the_rows_that_the_approximation_would_have(name):
    X, Z = two_sets()
    new_X, new_Z = 1.1 * X[:7], 0.9 * Z[:8]
    rows, columns = ROWS[0][:5], ROWS[1][:5]
    K, left, right = reference(name, X, Z), reference(name, new_X, Z, X, Z), reference(name, X, new_Z, X, Z)
    W = K[np.ix_(rows, columns)]
    p = np.linalg.matrix_rank(W)
    rows, columns, W = rows[:p], columns[:p], W[:p, :p]
    model = model_of(name, p, landmarks=(rows, columns)).fit(X, Z=Z)
    lost = 1e3 * np.linalg.cond(W)
    U, _, V = factors_of(model)
    assert_close(model.transform(new_X), left[:, columns] @ np.linalg.solve(W, K[rows]) @ V, ulps=lost)
    assert_close(model.transform_right(new_Z), (K[:, columns] @ np.linalg.solve(W, right[rows])).T @ U, ulps=lost)


@pytest.mark.parametrize("landmarks", [ROWS, (ROWS[0], ROWS[1][:9])])
@every_kernel
def test_the_plain_extension_is_equation_nine(name, landmarks):
    X, Z = two_sets()
    K = reference(name, X, Z)
    rows, columns = landmarks
    u, s, vt = np.linalg.svd(K[np.ix_(rows, columns)])
    u, s, vt = u[:, :2], s[:2], vt[:2]
    left, right = K[:, columns] @ vt.T / s, K[rows].T @ u / s
    left, right = left / np.linalg.norm(left, axis=0), right / np.linalg.norm(right, axis=0)
    model = model_of(name, 2, landmarks=landmarks, extension="plain").fit(X, Z=Z)
    signs = np.sign(left[np.abs(left).argmax(axis=0), [0, 1]])
    lost = 1e3 * s[0] / s[1]
    assert_close(model.singular_values_, s * np.sqrt(60 * 45 / (len(rows) * len(columns))))
    assert_close(model.left_vectors_, left * signs, ulps=lost)
    assert_close(model.right_vectors_, right * signs, ulps=lost)


@pytest.mark.parametrize(("extension", "denominators"), [("orthonormal", "landmarks"), ("plain", "all")])
@CENTER
@every_kernel
def test_exchanging_data_and_kernel_exchanges_the_factors(name, center, extension, denominators):
    X, Z = two_sets()
    parameters = {"center": center, "extension": extension, "denominators": denominators}
    one = model_of(name, 2, landmarks=ROWS, **parameters).fit(X, Z=Z)
    other = model_of(KERNELS[name][0].T, 2, landmarks=ROWS[::-1], **parameters).fit(Z, Z=X)
    signs = np.sign(np.einsum("ij,ij->j", one.left_vectors_, other.right_vectors_))
    assert_close(other.singular_values_, one.singular_values_)
    assert_close(other.right_vectors_ * signs, one.left_vectors_, ulps=1e5)
    assert_close(other.left_vectors_ * signs, one.right_vectors_, ulps=1e5)
    assert_close(other.transform_right(X) * signs, one.transform(X), ulps=1e5)
    assert_close(other.transform(Z) * signs, one.transform_right(Z), ulps=1e5)


# What every way to it has in common.

DATA = {
    "dense": two_sets(),
    "single": tuple(side.astype(np.float32) for side in two_sets()),
    "sparse": sparse_sets(),
}
WAYS = {**{name: name for name in STRATEGIES}, "rows": ROWS, "points": tuple(side[:16] * 1.1 for side in two_sets())}


CASES = [
    (way, data, kernel, denominators)
    for way in WAYS
    for data in DATA
    for kernel, denominators in (("rbf", "all"), ("sne", "all"), ("product", "landmarks"), ("sum_swapped", "landmarks"))
    if data != "sparse" or denominators == "all"
]


@EXTENSION
@CENTER
@pytest.mark.parametrize(("way", "data", "kernel", "denominators"), CASES)
def test_training_points_are_embedded_where_the_fit_put_them(way, data, kernel, denominators, center, extension):
    X, Z = DATA[data]
    model = model_of(kernel, landmarks=WAYS[way], n_landmarks=16, center=center, extension=extension, scaling=0.5)
    model.set_params(solver__denominators=denominators).fit(X, Z=Z)
    U, s, V = factors_of(model)
    assert {part.dtype for part in (U, s, V, model.transform(X), model.transform_right(Z))} == {X.dtype}
    assert np.all(np.diff(s) <= 0) and s[-1] > 0
    if extension == "orthonormal":
        assert_orthonormal(model)
    else:
        assert_close(np.linalg.norm(U, axis=0), np.ones(3))
        assert_close(np.linalg.norm(V, axis=0), np.ones(3))
    if center:
        assert_close(1 + U.mean(axis=0), np.ones(3), ulps=10)
        assert_close(1 + V.mean(axis=0), np.ones(3), ulps=10)
    assert np.array_equal(U[np.abs(U).argmax(axis=0), range(3)] > 0, [True] * 3)
    lost = 1e3 * s[0] / s[-1]
    assert_close(model.transform(X), U * np.sqrt(s), ulps=lost)
    assert_close(model.transform_right(Z), V * np.sqrt(s), ulps=lost)


@pytest.mark.parametrize(("kind", "dtype"), [(np.asarray, np.float32), (sparse.csr_array, np.float64)])
@EXTENSION
@CENTER
@pytest.mark.parametrize("way", ["uniform", "leverage", "pivoted", "rows"])
def test_precomputed_values_give_the_answer_of_the_points(way, center, extension, dtype, kind):
    X, Z = (side.astype(dtype) for side in two_sets())
    K = reference("sne", X, Z).astype(dtype)
    parameters = {"landmarks": WAYS[way], "n_landmarks": 16, "center": center, "extension": extension}
    points, values = model_of("sne", **parameters).fit(X, Z=Z), model_of("precomputed", **parameters).fit(kind(K))
    assert values.left_vectors_.dtype == dtype
    lost = 1e3 * points.singular_values_[0] / points.singular_values_[-1]
    assert_close(values.singular_values_, points.singular_values_, ulps=lost)
    assert_close(values.transform(kind(K)), values.left_vectors_ * values.singular_values_, ulps=lost)
    assert_close(values.transform_right(kind(K.T)), values.right_vectors_ * values.singular_values_, ulps=lost)
    assert_close(values.transform(kind(K[:5])), points.transform(X[:5]), ulps=10 * lost)


@pytest.mark.parametrize("method", ["transform", "transform_right"])
def test_small_components_of_many_rows_in_single_precision_are_kept(method):
    """A value a hundredth of the first is no rounding, however many rows there are."""
    X = np.random.default_rng(0).standard_normal((150_000, 3)).astype(np.float32)
    X *= np.array([1, 1, 0.1], dtype=np.float32)
    model = model_of(Linear(), n_landmarks=30).fit(X, Z=X)
    vectors = model.left_vectors_ if method == "transform" else model.right_vectors_
    found = getattr(model, method)(X)
    assert_close(found[:, 2], (vectors * model.singular_values_)[:, 2], ulps=1e5)


def test_more_rows_than_the_sample_give_the_same_laws(monkeypatch):
    monkeypatch.setattr("lopsided.nystrom.extension.SAMPLE_ROWS", 30)
    monkeypatch.setattr("lopsided.nystrom.orthonormalise.SLAB_ROWS", 7)
    X, Z = two_sets(width=3)
    for center in (False, True):
        K = centred(X @ Z.T) if center else X @ Z.T
        assert_decomposes(model_of(Linear(), n_landmarks=12, center=center).fit(X, Z=Z), K)


# Manners.


@every_strategy
def test_the_same_seed_gives_the_same_bits_and_another_one_other_landmarks(strategy):
    X, Z = two_sets()

    def fitted(seed):
        return model_of("rbf", landmarks=strategy, n_landmarks=16, random_state=seed).fit(X, Z=Z)

    one, same, other = fitted(5), fitted(5), fitted(6)
    assert all(np.array_equal(a, b) for a, b in zip(factors_of(one), factors_of(same), strict=True))
    if strategy != "pivoted":  # of so few points every one is a candidate
        assert not np.array_equal(one.landmarks_[0].points, other.landmarks_[0].points)
    assert np.array_equal(fitted(None).left_vectors_, fitted(None).left_vectors_)


@pytest.mark.parametrize("n_jobs", [2, -1])
@every_strategy
def test_threads_change_nothing_beyond_rounding(strategy, n_jobs, monkeypatch):
    monkeypatch.setattr("lopsided.operators.blocked.TILE_BYTES", 4096)
    monkeypatch.setattr("lopsided.nystrom.orthonormalise.SLAB_ROWS", 11)
    X, Z = two_sets()
    one, many = (
        model_of("sne", landmarks=strategy, n_landmarks=16, n_jobs=jobs, denominators="landmarks").fit(X, Z=Z)
        for jobs in (1, n_jobs)
    )
    assert_close(many.singular_values_, one.singular_values_, ulps=1e4)
    assert_close(many.transform(X), one.transform(X), ulps=1e5)


def test_a_fitted_model_holds_its_landmarks_and_not_the_data():
    X, Z = two_sets(n=2000, m=2000)
    model = model_of(SNE(1.0), n_landmarks=16, denominators="landmarks").fit(X, Z=Z)
    assert model.X_fit_.shape == model.Z_fit_.shape == (16, 4)
    vectors = 2 * 2000 * 3 * 8
    assert len(pickle.dumps(model)) < vectors + X.nbytes // 2


def test_a_search_reaches_the_landmarks():
    X, y = make_blobs(120, 6, centers=3, cluster_std=4.0, random_state=1)
    pipe = make_pipeline(KernelSVD(3, kernel=Laplacian(), solver=Nystrom(), random_state=0), LogisticRegression())
    grid = {
        "kernelsvd__solver__n_landmarks": [4, (20, 6), None],
        "kernelsvd__solver__landmarks": ["uniform", "pivoted"],
        "kernelsvd__solver__extension": ["orthonormal", "plain"],
    }
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    assert len(search.cv_results_["params"]) == 12
    assert search.best_estimator_[0].solver_.name == "nystrom"


def test_the_name_of_the_solver_is_short_for_its_defaults():
    X, Z = two_sets()
    short, long = (KernelSVD(3, solver=solver).fit(X, Z=Z) for solver in ("nystrom", Nystrom()))
    assert all(np.array_equal(*pair) for pair in zip(factors_of(short), factors_of(long), strict=True))
    assert repr(clone(KernelSVD(solver=Nystrom(9)))) == "KernelSVD(solver=Nystrom(n_landmarks=9))"


@pytest.mark.filterwarnings("ignore::RuntimeWarning")
@every_strategy
def test_a_kernel_that_overflows_says_so(strategy):
    X, Z = two_sets(scale=10.0)
    with pytest.raises(ValueError, match="not finite"):
        model_of(Exponential(1e3), landmarks=strategy, n_landmarks=16).fit(X, Z=Z)


def test_rows_that_overflow_beyond_the_landmarks_say_so():
    X, Z = two_sets()
    X[1] *= 1e200
    with pytest.raises(ValueError, match="not finite"), warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)
        model_of(Exponential(1.0), landmarks=ROWS).fit(X, Z=Z)


# The choice.


@pytest.mark.parametrize(
    ("changed", "taken"),
    [
        ({}, True),
        ({"budget": 10**11}, False),
        ({"shape": (10_000, 10_000), "budget": 10**8}, False),
        ({"shape": (200, 10**7)}, True),
        ({"shape": (200, 10**7), "budget": 10**12}, False),
    ],
)
def test_landmarks_are_chosen_for_large_dense_matrices_alone(changed, taken):
    numbers = {"shape": (40_000, 40_000), "budget": 10**9} | changed
    X, Z = (np.zeros((count, 1)) for count in numbers["shape"])
    first, second = (nystrom_if_large(RBF(1.0), X, Z, numbers["budget"]) for _ in range(2))
    assert first == second and (first is not None) == taken
    assert first is None or (first.name == "nystrom" and first.over_budget and str(numbers["budget"]) in first.reason)


def test_a_large_dense_matrix_takes_landmarks_and_says_why(monkeypatch):
    X, Z = two_sets(n=700, m=600)
    budget = 700 * 600 * 8 - 1
    exact = KernelSVD(2, memory_budget=budget).fit(X, Z=Z)
    assert exact.solver_.name == "krylov" and exact.landmarks_ is None and exact.relative_eta_ is None
    monkeypatch.setattr("lopsided.svd.policy.LARGE_MATRIX", 1000)
    monkeypatch.setattr("lopsided.nystrom.solver.TILE_BYTES", 1)
    model = KernelSVD(2, memory_budget=budget).fit(X, Z=Z)
    assert model.solver_.name == "nystrom"
    assert "700 x 600" in model.solver_.reason and "large" in model.solver_.reason and str(budget) in str(model.solver_)
    assert tuple(map(len, model.landmarks_)) == (200, 200)
    np.testing.assert_allclose(model.singular_values_, exact.singular_values_, rtol=0.02)
    for given in ({}, {"solver": "krylov"}):  # neither sparse data nor a solver that was asked for
        kind = np.asarray if given else sparse.csr_array
        left, right = (kind(np.where(np.abs(side) > 1.5, side, 0)) for side in (X, Z))
        assert KernelSVD(2, memory_budget=budget, **given).fit(left, Z=right).solver_.name != "nystrom"


def test_solvers_that_are_exact_forget_the_landmarks_of_an_earlier_fit():
    X, Z = two_sets()
    model = model_of("rbf", n_landmarks=16, tol=0.9).fit(X, Z=Z)
    assert model.solver_[:2] == ("nystrom", "asked for")
    model.set_params(solver="lapack", tol=0.0).fit(X, Z=Z)
    assert (model.landmarks_, model.relative_eta_, model.path_) == (None, None, ())
    assert_close(model.transform(X), model.left_vectors_ * model.singular_values_, ulps=1e5)


def test_the_default_number_of_landmarks_follows_the_components():
    X, Z = two_sets(n=1200, m=250)
    for k, expected in ((2, (200, 200)), (15, (300, 250)), (60, (1200, 250))):
        model = model_of(Laplacian(1.0), k).fit(X, Z=Z)
        assert tuple(map(len, model.landmarks_)) == expected


def test_the_functions_beneath_give_what_the_estimator_gives():
    X, Z = two_sets()
    kernel = RBF(1.7).fit(X, Z)
    landmarks = given_landmarks(ROWS[0], X, "left"), given_landmarks(ROWS[1], Z, "right")
    result = nystrom(kernel, X, Z, landmarks, 3, rng=np.random.default_rng(0))
    model = model_of("rbf", landmarks=ROWS).fit(X, Z=Z)
    assert_close(result.factors.matrix(), model.reconstruct(), ulps=1e4)
    embedded = as_operator(kernel, X, landmarks[1].points, budget=0) @ result.left.map - result.left.offset
    assert_close(embedded, result.factors.U, ulps=1e5)


@CENTER
@pytest.mark.parametrize("strategy", ["uniform", "kmeans", "leverage"])
@pytest.mark.parametrize("kernel", [RBF(1.5), TL1(3.0), Tanh(0.5, -0.2), Polynomial(3)], ids=repr)
def test_one_set_under_a_symmetric_kernel_is_extended_once_and_to_the_same_answer(
    kernel, strategy, center, monkeypatch
):
    X = two_sets()[0]
    way = {"k": 4, "n_landmarks": 25, "landmarks": strategy, "center": center}
    once = model_of(kernel, **way).fit(X, Z=X)
    np.testing.assert_array_equal(np.abs(once.left_vectors_), np.abs(once.right_vectors_))
    monkeypatch.setattr(type(kernel), "symmetric", property(lambda self: False))
    twice = model_of(kernel, **way).fit(X, Z=X)
    assert_close(once.singular_values_, twice.singular_values_, ulps=1e6)
    assert_close(once.reconstruct(), twice.reconstruct(), ulps=1e6)
    new = two_sets()[1]
    assert_close(once.transform(new), twice.transform(new), ulps=1e7)
    assert_close(once.transform_right(new), twice.transform_right(new), ulps=1e7)


@CENTER
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize(("unit", "size"), [(1.0, 1.0), (1e6, 1.0), (1.0, 2.0**20), (1.0, 2.0**-20)])
def test_all_components_of_a_positive_definite_matrix_of_landmarks_give_its_approximation(
    unit, size, center, dtype, weighted, monkeypatch, rng
):
    """The matrix is not decomposed then; weights of landmarks and their unit cancel, but for the means."""
    monkeypatch.setattr("lopsided.nystrom.landmark_matrix.eigh", None)
    X = rng.standard_normal((300, 3))
    some = np.arange(0, 300, 20)
    weights = rng.uniform(10, 30, len(some)) if weighted else np.full(len(some), 20.0)
    X, landmarks = X.astype(dtype), Landmarks(X[some].astype(dtype), unit * weights)
    found = nystrom((size * RBF(1.0)).fit(X, X), X, X, (landmarks,) * 2, len(some), center=center, quiet=True, rng=rng)
    E = size * np.exp(-np.square(X[:, None].astype(float) - X[some]).sum(axis=2))
    W, shares = E[some], weights / weights.sum()
    if center:
        P = np.eye(len(some)) - shares[:, None]  # subtracts weighted means from rows, and P' from columns
        W = P.T @ W @ P
        E = (E - E.mean(axis=0)) @ P
    U, s, V = found.factors.U.astype(float), found.factors.s.astype(float), found.factors.V.astype(float)
    K = E @ np.linalg.pinv(W) @ E.T
    ulps = 1e2 * np.linalg.cond(W + center * size)
    assert_close(U * s @ V.T, K, ulps=ulps, dtype=dtype)
    assert_close(U.T @ U, np.eye(len(s)), ulps=ulps, dtype=dtype)
    embedded = as_operator(found.kernel, X, landmarks.points, budget=0) @ found.left.map - found.left.offset
    assert_close(embedded, found.factors.U, ulps=ulps, dtype=dtype)


@CENTER
@pytest.mark.parametrize("which", ["weights", "points"])
def test_landmarks_that_differ_between_the_sides_are_not_taken_for_one_set(which, center, monkeypatch, rng):
    """Of a symmetric kernel on one set of points: their matrix is not symmetric."""
    X, _ = two_sets()
    points = X[:12], X[:12] if which == "weights" else X[12:24]
    some = tuple(Landmarks(side, rng.uniform(1, 9, 12) if which == "weights" else np.full(12, 5.0)) for side in points)
    kernel = RBF(1.5).fit(X, X)
    once = nystrom(kernel, X, X, some, 4, center=center, rng=np.random.default_rng(0)).factors
    monkeypatch.setattr(RBF, "symmetric", property(lambda self: False))
    twice = nystrom(kernel, X, X, some, 4, center=center, rng=np.random.default_rng(0)).factors
    assert_close(once.s, twice.s)
    assert_close(once.matrix(), twice.matrix(), ulps=1e5)


def test_memory_counts_landmarks_of_both_sides():
    assert landmark_bytes("uniform", (10, 900), (1000, 1000)) == landmark_bytes("uniform", (900, 10), (1000, 1000))


def test_landmarks_among_nodes_give_the_exact_decomposition_of_a_graph(rng):
    """Numbers of nodes have no rounding error; the kernel between them is as accurate as that of points."""
    A = (rng.random((30, 30)) < 0.3).astype(float)
    nodes = np.arange(30)[:, None]
    exact, found = (KernelSVD(3, kernel=NodeKernel(A), solver=s).fit(nodes, Z=nodes) for s in ("lapack", Nystrom(30)))
    assert_close(found.singular_values_, exact.singular_values_, 1e4)
