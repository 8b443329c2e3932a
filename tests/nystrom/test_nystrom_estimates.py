"""What is told of an approximation, and what it costs: on either side of every bound, where the truth is known."""

import inspect
import re
import warnings

import numpy as np
import pytest
from landmark_cases import CENTER, two_sets
from scipy import sparse

from lopsided import KernelSVD, Nystrom
from lopsided._core import jobs
from lopsided.exceptions import AccuracyWarning, RankWarning
from lopsided.kernels import RBF, SNE, Attention, Linear, NodeKernel, StudentT
from lopsided.kernels.names import as_kernel
from lopsided.nystrom import error, extension, landmarks, nystrom, orthonormalise, solver
from lopsided.nystrom.error import CHECKED_SIZE, CONFIRMED_SHARE, HELD_OUT_ROWS, MOST_LEFT_OVER, _held_out
from lopsided.nystrom.extension import NystromFactors
from lopsided.nystrom.landmark_matrix import NOISE_EPS, LandmarkMatrix
from lopsided.nystrom.landmarks import Landmarks, cross_pivots, kmeans, pivoted, rows_as_landmarks
from lopsided.nystrom.orthonormalise import Moments, moments, orthonormal_turns, turned
from lopsided.nystrom.solver import approximate, sums_over_landmarks
from lopsided.svd import Factors

S = np.array([4.0, 3.0, 2.0, 1.0])
NAMED = re.compile(r"landmarks give (.*) of (\S+), where .* confirm (\S+);")


@pytest.fixture
def seen():
    return []


def watched(seen):
    """The linear kernel, which keeps the shapes of what it evaluates."""
    return as_kernel(lambda L, R: seen.append((len(L), len(R))) or L @ R.T)


def known_matrix(rng, center, n=100, m=90, values=S, dtype=float):
    """Points whose inner products, centred or not, have given singular values; their triplets and means."""
    U, V = (rng.standard_normal((size, len(values))) for size in (n, m))
    if center:
        U, V = U - U.mean(axis=0), V - V.mean(axis=0)
    U, V = (np.linalg.qr(side)[0] for side in (U, V))
    X, Z = U * values, V
    if center:  # means along directions of their own
        X = np.column_stack([X, np.ones(n), rng.standard_normal(n)])
        Z = np.column_stack([Z, rng.standard_normal(m), np.ones(m)])
    K = X @ Z.T
    return X.astype(dtype), Z.astype(dtype), Factors(U, values, V), (K.mean(axis=1), K.mean(axis=0)) if center else None


def approximation(X, Z, factors, means, k=None, known=0, kernel=None):
    """What the Nystrom method would say if it had found these factors with the first rows as landmarks."""
    some = tuple(rows_as_landmarks(side, np.arange(max(known, 1))) for side in (X, Z))
    kernel = (kernel or Linear()).fit(X, Z)
    return NystromFactors(factors, None, None, kernel, some, k or len(factors.s), means)


def told(warn, *given):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        warn(*given)
    assert all(each.category is AccuracyWarning for each in caught)
    return [str(each.message) for each in caught]


def changed(factors, place, ratio):
    s = factors.s.copy()
    s[place] *= ratio
    return Factors(factors.U, s, factors.V)


@CENTER
@pytest.mark.parametrize("columns", [1 << 14, 90, 89], ids=["all", "just all", "drawn"])
def test_a_singular_value_is_unconfirmed_if_rows_tell_another_by_more_than_a_share(columns, center, monkeypatch):
    """Of exact vectors every row confirms the true value; drawn columns, the first alone."""
    monkeypatch.setattr(error, "CHECKED_COLUMNS", columns)
    rng = np.random.default_rng(0)
    X, Z, factors, means = known_matrix(rng, center)
    noise = 1.0 if columns >= 90 else 1.25
    for place, ratio in (
        (0, 1 / CONFIRMED_SHARE),
        (0, CONFIRMED_SHARE),
        (1, 1 / CONFIRMED_SHARE),
        (3, 1 / CONFIRMED_SHARE),
    ):
        for beyond in (0.97 / noise, 1.03 * noise):
            wrong = changed(factors, place, ratio**beyond if place == 0 else ratio * beyond)
            found = told(error.warn_if_unconfirmed, approximation(X, Z, wrong, means), X, Z, 4, 0)
            if beyond < 1 or (place and columns < 90):
                assert not found
                continue
            which = "a largest singular value" if place == 0 else f"singular value {place + 1} a size"
            ((what, s, confirmed),) = (
                re.match(r"landmarks give (.*) of (\S+), where .* confirm (\S+);", each).groups() for each in found
            )
            assert what == which
            assert float(s) == pytest.approx(wrong.s[place], rel=0.01)
            assert float(confirmed) == pytest.approx(factors.s[place], rel=0.01 if columns >= 90 else 0.25)


@pytest.mark.parametrize("k", [1, 2, 3])
def test_only_the_values_that_are_asked_about_and_are_not_small_are_checked(k, rng):
    X, Z, factors, _ = known_matrix(rng, False)
    wrong = approximation(X, Z, changed(factors, 1, 1.9), None)
    assert len(told(error.warn_if_unconfirmed, wrong, X, Z, k, 0)) == (k > 1)
    for size, checked in ((0.5, False), (2.0, True)):
        values = np.array([4.0, 1.0, 4.0 * CHECKED_SIZE * size])
        X, Z, factors, _ = known_matrix(rng, False, values=values / [1, 1, 2])
        found = told(error.warn_if_unconfirmed, approximation(X, Z, changed(factors, 2, 2.0), None), X, Z, 3, 0)
        assert bool(found) == checked


@pytest.mark.parametrize("k", [1, 4, 40])
def test_values_are_checked_on_few_rows_and_columns(k, seen, monkeypatch):
    X, Z, factors, _ = known_matrix(np.random.default_rng(0), False, n=500, m=400, values=np.linspace(2, 1, 40))
    for columns in (10**4, 300):
        monkeypatch.setattr(error, "CHECKED_COLUMNS", columns)
        found = approximation(X, Z, factors, None, kernel=watched(seen))
        seen.clear()
        with jobs(1):  # else each thread sees some of the rows
            error.warn_if_unconfirmed(found, X, Z, k, 0)
        rows, most = seen[0][0], max(64, 2 * k) if columns > 400 else 64
        assert (0.7 if most == 64 else 0.85) * most < rows <= most  # some are drawn twice
        assert {n for n, _ in seen} == {rows}
        found_columns = sum(m for _, m in seen)
        assert found_columns == 400 if columns > 400 else 100 < found_columns <= columns


@CENTER
def test_a_component_that_was_missed_is_told_if_it_is_larger_than_the_last_and_eta_than_the_tolerance(center):
    """With all rows and columns held out, what is left over is the second of three components, which was not found."""
    rng = np.random.default_rng(0)
    for ratio in (0.95 * MOST_LEFT_OVER, 1.05 * MOST_LEFT_OVER):
        values = np.array([4.0, ratio, 1.0])
        X, Z, factors, means = known_matrix(rng, center, values=values)
        first_and_third = Factors(*(part[..., [0, 2]] for part in (factors.U, factors.s, factors.V)))
        for tol in (0.97 * ratio / 4, 1.03 * ratio / 4):  # eta is half the share of what is missed, at two components
            found = approximation(X, Z, first_and_third, means)
            said = told(error.warn_if_left_over, found, X, Z, tol, np.random.default_rng(1))
            assert bool(said) == (ratio > MOST_LEFT_OVER and tol < ratio / 4)
            if said:
                sizes = re.search(r"is of size (\S+), where the last component has (\S+):", said[0]).groups()
                assert [float(size) for size in sizes] == pytest.approx([ratio, 1.0], rel=0.01)


@pytest.mark.parametrize("function", ["warn_if_left_over", "estimate_eta"])
@pytest.mark.parametrize("k", [2, 40])
def test_rows_and_columns_that_are_held_out_are_as_many_as_it_says(k, function, seen, rng):
    """128, or four per triplet if that gives more, and none of the landmarks."""
    X, Z, factors, _ = known_matrix(rng, False, n=400, m=380, values=np.linspace(2, 1, k))
    found = approximation(X, Z, factors, None, known=200, kernel=watched(seen))
    seen.clear()
    if function == "warn_if_left_over":
        error.warn_if_left_over(found, X, Z, 0.1, rng)
    else:
        error.estimate_eta(found, X, Z, rng)
    count = max(HELD_OUT_ROWS, 4 * k)
    assert sum(n * m for n, m in seen) == count * (400 + 380)


def test_rows_are_held_out_from_those_that_are_not_known_and_others_only_if_these_are_too_few(rng):
    for n, known, count in ((50, np.arange(20), 30), (50, np.arange(40), 30), (50, None, 7), (5, np.arange(2), 9)):
        found = _held_out(n, known, count, rng)
        assert len(found) == len(set(found)) == min(count, n) and (np.diff(found) > 0).all()
        others = np.arange(n) if known is None else np.setdiff1d(np.arange(n), known)
        assert np.isin(found, others).sum() == min(len(others), len(found))
    assert not np.array_equal(_held_out(50, None, 7, rng), _held_out(50, None, 7, rng))


@CENTER
@pytest.mark.parametrize("k", [1, 2, 3])
@pytest.mark.parametrize("angle", [0.0, 0.03, 0.3, 1.2])
def test_the_estimate_is_the_true_eta_if_no_row_is_spared_and_the_span_is_right(angle, k, center):
    """Neighbours are mixed, on both sides by different angles, as landmarks mix them, which turns values too."""
    X, Z, factors, means = known_matrix(np.random.default_rng(0), center)
    sides = []
    for vectors, turn in ((factors.U, angle), (factors.V, angle / 2)):
        mixed = vectors.copy()
        mixed[:, 1:3] = vectors[:, 1:3] @ [[np.cos(turn), np.sin(turn)], [-np.sin(turn), np.cos(turn)]]
        sides.append(mixed)
    found = approximation(X, Z, Factors(sides[0], factors.s, sides[1]), means, k=k)
    wrong = np.array([0, 1, 1, 0]) * (2 - np.cos(angle) - np.cos(angle / 2))
    expected = np.mean((S / S[0] * wrong)[:k])
    assert error.estimate_eta(found, X, Z, np.random.default_rng(1)) == pytest.approx(expected, rel=1e-6, abs=1e-12)


# How many, and how.


def test_defaults_are_those_of_the_documentation():
    for each in (Nystrom, nystrom):
        documented = dict(re.findall(r"^    (\w+) : .*default=(\S+)$", each.__doc__, re.MULTILINE))
        signature = inspect.signature(each).parameters
        assert documented
        for name, text in documented.items():
            assert repr(signature[name].default).replace("'", '"') == text
    assert inspect.signature(nystrom).parameters["spare"].default == 0


@pytest.mark.parametrize("shape", [(10**6, 10**6), (150, 10**6), (10**6, 150)])
def test_the_default_number_is_twenty_per_component_between_bounds_and_four_in_a_search(shape):
    for k, usual in ((1, 200), (10, 200), (11, 220), (100, 2000), (101, 2000), (0.5, 2000), (0.999, 2000)):
        expected = min(usual, shape[0]), min(usual, shape[1])
        assert solver._counts(None, k, shape, searching=False) == expected
        first = min(4 * k, shape[0]) if k >= 1 else expected[0], min(4 * k, shape[1]) if k >= 1 else expected[1]
        assert solver._counts(None, k, shape, searching=True) == first
    for given in ((3, 4), (150, 150), 3):
        both = given if isinstance(given, tuple) else (given, given)
        assert solver._counts(given, 3, shape, searching=True) == both


@pytest.mark.parametrize("kernel", [SNE(1.0), SNE(1.0).T, StudentT(1.0), Attention(1.0), RBF(1.0)], ids=repr)
def test_denominators_are_sums_over_landmarks_on_request_or_if_others_are_costly(kernel, monkeypatch):
    X, Z = two_sets(30, 20)
    dense, few = kernel.fit(X, Z), sparse.csr_array(np.where(X > 1, X, 0))
    for bound, costly in ((600, False), (599, True)):
        monkeypatch.setattr(solver, "COSTLY_SUMS", bound)
        found = sums_over_landmarks(Nystrom(), dense, X, Z)
        assert found == (costly and kernel.normalised)
        assert not sums_over_landmarks(Nystrom(), dense, few, few)
        for asked in ("all", "landmarks"):
            method = Nystrom(denominators=asked)
            assert sums_over_landmarks(method, dense, X, Z) == (asked == "landmarks")


@pytest.mark.parametrize("way", ["orthonormal", "plain"])
@pytest.mark.parametrize("rows", [39, 40, 10**4])
def test_kernel_values_are_evaluated_once_and_those_of_a_sample_of_rows_twice(rows, way, seen, monkeypatch, rng):
    monkeypatch.setattr(extension, "SAMPLE_ROWS", rows)
    (X, Z), values = two_sets(50, 40, width=9), []
    some = tuple(rows_as_landmarks(side, np.arange(12)) for side in (X, Z))
    kernel = watched(seen).fit(X, Z)
    for k in (3, 6, 9):  # of nine triplets, the last time all are kept
        seen.clear()
        nystrom(kernel, X, Z, some, k, plain=way == "plain", rng=rng)
        values.append(sum(n * m for n, m in seen) - 12 * 12)
    once, sampled = 12 * (50 + 40), 12 * (min(rows, 50) + min(rows, 40))
    assert values == [*[once + (sampled if way == "orthonormal" else 0)] * 2, once]


def test_no_row_is_twice_in_a_sample(monkeypatch, rng):
    taken, moments = [], extension.moments
    monkeypatch.setattr(extension, "SAMPLE_ROWS", 45)
    monkeypatch.setattr(extension, "moments", lambda rows, *rest: taken.append(rows) or moments(rows, *rest))
    X, Z = two_sets(50, 40, width=9)
    some = tuple(rows_as_landmarks(side, np.arange(12)) for side in (X, Z))
    nystrom(RBF(1.0).fit(X, Z), X, Z, some, 3, rng=rng)
    assert len(np.unique(taken[0], axis=0)) == len(taken[0]) == 45


@pytest.mark.parametrize("tol", [0.0, 1.9])
def test_too_few_components_are_told_in_a_search_too(tol):
    X, Z = two_sets(width=3)
    with pytest.warns(RankWarning, match="holds 3 components and not 4"):
        approximate(Linear().fit(X, Z), X, Z, 4, tol=tol, method=Nystrom(12), budget=1 << 30, seed=0)


def test_one_landmark_is_enough_for_one_component():
    X, Z = two_sets(width=1)
    model = KernelSVD(1, kernel="linear", solver=Nystrom(1)).fit(X, Z=Z)
    np.testing.assert_allclose(model.singular_values_, np.linalg.norm(X) * np.linalg.norm(Z))


def test_too_few_components_are_told_and_enough_are_not():
    X, Z = two_sets(width=3)
    some = tuple(rows_as_landmarks(side, np.arange(12)) for side in (X, Z))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert nystrom(Linear().fit(X, Z), X, Z, some, 3, rng=np.random.default_rng(0)).k == 3
        assert nystrom(Linear().fit(X, Z), X, Z, some, 4, quiet=True, rng=np.random.default_rng(0)).k == 3
    with pytest.warns(RankWarning, match="holds 3 components and not 4"):
        nystrom(Linear().fit(X, Z), X, Z, some, 4, rng=np.random.default_rng(0))


def test_what_is_unconfirmed_is_told_by_default_and_of_plain_vectors_the_first_alone():
    X, Z = np.random.default_rng(0).standard_normal((2, 300, 4))
    kernel, quiet = RBF(1.0).fit(X, Z), {"budget": 1 << 30, "seed": 0, "quiet": True}
    with pytest.warns(AccuracyWarning, match="landmarks give"):
        approximate(kernel, X, Z, 3, method=Nystrom(5), budget=1 << 30, seed=0)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found, path = approximate(kernel, X, Z, 3, method=Nystrom(5), **quiet)
    assert path == () and found.means is None
    assert solver._confirmable(found, Nystrom()) == found.k
    assert solver._confirmable(found, Nystrom(extension="plain")) == 1


def test_an_estimate_that_equals_the_tolerance_is_enough():
    X, Z = np.random.default_rng(0).standard_normal((2, 300, 3))
    kernel, settings = RBF(3.0).fit(X, Z), {"method": Nystrom(12), "budget": 1 << 30, "seed": 0}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        _, path = approximate(kernel, X, Z, 2, tol=1e-300, **settings)
        before = len(caught)
        _, found = approximate(kernel, X, Z, 2, tol=path[0].relative_eta, **settings)
    assert found == path[:1]
    assert not any("relative eta is estimated" in str(each.message) for each in caught[before:])


@pytest.mark.filterwarnings("ignore::lopsided.exceptions.AccuracyWarning")
@pytest.mark.parametrize(
    ("counts", "extension", "tol", "looked"),
    [
        (20, "orthonormal", 1.9, True),
        ((40, 20), "orthonormal", 1.9, True),
        ((40, 30), "orthonormal", 1.9, False),
        (20, "plain", 1.9, False),
        ((40, 30), "plain", 1.9, False),
        ((40, 30), "orthonormal", 1e-300, False),
    ],
)
def test_what_is_left_over_is_looked_at_where_landmarks_may_have_missed_it(counts, extension, tol, looked, monkeypatch):
    """Of orthonormal vectors that are accurate by the estimate, and are not those of all points."""
    calls = []
    monkeypatch.setattr(solver, "warn_if_left_over", lambda *given: calls.append(given))
    X, Z = two_sets(40, 30)
    method = Nystrom(counts, extension=extension)
    approximate(RBF(1.0).fit(X, Z), X, Z, 2, tol=tol, method=method, budget=1 << 30, seed=0)
    assert len(calls) == looked


@pytest.mark.parametrize("k", [1, 4, 7])
def test_an_estimate_sees_as_many_triplets_again_and_at_least_four(k, monkeypatch):
    X, Z = np.random.default_rng(0).standard_normal((2, 300, 3))
    sizes, estimate = [], solver.estimate_eta
    monkeypatch.setattr(solver, "estimate_eta", lambda found, *rest: sizes.append(found) or estimate(found, *rest))
    kept, _ = approximate(RBF(1.0).fit(X, Z), X, Z, k, tol=1.9, method=Nystrom(60), budget=1 << 30, seed=0)
    assert (len(sizes[0].factors.s), sizes[0].k) == (k + max(k, 4), k)
    assert kept.factors.U.shape == (300, k) == kept.factors.V.shape and kept.left.map.shape == (60, k)


@pytest.mark.parametrize("counts", [(20, 30), (30, 20)])
@pytest.mark.parametrize("shape", [(500, 700), (700, 500), (10**4, 10**4)])
def test_the_bytes_of_landmarks_are_those_of_arrays(counts, shape):
    """Of copies of their matrix, or of both factors between candidates; and of two tiles a thread."""
    tiles = 2 * solver.TILE_BYTES * solver.n_threads()
    small = solver.SMALL_COPIES * np.empty(counts).nbytes
    most = max(counts)
    factors = sum(np.empty((most, min(n, landmarks.CANDIDATES_PER_PIVOT * most))).nbytes for n in shape)
    assert solver.landmark_bytes("uniform", counts, shape) == tiles + small
    assert solver.landmark_bytes("pivoted", counts, shape) == tiles + max(small, factors)
    assert solver.landmark_bytes((np.arange(20), np.arange(30)), counts, shape) == tiles + small


def of_table(K):
    """The kernel of points that are numbers of rows and of columns."""
    return as_kernel(lambda i, j: K[np.ix_(i[:, 0].astype(int), j[:, 0].astype(int))])


@CENTER
def test_kernel_values_between_landmarks_are_in_double_precision_whatever_the_points(center, rng):
    X, Z = (rng.standard_normal((size, 3)).astype(np.float32) for size in (9, 7))
    some = tuple(Landmarks(side, rng.uniform(1, 9, len(side))) for side in (X, Z))
    small = LandmarkMatrix.of(RBF(1.0).fit(X, Z), some, center=center)
    K = np.exp(-np.square(X[:, None].astype(float) - Z).sum(axis=2))
    np.testing.assert_allclose(small.K, K, rtol=1e-13)
    shares = [side.weights / side.weights.sum() for side in some]
    K = K - center * (K @ shares[1])[:, None]
    K = K - center * shares[0] @ K
    np.testing.assert_allclose(small.W, np.sqrt(some[0].weights)[:, None] * K * np.sqrt(some[1].weights), atol=1e-12)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("symmetric", [False, True])
def test_values_of_landmarks_count_beyond_the_rounding_of_their_points(symmetric, dtype, rng):
    Q, P = (np.linalg.qr(rng.standard_normal((6, 6)))[0] for _ in range(2))
    points = np.arange(6)[:, None].astype(dtype)
    some = Landmarks(points, np.ones(6))
    for size, counts in ((0.5, False), (2.0, True)):
        s = np.array([3.0, 1.0, 0.5, 0.2, 0.1, size * NOISE_EPS * np.finfo(dtype).eps * np.sqrt(10.3)])
        K = Q * s @ (Q if symmetric else P).T
        small = LandmarkMatrix.of(of_table(K).fit(points, points), (some, some), center=False)
        maps, values = small.maps(6, symmetric=symmetric, rng=rng)
        assert len(maps) == (1 if symmetric else 2)
        assert all(each.shape[1] == len(values) for each in maps)
        if not (symmetric and counts):  # all of a positive definite matrix are taken without its values
            assert len(values) == 5 + counts
        assert [small.holding(share) for share in (0.8, 0.95, 0.99, 0.999999)] == [1, 2, 3, 5]
        assert [len(small.maps(count, symmetric=symmetric, rng=rng)[1]) for count in (1, 3, 5)] == [1, 3, 5]


def test_values_between_points_that_are_numbers_have_no_rounding_of_points(rng):
    numbers, s = np.arange(4)[:, None], np.array([3.0, 1.0, 1e-3, 1e-14])
    kernel = NodeKernel(np.diag(s)[rng.permutation(4)]).fit(numbers, numbers)
    small = LandmarkMatrix.of(kernel, (Landmarks(numbers, np.ones(4)),) * 2, center=False)
    np.testing.assert_allclose(small.maps(4, symmetric=False, rng=rng)[1], s)


@CENTER
@pytest.mark.parametrize("size", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("p", [7, 8])
def test_a_definite_matrix_of_landmarks_is_not_decomposed_if_all_of_its_triplets_are_extended(p, size, center, rng):
    """A map M with M M' = W^+ will do, to the digits that W has."""
    X = rng.standard_normal((p, 3))
    small = LandmarkMatrix.of((size * RBF(1.0)).fit(X, X), (Landmarks(X, np.full(p, 4000.0)),) * 2, center=center)
    (map,), values = small.maps(p, symmetric=True, rng=rng)
    assert (values == 1).all()
    map = map / np.sqrt(4000)
    if center:
        map -= map.mean(axis=0)
    inverse = np.linalg.pinv(small.W, rcond=1e-12)
    np.testing.assert_allclose(
        map @ map.T, inverse, atol=1e-12 * np.linalg.cond(small.W + center * size) * np.abs(inverse).max()
    )
    assert (small.maps(p - 1, symmetric=True, rng=rng)[1] != 1).all()


# Blocks.


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("width", [2, 30])
@CENTER
def test_moments_are_those_of_numpy_from_slabs_of_a_few_widths(center, width, dtype, monkeypatch, rng):
    heights, parts, slabs, cut = [], [], orthonormalise.in_slabs, orthonormalise.slices_of
    monkeypatch.setattr(orthonormalise, "SLAB_ROWS", 50)
    monkeypatch.setattr(orthonormalise, "PART_ENTRIES", 7 * width)
    monkeypatch.setattr(orthonormalise, "in_slabs", lambda f, rows, h: heights.append(h) or slabs(f, rows, h))
    monkeypatch.setattr(orthonormalise, "slices_of", lambda n, length: parts.append(length) or cut(n, length))
    vectors = (rng.standard_normal((333, width)) + 3).astype(dtype)
    found, exact = moments(vectors, center), vectors.astype(float)
    mean = exact.mean(axis=0) * center
    np.testing.assert_allclose(found.mean, mean, rtol=1e-12)
    np.testing.assert_allclose(found.gram, (exact - mean).T @ (exact - mean), rtol=1e-9, atol=1e-9)
    assert set(heights) == {max(50, 4 * width)} and set(parts) == {7}


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 3, 4])
@CENTER
def test_vectors_are_turned_in_place_unless_most_columns_go(center, k, dtype, monkeypatch, rng):
    monkeypatch.setattr(orthonormalise, "PART_ENTRIES", 4 * 10)
    lengths, cut = [], orthonormalise.slices_of
    monkeypatch.setattr(orthonormalise, "slices_of", lambda n, length: lengths.append(length) or cut(n, length))
    vectors, turn = (rng.standard_normal((60, 4)) + center * 1e4).astype(dtype), rng.standard_normal((4, k))
    given = vectors.copy()
    mean = given.mean(axis=0, dtype=float) * center
    found, side = turned(given, np.eye(4), Moments(mean, np.eye(4)), turn)
    assert found.dtype == side.map.dtype == side.offset.dtype == dtype and lengths == [10]
    assert np.shares_memory(found, given) == (2 * k > 4)
    np.testing.assert_allclose(found, (vectors - mean) @ turn, rtol=0, atol=100 * np.finfo(dtype).eps)


@pytest.mark.parametrize("k", [2, 5, 9])
@pytest.mark.parametrize("kind", ["both", "one", "ones", "both, of ones"])
@pytest.mark.parametrize("unit", [2.0**-30, 1.0, 2.0**30])
def test_turns_make_an_orthonormal_decomposition_of_what_moments_describe(unit, kind, k, rng):
    L, R = unit * rng.standard_normal((40, 6)), rng.standard_normal((30, 6))
    L[:, 5] = L[:, 0] + L[:, 1]  # of rank five
    d = np.ones(6) if "ones" in kind else np.array([3.0, -2.0, 1.0, 0.5, -0.1, 0.2])
    if "both" in kind:
        d, sides = np.abs(d), (L, R)
    else:
        sides = (L,)
    turns, s = orthonormal_turns([moments(side, False) for side in sides], d, k)
    K = L * d @ sides[-1].T
    expected = np.linalg.svd(K, compute_uv=False)[: min(k, 5)]
    np.testing.assert_allclose(np.abs(s), expected, rtol=1e-9)
    found = [side @ turn for side, turn in zip(sides, turns, strict=True)]
    for vectors in found:
        np.testing.assert_allclose(vectors.T @ vectors, np.eye(len(s)), atol=1e-9)
    np.testing.assert_allclose(K @ found[-1], found[0] * s, atol=1e-9 * expected[0])


# Landmarks.


@pytest.mark.parametrize("p", [3, 5])
def test_clusters_are_sought_in_fifty_points_for_each(p, monkeypatch, rng):
    fitted, alone = [], landmarks.on_one_thread
    monkeypatch.setattr(landmarks, "on_one_thread", lambda fit, X: fitted.append((fit.__self__, X)) or alone(fit, X))
    monkeypatch.setattr(landmarks, "SEEDED_CLUSTERS", 4)
    kmeans(rng.standard_normal((1000, 2)), p, rng)
    ((model, sample),) = fitted
    assert len(sample) == 50 * p
    assert (model.n_clusters, model.init) == (p, "k-means++" if p <= 4 else "random")


@pytest.mark.parametrize("entries", [699, 700])
def test_clusters_of_a_small_sparse_sample_are_sought_densely(entries, monkeypatch, rng):
    kinds, alone = [], landmarks.on_one_thread
    monkeypatch.setattr(landmarks, "on_one_thread", lambda fit, X: kinds.append(sparse.issparse(X)) or alone(fit, X))
    monkeypatch.setattr(landmarks, "DENSE_ENTRIES", entries)
    kmeans(sparse.csr_array(rng.random((100, 7)) * (rng.random((100, 7)) < 0.5)), 4, rng)
    assert kinds == [entries < 700]


@pytest.mark.parametrize("counts", [(2, 4), (4, 2), (3, 3)])
def test_pivots_are_sought_among_twenty_candidates_for_each(counts, seen):
    X, Z = two_sets(300, 70)
    pivoted(watched(seen).fit(X, Z), X, Z, counts, np.random.default_rng(0))
    most = 20 * max(counts)
    assert max(n for n, _ in seen) == min(300, most) and max(m for _, m in seen) == min(70, most)


def test_the_first_pivot_is_the_largest_of_the_watched_columns_in_its_row(rng):
    """Equally spaced ones, the first and the last among them."""
    for place in (0, 999):
        A = rng.uniform(0, 1, (50, 1000))
        A[7, place] = 2.0
        rows, columns = cross_pivots(lambda r, c, A=A: A[r][:, c], A.shape, 1, float)
        assert (rows.tolist(), columns.tolist()) == ([7], [place])


@pytest.mark.parametrize("p", [1, 5, 8, 9])
@pytest.mark.parametrize("least", [1e-2, 1e-5, 1e-8])
def test_chances_of_inclusion_sum_to_the_draws_however_rare_a_row_is(least, p):
    chances = np.r_[np.full(2, least), np.full(8, (1 - 2 * least) / 8)]
    found = landmarks.chances_of_inclusion(chances, p)
    assert found.sum() == pytest.approx(p) and (found <= 1).all()
    assert (found[:2] <= found[2:].min()).all()


@CENTER
def test_models_with_and_without_weights_of_landmarks_that_are_all_alike_agree(center, rng):
    """Twice the weight of every landmark counts for nothing but the size of plain singular values."""
    X, Z = two_sets()
    some = [rows_as_landmarks(side, np.arange(15)) for side in (X, Z)]
    double = [Landmarks(each.points, 2 * each.weights, each.indices) for each in some]
    one, two = (
        nystrom(RBF(1.0).fit(X, Z), X, Z, tuple(each), 3, center=center, rng=np.random.default_rng(0)).factors
        for each in (some, double)
    )
    np.testing.assert_allclose(one.s, two.s, rtol=1e-9)
    np.testing.assert_allclose(one.matrix(), two.matrix(), atol=1e-9)
