"""PriorNystroem: scikit-learn's Nystroem at an infinite weight, and better features where labels tell."""

import numpy as np
import pytest
from noisy_classes import noisy, with_gaps
from sklearn.base import clone
from sklearn.datasets import load_breast_cancer, load_iris, make_circles, make_gaussian_quantiles, make_moons
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import Nystroem
from sklearn.linear_model import LogisticRegression
from sklearn.metrics.pairwise import euclidean_distances
from sklearn.preprocessing import StandardScaler
from sklearn.svm import LinearSVC

from cases import assert_close
from lopsided import PriorNystroem, SelfTrainedFeatures
from lopsided.kernels import RBF, SNE, Laplacian, Linear, Polynomial
from lopsided.prior_nystroem.criteria import Path, admitted
from lopsided.prior_nystroem.frames import N_NEIGHBOURS

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


def test_self_training_separates_clusters_better_than_few_labels_alone(rng):
    errors = [], []
    for seed in range(8):
        X, y = noisy(rng, n=600, width=60, shift=1.4)
        once = PriorNystroem(60, random_state=seed)
        twice = SelfTrainedFeatures(once).fit(X, with_gaps(y, 30))
        assert twice.n_self_labelled_ == 570
        for model, found in zip((once.fit(X, with_gaps(y, 30)), twice), errors, strict=True):
            F = model.transform(X)
            found.append(1 - LogisticRegression().fit(F[:30], y[:30]).score(F[30:], y[30:]))
    assert np.mean(errors[1]) < 0.8 * np.mean(errors[0])


def test_self_training_completes_the_labels_of_any_features(rng):
    X, y = noisy(rng, n=300, width=10)
    names = np.array(["no", "yes"])[y]
    for features in (Nystroem(n_components=40, random_state=0), PCA(5)):
        known = np.where(np.arange(300) < 60, names, "-1")
        model = SelfTrainedFeatures(features, max_labelled=100).fit(X, known)
        np.testing.assert_array_equal(model.labels_[:60], names[:60])
        assert model.n_self_labelled_ == 100 == (model.labels_[60:] != "-1").sum()
        np.testing.assert_array_equal(known[60:], "-1")
        np.testing.assert_allclose(model.transform(X), clone(features).fit(X).transform(X))


def test_self_training_without_labels_leaves_features_alone(rng):
    X, y = noisy(rng)
    for labels in (None, y):
        model = SelfTrainedFeatures(PriorNystroem(20)).fit(X, labels)
        assert model.n_self_labelled_ == 0
        np.testing.assert_array_equal(model.transform(X), PriorNystroem(20).fit(X, labels).transform(X))


def test_features_of_many_landmarks_are_the_leading_ones_of_the_learned_kernel(rng):
    X, y = noisy(rng)
    whole = PriorNystroem(40, random_state=0).fit(X, with_gaps(y, 30))
    few = PriorNystroem(7, n_landmarks=40, random_state=0).fit(X, with_gaps(y, 30))
    assert few.transform(X).shape == (len(X), 7)
    U, s, _ = np.linalg.svd(whole.transform(X))
    expected = (U[:, :7] * s[:7] ** 2) @ U[:, :7].T
    np.testing.assert_allclose(few.learned_kernel(X, X), expected, atol=1e-9 * s[0] ** 2)
    with pytest.raises(ValueError, match="n_landmarks=40 differs from n_components=7"):
        PriorNystroem(7, n_landmarks=40).fit(X, y, Z=X, y_right=y)


def test_rings_without_a_gap_are_learned_no_worse_than_by_plain_features():
    X, y = make_gaussian_quantiles(n_samples=900, n_features=10, n_classes=3, random_state=0)
    errors = {"auto": [], np.inf: []}
    for seed in range(4):
        order = np.random.default_rng(seed).permutation(900)
        known = with_gaps(y[order], 100)
        for weight, found in errors.items():
            F = PriorNystroem(90, prior_weight=weight, random_state=seed).fit(X[order], known).transform(X[order])
            unit = np.sqrt(np.square(F).sum(axis=1).mean())
            found.append(1 - LinearSVC(C=3.0).fit(F[:100] / unit, known[:100]).score(F[100:] / unit, y[order][100:]))
    assert np.mean(errors["auto"]) <= np.mean(errors[np.inf])


def test_smoothing_is_admitted_only_if_it_is_of_use_by_itself():
    def path(*means):
        return Path(np.array([1.0, np.inf]), np.array(means)[:, None])

    paths = [path(0.5, 0.6), path(0.7, 0.5), path(0.1, 0.55), path(0.6, 0.4)]
    assert admitted(paths, [False, False, True, True]) == [0, 1, 3]
    assert admitted(paths, [True] * 4) == [0, 1, 2, 3]


def test_a_small_memory_budget_reads_fewer_samples(rng):
    X, y = noisy(rng)
    model = PriorNystroem(20, memory_budget=4 * 20 * 8 * 50).fit(X, with_gaps(y, 30))
    assert np.isfinite(model.transform(X)).all()


@pytest.mark.parametrize("settings", [{}, {"prior_weight": 1e-4}], ids=repr)
@pytest.mark.parametrize("factor", [1e-200, 1e4])
def test_multiples_of_a_kernel_learn_the_same(factor, settings, rng):
    X, y = noisy(rng)
    known = with_gaps(y, 30)
    one, other = (
        PriorNystroem(30, kernel=kernel, random_state=0, **settings).fit(X, known)
        for kernel in (RBF(8.0), factor * RBF(8.0))
    )
    assert_close(other.transform(X) / np.sqrt(factor), one.transform(X), 1e9)


@pytest.mark.parametrize("unit", [1e-120, 1e120])
def test_units_of_the_data_do_not_matter_to_a_linear_kernel(unit, rng):
    X, y = noisy(rng, width=10)
    known = with_gaps(y, 30)
    one, other = (PriorNystroem(10, kernel=Linear(), random_state=0).fit(c * X, known) for c in (1.0, unit))
    assert_close(other.transform(unit * X) / unit, one.transform(X), 1e9)


def some_of(n, labels, **changes):
    """Samples of two classes, of which the first have a label, and whatever else is to differ."""
    X, y = noisy(np.random.default_rng(0), n=n, **changes)
    return X, with_gaps(y, labels)


def one_label_per_class():
    X, y = some_of(200, 200)
    return X, np.where(np.isin(np.arange(200), [y.argmin(), y.argmax()]), y, -1)


def labelled_samples_of_zeros():
    X, y = some_of(200, 30, width=10)
    return np.where(y[:, None] < 0, X, 0.0), y


def labels_at_random(seed):
    X, _ = some_of(700, 0, width=10)
    return X, with_gaps(np.random.default_rng(seed + 1).integers(2, size=700), 100)


UNRELIABLE = {
    "no others": ({}, some_of(300, 300)),
    "given weight": ({"prior_weight": 1e-4}, some_of(460, 60)),
    "criterion": ({"prior_weight": "alignment"}, some_of(460, 60)),
    "nothing to hold out": ({}, one_label_per_class()),
    "no features": ({"kernel": Linear()}, labelled_samples_of_zeros()),
    **{f"random labels {seed}": ({}, labels_at_random(seed)) for seed in range(4)},
}


@pytest.mark.parametrize(("settings", "data"), UNRELIABLE.values(), ids=UNRELIABLE)
def test_unreliable_labels_are_completed_to_finite_features(settings, data):
    model = SelfTrainedFeatures(PriorNystroem(20, random_state=0, **settings)).fit(*data)
    assert model.n_self_labelled_ == (data[1] == -1).sum()
    assert np.isfinite(model.transform(data[0])).all()


def test_random_labels_leave_the_prior_alone(rng):
    X = rng.standard_normal((300, 10))
    y = rng.integers(2, size=300)
    assert PriorNystroem(40, random_state=0).fit(X, with_gaps(y, 100)).prior_weight_ >= 1e-2


def test_the_path_shows_what_was_compared_and_the_best_of_it_is_taken():
    X, y = make_circles(400, noise=0.05, factor=0.5, random_state=0)
    kernels = [RBF(100.0), RBF(0.7)]
    model = PriorNystroem(40, kernel=kernels, random_state=0).fit(X, with_gaps(y, 80))
    assert {each.kernel.bandwidth for each in model.path_} == {100.0, 0.7}
    assert all(each.errors.shape == (len(each.weights), 80) for each in model.path_)
    best = min(model.path_, key=lambda each: each.errors.mean(axis=1).min())
    assert (best.kernel, best.smoothness) == (model.kernel_, model.smoothness_) and best.kernel.bandwidth == 0.7
    with pytest.raises(ValueError, match="lists 2 kernels.*set prior_weight to 'auto'"):
        PriorNystroem(40, kernel=kernels, prior_weight=1.0).fit(X, y)
    with pytest.raises(ValueError, match="lists 2 kernels.*give labels or pairs"):
        PriorNystroem(40, kernel=kernels).fit(X)
    with pytest.raises(ValueError, match="lists 0 kernels"):
        PriorNystroem(40, kernel=[]).fit(X, y)


def nearest_graph_laplacian(X):
    """Dense, by sorting all distances."""
    D = euclidean_distances(X)
    np.fill_diagonal(D, np.inf)
    A = np.zeros_like(D)
    np.put_along_axis(A, np.argsort(D, axis=1)[:, :N_NEIGHBOURS], 1.0, axis=1)
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


def test_of_many_labels_the_weight_is_selected_for_the_best_kernel_alone():
    X, y = make_circles(900, noise=0.05, factor=0.5, random_state=0)
    model = PriorNystroem(40, kernel=[RBF(100.0), RBF(0.7)], random_state=0).fit(X, with_gaps(y, 500))
    assert model.kernel_.bandwidth == 0.7
    with_weights = [(each.kernel, each.smoothness) for each in model.path_ if len(each.weights) > 1]
    assert with_weights == [(model.kernel_, model.smoothness_)]
    assert model.path_[0].errors.shape == (1, 500)


@pytest.mark.parametrize("class_weight", [None, "balanced"])
def test_a_class_with_one_label_among_many_does_not_decide(class_weight, rng):
    X, y = noisy(rng, n=700)
    y[y == 1] = 2
    y[5] = 1
    for seed in range(3):
        model = PriorNystroem(20, class_weight=class_weight, random_state=seed).fit(X, with_gaps(y, 600))
        assert model.smoothness_ == 0  # directions are many and noisy
        assert model.classes_.tolist() == [0, 1, 2]


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


def test_a_kernel_between_two_kinds_of_things_is_learned_from_labels_of_both(rng):
    X, left, Z, right = two_kinds(rng)
    plain = PriorNystroem(40, random_state=0).fit(X, Z=Z)
    E, F = plain.kernel_(X, plain.components_), plain.kernel_(plain.components_left_, Z).T
    W = plain.kernel_(plain.components_left_, plain.components_)
    assert_close(plain.learned_kernel(X, Z), E @ np.linalg.pinv(W) @ F.T, 1e8)
    model = PriorNystroem(40, random_state=0).fit(X, with_gaps(left, 100), Z=Z, y_right=with_gaps(right, 80))
    assert model.dictionary_.shape == (40, 40)
    assert_close(model.transform(X) @ model.transform_right(Z).T, model.learned_kernel(X, Z))
    assert held_out_auc(model, X, left, Z, right) > held_out_auc(plain, X, left, Z, right) + 0.3


def test_a_kernel_between_two_kinds_of_things_is_learned_from_links(rng):
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


def test_one_pair_or_one_label_leaves_nothing_to_hold_out():
    X = np.random.default_rng(0).standard_normal((60, 3))
    assert PriorNystroem(8).fit(X, pairs=([[0, 1]], [])).prior_weight_ == np.inf
    one = np.r_[0, np.full(59, -1)]
    assert PriorNystroem(8).fit(X, one, Z=X[:40], y_right=(X[:40, 0] > 0) * 1).prior_weight_ == np.inf


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


def test_penalised_classifiers_work_on_the_features():
    X, y = load_breast_cancer(return_X_y=True)
    X, known = StandardScaler().fit_transform(X), np.where(np.arange(569) < 100, y, -1)
    F = PriorNystroem().fit(X, known).transform(X)
    assert LogisticRegression().fit(F[:100], y[:100]).score(F[100:], y[100:]) > 0.9


def test_features_that_vary_along_their_mean_alone_stay_finite():
    """One landmark gives one feature, whose mean cannot be shortened without its variance."""
    X, y = load_iris(return_X_y=True)
    plain = PriorNystroem(1, smoothness=0.0, prior_weight=np.inf).fit(X, y).transform(X)
    for weight in np.logspace(-8, 0, 5):
        smooth = PriorNystroem(1, smoothness=1e5, prior_weight=weight).fit(X, y).transform(X)
        assert_close(np.abs(smooth), np.abs(plain), ulps=1e7)


def test_the_solver_used_is_recorded_with_the_reason(rng):
    samples, y = noisy(rng)
    found = {}
    for name, settings in {"steps": {}, "slow": {"solver": "gradient"}, "start": {"max_iter": 0}}.items():
        found[name] = PriorNystroem(40, prior_weight=1e-7, tol=1e-6, **{"max_iter": 10_000, **settings}).fit(samples, y)
    assert [model.solver_.name for model in found.values()] == ["accelerated", "gradient", "closed"]
    assert "max_iter=0" in found["start"].solver_.reason and found["start"].n_iter_ == 1
    assert found["steps"].objective_[-1] == pytest.approx(found["slow"].objective_[-1], rel=1e-3)
    assert "semidefinite" in PriorNystroem(40, prior_weight=1e3).fit(samples, y).solver_.reason
    assert "with Z" in PriorNystroem(20, prior_weight=1e-3).fit(samples, y, Z=samples, y_right=y).solver_.reason
