"""The choice of a kernel: exact leave-one-out on samples or on a subset, and what is told about it."""

import itertools
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.stats import ttest_rel
from sklearn.datasets import make_circles, make_gaussian_quantiles
from sklearn.metrics import log_loss

from lopsided import AsymmetricLSSVC, AsymmetricLSSVR, Nystrom
from lopsided._core import jobs
from lopsided.datasets import make_citation_graph
from lopsided.exceptions import FallbackWarning, LopsidedWarning, NearSingularWarning
from lopsided.kernels import RBF, SNE, TL1, Diffusion, Laplacian, Linear, NodeKernel, Ranked, Standardised, StudentT
from lopsided.least_squares import build, select_kernel
from lopsided.least_squares.merging import HeldOutResult
from lopsided.least_squares.select_kernel import Trial, _simplest_of_the_best, _symmetric_first

pytestmark = pytest.mark.filterwarnings(f"ignore::{NearSingularWarning.__module__}.{NearSingularWarning.__name__}")


@pytest.fixture
def rings():
    return make_circles(160, noise=0.1, factor=0.4, random_state=0)


def test_a_kernel_in_a_list_is_judged_as_if_it_were_alone(rings):
    X, y = rings
    kernels = [Linear(), RBF(0.5), Laplacian(1.0), SNE(0.5)]
    chosen = AsymmetricLSSVC([0.1, 1.0, 10.0], kernel=kernels).fit(X, y)
    for kernel, C, error, score, n_samples in chosen.kernel_path_:
        alone = AsymmetricLSSVC([0.1, 1.0, 10.0], kernel=[kernel]).fit(X, y)
        assert n_samples == len(X)
        assert (alone.C_, alone.held_out_score_) == (C, score)
        assert error == pytest.approx(alone.path_["error"].min())
    best = chosen.kernel_path_[0]
    np.testing.assert_allclose(
        chosen.decision_function(X), AsymmetricLSSVC(best.C, kernel=best.kernel).fit(X, y).decision_function(X)
    )


def test_classes_are_judged_by_the_log_loss_of_calibrated_probabilities(rings):
    X, y = rings
    model = AsymmetricLSSVC([1.0], kernel=[RBF(0.5)]).fit(X, y)

    def loss(slope):
        """Platt's, in which one label in n + 2 is wrong."""
        wrong, p = 1 / (len(X) + 2), 1 / (1 + np.exp(-slope * model.merger_ * model.held_out_predictions_))
        return (1 - wrong) * log_loss(y, p) + wrong * log_loss(1 - y, p)

    assert model.kernel_path_[0].error == pytest.approx(loss(1))
    assert loss(1) < min(loss(0.8), loss(1.25))


def test_the_choice_suits_the_data(rings, rng):
    assert AsymmetricLSSVC().fit(*rings).held_out_score_ > 0.95
    X = rng.standard_normal((120, 5))
    model = AsymmetricLSSVR().fit(X, X @ np.arange(5) + 0.1 * rng.standard_normal(120))
    assert model.held_out_score_ > 0.99


@pytest.mark.parametrize("scale", [1e-6, 1e6])
def test_the_unit_of_the_data_does_not_matter(scale, rings):
    X, y = rings
    one, other = AsymmetricLSSVC().fit(X, y), AsymmetricLSSVC().fit(scale * X, y)
    assert type(one.kernel_) is type(other.kernel_)
    np.testing.assert_array_equal(one.predict(X), other.predict(scale * X))


def test_sparse_samples_choose_as_dense_ones_do_but_are_not_ranked(monkeypatch, rng):
    X = rng.standard_normal((90, 6)) * (rng.random((90, 6)) < 0.4)
    y = X[:, 0] > X[:, 1]
    ranked = AsymmetricLSSVC().fit(X, y).kernel_path_
    assert any(isinstance(each.kernel, Ranked) for each in ranked)
    monkeypatch.setattr(select_kernel, "is_sparse", lambda X: True)
    one, other = AsymmetricLSSVC().fit(X, y), AsymmetricLSSVC().fit(sparse.csr_array(X), y)
    chosen = [model.kernel_path_[0].kernel.get_params() for model in (one, other)]
    assert chosen[0].keys() == chosen[1].keys()
    assert [type(each) for each in chosen[0].values()] == [type(each) for each in chosen[1].values()]
    assert chosen[0]["kernel__bandwidth"] == pytest.approx(chosen[1]["kernel__bandwidth"])


@pytest.mark.parametrize("width", [1, 3, 8])
def test_bandwidths_are_in_units_of_the_spread_of_the_samples(width, rng):
    """Two samples are apart by twice the sum of the variances, in the mean of their squared distance."""
    X = rng.standard_normal((50, width)) * rng.uniform(1, 2, width)
    spread = np.sqrt(X.var(axis=0).sum())
    for kind in (RBF, StudentT, SNE):
        found = [
            each.bandwidth for each in itertools.chain(*select_kernel.list_kernels("auto", X)) if type(each) is kind
        ]
        np.testing.assert_allclose(found, spread * select_kernel.FRACTIONS)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
def test_bandwidths_of_the_laplacian_are_in_units_of_the_spread_of_each_column(kind, rng):
    X = rng.standard_normal((50, 4)) * [1, 10, 0.1, 0] + [0, 5, 100, 1000]
    kernels = itertools.chain(*select_kernel.list_kernels("auto", kind(X)))
    found = [each.bandwidth for each in kernels if type(each) is Laplacian]
    np.testing.assert_allclose(found, X.std(axis=0).sum() * select_kernel.FRACTIONS)


@pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])
def test_where_columns_begin_does_not_matter(estimator, rng):
    """All kernels but the linear one compare differences of points, and centring makes it one that does."""
    X = np.round(rng.standard_normal((90, 3)), 3)
    y = np.abs(X).sum(axis=1) > 2.2
    one, other = estimator().fit(X, y), estimator().fit(X + np.array([1000.0, -300.0, 20.0]), y)
    assert [type(each.kernel) for each in one.kernel_path_] == [type(each.kernel) for each in other.kernel_path_]
    errors = [[each.error for each in model.kernel_path_] for model in (one, other)]
    np.testing.assert_allclose(*errors, rtol=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("settings", [{}, {"kernel": "sne"}, {"kernel": "sne", "merge": "stack"}], ids=str)
def test_units_of_several_targets_do_not_matter(settings, weighted, rng):
    X = rng.uniform(-2, 2, (80, 2))
    Y = np.column_stack([X[:, 0] + rng.standard_normal(80), np.sin(4 * X[:, 1])])
    units, weights = np.array([1e5, 1e-2]), rng.random(80) if weighted else None
    one, other = (AsymmetricLSSVR(**settings).fit(X, targets, weights) for targets in (Y, units * Y + [0, 3]))
    assert repr(one.kernel_) == repr(other.kernel_) and one.C_ == other.C_
    np.testing.assert_allclose((other.predict(X) - [0, 3]) / units, one.predict(X), rtol=1e-6, atol=1e-6)
    assert other.held_out_score_ == pytest.approx(one.held_out_score_)


def test_a_target_that_is_constant_up_to_rounding_decides_nothing(rng):
    X = rng.standard_normal((60, 2))
    y, constant = X[:, 0] + 0.3 * rng.standard_normal(60), np.where(np.arange(60) % 2, 0.3, 0.1 + 0.2)
    assert len(np.unique(constant)) == 2
    assert AsymmetricLSSVR().fit(X, np.column_stack([y, constant])).C_ == AsymmetricLSSVR().fit(X, y).C_


def near_bandwidths(kernel):
    return [type(kernel)(kernel.bandwidth / 2), type(kernel)(kernel.bandwidth * 2)]


def test_bandwidths_near_the_best_kernels_are_compared_next(rings):
    first = select_kernel.list_kernels("auto", rings[0])[0]
    without = AsymmetricLSSVC(kernel=first).fit(*rings).kernel_path_
    near = [replaced for each in without[:2] for replaced in near_bandwidths(each.kernel)]
    path = AsymmetricLSSVC().fit(*rings).kernel_path_
    unranked = [repr(each.kernel) for each in path if not isinstance(each.kernel, Ranked)]
    assert sorted(unranked) == sorted(map(repr, [*first, *near]))
    assert path[0].error <= without[0].error


def test_a_second_round_on_hardly_more_samples_is_left_out(monkeypatch, rings):
    monkeypatch.setattr(select_kernel, "FIRST_SAMPLES", 120)
    assert {each.n_samples for each in AsymmetricLSSVC().fit(*rings).kernel_path_} == {121}  # one of a class is added


def test_beyond_a_bound_the_choice_is_made_on_a_subset_and_said(monkeypatch, rings):
    monkeypatch.setattr(select_kernel, "FIRST_SAMPLES", 40)
    monkeypatch.setattr(select_kernel, "MOST_SAMPLES", 100)
    model = AsymmetricLSSVC().fit(*rings)
    assert [each.n_samples for each in model.kernel_path_[:4]] == [102, 102, 102, 42]  # one of each class is added
    assert "chosen on 102 of 160 samples" in model.solver_.reason
    small = AsymmetricLSSVC(memory_budget=20_000).fit(*rings)
    assert max(each.n_samples for each in small.kernel_path_) <= 102  # the least, however small the budget


def test_beyond_a_bound_samples_are_compared_with_landmarks_and_it_is_said(monkeypatch, rings):
    X, y = rings
    exact = AsymmetricLSSVC().fit(X, y)
    monkeypatch.setattr(build, "EXACT_SIZE", 100)
    monkeypatch.setattr(build, "MANY_LANDMARKS", 80)
    monkeypatch.setattr(build, "N_LANDMARKS", 70)
    model = AsymmetricLSSVC().fit(X, y)
    assert model.solver_.name == "nystrom" and "160 samples are more than the 100 that" in model.solver_.reason
    assert len(model.X_fit_) == 80 and model.score(X, y) >= exact.score(X, y) - 0.02
    assert AsymmetricLSSVC(kernel=RBF(0.5)).fit(X, y).solver_.name != "nystrom"
    monkeypatch.setattr(build, "N_LANDMARKS", 400)  # for more the budget has no room
    assert AsymmetricLSSVC(memory_budget="1MB").fit(X, y).solver_.name != "nystrom"


def test_of_many_samples_symmetric_kernels_are_compared(monkeypatch, rings):
    assert not all(each.kernel.symmetric for each in AsymmetricLSSVC(solver=Nystrom(50)).fit(*rings).kernel_path_)
    monkeypatch.setattr(build, "EXACT_SIZE", 100)
    assert all(each.kernel.symmetric for each in AsymmetricLSSVC(solver=Nystrom(50)).fit(*rings).kernel_path_)


def test_landmarks_grow_with_the_samples_up_to_a_bound():
    sizes = [4_000, 5_000, 20_000, 36_000, 40_000, 400_000, 4_000_000]
    found = [build.many_landmarks(RBF(), np.broadcast_to(np.float32(0), (n, 3)), 10**13) for n in sizes]
    assert found[0] is None
    counts = [solver.n_landmarks for solver, _ in found[1:]]
    assert counts == sorted(counts) and counts[0] < counts[-1] == counts[-2]


def test_landmarks_fit_the_budget():
    X, budget = np.broadcast_to(0.0, (60_000, 3)), 4 * 10**9
    (one, _), (two, _) = (build.many_landmarks(kernel, X, budget) for kernel in (RBF(), SNE()))
    assert one.n_landmarks > two.n_landmarks
    assert 6 * 8 * 60_000 * two.n_landmarks <= budget
    assert build.many_landmarks(RBF(), X, budget // 4) is None


def test_many_samples_in_a_small_budget_get_the_landmarks_that_fit(monkeypatch, rng):
    """Without them MINRES would evaluate the kernel at every step, and only at a small C."""
    monkeypatch.setattr(build, "EXACT_SIZE", 400)
    X = rng.standard_normal((2000, 3))
    y, budget = np.sin(3 * X[:, 0]), 3 * 8 * 2000 * 150
    model = AsymmetricLSSVR(memory_budget=budget, n_jobs=1).fit(X, y)
    assert model.solver_.name == "nystrom" and len(model.X_fit_) == 150
    assert model.held_out_score_ > 0.9
    with jobs(1):
        assert build.many_landmarks(RBF(), X, budget, few=True)[0].n_landmarks == 150
        assert build.many_landmarks(RBF(), X, 3 * 8 * 2000 * build.FEWEST_LANDMARKS, few=True) is None
    monkeypatch.setattr(build, "landmark_bytes", lambda *args: budget + 1)  # of many threads
    assert build.many_landmarks(RBF(), X, budget, few=True) is None


def test_graph_kernels_are_compared_over_their_parameters():
    A, labels = make_citation_graph(150, random_state=0)
    nodes = np.arange(150)[:, None]
    kernels = [NodeKernel(A), *(Diffusion(A, restart=restart) for restart in (0.1, 0.5))]
    model = AsymmetricLSSVC(kernel=kernels).fit(nodes, labels)
    assert len(model.kernel_path_) == 3
    assert model.predict(nodes[:5]).shape == (5,)


def test_the_record_prints_as_a_table(rings):
    lines = str(AsymmetricLSSVC(kernel=[Linear(), RBF(0.5)]).fit(*rings).kernel_path_).splitlines()
    assert lines[0].split() == ["error", "score", "C", "samples", "kernel"]
    assert lines[1].endswith("RBF(bandwidth=0.5)") and lines[2].endswith("Linear()")


@pytest.mark.parametrize("container", [np.asarray, sparse.csr_array])
def test_a_kernel_takes_one_line_in_the_record(container, rng):
    """The matrix among the parameters of a graph kernel prints in several lines."""
    A, y = container(rng.random((40, 40)) < 0.1), np.arange(40) % 2
    path = AsymmetricLSSVC(kernel=[NodeKernel(A), Diffusion(A)]).fit(np.arange(40.0)[:, None], y).kernel_path_
    lines = str(path).splitlines()
    kinds = sorted(kind for line in lines[1:] for kind in ("Diffusion(", "NodeKernel(") if f"  {kind}" in line)
    assert len(lines) == 3 and kinds == ["Diffusion(", "NodeKernel("]


def test_a_score_of_all_is_one(rng):
    X = rng.standard_normal((57, 2))
    y = X[:, 0] > 0
    for weights in (None, np.ones(57)):
        assert AsymmetricLSSVC([1e3], kernel="linear").fit(X + 9 * y[:, None], y, weights).held_out_score_ == 1


def test_a_kernel_that_fails_is_left_out_and_all_that_fail_are_named(rings):
    def fails(X, Z):
        raise ValueError("no such luck")

    X, y = rings
    with pytest.warns(FallbackWarning, match="1 of 2 kernels cannot be compared .* left out; .*no such luck") as told:
        model = AsymmetricLSSVC(kernel=[fails, RBF(0.5)]).fit(X, y)
    assert len(model.kernel_path_) == len(told) == 1
    with pytest.raises(ValueError, match="none of 1 kernels can be compared.*no such luck"):
        AsymmetricLSSVC(kernel=[fails]).fit(X, y)
    with pytest.raises(ValueError, match="lists no kernel"):
        AsymmetricLSSVC(kernel=[]).fit(X, y)


def test_kernels_that_fail_only_on_more_samples_are_named_too(monkeypatch, rings):
    def fails_on_many(X, Z):
        if len(X) > 60:
            raise ValueError("too many for me")
        return X @ Z.T

    monkeypatch.setattr(select_kernel, "FIRST_SAMPLES", 50)
    with pytest.raises(ValueError, match="none of 1 kernels can be compared.*too many for me"):
        AsymmetricLSSVC(kernel=[fails_on_many]).fit(*rings)
    with pytest.warns(FallbackWarning, match="1 of 2 kernels .* left out; .*too many for me"):
        model = AsymmetricLSSVC(kernel=[fails_on_many, RBF(0.5)]).fit(*rings)
    assert isinstance(model.kernel_, RBF)


@pytest.mark.parametrize("merge", ["mean", "source", "target", "stack"])
def test_every_merge_and_a_class_of_one_sample(merge, rings):
    X, y = rings
    y = y.copy()
    y[0] = 2
    model = AsymmetricLSSVC(merge=merge).fit(X, y)
    assert model.predict_proba(X[:3]).shape == (3, 3)
    assert np.isfinite(model.predict_proba(X)).all()


def test_in_doubt_the_first_units_are_used():
    rng = np.random.default_rng(0)
    losses = rng.exponential(size=50) + 0.3 * rng.standard_normal((3, 50)) + [[0.0], [0.02], [0.4]]  # alike, and worse
    shares = losses / losses.shape[1]
    trials = [[Trial(Linear(), 1.0, HeldOutResult(None, np.zeros((50, 1)), each, 0.0))] for each in shares]
    best = int(np.argmin(losses.sum(axis=1)))
    for order in itertools.permutations(range(3)):
        tests = [ttest_rel(losses[place], losses[best]).statistic if place != best else 0.0 for place in order]
        expected = next(place for place, t in zip(order, tests, strict=True) if t * np.sqrt(50 / 49) <= 1)
        assert order[_simplest_of_the_best([trials[place] for place in order])] == expected
    assert _simplest_of_the_best([[], trials[0], []]) == 1
    assert _simplest_of_the_best([[]]) == 0


@pytest.mark.parametrize("gap", [0.0, 0.5])
def test_an_asymmetric_kernel_comes_first_only_if_it_is_better_by_a_standard_error(gap, rng):
    losses = rng.exponential(size=(4, 50)) + np.array([[0.3], [0.35], [0.31 + gap], [0.4 + gap]])
    kernels = [SNE(1.0), StudentT(1.0), RBF(1.0), Standardised(Laplacian(1.0))]
    ranked = [
        Trial(kernel, 1.0, HeldOutResult(None, np.zeros((50, 1)), each / 50, 0.0))
        for kernel, each in zip(kernels, losses, strict=True)
    ]
    ranked.sort(key=lambda each: each.result.error)
    best, symmetric = ranked[0], next(each for each in ranked if each.kernel.symmetric)
    better = best is not symmetric and ttest_rel(symmetric.result.losses, best.result.losses).statistic > 1
    on_few = Trial(Linear(), 1.0, HeldOutResult(None, np.zeros((20, 1)), np.zeros(20), 0.0))  # not to be paired
    assert better == bool(gap)
    found = _symmetric_first([*ranked, on_few])
    assert found[0] is (best if better else symmetric)
    assert {id(each) for each in found} == {id(each) for each in [*ranked, on_few]}
    assert all(_symmetric_first(level) == level for level in ([symmetric], [best]))


@pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])
def test_units_of_columns_do_not_matter_where_standardised_ones_are_better(estimator):
    rng = np.random.default_rng(0)
    X = np.hstack([*np.meshgrid([-1.0, 1.0], np.linspace(-1, 1, 60), indexing="ij")]).reshape(2, -1).T
    X = np.hstack([X, rng.standard_normal((len(X), 2))])
    y = np.sign(X[:, 0] * X[:, 1]) if estimator is AsymmetricLSSVC else np.sin(3 * X[:, 1]) * X[:, 0]
    units = np.array([1e-3, 1.0, 1e3, 1e4])
    plain, scaled = estimator().fit(X, y), estimator().fit(X * units, y)
    assert isinstance(scaled.kernel_, Standardised)
    assert scaled.held_out_score_ > plain.held_out_score_ - 0.02
    np.testing.assert_allclose(scaled.kernel_.scale_, (X * units).std(axis=0))
    assert not any(isinstance(each.kernel, Standardised) for each in estimator().fit(X / X.std(axis=0), y).kernel_path_)


@pytest.mark.parametrize("estimator", [AsymmetricLSSVC, AsymmetricLSSVR])
def test_increasing_functions_of_columns_do_not_matter_where_ranks_are_better(estimator, rng):
    X = rng.standard_normal((150, 4))
    f = X[:, 0] + X[:, 1] * X[:, 2]
    y = f > 0 if estimator is AsymmetricLSSVC else f
    plain, bent = estimator().fit(X, y), estimator().fit(np.sign(X) * np.expm1(4 * np.abs(X)), y)
    assert isinstance(bent.kernel_, Ranked)
    assert bent.held_out_score_ > plain.held_out_score_ - 0.1
    unranked = [each for each in bent.kernel_path_ if not isinstance(each.kernel, Ranked)]
    assert bent.kernel_path_[0].score > max(each.score for each in unranked) + 0.1


def test_a_map_of_columns_that_kernels_share_is_applied_once_to_the_same_effect(rings):
    X, y = rings
    shared = AsymmetricLSSVC([1.0], kernel=[Ranked(RBF(0.5)), Ranked(SNE(1.0))]).fit(X, y).kernel_path_
    mixed = AsymmetricLSSVC([1.0], kernel=[Ranked(RBF(0.5)), Ranked(SNE(1.0)), Linear()]).fit(X, y).kernel_path_
    found = {repr(each.kernel): each.error for each in mixed}
    assert all(each.error == pytest.approx(found[repr(each.kernel)], rel=1e-9) for each in shared)


def test_a_reason_that_kernels_share_is_given_once(rings):
    with pytest.raises(
        ValueError, match=r"none of 2 kernels .* RBF\(bandwidth=1.0\), Linear\(\): without some"
    ) as caught:
        AsymmetricLSSVC([1e140], kernel=[RBF(1.0), Linear()]).fit(*rings)
    assert str(caught.value).count("singular") == 1


@pytest.mark.parametrize("kernel", [RBF(1e100), SNE(1e100), "auto"])
def test_samples_that_a_kernel_cannot_tell_apart_are_named(kernel, rings):
    X, y = (np.ones((20, 2)), np.arange(20) % 3 == 0) if kernel == "auto" else rings
    with pytest.warns(LopsidedWarning, match="as if all samples were alike"):
        model = AsymmetricLSSVC(kernel=kernel).fit(X, y)
    assert len(np.unique(model.predict(X))) == 1
    np.testing.assert_allclose(model.predict_proba(X), model.predict_proba(X[:1]).repeat(len(X), axis=0), atol=1e-6)


@pytest.mark.parametrize("kernel", [RBF(1e-3), SNE(1e-3), Laplacian(1e-3), TL1(1e-3)], ids=repr)
@pytest.mark.parametrize("solver", ["auto", "minres", Nystrom(20)], ids=str)
def test_samples_that_a_kernel_finds_like_none_other_are_named(kernel, solver, rng):
    X, y = rng.permutation(60)[:, None] * [1.0, 0.5], np.arange(60) % 2
    with pytest.warns(LopsidedWarning, match="for two different samples are zero.*larger bandwidth"):
        model = AsymmetricLSSVC([0.5], scale_C=True, kernel=kernel, solver=solver).fit(X, y)
    if kernel.symmetric:
        assert np.ptp(model.decision_function(X + 0.5)) == pytest.approx(0, abs=1e-12)
    with warnings.catch_warnings():
        warnings.simplefilter("error", LopsidedWarning)
        AsymmetricLSSVC([0.5], scale_C=True, kernel=RBF(1.0), solver=solver).fit(X, y)


def test_a_class_that_is_never_predicted_has_a_probability(rng):
    X, y = rng.standard_normal((60, 3)), np.arange(60) % 30 == 0
    model = AsymmetricLSSVC([0.1], scale_C=True, kernel="linear").fit(X, y)
    assert not model.predict(X).any()
    assert (model.predict_proba(X)[:, 1] > 0).all()


def test_classes_of_one_sample_each_are_learned_without_a_fold(rng):
    X = rng.standard_normal((5, 3))
    assert set(AsymmetricLSSVC().fit(X, list("abcde")).predict(X)) <= set("abcde")
    with pytest.raises(ValueError, match="none of the 5 classes has two samples"):
        AsymmetricLSSVC(merge="stack").fit(X, list("abcde"))


def test_a_class_between_others_is_told_by_stacking():
    X, y = make_gaussian_quantiles(n_samples=500, n_features=4, n_classes=4, random_state=0)
    auto, mean = (AsymmetricLSSVC(merge=merge).fit(X[:300], y[:300]) for merge in ("auto", "mean"))
    assert (auto.merge_, mean.merge_) == ("stack", "mean")
    assert np.rint(300 * auto.held_out_score_) >= np.rint(300 * mean.held_out_score_) + 30
    assert auto.score(X[300:], y[300:]) > mean.score(X[300:], y[300:]) + 0.1
    np.testing.assert_array_equal(auto.predict_proba(X).argmax(axis=1), auto.predict(X))


def test_stacking_is_chosen_only_where_it_is_judged_and_better(rings, rng):
    X = rng.standard_normal((90, 4))
    y = X[:, :3].argmax(axis=1)
    cases = {
        "two classes": AsymmetricLSSVC().fit(*rings),
        "a kernel that was given": AsymmetricLSSVC(kernel="rbf").fit(X, y),
        "a class in fewer samples than folds": AsymmetricLSSVC().fit(X, np.where(np.arange(90) < 4, 3, y)),
        "a regression": AsymmetricLSSVR().fit(X, X),
    }
    assert {model.merge_ for model in cases.values()} == {"mean"}, cases
