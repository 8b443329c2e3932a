"""PriorNystroem: scikit-learn's Nystroem at an infinite weight, better features where labels tell, and bad input."""

import pickle
import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.datasets import load_breast_cancer, load_iris, make_circles, make_moons
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from cases import assert_close
from lopsided import PriorNystroem
from lopsided.exceptions import LopsidedWarning, RankWarning
from lopsided.kernels import RBF, SNE, Laplacian, Linear, Polynomial, Tanh
from lopsided.kernels.bandwidth import root_mean_squared_distance
from lopsided.prior_nystroem.folds import folds_of
from lopsided.prior_nystroem.supervision import Pairs


def noisy(rng, n=200, width=30, shift=1.2):
    """Two classes that differ in two of many directions."""
    y = rng.integers(2, size=n)
    X = rng.standard_normal((n, width))
    X[:, :2] += shift * (2 * y[:, None] - 1)
    return X, y


def with_gaps(y, known):
    return np.where(np.arange(len(y)) < known, y, -1)


PEERS = {
    RBF(3.0): {"kernel": "rbf", "gamma": 1 / 9},
    Laplacian(5.0): {"kernel": "laplacian", "gamma": 1 / 5},
    Linear(): {"kernel": "linear"},
    Polynomial(2): {"kernel": "polynomial", "degree": 2, "gamma": 1.0, "coef0": 1.0},
}


@pytest.mark.parametrize(("kernel", "theirs"), PEERS.items(), ids=map(repr, PEERS))
@pytest.mark.parametrize("metric", ["samples", "landmarks"])
def test_infinite_weight_is_the_nystrom_method(kernel, theirs, metric, rng):
    X, y = noisy(rng, width=40)
    rows = np.arange(0, 200, 10)
    model = PriorNystroem(kernel=kernel, landmarks=rows, prior_weight=np.inf, prior_metric=metric).fit(X, y)
    peer = Nystroem(n_components=20, **theirs).fit(X[rows])
    np.testing.assert_array_equal(model.component_indices_, rows)
    assert_close(model.transform(X), peer.transform(X)[:, np.argsort(peer.component_indices_)], 1e8)
    assert model.solver_.name == "none" and "infinite" in model.solver_.reason


def test_a_large_weight_comes_near_the_nystrom_method(rng):
    X, y = noisy(rng)
    settings = {"kernel": RBF(8.0), "landmarks": np.arange(30)}
    plain = PriorNystroem(prior_weight=np.inf, **settings).fit(X, y).learned_kernel(X, X)
    apart = [
        np.abs(PriorNystroem(prior_weight=w, **settings).fit(X, y).learned_kernel(X, X) - plain).max()
        for w in (1e3, 1e6, 1e9)
    ]
    assert apart[0] > apart[1] > apart[2]
    assert apart[2] < 1e-6


@pytest.mark.parametrize("settings", [{}, {"solver": "gradient"}, {"max_iter": 0}], ids=repr)
@pytest.mark.parametrize("metric", ["samples", "landmarks"])
def test_learned_kernel_is_semidefinite_and_consistent(settings, metric, rng):
    X, y = noisy(rng)
    model = PriorNystroem(40, prior_weight=1e-7, prior_metric=metric, **settings).fit(X, with_gaps(y, 60))
    K = model.learned_kernel(X, X)
    assert np.linalg.eigvalsh(K)[0] >= -1e-10 * np.abs(K).max()
    E = model.kernel_(X, model.components_)
    assert_close(E @ model.dictionary_ @ E.T, K, 1e9)
    assert_close(E @ model.normalization_.T, model.transform(X), 1e5)
    assert (np.diff(model.objective_) <= 0).all()
    assert -1 <= model.alignment_ <= 1


def test_stored_objective_is_that_of_the_paper(rng):
    """Equation 6 with dense matrices, where every landmark direction is learned."""
    X, y = noisy(rng)
    kernel = RBF(6.0)
    model = PriorNystroem(kernel=kernel, landmarks=np.arange(25), prior_weight=1e-3, prior_metric="landmarks")
    known = np.arange(50)
    model.fit(X, with_gaps(y, 50))
    E, W = kernel(X[known], X[:25]), kernel(X[:25], X[:25])
    weight = 1e-3 * np.linalg.eigvalsh(E.T @ E)[-1] ** 2
    ideal = (y[known][:, None] == y[known]).astype(float)
    S = model.dictionary_
    value = weight * np.square(S - np.linalg.inv(W)).sum() + np.square(E @ S @ E.T - ideal).sum()
    assert model.objective_[-1] == pytest.approx(value, rel=1e-6)


def test_labels_raise_the_alignment_and_help_where_noise_hides_the_classes(rng):
    X, y = noisy(rng, n=1200, width=150, shift=0.9)
    known = with_gaps(y, 80)
    scores = {}
    for weight in (np.inf, "auto"):
        model = PriorNystroem(100, prior_weight=weight, random_state=0).fit(X, known)
        F = model.transform(X)
        machine = LogisticRegression(C=100.0, max_iter=1000).fit(F[:80], y[:80])
        scores[weight] = machine.score(F[80:], y[80:]), model.alignment_
    assert np.isfinite(model.prior_weight_)
    assert scores["auto"][0] > scores[np.inf][0] + 0.02
    assert scores["auto"][1] > scores[np.inf][1]


def test_the_path_has_an_error_for_every_candidate_weight_and_label(rng):
    X, y = noisy(rng)
    model = PriorNystroem(30, random_state=0).fit(X, with_gaps(y, 60))
    assert len(model.path_) == 8
    assert model.path_[0].errors.shape == (len(model.path_[0].weights), 60)


def test_self_training_separates_clusters_better_than_few_labels_alone(rng):
    errors = {True: [], False: []}
    for seed in range(8):
        X, y = noisy(rng, n=600, width=60, shift=1.4)
        for self_training, found in errors.items():
            model = PriorNystroem(60, self_training=self_training, random_state=seed).fit(X, with_gaps(y, 30))
            F = model.transform(X)
            found.append(1 - LogisticRegression().fit(F[:30], y[:30]).score(F[30:], y[30:]))
            assert model.n_self_labelled_ == 570 * self_training
    assert np.mean(errors[True]) < 0.8 * np.mean(errors[False])


def test_self_training_needs_labels_that_can_be_held_out(rng):
    X, y = noisy(rng)
    one_each = np.full(len(y), -1)
    one_each[[np.argmin(y), np.argmax(y)]] = 0, 1
    assert PriorNystroem(30, random_state=0).fit(X, one_each).n_self_labelled_ == 0


@pytest.mark.parametrize("settings", [{}, {"self_training": False}, {"prior_weight": 1e-4}], ids=repr)
@pytest.mark.parametrize("factor", [1e-200, 2.0**-10, 1e4, 1e200])
def test_multiples_of_a_kernel_learn_the_same(factor, settings, rng):
    X, y = noisy(rng)
    known = with_gaps(y, 30)
    one, other = (
        PriorNystroem(30, kernel=kernel, random_state=0, **settings).fit(X, known)
        for kernel in (RBF(8.0), factor * RBF(8.0))
    )
    assert_close(other.transform(X) / np.sqrt(factor), one.transform(X), 1e9)
    assert one.n_self_labelled_ == other.n_self_labelled_ == (0 if settings else 170)


@pytest.mark.parametrize("unit", [1e-120, 1e-3, 1e3, 1e120])
def test_linear_kernels_have_no_preferred_unit(unit, rng):
    X, y = noisy(rng, width=10)
    known = with_gaps(y, 30)
    one, other = (PriorNystroem(10, kernel=Linear(), random_state=0).fit(c * X, known) for c in (1.0, unit))
    assert_close(other.transform(unit * X) / unit, one.transform(X), 1e9)
    assert one.n_self_labelled_ == 170


def test_labelled_samples_without_features_say_nothing(rng):
    X, y = noisy(rng, width=10)
    X[:30] = 0
    model = PriorNystroem(10, kernel=Linear(), random_state=0).fit(X, with_gaps(y, 30))
    assert np.isfinite(model.transform(X)).all()
    assert not model.n_self_labelled_


@pytest.mark.parametrize(
    ("settings", "labels", "others"),
    [
        ({}, 300, 0),
        ({}, 250, 1300),
        ({}, 100, 400),
        ({"prior_weight": 1e-4}, 60, 400),
        ({"prior_weight": "alignment"}, 60, 400),
    ],
    ids=["no others", "many labels", "few others", "given weight", "criterion"],
)
def test_self_training_leaves_other_cases_alone(settings, labels, others, rng):
    X, y = noisy(rng, n=labels + others)
    models = [
        PriorNystroem(40, random_state=0, self_training=choice, **settings).fit(X, with_gaps(y, labels))
        for choice in (True, False)
    ]
    assert [model.n_self_labelled_ for model in models] == [0, 0]
    assert_close(models[0].transform(X), models[1].transform(X), 0)


def test_labels_that_say_nothing_leave_the_prior_alone(rng):
    X = rng.standard_normal((300, 10))
    y = rng.integers(2, size=300)
    assert PriorNystroem(40, random_state=0).fit(X, with_gaps(y, 100)).prior_weight_ >= 1e-2


@pytest.mark.parametrize("seed", range(5))
def test_labels_that_say_nothing_are_not_passed_on(seed):
    rng = np.random.default_rng(seed)
    X, y = rng.standard_normal((700, 10)), rng.integers(2, size=700)
    assert not PriorNystroem(40, random_state=0).fit(X, with_gaps(y, 100)).n_self_labelled_


def test_a_list_of_kernels_is_chosen_from(rng):
    X, y = make_circles(400, noise=0.05, factor=0.5, random_state=0)
    wide, narrow = RBF(100.0), RBF(0.7)
    model = PriorNystroem(40, kernel=[wide, narrow], random_state=0).fit(X, with_gaps(y, 80))
    assert model.kernel_.bandwidth == 0.7
    assert [kernel.bandwidth for kernel, *_ in model.path_] == [100.0] * 4 + [0.7] * 4
    with pytest.raises(ValueError, match="lists 2 kernels.*set prior_weight to 'auto'"):
        PriorNystroem(40, kernel=[wide, narrow], prior_weight=1.0).fit(X, y)
    with pytest.raises(ValueError, match="lists 0 kernels"):
        PriorNystroem(40, kernel=[]).fit(X, y)


def nearest_graph_laplacian(X, k=7):
    """Dense, by sorting all distances."""
    D = euclidean_distances(X)
    np.fill_diagonal(D, np.inf)
    A = np.zeros_like(D)
    np.put_along_axis(A, np.argsort(D, axis=1)[:, :k], 1.0, axis=1)
    A = (A + A.T) / 2
    root = np.sqrt(A.sum(axis=0))
    return np.eye(len(X)) - A / np.outer(root, root)


@pytest.mark.parametrize("kernel", [RBF(3.0), 5 * RBF(3.0), Polynomial(2), Linear()], ids=repr)
def test_smooth_features_are_those_of_the_smoothed_kernel(kernel, rng):
    """The norm |f|^2 + smoothness f'Lf / (n unit) has the kernel E (W + smoothness E'LE / (n unit))^+ E', rescaled."""
    X, _ = noisy(rng, width=25)
    rows = np.arange(0, 200, 10)
    model = PriorNystroem(kernel=kernel, landmarks=rows, smoothness=50.0).fit(X)
    E, W = kernel(X, X[rows]), kernel(X[rows], X[rows])
    smooth = W + 50 / (200 * np.trace(W) / 20) * E.T @ nearest_graph_laplacian(X) @ E
    expected, plain = (E @ np.linalg.pinv(each) @ E.T for each in (smooth, W))
    H = np.eye(200) - 1 / 200
    expected *= np.trace(H @ plain) / np.trace(H @ expected)
    assert_close(model.learned_kernel(X, X), expected, 1e7)
    assert model.smoothness_ == 50.0 and model.prior_weight_ == np.inf


def test_labels_spread_along_manifolds():
    """Five labels on each of two moons, four times: smooth features are better on average and never worse."""
    gains = []
    for seed in range(4):
        X, y = make_moons(1000, noise=0.08, random_state=seed)
        rng, known = np.random.default_rng(seed), np.full(1000, -1)
        for c in (0, 1):
            known[rng.permutation(np.flatnonzero(y == c))[:5]] = c
        scores = []
        for smoothness in (0.0, "auto"):
            F = PriorNystroem(100, smoothness=smoothness, random_state=0).fit(X, known).transform(X)
            machine = LogisticRegression(C=1e3, max_iter=2000).fit(F[known >= 0], y[known >= 0])
            scores.append(machine.score(F, y))
        gains.append(scores[1] - scores[0])
    assert min(gains) >= 0 and np.mean(gains) > 0.02


def test_labels_do_not_spread_where_directions_are_many_and_noisy(rng):
    X, y = noisy(rng, n=600, width=100)
    assert PriorNystroem(60, random_state=0).fit(X, with_gaps(y, 80)).smoothness_ == 0


def test_many_labels_choose_among_kernels_by_features_as_they_are(rng):
    X, y = make_circles(900, noise=0.05, factor=0.5, random_state=0)
    model = PriorNystroem(40, kernel=[RBF(100.0), RBF(0.7)], random_state=0).fit(X, with_gaps(y, 500))
    assert model.kernel_.bandwidth == 0.7
    with_weights = [(each.kernel, each.smoothness) for each in model.path_ if len(each.weights) > 1]
    assert with_weights == [(model.kernel_, model.smoothness_)]
    assert model.path_[0].errors.shape == (1, 500)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_class_of_one_sample_among_many_labels_does_not_decide(class_weight, rng):
    X, y = noisy(rng, n=700)
    y[y == 1] = 2
    y[5] = 1
    for seed in range(3):
        model = PriorNystroem(20, class_weight=class_weight, random_state=seed).fit(X, with_gaps(y, 600))
        assert model.smoothness_ == 0  # directions are many and noisy
        assert model.classes_.tolist() == [0, 1, 2]


def test_text_and_numbers_are_labels_alike(rng):
    X, y = noisy(rng)
    known = with_gaps(y, 60)
    names = np.array(["no", "yes"])
    text = np.where(known < 0, "-1", names[known])
    mixed = text.astype(object)
    mixed[mixed == "-1"] = -1
    models = [PriorNystroem(20, random_state=0, prior_weight=1e-6).fit(X, labels) for labels in (known, text, mixed)]
    for model in models[1:]:
        assert_close(model.dictionary_, models[0].dictionary_)
        assert list(model.classes_) == ["no", "yes"]


def test_pairs_are_learned_from(rng):
    X, y = noisy(rng, n=300, shift=2.0)
    pairs = rng.integers(300, size=(150, 2))
    pairs = pairs[pairs[:, 0] != pairs[:, 1]]
    same = y[pairs[:, 0]] == y[pairs[:, 1]]
    model = PriorNystroem(60, random_state=0).fit(X, pairs=(pairs[same], pairs[~same]))
    plain = PriorNystroem(60, random_state=0).fit(X)
    others = rng.integers(300, size=(2000, 2))
    target = (y[others[:, 0]] == y[others[:, 1]]).astype(float)
    aligned = [
        np.corrcoef(each.learned_kernel(X, X)[others[:, 0], others[:, 1]], target)[0, 1] for each in (model, plain)
    ]
    assert aligned[0] > aligned[1] + 0.1
    assert plain.prior_weight_ == np.inf and np.isnan(plain.alignment_)


def test_pairs_of_all_labelled_samples_are_as_good_as_the_labels(rng):
    X, y = noisy(rng, n=80)
    i, j = np.triu_indices(20)
    same = y[i] == y[j]
    settings = {"kernel": RBF(6.0), "landmarks": np.arange(0, 80, 5), "prior_weight": 1e-4}
    pairs = np.column_stack([i, j])
    of_pairs = PriorNystroem(**settings).fit(X, pairs=(pairs[same], pairs[~same]))
    of_labels = PriorNystroem(**settings).fit(X, with_gaps(y, 20))
    assert_close(of_pairs.objective_[0], of_labels.objective_[0], 1e9)
    assert_close(of_pairs.dictionary_, of_labels.dictionary_, 1e10)


def two_kinds(rng, n=200, m=150):
    """Users and items of three tastes, in coordinates that are hidden by noise."""
    left, right = rng.integers(3, size=n), rng.integers(3, size=m)
    centres = rng.standard_normal((3, 20)), rng.standard_normal((3, 20))
    X = centres[0][left] + rng.standard_normal((n, 20))
    Z = centres[1][right] + rng.standard_normal((m, 20))
    return X, left, Z, right


def held_out_auc(model, X, left, Z, right):
    K = model.learned_kernel(X[100:], Z[80:])
    return np.corrcoef(K.ravel(), (left[100:, None] == right[80:]).ravel())[0, 1]


def test_two_kinds_of_things_are_compared_by_what_rows_and_columns_are_called(rng):
    X, left, Z, right = two_kinds(rng)
    plain = PriorNystroem(40, random_state=0).fit(X, Z=Z)
    E, F = plain.kernel_(X, plain.components_), plain.kernel_(plain.components_left_, Z).T
    W = plain.kernel_(plain.components_left_, plain.components_)
    assert_close(plain.learned_kernel(X, Z), E @ np.linalg.pinv(W) @ F.T, 1e8)
    model = PriorNystroem(40, random_state=0).fit(X, with_gaps(left, 100), Z=Z, y_right=with_gaps(right, 80))
    assert model.dictionary_.shape == (40, 40)
    assert_close(model.transform(X) @ model.transform_right(Z).T, model.learned_kernel(X, Z))
    assert held_out_auc(model, X, left, Z, right) > held_out_auc(plain, X, left, Z, right) + 0.3


def test_two_kinds_of_things_are_compared_by_known_links(rng):
    X, left, Z, right = two_kinds(rng)
    pairs = np.column_stack([rng.integers(100, size=600), rng.integers(80, size=600)])
    linked = left[pairs[:, 0]] == right[pairs[:, 1]]
    model = PriorNystroem(40, kernel=SNE(8.0), random_state=0).fit(X, Z=Z, pairs=(pairs[linked], pairs[~linked]))
    plain = PriorNystroem(40, kernel=SNE(8.0), random_state=0).fit(X, Z=Z)
    assert held_out_auc(model, X, left, Z, right) > held_out_auc(plain, X, left, Z, right) + 0.3
    assert model.transform(X).shape[1] == model.transform_right(Z).shape[1] == model._n_features_out


def test_balanced_classes_weigh_the_same(rng):
    X, y = noisy(rng, n=300)
    rare = np.flatnonzero(y == 1)[10:]
    known = np.where(np.arange(300) < 200, y, -1)
    known[rare] = -1
    settings = {"kernel": RBF(6.0), "landmarks": np.arange(40), "prior_weight": 1e-5}
    within = []
    for class_weight in (None, "balanced"):
        model = PriorNystroem(class_weight=class_weight, **settings).fit(X, known)
        K = model.learned_kernel(X, X)
        few = K[np.ix_(known == 1, known == 1)].mean() / K[np.ix_(known == 0, known == 0)].mean()
        within.append(few)
    assert within[1] > within[0]
    even = np.where(np.isin(np.arange(300), np.concatenate([np.flatnonzero(y == c)[:20] for c in (0, 1)])), y, -1)
    same = [PriorNystroem(class_weight=w, **settings).fit(X, even).dictionary_ for w in (None, "balanced")]
    assert_close(*same)


def test_default_bandwidth_is_the_mean_distance(rng):
    X, Z = rng.standard_normal((30, 4)) + 5, rng.standard_normal((20, 4))
    for A, B in ((X, X), (X, Z), (sparse.csr_array(X), sparse.csr_array(Z))):
        dense = [np.asarray(side.todense()) if sparse.issparse(side) else side for side in (A, B)]
        assert root_mean_squared_distance(A, B) ** 2 == pytest.approx(euclidean_distances(*dense, squared=True).mean())
    model = PriorNystroem(10).fit(X)
    assert model.kernel_.bandwidth_**2 == pytest.approx(euclidean_distances(X, squared=True).mean())
    assert root_mean_squared_distance(np.ones((5, 2)), np.ones((5, 2))) == 1


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize(
    ("scale", "dtype", "message"),
    [
        (1e-300, float, "2 / ban"),
        (1e-30, np.float32, "2 / ban"),
        (1e160, float, "overflow"),
        (1e20, np.float32, "over"),
    ],
)
def test_samples_whose_squares_leave_the_range_of_floats_are_refused(scale, dtype, message, kind, rng):
    X = (scale * rng.standard_normal((30, 4))).astype(dtype)
    with pytest.raises(ValueError, match=f"{message}.*scale the data"), np.errstate(over="ignore", invalid="ignore"):
        PriorNystroem(10, landmarks="uniform").fit(kind(X))


def test_sparse_samples_give_what_dense_ones_do(rng):
    X = rng.standard_normal((120, 30)) * (rng.random((120, 30)) < 0.2)
    y = (X[:, 0] > 0).astype(int)
    rows = np.arange(0, 120, 4)
    dense, thin = (
        PriorNystroem(landmarks=rows, prior_weight=1e-5).fit(points, y) for points in (X, sparse.csr_array(X))
    )
    assert_close(thin.transform(sparse.csr_array(X)), dense.transform(X), 1e9)
    assert PriorNystroem(20).fit(sparse.csr_array(X), y).transform(sparse.csr_array(X)).shape == (120, 20)


def test_type_is_kept_and_threads_and_seeds_do_not_matter(rng):
    X, y = noisy(rng)
    models = [PriorNystroem(30, random_state=3, n_jobs=jobs).fit(X, y) for jobs in (1, 2, None)]
    for model in models[1:]:
        assert_close(model.transform(X), models[0].transform(X), 1e6)
    small = PriorNystroem(30, random_state=3).fit(X.astype(np.float32), y)
    assert small.transform(X.astype(np.float32)).dtype == np.float32
    again = pickle.loads(pickle.dumps(models[0]))
    assert (again.transform(X) == models[0].transform(X)).all()


def test_pipeline_and_grid_search_reach_its_parameters(rng):
    X, y = noisy(rng, n=150)
    pipe = make_pipeline(PCA(10), PriorNystroem(20, random_state=0), LogisticRegression())
    grid = {"priornystroem__prior_weight": [1e-6, np.inf], "priornystroem__kernel": [RBF(4.0), Laplacian(9.0)]}
    search = GridSearchCV(pipe, grid, cv=3, error_score="raise").fit(X, y)
    assert search.best_score_ > 0.7
    names = PriorNystroem(5, random_state=0).fit(X, y).get_feature_names_out()
    assert list(names) == [f"priornystroem{i}" for i in range(5)]


def test_what_says_nothing_is_the_plain_method_with_a_warning(rng):
    X, y = noisy(rng)
    plain = PriorNystroem(20, random_state=0).fit(X).transform(X)
    for labels, message in (
        (np.full(200, -1), "hold no label.*plain Nystrom"),
        (np.where(y == 0, -1, 1), "one class only, 1.*-1 means no label"),
        (np.array(["a"] * 200), "one class only, a"),
    ):
        with pytest.warns(LopsidedWarning, match=message):
            model = PriorNystroem(20, random_state=0).fit(X, labels)
        assert (model.transform(X) == plain).all()
        assert model.prior_weight_ == np.inf


def test_fewer_samples_than_landmarks_are_all_taken(rng):
    X, y = noisy(rng, n=15)
    with pytest.warns(RankWarning, match="n_components=100 exceeds the 15 samples"):
        model = PriorNystroem().fit(X, y)
    assert model.components_.shape == (15, 30)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        PriorNystroem(15).fit(X, y)


def test_landmarks_that_repeat_change_nothing(rng):
    X, y = noisy(rng)
    points = X[:20]
    once = PriorNystroem(kernel=RBF(6.0), landmarks=points, prior_weight=1e-4).fit(X, y)
    twice = PriorNystroem(kernel=RBF(6.0), landmarks=np.vstack([points, points]), prior_weight=np.inf).fit(X, y)
    plain = PriorNystroem(kernel=RBF(6.0), landmarks=points, prior_weight=np.inf).fit(X, y)
    assert_close(twice.learned_kernel(X, X), plain.learned_kernel(X, X), 1e7)
    assert np.isfinite(once.transform(X)).all()
    again = PriorNystroem(kernel=RBF(6.0), landmarks=np.vstack([points, points])).fit(X, y)
    assert np.isfinite(again.transform(X)).all()


X, Y = noisy(np.random.default_rng(0), n=40, width=6)
LINKS = [(0, 1), (2, 3)]
BAD = {
    "not_symmetric": ({"kernel": "sne"}, {"y": Y}, "SNE.*use RBF.*fit\\(X, Z=Z\\).*KernelSVD"),
    "asymmetric_function": ({"kernel": lambda A, B: A[:, :1] - 2 * B[:, :1].T}, {"y": Y}, "not a symmetric"),
    "indefinite": ({"kernel": Tanh(1.0, -3.0)}, {"y": Y}, "eigenvalue -.*use RBF"),
    "values": ({"kernel": "precomputed"}, {"y": Y}, "Precomputed.*of points"),
    "zero": ({"kernel": lambda A, B: np.zeros((len(A), len(B)))}, {"y": Y}, "zero between all landmarks"),
    "contradiction": (
        {},
        {"pairs": (LINKS, [(3, 2)])},
        r"1 pairs are in must_link and in.*\(2, 3\)",
    ),
    "apart_from_itself": ({}, {"pairs": (LINKS, [(4, 4)])}, r"\(4, 4\), but a sample is always linked to itself"),
    "out_of_range": ({}, {"pairs": ([(0, 40)], LINKS)}, "must_link has row numbers from 40 to 40.*0 to 39"),
    "negative": ({}, {"pairs": (LINKS, [(-1, 3)])}, "cannot_link has row numbers from -1"),
    "right_out_of_range": (
        {},
        {"Z": X, "pairs": (LINKS, [(0, 40)])},
        "cannot_link has.*40, but rows of Z are 0 to 39",
    ),
    "floats": ({}, {"pairs": ([(0.0, 1.0)], LINKS)}, "integer row numbers.*float64"),
    "triples": ({}, {"pairs": ([(0, 1, 2)], LINKS)}, r"shape \(p, 2\); got \(1, 3\)"),
    "no_pairs": ({}, {"pairs": ([], [])}, "pairs is empty"),
    "one_list": ({}, {"pairs": (LINKS,)}, "must_link, cannot_link"),
    "both": ({}, {"y": Y, "pairs": (LINKS, [])}, "both labels and pairs"),
    "labels_of_one_side": ({}, {"y": Y, "Z": X}, "also give y_right, the labels of Z, or give pairs"),
    "labels_of_the_other_side": ({}, {"y_right": Y, "Z": X}, "also give y, the labels of X"),
    "y_right_alone": ({}, {"y": Y, "y_right": Y}, "give Z"),
    "short": ({}, {"y": Y[:10]}, "inconsistent numbers of samples"),
    "continuous": ({}, {"y": np.linspace(0, 1, 40)}, "Unknown label type"),
    "mixed": ({}, {"y": np.array(["a", 3] * 20, dtype=object)}, "mixes labels of types int, str"),
    "weight": ({"prior_weight": 0.0}, {"y": Y}, "prior_weight.*Got 0.0"),
    "negative_weight": ({"prior_weight": -1.0}, {"y": Y}, "prior_weight.*Got -1.0"),
    "nan_weight": ({"prior_weight": np.nan}, {"y": Y}, "prior_weight.*Got nan"),
    "roughness": ({"smoothness": -1.0}, {"y": Y}, "smoothness.*Got -1.0"),
    "smooth_sides": ({"smoothness": 2.0}, {"Z": X}, "smoothness=2.0 compares neighbouring samples of one set"),
    "no_landmarks": ({"n_components": 0}, {"y": Y}, "n_components.*Got 0"),
    "strange_landmarks": ({"landmarks": "leverage"}, {"y": Y}, "landmarks.*kmeans"),
    "landmark_twice": ({"landmarks": [1, 1]}, {"y": Y}, "landmark 1 is named 2 times"),
    "landmark_width": ({"landmarks": np.ones((4, 2))}, {"y": Y}, "2.*6|6.*2"),
    "one_side": ({"landmarks": np.ones((4, 6))}, {"Z": X}, "pair, left and right; got 4"),
    "width": ({}, {"Z": np.ones((20, 3))}, "compares vectors of one width.*6 columns.*3"),
}


@pytest.mark.parametrize(("parameters", "arguments", "message"), BAD.values(), ids=BAD)
def test_input_that_makes_no_sense_is_refused(parameters, arguments, message):
    before = X.copy()
    with pytest.raises(ValueError, match=message):
        PriorNystroem(**{"n_components": 12, **parameters}).fit(X, **arguments)
    assert (before == X).all()


def test_right_samples_of_another_width_are_refused(rng):
    model = PriorNystroem(10).fit(X, Z=X[:20])
    with pytest.raises(ValueError, match="Z has 2 columns, but right samples have 6"):
        model.transform_right(X[:, :2])


def test_columns_of_right_samples_are_known_by_name(rng):
    X = pd.DataFrame(rng.standard_normal((40, 3)), columns=list("abc"))
    turned = X[["c", "a", "b"]]
    with pytest.raises(ValueError, match="column 0 of Z is 'c', but 'a' in X"):
        PriorNystroem(10).fit(X, Z=turned)
    model = PriorNystroem(10).fit(X, Z=X)
    assert model.n_features_right_ == 3
    with pytest.raises(ValueError, match="column 0 of Z is 'c', but 'a' in the Z of fit"):
        model.transform_right(turned)
    assert_close(model.transform_right(X.to_numpy()), model.transform_right(X), 1)
    of_function = PriorNystroem(10, kernel=lambda X, Z: np.exp(X[:, :1] @ Z[:, :1].T))
    for width in (2, 3):  # what a function compares is its own affair
        assert of_function.fit(X, Z=turned.iloc[:, :width]).n_features_right_ == width


def test_a_pair_held_out_is_held_out_in_both_orders():
    pairs = np.random.default_rng(0).permutation(40).reshape(20, 2)
    numbers, targets = np.concatenate([pairs, pairs[:, ::-1]]), np.tile(np.repeat([1.0, 0.0], 10), 2)
    for kept, out in folds_of(Pairs(numbers, targets), np.random.default_rng(0), one_set=True):
        assert not {tuple(pair[::-1]) for pair in numbers[out].tolist()} & set(map(tuple, numbers[kept].tolist()))
        assert len(kept) + len(out) == 40


def test_one_pair_or_one_label_leaves_nothing_to_hold_out():
    X = np.random.default_rng(0).standard_normal((60, 3))
    assert PriorNystroem(8).fit(X, pairs=([[0, 1]], [])).prior_weight_ == np.inf
    one = np.r_[0, np.full(59, -1)]
    assert PriorNystroem(8).fit(X, one, Z=X[:40], y_right=(X[:40, 0] > 0) * 1).prior_weight_ == np.inf


@pytest.mark.parametrize("two_kinds_of_things", [False, True])
def test_right_features_and_kernels_are_arrays_whatever_transform_returns(two_kinds_of_things, rng):
    X, Z = rng.standard_normal((40, 3)), rng.standard_normal((30, 3))
    model = PriorNystroem(10).fit(X, Z=Z if two_kinds_of_things else None)
    expected = model.transform_right(Z), model.learned_kernel(X, Z)
    model.set_output(transform="pandas")
    for found, values in zip((model.transform_right(Z), model.learned_kernel(X, Z)), expected, strict=True):
        assert type(found) is np.ndarray
        np.testing.assert_array_equal(found, values)


def length_of_mean(F):
    return np.linalg.norm(F.mean(axis=0))


@pytest.mark.parametrize("smoothness", [10.0, 1e5])
def test_smooth_features_vary_as_much_as_plain_ones_and_have_no_longer_mean(smoothness):
    X, y = load_iris(return_X_y=True)
    plain = PriorNystroem(20, smoothness=0.0, prior_weight=np.inf).fit(X, y)
    for weight in (0.01, 1.0, np.inf):
        smooth = PriorNystroem(20, smoothness=smoothness, prior_weight=weight).fit(X, y)
        assert_close(smooth.transform(X).var(axis=0).sum(), plain.transform(X).var(axis=0).sum(), ulps=1e6)
        assert_close(smooth.learned_kernel(X[:5], X[:9]), smooth.transform(X[:5]) @ smooth.transform(X[:9]).T)
        if np.isfinite(weight):
            assert length_of_mean(smooth.transform(X)) <= length_of_mean(plain.transform(X)) * (1 + 1e-9)


def test_penalised_classifiers_see_what_was_learned():
    X, y = load_breast_cancer(return_X_y=True)
    X, known = StandardScaler().fit_transform(X), np.where(np.arange(569) < 100, y, -1)
    F = PriorNystroem().fit(X, known).transform(X)
    assert LogisticRegression().fit(F[:100], y[:100]).score(F[100:], y[100:]) > 0.9


def test_pairs_of_two_sets_are_not_turned_round_for_the_folds():
    """(i, j) and (j, i) are links of different things there, and each is held out by itself."""
    pairs = Pairs(np.array([(0, 1), (1, 0), (2, 3), (3, 2), (4, 5), (5, 4)]), np.array([1.0, 0, 1, 0, 1, 0]))
    for one_set, sizes in ((True, {2}), (False, {1, 2})):
        folds = folds_of(pairs, np.random.default_rng(0), one_set=one_set)
        assert {len(out) for _, out in folds} == sizes


def test_features_that_vary_along_their_mean_alone_stay_finite():
    """One landmark gives one feature, whose mean cannot be shortened without its variance."""
    X, y = load_iris(return_X_y=True)
    plain = PriorNystroem(1, smoothness=0.0, prior_weight=np.inf).fit(X, y).transform(X)
    for weight in np.logspace(-8, 0, 20):
        smooth = PriorNystroem(1, smoothness=1e5, prior_weight=weight).fit(X, y).transform(X)
        assert_close(np.abs(smooth), np.abs(plain), ulps=1e7)
