"""Scores of pairs, and the points of one side that score highest with the other."""

import numpy as np
import pytest
from scipy import sparse

from cases import assert_close
from lopsided import KernelSVD, Nystrom
from lopsided._core import ranking
from lopsided.exceptions import LopsidedWarning, NotFiniteError

MODELS = {
    "association": lambda A: KernelSVD(4, kernel="association").fit(A),
    "sparse": lambda A: KernelSVD(4, kernel="association").fit(sparse.csr_array(A)),
    "sne": lambda A: KernelSVD(4, kernel="sne").fit(A),
    "centred": lambda A: KernelSVD(4, kernel="rbf", center=True).fit(A),
    "precomputed": lambda A: KernelSVD(4, kernel="precomputed", scaling=0.5).fit(A),
    "landmarks": lambda A: KernelSVD(4, kernel="rbf", solver=Nystrom(20), scaling=0.0).fit(A),
}
every_model = pytest.mark.parametrize("make", MODELS.values(), ids=MODELS)


@pytest.fixture
def A(rng):
    return rng.random((40, 25)) * (rng.random((40, 25)) < 0.5)


def scores_of(model):
    return (model.left_vectors_ * model.singular_values_) @ model.right_vectors_.T


@every_model
def test_scores_of_known_pairs_are_entries_of_the_approximation(make, A, rng):
    model = make(A)
    rows, columns = rng.integers(40, size=30), rng.integers(25, size=30)
    assert_close(model.score_pairs(rows, columns), scores_of(model)[rows, columns])
    assert_close(model.score_pairs(3, np.arange(25)), scores_of(model)[3])
    if model.means_ is None:
        assert_close(model.score_pairs(rows, columns), model.reconstruct()[rows, columns])


@every_model
def test_known_points_passed_as_new_ones_score_the_same(make, A):
    model = make(A)
    expected = scores_of(model)
    np.testing.assert_allclose(model.score_pairs(A[:25], A.T), np.diagonal(expected), atol=1e-7)
    np.testing.assert_allclose(model.score_pairs(A[:25], np.arange(25)), np.diagonal(expected), atol=1e-7)


@every_model
@pytest.mark.parametrize("blocks", [1, 1 << 25])
def test_the_nearest_are_those_of_a_full_sort(make, blocks, A, monkeypatch):
    monkeypatch.setattr(ranking, "BLOCK_BYTES", blocks)
    model = make(A)
    scores = scores_of(model)
    assert np.array_equal(model.nearest_right(np.arange(40), 7), np.argsort(-scores, axis=1, kind="stable")[:, :7])
    assert np.array_equal(model.nearest_left(np.arange(25), 7), np.argsort(-scores.T, axis=1, kind="stable")[:, :7])
    np.testing.assert_array_equal(model.nearest_right(5, 3), model.nearest_right([5], 3)[0])


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array, sparse.coo_matrix])
def test_excluded_points_are_never_among_the_nearest(kind, A):
    model = MODELS["association"](A)
    found = model.nearest_right(A, 5, exclude=kind(A))
    assert not np.take_along_axis(A, found, axis=1).any()
    found = model.nearest_left(np.arange(25), 5, exclude=kind(A.T))
    assert not np.take_along_axis(A.T, found, axis=1).any()


def test_points_that_know_nothing_get_what_scores_highest_on_average(A):
    A[7] = 0
    model = MODELS["association"](A)
    with pytest.warns(LopsidedWarning, match="^1 point scores all others alike"):
        found = model.nearest_right(A[[6, 7]], 4)
    assert np.array_equal(found[1], np.argsort(-scores_of(model).mean(axis=0), kind="stable")[:4])


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("solver", ["lapack", "krylov"])
def test_known_points_without_entries_are_told_from_rounding(solver, dtype, rng):
    A = ((rng.random((300, 200)) < 0.1) * 1.0).astype(dtype)
    A[7], A[:, 9] = 0, 0
    A[8] = np.arange(200) == 3  # a single entry is heard
    model = KernelSVD(4, kernel="association", solver=solver).fit(A)
    scores = scores_of(model)
    with pytest.warns(LopsidedWarning, match="1 point scores all others alike"):
        found = model.nearest_right(np.arange(300), 4)
    np.testing.assert_array_equal(found[7], np.argsort(-scores.mean(axis=0), kind="stable")[:4])
    np.testing.assert_array_equal(found[8], np.argsort(-scores[8], kind="stable")[:4])
    with pytest.warns(LopsidedWarning, match="1 point scores all others alike"):
        model.nearest_left(np.arange(200), 4)


def test_rankings_do_not_depend_on_threads(A):
    one, many = (KernelSVD(4, kernel="association", n_jobs=jobs).fit(A).nearest_right(A, 6) for jobs in (1, 3))
    assert np.array_equal(one, many)


@pytest.mark.parametrize(
    ("ask", "message"),
    [
        (lambda m, A: m.nearest_right(A, 0), "k=0 must be a whole number from 1 to 25"),
        (lambda m, A: m.nearest_right(A, 26), "k=26 must be a whole number from 1 to 25"),
        (lambda m, A: m.nearest_right(A, 2.5), "k=2.5 must be a whole number"),
        (
            lambda m, A: m.nearest_right([40], 2),
            r"X must hold numbers of known points, from 0 to 39.*got numbers from 40 to 40",
        ),
        (lambda m, A: m.nearest_right([-1], 2), "X must hold numbers of known points"),
        (lambda m, A: m.nearest_left([0.5], 2), "Z must hold numbers of known points, from 0 to 24"),
        (lambda m, A: m.nearest_right(A[:3], 2, exclude=A), r"exclude has shape \(40, 25\); it must be \(3, 25\)"),
        (lambda m, A: m.nearest_right(A, 2, exclude=np.ones_like(A)), "k=2 exceeds the 0 points.*for row 0; lower k"),
        (lambda m, A: m.nearest_right(A[:, :4], 2), "X has 4 features"),
        (lambda m, A: m.nearest_left(A, 2), "Z has 25 columns, but right points have 40"),
        (
            lambda m, A: m.score_pairs([1, 2], [1, 2, 3]),
            "X holds 2 points and Z 3; pass equal numbers, or a single one",
        ),
        (lambda m, A: m.nearest_right(np.full((1, 25), np.nan), 2), "NaN"),
    ],
)
def test_bad_questions_are_refused(ask, message, A):
    with pytest.raises(ValueError, match=message):
        ask(MODELS["association"](A), A)


@pytest.mark.parametrize("shape", [(1, 1), (5, 63), (7, 300), (3, 1311), (2, 9000)])
@pytest.mark.parametrize("distinct", [2, 10**9])
def test_the_largest_are_those_of_a_stable_sort(shape, distinct, rng):
    scores = rng.integers(distinct, size=shape).astype(float)
    scores[rng.random(shape) < 0.1] = -np.inf
    for k in {1, min(5, shape[1]), shape[1]}:
        assert np.array_equal(ranking.largest(scores, k), np.argsort(-scores, axis=1, kind="stable")[:, :k])


def test_scores_of_far_points_that_overflow_are_refused(rng):
    model = KernelSVD(2, kernel="linear").fit(rng.random((6, 3)), Z=rng.random((5, 3)))
    with pytest.raises(NotFiniteError):
        model.score_pairs(np.full((1, 3), 1e200), np.full((5, 3), 1e200))
