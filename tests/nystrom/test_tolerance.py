"""The estimate of eta, the number of landmarks that a tolerance requires, and warnings."""

import warnings
from itertools import pairwise

import numpy as np
import pytest
from landmark_cases import CENTER, EXTENSION, ROWS, every_strategy, model_of, two_sets
from sklearn.base import clone
from sklearn.datasets import make_blobs

from cases import assert_close, centred, reference
from lopsided import KernelSVD, Nystrom
from lopsided.exceptions import AccuracyWarning, RankWarning
from lopsided.kernels import RBF, Linear
from lopsided.nystrom.error import _whitening
from lopsided.nystrom.orthonormalise import Moments, turned


@pytest.fixture(scope="module")
def blobs():
    X, _ = make_blobs(900, 4, centers=12, cluster_std=1.5, random_state=0)
    return X[:500], X[500:]


FLOOR = 1e-10  # below, an eta is as good as zero


def true_eta(model, K):
    U, s, Vt = np.linalg.svd(K, full_matrices=False)
    k = model.n_components_
    cosines = [
        np.abs(np.einsum("ij,ij->j", exact[:, :k], found)) / np.linalg.norm(found, axis=0)
        for exact, found in ((U, model.left_vectors_), (Vt.T, model.right_vectors_))
    ]
    return float(sum(np.mean(s[:k] / s[0] * (1 - cosine)) for cosine in cosines))


def eta_and_estimate(blobs, bandwidth, n_landmarks, center=False, **parameters):
    X, Z = blobs
    K = reference("rbf", X, Z, bandwidth=bandwidth)
    model = model_of(RBF(bandwidth), 4, n_landmarks=n_landmarks, center=center, **parameters)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        model.set_params(tol=1e-13, memory_budget=budget_for(model, X, Z)).fit(X, Z=Z)
    assert model.path_[-1].left <= n_landmarks
    return true_eta(model, centred(K) if center else K), model.relative_eta_


@pytest.mark.parametrize("n_landmarks", [20, 40, 160])
@EXTENSION
@CENTER
@every_strategy
def test_the_estimate_is_near_the_true_eta(strategy, center, extension, n_landmarks, blobs):
    true, found = eta_and_estimate(blobs, 20.0, n_landmarks, center, landmarks=strategy, extension=extension)
    assert max(true, FLOOR) / 10 <= max(found, FLOOR) <= 10 * max(true, FLOOR), (found, true)


@pytest.mark.parametrize("n_landmarks", [40, 80])
@every_strategy
def test_the_estimate_sees_vectors_that_mix_with_the_next_ones(strategy, n_landmarks, blobs):
    """Here s_5 is 0.96 s_4, and what the fourth vector has of the fifth is most of eta."""
    true, found = eta_and_estimate(blobs, 6.0, n_landmarks, landmarks=strategy)
    assert true / 10 <= found <= 10 * true, (found, true)


def budget_for(model, X, Z):
    """Bytes that are enough for the landmarks of a model and not for twice as many."""
    with pytest.raises(ValueError, match="need") as caught:
        clone(model).set_params(memory_budget=1).fit(X, Z=Z)
    return float(str(caught.value).split("need ")[1].split()[0])


@pytest.mark.parametrize("tol", [1e-1, 1e-2, 1e-4])
@every_strategy
def test_landmarks_are_doubled_until_the_estimate_is_below_the_tolerance(strategy, tol, blobs):
    X, Z = blobs
    model = model_of(RBF(20.0), 4, landmarks=strategy, tol=tol).fit(X, Z=Z)
    assert model.relative_eta_ == model.path_[-1].relative_eta <= tol
    assert all(attempt.relative_eta > tol for attempt in model.path_[:-1])
    for before, after in pairwise(model.path_):
        assert after.left > before.left and after.right > before.right
    assert tuple(map(len, model.landmarks_)) == (model.path_[-1].left, model.path_[-1].right)
    assert true_eta(model, reference("rbf", X, Z, bandwidth=20.0)) <= 10 * tol


def test_a_search_begins_where_it_is_told(blobs):
    X, Z = blobs
    model = model_of(RBF(6.0), 4, n_landmarks=(10, 30), tol=1e-4).fit(X, Z=Z)
    assert model.path_[0][:2] == (10, 30)
    assert [attempt[:2] for attempt in model.path_[1:]] == [
        (min(500, 2 * left), min(400, 2 * right)) for left, right, _ in model.path_[:-1]
    ]


@pytest.mark.parametrize("width", [1, 2, 3])
def test_a_tolerance_does_not_change_how_many_components_hold_a_share(width):
    X, Z = two_sets(width=width)
    loose, none = (model_of(Linear(), 0.9999, n_landmarks=20, tol=tol).fit(X, Z=Z) for tol in (1.99, 0.0))
    assert loose.n_components_ == none.n_components_ == width
    assert_close(loose.singular_values_, none.singular_values_)


def test_without_a_tolerance_nothing_is_estimated(blobs):
    model = model_of(RBF(6.0)).fit(*blobs[:1], Z=blobs[1])
    assert model.relative_eta_ is None and model.path_ == ()


def test_a_tolerance_that_cannot_be_met_warns_with_the_estimate(blobs):
    X, Z = blobs
    given = model_of(RBF(2.0), 4, landmarks=ROWS, tol=1e-3)
    bound = model_of(RBF(2.0), 4, n_landmarks=45, tol=1e-3)
    bound.set_params(solver__n_landmarks=20, memory_budget=budget_for(bound, X, Z))
    whole = model_of(RBF(2.0), 4, n_landmarks=400, tol=1e-300)
    for model, why in ((given, "these were given"), (bound, "the budget"), (whole, "do not fit the data")):
        with pytest.warns(AccuracyWarning) as caught:
            model.fit(X, Z=Z)
        (warning,) = caught
        message = str(warning.message)
        assert f"relative eta is estimated at {model.relative_eta_:.1e}" in message and why in message
        assert f"tol={model.tol:g}" in message
        assert warning.filename == __file__
        assert model.relative_eta_ > model.tol
    assert [attempt[:2] for attempt in bound.path_] == [(20, 20), (40, 40)]
    assert whole.path_[-1][:2] == (500, 400) and whole.relative_eta_ < 1e-12


@CENTER
@pytest.mark.parametrize("spared", [1, 2, 5])
def test_an_estimate_from_the_last_few_rows_is_still_an_estimate(spared, center, blobs):
    X, Z = (side[:200] for side in blobs)
    K = reference("rbf", X, Z, bandwidth=2.0)
    rows = np.arange(200 - spared)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", AccuracyWarning)
        model = model_of(RBF(2.0), 4, landmarks=(rows, rows), tol=1e-14, center=center).fit(X, Z=Z)
    true = true_eta(model, centred(K) if center else K)
    assert max(true, FLOOR) / 10 <= max(model.relative_eta_, FLOOR) <= 10 * max(true, FLOOR), (
        model.relative_eta_,
        true,
    )


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.AccuracyWarning")
def test_the_estimate_never_looks_at_the_whole_matrix(blobs):
    seen = []

    def watched(X, Z):
        seen.append((len(X), len(Z)))
        return np.exp(-np.square(X[:, None] - Z).sum(axis=2) / 36)

    X, Z = (np.vstack([side, side + 0.01]) for side in blobs)
    model = model_of(watched, 2, n_landmarks=20, tol=1.99, n_jobs=1).fit(X, Z=Z)
    assert len(model.path_) == 1
    assert sum(n * m for n, m in seen) < X.shape[0] * Z.shape[0]


@every_strategy
def test_warnings_point_at_the_call_and_come_once(strategy):
    X, Z = two_sets(width=3)
    with pytest.warns(RankWarning) as caught:
        model_of(Linear(), 5, landmarks=strategy, n_landmarks=12).fit(X, Z=Z)
    assert [warning.filename for warning in caught] == [__file__]


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.AccuracyWarning")  # two values that are close may be mixed
@pytest.mark.parametrize("seed", range(20))
def test_the_error_is_estimated_where_extended_vectors_are_parallel_to_rounding(seed):
    """A kernel of rank two has no third vector: what the plain extension makes of rounding is parallel to others."""
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_normal((900, 2)), rng.standard_normal((850, 2))
    method = Nystrom(extension="plain")
    model = KernelSVD(1, kernel="linear", tol=0.01, random_state=seed, solver=method).fit(X, Z=Z)
    assert 0 <= model.relative_eta_ <= 0.01


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("seed", range(5))
def test_parallel_vectors_are_whitened_to_unit_length_or_less(seed, dtype):
    rng = np.random.default_rng(seed)
    some = rng.standard_normal((90, 4)) * 10.0 ** rng.integers(-2, 2, 4)
    vectors = some[:, [0, 1, 1, 2, 3, 3]].astype(dtype)
    lengths = np.linalg.svd(vectors @ _whitening(vectors), compute_uv=False)
    np.testing.assert_allclose(lengths[:4], 1, rtol=1e5 * np.finfo(dtype).eps)
    assert (lengths[4:] < 1).all()


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.AccuracyWarning")
def test_a_search_ends_with_every_point_of_sides_of_any_size():
    X, Z = two_sets(60, 17)
    for sides in ((X, Z), (Z, X)):
        model = model_of(RBF(0.3), 2, tol=1e-300).fit(sides[0], Z=sides[1])
        assert model.path_[-1][:2] == (len(sides[0]), len(sides[1]))
        assert all(left <= len(sides[0]) and right <= len(sides[1]) for left, right, _ in model.path_)


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.AccuracyWarning")
def test_a_search_begins_with_landmarks_in_proportion_to_the_components():
    X, Z = two_sets(60, 45)
    firsts = [model_of(RBF(1.0), k, tol=0.9).fit(X, Z=Z).path_[0] for k in (1, 2, 4)]
    assert firsts[0].left == firsts[0].right > 1
    assert [first.left / firsts[0].left for first in firsts] == [1, 2, 4]


@CENTER
@pytest.mark.parametrize("tol", [0.0, 0.2])
@pytest.mark.parametrize("seed", range(4))
def test_what_is_told_of_landmarks_does_not_depend_on_the_unit_of_the_kernel(seed, tol, center):
    rng = np.random.default_rng(seed)
    X, Z = rng.standard_t(1.2, (300, 4)), rng.standard_t(1.2, (280, 4))
    told = []
    for unit in (1.0, 2.0**-30, 2.0**30):
        model = model_of(unit * RBF(1.0), 4, center=center, tol=tol, n_landmarks=8, random_state=seed)
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            model.fit(X, Z=Z)
        told.append([str(each.message).split(" of ")[0] for each in caught])
    assert told[0] == told[1] == told[2]


def test_vectors_are_turned_about_their_mean_whatever_it_is(rng):
    vectors, turn = rng.standard_normal((50, 3)), rng.standard_normal((3, 2))
    for mean in ([0.0, 0.0, 0.0], [0.0, 2.0, 0.0], [1.0, 2.0, -3.0]):
        found, side = turned(vectors.copy(), np.eye(3), Moments(np.array(mean), np.eye(3)), turn)
        assert_close(found, (vectors - mean) @ turn)
        assert_close(vectors @ side.map - side.offset, found)
