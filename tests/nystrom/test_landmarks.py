"""Landmarks: how each strategy places them, what a user may give, and what is refused."""

import re
import tracemalloc
from itertools import pairwise

import numpy as np
import pytest
from scipy import sparse

from cases import KERNELS, assert_close, nystrom_svd, with_spectrum
from lopsided import KernelSVD, Nystrom
from lopsided.kernels import RBF, SNE, Exponential, Katz, Laplacian, Linear
from lopsided.nystrom.landmarks import (
    ONE_SIDED,
    STRATEGIES,
    WATCHED_COLUMNS,
    by_leverage,
    chances_of_inclusion,
    cross_pivots,
    given_landmarks,
    kmeans,
    pivoted,
    uniform,
)

# laws hold for the approximation itself, however few landmarks it has
pytestmark = pytest.mark.filterwarnings("ignore:landmarks give")

every_strategy = pytest.mark.parametrize("strategy", STRATEGIES)
SEEDS = pytest.mark.parametrize("seed", range(5))
FLOATS = pytest.mark.parametrize("dtype", [np.float32, np.float64])
POINTS = np.random.default_rng(0).standard_normal((40, 3))
RIGHT = np.random.default_rng(1).standard_normal((30, 3))


def seeded(seed=0):
    return np.random.default_rng(seed)


def placed(strategy, X=POINTS, Z=RIGHT, n_landmarks=(12, 9), kernel=None, **parameters):
    model = nystrom_svd(2, kernel=kernel or RBF(1.5), landmarks=strategy, n_landmarks=n_landmarks)
    return model.set_params(**{"random_state": 0, **parameters}).fit(X, Z=Z).landmarks_


def pivots_of(A, steps):
    return cross_pivots(lambda rows, columns: A[rows][:, columns], A.shape, steps, A.dtype)


def residual(A, rows, columns):
    """What a cross approximation on these rows and columns leaves, by its closed form."""
    if not len(rows):
        return A
    return A - A[:, columns] @ np.linalg.solve(A[np.ix_(rows, columns)], A[rows])


@FLOATS
@every_strategy
def test_every_strategy_gives_as_many_points_as_asked_with_weights_that_sum_to_the_side(strategy, dtype):
    sides = POINTS.astype(dtype), RIGHT.astype(dtype)
    for side, found, count in zip(sides, placed(strategy, *sides), (12, 9), strict=True):
        assert len(found) == count == len(found.weights)
        assert found.points.dtype == dtype and found.points.shape == (count, 3)
        np.testing.assert_allclose(found.weights.sum(), len(side), rtol=1e-6)
        assert found.weights.min() > 0
        if found.indices is not None:
            assert np.all(np.diff(found.indices) > 0)
            assert np.array_equal(found.points, side[found.indices])


@pytest.mark.parametrize("strategy", ["uniform", "leverage", "pivoted"])
def test_landmarks_of_sparse_points_are_their_rows(strategy):
    sides = [sparse.csr_array(np.where(np.abs(side) > 1, side, 0.0)) for side in (POINTS, RIGHT)]
    for side, found in zip(sides, placed(strategy, *sides), strict=True):
        assert sparse.issparse(found.points)
        assert np.array_equal(found.points.toarray(), side[found.indices].toarray())


@SEEDS
def test_a_larger_uniform_set_holds_the_smaller(seed):
    sets = [set(uniform(POINTS, p, seeded(seed)).indices) for p in (1, 5, 20, 40)]
    assert all(small < large for small, large in pairwise(sets))
    assert sets[-1] == set(range(40))


def test_uniform_sets_differ_from_seed_to_seed_and_between_the_sides():
    first, second = (uniform(POINTS, 12, seeded(seed)).indices for seed in (0, 1))
    assert not np.array_equal(first, second)
    left, right = placed("uniform", POINTS, 2 * POINTS, n_landmarks=12)
    assert not np.array_equal(left.indices, right.indices)


@pytest.mark.parametrize("strategy", [*ONE_SIDED, "leverage"])
def test_equal_sets_have_equal_landmarks(strategy):
    for same in (POINTS, POINTS.copy()):
        left, right = placed(strategy, POINTS, same, n_landmarks=12)
        assert np.array_equal(left.points, right.points) and np.array_equal(left.weights, right.weights)


def test_cluster_centres_are_the_means_of_blobs_and_weigh_as_much():
    sizes = np.array([10, 30, 60, 100])
    blobs = np.repeat(np.arange(4), sizes)
    X = 100.0 * np.eye(4)[blobs] + seeded().standard_normal((200, 4))
    found = kmeans(X, 4, seeded(2))
    order = found.points.argmax(axis=1).argsort()
    assert_close(found.weights[order], sizes.astype(float))
    centres = np.array([X[blobs == blob].mean(axis=0) for blob in range(4)])
    assert np.abs(found.points[order] - centres).max() < 1
    assert found.indices is None


@SEEDS
def test_clusters_of_one_point_are_kept(seed):
    assert len(kmeans(POINTS, 39, seeded(seed))) > 20  # of 40 points, so that most of them are alone


def test_centres_of_sparse_points_are_sparse_and_those_of_the_dense_ones(rng):
    X = rng.standard_normal((60, 5)) * (rng.random((60, 5)) < 0.4)
    for p in (4, 45):  # of so many, which stay empty depends on rounding
        found, expected = (kmeans(points, p, seeded()) for points in (sparse.csr_array(X), X))
        assert sparse.issparse(found.points)
        np.testing.assert_array_equal(found.weights, expected.weights)
        np.testing.assert_array_equal(found.points.toarray(), expected.points)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("strategy", ONE_SIDED)
def test_as_many_landmarks_as_points_are_the_points(strategy, kind, rng):
    X = kind(rng.standard_normal((30, 5)))
    found = ONE_SIDED[strategy](X, 30, seeded())
    np.testing.assert_array_equal(found.indices, np.arange(30))
    np.testing.assert_array_equal(found.weights, np.ones(30))


def test_clusters_that_stay_empty_are_left_out():
    found = kmeans(np.repeat(np.eye(3), 20, axis=0), 8, seeded())
    assert 3 <= len(found) <= 8
    assert np.isfinite(found.points).all() and found.weights.min() > 0
    np.testing.assert_allclose(found.weights.sum(), 60)


@SEEDS
def test_leverage_finds_an_outlier_and_counts_it_for_little(seed):
    X = 0.1 * seeded(seed).standard_normal((500, 3))
    X[123] = [50.0, -80.0, 20.0]
    left, _ = placed("leverage", X, X, n_landmarks=20, kernel=Linear(), random_state=seed)
    assert 123 in left.indices
    assert left.weights[left.indices == 123] < 0.1 * np.median(left.weights)


@pytest.mark.parametrize("p", [1, 4, 7, 8])
def test_rows_weigh_one_over_their_chance_to_be_drawn(p):
    """Frequencies in many draws of p out of 8, one by one without repetition."""
    rng, chances = seeded(), np.array([1.0, 1, 2, 2, 4, 5, 15, 30]) / 60
    drawn = np.concatenate([rng.choice(8, p, replace=False, p=chances) for _ in range(4000)])
    found = chances_of_inclusion(chances, p)
    assert found.sum() == pytest.approx(p)
    np.testing.assert_allclose(found, np.bincount(drawn, minlength=8) / 4000, atol=0.06)


@pytest.mark.parametrize("kernel", [RBF(0.7), SNE(0.7), Exponential(0.3)], ids=repr)
def test_leverage_comes_nearer_with_more_landmarks_and_is_exact_with_all(kernel):
    exact = KernelSVD(3, kernel=kernel).fit(POINTS, Z=RIGHT).singular_values_
    apart = []
    for counts in ((10, 10), (20, 20), (40, 30)):
        model = nystrom_svd(3, kernel=kernel, landmarks="leverage", n_landmarks=counts)
        apart.append(np.abs(model.fit(POINTS, Z=RIGHT).singular_values_ - exact).max() / exact[0])
    assert apart[2] < 1e-10 and apart[1] < apart[0]


def test_rows_are_drawn_by_leverage_as_often_as_it_says():
    vectors = np.linalg.qr(seeded().standard_normal((10, 2)))[0]
    chances = 0.5 / 10 + 0.5 * (vectors**2).sum(axis=1) / 2
    rng = seeded(1)
    drawn = [by_leverage(POINTS[:10], vectors, 1, rng).indices[0] for _ in range(4000)]
    shares = np.bincount(drawn, minlength=10) / 4000
    assert np.all(np.abs(shares - chances) < 4 * np.sqrt(chances / 4000))


@SEEDS
@FLOATS
def test_pivots_are_those_of_a_greedy_cross_approximation(seed, dtype):
    """With every column watched, each pivot is the largest entry of what those before it leave."""
    A = with_spectrum(2.0 ** -np.arange(12), 30, 20, seeded(seed), dtype)
    assert A.shape[1] <= WATCHED_COLUMNS
    rows, columns = pivots_of(A, 8)
    assert len(rows) == len(columns) == len(set(rows)) == len(set(columns)) == 8
    A = A.astype(float)
    slack = 1e3 * np.finfo(dtype).eps
    for j in range(8):
        left = np.abs(residual(A, rows[:j], columns[:j]))
        assert left[rows[j], columns[j]] >= left.max() - slack
        assert max(left[rows[:j]].max(initial=0), left[:, columns[:j]].max(initial=0)) <= slack


@SEEDS
def test_each_pivot_column_has_the_largest_residual_of_its_row(seed):
    A = with_spectrum(2.0 ** -np.arange(12), 100, 8 * WATCHED_COLUMNS, seeded(seed))
    rows, columns = pivots_of(A, 8)
    assert len(set(rows)) == len(set(columns)) == 8
    for j in range(8):
        left = np.abs(residual(A, rows[:j], columns[:j]))
        assert left[rows[j], columns[j]] >= left[rows[j]].max() - 1e-12
        assert left[rows[:j]].max(initial=0) <= 1e-12


def test_as_many_pivots_as_the_rank_leave_nothing():
    A = with_spectrum([3.0, 2.0, 1.0, 0.5], 30, 20, seeded())
    assert np.abs(residual(A, *pivots_of(A, 4))).max() < 1e-12


def test_pivoting_ends_where_the_matrix_is_exact_and_passes_rows_of_zeros():
    blocks = np.kron(np.diag([1.0, 2.0, 4.0]), np.ones((5, 4)))
    A = np.vstack([np.zeros((2, 12)), blocks])
    rows, columns = pivots_of(A, 9)
    assert sorted((rows - 2) // 5) == sorted(columns // 4) == [0, 1, 2]
    assert all(len(found) == 0 for found in pivots_of(np.zeros((5, 4)), 3))


@FLOATS
@pytest.mark.parametrize("ratio", [0.3, 3.0])
def test_what_is_rounding_of_the_largest_entry_is_no_pivot(ratio, dtype):
    sizes = np.array([1.0, 4.0, 2.0, 4 * ratio * np.finfo(dtype).eps])
    rows, columns = pivots_of(np.kron(np.diag(sizes), np.ones((5, 4))).astype(dtype), 9)
    assert sorted(rows // 5) == sorted(columns // 4) == list(range(3 + (ratio > 1)))


@SEEDS
@FLOATS
def test_no_row_or_column_is_a_pivot_twice_where_nothing_but_rounding_is_left(seed, dtype):
    for found in pivots_of(with_spectrum([3.0, 2.0, 1.0], 30, 20, seeded(seed), dtype), 20):
        assert len(found) == len(set(found))


@SEEDS
@pytest.mark.parametrize("counts", [(10, 10), (10, 2), (2, 10)])
def test_pivots_reach_every_group_of_points_that_lies_alone(counts, seed):
    """However few there are on the other side."""
    groups = np.repeat(np.arange(10), 12)
    X = 20.0 * groups[:, None] + 0.01 * seeded(seed).standard_normal((120, 1))
    kernel = Laplacian(1.0).fit(X, X)
    for found, count in zip(pivoted(kernel, X, X, counts, seeded(seed)), counts, strict=True):
        assert len(set(groups[found.indices])) == count


@pytest.mark.parametrize("counts", [(40, 2), (3, 30), (40, 30), (1, 1)])
@every_strategy
def test_the_two_sides_may_have_any_numbers_of_landmarks(strategy, counts):
    found = placed(strategy, n_landmarks=counts, n_components=1)
    assert all(1 <= len(side) <= count for side, count in zip(found, counts, strict=True))
    if strategy in ("uniform", "leverage"):  # clusters may be empty, and a cross approximation may end early
        assert tuple(map(len, found)) == counts


def test_many_left_pivots_do_not_depend_on_few_right_ones():
    left, right = placed("pivoted", POINTS, seeded().standard_normal((400, 3)), n_landmarks=(35, 1), n_components=1)
    assert (len(left), len(right)) == (35, 1)


def test_given_rows_and_points_are_taken_as_they_are():
    rows = given_landmarks([7, 3, 5], POINTS, "left")
    assert list(rows.indices) == [3, 5, 7] and np.array_equal(rows.points, POINTS[[3, 5, 7]])
    points = given_landmarks(2 * POINTS[:4], POINTS, "left")
    assert points.indices is None and np.array_equal(points.points, 2 * POINTS[:4])
    for found in (rows, points):
        np.testing.assert_allclose(found.weights, 40 / len(found))


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("given", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["rbf", "sne", "student_t", "polynomial", "sum"])
def test_given_points_that_are_rows_are_worth_the_rows(name, given, kind):
    X, Z = (kind(np.where(np.abs(side) > 0.8, side, 0.0)) for side in (POINTS, RIGHT))
    rows = np.arange(0, 40, 3), np.arange(1, 30, 2)
    by_number = nystrom_svd(2, kernel=KERNELS[name][0], landmarks=rows).fit(X, Z=Z)
    as_points = tuple(
        given(np.asarray(side[rows].todense() if sparse.issparse(side) else side[rows]))
        for side, rows in zip((X, Z), rows, strict=True)
    )
    by_value = nystrom_svd(2, kernel=KERNELS[name][0], landmarks=as_points).fit(X, Z=Z)
    assert_close(by_value.singular_values_, by_number.singular_values_, ulps=1e4)
    assert_close(by_value.left_vectors_, by_number.left_vectors_, ulps=1e5)


def test_given_points_go_through_the_compatibility(rng):
    A = rng.standard_normal((20, 12))
    rows = np.arange(15), np.arange(2, 12)
    by_number = nystrom_svd(2, landmarks=rows).fit(A)
    by_value = nystrom_svd(2, landmarks=(A[rows[0]], A.T[rows[1]])).fit(A)
    assert by_value.compatibility_.name == "pca"
    assert_close(by_value.singular_values_, by_number.singular_values_)
    assert_close(by_value.transform_right(A.T), by_number.transform_right(A.T), ulps=1e5)


FINE = np.arange(5)
BAD = {
    "more_left_than_rows": ({"n_landmarks": (41, 5)}, "n_landmarks=41 must be from 1 to the 40 left points"),
    "more_right_than_rows": ({"n_landmarks": (5, 31)}, "n_landmarks=31 must be from 1 to the 30 right points"),
    "more_than_the_smaller_side": ({"n_landmarks": 31}, "n_landmarks=31.*30 right"),
    "none": ({"n_landmarks": 0}, "n_landmarks.*Got 0"),
    "none_on_one_side": ({"n_landmarks": (5, 0)}, "n_landmarks=0 must be from 1"),
    "a_fraction": ({"n_landmarks": 0.5}, "n_landmarks.*Got 0.5"),
    "fractions": ({"n_landmarks": (5.5, 5)}, "n_landmarks.*5.5"),
    "text": ({"n_landmarks": ("five", 5)}, "n_landmarks.*five"),
    "three_numbers": ({"n_landmarks": (5, 5, 5)}, r"n_landmarks.*\(5, 5, 5\)"),
    "one_number": ({"n_landmarks": (5,)}, r"n_landmarks.*\(5,\)"),
    "fewer_than_components": ({"n_landmarks": 4, "n_components": 5}, "n_landmarks=4 is below n_components=5"),
    "fewer_on_one_side": ({"n_landmarks": (9, 4), "n_components": 5}, "n_landmarks=4 is below n_components=5"),
    "unknown_strategy": ({"landmarks": "dice"}, "landmarks.*pivoted.*Got 'dice'"),
    "duplicates": ({"landmarks": ([1, 2, 2, 2], FINE)}, "left landmark 2 is named 3 times"),
    "right_duplicates": ({"landmarks": (FINE, [4, 4])}, "right landmark 4 is named 2 times"),
    "beyond_the_end": ({"landmarks": (FINE, [3, 30])}, "right landmarks reach from 3 to 30.*0 to 29"),
    "negative": ({"landmarks": ([-1, 2], FINE)}, "left landmarks reach from -1"),
    "row_numbers_as_floats": ({"landmarks": ([1.0, 2.0], FINE)}, "left landmarks must be row numbers.*float64"),
    "a_mask": ({"landmarks": (np.ones(40, bool), FINE)}, "left landmarks must be row numbers.*bool"),
    "no_rows": ({"landmarks": ([], FINE)}, r"left landmarks must be row numbers.*shape \(0,\)"),
    "no_points": ({"landmarks": (np.empty((0, 3)), FINE)}, "0 sample"),
    "three_dimensions": ({"landmarks": (np.ones((2, 2, 2)), FINE)}, r"left landmarks must be.*\(2, 2, 2\)"),
    "wrong_width": ({"landmarks": (FINE, np.ones((4, 2)))}, "right landmarks have 2 columns, but right points have 3"),
    "nan": ({"landmarks": (np.full((4, 3), np.nan), FINE)}, "NaN"),
    "one_side_only": ({"landmarks": (FINE,)}, "pair, left and right; got 1"),
    "three_sides": ({"landmarks": [FINE, FINE, FINE]}, "pair, left and right; got 3"),
}


@pytest.mark.parametrize(("parameters", "message"), BAD.values(), ids=BAD)
def test_landmarks_that_make_no_sense_are_refused(parameters, message):
    with pytest.raises(ValueError, match=message):
        nystrom_svd(**parameters).fit(POINTS, Z=RIGHT)


def test_points_of_another_width_are_refused_before_the_compatibility_maps_them(rng):
    A = rng.standard_normal((20, 12))
    with pytest.raises(ValueError, match="left landmarks have 5 columns, but left points have 12"):
        nystrom_svd(landmarks=(np.ones((4, 5)), FINE)).fit(A)
    with pytest.raises(ValueError, match="right landmarks have 5 columns, but right points have 20"):
        nystrom_svd(landmarks=(FINE, np.ones((4, 5)))).fit(A)


@pytest.mark.parametrize(
    ("landmarks", "message"),
    [
        ("kmeans", "kmeans.*Precomputed has values only"),
        ((np.ones((4, 30)), FINE), "precomputed.*row and column numbers"),
    ],
)
def test_precomputed_values_have_no_points_to_place(landmarks, message, rng):
    with pytest.raises(ValueError, match=message):
        nystrom_svd(kernel="precomputed", landmarks=landmarks).fit(rng.random((40, 30)))


@pytest.mark.parametrize("parameters", [{"n_landmarks": 30}, {"landmarks": (np.arange(35), np.arange(30))}, {}])
def test_a_budget_too_small_is_refused_with_the_smallest_that_works(parameters):
    def fit(budget):
        return nystrom_svd(memory_budget=budget, **parameters).fit(POINTS, Z=RIGHT)

    with pytest.raises(ValueError, match="need [0-9]+ bytes, above the budget of 1000; raise memory_budget") as caught:
        fit(1000)
    smallest = int(re.search("need ([0-9]+) bytes", str(caught.value))[1])
    assert fit(smallest).n_components_ == 2
    with pytest.raises(ValueError, match=f"need {smallest} bytes, above the budget of {smallest - 1}"):
        fit(smallest - 1)


def test_the_budget_is_for_the_landmarks_that_were_given(rng):
    X = rng.standard_normal((1500, 3))

    def needed(**parameters):
        with pytest.raises(ValueError, match="landmarks.*budget") as caught:
            nystrom_svd(memory_budget=1000, **parameters).fit(X, Z=X)
        return int(re.search("need ([0-9]+) bytes", str(caught.value))[1])

    few, many = (needed(landmarks=(np.arange(p), np.arange(p))) for p in (10, 1200))
    assert (few, many) == (needed(n_landmarks=10), needed(n_landmarks=1200))


def test_the_budget_counts_what_pivoting_takes(rng):
    X = rng.standard_normal((4500, 3))
    model = nystrom_svd(kernel=RBF(0.2), n_landmarks=250, landmarks="pivoted", n_jobs=1)
    with pytest.raises(ValueError, match="landmarks.*budget") as caught:
        model.set_params(memory_budget=1000).fit(X, Z=X)
    needed = int(re.search("need ([0-9]+) bytes", str(caught.value))[1])
    tracemalloc.start()
    model.set_params(memory_budget=needed).fit(X, Z=X)
    assert tracemalloc.get_traced_memory()[1] < 1.2 * needed
    tracemalloc.stop()


def test_nodes_have_no_means_for_clusters(rng):
    nodes, graph = np.arange(30.0)[:, None], (rng.random((30, 30)) < 0.2) * 1.0
    with pytest.raises(ValueError, match="Katz has numbers of nodes, which have no means"):
        placed("kmeans", nodes, nodes, n_landmarks=20, kernel=Katz(graph))


def test_one_landmark_leaves_nothing_when_it_is_centred():
    with pytest.raises(ValueError, match="the kernel less its means vanishes between the 1 left and the 1 right"):
        nystrom_svd(1, kernel=RBF(1.0), n_landmarks=1, center=True).fit(POINTS, Z=RIGHT)


@pytest.mark.parametrize("strategy", ["uniform", "kmeans", "pivoted"])
def test_sides_of_equal_points_may_have_different_numbers_of_landmarks(strategy, rng):
    X = rng.standard_normal((40, 3))
    model = KernelSVD(2, kernel=RBF(2.0), solver=Nystrom((6, 9), landmarks=strategy)).fit(X, Z=X)
    assert [len(side) for side in model.landmarks_] == [6, 9]
